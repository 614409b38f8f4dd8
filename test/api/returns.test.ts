import { beforeEach, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
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
  onlyAudited,
  PAYOUTS,
  parseCsv,
  TIMESTAMP,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test: a was paid 10.00 USD and 7.000 KWD, b 20.00 USD, c nothing. */
const api = useAccount(world);
let a: number;
let b: number;
let c: number;
let payout: Json;
beforeEach(async () => {
  [a, b, c] = [(await makeAffiliate(api)).id, (await makeAffiliate(api)).id, (await makeAffiliate(api)).id];
  await makeCommission(api, a, { amount: 1000 });
  await makeCommission(api, a, { amount: 7000, currency: 'kwd' });
  await makeCommission(api, b, { amount: 2000 });
  await makeCommission(api, c, { amount: 3000 });
  payout = await makePayout(api);
  await completePayout(api, payout, [
    { affiliate_id: a, is_paid: true },
    { affiliate_id: b, is_paid: true },
  ]);
});

const pathOf = (who: number) => `${PAYOUTS}/${payout.id}/affiliates/${who}/returned`;
const giveBack = (who: number, fields: object = {}) => api.post(pathOf(who), { reason: 'closed', ...fields });
const returnsOf = (who: number, query = '') => allOf(api, `${pathOf(who)}${query}`);
const balanceOf = async (who: number) =>
  (await api.get(`${AFFILIATES}/${who}`)).body.balance.map((each: Json) => [
    each.currency,
    each.unpaid,
    each.in_payout,
    each.paid,
  ]);

async function refused(
  send: () => ReturnType<Api['post']>,
  status: number,
  reason: string,
  ...parts: string[]
) {
  await nothingChanges(world, async () => expectRefusal(await send(), status, reason, ...parts));
}

describe('returned money', () => {
  test('is booked in parts, of one currency, and never more in total than was paid', async () => {
    const first = await giveBack(a, { currency: 'USD', amount: 300, reference: 'R-1' });
    expect(first.status, first.text).toBe(200);
    expect(first.body).toMatchObject({
      is_paid: true,
      returned_amount: null,
      totals: [
        { currency: 'kwd', paid_amount: 7000, returned_amount: 0 },
        { currency: 'usd', paid_amount: 1000, returned_amount: 300 },
      ],
    });
    await refused(
      () => giveBack(a, { currency: 'usd', amount: 701 }),
      400,
      'return_exceeds_paid',
      '700',
      '7.00 USD',
    );
    expect((await giveBack(a, { currency: 'usd', amount: 200 })).status).toBe(200);
    expect((await giveBack(a, { currency: 'usd' })).body.totals[1]).toMatchObject({ returned_amount: 1000 });
    await refused(() => giveBack(a, { currency: 'usd', amount: 1 }), 409, 'already_returned');
    await refused(() => giveBack(a, { currency: 'usd' }), 409, 'already_returned');
    expect((await returnsOf(a)).map(({ amount }) => amount)).toEqual([500, 200, 300]);
    expect((await returnsOf(a)).at(-1)).toEqual({
      id: expect.stringMatching(/^ret_[0-9a-f]{32}$/),
      object: 'payout_return',
      payout_id: payout.id,
      affiliate_id: a,
      currency: 'usd',
      amount: 300,
      tax_amount: 0,
      withheld_amount: 0,
      external_id: null,
      reason: 'closed',
      reference: 'R-1',
      commission_id: expect.stringMatching(/^com_/),
      returned_at: expect.stringMatching(TIMESTAMP),
      undone_at: null,
    });
    expect(await balanceOf(a)).toEqual([
      ['kwd', 0, 0, 7000],
      ['usd', 1000, 0, 0],
    ]);
  });

  test('with an external_id is booked once, however often it is sent', async () => {
    const given = { external_id: 'bank-4711', currency: 'usd', amount: 300, reference: 'R-1' };
    const first = await giveBack(a, given);
    expect(first.status, first.text).toBe(200);
    await onlyAudited(world, async () => {
      const again = await giveBack(a, given);
      expect([again.status, again.text]).toEqual([200, first.text]);
    });
    expect((await returnsOf(a)).map(({ external_id, amount }) => [external_id, amount])).toEqual([
      ['bank-4711', 300],
    ]);
    for (const other of [{ amount: 200 }, { currency: 'kwd' }, { reference: null }, { reason: 'another' }]) {
      await refused(
        () => giveBack(a, { ...given, ...other }),
        409,
        'duplicate_external_id',
        'external_id bank-4711',
      );
    }
    await refused(() => giveBack(b, given), 409, 'duplicate_external_id');
    await refused(() => giveBack(a, { external_id: '' }), 400, 'invalid_body', 'external_id');
    const rest = { external_id: 'all of it' };
    expect((await giveBack(a, rest)).body.totals).toMatchObject([
      { returned_amount: 7000 },
      { returned_amount: 1000 },
    ]);
    await onlyAudited(world, () => giveBack(a, rest));
    expect(await returnsOf(a)).toHaveLength(3);
  });

  longRun.test('with an external_id is booked once, even by concurrent requests', async () => {
    const given = { external_id: 'at once', amount: 100 };
    const answers = await Promise.all(Array.from({ length: 5 }, () => giveBack(b, given)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await returnsOf(b)).toHaveLength(1);
  });

  test('without a currency is everything not yet returned, in all currencies', async () => {
    await giveBack(a, { currency: 'usd', amount: 300 });
    const all = await giveBack(a);
    expect(all.body.totals.map((each: Json) => each.returned_amount)).toEqual([7000, 1000]);
    expect((await returnsOf(a)).map(({ currency, amount }) => [currency, amount]).sort()).toEqual([
      ['kwd', 7000],
      ['usd', 300],
      ['usd', 700],
    ]);
    await refused(() => giveBack(a), 409, 'already_returned');
  });

  test('needs a currency next to an amount only where several were paid', async () => {
    await refused(() => giveBack(a, { amount: 5 }), 400, 'invalid_body', 'currency', 'kwd, usd');
    expect((await giveBack(b, { amount: 5 })).body).toMatchObject({ returned_amount: 5 });
  });

  test.each([
    ['currency', { currency: 'xxy' }],
    ['currency', { currency: null }],
    ['amount', { amount: 0 }],
    ['amount', { amount: -1 }],
    ['amount', { amount: 0.5 }],
    ['amount', { amount: '5' }],
  ])('is refused for a bad %s: %j', async (field, fields) => {
    await refused(() => giveBack(b, fields), 400, 'invalid_body', field);
  });

  test('is refused for missing and unpaid lines', async () => {
    await refused(() => giveBack(b, { currency: 'kwd' }), 404, 'resource_missing', 'kwd');
    await refused(() => giveBack(c), 409, 'line_not_paid');
    for (const path of [pathOf(999_999), `${PAYOUTS}/${payout.id}/affiliates/x/returned`]) {
      await refused(() => api.post(path, { reason: 'x' }), 404, 'resource_missing');
      expectRefusal(await api.get(path), 404, 'resource_missing');
    }
    expect(await returnsOf(c)).toEqual([]);
  });

  test('is never more than was paid of a partly paid line', async () => {
    const next = await makePayout(api);
    await completePayout(api, next, [{ affiliate_id: c, currency: 'usd', is_paid: true, amount: 2500 }]);
    const path = `${PAYOUTS}/${next.id}/affiliates/${c}/returned`;
    await refused(() => api.post(path, { reason: 'x', amount: 2501 }), 400, 'return_exceeds_paid');
    expect((await api.post(path, { reason: 'x' })).body).toMatchObject({ returned_amount: 2500 });
    expect(await balanceOf(c)).toEqual([['usd', 3000, 0, 0]]);
  });
});

describe('a return that was booked by mistake', () => {
  const undo = (who: number, id: string) => api.delete(`${pathOf(who)}/${id}`);
  const onlyReturn = async (who: number) => (await returnsOf(who))[0] as Json;

  test('is undone: the line is paid again, nothing is owed, and the list still shows it', async () => {
    await giveBack(b, { amount: 500 });
    await giveBack(b, { amount: 700 });
    const wrong = (await returnsOf(b)).find(({ amount }) => amount === 500) as Json;
    const answer = await undo(b, wrong.id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await balanceOf(b)).toEqual([['usd', 700, 0, 1300]]);
    const [line] = await allOf(api, `${PAYOUTS}/${payout.id}/affiliates?affiliate_id=${b}`);
    expect(line).toMatchObject({ returned_amount: 700 });
    expect((await returnsOf(b, '?is_undone=true')).map(({ id, undone_at }) => [id, undone_at])).toEqual([
      [wrong.id, expect.stringMatching(TIMESTAMP)],
    ]);
    const adjustment = (await api.get(`${COMMISSIONS}/${wrong.commission_id}`)).body;
    expect(adjustment).toMatchObject({ status: 'voided', void_reason: 'the return was undone' });
    const events = await eventsOf(world, api, 'commission.voided');
    expect(events.map(({ payload }) => payload.data.id)).toEqual([wrong.commission_id]);
    await refused(() => undo(b, wrong.id), 409, 'return_is_undone');
    // an amount that was undone can be returned after all
    expect((await giveBack(b, { amount: 1300 })).body).toMatchObject({ returned_amount: 2000 });
  });

  longRun.test('leaves the unpaid payout with its money, which is deleted when that was all', async () => {
    await giveBack(b, { amount: 500 });
    await giveBack(a, { currency: 'usd' });
    const next = await makePayout(api, { filters: { affiliate_id: [a, b] } });
    const back = await onlyReturn(b);
    expect((await undo(b, back.id)).status).toBe(204);
    const after = (await api.get(`${PAYOUTS}/${next.id}`)).body;
    expect(after).toMatchObject({ revision: 2, amount: 1000, affiliate_count: 1 });
    expect((await undo(a, (await onlyReturn(a)).id)).status).toBe(204);
    expectRefusal(await api.get(`${PAYOUTS}/current`), 404, 'no_current_payout');
  });

  test('stays once its money was paid again', async () => {
    await giveBack(b);
    const next = await makePayout(api);
    await completePayout(api, next);
    const back = await onlyReturn(b);
    await refused(() => undo(b, back.id), 409, 'return_paid_again', next.id);
  });

  test('is not found elsewhere', async () => {
    await giveBack(b);
    const { id } = await onlyReturn(b);
    await refused(() => undo(a, id), 404, 'resource_missing');
    await refused(() => undo(b, 'ret_x'), 404, 'resource_missing');
    await refused(
      () =>
        undo(
          b,
          id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')),
        ),
      404,
      'resource_missing',
    );
    const foreign = await world.otherAccount();
    expectRefusal(await foreign.delete(`${pathOf(b)}/${id}`), 404, 'resource_missing');
    expectRefusal(await foreign.get(pathOf(b)), 404, 'resource_missing');
  });

  test('cannot be undone by voiding its adjustment, which would make the payout inconsistent', async () => {
    await giveBack(b);
    const { id, commission_id } = await onlyReturn(b);
    await refused(
      () => api.post(`${COMMISSIONS}/${commission_id}/void`),
      409,
      'commission_is_bound',
      `DELETE ${pathOf(b)}/${id}`,
    );
  });

  longRun.test('in another year does not change the report of the old one', async () => {
    await giveBack(b, { amount: 500 });
    const { id } = await onlyReturn(b);
    await undo(b, id);
    await world.query(`update payouts set paid_at = '2020-03-01Z' where public_id('po', id) = $1`, [
      payout.id,
    ]);
    await world.query(
      `update payout_returns set returned_at = '2020-12-30Z', undone_at = '2021-01-02Z' where public_id('ret', id) = $1`,
      [id],
    );
    const report = async (year: number) =>
      parseCsv((await api.get(`${AFFILIATES}/reports/paid?year=${year}`)).text)
        .filter((row) => row[1] === String(b))
        .map((row) => row.slice(-5, -2));
    expect(await report(2020)).toEqual([['20.00', '5.00', '15.00']]);
    expect(await report(2021)).toEqual([['0.00', '-5.00', '5.00']]);
    await world.query(`update payout_returns set undone_at = '2020-12-31Z' where public_id('ret', id) = $1`, [
      id,
    ]);
    expect(await report(2020)).toEqual([['20.00', '0.00', '20.00']]);
    expect(await report(2021)).toEqual([]);
  });
});
