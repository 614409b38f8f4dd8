import { expect, test } from 'vitest';
import { formulaStart } from './csv-guard.ts';

test.each([
  ...['=1+1', '+49 30 1', '-5', '@SUM(A1)', '\tx', '\rx', '\nx', '＝1', '＋1', '－1', '＠SUM'],
  ...[' =1', '   +1', '\u00a0-1', '\u3000＝1', '\n\n@a', '\u200b=1', '\ufeff+1', ' \t=1'],
])('%j would run in a spreadsheet', (cell) => {
  expect(cell.startsWith(formulaStart(cell) ?? 'nothing')).toBe(true);
});

test.each(['', ' ', '   ', 'a=1', '1-2', 'P1-A12', "'=1", ' a', '|x', '%x', '—x', '–5', '−5', '﹢x'])(
  '%j is text',
  (cell) => expect(formulaStart(cell)).toBeNull(),
);
