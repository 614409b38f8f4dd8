import { describe, expect, test } from 'vitest';
import { bookDebt, csv, expectRefusal } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { holdBack, untilLockWait } from '../support/held.ts';
import { makeAffiliates } from '../support/seed.ts';
import { ARENAS, COMMISSIONS, GAPS_MS, inArena, PLAIN, staggered, tally } from './support.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const LARGE = 1_000_000_000_000;

describe.each(ARENAS)('near the limit of a balance, $name', (arena) => {
  longRun.test('of two commissions that together exceed it, one is accepted', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const ids = await makeAffiliates(api, GAPS_MS.length);
      for (const [round, gap] of GAPS_MS.entries()) {
        const affiliate = ids[round] ?? 0;
        await bookDebt(world, affiliate, MOST - 10);
        const take = (by: number) => () =>
          racer(by).post(COMMISSIONS, { external_id: `${round}-${by}`, affiliate_id: affiliate, amount: 6 });
        expect(tally(await race(() => staggered(gap, take(0), take(1))))).toEqual({ 201: 1, 409: 1 });
      }
    }),
  );

  test('of a crowd as many are accepted as fit, with credits and batches among them', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const [id = 0, far = 0] = await makeAffiliates(api, 2);
      await bookDebt(world, id, MOST - 10);
      const answers = await race(() =>
        Promise.all(
          Array.from({ length: 24 }, (_, index) => {
            const sale = { external_id: `sale-${index}`, affiliate_id: id, amount: 1 };
            if (index % 4 === 1) {
              const { external_id, amount } = sale;
              return racer(index).post(`/v2/affiliates/${id}/adjustments`, { external_id, amount });
            }
            if (index % 4 > 1) return racer(index).post(COMMISSIONS, sale);
            const others = { external_id: `other-${index}`, affiliate_id: far, amount: 1 };
            return racer(index).post(`${COMMISSIONS}/batch`, { commissions: [sale, others] });
          }),
        ),
      );
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(10);
      for (const { status, reason } of answers.filter((answer) => answer.status >= 300))
        expect([status, reason]).toEqual(status === 409 ? [409, 'amount_too_large'] : [400, 'invalid_items']);
      const { balance } = (await api.get(`/v2/affiliates/${id}`)).body;
      expect(balance).toMatchObject([{ unpaid: MOST }]);
    }));
});

longRun.test('of two batches that together exceed it, one is accepted', () =>
  inArena(PLAIN, async ({ api, racer, race, world }) => {
    const [id = 0] = await makeAffiliates(api, 1);
    await bookDebt(world, id, MOST - 600 * LARGE);
    const commissions = (batch: number) =>
      Array.from({ length: 400 }, (_, index) => ({
        external_id: `${batch}-${index}`,
        affiliate_id: id,
        amount: LARGE,
      }));
    const answers = await race(() =>
      Promise.all(
        [0, 1].map((batch) => racer(batch).post(`${COMMISSIONS}/batch`, { commissions: commissions(batch) })),
      ),
    );
    expect(tally(answers)).toEqual({ 200: 1, 400: 1 });
  }),
);

test('a commission that was being written while an import filled the balance is refused', () =>
  inArena(PLAIN, async ({ api, world }) => {
    const [id = 0] = await makeAffiliates(api, 1);
    await bookDebt(world, id, MOST - 9007 * LARGE);
    const lines = Array.from({ length: 9007 }, (_, index) => `line-${index},${id},usd,${LARGE / 100}.00`);
    const file = csv('external_id,affiliate_id,currency,amount', ...lines);
    const writing = holdBack(world, 'over up_to_here');
    const importing = api.upload(`${COMMISSIONS}/import`, file);
    await writing.reached;
    const sale = { external_id: 'single', affiliate_id: id, amount: 1, currency: 'usd' };
    const taking = api.post(COMMISSIONS, sale);
    await untilLockWait(world);
    writing.goOn();
    expect((await importing).status).toBe(200);
    expectRefusal(await taking, 409, 'amount_too_large', `affiliate ${id}`, '9007199254740992');
    expect((await api.get(`/v2/affiliates/${id}`)).body.balance).toMatchObject([{ unpaid: MOST }]);
  }));
