import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const REPORT = '/v2/affiliates/reports/us-tax';
const SIGNED = {
  legal_type: 'person',
  legal_name: 'Ada Lovelace',
  country: 'US',
  address: { line1: '1 Main St', line2: '2nd floor', city: 'Boston', region: 'MA', postal_code: '02108' },
};
const W9 = { type: 'w9', signed_on: '2026-01-15' };
const SSN = { type: 'us_ssn', number: '536-90-4399' };

const sign = async (affiliate: number, fields: object) => {
  const answer = await api.put(`${AFFILIATES}/${affiliate}/tax-profile`, { ...SIGNED, ...fields });
  expect(answer.status, answer.text).toBe(200);
};

/** Pays all owed amounts at an instant. */
async function payAt(instant: string): Promise<Json> {
  const payout = await makePayout(api);
  await completePayout(api, payout);
  await world.query('update payouts set paid_at = $2 where public_id($$po$$, id) = $1', [payout.id, instant]);
  return payout;
}

/** An affiliate who was paid an amount of cents by a payment method in 2026. */
async function paid(amount: number, method: string, fields: object = {}): Promise<number> {
  const { id } = await makeAffiliate(api, { payout_method: method, name_first: 'Ada', ...fields });
  await makeCommission(api, id, { amount, currency: 'usd' });
  return id;
}

const get = async (query = 'year=2026'): Promise<Json> => {
  const answer = await api.get(`${REPORT}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const rows = async (query = 'year=2026'): Promise<Json[]> => {
  const answer = await api.get(`${REPORT}/rows?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
};
const exported = async (year = 2026) => (await api.post(`${REPORT}/export?year=${year}`)).text.split('\r\n');

test('the threshold is 600 dollars until 2025 and 2,000 in 2026; for later years it is unknown', async () => {
  const known = async (year: number) => {
    const { threshold_amount, is_threshold_known } = await get(`year=${year}`);
    return [threshold_amount, is_threshold_known];
  };
  expect(await known(2020)).toEqual([60_000, true]);
  expect(await known(2025)).toEqual([60_000, true]);
  expect(await known(2026)).toEqual([200_000, true]);
  expect(await known(2027)).toEqual([200_000, false]);
  for (const [year, rule] of [
    ['2019', '2020'],
    ['26', 'four digits'],
  ] as const) {
    expectRefusal(await api.get(`${REPORT}?year=${year}`), 400, 'invalid_query', 'year', rule);
    expectRefusal(await api.post(`${REPORT}/export?year=${year}`), 400, 'invalid_query', 'year', rule);
  }
  expectRefusal(await api.get(`${REPORT}/rows?year=2019`), 400, 'invalid_query', 'year');
});

test('exactly the threshold is reported, a cent less is not, and PayPal is separate', async () => {
  const at = await paid(200_000, 'wise', { country: 'US' });
  const below = await paid(199_999, 'other', { country: 'US' });
  const byPayPal = await paid(900_000, 'paypal', { country: 'US', paypal_email: 'p@example.com' });
  await payAt('2026-06-01T00:00:00Z');
  const found = Object.fromEntries((await rows()).map((row) => [row.affiliate_id, row]));
  expect(found[at]).toMatchObject({
    reportable_amount: 200_000,
    is_above_threshold: true,
    missing_form: 'w9',
  });
  expect(found[below]).toMatchObject({ reportable_amount: 199_999, is_above_threshold: false });
  expect(found[byPayPal]).toMatchObject({
    reportable_amount: 0,
    processor_amount: 900_000,
    is_above_threshold: false,
    payments: [
      { method: 'paypal', currency: 'usd', paid_amount: 900_000, returned_amount: 0, net_amount: 900_000 },
    ],
  });
  expect(await get()).toMatchObject({
    reportable: { affiliate_count: 1, amount: 200_000 },
    processor_amount: 900_000,
    missing_w9_count: 3,
    missing_tax_id_count: 1,
    remark: expect.stringContaining('not advice'),
  });
  expect((await rows('year=2026&is_reportable=true')).map(({ affiliate_id }) => affiliate_id)).toEqual([at]);
});

longRun.test('the year is one of the account, and returns in it count', async () => {
  await api.patch('/v2/account', { time_zone: 'America/New_York' });
  const ada = await paid(300_000, 'other', { country: 'US' });
  // in New York it is still 2025
  const payout = await payAt('2026-01-01T04:59:59Z');
  expect(await rows('year=2026')).toEqual([]);
  expect(await rows('year=2025')).toMatchObject([{ affiliate_id: ada, reportable_amount: 300_000 }]);
  const back = { reason: 'closed', amount: 250_000, currency: 'usd' };
  expect((await api.post(`${PAYOUTS}/${payout.id}/affiliates/${ada}/returned`, back)).status).toBe(200);
  await world.query('update payout_returns set returned_at = $1 where affiliate_id = $2', [
    '2025-12-31T12:00:00Z',
    ada,
  ]);
  expect(await rows('year=2025')).toMatchObject([
    {
      reportable_amount: 50_000,
      is_above_threshold: false,
      payments: [{ method: 'other', paid_amount: 300_000, returned_amount: 250_000, net_amount: 50_000 }],
    },
  ]);
});

test('missing forms are named: by the signed form, else by the country', async () => {
  const people: [
    form: string | null,
    fields: object,
    amount: number,
    residence: string,
    missing: string | null,
  ][] = [
    ['w9', {}, 100, 'us', null],
    [null, { country: 'US' }, 100, 'us', 'w9'],
    ['w8ben', {}, 900_000, 'foreign', null],
    ['lapsed w8ben', {}, 900_000, 'foreign', 'w8'],
    [null, { country: 'DE' }, 100, 'foreign', 'w8'],
    [null, {}, 199_999, 'unknown', null],
    [null, {}, 200_000, 'unknown', 'w9'],
    ['vat_registration', { country: 'US' }, 100, 'foreign', 'w8'],
  ];
  const ids: number[] = [];
  for (const [form, fields, amount] of people) {
    const id = await paid(amount, 'other', fields);
    ids.push(id);
    if (form !== null) {
      const country = form === 'w9' ? 'US' : 'DE';
      const signed_on = form.startsWith('lapsed') ? '2022-12-31' : '2023-01-01';
      await sign(id, { country, form: { type: form.replace('lapsed ', ''), signed_on } });
    }
  }
  await payAt('2026-06-01T00:00:00Z');
  expect((await rows()).map((row) => [row.affiliate_id, row.residence, row.missing_form])).toEqual(
    people.map(([, , , residence, missing], index) => [ids[index], residence, missing]),
  );
  expect(await get()).toMatchObject({ missing_w9_count: 2, missing_w8_count: 3 });
  expect((await rows('missing_form=w8&year=2026')).length).toBe(3);
  expect((await rows('residence=unknown&year=2026')).length).toBe(2);
  expectRefusal(
    await api.get(`${REPORT}/rows?missing_form=w2`),
    400,
    'invalid_query',
    'missing_form',
    'w9, w8',
  );
});

longRun.test(
  'the method is that of the destination a line was paid to, whatever is set afterwards',
  async () => {
    const id = await paid(250_000, 'paypal', { country: 'US', paypal_email: 'p@example.com' });
    await api.put(`${AFFILIATES}/${id}/destination`, { type: 'other' });
    await makeCommission(api, id, { amount: 700, currency: 'eur' });
    await payAt('2026-06-01T00:00:00Z');
    await api.delete(`${AFFILIATES}/${id}/destination`);
    expect(await rows()).toMatchObject([
      {
        reportable_amount: 250_000,
        processor_amount: 0,
        payments: [
          { method: 'other', currency: 'eur', net_amount: 700 },
          { method: 'other', currency: 'usd', net_amount: 250_000 },
        ],
      },
    ]);
    expect((await get()).other_currency_count).toBe(1);
  },
);

test('each state has its threshold: the federal one, that of the table, or that of the account', async () => {
  const of = async (region: string, amount: number, { method = 'other', country = 'US' } = {}) => {
    const id = await paid(amount, method);
    await sign(id, { form: W9, country, address: { ...SIGNED.address, region } });
    return id;
  };
  const [ma, al, , tx] = [
    await of('ma', 200_000),
    await of('AL', 150_000),
    await of('AR', 249_999),
    await of('TX', 900_000),
  ];
  await of('CA', 100_000);
  await of('CA', 500_000, { method: 'paypal' });
  const unknown = [await of('California', 900_000), await of('DE', 900_000, { country: 'DE' })];
  await payAt('2026-06-01T00:00:00Z');
  const state = (name: string, threshold_amount: number, amount: number) => ({
    ...{ state: name, threshold_amount, affiliate_count: 1, amount },
  });
  expect((await get()).states).toEqual([state('AL', 150_000, 150_000), state('MA', 200_000, 200_000)]);
  const above = async () =>
    (await rows('year=2026&is_above_state_threshold=true')).map((row) => row.affiliate_id);
  expect(await above()).toEqual([ma, al]);
  expect((await rows()).find((row) => row.affiliate_id === tx)).toMatchObject({
    state: 'TX',
    state_threshold_amount: null,
  });
  for (const id of unknown)
    expect((await rows()).find((row) => row.affiliate_id === id)).toMatchObject({
      ...{ residence: 'us', is_above_threshold: true },
      ...{ state: null, state_threshold_amount: null, is_above_state_threshold: false },
    });
  const set = (state_thresholds: object) => api.patch('/v2/account', { state_thresholds });
  expect((await set({ ca: 60_000, AL: 200_000 })).body.state_thresholds).toEqual({ CA: 60_000, AL: 200_000 });
  expect((await get()).states).toEqual([state('CA', 60_000, 100_000), state('MA', 200_000, 200_000)]);
  expect((await set({ CA: 0, MA: null, AL: null })).body.state_thresholds).toEqual({
    ...{ CA: 0, MA: null, AL: null },
  });
  expect((await get()).states).toEqual([state('CA', 0, 100_000)]);
  for (const [wrong, ...words] of [
    [{ CA: -1 }, 'state_thresholds'],
    [{ CA: '600' }, 'state_thresholds'],
    [{ CA: 1e300 }, 'state_thresholds'],
    [{ XX: 1 }, 'state_thresholds', 'two letters'],
    [{ CA: 1, ca: 2 }, 'state_thresholds', 'twice'],
  ] as const)
    expectRefusal(await nothingChanges(world, () => set(wrong)), 400, 'invalid_body', ...words);
});

describe('the export', () => {
  test('has whole tax ids of the reportable affiliates, and nobody else', async () => {
    const ada = await paid(250_000, 'other', { email: 'ada@example.com' });
    await sign(ada, { tax_id: SSN, form: W9, legal_name: '=Ada, "A"' });
    const bob = await paid(300_000, 'other', { email: 'bob@example.com', country: 'US' });
    const carl = await paid(900_000, 'other', { email: 'carl@example.com' });
    await sign(carl, {
      tax_id: { type: 'us_itin', number: '912-70-1234' },
      country: 'CA',
      form: { type: 'w8ben', signed_on: '2026-01-15' },
    });
    await payAt('2026-06-01T00:00:00Z');
    expect(await exported()).toEqual([
      'type,tax_year,reference_id,recipient_name,tin_type,recipient_tin,address,address2,city,state,zip,country_code,email,' +
        'nonemployee_compensation',
      `1099-NEC,2026,${ada},"'=Ada, ""A""",SSN,536904399,1 Main St,2nd floor,Boston,MA,02108,US,ada@example.com,2500.00`,
      `1099-NEC,2026,${bob},Ada,,,,,,,,US,bob@example.com,3000.00`,
      '',
    ]);
    expect((await get()).missing_tax_id_count).toBe(1);
    for (const text of [JSON.stringify(await rows()), JSON.stringify(await get())])
      expect(text).not.toMatch(/536904399|912701234/);
  });

  test('for the IRS has the columns of its template, with the payer and the kind of each name', async () => {
    await api.patch('/v2/account', {
      tax_profile: {
        ...{ legal_name: 'Shop Inc', country: 'US', tax_number: '12-3456789' },
        address: { line1: '2 Market St', city: 'Austin', region: 'TX', postal_code: '73301' },
      },
    });
    const ada = await paid(250_000, 'other');
    await sign(ada, { tax_id: SSN, form: W9, legal_name: 'Ada King Lovelace' });
    const inc = await paid(300_000, 'other');
    await sign(inc, {
      ...{ legal_type: 'business', legal_name: 'Ada Inc', form: W9 },
      tax_id: { type: 'us_ein', number: '98-7654321' },
      address: { ...SIGNED.address, postal_code: '02108-1234' },
    });
    await payAt('2026-06-01T00:00:00Z');
    const answer = await api.post(`${REPORT}/export?year=2026&format=iris`);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="1099-nec-iris-2026.csv"');
    const [header = '', ...lines] = answer.text.trimEnd().split('\r\n');
    const columns = header.replaceAll(/"[^"]*"/g, (cell) => cell.replaceAll(/[",]/g, '')).split(',');
    expect(columns).toHaveLength(55);
    const records = lines.map((line) =>
      Object.fromEntries(line.split(',').map((cell, at) => [columns[at], cell])),
    );
    const payer = {
      ...{
        'Form Type': '1099-NEC',
        'Tax Year': '2026',
        'Payer TIN Type': 'EIN',
        'Payer Taxpayer ID Number': '123456789',
      },
      ...{ 'Payer Business or Entity Name Line 1': 'Shop Inc', 'Payer State/Province/Territory': 'TX' },
    };
    expect(records).toMatchObject([
      {
        ...payer,
        ...{
          'Recipient TIN Type': 'SSN',
          'Recipient Taxpayer ID Number': '536904399',
          'Recipient Name Type': 'I',
        },
        ...{ 'Recipient First Name': 'Ada King', 'Recipient Last Name (Surname)': 'Lovelace' },
        ...{ 'Form Account Number': String(ada), 'Box 1 - Nonemployee Compensation': '2500.00' },
      },
      {
        ...payer,
        ...{
          'Recipient TIN Type': 'EIN',
          'Recipient Taxpayer ID Number': '987654321',
          'Recipient Name Type': 'B',
        },
        ...{
          'Recipient Business or Entity Name Line 1': 'Ada Inc',
          'Recipient ZIP/Postal Code': '021081234',
        },
      },
    ]);
  });

  test('for TIN matching has everybody in the United States with a tax id, in the letters that the IRS takes', async () => {
    const ada = await paid(100, 'other');
    await sign(ada, {
      tax_id: SSN,
      form: W9,
      legal_name: "Zoë O'Malley, & Sons-in-Law of the Old Country Roads",
    });
    const inc = await paid(300_000, 'other');
    await sign(inc, {
      legal_type: 'business',
      legal_name: 'Ada Inc',
      form: W9,
      tax_id: { type: 'us_ein', number: '98-7654321' },
    });
    await sign(await paid(300_000, 'other'), { form: W9 });
    await sign(await paid(300_000, 'other'), { tax_id: SSN, country: 'CA' });
    await payAt('2026-06-01T00:00:00Z');
    const answer = await api.post(`${REPORT}/export?year=2026&format=tin_matching`);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="tin-matching-2026.txt"');
    expect(answer.text).toBe(
      `2;536904399;Zoe OMalley & Sons-in-Law of the Old Cou;${ada}\r\n1;987654321;Ada Inc;${inc}\r\n`,
    );
    expectRefusal(
      await api.post(`${REPORT}/export?format=fire`),
      400,
      'invalid_query',
      'format',
      'tin_matching',
    );
  });

  test('is in the audit log, and no stored response contains it', async () => {
    const ada = await paid(250_000, 'other');
    await sign(ada, { tax_id: SSN, form: W9 });
    await payAt('2026-06-01T00:00:00Z');
    const answer = await api.post(`${REPORT}/export?year=2026`, undefined, { 'idempotency-key': 'export' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="1099-nec-2026.csv"');
    expect(answer.text).toContain('536904399');
    const { data } = (await api.get('/v2/audit-log?action=exportUsTaxReport')).body;
    expect(data).toHaveLength(1);
    expect(JSON.stringify(await world.query('select * from idempotency_keys'))).not.toContain('536904399');
  });

  test('of another account has nothing of this one', async () => {
    const ada = await paid(250_000, 'other');
    await sign(ada, { tax_id: SSN, form: W9 });
    await payAt('2026-06-01T00:00:00Z');
    const other = await world.otherAccount();
    expect((await other.post(`${REPORT}/export?year=2026`)).text.split('\r\n')).toHaveLength(2);
    expect((await other.get(`${REPORT}/rows?year=2026`)).body.data).toEqual([]);
    expect((await other.get(`${REPORT}?year=2026`)).body.reportable.affiliate_count).toBe(0);
  });
});

test('sums equal the books: the paid report of the same year, by affiliate and currency', async () => {
  const random = seeded(20261);
  const affiliates: number[] = [];
  for (const method of ['paypal', 'wise', 'other', 'other', 'paypal']) {
    affiliates.push(
      (await makeAffiliate(api, { payout_method: method, name_first: 'A', paypal_email: 'p@x.example' })).id,
    );
  }
  for (const instant of [
    '2025-12-31T23:59:59Z',
    '2026-01-01T00:00:00Z',
    '2026-05-05T00:00:00Z',
    '2026-11-01T00:00:00Z',
  ]) {
    for (const id of affiliates) {
      for (const currency of ['usd', 'eur', 'jpy']) {
        if (random() < 0.7)
          await makeCommission(api, id, { amount: 1 + Math.floor(random() * 90_000), currency });
      }
      if (random() < 0.3)
        await api.put(`${AFFILIATES}/${id}/destination`, { type: random() < 0.5 ? 'wise' : 'paypal' });
    }
    const payout = await payAt(instant);
    for (const { affiliate_id, totals } of payout.affiliates ?? []) {
      const [first] = totals ?? [];
      if (first === undefined || random() < 0.6) continue;
      const amount = 1 + Math.floor(random() * first.amount);
      const back = { reason: 'closed', currency: first.currency, amount };
      const answer = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${affiliate_id}/returned`, back);
      expect(answer.status, answer.text).toBe(200);
    }
  }
  for (const year of [2025, 2026]) {
    const books = (await api.get(`/v2/affiliates/reports/paid/rows?year=${year}&per_page=100`)).body.data;
    const sums = (all: [number, string, number, number][]) => {
      const found: Record<string, number[]> = {};
      for (const [id, currency, out, back] of all) {
        const [before = 0, earlier = 0] = found[`${id} ${currency}`] ?? [];
        found[`${id} ${currency}`] = [before + out, earlier + back];
      }
      return found;
    };
    const listed = await rows(`year=${year}&per_page=100`);
    expect(listed.length).toBeGreaterThan(0);
    expect(
      sums(
        listed.flatMap((row) =>
          row.payments.map((each: Json) => [
            row.affiliate_id,
            each.currency,
            each.paid_amount,
            each.returned_amount,
          ]),
        ),
      ),
    ).toEqual(
      sums(books.map((row: Json) => [row.affiliate_id, row.currency, row.paid_amount, row.returned_amount])),
    );
    for (const row of listed) {
      const usd = row.payments.filter(({ currency }: Json) => currency === 'usd');
      const net = usd.reduce((sum: number, { net_amount }: Json) => sum + net_amount, 0);
      expect(row.reportable_amount + row.processor_amount).toBe(net);
    }
  }
});

test('requesting a list changes nothing', () =>
  nothingChanges(world, async () => {
    await get();
    await rows();
  }));

/** The same numbers at each run, from 0 to below 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
