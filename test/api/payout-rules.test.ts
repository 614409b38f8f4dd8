import { describe, expect, test } from 'vitest';
import { NOTE_MADE } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  allOf,
  bookDebt,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const lines = (payout: Json) => payout.affiliates.map((line: Json) => line.affiliate_id);

describe('minimums', () => {
  const excludedAmounts = (payout: Json) =>
    payout.excluded.map(({ reason, totals }: Json) => [
      reason,
      totals.map((t: Json) => [t.currency, t.amount]),
    ]);

  test('are those of the affiliate, else of the account, and an amount equal to them is paid', async () => {
    await api.patch('/v2/account', { minimum_payout: { USD: 5000, jpy: 100 } });
    const own = await makeAffiliate(api, { minimum_payout: { usd: 2000 } });
    const ownOther = await makeAffiliate(api, { minimum_payout: { eur: 1 } });
    const zero = await makeAffiliate(api, { minimum_payout: { usd: 0 } });
    const plain = await makeAffiliate(api);
    const exact = await makeAffiliate(api);
    await makeCommission(api, own.id, { amount: 2000 });
    await makeCommission(api, ownOther.id, { amount: 4999 });
    await makeCommission(api, zero.id, { amount: 1 });
    await makeCommission(api, plain.id, { amount: 4998 });
    await makeCommission(api, exact.id, { amount: 2500 });
    await makeCommission(api, exact.id, { amount: 2500 });
    await makeCommission(api, exact.id, { amount: 99, currency: 'jpy' });
    const payout = await makePayout(api);
    expect(lines(payout)).toEqual([own.id, zero.id, exact.id]);
    expect(excludedAmounts(payout)).toEqual([
      [
        'below_minimum',
        [
          ['jpy', 99],
          ['usd', 9997],
        ],
      ],
    ]);
    expect(await allOf(api, `${PAYOUTS}/${payout.id}/excluded`)).toEqual([
      {
        affiliate_id: ownOther.id,
        currency: 'usd',
        reason: 'below_minimum',
        amount: 4999,
        commission_count: 1,
      },
      { affiliate_id: plain.id, currency: 'usd', reason: 'below_minimum', amount: 4998, commission_count: 1 },
      { affiliate_id: exact.id, currency: 'jpy', reason: 'below_minimum', amount: 99, commission_count: 1 },
    ]);
  });

  test('are ignored on request', async () => {
    const { id } = await makeAffiliate(api, { minimum_payout: { usd: 5000 } });
    await makeCommission(api, id);
    expectRefusal(await api.post(PAYOUTS, { ignore_minimum: false }), 409, 'nothing_to_pay');
    const payout = await makePayout(api, { ignore_minimum: true });
    expect([lines(payout), payout.excluded]).toEqual([[id], []]);
  });
});

describe('debts', () => {
  test('are netted, carried over whole when nothing is left, and separate for each currency', async () => {
    const some = await makeAffiliate(api);
    const even = await makeAffiliate(api);
    await makeCommission(api, some.id, { amount: 1000 });
    await bookDebt(world, some.id, -300);
    await makeCommission(api, even.id, { amount: 400 });
    await bookDebt(world, even.id, -400);
    await makeCommission(api, even.id, { amount: 50, currency: 'eur' });
    const payout = await makePayout(api);
    expect(payout.totals.map((t: Json) => [t.currency, t.amount, t.commission_count])).toEqual([
      ['eur', 50, 1],
      ['usd', 700, 2],
    ]);
    // a debt that is settled to zero is neither paid nor left out
    expect(payout.excluded).toEqual([]);
  });

  test('are not excluded by a filter of product, order, type or time', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id, { product_id: 'p', order_id: 'o', type: 'bonus' });
    await bookDebt(world, id, -300);
    for (const filters of [
      { product_id: 'p' },
      { order_id: ['o'] },
      { type: 'bonus' },
      { occurred_at: { gte: '2024-01-01' } },
    ]) {
      const preview = await api.post(`${PAYOUTS}/preview`, { filters });
      expect(preview.body).toMatchObject({ amount: 700, commission_count: 2 });
    }
  });

  test('are limited to program and currency', async () => {
    const { id } = await makeAffiliate(api);
    const program = (await api.post('/v2/affiliates/programs', { name: 'P' })).body;
    await makeCommission(api, id, { program_id: program.id });
    await bookDebt(world, id, -300);
    await bookDebt(world, id, -100, { program_id: program.id });
    await bookDebt(world, id, -100, { currency: 'eur' });
    const amountOf = async (filters: object) =>
      (await api.post(`${PAYOUTS}/preview`, { filters })).body.totals.map((t: Json) => t.amount);
    expect(await amountOf({ program_id: program.id })).toEqual([900]);
    expect(await amountOf({ currency: 'usd' })).toEqual([600]);
    expect(await amountOf({ affiliate_id: id })).toEqual([600]);
  });

  test('make no payout alone, and do not count affiliates that the filters exclude', async () => {
    const [a, b] = [await makeAffiliate(api), await makeAffiliate(api)];
    await makeCommission(api, a.id, { product_id: 'p' });
    await bookDebt(world, b.id, -300);
    const payout = await makePayout(api, { filters: { product_id: 'p' } });
    expect([lines(payout), payout.excluded]).toEqual([[a.id], []]);
  });
});

test('total applies before the minimum: an excluded affiliate is not counted as left out', async () => {
  const [poor, rich] = [
    await makeAffiliate(api, { minimum_payout: { usd: 1000 } }),
    await makeAffiliate(api),
  ];
  await makeCommission(api, poor.id, { amount: 500 });
  await makeCommission(api, rich.id, { amount: 5000 });
  const ask = async (total: object) =>
    (await api.post(`${PAYOUTS}/preview`, { filters: { currency: 'usd', total } })).body;
  expect(await ask({ gt: 600 })).toMatchObject({ amount: 5000, excluded: [] });
  expect((await ask({ gte: 500 })).excluded.map((row: Json) => row.reason)).toEqual(['below_minimum']);
});

describe('a sum that JSON cannot carry exactly', () => {
  const most = Number.MAX_SAFE_INTEGER;

  /** Many commissions in a few rows: larger ones than the API accepts. */
  async function owe(affiliateId: number, ...amounts: number[]): Promise<void> {
    await world.query(
      `with made as (
       insert into commissions (account_id, external_id, affiliate_id, type, currency, amount, original_amount, occurred_at, available_at)
       select account_id, 'large-' || amount, id, 'sale', 'usd', amount, amount, '2020-01-01', '2020-01-01'
       from affiliates, unnest($2::bigint[]) amount where id = $1 returning *),
       ${NOTE_MADE}`,
      [affiliateId, amounts],
    );
  }

  test('is refused, never rounded: the payout is made in parts', async () => {
    const [a, b] = [await makeAffiliate(api), await makeAffiliate(api)];
    await owe(a.id, most - 1000);
    await makeCommission(api, b.id, { amount: 1000 });
    expect((await api.post(`${PAYOUTS}/preview`)).body.amount).toBe(most);
    await makeCommission(api, b.id, { amount: 1 });
    for (const path of [PAYOUTS, `${PAYOUTS}/preview`])
      expectRefusal(await api.post(path), 409, 'amount_too_large', '9007199254740992');
    const payout = await makePayout(api, { filters: { affiliate_id: a.id } });
    expect(payout.amount).toBe(most - 1000);
    const csv = await api.get(`${PAYOUTS}/${payout.id}/download`);
    expect(csv.text).toContain(',90071992547399.91,USD,');
  });

  test('is refused for amounts left out, too', async () => {
    const rich = await makeAffiliate(api, { status: 'inactive' });
    await owe(rich.id, most, 1);
    await makeCommission(api, (await makeAffiliate(api)).id);
    for (const path of [PAYOUTS, `${PAYOUTS}/preview`])
      expectRefusal(await api.post(path), 409, 'amount_too_large', '9007199254740992');
  });
});
