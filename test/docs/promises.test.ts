import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const TEST = new URL('../', import.meta.url);

test('every promise names existing files, and a test of it runs in npm test', () => {
  const rows = readFileSync(new URL('promises.md', TEST), 'utf8')
    .split('\n')
    .filter((line) => /^\| (?!---|Promise)/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  const wrong = rows.flatMap((row) => {
    const files = [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, file = '']) => file);
    const missing = files.filter((file) => !existsSync(new URL(file, TEST)));
    // a row may also name an area in words
    const isLong = files.length > 0 && files.every((file) => file.includes('.long.test.'));
    return [...missing.map((file) => `${file} is missing`), ...(isLong ? [`only in test:long: ${row}`] : [])];
  });
  expect(wrong).toEqual([]);
});
