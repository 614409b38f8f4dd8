import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { isLong, longRun } from '../support/depth.ts';
import { number, ods, odsRow, oneSheet, type XlsxCell, xlsx, xlsxParts, zip } from '../support/workbooks.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  expectRefusal,
  type Json,
  makeAffiliate,
  nothingChanges,
  previewChangesNothing,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

type Query = Record<string, string | number | boolean | object>;

function send(path: string, file: string | Buffer, query: Query): Promise<Answer> {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.upload(`/v2/imports${path}?${new URLSearchParams(texts)}`, file);
}

async function preview(file: string | Buffer, query: Query): Promise<Json> {
  const answer = await previewChangesNothing(world, () => send('/preview', file, query));
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function imported(file: string | Buffer, query: Query): Promise<Json> {
  const answer = await send('', file, { accept_guesses: true, ...query });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** The file is refused as a whole, and nothing changes. */
const refused = (file: string | Buffer, query: Query, ...parts: string[]) =>
  nothingChanges(world, async () => {
    expectRefusal(await send('', file, query), 400, 'invalid_file', ...parts);
    // one reader reads the file for both
    if (isLong) expectRefusal(await send('/preview', file, query), 400, 'invalid_file', ...parts);
  });

const AFFILIATE = { kind: 'affiliates' };
const COMMISSION = { kind: 'commissions' };
const people = () => allOf(api, `${AFFILIATES}?sort=id`);
const commissions = () => allOf(api, `${COMMISSIONS}?sort=id`);

/** What the second column of a file is read as: the texts that its lines are imported with. */
async function readAs(file: Buffer): Promise<string[]> {
  await imported(file, { ...AFFILIATE, mapping: { Vorname: 'name_first' } });
  return (await people()).map(({ name_first }) => name_first);
}

const address = (index: number) => `p${index}@example.com`;

/** What cells of an Excel workbook are read as. */
const cellsAs = (cells: readonly XlsxCell[], options = {}) =>
  readAs(
    xlsx(
      [{ name: 'S', rows: [['Email', 'Vorname'], ...cells.map((cell, index) => [address(index), cell])] }],
      options,
    ),
  );

describe('a cell of an Excel workbook', () => {
  test('with a number is read as it is shown, in full and without thousands separators', async () => {
    const cells: readonly (readonly [value: string, format: string, shown: string])[] = [
      ['0.30000000000000004', 'General', '0.3'],
      ['123456789012345', 'General', '123456789012345'],
      ['1.2E+14', 'General', '120000000000000'],
      ['1E-7', 'General', '0.0000001'],
      ['1234.5', '#,##0.00', '1234.50'],
      ['1234.5', '#,##0.00\\ "€"', '1234.50 €'],
      ['-1234.5', '#,##0.00_);[Red](#,##0.00)', '-1234.50'],
      ['12.5', '_-[$$-409]* #,##0.00_-', '$12.50'],
      ['12.5', '[$EUR] 0.00', 'EUR 12.50'],
      ['1.005', '0.00', '1.01'],
      ['2.5', '0', '3'],
      ['-0.001', '0.00', '0.00'],
      ['0.15', '0%', '15%'],
      ['0.155', '0.0%', '15.5%'],
      ['42', '00000', '00042'],
      ['42', '"INV-"0000', 'INV-0042'],
      ['123456789', '000-00-0000', '123-45-6789'],
      ['1234567', '#,##0,', '1235'],
      ['1.5', '0.0##', '1.5'],
      ['0.5', '#.00', '0.50'],
      ['1.5', '# ?/?', '1.5'],
      // the section depends on the number
      ['1021.02', '[>999999]#,,"M";[>999]#,"K";#', '1021.02'],
      ['12345', '0.00E+00', '12345'],
      ['42', '@', '42'],
      ['46266', 'yyyy-mm-dd', '2026-09-01'],
      ['46266', 'd/m/yyyy', '2026-09-01'],
      ['46266.354166666664', '[$-407]d. mmmm yyyy', '2026-09-01'],
      ['46266.354166666664', 'd.m.yy h:mm', '2026-09-01 08:30:00'],
      ['0.354166666666667', 'h:mm AM/PM', '08:30:00'],
      ['1.5', '[h]:mm', '36:00:00'],
      ['59', 'yyyy-mm-dd', '1900-02-28'],
      ['61', 'yyyy-mm-dd', '1900-03-01'],
    ];
    const shown = await cellsAs(cells.map(([value, format]) => number(value, format)));
    expect(cells.map(([value, format], index) => [value, format, shown[index]])).toEqual(cells);
  });

  test('with a date counts from 1904 where the workbook says so', async () => {
    expect(await cellsAs([number('44804', 'yyyy-mm-dd')], { is1904: true })).toEqual(['2026-09-01']);
  });

  test('of another type is read as it is shown', async () => {
    const cells: readonly (readonly [xml: string, shown: string])[] = [
      ['<c t="b"><v>1</v></c>', 'TRUE'],
      ['<c t="inlineStr"><is><r><t>Ada </t></r><r><t>L.</t></r><rPh><t>x</t></rPh></is></c>', 'Ada L.'],
      ['<c t="str"><f>A1&amp;B1</f><v>both</v></c>', 'both'],
      ['<c t="str"><v>two_x000A_lines</v></c>', 'two lines'],
      ['<c t="d"><v>2026-09-01T00:00:00</v></c>', '2026-09-01'],
      ['<c><f>1+1</f><v>2</v></c>', '2'],
    ];
    const shown = await cellsAs(cells.map(([xml]) => ({ xml })));
    expect(cells.map(([xml], index) => [xml, shown[index]])).toEqual(cells);
  });

  test('without a usable value makes its line bad, and is named', async () => {
    const bad: readonly (readonly [cell: XlsxCell, message: string])[] = [
      [{ xml: '<c><f>SUM(A1)</f></c>' }, 'cell B2 has a formula without a stored value'],
      [{ xml: '<c t="e"><v>#N/A</v></c>' }, 'cell B3 shows the error #N/A'],
      [{ xml: '<c><v>1234567890123456</v></c>' }, 'cell B4 has a number of more than 15 digits'],
      // a reference to an empty cell, which Excel shows as 00.01.1900
      [number('0', 'dd.mm.yyyy'), 'cell B5 has a date format and a number that is no date'],
      // as openpyxl writes it
      [{ xml: '<c><f>SUM(A1)</f><v /></c>' }, 'cell B6 has a formula without a stored value'],
    ];
    const rows = bad.map(([cell], index): XlsxCell[] => [`${index}@example.com`, cell]);
    const file = oneSheet(['Email', 'External id'], ...rows, ['good@example.com', '7']);
    const { report } = await preview(file, AFFILIATE);
    expect(report.errors).toEqual(
      bad.map(([, message], index) => ({
        line: index + 2,
        column: 'External id',
        message: expect.stringContaining(`external_id cannot be read: ${message}`),
      })),
    );
    const lines = (await send('/bad-lines', file, AFFILIATE)).text.split('\r\n');
    expect(lines[2]).toBe('3,external_id cannot be read: cell B3 shows the error #N/A,1@example.com,');
    // a column that is left out may contain anything
    await imported(file, { ...AFFILIATE, mapping: { 'External id': 'ignore' } });
    expect(await people()).toHaveLength(bad.length + 1);
  });
});

describe('a workbook', () => {
  longRun.test('of commissions is imported: amounts, days and ids as its cells show them', async () => {
    await makeAffiliate(api, { external_id: '7', email: 'ada@example.com' });
    const file = oneSheet(
      ['Order Id', 'Affiliate email', 'Commission', 'Date'],
      [number('42', '000000'), 'ada@example.com', number('0.30000000000000004'), number('46266', 'd.m.yyyy')],
      [number('43', '000000'), 'ada@example.com', number('1234.5', '#,##0.00'), number('46267', 'd.m.yyyy')],
    );
    const { dialect } = await imported(file, COMMISSION);
    expect(dialect).toMatchObject({ sheet: 'Sheet1', header_row: 1, decimal: 'point', dates: 'iso' });
    expect(await commissions()).toMatchObject([
      { order_id: '000042', amount: 30, occurred_at: '2026-09-01T00:00:00.000Z' },
      { order_id: '000043', amount: 123_450, occurred_at: '2026-09-02T00:00:00.000Z' },
    ]);
  });

  test('has no ambiguous number, unless one was entered as text', async () => {
    await makeAffiliate(api, { external_id: '7', email: 'ada@example.com' });
    const file = (amount: XlsxCell) =>
      oneSheet(
        ['Order Id', 'Affiliate email', 'Commission', 'Currency', 'Date'],
        ['1', 'ada@example.com', amount, 'KWD', '2026-09-01'],
      );
    expect((await preview(file('1.234'), COMMISSION)).questions).toMatchObject([{ about: 'decimal' }]);
    await imported(file(number('1.234')), COMMISSION);
    expect(await commissions()).toMatchObject([{ amount: 1234, currency: 'kwd' }]);
  });

  test('the chosen sheet and header row are saved with the mapping', async () => {
    const rows = (email: string) => [['Partners of the year'], ['Email', 'Code'], [email, 'c']];
    const file = xlsx([
      { name: 'Notes', rows: [['nothing']] },
      { name: 'Partners', rows: rows('one@example.com') },
    ]);
    await imported(file, { ...AFFILIATE, sheet: 'Partners', header_row: 2, save_as: 'Partner list' });
    const { body } = await api.get(`/v2/imports/mappings?kind=affiliates`);
    expect(body.data[0].settings).toMatchObject({ sheet: 'Partners', header_row: '2' });
    const next = xlsx([
      { name: 'Notes', rows: [['nothing']] },
      { name: 'Partners', rows: rows('two@example.com') },
    ]);
    const { dialect, guessed, rows: read } = await preview(next, { ...AFFILIATE, mapping: 'Partner list' });
    expect(dialect).toMatchObject({ sheet: 'Partners', header_row: 2 });
    expect(read[0].fields.email).toBe('two@example.com');
    expect(guessed).toEqual([]);
    const other = xlsx([{ name: 'Kunden', rows: rows('three@example.com') }]);
    await refused(other, { ...AFFILIATE, mapping: 'Partner list' }, 'no sheet "Partners"; it has "Kunden"');
  });

  test('is read from the first visible sheet, or from a chosen one, and says so', async () => {
    const sheet = (name: string, email: string) => ({ name, rows: [['Email'], [email]] });
    const file = xlsx([
      { ...sheet('Old', 'old@example.com'), state: 'hidden' },
      sheet('Q3', 'q3@example.com'),
      sheet('Q2', 'q2@example.com'),
    ]);
    const first = await preview(file, AFFILIATE);
    expect(first.rows[0].fields.email).toBe('q3@example.com');
    expect(first.guessed).toContain('the sheet "Q3" is read, and not "Old" (hidden), "Q2"');
    expect(first.workbook.sheets).toEqual([
      { name: 'Old', is_hidden: true },
      { name: 'Q3', is_hidden: false },
      { name: 'Q2', is_hidden: false },
    ]);
    const second = await preview(file, { ...AFFILIATE, sheet: 'q2' });
    expect([second.rows[0].fields.email, second.dialect.sheet]).toEqual(['q2@example.com', 'Q2']);
    expect(second.guessed.join()).not.toContain('sheet');
    await refused(file, { ...AFFILIATE, sheet: 'Q4' }, 'no sheet "Q4"; it has "Old", "Q3", "Q2"');
    await refused('email\na@example.com\n', { ...AFFILIATE, sheet: 'Q4' }, 'no workbook');
  });

  test('reports what is hidden and merged, and reads it', async () => {
    const file = xlsx([
      {
        name: 'S',
        rows: [
          ['Email', 'External id', 'Country'],
          ['a@example.com', '1', 'DE'],
          ['b@example.com', '2'],
          ['c@example.com'],
        ],
        hiddenRows: [3, 4],
        hiddenColumns: [2, 9],
        merged: ['C2:C4'],
      },
    ]);
    const { guessed } = await preview(file, AFFILIATE);
    expect(guessed).toEqual(
      expect.arrayContaining([
        'hidden rows are read as well: 3 to 4',
        'hidden columns are read as well: B',
        'merged cells have their value in the first cell only: C2:C4',
      ]),
    );
    await nothingChanges(world, async () =>
      expectRefusal(await send('', file, AFFILIATE), 400, 'import_not_confirmed', 'hidden rows'),
    );
    await imported(file, AFFILIATE);
    expect(await people()).toMatchObject([
      { email: 'a@example.com', country: 'DE' },
      { email: 'b@example.com', country: null },
      { email: 'c@example.com', country: null },
    ]);
  });

  longRun.test(
    'with a merged header has columns without a name, which are ignored and reported',
    async () => {
      const file = xlsx([
        {
          name: 'S',
          rows: [
            ['Partners of the year'],
            ['Email', 'Name', null, 'Country'],
            ['a@example.com', 'Ada', 'Lovelace', 'DE'],
          ],
          merged: ['A1:D1', 'B2:C2'],
        },
      ]);
      const { dialect, guessed, columns } = await preview(file, AFFILIATE);
      expect(dialect.header_row).toBe(2);
      expect(columns.map(({ column }: Json) => column)).toEqual(['Email', 'Name', 'column 3', 'Country']);
      expect(guessed).toEqual(
        expect.arrayContaining([
          'merged cells have their value in the first cell only: A1:D1, B2:C2',
          'ignored: "column 3"',
        ]),
      );
      const mapping = { Name: 'name_first', 'column 3': 'name_last' };
      await imported(file, { ...AFFILIATE, mapping });
      expect(await people()).toMatchObject([{ name_first: 'Ada', name_last: 'Lovelace', country: 'DE' }]);
    },
  );

  longRun.test('may name its parts in any case, and with backslashes', async () => {
    const parts = Object.entries(xlsxParts([{ name: 'S', rows: [['Email'], ['a@example.com']] }]));
    const renamed = parts.map(([name, content]) => [name.toLowerCase().replaceAll('/', '\\'), content]);
    await imported(zip(Object.fromEntries(renamed)), AFFILIATE);
    expect(await people()).toMatchObject([{ email: 'a@example.com' }]);
  });

  test('has the numbers of its rows in every message, also after empty rows and line breaks', async () => {
    const file = oneSheet(['Email', 'First name'], [], ['a@example.com', 'Two\nlines'], [], ['nobody']);
    const { report, rows } = await preview(file, AFFILIATE);
    expect(rows[0]).toMatchObject({ line: 3, fields: { name_first: 'Two lines' } });
    expect(report.errors).toMatchObject([{ line: 5, column: 'Email' }]);
  });

  longRun.test('may have cells beyond its header, in columns without a name', async () => {
    const file = oneSheet(['Email'], ['a@example.com', null, 'a note'], ['b@example.com']);
    const { columns, guessed } = await preview(file, AFFILIATE);
    expect(columns.map(({ column }: Json) => column)).toEqual(['Email', 'column 2', 'column 3']);
    expect(guessed).toContain('ignored: "column 2", "column 3"');
    await imported(file, AFFILIATE);
  });

  test('has a header below a title and other lines, which is found or chosen', async () => {
    const above = [
      ['Partner report'],
      [],
      ['From', '2026-01-01'],
      ['To', '2026-09-30'],
      ['By', 'finance'],
      ['EUR'],
    ];
    const file = oneSheet(...above, ['Email', 'First name', 'Country'], ['a@example.com', 'Ada', 'DE']);
    const { dialect, guessed, rows } = await preview(file, AFFILIATE);
    expect(dialect.header_row).toBe(7);
    expect(guessed).toContain('line 7 names the columns, and the lines above it are left out');
    expect(rows).toMatchObject([{ line: 8, fields: { email: 'a@example.com', country: 'DE' } }]);
    const chosen = await preview(file, { ...AFFILIATE, header_row: 7 });
    expect(chosen.guessed.join()).not.toContain('line 7');
    await refused(file, { ...AFFILIATE, header_row: 2 }, 'line 2 is empty');
    await refused(file, { ...AFFILIATE, header_row: 20 }, 'the file ends before line 20');
    // and so in CSV
    const csv = 'Partner report\n\nFrom;2026-01-01\nEmail;First name\na@example.com;Ada\n';
    expect((await preview(csv, AFFILIATE)).dialect).toMatchObject({ header_row: 4, separator: 'semicolon' });
    await imported(csv, AFFILIATE);
    expect(await people()).toMatchObject([{ name_first: 'Ada' }]);
  });

  longRun.test('whose last line is a total is asked about', async () => {
    await makeAffiliate(api, { external_id: '7', email: 'ada@example.com' });
    const file = oneSheet(
      ['Order Id', 'Affiliate email', 'Commission', 'Date'],
      ['1', 'ada@example.com', number('5', '0.00'), number('46266', 'yyyy-mm-dd')],
      ['Total', null, { xml: '<c><f>SUM(C2:C2)</f><v>5</v></c>' }],
    );
    const { questions } = await preview(file, COMMISSION);
    expect(questions).toMatchObject([{ about: 'totals', message: expect.stringContaining('line 3') }]);
    await imported(file, { ...COMMISSION, totals: 'skip' });
    expect(await commissions()).toHaveLength(1);
  });

  longRun.test('with an unknown status is asked what it means', async () => {
    const file = oneSheet(['Email', 'Status'], ['a@example.com', 'aktiv'], ['b@example.com', 'ruhend']);
    const { questions } = await preview(file, AFFILIATE);
    expect(questions).toMatchObject([{ about: 'values', message: expect.stringContaining('"ruhend"') }]);
    await imported(file, { ...AFFILIATE, values: { status: { ruhend: 'inactive' } } });
    expect(await people()).toMatchObject([{ status: 'active' }, { status: 'inactive' }]);
  });
});

describe('a file of any kind', () => {
  test('may repeat the name of a column: the next one gets a number, and which one is meant is asked', async () => {
    const file = 'Email,Status,Status\na@example.com,active,gesperrt\nb@example.com,inactive,gesperrt\n';
    const { columns, questions } = await preview(file, AFFILIATE);
    expect(columns.map(({ column }: Json) => column)).toEqual(['Email', 'Status', 'Status (2)']);
    expect(questions).toMatchObject([
      {
        about: 'mapping',
        message: expect.stringContaining('2 columns are named "Status", and their values differ'),
      },
    ]);
    await nothingChanges(world, async () =>
      expectRefusal(
        await send('', file, { ...AFFILIATE, accept_guesses: true }),
        400,
        'import_unclear',
        'differ',
      ),
    );
    await imported(file, { ...AFFILIATE, ...questions[0].choices[1].query });
    expect(await people()).toMatchObject([{ status: 'inactive' }, { status: 'inactive' }]);
    // equal columns are no question, and a name that is taken is not given twice
    const equal = 'Email,Status,status,Status (2)\nc@example.com,active,active,active\n';
    const { questions: none, columns: names } = await preview(equal, AFFILIATE);
    expect([none, names.map(({ column }: Json) => column)]).toEqual([
      [],
      ['Email', 'Status', 'status (3)', 'Status (2)'],
    ]);
  });

  longRun.test('has equal errors together, with the first three lines', async () => {
    const lines = Array.from({ length: 12 }, (_, index) => `nobody${index},DE`);
    const file = ['Email,Country', ...lines, 'a@example.com,DE', 'a@example.com,IT', ''].join('\n');
    const { report } = await preview(file, AFFILIATE);
    expect(report.failed).toBe(13);
    expect(report.groups).toMatchObject([
      {
        column: 'Email',
        message: expect.stringMatching(/^email must be an? .*[^"]$/),
        count: 12,
        first: [2, 3, 4].map((line) => ({ line, message: expect.stringContaining(`"nobody${line - 2}"`) })),
      },
      { count: 1, message: report.errors.at(-1).message, first: [{ line: 15 }] },
    ]);
  });

  test('is named when it has affiliates and commissions were expected', async () => {
    const file = 'Email,First name,PayPal email,Country\na@example.com,Ada,ada@paypal.test,DE\n';
    const { questions } = await preview(file, COMMISSION);
    expect(questions).toMatchObject([
      {
        about: 'mapping',
        message: expect.stringContaining('are columns of affiliates, and this imports commissions'),
      },
    ]);
    await imported(file, { ...COMMISSION, ...questions[0].choices[0].query });
  });

  test('is named when it has other columns than those that a mapping was saved for', async () => {
    await imported('Email,Land\na@example.com,DE\n', { ...AFFILIATE, save_as: 'Shop' });
    const other = await send('/preview', 'Mail,Country\nb@example.com,DE\n', {
      ...AFFILIATE,
      mapping: 'Shop',
    });
    expectRefusal(
      other,
      400,
      'invalid_mapping',
      '"Shop" was saved for files of another product',
      '"Email", "Land"',
    );
  });
});

describe('an OpenDocument spreadsheet', () => {
  const float = (value: string, shown: string, type = 'float') =>
    `<table:table-cell office:value-type="${type}" office:value="${value}"><text:p>${shown}</text:p></table:table-cell>`;

  test('has cells that are read as they are shown, in full and without thousands separators', async () => {
    const cells: readonly (readonly [cell: string, shown: string])[] = [
      [float('1234.5', '1.234,50 €', 'currency'), '1234.50 €'],
      [float('0.30000000000000004', '0,3'), '0.3'],
      [float('-1234.5', '(1.234,50)'), '-1234.50'],
      [float('0.15', '15 %', 'percentage'), '15 %'],
      [float('42', '00042'), '00042'],
      [float('120000000000000', '1,20E+14'), '120000000000000'],
      [float('0', '0,00'), '0.00'],
      [
        '<table:table-cell office:value-type="date" office:date-value="2026-09-01"><text:p>1. Sep</text:p></table:table-cell>',
        '2026-09-01',
      ],
      [
        '<table:table-cell office:value-type="date" office:date-value="2026-09-01T08:30:00"><text:p>x</text:p></table:table-cell>',
        '2026-09-01 08:30:00',
      ],
      [
        '<table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>WAHR</text:p></table:table-cell>',
        'TRUE',
      ],
      [
        '<table:table-cell office:value-type="string"><office:annotation><text:p>a comment</text:p></office:annotation><text:p>two</text:p><text:p>lines<text:s/>&amp;</text:p></table:table-cell>',
        'two lines &',
      ],
    ];
    const rows = cells.map(([cell], index) => odsRow(address(index), cell));
    const shown = await readAs(ods({ S: odsRow('Email', 'Vorname') + rows.join('') }));
    expect(cells.map(([cell], index) => [cell, shown[index]])).toEqual(cells);
  });

  test('is imported: repeated and hidden rows, merged cells, a chosen sheet, errors', async () => {
    const error =
      '<table:table-cell table:formula="of:=NA()" office:value-type="string" calcext:value-type="error"><text:p>#N/A</text:p></table:table-cell>';
    const empty =
      '<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>';
    const spanned =
      '<table:table-cell office:value-type="string" table:number-columns-spanned="2" table:number-rows-spanned="1"><text:p>Ada</text:p></table:table-cell><table:covered-table-cell/>';
    const file = ods({
      Empty: odsRow(),
      Partner:
        odsRow('Email', 'First name', 'Last name', 'External id') +
        empty +
        odsRow('a@example.com', spanned, '1') +
        odsRow('b@example.com', 'Bo', 'B', error).replace(
          '<table:table-row',
          '<table:table-row table:visibility="filter"',
        ),
    });
    await refused(file, { ...AFFILIATE, sheet: 'Empty' }, 'the sheet "Empty" is empty');
    expect((await preview(file, AFFILIATE)).dialect.sheet).toBe('Partner');
    const { guessed, report } = await preview(file, { ...AFFILIATE, sheet: 'Partner' });
    expect(guessed).toEqual(
      expect.arrayContaining([
        'hidden rows are read as well: 5',
        'merged cells have their value in the first cell only: B4:C4',
      ]),
    );
    expect(report.errors).toMatchObject([
      { line: 5, column: 'External id', message: expect.stringContaining('cell D5 shows the error #N/A') },
    ]);
    await imported(file, { ...AFFILIATE, sheet: 'Partner', partial: true });
    expect(await people()).toMatchObject([{ email: 'a@example.com', name_first: 'Ada', external_id: '1' }]);
    await refused(file, { ...AFFILIATE, sheet: 'Q4' }, 'no sheet "Q4"');
  });
});

describe('a file that is refused, with the reason', () => {
  const container = (text: string) =>
    Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(70_000),
      Buffer.from(text, 'utf16le'),
    ]);
  const parts = xlsxParts([{ name: 'S', rows: [['Email'], ['a@example.com']] }]);
  const wide = Array.from({ length: 301 }, (_, index) => `Column ${index}`);

  test.each<[name: string, file: () => Buffer, ...parts: string[]]>([
    [
      'a workbook with a password',
      () => container('EncryptedPackage'),
      'protected with a password',
      'remove the password',
    ],
    ['an old workbook', () => container('Workbook'), 'old format of Excel (.xls)', '.xlsx'],
    ['a workbook with macros', () => zip({ ...parts, 'xl/vbaProject.bin': 'x' }), 'contains macros'],
    [
      'a workbook of the type with macros',
      () => xlsx([{ name: 'S', rows: [['Email']] }], { type: 'sheet.macroEnabled.main' }),
      'contains macros',
    ],
    [
      'an OpenDocument spreadsheet with a password',
      () => ods({ S: odsRow('Email') }, '<manifest:encryption-data xmlns:manifest="m"/>'),
      'protected with a password',
    ],
    ['a binary workbook', () => zip({ 'xl/workbook.bin': 'x' }), '.xlsb'],
    ['another archive', () => zip({ 'a.csv': 'email\n' }), 'a zip archive and no workbook'],
    ['a document of Apple Numbers', () => zip({ 'Index/Document.iwa': 'x' }), 'Apple Numbers'],
    [
      'a workbook with two parts of one name',
      () => zip({ ...parts, 'xl/worksheets/SHEET1.xml': '<worksheet/>' }),
      'two parts named "xl/worksheets/sheet1.xml"',
    ],
    ['a workbook that was cut off', () => oneSheet(['Email']).subarray(0, 900), 'cut off or damaged'],
    [
      'a workbook that is huge when unpacked',
      () => zip({ ...parts, 'xl/worksheets/sheet1.xml': Buffer.alloc(201 * 2 ** 20, ' ') }),
      'more than 200 MB when unpacked',
    ],
    [
      'a workbook with an entity',
      () =>
        zip({
          ...parts,
          'xl/worksheets/sheet1.xml': '<!DOCTYPE x [<!ENTITY a "b">]><worksheet><sheetData/></worksheet>',
        }),
      'damaged',
    ],
    [
      'a workbook without well-formed XML',
      () => zip({ ...parts, 'xl/worksheets/sheet1.xml': '<worksheet><sheetData>' }),
      'damaged',
    ],
    [
      'a sheet with more than 300 columns',
      () => oneSheet(['Email', ...wide]),
      'cell KO1',
      '300 columns at most',
    ],
  ])('%s', async (_, file, ...messages) => {
    await refused(file(), AFFILIATE, ...messages);
  });

  longRun.test('a sheet that repeats its rows without end', async () => {
    const row = odsRow(...Array.from({ length: 10 }, () => 'x'));
    const endless = row.replace('<table:table-row', '<table:table-row table:number-rows-repeated="1000000"');
    await refused(ods({ S: endless }), AFFILIATE, 'more than 3,000,000 cells');
  });
});
