import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  nothingChanges,
  previewChangesNothing,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

type Query = Record<string, string | boolean | object>;

const IMPORTS = '/v2/imports';

function send(path: string, file: string, query: Query): Promise<Answer> {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.upload(`${path}?${new URLSearchParams(texts)}`, file);
}

async function preview(file: string, query: Query): Promise<Json> {
  const answer = await previewChangesNothing(world, () => send(`${IMPORTS}/preview`, file, query));
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const post = (file: string, query: Query) => send(IMPORTS, file, { accept_guesses: true, ...query });

async function imported(file: string, query: Query): Promise<Json> {
  const answer = await post(file, query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** The only question of a file; the file is refused until it is answered. */
async function question(file: string, query: Query): Promise<Json> {
  const { questions } = await preview(file, query);
  expect(questions).toHaveLength(1);
  await nothingChanges(world, async () =>
    expectRefusal(await post(file, query), 400, 'import_unclear', questions[0].message),
  );
  return questions[0];
}

const AFFILIATE = { kind: 'affiliates' };
const COMMISSION = { kind: 'commissions' };
const people = () => allOf(api, `${AFFILIATES}?sort=id`);
const commissions = () => allOf(api, `${COMMISSIONS}?sort=id`);

test('a date of payment without a status is a question: of the affiliate, or of the order', async () => {
  await makeAffiliate(api, { email: 'ada@example.com' });
  const file = csv(
    'Id,Affiliate email,Commission,Created at,Paid at',
    '1,ada@example.com,5.00,2026-01-02,2026-01-03',
  );
  const { message, choices } = await question(file, COMMISSION);
  expect(message).toMatch(/^"Paid at" may be when the customer paid the order/);
  expect(choices.map(({ query }: Json) => query.mapping)).toEqual([
    { 'Paid at': 'paid_at' },
    { 'Paid at': 'ignore' },
  ]);
  expect(await imported(file, { ...COMMISSION, ...choices[1].query, dry_run: true })).toMatchObject({
    payouts: 0,
  });
  expect(await imported(file, { ...COMMISSION, ...choices[0].query })).toMatchObject({ payouts: 1 });
  // the answer of a saved mapping, or a status, is no guess
  const stated = csv(
    'Id,Affiliate email,Commission,Created at,Status,Paid at',
    '2,ada@example.com,5.00,2026-01-02,paid,2026-01-03',
  );
  expect((await preview(stated, COMMISSION)).questions).toEqual([]);
});

describe('a file without a known date', () => {
  beforeEach(async () => {
    await makeAffiliate(api, { external_id: '7', email: 'ada@example.com' });
  });
  const dated = (names: string, ...values: string[]) =>
    csv(`Id,Affiliate email,Commission,${names}`, `1,ada@example.com,5.00,${values.join(',')}`);

  test('asks which column has it, and dates nothing today', async () => {
    const file = dated('Locking Date,Modified', '2026-01-31 10:00:00', '"Jan 5, 2026"');
    const { about, message, choices } = await question(file, COMMISSION);
    expect(about).toBe('mapping');
    expect(message).toContain('"Locking Date", "Modified" have dates');
    // a question is not called a guess
    expect((await preview(file, COMMISSION)).guessed.join()).not.toContain('time of the import');
    expect(choices.map(({ query }: Json) => query.mapping)).toEqual([
      { 'Locking Date': 'occurred_at' },
      { Modified: 'occurred_at' },
      { 'Locking Date': 'ignore', Modified: 'ignore' },
    ]);
    await imported(file, { ...COMMISSION, ...choices[0].query });
    expect(await commissions()).toMatchObject([{ occurred_at: '2026-01-31T10:00:00.000Z' }]);
  });

  longRun.test('uses the time of the import on request, and reports it', async () => {
    const file = dated('Locking Date', '2026-01-31');
    const mapping = { 'Locking Date': 'ignore' };
    const { questions, guessed } = await preview(file, { ...COMMISSION, mapping });
    expect(questions).toEqual([]);
    expect(guessed).toContainEqual(expect.stringContaining('all get the time of the import'));
    await nothingChanges(world, async () =>
      expectRefusal(
        await post(file, { ...COMMISSION, mapping, accept_guesses: false }),
        400,
        'import_not_confirmed',
        'the time of the import',
      ),
    );
    await imported(file, { ...COMMISSION, mapping });
  });

  test.each(['Action Date', 'Event Date', 'Created', 'Date Inserted', 'Datum', 'Fecha', 'Transaction Date'])(
    'has a date with the column %s',
    async (name) => {
      const file = dated(`${name},Locking Date`, '2026-01-31', '2026-02-28');
      const { questions, guessed } = await preview(file, COMMISSION);
      expect(questions).toEqual([]);
      expect(guessed).toContain(`"${name}" is occurred_at`);
      await imported(file, COMMISSION);
      expect(await commissions()).toMatchObject([{ occurred_at: '2026-01-31T00:00:00.000Z' }]);
    },
  );

  test('is ambiguous when two columns may have it', async () => {
    const file = dated('Action Date,Event Date', '2026-01-31', '2026-01-30');
    const { message, choices } = await question(file, COMMISSION);
    expect(message).toContain('"Action Date" and "Event Date" could each be the date');
    await imported(file, { ...COMMISSION, ...choices[1].query });
    expect(await commissions()).toMatchObject([{ occurred_at: '2026-01-30T00:00:00.000Z' }]);
  });

  test('in our own format needs no date', async () => {
    const file = csv('external_id,affiliate_email,amount', '1,ada@example.com,5.00');
    expect(await preview(file, COMMISSION)).toMatchObject({ questions: [], guessed: [] });
  });
});

describe('the words of a column', () => {
  const partners = csv(
    'Email,Status,Land',
    'a@example.com,aktiv,Deutschland',
    'b@example.com,Aktiv,Österreich',
    'c@example.com,gesperrt,Allemagne',
    'd@example.com,ruhend,Schweden',
  );

  test('are listed with their lines and meaning, unknown ones first', async () => {
    const { values, guessed } = await preview(partners, AFFILIATE);
    expect(values[0]).toEqual({
      column: 'Status',
      field: 'status',
      words: ['active', 'inactive'],
      values: [
        { value: 'ruhend', lines: 1, means: null, source: 'none' },
        { value: 'aktiv', lines: 1, means: 'active', source: 'synonym' },
        { value: 'Aktiv', lines: 1, means: 'active', source: 'synonym' },
        { value: 'gesperrt', lines: 1, means: 'inactive', source: 'synonym' },
      ],
      more: 0,
    });
    expect(values[1]).toMatchObject({ column: 'Land', field: 'country', words: null });
    expect(values[1].values.map(({ value, means }: Json) => [value, means])).toEqual([
      ['Deutschland', 'DE'],
      ['Österreich', 'AT'],
      ['Allemagne', 'DE'],
      ['Schweden', 'SE'],
    ]);
    expect(guessed).toContain('in "Status" "aktiv" is active, "Aktiv" is active, "gesperrt" is inactive');
  });

  test('that are unknown are a question, and the answer is used', async () => {
    const { about, message, choices } = await question(partners, AFFILIATE);
    expect([about, message]).toEqual([
      'values',
      '"ruhend" in "Status" (1 line) is not known: what does it mean as status?',
    ]);
    expect(choices.map(({ query }: Json) => query.values)).toEqual([
      { status: { ruhend: 'active' } },
      { status: { ruhend: 'inactive' } },
      { status: { ruhend: 'refuse' } },
    ]);
    const report = await imported(partners, { ...AFFILIATE, values: { status: { Ruhend: 'inactive' } } });
    expect(report.dialect.values).toEqual({ status: { Ruhend: 'inactive' } });
    expect((await people()).map(({ status, country }) => [status, country])).toEqual([
      ['active', 'DE'],
      ['active', 'AT'],
      ['inactive', 'DE'],
      ['inactive', 'SE'],
    ]);
  });

  test('are saved with the mapping, and can be overridden', async () => {
    const values = { status: { ruhend: 'inactive', aktiv: 'inactive' }, country: { Schweden: 'fi' } };
    await imported(partners, { ...AFFILIATE, values, save_as: 'crm' });
    const next = csv('Email,Status,Land', 'e@example.com,RUHEND,Schweden');
    expect(await preview(next, AFFILIATE)).toMatchObject({ mapping_name: 'crm', questions: [] });
    await imported(next, AFFILIATE);
    expect((await people()).at(-1)).toMatchObject({ status: 'inactive', country: 'FI' });
    await imported(next, { ...AFFILIATE, mapping: 'crm', values: { status: { ruhend: 'active' } } });
    expect((await people()).at(-1)).toMatchObject({ status: 'active', country: 'FI' });
  });

  test('of an unknown country need its two letters', async () => {
    const file = csv('Email,Country', 'a@example.com,Ruritania');
    const { message, choices } = await question(file, AFFILIATE);
    expect(message).toContain('"Ruritania" in "Country" (1 line) is no country that is known');
    expect(choices).toHaveLength(1);
    await imported(file, { ...AFFILIATE, values: { country: { Ruritania: 'ro' } } });
    expect(await people()).toMatchObject([{ country: 'RO' }]);
  });

  test.each([
    ['not json', 'values is not JSON'],
    [['a'], 'values must be a JSON object'],
    [{ email: { a: 'b' } }, 'values names "email", which is no field of words'],
    [{ constructor: { a: 'b' } }, 'values names "constructor"'],
    [{ status: 'active' }, 'values of status must be an object'],
    [{ status: { a: 'maybe' } }, '"a" must mean one of active, inactive or refuse'],
    [{ status: { a: 1 } }, '"a" must mean one of active'],
    [{ country: { a: 'ZZ' } }, '"a" must mean one of the two letters of a country'],
  ])('are refused as %j', async (values, message) => {
    await nothingChanges(world, async () =>
      expectRefusal(await post(partners, { ...AFFILIATE, values }), 400, 'invalid_mapping', message),
    );
  });

  longRun.test('in their thousands are one question', async () => {
    const lines = Array.from({ length: 1500 }, (_, index) => `a${index}@example.com,word ${index}`);
    const { message } = await question(csv('Email,Status', ...lines), AFFILIATE);
    expect(message).toContain('"Status" has many words that mean nothing as status');
  });
});

describe('an ignored column of status', () => {
  const partners = csv('Email,Status', 'a@example.com,active', 'b@example.com,blocked');

  test('of affiliates is a question', async () => {
    const query = { ...AFFILIATE, mapping: { Status: 'ignore' } };
    const { about, message, choices } = await question(partners, query);
    expect(about).toBe('status_columns');
    expect(message).toContain('"Status" may say who must not be paid');
    expect(choices[0].query).toEqual({ mapping: { Status: 'status' } });
    await imported(partners, { ...query, ...choices[1].query, save_as: 'mails only' });
    expect((await people()).map(({ status }) => status)).toEqual(['active', 'active']);
    expect(await preview(partners, AFFILIATE)).toMatchObject({ mapping_name: 'mails only', questions: [] });
  });

  longRun.test('is a question for readiness and for commissions too', async () => {
    const ready = csv('Email,Payable', 'a@example.com,no');
    expect(await question(ready, { ...AFFILIATE, mapping: { Payable: 'ignore' } })).toMatchObject({
      about: 'status_columns',
    });
    await makeAffiliate(api, { email: 'ada@example.com' });
    const file = csv('id,affiliate_email,amount,State', '1,ada@example.com,5.00,void');
    const { message } = await question(file, { ...COMMISSION, mapping: { State: 'ignore' } });
    expect(message).toContain('"State" may say what is not owed');
  });

  test('is no question when it is empty or another column has the status', async () => {
    const empty = csv('Email,Status', 'a@example.com,');
    const other = csv('Email,Status,State', 'a@example.com,active,Ohio');
    for (const file of [empty, other])
      expect(
        await preview(file, { ...AFFILIATE, mapping: file === empty ? { Status: 'ignore' } : {} }),
      ).toMatchObject({ questions: [] });
  });
});

describe('a line of totals', () => {
  beforeEach(async () => {
    await makeAffiliate(api, { email: 'ada@example.com' });
  });
  const summed = (...last: string[]) =>
    csv('id,affiliate_email,amount,Date', '1,ada@example.com,5.00,2026-01-31', ...last);

  test.each(
    someOf(['Total,,5.00,', ',,5.00,', 'Summe:,,5.00,', ',Gesamt,5.00,', 'Grand total,,"5,00",'] as const, 2),
  )('is reported, and skipped after confirmation: %s', async (line) => {
    const file = summed(line);
    const query = { ...COMMISSION, decimal: 'point' };
    const { about, message, choices } = await question(file, query);
    expect([about, message]).toEqual(['totals', expect.stringContaining('line 3 looks like a total')]);
    expect(await imported(file, { ...query, ...choices[0].query })).toMatchObject({
      created: 1,
      skipped: 1,
      failed: 0,
    });
  });

  test('is a bad line with one error when it is read as any other', async () => {
    const file = summed('Total,,5.00,');
    const { report } = await preview(file, { ...COMMISSION, totals: 'import' });
    expect(report.errors).toEqual([
      { line: 3, column: null, message: expect.stringContaining('looks like a total of the other lines') },
    ]);
    const own = csv('external_id,affiliate_email,amount', '1,ada@example.com,5.00', ',,5.00');
    const answer = await api.upload(`${COMMISSIONS}/import?dry_run=true`, own);
    expect(answer.body.errors).toEqual([
      { line: 3, message: expect.stringMatching(/^looks like a total of the other lines[^;]*$/) },
    ]);
  });

  test('is not a line that names an order or an affiliate', async () => {
    const file = csv('Email,Name', 'total@example.com,Total Recall', 'ada@example.com,Summe');
    expect(await preview(file, AFFILIATE)).toMatchObject({ questions: [], report: { failed: 0 } });
  });
});

describe('a file built to be slow', () => {
  test('is read at once, whatever its cells contain', async () => {
    await makeAffiliate(api, { email: 'ada@example.com' });
    const blanks = ' '.repeat(30_000);
    for (const cell of [
      `"${blanks}x"`,
      `"1${blanks}x"`,
      `"1 Jan 2026${blanks}x"`,
      `"1${',1'.repeat(15_000)}x"`,
    ]) {
      const file = csv('id,affiliate_email,amount,Date', `1,ada@example.com,${cell},${cell}`);
      const { report } = await preview(file, { ...COMMISSION, decimal: 'point', dates: 'dmy' });
      expect(report).toMatchObject({ lines: 1, failed: 1 });
    }
  });

  test('with more than 500 columns is refused', async () => {
    const named = (count: number) =>
      `email,${Array.from({ length: count - 1 }, (_, index) => `c${index}`).join()}\na@example.com${','.repeat(count - 1)}\n`;
    expect(await preview(named(500), AFFILIATE)).toMatchObject({ report: { created: 1 } });
    for (const count of [501, 100_000]) {
      expectRefusal(
        await send(`${IMPORTS}/preview`, named(count), AFFILIATE),
        400,
        'invalid_file',
        `names ${count} columns, and a file has 500 at most`,
      );
    }
  });
});

test('an affiliate with a PayPal address and no method is paid by PayPal, and the import says so', async () => {
  await makeAffiliate(api, { email: 'wise@example.com', payout_method: 'wise', name_first: 'Wi' });
  await makeAffiliate(api, { email: 'old@example.com' });
  const file = csv(
    'Email,PayPal',
    'new@example.com,new@pay.example',
    'old@example.com,old@pay.example',
    'wise@example.com,w@pay.example',
    'none@example.com,',
  );
  const { guessed } = await preview(file, AFFILIATE);
  expect(guessed).toContainEqual(expect.stringContaining('get the payout_method paypal'));
  await imported(file, AFFILIATE);
  const methods = async () =>
    Object.fromEntries(
      (await people()).map(({ email, payout_method }) => [email.split('@')[0], payout_method]),
    );
  expect(await methods()).toEqual({ wise: 'wise', old: 'paypal', new: 'paypal', none: null });
  const own = csv('email,paypal_email,payout_method', 'own@example.com,own@pay.example,', 'x@example.com,,');
  const answer = await api.upload(`${AFFILIATES}/import`, own);
  expect(answer.body).toMatchObject({ created: 2, methods_set: 1 });
  expect(await methods()).toMatchObject({ own: 'paypal', x: null });
  // the same file again changes nothing
  expect((await api.upload(`${AFFILIATES}/import`, own)).body).toMatchObject({
    unchanged: 2,
    methods_set: 0,
  });
});
