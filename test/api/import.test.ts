import { beforeEach, describe, expect, test } from 'vitest';
import { isLong } from '../support/depth.ts';
import {
  allOf,
  COMMISSIONS,
  eventsOf,
  expectRefusal,
  makeAffiliate,
  onlyAudited,
  PROGRAMS,
} from './fixtures.ts';
import { csv, simple, useImports } from './import-support.ts';

const imports = useImports();
const { world, api, upload, stored, refused } = imports;
let ada: number;
beforeEach(() => {
  ada = imports.ada();
});

describe('a file of commissions', () => {
  test('is imported as a whole, with every column, its sums and one event', async () => {
    const program = (await api.post(PROGRAMS, { name: 'P' })).body;
    const file = csv(
      'external_id,affiliate_id,program_id,amount,currency,occurred_at,order_id,product_id,product_name,sale_amount,rate_bps,type,description,customer_email',
      `a,${ada},${program.id},31.90,USD,2025-07-01T12:00:00+02:00,o-1,sku,"Book, 2nd",319.00,1000,bonus,"He said ""hi""",buyer@example.com`,
      `b,${ada},,500,jpy,2025-07-02,,,,,,,,`,
      `c,${ada},,1.234,KWD,,,,,,,,,`,
      `d,${ada},,,usd,,,,,10.05,1000,,,`,
    );
    const answer = await upload(file);
    expect(answer.status, answer.text).toBe(200);
    const counts = { created: 4, unchanged: 0, failed: 0 };
    const totals = [
      { currency: 'jpy', amount: 500, count: 1 },
      { currency: 'kwd', amount: 1234, count: 1 },
      { currency: 'usd', amount: 3291, count: 2 },
    ];
    expect(answer.body).toEqual({
      object: 'commission_import',
      dry_run: false,
      lines: 4,
      ...counts,
      totals,
      errors: [],
    });
    const [a, b, c, d] = await allOf(api, `${COMMISSIONS}?sort=id`);
    expect(a).toMatchObject({
      external_id: 'a',
      affiliate_id: ada,
      program_id: program.id,
      type: 'bonus',
      amount: 3190,
      currency: 'usd',
      sale_amount: 31_900,
      rate_bps: 1000,
      occurred_at: '2025-07-01T10:00:00.000Z',
      order_id: 'o-1',
      product_id: 'sku',
      product_name: 'Book, 2nd',
      description: 'He said "hi"',
      customer_email: 'buyer@example.com',
      metadata: null,
    });
    expect(b).toMatchObject({
      type: 'sale',
      program_id: null,
      order_id: null,
      sale_amount: null,
      occurred_at: '2025-07-02T00:00:00.000Z',
    });
    expect([c.amount, c.currency]).toEqual([1234, 'kwd']);
    expect([d.amount, d.sale_amount, d.rate_bps]).toEqual([101, 1005, 1000]);
    const events = (await eventsOf(world, api)).map(({ type, payload }) => [type, payload.data]).slice(1);
    expect(events).toEqual([
      ['commissions.imported', { object: 'commission_import', source: 'file', ...counts, totals }],
    ]);
  });

  const lines = () => [`a,${ada},1.00`, `b,${ada},2.00`];
  test.each<[string, () => string | Uint8Array]>([
    ['line feeds', () => simple(...lines())],
    ['CRLF', () => simple(...lines()).replaceAll('\n', '\r\n')],
    ['a byte order mark', () => `﻿${simple(...lines())}`],
    ['CR, as old Macintosh programs end lines', () => simple(...lines()).replaceAll('\n', '\r')],
    [
      'no end of the last line, where its last cell is complete',
      () =>
        csv('external_id,affiliate_id,amount,currency', ...lines().map((line) => `${line},usd`)).trimEnd(),
    ],
    [
      'cells and lines that a spreadsheet left empty',
      () => simple(...lines(), ',,').replaceAll('\n', ',,\n'),
    ],
    ['empty lines between', () => simple('', ...lines(), '', '')],
    ['quotes around everything', () => simple(...lines()).replaceAll(/[^,\n]+/g, '"$&"')],
    ['capitals and spaces in the header', () => simple(...lines()).replace('external_id', ' External_ID ')],
    ['spaces around cells', () => simple(...lines()).replaceAll(',', ' , ')],
    [
      'columns in another order',
      () => csv('amount,affiliate_id,external_id', `1.00,${ada},a`, `2.00,${ada},b`),
    ],
    ['bytes that arrive one by one', () => new TextEncoder().encode(simple(...lines()))],
  ])('is read with %s', async (_, file) => {
    expect((await upload(file())).body).toMatchObject({ lines: 2, created: 2, failed: 0 });
    expect(await stored()).toEqual([
      ['a', 100, 'usd'],
      ['b', 200, 'usd'],
    ]);
  });

  test('may contain line ends, quotes and anything else in quotes, and texts are stored unchanged', async () => {
    const texts = [
      'two\nlines',
      'two\r\nlines',
      'say "hi"',
      'a,b',
      "=cmd|' /C calc'!A0",
      '+1',
      '-1',
      '@x',
      'Zoë 山田 🎉',
      '\\N',
      '\\.',
      'tab\there',
      "'quoted",
      'NULL',
    ];
    const quoted = texts.map((text, index) => `t${index},${ada},1,"${text.replaceAll('"', '""')}"`);
    const answer = await upload(csv('external_id,affiliate_id,amount,description', ...quoted));
    expect(answer.body).toMatchObject({ created: texts.length, failed: 0 });
    const found = await world.query<{ description: string }>(
      `select description from commissions where affiliate_id = $1 order by substr(external_id, 2)::int`,
      [ada],
    );
    expect(found.map(({ description }) => description)).toEqual(texts);
  });

  test.each([
    ['affiliate_id', () => String(ada)],
    ['affiliate_email', () => 'ADA@Example.com'],
    ['affiliate_external_id', () => 'ada'],
  ])('may name the affiliate by %s, and an unknown one is reported with its line', async (column, value) => {
    const other = await world.otherAccount();
    const foreign = await makeAffiliate(other, { email: 'foreign@example.com', external_id: 'foreign' });
    const unknown = column === 'affiliate_id' ? '999999' : `nobody@example.com`;
    const theirs =
      column === 'affiliate_id' ? foreign.id : column === 'affiliate_email' ? foreign.email : 'foreign';
    const header = `external_id,${column},amount`;
    await refused(
      csv(header, `a,${value()},1`, `b,${unknown},1`, `c,${theirs},1`),
      'invalid_lines',
      'line 3',
      column,
      unknown,
      'line 4',
      String(theirs),
    );
    expect((await upload(csv(header, `a,${value()},1`))).body.created).toBe(1);
    expect((await allOf(api, COMMISSIONS))[0]?.affiliate_id).toBe(ada);
  });

  test('that is sent again changes nothing and publishes nothing', async () => {
    const file = csv(
      'external_id,affiliate_id,amount,occurred_at',
      `a,${ada},1,2025-01-01`,
      `b,${ada},2,2025-01-01`,
    );
    await upload(file);
    await onlyAudited(world, async () => {
      const again = await upload(file);
      expect(again.body).toMatchObject({ lines: 2, created: 0, unchanged: 2, failed: 0 });
      expect(again.body.totals).toEqual([{ currency: 'usd', amount: 300, count: 2 }]);
    });
    const longer = await upload(`${file}c,${ada},3,2025-01-01\n`);
    expect(longer.body).toMatchObject({ lines: 3, created: 1, unchanged: 2 });
  });
});

describe('a file as a whole is refused for', () => {
  const good = () => simple(`a,${ada},1`);

  // test/api/import-bad-files.test.ts has those of a short run too
  const REPEATED =
    /unknown column|semicolons|another encoding|UTF-16|NUL|never ends|more than a megabyte|no header|no affiliate|truncated/;
  const files: [string, () => string | Uint8Array, string[]][] = [
    ['being empty', () => '', ['empty']],
    ['only a byte order mark', () => '﻿', ['empty']],
    ['only empty lines', () => '\n\r\n\n', ['empty']],
    ['an unknown column', () => good().replace('amount', 'amout'), ['line 1', 'amout', 'amount']],
    ['a column twice', () => good().replaceAll('amount', 'external_id'), ['line 1', 'external_id']],
    [
      'a column twice in other letters',
      () => csv('external_id,affiliate_id,amount,Amount', `a,${ada},1,1`),
      ['line 1', 'amount'],
    ],
    ['no external_id', () => csv('affiliate_id,amount', `${ada},1`), ['line 1', 'external_id']],
    ['no affiliate', () => csv('external_id,amount', 'a,1'), ['line 1', 'affiliate_id']],
    [
      'two columns for the affiliate',
      () => csv('external_id,affiliate_id,affiliate_email,amount', `a,${ada},a@x.y,1`),
      ['line 1', 'affiliate_id', 'affiliate_email'],
    ],
    ['a column without a name', () => csv('external_id,affiliate_id,,amount', `a,${ada},,1`), ['line 1']],
    ['no header at all', () => `a,${ada},1\n`, ['line 1']],
    ['semicolons', () => good().replaceAll(',', ';'), ['line 1']],
    [
      'another encoding',
      () => Buffer.from(csv('external_id,affiliate_id,amount,description', `a,${ada},1,Zoë`), 'latin1'),
      ['UTF-8'],
    ],
    ['UTF-16', () => Buffer.from(`﻿${good()}`, 'utf16le'), ['UTF-16']],
    [
      'a truncated character at the end',
      () => Buffer.concat([Buffer.from(good()), Buffer.from([0xe5, 0xb1])]),
      ['UTF-8'],
    ],
    ['a NUL character', () => good().replace('a,', 'a\0,'), ['NUL']],
    [
      'a quote that never ends',
      () => csv('external_id,affiliate_id,amount,description', `a,${ada},1,"cut off`, `b,${ada},1,`),
      ['line'],
    ],
    [
      'a quote in the middle of a cell',
      () => csv('external_id,affiliate_id,amount,description', `a,${ada},1,x "y" z`),
      ['line 2'],
    ],
    ['a line with a cell too many', () => simple(`a,${ada},1`, `b,${ada},1,2`), ['line 3']],
    ['a line with one cell too few', () => simple(`a,${ada},1`, `b,${ada}`), ['line 3']],
    [
      'a cell of more than a megabyte',
      () => csv('external_id,affiliate_id,amount,description', `a,${ada},1,${'x'.repeat(1_200_000)}`),
      ['line 2'],
    ],
  ];
  test.each(files.filter(([name]) => isLong || !REPEATED.test(name)))('%s', async (_, file, parts) => {
    await refused(file(), 'invalid_file', ...parts);
  });

  test('a sum that JSON cannot carry exactly', async () => {
    const ids = [ada, (await makeAffiliate(api)).id];
    const lines = Array.from({ length: 9008 }, (_, index) => `${index},${ids[index % 2]},10000000000.00`);
    const answers = [await upload(simple(...lines), '?dry_run=true'), await upload(simple(...lines))];
    const written = await world.query('select 1 from commissions where affiliate_id = any($1)', [ids]);
    for (const answer of answers) expectRefusal(answer, 409, 'amount_too_large', '9008000000000000');
    expect(written).toHaveLength(0);
  });

  test('nothing when it has only a header', async () => {
    await onlyAudited(world, async () =>
      expect((await upload(simple())).body).toMatchObject({
        lines: 0,
        created: 0,
        failed: 0,
        totals: [],
        errors: [],
      }),
    );
  });
});
