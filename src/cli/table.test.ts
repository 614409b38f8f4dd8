import { expect, test } from 'vitest';
import { printable, table } from './table.ts';

test('columns are aligned, numbers at the right, wide characters by the room they take', () => {
  const columns = [{ heading: 'NAME' }, { heading: 'AMOUNT', right: true }, { heading: 'PAID' }];
  expect(
    table(columns, [
      ['由紀 田中', '500', 'yes'],
      ['Zoe\u0308', '31.90', ''],
    ]),
  ).toBe('NAME       AMOUNT  PAID\n由紀 田中     500  yes\nZoe\u0308         31.90\n');
});

test('a name cannot steer the terminal', () => {
  expect(printable('a\u001B[2Jb\u202Ec\nd')).toBe('a\uFFFD[2Jb\uFFFDc\uFFFDd');
});
