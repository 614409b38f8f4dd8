import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { isLong, longRun, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  completePayout,
  csv,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  previewChangesNothing,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

type Query = Record<string, string | boolean | object>;

const IMPORTS = '/v2/imports';
const example = (name: string) => readFileSync(new URL(`../../examples/imports/${name}`, import.meta.url));

function send(path: string, file: string | Uint8Array, query: Query): Promise<Answer> {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.upload(`${path}?${new URLSearchParams(texts)}`, file);
}
const preview = (file: string | Uint8Array, query: Query) =>
  previewChangesNothing(world, () => send(`${IMPORTS}/preview`, file, query));
const post = (file: string | Uint8Array, query: Query) =>
  send(IMPORTS, file, { accept_guesses: true, ...query });

async function imported(file: string | Uint8Array, query: Query): Promise<Json> {
  const answer = await post(file, query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function refused(
  file: string | Uint8Array,
  query: Query,
  reason: string,
  ...parts: string[]
): Promise<void> {
  await nothingChanges(world, async () => expectRefusal(await post(file, query), 400, reason, ...parts));
}

const AFFILIATE = { kind: 'affiliates' };
const COMMISSION = { kind: 'commissions' };
const commissions = () => allOf(api, `${COMMISSIONS}?sort=id`);
const people = () => allOf(api, `${AFFILIATES}?sort=id`);

/** Ada and Charles, by their ids in the other product. */
async function makePeople(ids = ['7', '9']): Promise<void> {
  await makeAffiliate(api, { external_id: ids[0], email: 'ada@example.com' });
  await makeAffiliate(api, { external_id: ids[1], email: 'charles@example.com' });
}

describe('the format of a file', () => {
  const header = 'email,name_first';
  const rows = csv(header, 'ada@example.com,Zoë €');
  const utf16 = (text: string, mark = '\uFEFF') => Buffer.from(mark + text, 'utf16le');

  /** What a short run leaves out: another separator, line end or byte order, read as those of the other rows are. */
  const REPEATED = /tabs|bars|CRLF|other byte order/;
  const formats: [string, string | Uint8Array, Json, string[]][] = [
    ['UTF-8', rows, { encoding: 'utf-8', separator: 'comma', line_end: 'lf' }, []],
    [
      'UTF-8 with a mark and CRLF',
      `\uFEFF${rows.replaceAll('\n', '\r\n')}`,
      { encoding: 'utf-8', line_end: 'crlf' },
      [],
    ],
    ['UTF-16 with a mark', utf16(rows), { encoding: 'utf-16le' }, []],
    ['UTF-16 in the other byte order', utf16(rows).swap16(), { encoding: 'utf-16be' }, []],
    ['UTF-16 without a mark', utf16(rows, ''), { encoding: 'utf-16le' }, ['the encoding is UTF-16LE']],
    [
      'Windows-1252',
      Buffer.concat([Buffer.from(`${header}\nada@example.com,Zo`), Buffer.from([0xeb, 0x20, 0x80, 0x0a])]),
      { encoding: 'windows-1252' },
      ['the encoding is Windows-1252'],
    ],
    [
      'semicolons',
      rows.replaceAll(',', ';'),
      { separator: 'semicolon' },
      ['semicolons stand between the cells'],
    ],
    ['tabs', rows.replaceAll(',', '\t'), { separator: 'tab' }, ['tabs stand between the cells']],
    ['bars', rows.replaceAll(',', '|'), { separator: 'bar' }, ['bars stand between the cells']],
    [
      'the separator in its first line',
      `sep=;\n${rows.replaceAll(',', ';')}`,
      { separator: 'semicolon' },
      [],
    ],
    ['CR', rows.replaceAll('\n', '\r'), { line_end: 'cr' }, []],
    [
      'no last line end',
      rows.trimEnd(),
      { last_line: 'open' },
      ['the file is whole, although its last line has no line end'],
    ],
  ];
  test.each(formats.filter(([name]) => isLong || !REPEATED.test(name)))(
    'is detected: %s',
    async (_, file, dialect, guessed) => {
      const { body } = await preview(file, AFFILIATE);
      expect(body).toMatchObject({ dialect, guessed, questions: [], report: { created: 1, errors: [] } });
      expect(body.rows[0].fields).toEqual({ email: 'ada@example.com', name_first: 'Zoë €' });
      if (guessed.length > 0) {
        await nothingChanges(world, async () =>
          expectRefusal(
            await post(file, { ...AFFILIATE, accept_guesses: false }),
            400,
            'import_not_confirmed',
            guessed[0] ?? '',
          ),
        );
      }
      const report = await imported(file, { ...AFFILIATE, accept_guesses: guessed.length > 0 });
      expect((await api.get(`${IMPORTS}/${report.import_id}`)).body).toMatchObject({
        dialect,
        guessed,
        created: 1,
      });
      expect(await people()).toMatchObject([{ name_first: 'Zoë €' }]);
    },
  );

  test('is the given one', async () => {
    const file = Buffer.from(csv('email;name_first', 'ada@example.com;Zo\xeb'), 'latin1');
    const query = { ...AFFILIATE, encoding: 'windows-1252', separator: 'semicolon', accept_guesses: false };
    expect(await imported(file, query)).toMatchObject({ created: 1, guessed: [] });
  });

  test.each<[string, Uint8Array | string, string]>([
    ['a zip archive', Buffer.from('504b030414000600', 'hex'), 'zip'],
    ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'image (PNG)'],
    ['another image', Buffer.from('ffd8ffe000104a46494600', 'hex'), 'image (JPEG)'],
    ['a file with NUL', Buffer.from(`${header}\nada@example.com,\0\xff\n`, 'latin1'), 'NUL'],
    ['UTF-16 with an odd byte', Buffer.concat([utf16(rows), Buffer.from('a')]), 'odd number of bytes'],
    ['the header alone without a line end', 'email', 'line end'],
    [
      'a byte that Windows-1252 does not define',
      Buffer.from(`${header}\nada@example.com,\x81\n`, 'latin1'),
      'byte 81',
    ],
  ])('is refused: %s', async (_, file, part) => {
    await refused(file, AFFILIATE, 'invalid_file', part);
    expectRefusal(await send(`${IMPORTS}/preview`, file, AFFILIATE), 400, 'invalid_file', part);
  });
});

describe('the meaning of columns', () => {
  test('is guessed by their names, all at once, and reported', async () => {
    const file = csv(
      'Affiliate ID,E-Mail,First name,Payment method,Status,Notes,Country',
      '7,ada@example.com,Ada,PayPal,Approved,met her,Ireland',
      '9,charles@example.com,Charles,Bank transfer,pending,,gb',
    );
    const { body } = await preview(file, AFFILIATE);
    expect(body.mapping).toEqual({
      'Affiliate ID': 'external_id',
      'E-Mail': 'email',
      'First name': 'name_first',
      'Payment method': 'payout_method',
      Status: 'status',
      Notes: 'ignore',
      Country: 'country',
    });
    expect(body.columns[0]).toEqual({
      column: 'Affiliate ID',
      field: 'external_id',
      source: 'synonym',
      samples: ['7', '9'],
    });
    expect(body.columns[5]).toMatchObject({ column: 'Notes', field: null, source: 'none' });
    expect(body.guessed).toEqual([
      '"Affiliate ID" is external_id',
      '"E-Mail" is email',
      '"First name" is name_first',
      '"Payment method" is payout_method',
      'ignored: "Notes"',
      'in "Payment method" "Bank transfer" is other',
      'in "Status" "Approved" is active, "pending" is inactive',
      'in "Country" "Ireland" is IE',
    ]);
    await imported(file, { ...AFFILIATE, file_name: 'people.csv' });
    expect(await people()).toMatchObject([
      { external_id: '7', payout_method: 'paypal', status: 'active', country: 'IE' },
      { external_id: '9', payout_method: 'other', status: 'inactive', country: 'GB' },
    ]);
  });

  test('follows the mapping: a field, ignored, or the same in every line', async () => {
    const file = csv('Who,What,email', 'x@example.com,Ada,ada@example.com');
    const mapping = { who: 'ignore', What: 'name_first', EMAIL: 'email', country: { constant: 'de' } };
    const report = await imported(file, { ...AFFILIATE, mapping, accept_guesses: false });
    expect(report).toMatchObject({ created: 1, guessed: [] });
    expect(await people()).toMatchObject([{ email: 'ada@example.com', name_first: 'Ada', country: 'DE' }]);
  });

  test('may follow from values: the one column of e-mail addresses', async () => {
    const { body } = await preview(csv('Kontakt,Stadt', 'ada@example.com,London'), AFFILIATE);
    expect(body.columns[0]).toMatchObject({ field: 'email', source: 'values' });
    const { body: none } = await preview(csv('Stadt', 'London'), AFFILIATE);
    expect(none).toMatchObject({ report: null, questions: [{ about: 'mapping' }] });
  });

  test.each<[string, object | string, string]>([
    ['a field of two columns', { a: 'email', b: 'email' }, 'gives email twice: "a" and "b"'],
    ['an unknown field', { a: 'mail' }, 'there is no field "mail"'],
    ['an unknown column', { c: 'email' }, '"c", which the file has not'],
    ['a column twice', { a: 'email', A: 'slug' }, '"A" twice'],
    ['no text', { a: 5 }, 'of "a" must be a field'],
    ['no JSON', '{"a":', 'is not JSON'],
    ['an unknown name', 'shop', 'was saved under "shop"'],
  ])('is refused: %s', async (_, mapping, part) => {
    const file = csv('a,b', 'ada@example.com,x');
    await refused(file, { ...AFFILIATE, mapping }, 'invalid_mapping', part);
  });

  test('is stored under a name, and used for the next file with this header, in any order', async () => {
    const mapping = { Kontakt: 'email', Rufname: 'name_first', Rest: 'ignore' };
    await imported(csv('Kontakt,Rufname,Rest', 'ada@example.com,Ada,1'), {
      ...AFFILIATE,
      mapping,
      save_as: 'crm',
    });
    const next = csv('rest,kontakt,rufname', '2,bob@example.com,Bob');
    const report = await imported(next, { ...AFFILIATE, accept_guesses: false });
    expect(report).toMatchObject({ created: 1, guessed: [], mapping: { kontakt: 'email', rest: 'ignore' } });
    expect((await preview(next, AFFILIATE)).body).toMatchObject({ mapping_name: 'crm' });
    expect((await preview(next, { ...AFFILIATE, mapping: 'crm' })).body.columns[1]).toMatchObject({
      source: 'saved',
    });
    expect((await api.get(`${IMPORTS}/mappings`)).body.data).toMatchObject([
      { name: 'crm', kind: 'affiliates', columns: ['kontakt', 'rest', 'rufname'] },
    ]);
    const other = await world.otherAccount();
    expect((await other.get(`${IMPORTS}/mappings`)).body.data).toEqual([]);
  });

  test("whose ids name affiliates is decided by the account's affiliates, else asked", async () => {
    await makePeople();
    const file = (id: number | string) => csv('id,affiliate_id,amount,note', `c${id},${id},5.00,x`);
    expect((await preview(file(7), COMMISSION)).body.columns[1].field).toBe('affiliate_external_id');
    const [ada] = await people();
    await makeAffiliate(api, { external_id: String(ada?.id), email: 'eve@example.com' });
    const { body } = await preview(file(ada?.id), COMMISSION);
    expect(body).toMatchObject({ report: null, questions: [{ about: 'mapping', choices: [{}, {}] }] });
    await refused(
      file(ada?.id),
      COMMISSION,
      'import_unclear',
      'ids of affiliates here, and also external_ids',
    );
    const [choice] = body.questions[0].choices;
    expect((await imported(file(ada?.id), { ...COMMISSION, ...choice.query })).created).toBe(1);
    expect((await commissions())[0]?.affiliate_id).not.toBe(ada?.id);
  });

  test('a file of commissions is not mistaken for one of affiliates', async () => {
    const file = csv('Email,Name,Order,Commission', 'ada@example.com,Ada,1042,5.00');
    await refused(
      file,
      AFFILIATE,
      'import_unclear',
      '"Order" and "Commission" are columns of commissions, and this imports affiliates (import the file as commissions: {"kind":"commissions"} or ',
    );
    for (const name of ['affiliatewp-referrals', 'slicewp-commissions', 'excel-commissions']) {
      const { body } = await preview(example(`${name}.csv`), AFFILIATE);
      const [question] = body.questions;
      expect(question, name).toMatchObject({ choices: [{ query: { kind: 'commissions' } }, {}] });
      const other = await preview(example(`${name}.csv`), { ...AFFILIATE, ...question.choices[0].query });
      expect(JSON.stringify(other.body.questions), name).not.toContain('and this imports');
    }
    const [, choice] = (await preview(file, AFFILIATE)).body.questions[0].choices;
    expect(choice.query).toEqual({ mapping: { Order: 'ignore', Commission: 'ignore' } });
    expect((await imported(file, { ...AFFILIATE, ...choice.query })).created).toBe(1);
  });

  test('two possible commission columns raise a question', async () => {
    await makePeople();
    const file = csv('id,affiliate_email,amount,Commission', 'a,ada@example.com,100.00,5.00');
    await refused(
      file,
      COMMISSION,
      'import_unclear',
      '"amount" and "Commission" could both be the commission',
    );
    const [choice] = (await preview(file, COMMISSION)).body.questions[0].choices;
    await imported(file, { ...COMMISSION, ...choice.query });
    expect(await commissions()).toMatchObject([{ amount: 500, sale_amount: 10_000 }]);
  });
});

describe('the meaning of values', () => {
  const money = (...amounts: string[]) =>
    csv(
      'id;affiliate_email;amount',
      ...amounts.map((amount, index) => `c${index};ada@example.com;${amount}`),
    );
  const days = (...dates: string[]) =>
    csv(
      'id,affiliate_email,amount,date',
      ...dates.map((date, index) => `c${index},ada@example.com,1.00,${date}`),
    );
  beforeEach(() => makePeople());

  test.each<[string, string[], number[]]>([
    ['decimal commas', ['31,90', '1.234,56', '7'], [3190, 123456, 700]],
    ['decimal points', ['31.90', '1,234.56', '1 234.50'], [3190, 123456, 123450]],
    ['currency signs', ['$31.90', 'USD 7', '8.5 $', '"1\'000.00"'], [3190, 700, 850, 100000]],
    ['thousands decided by a second separator', ['1.234.567', '1.000'], [123456700, 100000]],
  ])('amounts with %s', async (_, texts, amounts) => {
    await imported(money(...texts), COMMISSION);
    expect((await commissions()).map(({ amount }) => amount)).toEqual(amounts);
  });

  test('an ambiguous amount raises a question, and is never guessed', async () => {
    const file = money('1.234', '7');
    await refused(
      file,
      COMMISSION,
      'import_unclear',
      '"1.234" could be a thousand and more',
      '"decimal":"comma"',
    );
    const { body } = await preview(file, COMMISSION);
    expect(body).toMatchObject({ report: null, questions: [{ about: 'decimal', choices: [{}, {}] }] });
    await refused(file, { ...COMMISSION, decimal: 'point' }, 'invalid_lines', 'amount');
    await imported(file, { ...COMMISSION, decimal: 'comma' });
    expect((await commissions())[0]?.amount).toBe(123_400);
  });

  test('amounts of both formats raise a question; a line that contradicts the answer is bad', async () => {
    const file = money('31.90', '31,90');
    await refused(
      file,
      COMMISSION,
      'import_unclear',
      'a decimal point in "31.90" and a decimal comma in "31,90"',
    );
    await refused(
      file,
      { ...COMMISSION, decimal: 'comma' },
      'invalid_lines',
      'line 2: amount must be an amount with a decimal comma',
    );
    await refused(file, { ...COMMISSION, decimal: 'point' }, 'invalid_lines', 'line 3: amount');
  });

  test('an amount in another currency than its line is a bad line', async () => {
    await refused(money('31.90 €'), COMMISSION, 'invalid_lines', 'amount is not in usd');
  });

  test.each<[string, string, string[], string[]]>([
    ['as in SQL', 'UTC', ['2026-09-01 12:00:00'], ['2026-09-01T12:00:00.000Z']],
    [
      'by the clocks of the account',
      'America/New_York',
      ['2026-09-01 12:00:00', '2026-11-01 00:30'],
      ['2026-09-01T16:00:00.000Z', '2026-11-01T04:30:00.000Z'],
    ],
    ['on a day with 25 hours', 'America/New_York', ['2026-11-01 12:00'], ['2026-11-01T17:00:00.000Z']],
    [
      'day first',
      'UTC',
      ['01/09/2026', '31/12/2026'],
      ['2026-09-01T00:00:00.000Z', '2026-12-31T00:00:00.000Z'],
    ],
    [
      'month first',
      'UTC',
      ['01/09/2026 3:05 PM', '12/31/2026'],
      ['2026-01-09T15:05:00.000Z', '2026-12-31T00:00:00.000Z'],
    ],
    [
      'with a name of the month',
      'UTC',
      ['"September 1, 2026"', '2 Sep 2026 08:15'],
      ['2026-09-01T00:00:00.000Z', '2026-09-02T08:15:00.000Z'],
    ],
    [
      'with an offset',
      'UTC',
      ['2026-09-01 12:00:00 +0200', '2026-09-01 12:00:00 UTC'],
      ['2026-09-01T10:00:00.000Z', '2026-09-01T12:00:00.000Z'],
    ],
  ])('dates %s (%s)', async (_, time_zone, texts, instants) => {
    await api.patch('/v2/account', { time_zone });
    await imported(days(...texts), COMMISSION);
    expect((await commissions()).map(({ occurred_at }) => occurred_at)).toEqual(instants);
  });

  test('an ambiguous date raises a question, and is never guessed', async () => {
    const file = days('01/09/2026', '02/09/2026');
    await refused(file, COMMISSION, 'import_unclear', '"01/09/2026" has the day first or the month first');
    await imported(file, { ...COMMISSION, dates: 'dmy' });
    expect((await commissions())[0]?.occurred_at).toBe('2026-09-01T00:00:00.000Z');
    await refused(
      days('31/12/2026', '12/31/2026'),
      COMMISSION,
      'import_unclear',
      'the day first in "31/12/2026"',
    );
    await refused(days('2026-09-01', '01/09/2026'), COMMISSION, 'import_unclear', '"01/09/2026"');
    await refused(days('30/02/2026'), { ...COMMISSION, dates: 'dmy' }, 'invalid_lines', 'occurred_at');
  });

  longRun.test('the deciding value may be far down in the file', async () => {
    const many = Array.from({ length: 3000 }, () => '01/09/2026');
    const { body } = await preview(days(...many, '25/09/2026'), COMMISSION);
    expect(body).toMatchObject({ questions: [], dialect: { dates: 'dmy' } });
  });
});

describe('bad lines', () => {
  const bad = csv('Email,Status,Country', 'nobody,gone,Nowhere', 'ada@example.com,active,ie', ',,');
  /** Nobody knows the words, and the message says so. */
  const REFUSED = {
    ...AFFILIATE,
    values: { status: { gone: 'refuse' }, country: { Nowhere: 'refuse' } },
  };

  test('are reported with every mistake, by the column of the file', async () => {
    const report = await imported(bad, { ...REFUSED, partial: true });
    expect(report).toMatchObject({ lines: 2, created: 1, failed: 1 });
    expect(report.errors.map(({ line, column }: Json) => [line, column])).toEqual([
      [2, 'Status'],
      [2, 'Country'],
    ]);
    expect(report.errors[1].message).toContain('country must be two letters');
  });

  test('stop the import unless it is partial, and are returned as a file', async () => {
    await refused(bad, REFUSED, 'invalid_lines', '1 of 2', 'status must be one of', 'country must be');
    const answer = await nothingChanges(world, () => send(`${IMPORTS}/bad-lines`, bad, REFUSED));
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header, line, ...rest] = answer.text.trimEnd().split('\r\n');
    expect([header, rest]).toEqual(['line,error,Email,Status,Country', []]);
    expect(line).toMatch(/^2,"status must be .*; country must be .*",nobody,gone,Nowhere$/);
  });

  longRun.test(
    'beyond a thousand: the first thousand are reported, all are counted and returned as a file',
    async () => {
      const many = csv('Email', ...Array.from({ length: 1200 }, (_, index) => `nobody${index}`));
      await refused(many, AFFILIATE, 'invalid_lines', '1200 of 1200');
      const dry = await post(many, { ...AFFILIATE, dry_run: true });
      expect(dry.body).toMatchObject({ import_id: null, failed: 1200 });
      expect(dry.body.errors).toHaveLength(1000);
      const file = await send(`${IMPORTS}/bad-lines`, many, AFFILIATE);
      expect(file.text.split('\r\n')).toHaveLength(1202);
    },
  );

  test('do not hide what is stored of a file with a key', async () => {
    const key = { 'idempotency-key': 'bad-1' };
    const query = `kind=affiliates&values=${encodeURIComponent(JSON.stringify(REFUSED.values))}`;
    const answer = await api.upload(`${IMPORTS}/bad-lines?${query}`, bad, key);
    expect(answer.status, answer.text).toBe(200);
  });
});

describe('an earlier payment', () => {
  const header = 'id,affiliate_email,amount,currency,occurred_at,paid_at,payment_reference';
  const file = csv(
    header,
    'a,ada@example.com,30.00,usd,2025-11-20,2025-12-01,batch 7',
    'b,ada@example.com,10.00,usd,2025-11-21,2025-12-01T15:00:00Z,batch 7',
    'c,charles@example.com,5.00,eur,2025-11-22,2025-12-01,batch 7',
    'd,ada@example.com,2.00,usd,2025-12-05,2026-01-02,batch 8',
    'e,ada@example.com,4.00,usd,2025-12-06,2026-01-02,batch 9',
    'f,ada@example.com,8.00,usd,2025-12-07,,',
  );
  beforeEach(() => makePeople());
  const paidOn = async (from: string, to: string) =>
    (await api.get(`${AFFILIATES}/reports/paid/rows?from=${from}&to=${to}`)).body.data.map((row: Json) => [
      row.affiliate_email ?? row.email,
      row.currency,
      row.paid_amount,
    ]);

  test('is imported as paid, by day and reference, and the report of its year counts it', async () => {
    const report = await imported(file, COMMISSION);
    expect(report).toMatchObject({ created: 6, payouts: 3, failed: 0 });
    const payouts = (await allOf(api, `${PAYOUTS}?sort=created_at`)).filter(
      ({ status }) => status === 'paid',
    );
    expect(payouts.map(({ paid_at, created_at }) => [paid_at, created_at])).toEqual([
      ['2025-12-01T00:00:00.000Z', '2025-12-01T00:00:00.000Z'],
      ['2026-01-02T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
      ['2026-01-02T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
    ]);
    expect((await commissions()).map(({ status }) => status)).toEqual([
      'paid',
      'paid',
      'paid',
      'paid',
      'paid',
      'unpaid',
    ]);
    expect((await paidOn('2025-01-01', '2025-12-31')).map((row: Json) => row.slice(1)).sort()).toEqual([
      ['eur', 500],
      ['usd', 4000],
    ]);
    expect((await paidOn('2026-01-01', '2026-12-31')).map((row: Json) => row.slice(1))).toEqual([
      ['usd', 600],
    ]);
    // no event about payments of long ago
    expect(await eventsOf(world, api, 'payout.paid')).toEqual([]);
    const line = (await api.get(`${PAYOUTS}/${payouts[0]?.id}`)).body.affiliates[0];
    expect(line.totals).toMatchObject([
      { is_paid: true, payment_reference: 'batch 7', amount: 4000, commission_count: 2 },
    ]);
    const next = await makePayout(api);
    expect([next.amount, next.number]).toEqual([800, 4]);
  });

  test('sent again changes nothing, and a refund claws it back', async () => {
    await imported(file, COMMISSION);
    expect(await imported(file, COMMISSION)).toMatchObject({ created: 0, unchanged: 6, payouts: 0 });
    const [first] = await commissions();
    const refund = await api.post(`${COMMISSIONS}/${first?.id}/refund`, { external_id: 'r1' });
    expect(refund.status, refund.text).toBeLessThan(300);
    const all = await commissions();
    expect(all.find(({ type }) => type === 'clawback')).toMatchObject({ amount: -3000, status: 'unpaid' });
  });

  /** Every table that sums are computed from, except notes about commissions. */
  async function sumsShown() {
    const affiliates = await people();
    const paths = [
      `${AFFILIATES}/balances`,
      '/v2/analytics/commissions?interval=day&from=2025-11-01&to=2026-02-01',
      '/v2/analytics/commissions?interval=day',
      `${AFFILIATES}/reports/paid/rows?from=2025-01-01&to=2026-12-31`,
      PAYOUTS,
    ];
    const reports = [];
    for (const path of paths) reports.push((await api.get(path)).body);
    return [affiliates.map(({ balance, last_paid_at }) => ({ balance, last_paid_at })), ...reports];
  }

  test.each(someOf(['folded', 'not folded'], 1))(
    'is removed whole when the import is undone, %s',
    async (when) => {
      // Ada was paid here before, and is owed something
      const [ada, charles] = await people();
      await makeCommission(api, ada?.id, { amount: 700 });
      await completePayout(api, await makePayout(api));
      await makeCommission(api, charles?.id, { amount: 90 });
      const before = await sumsShown();
      const { import_id } = await imported(file, COMMISSION);
      expect(await sumsShown()).not.toEqual(before);
      if (when === 'folded') await keepHouse(world, 'affiliate balances', 'commission series');
      expect((await api.post(`${IMPORTS}/${import_id}/undo`)).status).toBe(200);
      expect(await sumsShown()).toEqual(before);
      await keepHouse(world, 'affiliate balances', 'commission series');
      expect(await sumsShown()).toEqual(before);
      expect(await imported(file, COMMISSION)).toMatchObject({ created: 6, payouts: 3 });
    },
  );

  longRun.test.each(['not folded', 'folded'])(
    'is removed whole after a return of it was undone, %s',
    async (when) => {
      const before = await sumsShown();
      const { import_id } = await imported(file, COMMISSION);
      const line = (await commissions())[3];
      const path = `${PAYOUTS}/${line?.payout_id}/affiliates/${line?.affiliate_id}/returned`;
      const booked = await api.post(path, { reason: 'closed', amount: 100 });
      expect(booked.status, booked.text).toBe(200);
      const undo = () => api.post(`${IMPORTS}/${import_id}/undo`);
      expectRefusal(await undo(), 409, 'import_is_used', 'money of that came back');
      const [{ id }] = (await api.get(path)).body.data;
      expect((await api.delete(`${path}/${id}`)).status).toBe(204);
      if (when === 'folded') await keepHouse(world, 'affiliate balances', 'commission series');
      const undone = await undo();
      expect(undone.status, undone.text).toBe(200);
      expect(await sumsShown()).toEqual(before);
      expect(await imported(file, COMMISSION)).toMatchObject({ created: 6, payouts: 3 });
    },
  );

  test('stays whole when any part of it is in use, and each such line is named with the reason', async () => {
    const { import_id } = await imported(file, COMMISSION);
    const rows = await commissions();
    await api.post(`${COMMISSIONS}/${rows[0]?.id}/refund`, { external_id: 'r', amount: 50 });
    const back = `${PAYOUTS}/${rows[3]?.payout_id}/affiliates/${rows[3]?.affiliate_id}/returned`;
    expect((await api.post(back, { reason: 'closed', amount: 100 })).status).toBe(200);
    await makePayout(api, { filters: { type: 'sale' } });
    await nothingChanges(world, async () => {
      const answer = await api.post(`${IMPORTS}/${import_id}/undo`);
      expectRefusal(
        answer,
        409,
        'import_is_used',
        '3 of its commissions are in use: "a" was refunded; "d" was ',
      );
      expect(answer.text).toContain('money of that came back');
    });
  });

  test('is refused for a future date, and where the commission is here and not paid', async () => {
    await refused(
      csv(header, 'a,ada@example.com,1.00,usd,,2999-01-01,'),
      COMMISSION,
      'invalid_lines',
      'paid_at must not be in the future',
    );
    const day = '2025-11-20';
    await imported(csv('id,affiliate_email,amount,date', `a,ada@example.com,30.00,${day}`), COMMISSION);
    const again = csv('id,affiliate_email,amount,date,paid_at', `a,ada@example.com,30.00,${day},2025-12-01`);
    await refused(again, COMMISSION, 'invalid_lines', 'here already and not paid');
  });

  test('twice in a file with two times is a bad line, and paid once', async () => {
    const lines = [1, 2, 3].map((day) => `a,ada@example.com,1.00,2025-11-20,2025-12-0${Math.min(day, 2)}`);
    const twice = csv('id,affiliate_email,amount,date,paid_at', ...lines);
    await refused(
      twice,
      COMMISSION,
      'invalid_lines',
      '2 of 3',
      'line 3: external_id "a" is also in line 2, paid at another time',
    );
    expect(await imported(twice, { ...COMMISSION, partial: true })).toMatchObject({
      created: 1,
      payouts: 1,
      failed: 2,
    });
    expect((await allOf(api, PAYOUTS)).map(({ amount }) => amount)).toEqual([100]);
  });

  test('statuses decide what is owed, held, ignored or paid', async () => {
    const lines = csv(
      'id,affiliate_email,amount,Status,Paid at',
      'a,ada@example.com,1.00,Unpaid,',
      'b,ada@example.com,2.00,PENDING,',
      'c,ada@example.com,3.00,Rejected,',
      'd,ada@example.com,4.00,paid,2026-01-05',
      'e,ada@example.com,5.00,due,2026-12-24',
    );
    expect(await imported(lines, COMMISSION)).toMatchObject({ lines: 5, created: 4, skipped: 1, payouts: 1 });
    expect((await commissions()).map(({ external_id, status }) => [external_id, status])).toEqual([
      ['a', 'unpaid'],
      ['b', 'pending'],
      ['d', 'paid'],
      ['e', 'unpaid'],
    ]);
    await refused(
      csv('id,affiliate_email,amount,Status', 'x,ada@example.com,1.00,odd'),
      { ...COMMISSION, values: { status: { odd: 'refuse' } } },
      'invalid_lines',
      'status must be a word for',
    );
    await refused(
      csv('id,affiliate_email,amount,Status,Paid at', 'x,ada@example.com,1.00,paid,'),
      COMMISSION,
      'invalid_lines',
      'paid_at is empty',
    );
    const noDay = csv('id,affiliate_email,amount,Status', 'x,ada@example.com,1.00,paid');
    await refused(noDay, COMMISSION, 'import_unclear', 'no column says when');
    expect(await imported(noDay, { ...COMMISSION, paid: 'skip' })).toMatchObject({ created: 0, skipped: 1 });
    const mapping = { paid_at: { constant: '2026-02-01' } };
    expect(await imported(noDay, { ...COMMISSION, mapping })).toMatchObject({ created: 1, payouts: 1 });
  });
});

describe('an import', () => {
  test('is a record, also for our own format, and only of its account', async () => {
    const file = csv('email', 'ada@example.com');
    await api.upload(`${AFFILIATES}/import`, file);
    await imported(csv('E-mail', 'bob@example.com'), { ...AFFILIATE, file_name: 'bob.csv' });
    const { data } = (await api.get(`${IMPORTS}?kind=affiliates&sort=id`)).body;
    expect(data).toMatchObject([
      { status: 'completed', created: 1, mapping: {}, file: { name: null, bytes: Buffer.byteLength(file) } },
      { status: 'completed', created: 1, mapping: { 'E-mail': 'email' }, file: { name: 'bob.csv' } },
    ]);
    expect(data[0].file.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(data[0].created_by).toMatch(/^key_/);
    const other = await world.otherAccount();
    expect((await other.get(IMPORTS)).body.data).toEqual([]);
    expectRefusal(await other.get(`${IMPORTS}/${data[0].id}`), 404, 'resource_missing', 'import');
    expectRefusal(await other.post(`${IMPORTS}/${data[0].id}/undo`), 404, 'resource_missing', 'import');
  });

  test('of commissions can be undone, and its external_ids are free again', async () => {
    await makePeople();
    const file = csv(
      'id,affiliate_email,amount,status',
      'a,ada@example.com,1.00,',
      'b,ada@example.com,2.00,pending',
    );
    const { import_id } = await imported(file, COMMISSION);
    const undone = await api.post(`${IMPORTS}/${import_id}/undo`);
    expect(undone.body).toMatchObject({
      id: import_id,
      status: 'undone',
      undone_by: expect.stringMatching(/^key_/),
    });
    expect(await commissions()).toMatchObject([{ status: 'voided' }, { status: 'voided' }]);
    expect((await eventsOf(world, api, 'import.undone')).map(({ payload }) => payload.data)).toEqual([
      undone.body,
    ]);
    expectRefusal(await api.post(`${IMPORTS}/${import_id}/undo`), 409, 'import_is_undone', 'undone');
    expect(await imported(file, COMMISSION)).toMatchObject({ created: 2 });
  });

  test('is not undone once any of it was paid, refunded or put into a payout', async () => {
    await makePeople();
    const line = (id: string) => csv('id,affiliate_email,amount', `${id},ada@example.com,1.00`);
    const refusedUndo = (id: string, part: string) =>
      nothingChanges(world, async () =>
        expectRefusal(await api.post(`${IMPORTS}/${id}/undo`), 409, 'import_is_used', part),
      );
    const first = await imported(line('a'), COMMISSION);
    const payout = await makePayout(api);
    await refusedUndo(first.import_id, '1 of its commissions are in use: "a" is in the unpaid payout 1');
    const affiliate_id = payout.affiliates[0].affiliate_id;
    await api.put(`${PAYOUTS}/${payout.id}`, { commissions: [{ affiliate_id, is_paid: true }] });
    await refusedUndo(first.import_id, '"a" was paid in payout 1');
    const second = await imported(line('b'), COMMISSION);
    const [, commission] = await commissions();
    await api.post(`${COMMISSIONS}/${commission?.id}/refund`, { external_id: 'r', amount: 50 });
    await refusedUndo(second.import_id, '"b" was refunded');
  });

  test('of affiliates can be undone: created ones are deleted, changed ones are restored', async () => {
    const before = await makeAffiliate(api, { email: 'ada@example.com', name_first: 'Ada', country: 'IE' });
    const file = csv('email,name_first', 'ada@example.com,Augusta', 'bob@example.com,Bob');
    const { import_id } = await imported(file, AFFILIATE);
    await api.post(`${IMPORTS}/${import_id}/undo`);
    expect(await people()).toMatchObject([{ ...before, updated_at: expect.any(String) }]);
    expect(
      (await eventsOf(world, api, 'affiliate.deleted')).map(({ payload }) => payload.data.email),
    ).toEqual(['bob@example.com']);
    expect(await imported(file, AFFILIATE)).toMatchObject({ created: 1, updated: 1 });
  });

  test('of affiliates is not undone once one has commissions or was changed', async () => {
    const { import_id } = await imported(csv('email', 'ada@example.com'), AFFILIATE);
    const [ada] = await people();
    await imported(csv('id,affiliate_email,amount', 'a,ada@example.com,1.00'), COMMISSION);
    expectRefusal(
      await api.post(`${IMPORTS}/${import_id}/undo`),
      409,
      'import_is_used',
      'has commissions by now',
    );
    const other = await imported(csv('email', 'bob@example.com'), AFFILIATE);
    const [, bob] = await people();
    await api.patch(`${AFFILIATES}/${bob?.id}`, { name_first: 'Bob' });
    expectRefusal(
      await api.post(`${IMPORTS}/${other.import_id}/undo`),
      409,
      'import_is_used',
      `1 of its affiliates are in use: ${bob?.id} (bob@example.com) was changed since`,
    );
    expect(ada?.id).toBeLessThan(bob?.id);
  });

  longRun.test('in a dry run is no record, and stores nothing', async () => {
    await makePeople();
    const file = csv('id,affiliate_email,amount,paid_at', 'a,ada@example.com,1.00,2025-12-01');
    const dry = await nothingChanges(world, () => post(file, { ...COMMISSION, dry_run: true, save_as: 'x' }));
    expect(dry.body).toMatchObject({ import_id: null, dry_run: true, created: 1, payouts: 1 });
  });
});
