import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellsOf, FORMAT, refusal } from '../../test/support/csv.ts';
import { rounds } from '../../test/support/depth.ts';
import { expectProperty } from '../../test/support/properties.ts';
import { CsvError } from './csv-refusal.ts';

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
    return expectProperty({
      ...{ name: 'a CSV file that is cut off', cases: rounds(30, 100) },
      arbitrary: fc.tuple(
        fc.array(row, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('id,name,currency,,', 'id,currency,name', 'currency,name,id'),
        fc.constantFrom('\n', '\r\n', '\r'),
      ),
      check([rows, header, end]) {
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
    });
  });
});
