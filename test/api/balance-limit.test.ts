import { describe, expect, test } from 'vitest';
import { keepHouse } from '../support/chores.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  bookDebt,
  COMMISSIONS,
  completePayout,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  unique,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const MOST = Number.MAX_SAFE_INTEGER;
/** The maximum of one commission. */
const LARGE = 1_000_000_000_000;

const fold = () => keepHouse(world, 'affiliate balances');
const balanceOf = async (id: number) => (await api.get(`${AFFILIATES}/${id}`)).body.balance;
const create = (fields: object) => api.post(COMMISSIONS, { external_id: unique('sale'), ...fields });
const adjust = (id: number, fields: object) =>
  api.post(`${AFFILIATES}/${id}/adjustments`, { external_id: unique('adjustment'), ...fields });
const upload = (lines: readonly string[], query = '') =>
  api.upload(`${COMMISSIONS}/import${query}`, csv('external_id,affiliate_id,currency,amount', ...lines));

/** An affiliate who is owed this much, in rows that the API would not accept. */
async function owing(amount: number): Promise<number> {
  const { id } = await makeAffiliate(api);
  await bookDebt(world, id, amount);
  return id;
}

describe('a balance reaches 2^53 - 1 minor units and no more', () => {
  test.each(someOf(['not folded', 'folded'], 1))('a commission, while the sums are %s', async (when) => {
    const id = await owing(MOST - 10);
    if (when === 'folded') await fold();
    const refused = await nothingChanges(world, () =>
      create({ affiliate_id: id, amount: 11, currency: 'usd' }),
    );
    expectRefusal(refused, 409, 'amount_too_large', `affiliate ${id}`, 'usd', '9007199254740992');
    const last = { external_id: unique('last'), affiliate_id: id, amount: 10, currency: 'usd' };
    for (const status of [201, 200]) expect((await create(last)).status).toBe(status);
    expectRefusal(
      await create({ affiliate_id: id, amount: 1, currency: 'usd' }),
      409,
      'amount_too_large',
      '9007199254740992',
    );
    // existing commissions, another currency and another affiliate are unaffected
    expect((await create(last)).status).toBe(200);
    expect((await create({ affiliate_id: id, amount: LARGE, currency: 'eur' })).status).toBe(201);
    const other = await makeAffiliate(api);
    expect((await create({ affiliate_id: other.id, amount: 11, currency: 'eur' })).status).toBe(201);
    expect(await balanceOf(id)).toEqual([
      { currency: 'eur', pending: 0, unpaid: LARGE, in_payout: 0, paid: 0 },
      { currency: 'usd', pending: 0, unpaid: MOST, in_payout: 0, paid: 0 },
    ]);
    expect((await api.get(`${AFFILIATES}/balances`)).status).toBe(200);
  });

  test('a credit, and a debt below zero', async () => {
    const [rich, poor] = [await owing(MOST), await owing(-MOST)];
    await nothingChanges(world, async () => {
      expectRefusal(
        await adjust(rich, { amount: 1 }),
        409,
        'amount_too_large',
        `affiliate ${rich}`,
        'maximum',
      );
      expectRefusal(
        await adjust(poor, { amount: -1 }),
        409,
        'amount_too_large',
        `affiliate ${poor}`,
        '-9007199254740992',
        'minimum',
      );
    });
    expect((await adjust(rich, { amount: -1 })).status).toBe(201);
    expect((await adjust(poor, { amount: 1 })).status).toBe(201);
  });

  longRun.test('whatever the state of the owed amount: held, in the unpaid payout, paid', async () => {
    const id = await owing(MOST - 1000);
    const { id: held } = await makeCommission(api, id, { amount: 500 });
    await api.post(`${COMMISSIONS}/${held}/hold`);
    const one = () => create({ affiliate_id: id, amount: 501 });
    expectRefusal(await one(), 409, 'amount_too_large');
    const payout = await makePayout(api);
    for (let turn = 0; turn < 2; turn++) {
      expectRefusal(await one(), 409, 'amount_too_large', '9007199254740992');
      await fold();
    }
    await completePayout(api, payout);
    expectRefusal(await one(), 409, 'amount_too_large');
    await fold();
    expectRefusal(await one(), 409, 'amount_too_large');
    expect((await api.post(`${COMMISSIONS}/${held}/void`)).status).toBe(200);
    expect((await one()).status).toBe(201);
  });

  test('a refund that is reversed, and a clawback', async () => {
    const id = await owing(MOST - 1000);
    const { id: sale } = await makeCommission(api, id, { amount: 1000 });
    const { body: refund } = await api.post(`${COMMISSIONS}/${sale}/refund`, {
      external_id: unique('refund'),
      amount: 400,
    });
    expect((await create({ affiliate_id: id, amount: 1 })).status).toBe(201);
    const reverse = () => api.post(`${AFFILIATES}/refunds/${refund.id}/reverse`);
    expectRefusal(
      await nothingChanges(world, reverse),
      409,
      'amount_too_large',
      `affiliate ${id}`,
      'maximum',
    );

    const debtor = await makeAffiliate(api);
    const { id: paid } = await makeCommission(api, debtor.id, { amount: 1000 });
    await completePayout(api, await makePayout(api, { filters: { affiliate_id: debtor.id } }));
    await bookDebt(world, debtor.id, -MOST + 10);
    const clawback = (amount: number) =>
      api.post(`${COMMISSIONS}/${paid}/refund`, { external_id: unique('refund'), amount });
    expectRefusal(
      await nothingChanges(world, () => clawback(11)),
      409,
      'amount_too_large',
      `affiliate ${debtor.id}`,
      'minimum',
    );
    expect((await clawback(10)).status).toBe(201);
  });

  test('an item of a batch', async () => {
    const [rich, other] = [await owing(MOST - 10), (await makeAffiliate(api)).id];
    const items = [6, 4, 1].map((amount) => ({
      external_id: unique('item'),
      affiliate_id: rich,
      amount,
    }));
    const commissions = [...items, { external_id: unique('item'), affiliate_id: other, amount: 7 }];
    const whole = await nothingChanges(world, () => api.post(`${COMMISSIONS}/batch`, { commissions }));
    expectRefusal(whole, 400, 'invalid_items', 'commissions[2]', `affiliate ${rich}`);
    const { body } = await api.post(`${COMMISSIONS}/batch`, { commissions, partial: true });
    expect(body.items.map(({ status }: Json) => status)).toEqual([201, 201, 409, 201]);
    expect(body.items[2].error).toMatchObject({ code: 'conflict', reason: 'amount_too_large' });
    expect(await balanceOf(rich)).toMatchObject([{ unpaid: MOST }]);
  });

  test('a batch that exceeds the limit by itself', async () => {
    const { id } = await makeAffiliate(api);
    const full = Array.from({ length: 1000 }, () => LARGE);
    const send = (amounts: readonly number[]) =>
      api.post(`${COMMISSIONS}/batch`, {
        commissions: amounts.map((amount) => ({ external_id: unique('item'), affiliate_id: id, amount })),
      });
    await bookDebt(world, id, 8 * 1000 * LARGE);
    expect((await send(full)).status).toBe(200);
    const answer = await nothingChanges(world, () => send(full.slice(0, 8)));
    expectRefusal(answer, 400, 'invalid_items', 'commissions[7]', '9008000000000000');
    expect((await send(full.slice(0, 7))).status).toBe(200);
  });

  test('a line of a file, which a dry run reports too', async () => {
    const [rich, other] = [await owing(MOST - 1000), (await makeAffiliate(api)).id];
    const lines = [`a,${rich},usd,9.00`, `b,${other},usd,5.00`, `c,${rich},usd,1.01`, `d,${rich},eur,5.00`];
    for (const query of ['?dry_run=true', '?partial=true', '?partial=true']) {
      const { body } = await upload(lines, query);
      expect(body, query).toMatchObject({ failed: 1, errors: [{ line: 4 }] });
      expect(body.errors[0].message).toContain(`affiliate ${rich}`);
      expect(body.errors[0].message).toContain('9007199254740992');
    }
    expectRefusal(
      await nothingChanges(world, () => upload(lines.map((line) => `x${line}`))),
      400,
      'invalid_lines',
      'line 4',
    );
    expect(await balanceOf(rich)).toMatchObject([{ unpaid: 500 }, { unpaid: MOST - 100 }]);
  });

  longRun.test('returned money is owed again, and counts once', async () => {
    const id = await owing(MOST);
    const payout = await completePayout(api, await makePayout(api));
    const back = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, {
      reason: 'closed',
      amount: 1000,
    });
    expect(back.status, back.text).toBe(200);
    expect(await balanceOf(id)).toMatchObject([{ unpaid: 1000, paid: MOST - 1000 }]);
    expectRefusal(await adjust(id, { amount: 1 }), 409, 'amount_too_large');
  });
});
