import { describe, expect, test } from 'vitest';
import { type Json, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { recordBefore, withoutTime } from '../support/changes.ts';
import { longRun } from '../support/depth.ts';
import type { World } from '../support/world.ts';
import { ARENAS, inArena, tally } from './support.ts';

const AFFILIATES = '/v2/affiliates';

/** The payloads about a record, in the order of publishing. */
async function eventsAbout(world: World, id: number | string): Promise<Json[]> {
  const found = await world.query<{ payload: string }>(
    `select payload from events where payload::json -> 'data' ->> 'id' = $1 order by id`,
    [String(id)],
  );
  return found.map(({ payload }) => JSON.parse(payload));
}

/** Checks that each event says its record was what the one before it left. */
async function expectChain(world: World, id: number | string, length: number): Promise<void> {
  const events = await eventsAbout(world, id);
  expect(events.length).toBe(length);
  const before = events.slice(1).map((event) => withoutTime(recordBefore(event)));
  expect(before).toEqual(events.slice(0, -1).map(({ data }) => withoutTime(data)));
}

describe.concurrent.each(ARENAS)('$name', (arena) => {
  test('concurrent changes of an affiliate, one of them by a file: each event begins where another ended', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const { id, email } = await makeAffiliate(api, { name_first: 'Ada' });
      // the first two change no field that a payout shows, so they do not lock the books
      const answers = await race(() =>
        Promise.all([
          racer(0).patch(`${AFFILIATES}/${id}`, { metadata: { by: 'first' } }),
          racer(1).patch(`${AFFILIATES}/${id}`, { metadata: { by: 'second' }, slug: 'second' }),
          racer(2).patch(`${AFFILIATES}/${id}`, { name_first: null, metadata: { by: 'third' } }),
          racer(3).upload('/v2/imports?kind=affiliates', `email,slug\n${email},by-file\n`),
        ]),
      );
      expect(tally(answers)).toEqual({ 200: 4 });
      await expectChain(world, id, 5);
    }));

  longRun.test(
    'concurrent refunds in the unpaid payout: the events of the payout and of each commission',
    () =>
      inArena(arena, async ({ api, racer, race, world }) => {
        const { id } = await makeAffiliate(api);
        const sales = [await makeCommission(api, id), await makeCommission(api, id)];
        const payout = await makePayout(api);
        const answers = await race(() =>
          Promise.all(
            Array.from({ length: 6 }, (_, index) =>
              racer(index).post(`${AFFILIATES}/commissions/${sales[index % 2].id}/refund`, {
                external_id: `refund-${index}`,
                amount: 100 + index,
              }),
            ),
          ),
        );
        expect(tally(answers)).toEqual({ 201: 6 });
        await expectChain(world, payout.id, 7);
        for (const sale of sales) {
          const [, ...updates] = await eventsAbout(world, sale.id);
          expect(updates.map(({ changes }) => Object.keys(changes.updated))).toEqual(
            updates.map(() => ['amount', 'refunded_amount']),
          );
          for (const [index, update] of updates.entries())
            if (index > 0) expect(update.changes.updated.amount).toBe(updates[index - 1].data.amount);
        }
      }),
  );
});
