import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellsOf, FORMAT, HEAD, read } from '../../test/support/csv.ts';
import { rounds } from '../../test/support/depth.ts';
import { expectProperty } from '../../test/support/properties.ts';
import { csvReader } from './csv.ts';

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

  test('with its columns in any order, which the header names', () => {
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
    return expectProperty({
      ...{ name: 'cells of a CSV file', cases: 200 },
      arbitrary: fc.tuple(
        fc.array(row, { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.integer({ min: 1, max: 9 }),
      ),
      check([rows, end, size]) {
        const isPlain = (text: string) => !/["\r\n,]/.test(text) && text.trim() === text;
        const written = rows.map((cells) =>
          cells.map(({ text, isQuoted, spaces }) =>
            isQuoted || !isPlain(text) ? `${spaces}"${text.replaceAll('"', '""')}"${spaces}` : spaces + text,
          ),
        );
        const file = ['id,name,amount', ...written.map((cells) => cells.join())].join(end) + end;
        expect(cellsOf(file, size)).toEqual(rows.map((cells) => cells.map(({ text }) => text)));
      },
    });
  });
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
    return expectProperty({
      ...{ name: 'cells of a CSV file, by another reader', arbitrary: file, cases: rounds(50, 200) },
      check({ lines, end, size }) {
        const quoted = lines.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join());
        const text = ['id,name,amount', ...quoted].map((line) => line + end).join('');
        const theirs = parse(text, { record_delimiter: end, from: 2 }) as string[][];
        const ours = cellsOf(text, size, { ...FORMAT, required: [] });
        expect(ours).toEqual(theirs.filter((cells) => cells.some((each) => each !== '')));
      },
    });
  });
});
