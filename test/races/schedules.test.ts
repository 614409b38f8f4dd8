import { describe, expect, test } from 'vitest';
import { keepHouse } from '../support/chores.ts';
import { longRun } from '../support/depth.ts';
import { makeAffiliates, salesFor, sumOf, takeIn } from '../support/seed.ts';
import { ARENAS, currentPayout, GAPS_MS, inArena, PAYOUTS, staggered } from './support.ts';

const SCHEDULES = '/v2/affiliates/payout-schedules';
const MONTHLY = { name: 'monthly', every: 'month', day: 1 };

describe.concurrent.each(ARENAS)('$name', (arena) => {
  test('of ten looks at a due schedule one prepares the payout, and of two schedules one', () =>
    inArena(arena, async ({ api, race, world }) => {
      const sales = salesFor(await makeAffiliates(api, 3), 12);
      await takeIn(api, sales);
      for (const name of ['one', 'two']) {
        expect((await api.post(SCHEDULES, { ...MONTHLY, name })).status).toBe(201);
      }
      await world.query('update payout_schedules set next_on = current_date');
      await race(() => Promise.all(Array.from({ length: 10 }, () => keepHouse(world, 'payout schedules'))));
      expect(await currentPayout(api)).toMatchObject({ amount: sumOf(sales), commission_count: 12 });
      const { body } = await api.get(SCHEDULES);
      const outcomes = body.data.map(({ last_run }: { last_run: { outcome: string } }) => last_run.outcome);
      expect(outcomes.sort()).toEqual(['created', 'refused']);
      expect(await world.query(`select 1 from events where type = 'payout.created'`)).toHaveLength(1);
    }));

  longRun.test(
    'of a schedule and a person at once one creates the payout, and the other is refused with its id',
    () =>
      inArena(arena, async ({ api, racer, race, world }) => {
        const affiliates = await makeAffiliates(api, 2);
        const { body: schedule } = await api.post(SCHEDULES, MONTHLY);
        for (const [round, gap] of GAPS_MS.entries()) {
          await takeIn(api, salesFor(affiliates, 6, `round-${round}`));
          await world.query('update payout_schedules set next_on = current_date');
          const scheduled = () => keepHouse(world, 'payout schedules').then(() => null);
          const create = () => racer(1).post(PAYOUTS);
          const works = round % 2 === 0 ? [scheduled, create] : [create, scheduled];
          const answers = await race(() => staggered(gap, ...works));
          const answer = answers.find((each) => each !== null);
          const { last_run } = (await api.get(`${SCHEDULES}/${schedule.id}`)).body;
          const current = await currentPayout(api);
          expect(current).not.toBeNull();
          if (answer?.status === 201) {
            expect(last_run).toMatchObject({ outcome: 'refused', payout_id: null });
            expect(answer.body.id).toBe(current?.id);
          } else {
            expect([answer?.status, answer?.reason]).toEqual([409, 'current_payout_exists']);
            expect(last_run).toMatchObject({ outcome: 'created', payout_id: current?.id });
          }
          expect((await api.delete(`${PAYOUTS}/${current?.id}`)).status).toBe(204);
          // free commissions are not in the next round
          await api.post(PAYOUTS);
          const { body: rest } = await api.get(`${PAYOUTS}/current`);
          await api.put(`${PAYOUTS}/${rest.id}`, {
            commissions: affiliates.map((affiliate_id) => ({ affiliate_id, is_paid: true })),
          });
        }
      }),
  );
});
