import { describe, expect, test } from 'vitest';
import { FORMAT, HEAD, latin1, refusal } from '../../test/support/csv.ts';
import { csvReader } from './csv.ts';
import { guardRule } from './csv-refusal.ts';

describe('a header is refused that', () => {
  const COLUMNS = 'the columns are id, name, amount, currency, email, email_of_friend';
  test.each([
    ['is not there', '', 'the file is empty: its first line must name the columns'],
    ['is a byte order mark alone', '\uFEFF', 'the file is empty: its first line must name the columns'],
    ['is empty lines alone', '\n\r\n \n,,\n', 'the file is empty: its first line must name the columns'],
    ['misspells a column', 'id,amuont\n', 'line 1, column 2: there is no column "amuont": is it amount?'],
    [
      'writes a column otherwise',
      'id,E-Mail\n',
      'line 1, column 2: there is no column "e-mail": is it email?',
    ],
    [
      'writes a longer one otherwise',
      'id,"Email of\nfriend"\n',
      'line 1, column 2: there is no column "email of\\nfriend": is it email_of_friend?',
    ],
    [
      'has a column nobody knows',
      'id,colour,amount\n',
      `line 1, column 2: there is no column "colour"; ${COLUMNS}`,
    ],
    ['is data', '7,"Ada",31.90\n', `line 1: must name the columns, and "7,ada,31.90" does not; ${COLUMNS}`],
    ['is the hint of Excel', 'sep=,\n', `line 1: must name the columns, and "sep=" does not; ${COLUMNS}`],
    ['has a column twice', 'id,amount,Amount\n', 'line 1, column 3: amount is column 2 already'],
    ['has a column without a name', 'id,,amount\n', 'line 1, column 2: has no name'],
    ['lacks a column', '\n\nname,amount\n', 'line 3: column id is missing'],
    ['lacks all of several', 'id\n', 'line 1: column amount or email or email_of_friend is missing'],
    ['has two that say the same', 'id,email,amount\n', 'line 1: only one of amount, email may be there'],
    [
      'has semicolons',
      'id;amount\n1;31,90\n',
      'line 1: the file has semicolons between the cells: save it with commas, and with points in decimal numbers',
    ],
    ['has tabs', 'ID\tamount\n', 'line 1: the file has tabs between the cells: save it with commas'],
    ['has bars', 'id | amount\n', 'line 1: the file has bars between the cells: save it with commas'],
    [
      'is in one pair of quotes',
      '"id,amount"\n',
      'line 1: the file has quotes around the whole line: only single cells may be quoted',
    ],
    [
      'is cut off',
      'id,amount',
      'line 1, column amount: the file ends here without a line end, so it may be cut off. If it is complete, add a line end after its last line',
    ],
  ])('%s', (_, file, message) => {
    expect(refusal(file)).toBe(message);
  });

  test('has ten thousand columns, in few words', () => {
    for (const name of ['x', 'amount', '']) {
      const names = ['id', ...Array.from({ length: 10_000 }, () => name), 'name'];
      const message = refusal(`${names.join()}\n`);
      expect(message).toMatch(/^line 1, column [23]: /);
      expect(message.length).toBeLessThan(200);
    }
  });
});

describe('a line is refused that', () => {
  test.each([
    ['has a cell too few', '1,Ada\n', 'line 2, column amount: is missing: the line ends before it'],
    ['has a decimal comma', '1,Ada,31,90\n', 'line 2, column 4: the header has no such column. Check'],
    [
      'has an empty cell too many',
      '1,Ada,31.90,\n',
      'line 2, column 4: the header has no such column. Check',
    ],
    [
      'is broken in two by a line end without quotes',
      '1,Ada\nLovelace,3\n',
      'line 2, column amount: is missing: the line ends before it',
    ],
    [
      'has a quote inside a cell',
      '1,é🎉5" disk,2\n',
      'line 2, column name, character 6: a quote inside a cell: double it and put the cell in quotes',
    ],
    [
      'has a single quote inside quotes',
      '1,"a\n5" disk",2\n',
      'line 3, column name, character 3: only a comma or the line end may follow a closing quote; a quote inside is doubled',
    ],
    [
      'has a second text in quotes in a cell',
      '1,"a" "b",2\n',
      'line 2, column name, character 6: only a comma or the line end may follow a closing quote; a quote inside is doubled',
    ],
    [
      'never closes its quotes',
      '1,"a\n2,b,3\n4,5,6\n',
      'line 2, column name, character 3: the quote that opens here is never closed: the file may be cut off',
    ],
    [
      'never closes the quotes of its second line',
      '1,"a\nb",2\n3,"\n',
      'line 4, column name, character 3: the quote that opens here is never closed: the file may be cut off',
    ],
  ])('%s', (_, lines, message) => {
    expect(refusal(HEAD + lines)).toContain(message);
  });

  const megabytes = (count: number) => 'x'.repeat(count << 20);
  test.each([
    [
      'is too long',
      `1,${megabytes(20)},2\n`,
      'line 2, column name: more than 1048576 characters in one line',
    ],
    [
      'is too long without an end',
      `1,${megabytes(2)}`,
      'line 2, column name: more than 1048576 characters in one line',
    ],
    [
      'has a long text with a quote in it',
      `1,${megabytes(2)}"`,
      'line 2, column name: more than 1048576 characters in one line',
    ],
    [
      'opens a quote and goes on for megabytes',
      `1,"a\n${megabytes(2)}`,
      'line 2, column name, character 3: the quote that opens here is not closed: more than 1048576 characters',
    ],
    [
      'has a million cells',
      `1,2${','.repeat(1_000_000)}x\n`,
      'line 2, column 4: the header has no such column',
    ],
  ])('%s', (_, lines, message) => {
    expect(refusal(HEAD + lines)).toContain(message);
  });
});

describe('bytes are refused, with their place, that are', () => {
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  const SAVE_AS = 'save the file as "CSV UTF-8 (comma delimited)"';
  test.each([
    [
      'Windows-1252',
      latin1(`${HEAD}1,Zoë,2\n`),
      `line 2, column name, character 5: the byte EB is not UTF-8: ${SAVE_AS}`,
    ],
    [
      'Windows-1252 in the header',
      latin1('id,größe\n'),
      `line 1, column 2, character 6: the byte F6 is not UTF-8`,
    ],
    [
      'Windows-1252 after a character of many bytes and a line break in quotes',
      Buffer.concat([Buffer.from(`${HEAD}1,"🎉\n🎉é`), latin1('é",2\n')]),
      'line 3, column name, character 3: the byte E9 is not UTF-8',
    ],
    [
      'Windows-1252 after a genuine U+FFFD',
      Buffer.concat([Buffer.from(`${HEAD}1,\uFFFD\uFFFD`), latin1('é,2\n')]),
      'line 2, column name, character 5: the byte E9 is not UTF-8',
    ],
    ['an overlong form', latin1(`${HEAD}1,\xc0\xaf,2\n`), 'line 2, column name, character 3: the byte C0'],
    ['a surrogate', latin1(`${HEAD}1,\xed\xa0\x80,2\n`), 'line 2, column name, character 3: the byte ED'],
    [
      'beyond Unicode',
      latin1(`${HEAD}1,\xf5\x80\x80\x80,2\n`),
      'line 2, column name, character 3: the byte F5',
    ],
    ['a continuation alone', latin1(`${HEAD}\x80`), 'line 2, column id, character 1: the byte 80'],
    [
      'two leads in a row',
      latin1(`${HEAD}1,\xc3\xc3\xa9,2\n`),
      'line 2, column name, character 3: the byte C3',
    ],
    [
      'the half of a character at the end',
      Buffer.from(`${HEAD}1,a,2\n3,🎉`).subarray(0, -1),
      'line 3, column name, character 3: the file ends in the middle of a UTF-8 character; it may be cut off',
    ],
    [
      'NUL',
      `${HEAD}1,a\0,2\n`,
      'line 2, column name, character 4: a NUL character; this may not be a text file',
    ],
    [
      'a byte order mark where a second file begins',
      `${HEAD}1,a,2\n\uFEFF${HEAD}3,b,4\n`,
      'line 3, column id, character 1: a byte order mark (U+FEFF) inside the file; two files may have been joined',
    ],
    ['two byte order marks', `\uFEFF\uFEFF${HEAD}`, 'line 1, column 1, character 1: a byte order mark'],
    ['UTF-16 with a mark', utf16(`\uFEFF${HEAD}`), `the file is UTF-16: ${SAVE_AS}`],
    ['UTF-16 with the other mark', utf16(`\uFEFF${HEAD}`).swap16(), `the file is UTF-16: ${SAVE_AS}`],
    ['UTF-16 without a mark', utf16(HEAD), `the file is UTF-16: ${SAVE_AS}`],
    ['UTF-16 of the other order without one', utf16(HEAD).swap16(), `the file is UTF-16: ${SAVE_AS}`],
    [
      'an .xlsx file',
      latin1('PK\x03\x04\x14\0\x06\0'),
      `the file is an Excel workbook or another zip file: ${SAVE_AS}`,
    ],
    [
      'an .xls file',
      latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
      `the file is an old Excel workbook: ${SAVE_AS}`,
    ],
    ['a packed file', latin1('\x1f\x8b\x08'), `the file is packed with gzip: unpack it first: ${SAVE_AS}`],
  ])('%s', (_, file, message) => {
    expect(refusal(file)).toContain(message);
  });

  test('far down in a file that is never in memory as a whole', () => {
    const reader = csvReader(FORMAT);
    reader.read(Buffer.from(HEAD));
    const piece = Buffer.from('1,"a\nb",2\n'.repeat(4500));
    for (let count = 0; count < 100; count += 1) expect(reader.read(piece)).toHaveLength(4500);
    expect(() => reader.read(latin1('1,a,2\n1,Zoë,2\n'))).toThrow(
      'line 900003, column name, character 5: the byte EB is not UTF-8',
    );
  });
});

test.each([
  "'=1+1",
  "'+49",
  "'-5",
  "'@ada",
  "'\tx",
  "'\rx",
  "'\nx",
  "'＝1",
  "'＋1",
  "'－1",
  "'＠a",
  "' =1",
  "'\u3000 －1",
])('%j carries the apostrophe of our own files', (cell) => {
  expect(guardRule(cell)).toContain('apostrophe');
});

test.each(['', "'", "'t Hooft", '=1', '-5', "a'=", "''=1", "' a=1", ' =1'])('%j does not', (cell) => {
  expect(guardRule(cell)).toBeNull();
});
