import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, test } from 'vitest';

const SOURCE = readFileSync(new URL('./young-generation.ts', import.meta.url), 'utf8');

const SURVIVORS = `
  ${transformSync(SOURCE, { loader: 'ts' }).code}
  import { getHeapSpaceStatistics } from 'node:v8';
  const kept = [];
  const room = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
  const fill = (objects) => {
    for (let count = 0; count < objects; count += 1) kept.push({ count });
    return room();
  };
  const first = fill(1e5);
  const letGrow = keepYoungGenerationSmall();
  const small = fill(1e6);
  letGrow();
  process.stdout.write(JSON.stringify({ first, small, grown: fill(1e6) }));
`;

test('the room of young objects stays small while many survive, until it may grow', () => {
  // it has grown already, so there must be room for more
  const options = ['--max-semi-space-size=128', '--input-type=module', '-e', SURVIVORS];
  const { first, small, grown } = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' }));
  expect(small).toBeLessThanOrEqual(first);
  expect(grown).toBeGreaterThan(first);
});
