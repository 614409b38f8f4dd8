import { describe, expect, test } from 'vitest';
import { expectStatement } from '../support/balances.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  COMMISSIONS,
  completePayout,
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
const api = useAccount(world);

const pathOf = (id: number) => `/v2/affiliates/${id}/statement`;
const statementOf = async (id: number, query = ''): Promise<Json> => {
  const answer = await api.get(`${pathOf(id)}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
/** Sums of a currency in the order of the record, from the opening to the closing amount. */
const sumsOf = ({ currencies }: Json, currency = 'usd') => {
  const { currency: _, ...sums } = currencies.find((each: Json) => each.currency === currency);
  return Object.values(sums);
};
/** The entries of the CSV, without its header. */
const entriesOf = async (id: number, query = '') => {
  const answer = await api.get(`${pathOf(id)}/download${query}`);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="statement-\d+[\w-]*\.csv"$/,
  );
  const [header, ...rows] = parseCsv(answer.text);
  expect(header).toEqual(['day', 'kind', 'currency', 'amount', 'what', 'reference']);
  return rows;
};

/** Earns 100 in January and 50 in February, is paid 90 of it in March, of which 20 is returned in April. */
async function aYear(): Promise<{ id: number; payout: Json }> {
  const { id } = await makeAffiliate(api, { name_first: 'Ada', name_last: 'Lovelace' });
  const sale = (external_id: string, amount: number, day: string) =>
    makeCommission(api, id, {
      external_id,
      amount,
      occurred_at: `2026-${day}T12:00:00Z`,
      order_id: `o-${external_id}`,
    });
  const first = await sale('jan', 10000, '01-10');
  await sale('feb', 5000, '02-10');
  await api.post(`${COMMISSIONS}/${first.id}/refund`, {
    ...{ external_id: 'back', amount: 1000, occurred_at: '2026-02-20T12:00:00Z' },
  });
  const payout = await makePayout(api);
  await completePayout(api, payout, [
    { affiliate_id: id, is_paid: true, currency: 'usd', amount: 9000, payment_reference: '=SUM(A1)' },
  ]);
  await world.query(`update payouts set paid_at = '2026-03-05T12:00:00Z' where public_id('po', id) = $1`, [
    payout.id,
  ]);
  const back = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, {
    amount: 2000,
    reason: 'closed',
  });
  expect(back.status, back.text).toBe(200);
  await world.query(
    `update payout_returns set returned_at = '2026-04-05T12:00:00Z' where account_id in (
       select account_id from payouts where public_id('po', id) = $1)`,
    [payout.id],
  );
  return { id, payout };
}

describe('the statement of an affiliate', () => {
  test('shows the amount owed before, the changes, and the amount owed after', async () => {
    const { id } = await aYear();
    const whole = await statementOf(id);
    expect(whole).toMatchObject({
      object: 'affiliate_statement',
      affiliate_id: id,
      name: 'Ada Lovelace',
      ...{ from: null, to: null, time_zone: 'UTC' },
    });
    //                            opening  earned  adj  refunded  void  paid  back  closing
    expect(sumsOf(whole)).toEqual([0, 15000, 0, -1000, 0, -9000, 2000, 7000]);
    expect(sumsOf(await statementOf(id, '?to=2026-01-31'))).toEqual([0, 10000, 0, 0, 0, 0, 0, 10000]);
    const spring = await statementOf(id, '?from=2026-02-01&to=2026-03-31');
    expect(sumsOf(spring)).toEqual([10000, 5000, 0, -1000, 0, -9000, 0, 5000]);
    expect(sumsOf(await statementOf(id, '?from=2026-04-01'))).toEqual([5000, 0, 0, 0, 0, 0, 2000, 7000]);
    expect(sumsOf(await statementOf(id, '?year=2026'))).toEqual(sumsOf(whole));
    await expectStatement(api, id);
  });

  test('is written as CSV with every entry between the balances of its currency', async () => {
    const { id, payout } = await aYear();
    await makeCommission(api, id, {
      external_id: 'yen',
      currency: 'jpy',
      amount: 700,
      occurred_at: '2026-02-01T00:00:00Z',
    });
    expect(await entriesOf(id, '?from=2026-02-01')).toEqual([
      ['', 'opening_balance', 'JPY', '0', '', ''],
      ['2026-02-01', 'earned', 'JPY', '700', 'yen', ''],
      ['', 'closing_balance', 'JPY', '700', '', ''],
      ['', 'opening_balance', 'USD', '100.00', '', ''],
      ['2026-02-10', 'earned', 'USD', '50.00', 'feb', 'o-feb'],
      ['2026-02-20', 'refunded', 'USD', '-10.00', 'back', 'o-jan'],
      ['2026-03-05', 'paid', 'USD', '-90.00', `payout ${payout.number}`, `'=SUM(A1)`],
      ['2026-04-05', 'returned', 'USD', '20.00', `payout ${payout.number}`, ''],
      ['', 'closing_balance', 'USD', '70.00', '', ''],
    ]);
  });

  test('counts days in the zone of the account', async () => {
    await api.patch('/v2/account', { time_zone: 'Pacific/Auckland' });
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id, { external_id: 'late', amount: 500, occurred_at: '2026-01-31T11:30:00Z' });
    expect((await statementOf(id, '?to=2026-01-31')).currencies).toEqual([]);
    expect((await entriesOf(id, '?from=2026-02-01')).map(([day, kind]) => [day, kind])).toEqual([
      ['', 'opening_balance'],
      ['2026-02-01', 'earned'],
      ['', 'closing_balance'],
    ]);
  });

  test('includes voided commissions, credits, and refunds of paid commissions, except reversed ones', async () => {
    const { id } = await makeAffiliate(api);
    const voided = await makeCommission(api, id, { amount: 300 });
    await api.post(`${COMMISSIONS}/${voided.id}/void`);
    const paid = await makeCommission(api, id, { amount: 1000 });
    const kept = await makeCommission(api, id, { amount: 500 });
    await completePayout(api, await makePayout(api));
    await api.post(`${COMMISSIONS}/${paid.id}/refund`, { external_id: 'full' });
    await api.post(`${COMMISSIONS}/${kept.id}/refund`, { external_id: 'part', amount: 200 });
    expect((await api.post('/v2/affiliates/refunds/part/reverse')).status).toBe(200);
    await api.post(`/v2/affiliates/${id}/adjustments`, {
      external_id: 'credit',
      amount: 50,
      currency: 'usd',
    });
    expect(sumsOf(await statementOf(id))).toEqual([0, 1800, 50, -1000, -300, -1500, 0, -950]);
    await expectStatement(api, id);
  });

  test('refuses an invalid period, and unknown affiliates or those of another account', async () => {
    const { id } = await makeAffiliate(api);
    const other = await makeAffiliate(await world.otherAccount('another shop'));
    await nothingChanges(world, async () => {
      for (const part of ['', '/download']) {
        const path = `${pathOf(id)}${part}`;
        expectRefusal(await api.get(`${path}?from=2026-02-30`), 400, 'invalid_query', 'from');
        expectRefusal(await api.get(`${path}?from=2026-03-01&to=2026-02-01`), 400, 'invalid_query', 'after');
        expectRefusal(await api.get(`${path}?year=2026&from=2026-01-01`), 400, 'invalid_query', 'year');
        expectRefusal(await api.get(`${pathOf(other.id)}${part}`), 404, 'resource_missing');
        expectRefusal(await api.get(`/v2/affiliates/x/statement${part}`), 404, 'resource_missing');
      }
    });
    expect((await statementOf(id)).currencies).toEqual([]);
  });
});
