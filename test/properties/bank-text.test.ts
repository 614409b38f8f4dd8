import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bankText } from '../../src/terms/bank-text.ts';

/** The conversion table of EPC217-08, every row: a character, and what it is in basic characters; empty = the user decides. */
const TABLE = readFileSync(new URL('../tools/epc217-08.csv', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((row) => {
    const [from = '', to = ''] = row.split(',');
    const written =
      to === '' ? '' : to.split(' ').map((code) => String.fromCodePoint(Number.parseInt(code, 16)));
    return { from: String.fromCodePoint(Number.parseInt(from, 16)), to: [...written].join('') };
  });
const isLetter = (text: string) => /[\p{L}\p{N}]/u.test(text);
// a name of a letter on both sides, so that nothing is trimmed
const written = (character: string, country?: string) => bankText(`a${character}b`, country).slice(1, -1);

test('every row of the table of EPC217-08 is followed', () => {
  expect(TABLE).toHaveLength(1089);
  const rows = TABLE.filter(({ to }) => to !== '' && to !== '.');
  expect(rows.map(({ from }) => [from, written(from)])).toEqual(rows.map(({ from, to }) => [from, to]));
  const points = TABLE.filter(({ from, to }) => to === '.' && !isLetter(from));
  expect(points.every(({ from }) => /^[a-zA-Z0-9/\-?:().,'+ ]*$/.test(written(from)))).toBe(true);
  expect(['"', '&', "'"].map((each) => written(each))).toEqual(["'", '+', "'"]);
});

test('letters for which the table has only a point are still transliterated', () => {
  expect(bankText('Ђорђе Ћирић')).toMatch(/^[A-Za-z]+ [A-Za-z]+$/);
  expect(bankText('Їжак Єва')).toMatch(/^[A-Za-z]+ [A-Za-z]+$/);
});

test('umlauts are written as the country of the account writes them', () => {
  expect(bankText('Jörg Müßig', 'DE')).toBe('Joerg Muessig');
  expect(bankText('Päivi Mäkinen', 'FI')).toBe('Paivi Makinen');
  expect(bankText('Göksel Ünlü', 'TR')).toBe('Goksel Unlu');
});
