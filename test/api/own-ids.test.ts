import { beforeEach, describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
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
let who: number;
beforeEach(async () => {
  who = (await makeAffiliate(api)).id;
});

async function paidPayout(): Promise<{ payout: Json; commission: Json }> {
  const commission = await makeCommission(api, who, { amount: 1000 });
  const payout = await makePayout(api);
  await completePayout(api, payout);
  return { payout, commission };
}

const refund = (commission: Json) =>
  api.post(`${COMMISSIONS}/${commission.id}/refund`, { external_id: 'r1' });
const giveBack = (payout: Json) =>
  api.post(`${PAYOUTS}/${payout.id}/affiliates/${who}/returned`, { reason: 'closed' });
const newest = async () => (await allOf(api, `${COMMISSIONS}?sort=-id`))[0] as Json;

describe("a commission named like one of Payhook's own earlier names", () => {
  test('does not block returned money', async () => {
    const { payout } = await paidPayout();
    await makeCommission(api, who, { external_id: `returned:${payout.id}:${who}:usd` });
    expect((await giveBack(payout)).status).toBe(200);
    const { id, external_id } = await newest();
    expect(external_id).toBe(`payhook:returned:${payout.id}:${id}`);
  });

  test('does not block a refund', async () => {
    const { commission } = await paidPayout();
    await makeCommission(api, who, { external_id: `clawback:r1:${commission.id}` });
    const { status, body } = await refund(commission);
    expect([status, body.clawback.external_id]).toEqual([201, `payhook:clawback:r1:${body.clawback.id}`]);
  });
});

describe('the names that Payhook uses for its own commissions', () => {
  const name = 'payhook:returned:po_1';
  const rule = 'external_id must not begin with payhook:';

  test('are refused for a commission, in a batch and for an adjustment', async () => {
    const body = { external_id: name, affiliate_id: who, amount: 100 };
    const sends = [
      () => api.post(COMMISSIONS, body),
      () => api.post(`${AFFILIATES}/${who}/adjustments`, { external_id: name, amount: -5 }),
    ];
    for (const send of sends) {
      await nothingChanges(world, async () => expectRefusal(await send(), 400, 'invalid_body', rule));
    }
    const batch = { commissions: [{ ...body, external_id: 'fine' }, body] };
    await nothingChanges(world, async () =>
      expectRefusal(
        await api.post(`${COMMISSIONS}/batch`, batch),
        400,
        'invalid_items',
        'commissions[1]',
        rule,
      ),
    );
    const partly = await api.post(`${COMMISSIONS}/batch`, { ...batch, partial: true });
    expect(partly.body.items.map((item: Json) => [item.status, item.error?.reason])).toEqual([
      [201, undefined],
      [400, 'invalid_body'],
    ]);
  });

  test('are refused in a file, by their line', async () => {
    const file = `external_id,affiliate_id,amount\nfine,${who},1.00\n${name},${who},1.00\n`;
    await nothingChanges(world, async () =>
      expectRefusal(await api.upload(`${COMMISSIONS}/import`, file), 400, 'invalid_lines', 'line 3', rule),
    );
  });

  test('are allowed where they only look similar', async () => {
    for (const external_id of ['payhook', 'payhook-1', 'Payhook:1']) {
      expect((await makeCommission(api, who, { external_id })).external_id).toBe(external_id);
    }
  });

  test('were allowed once: a row stored then blocks nothing', async () => {
    const { payout, commission } = await paidPayout();
    for (const prefix of [`payhook:returned:${payout.id}`, `payhook:clawback:r1:${commission.id}`]) {
      const { id } = await makeCommission(api, who);
      await world.query(`update commissions set external_id = $1 where public_id('com', id) = $2`, [
        prefix,
        id,
      ]);
    }
    expect((await refund(commission)).status).toBe(201);
    expect((await giveBack(payout)).status).toBe(200);
  });
});
