import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvLine, csvReader } from './csv.ts';
import type { CsvColumns } from './csv-header.ts';
import { CsvError, guardRule } from './csv-refusal.ts';

const FORMAT: CsvColumns = {
  columns: ['id', 'name', 'amount', 'currency', 'email', 'email_of_friend'],
  required: ['id', ['amount', 'email', 'email_of_friend']],
  fixedWords: ['currency'],
};

/** The lines of a file that is read in chunks of `size` bytes. */
function read(file: string | Uint8Array, size = 7, format = FORMAT): CsvLine[] {
  const bytes = Buffer.from(file);
  const reader = csvReader(format);
  const lines: CsvLine[] = [];
  for (let at = 0; at < bytes.length; at += size) lines.push(...reader.read(bytes.subarray(at, at + size)));
  lines.push(...reader.end());
  return lines;
}
const cellsOf = (file: string | Uint8Array, size?: number, format?: CsvColumns) =>
  read(file, size, format).map(({ cells }) => cells);

/** The error message, checked to be the same for all chunk sizes. */
function refusal(file: string | Uint8Array): string {
  const messages = [1, 7, 4096, 1 << 26].map((size) => {
    if (size < 4096 && file.length > 100_000) return null;
    try {
      return `read: ${JSON.stringify(read(file, size)).slice(0, 200)}`;
    } catch (error) {
      if (error instanceof CsvError) return error.message;
      throw error;
    }
  });
  const [first, ...others] = messages.filter((message) => message !== null);
  for (const other of others) expect(other).toBe(first);
  return first ?? '';
}

const HEAD = 'id,name,amount\n';
const latin1 = (text: string) => Buffer.from(text, 'latin1');

describe('a file is read', () => {
  const lines = [
    ['1', 'Ada', '31.90'],
    ['2', 'Zoë, 🎉', '5'],
  ];
  const plain = 'id,name,amount\n1,Ada,31.90\n2,"Zoë, 🎉",5\n';
  test.each([
    ['LF', plain],
    ['CRLF', plain.replaceAll('\n', '\r\n')],
    ['CR', plain.replaceAll('\n', '\r')],
    ['line ends of all kinds', 'id,name,amount\r1,Ada,31.90\r\n2,"Zoë, 🎉",5\n'],
    ['a byte order mark', `\uFEFF${plain}`],
    ['a byte order mark before a quote', `\uFEFF"id","name","amount"\n1,Ada,31.90\n2,"Zoë, 🎉",5\n`],
    ['quotes, spaces and capitals in the header', plain.replace('id,name,amount', ' ID ,"Name", "AMOUNT" ')],
    ['spaces around cells and quotes', 'id,name,amount\n 1 , Ada,\t31.90 \n2, "Zoë, 🎉" ,5\n'],
    ['empty lines', `\n${plain.replaceAll('\n', '\n\n  \n')}\n`],
    [
      'columns and lines that a spreadsheet left empty',
      'id,name,amount,,\n1,Ada,31.90,,\n,,,,\n2,"Zoë, 🎉",5\n',
    ],
  ])('with %s', (_, file) => {
    for (const size of [1, 2, 3, 4096]) expect(cellsOf(file, size)).toEqual(lines);
  });

  test('with its columns in any order, which the header tells', () => {
    const reader = csvReader(FORMAT);
    expect(reader.header).toEqual([]);
    expect(reader.read(Buffer.from('Amount,ID,name,,\n1,2,3,,\n'))).toEqual([
      { line: 2, cells: ['1', '2', '3'] },
    ]);
    expect(reader.header).toEqual(['amount', 'id', 'name']);
  });

  test('with texts in quotes as they are', () => {
    const text = ' "x"\r\n,y\n\rz\t ';
    expect(cellsOf(`${HEAD}1,"${text.replaceAll('"', '""')}",2\n`)).toEqual([['1', text, '2']]);
  });

  test('and each line has the number it has in the file', () => {
    const file = `\r\n${HEAD}\n1,"a\nb\r\nc\rd",1\r\n,,\r\n2,x,2\r3,"\n",3\r\n`;
    for (let size = 1; size < 12; size += 1) {
      expect(read(file, size).map(({ line }) => line)).toEqual([4, 9, 10]);
    }
  });

  test('whatever is in its cells, however it is written, in whatever pieces it comes', () => {
    const anyText = fc.string({ unit: fc.constantFrom('a', '7', '"', ',', '\n', '\r', ' ', 'é', '🎉', ';') });
    const cell = fc.record({
      text: anyText,
      isQuoted: fc.boolean(),
      spaces: fc.constantFrom('', ' ', '\t '),
    });
    const row = fc.tuple(fc.constant({ text: 'x', isQuoted: false, spaces: '' }), cell, cell);
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.integer({ min: 1, max: 9 }),
        (rows, end, size) => {
          const isPlain = (text: string) => !/["\r\n,]/.test(text) && text.trim() === text;
          const written = rows.map((cells) =>
            cells.map(({ text, isQuoted, spaces }) =>
              isQuoted || !isPlain(text)
                ? `${spaces}"${text.replaceAll('"', '""')}"${spaces}`
                : spaces + text,
            ),
          );
          const file = ['id,name,amount', ...written.map((cells) => cells.join())].join(end) + end;
          expect(cellsOf(file, size)).toEqual(rows.map((cells) => cells.map(({ text }) => text)));
        },
      ),
      { numRuns: 500 },
    );
  });
});

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
      'stands in one pair of quotes',
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

describe('a file without a line end after its last line', () => {
  const CUT = 'the file ends here without a line end, so it may be cut off';
  test.each([
    ['id,amount\n1,31.9', `line 2, column amount: ${CUT}`],
    ['id,amount\n1,"31.9"', `line 2, column amount: ${CUT}`],
    ['id,amount\n1,', `line 2, column amount: ${CUT}`],
    ['id,amount,currency\n1,2,', `line 2, column currency: ${CUT}`],
    [
      'id,amount,currency\n1,2,usd\n3,4',
      'line 3, column currency: the file ends before it: the file may be cut off',
    ],
    [
      'id,amount,currency\n1,2,usd\n3',
      'line 3, column amount: the file ends before it: the file may be cut off',
    ],
    [
      'id,amount,currency\n1,2,"us',
      'line 2, column currency, character 5: the quote that opens here is never closed',
    ],
    ['id,amount\n,', `line 2, column amount: ${CUT}`],
  ])('%j is refused, where its last cell may have been longer', (file, message) => {
    expect(refusal(file)).toContain(message);
  });

  test.each([
    ['id,amount,currency\n1,31.9,usd'],
    ['id,amount,currency\n1,31.9,"usd"'],
    ['id,amount,currency\r\n1,31.9,usd\r'],
    ['id,amount,currency,\n1,31.9,,'],
    ['id,amount\n1,31.9\n  '],
  ])('%j is read, where it can not', (file) => {
    for (const size of [1, 4096]) expect(cellsOf(file, size)[0]?.slice(0, 2)).toEqual(['1', '31.9']);
  });

  test('cut at any byte, a file is refused or gives whole lines of the file it was', () => {
    const cell = fc.constantFrom(
      '31.90',
      '100',
      '"a ""b"", c"',
      '"two\nlines"',
      'Zoë 🎉',
      '',
      ' x ',
      '"",""',
      '7',
    );
    const word = fc.constantFrom('usd', 'eur', 'jpy', '"usd"');
    const row = fc.tuple(fc.constantFrom('1', '23', '"4"'), cell, word);
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('id,name,currency,,', 'id,currency,name', 'currency,name,id'),
        fc.constantFrom('\n', '\r\n', '\r'),
        (rows, header, end) => {
          const format = { ...FORMAT, required: [] };
          const lines = rows.map(([id, name, currency]) => {
            const cells: Record<string, string> = { id, name: name === '"",""' ? '""' : name, currency };
            return header
              .split(',')
              .map((column) => cells[column] ?? '')
              .join();
          });
          const bytes = Buffer.from([header, ...lines, ''].join(end));
          const whole = cellsOf(bytes, 4096, format);
          // what the rule of the column then refuses
          const isWord = (cells: readonly string[]) =>
            /^(usd|eur|jpy)$/.test(cells[header.split(',').indexOf('currency')] ?? '');
          for (let length = 0; length < bytes.length; length += 1) {
            let found: readonly (readonly string[])[] = [];
            try {
              found = cellsOf(bytes.subarray(0, length), 5, format);
            } catch (error) {
              if (!(error instanceof CsvError)) throw error;
            }
            if (found.every(isWord)) expect(found).toEqual(whole.slice(0, found.length));
          }
        },
      ),
      { numRuns: 200 },
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

describe('a reader that others wrote', () => {
  test('reads the same cells', () => {
    const cell = fc.oneof(
      fc.constantFrom(
        '',
        'a',
        'Zoë',
        '31.90',
        'one, two',
        'a "b" c',
        'two\nlines',
        'two\r\nlines',
        '🎉',
        "'",
      ),
      fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !/[\0\uFEFF]/.test(text)),
    );
    const file = fc.record({
      lines: fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 }),
      end: fc.constantFrom('\n', '\r\n'),
      size: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(file, ({ lines, end, size }) => {
        const quoted = lines.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join());
        const text = ['id,name,amount', ...quoted].map((line) => line + end).join('');
        const theirs = parse(text, { record_delimiter: end, from: 2 }) as string[][];
        const ours = cellsOf(text, size, { ...FORMAT, required: [] });
        expect(ours).toEqual(theirs.filter((cells) => cells.some((each) => each !== '')));
      }),
      { numRuns: 500 },
    );
  });
});
