import { describe, expect, test } from 'vitest';
import { expectOwed } from '../support/balances.ts';
import { keepHouse } from '../support/chores.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  bookDebt,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  PROGRAMS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const fold = () => keepHouse(world, 'affiliate balances');
const idsOf = async (query: string): Promise<number[]> => {
  const answer = await api.get(`${AFFILIATES}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.map((row: Json) => row.id);
};
const balanceOf = async (id: number) => (await api.get(`${AFFILIATES}/${id}`)).body.balance;

describe('the total owed', () => {
  test('of an account without commissions is zero', async () => {
    await makeAffiliate(api);
    const { body } = await api.get(`${AFFILIATES}/balances`);
    expect(body).toEqual({
      object: 'affiliate_balances',
      current_payout_id: null,
      balances: [],
    });
  });

  test('is grouped by currency and state, as a payout without filters sees it, folded or not', async () => {
    const paypal = { paypal_email: 'pay@example.com' };
    const [good, blank, low, off, gone, debtor, waiting, back] = await Promise.all([
      makeAffiliate(api, paypal),
      makeAffiliate(api),
      makeAffiliate(api, { minimum_payout: { usd: 2000 } }),
      makeAffiliate(api, { is_ready_for_payout: false }),
      makeAffiliate(api, { status: 'inactive' }),
      makeAffiliate(api),
      makeAffiliate(api),
      makeAffiliate(api, { ...paypal, minimum_payout: { usd: 5000 } }),
    ]);
    // returned money is exempt from the minimum
    await makeCommission(api, back.id, { amount: 6000 });
    const first = await completePayout(api, await makePayout(api));
    await api.post(`${PAYOUTS}/${first.id}/affiliates/${back.id}/returned`, {
      reason: 'closed',
      amount: 700,
    });
    await makeCommission(api, waiting.id, { amount: 60, currency: 'jpy' });
    const current = await makePayout(api, { filters: { affiliate_id: waiting.id } });
    for (const { id } of [good, blank, low, off, gone]) await makeCommission(api, id);
    await makeCommission(api, waiting.id, { amount: 30, occurred_at: '2999-01-01T00:00:00Z' });
    await bookDebt(world, debtor.id, -400);
    for (const when of ['not folded', 'folded']) {
      const { body } = await api.get(`${AFFILIATES}/balances`);
      expect(body.current_payout_id, when).toBe(current.id);
      const none = { amount: 0, affiliate_count: 0 };
      const of = (amount: number, affiliate_count = 1) => ({ amount, affiliate_count });
      expect(body.balances, when).toEqual([
        {
          ...{
            currency: 'jpy',
            owed: 60,
            payable: none,
            on_hold: none,
            below_minimum: none,
            in_payout: of(60),
          },
          ...{ negative_balance: none, not_ready: none, affiliate_inactive: none, without_destination: none },
        },
        {
          ...{ currency: 'usd', owed: 5330, payable: of(2700, 3), on_hold: of(30), below_minimum: of(1000) },
          ...{
            negative_balance: of(-400),
            not_ready: of(1000),
            affiliate_inactive: of(1000),
            in_payout: none,
          },
          without_destination: of(1000),
        },
      ]);
      await expectOwed(api);
      await fold();
    }
  });

  test('is refused when JSON cannot carry it exactly', async () => {
    const { id } = await makeAffiliate(api);
    await bookDebt(world, id, Number.MAX_SAFE_INTEGER);
    await bookDebt(world, id, 1);
    expectRefusal(await api.get(`${AFFILIATES}/balances`), 409, 'amount_too_large');
  });
});

describe('the list of affiliates', () => {
  test('begins with the largest unpaid amount in the requested currency', async () => {
    const [a, b, c, d] = [
      await makeAffiliate(api),
      await makeAffiliate(api),
      await makeAffiliate(api),
      await makeAffiliate(api),
    ];
    await makeCommission(api, a.id, { amount: 100 });
    await makeCommission(api, b.id, { amount: 300 });
    await makeCommission(api, c.id, { amount: 900, currency: 'eur' });
    await bookDebt(world, d.id, -5);
    for (const when of ['not folded', 'folded']) {
      expect(await idsOf('sort=-unpaid'), when).toEqual([b.id, a.id, c.id, d.id]);
      expect(await idsOf('sort=unpaid'), when).toEqual([d.id, c.id, a.id, b.id]);
      expect(await idsOf('sort=-unpaid&balance_currency=EUR'), when).toEqual([c.id, d.id, b.id, a.id]);
      expect(await idsOf('sort=-unpaid&per_page=2&page=2'), when).toEqual([c.id, d.id]);
      const { next } = (await api.get(`${AFFILIATES}?sort=-unpaid&per_page=1`)).body.pagination;
      expect(await idsOf(`after=${encodeURIComponent(next)}&per_page=2`), when).toEqual([a.id, c.id]);
      expect(await idsOf(`sort=-unpaid&email=${encodeURIComponent(a.email)}`), when).toEqual([a.id]);
      await fold();
    }
    // a folded sum and later commissions are added up
    await makeCommission(api, a.id, { amount: 201 });
    expect(await idsOf('sort=-unpaid')).toEqual([a.id, b.id, c.id, d.id]);
    await api.patch('/v2/account', { default_currency: 'eur' });
    expect((await idsOf('sort=-unpaid'))[0]).toBe(c.id);
    expectRefusal(await api.get(`${AFFILIATES}?sort=-unpaid&balance_currency=dollars`), 400, 'invalid_query');
  });

  test('is filtered by payment method, activity, destination and program', async () => {
    const paypal = await makeAffiliate(api, { payout_method: 'paypal', paypal_email: 'p@example.com' });
    const lost = await makeAffiliate(api, { payout_method: 'paypal', is_ready_for_payout: false });
    const wise = await makeAffiliate(api, { payout_method: 'wise', name_last: 'Wise' });
    const nameless = await makeAffiliate(api, { payout_method: 'wise', paypal_email: 'n@example.com' });
    const other = await makeAffiliate(api, { payout_method: 'other' });
    const address = await makeAffiliate(api, { paypal_email: 'x@example.com' });
    const none = await makeAffiliate(api);
    expect(await idsOf('sort=id&payout_method=wise')).toEqual([wise.id, nameless.id]);
    expect(await idsOf('sort=id&payout_method=paypal')).toEqual([paypal.id, lost.id, address.id]);
    expect(await idsOf('sort=id&payout_method=none')).toEqual([none.id]);
    expect(await idsOf('sort=id&is_ready_for_payout=false')).toEqual([lost.id]);
    expect(await idsOf('sort=id&has_destination=false')).toEqual([lost.id, nameless.id, none.id]);
    expect(await idsOf('sort=id&has_destination=true')).toEqual([paypal.id, wise.id, other.id, address.id]);
    const program = (await api.post(PROGRAMS, { name: 'Autumn' })).body;
    await makeCommission(api, other.id, { program_id: program.id });
    expect(await idsOf(`program_id=${program.id}`)).toEqual([other.id]);
    await fold();
    await makeCommission(api, wise.id, {
      program_id: program.id,
      amount: undefined,
      sale_amount: 1,
      rate_bps: 1,
    });
    expect(await idsOf(`sort=id&program_id=${program.id}`)).toEqual([wise.id, other.id]);
    await fold();
    expect(await idsOf(`sort=-unpaid&program_id=${program.id}`)).toEqual([other.id, wise.id]);
    expect(await idsOf(`program_id=${program.id + 1}`)).toEqual([]);
  });

  test('shows when each was last paid', async () => {
    const [paid, owed] = [await makeAffiliate(api), await makeAffiliate(api)];
    await makeCommission(api, paid.id);
    await makeCommission(api, owed.id);
    const payout = await completePayout(api, await makePayout(api), [
      { affiliate_id: paid.id, is_paid: true },
    ]);
    for (const when of ['not folded', 'folded']) {
      const { data } = (await api.get(`${AFFILIATES}?sort=id`)).body;
      expect(
        data.map((row: Json) => row.last_paid_at),
        when,
      ).toEqual([payout.paid_at, null]);
      await fold();
    }
  });
});

describe('an amount on hold', () => {
  test('becomes unpaid by itself, whether the sums were folded before or after', async () => {
    await api.patch('/v2/account', { hold_days: 30 });
    const { id } = await makeAffiliate(api);
    // available at a moment that only the database's clock decides: the sale is slightly older than thirty days
    const soon = async (amount: number) => {
      const [{ at }] = (await world.query<{ at: string }>(
        `select to_char((clock_timestamp() - interval '30 days' + interval '300 milliseconds') at time zone 'UTC',
           'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
      )) as [{ at: string }];
      return makeCommission(api, id, { amount, occurred_at: at });
    };
    await soon(40);
    await fold();
    const held = await makeCommission(api, id, { amount: 7 });
    await soon(2);
    await expect
      .poll(() => balanceOf(id))
      .toEqual([{ currency: 'usd', pending: 7, unpaid: 42, in_payout: 0, paid: 0 }]);
    await fold();
    expect(await balanceOf(id)).toEqual([{ currency: 'usd', pending: 7, unpaid: 42, in_payout: 0, paid: 0 }]);
    await api.post(`${COMMISSIONS}/${held.id}/void`);
    await makePayout(api);
    expect(await balanceOf(id)).toEqual([{ currency: 'usd', pending: 0, unpaid: 0, in_payout: 42, paid: 0 }]);
    await api.delete(`${PAYOUTS}/current`);
    await fold();
    await expectOwed(api);
  });
});
