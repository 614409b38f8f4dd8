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

test('a text longer than its column may be is cut to that width, a wide character whole or not at all', () => {
  const name = [{ heading: '', most: 6 }];
  const cut = (text: string) => table(name, [[text]]).trimEnd();
  expect(cut('Ada Lo')).toBe('Ada Lo');
  expect(cut('Ada Lovelace')).toBe('Ada L…');
  expect(cut('由紀田')).toBe('由紀田');
  expect(cut('由紀田中')).toBe('由紀…');
});
