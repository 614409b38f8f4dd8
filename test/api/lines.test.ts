import { beforeEach, describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  completePayout,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test: a is owed 10.00 USD and 7.000 KWD, b 20.50 USD. */
const api = useAccount(world);
let a: number;
let b: number;
let payout: Json;
let path: string;
beforeEach(async () => {
  [a, b] = [(await makeAffiliate(api)).id, (await makeAffiliate(api)).id];
  await makeCommission(api, a, { amount: 600 });
  await makeCommission(api, a, { amount: 400 });
  await makeCommission(api, a, { amount: 7000, currency: 'kwd' });
  await makeCommission(api, b, { amount: 2050 });
  payout = await makePayout(api);
  path = `${PAYOUTS}/${payout.id}`;
});

const put = (commissions: readonly object[], rest: object = {}) => api.put(path, { commissions, ...rest });
const paid = (affiliate_id: number, fields: object = {}) => ({ affiliate_id, is_paid: true, ...fields });

async function refused(commissions: readonly object[], reason: string, ...parts: string[]) {
  await nothingChanges(world, async () => expectRefusal(await put(commissions), 400, reason, ...parts));
}

/** The owed amounts after a payout, by affiliate and currency. */
async function owed(): Promise<Json[]> {
  const preview = (await api.post(`${PAYOUTS}/preview`)).body;
  return preview.affiliates.flatMap((line: Json) =>
    line.totals.map((total: Json) => [line.affiliate_id, total.currency, total.amount]),
  );
}

const totalOf = (record: Json, currency: string) =>
  record.totals.find((total: Json) => total.currency === currency);
const lineOf = (record: Json, affiliate: number) =>
  record.affiliates.find((line: Json) => line.affiliate_id === affiliate);

describe('an entry with a currency', () => {
  test('pays that line and leaves the other one owed', async () => {
    const done = await put([paid(a, { currency: 'USD', payment_reference: 'PP-1' }), paid(b)]);
    expect(done.status, done.text).toBe(200);
    expect(lineOf(done.body, a)).toMatchObject({
      is_paid: false,
      payment_reference: null,
      totals: [
        { currency: 'kwd', is_paid: false, paid_amount: 0, payment_reference: null },
        { currency: 'usd', is_paid: true, paid_amount: 1000, payment_reference: 'PP-1' },
      ],
    });
    expect(totalOf(done.body, 'kwd')).toMatchObject({ paid_amount: 0, released_amount: 7000 });
    expect(totalOf(done.body, 'usd')).toMatchObject({ paid_amount: 3050, released_amount: 0 });
    expect([done.body.unlisted_affiliate_count, done.body.unlisted_line_count]).toEqual([0, 1]);
    expect(await owed()).toEqual([[a, 'kwd', 7000]]);
    const rows = await allOf(api, `${path}/commissions`);
    expect(rows.map((row) => row.currency)).toEqual(['usd', 'usd', 'usd']);
  });

  test('may differ for each line', async () => {
    const done = await put([
      { affiliate_id: a, currency: 'usd', is_paid: false, payment_reference: 'stopped' },
      paid(a, { currency: 'kwd' }),
    ]);
    expect(lineOf(done.body, a).totals).toMatchObject([
      { currency: 'kwd', is_paid: true },
      { currency: 'usd', is_paid: false, payment_reference: 'stopped' },
    ]);
    expect(await owed()).toEqual([
      [a, 'usd', 1000],
      [b, 'usd', 2050],
    ]);
  });

  test('is listed by whether all was paid, and by the reference of any line', async () => {
    await put([
      paid(a, { currency: 'usd', payment_reference: 'PP-1' }),
      paid(b, { payment_reference: 'PP-2' }),
    ]);
    const ids = async (query: string) =>
      (await allOf(api, `${path}/affiliates?${query}`)).map((line) => line.affiliate_id);
    expect(await ids('is_paid=true')).toEqual([b]);
    expect(await ids('is_paid=false')).toEqual([a]);
    expect(await ids('payment_reference=PP-1')).toEqual([a]);
    expect(await ids('sort=-is_paid')).toEqual([b, a]);
  });
});

describe('entries are refused, and nothing changes, when', () => {
  test('a line is named twice, or once by itself and once with all of the affiliate', async () => {
    const usd = paid(a, { currency: 'usd' });
    await refused(
      [usd, paid(b), { ...usd, currency: 'USD', is_paid: false }],
      'duplicate_entry',
      `${a} in usd`,
    );
    await refused([usd, paid(a)], 'duplicate_entry', `${a}`, 'without');
    await refused([paid(a, { is_paid: false }), usd], 'duplicate_entry', `${a}`, 'without');
  });

  test('the affiliate has no line in the currency', async () => {
    await refused([paid(b, { currency: 'kwd' })], 'affiliate_not_in_payout', `${b} in kwd`);
  });

  test.each([
    ['the currency is unknown', { currency: 'xxy' }, 'commissions[0].currency'],
    ['an amount has no currency', { amount: 5 }, 'commissions[0].currency'],
    [
      'an unpaid entry has an amount',
      { amount: 5, currency: 'usd', is_paid: false },
      'commissions[0].amount',
    ],
    ['the amount is zero', { amount: 0, currency: 'usd' }, 'commissions[0].amount'],
    ['the amount is negative', { amount: -1, currency: 'usd' }, 'commissions[0].amount'],
    ['the amount has a fraction', { amount: 1.5, currency: 'usd' }, 'commissions[0].amount'],
    ['the amount is a text', { amount: '5', currency: 'usd' }, 'commissions[0].amount'],
    ['the currency is null', { currency: null }, 'commissions[0].currency'],
  ])('%s', async (_, fields, field) => {
    await refused([paid(a, fields)], 'invalid_body', field);
  });

  test('the amount exceeds the line', async () => {
    await refused(
      [paid(a, { currency: 'usd', amount: 1001 }), paid(b, { currency: 'usd', amount: 2051 })],
      'invalid_amount',
      `${a} in usd (1001 of 1000)`,
      `${b} in usd (2051 of 2050)`,
    );
  });

  test('require_all is set and a line is missing', async () => {
    const entries = [paid(a, { currency: 'usd' }), paid(b)];
    await nothingChanges(world, async () =>
      expectRefusal(await put(entries, { require_all: true }), 400, 'affiliates_missing', `${a} in kwd`),
    );
    const all = [...entries, { affiliate_id: a, currency: 'kwd', is_paid: false }];
    expect((await put(all, { require_all: true })).body).toMatchObject({ unlisted_line_count: 0 });
  });
});

describe('an entry with an amount', () => {
  test('pays a part; the rest is owed again whatever the minimum, and every sum includes it', async () => {
    await api.patch('/v2/account', { minimum_payout: { usd: 5000 } });
    const done = await put([paid(b, { currency: 'usd', amount: 2000, payment_reference: 'PP-9' })]);
    expect(done.status, done.text).toBe(200);
    expect(totalOf(done.body, 'usd')).toMatchObject({
      amount: 3050,
      paid_amount: 2000,
      paid_count: 1,
      carried_amount: 50,
      released_amount: 1000,
    });
    expect(lineOf(done.body, b)).toMatchObject({
      is_paid: true,
      payment_reference: 'PP-9',
      totals: [{ amount: 2050, is_paid: true, paid_amount: 2000, carried_amount: 50 }],
    });
    const rest = (await allOf(api, `${COMMISSIONS}?type=adjustment`))[0] as Json;
    expect(rest).toMatchObject({
      external_id: `payhook:carried:${payout.id}:${rest.id}`,
      affiliate_id: b,
      amount: 50,
      status: 'unpaid',
    });
    expect((await api.get(`${AFFILIATES}/${b}`)).body.balance).toEqual([
      { currency: 'usd', pending: 0, unpaid: 50, in_payout: 0, paid: 2000 },
    ]);
    expect((await eventsOf(world, api, 'commissions.imported')).map(({ payload }) => payload.data)).toEqual([
      {
        object: 'commission_import',
        source: 'payout',
        created: 1,
        totals: [{ currency: 'usd', amount: 50, count: 1 }],
      },
    ]);
    // of a, who is below the minimum, only the dinars
    expect(await owed()).toEqual([
      [a, 'kwd', 7000],
      [b, 'usd', 50],
    ]);
    const next = await makePayout(api);
    await completePayout(api, next);
    expect((await api.get(`${AFFILIATES}/${b}`)).body.balance[0]).toMatchObject({ unpaid: 0, paid: 2050 });
  });

  test('of the whole line carries nothing over', async () => {
    const done = await put([paid(b, { currency: 'usd', amount: 2050 })]);
    expect(totalOf(done.body, 'usd')).toMatchObject({ paid_amount: 2050, carried_amount: 0 });
    expect(await allOf(api, `${COMMISSIONS}?type=adjustment`)).toEqual([]);
  });

  longRun.test('is the paid amount in files and the report', async () => {
    await api.patch(`${AFFILIATES}/${b}`, { paypal_email: 'b@example.com' });
    await put([paid(b, { currency: 'usd', amount: 2000 })]);
    const rows = parseCsv((await api.get(`${path}/download`)).text);
    const head = rows[0] ?? [];
    const column = (name: string) => rows.slice(1).map((row) => row[head.indexOf(name)]);
    expect(column('type')).toEqual(['sale', 'carried']);
    expect(column('amount')).toEqual(['20.50', '-0.50']);
    const paypal = await api.get(`${path}/payment-files/paypal?currency=usd`);
    expect(parseCsv(paypal.text)[0]?.slice(0, 3)).toEqual(['b@example.com', '20.00', 'USD']);
    const year = (await api.get(path)).body.paid_at.slice(0, 4);
    const report = parseCsv((await api.get(`${AFFILIATES}/reports/paid?year=${year}`)).text);
    expect(report.slice(1).map((row) => row.slice(-6, -2))).toEqual([['1', '20.00', '0.00', '20.00']]);
  });

  test('leaves a rest that no void removes', async () => {
    await put([paid(b, { currency: 'usd', amount: 2000 })]);
    const rest = (await allOf(api, `${COMMISSIONS}?type=adjustment`))[0] as Json;
    await nothingChanges(world, async () =>
      expectRefusal(await api.post(`${COMMISSIONS}/${rest.id}/void`), 409, 'commission_is_bound', payout.id),
    );
  });

  longRun.test('counts for a refund as paid whole: the rest is owed next to the clawback', async () => {
    const [sale] = await allOf(api, `${COMMISSIONS}?affiliate_id=${b}`);
    await put([paid(b, { currency: 'usd', amount: 2000 })]);
    const refund = await api.post(`${COMMISSIONS}/${sale?.id}/refund`, { external_id: 'r1' });
    expect(refund.body.clawback.amount).toBe(-2050);
    expect((await api.get(`${AFFILIATES}/${b}`)).body.balance[0]).toMatchObject({
      unpaid: -2000,
      paid: 2000,
    });
  });
});

describe('the rest of a partly paid line', () => {
  test('takes no refund; a refund of a sale next to it can be reversed until a payout was reduced by it', async () => {
    const REFUNDS = '/v2/affiliates/refunds';
    const [sale] = await allOf(api, `${COMMISSIONS}?affiliate_id=${b}`);
    await put([paid(b, { currency: 'usd', amount: 2000 })]);
    const [rest] = await allOf(api, `${COMMISSIONS}?affiliate_id=${b}&type=adjustment`);
    expect(rest).toMatchObject({ amount: 50, payout_id: null });
    await nothingChanges(world, async () =>
      expectRefusal(
        await api.post(`${COMMISSIONS}/${rest?.id}/refund`, { external_id: 'r0' }),
        409,
        'wrong_commission_type',
      ),
    );
    const refund = (external_id: string) =>
      api.post(`${COMMISSIONS}/${sale?.id}/refund`, { external_id, amount: 30 });
    expect((await refund('r1')).body.clawback.amount).toBe(-30);
    expect((await api.post(`${REFUNDS}/r1/reverse`)).status).toBe(200);
    const balance = async () => (await api.get(`${AFFILIATES}/${b}`)).body.balance[0];
    expect(await balance()).toMatchObject({ unpaid: 50, paid: 2000 });
    await refund('r2');
    const next = await makePayout(api, { filters: { affiliate_id: b } });
    expect(next.amount).toBe(20);
    await completePayout(api, next, [paid(b, { currency: 'usd', amount: 15 })]);
    await nothingChanges(world, async () =>
      expectRefusal(await api.post(`${REFUNDS}/r2/reverse`), 409, 'refund_is_settled', next.id),
    );
    expect(await balance()).toMatchObject({ unpaid: 5, paid: 2015 });
  });

  longRun.test('leaves the unpaid payout correct when a refund in it is reversed', async () => {
    await put([paid(b, { currency: 'usd', amount: 2000 })]);
    const [sale] = await allOf(api, `${COMMISSIONS}?affiliate_id=${b}&type=sale`);
    await api.post(`${COMMISSIONS}/${sale?.id}/refund`, { external_id: 'r1', amount: 30 });
    const next = await makePayout(api, { filters: { affiliate_id: b } });
    await api.post('/v2/affiliates/refunds/r1/reverse');
    expect((await api.get(`${PAYOUTS}/${next.id}`)).body).toMatchObject({ amount: 50, commission_count: 1 });
  });
});

describe('the PayPal file with whole_units=down', () => {
  beforeEach(async () => {
    await api.delete(path);
    for (const who of [a, b])
      await api.patch(`${AFFILIATES}/${who}`, { paypal_email: `p${who}@example.com` });
    await makeCommission(api, a, { amount: 120_050, currency: 'huf' });
    await makeCommission(api, b, { amount: 99, currency: 'huf' });
    payout = await makePayout(api, { filters: { currency: 'huf' } });
    path = `${PAYOUTS}/${payout.id}`;
  });
  const file = (query: string) => api.get(`${path}/payment-files/paypal?${query}`);

  test('pays whole units, and completing with it owes the rest; the file stays the same', async () => {
    expectRefusal(
      await file(''),
      400,
      'empty_payment_file',
      'PayPal takes no fractions of HUF',
      'whole_units=down',
    );
    expectRefusal(
      await file('whole_units=down'),
      400,
      'affiliates_not_in_file',
      'less than one HUF',
      String(b),
    );
    const before = await file('whole_units=down&allow_skipped=true');
    expect(parseCsv(before.text).map((row) => row.slice(0, 3))).toEqual([
      [`p${a}@example.com`, '1200', 'HUF'],
    ]);
    const done = await put([paid(a, { currency: 'huf', amount: 120_000 })]);
    expect(totalOf(done.body, 'huf')).toMatchObject({
      paid_amount: 120_000,
      carried_amount: 50,
      released_amount: 99,
    });
    expect((await file('')).text).toBe(before.text);
  });

  test('is refused where it has no meaning', async () => {
    expectRefusal(await file('whole_units=up'), 400, 'invalid_query', 'whole_units');
    expectRefusal(
      await api.get(`${path}/payment-files/wise?whole_units=down`),
      400,
      'unknown_query_parameter',
      'whole_units',
    );
  });
});
