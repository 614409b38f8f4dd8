import { describe, expect, test } from 'vitest';
import { EVENTS } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { waitingForLocks } from '../support/held.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { ARENAS, inArena } from './support.ts';

const POLL = `${EVENTS}?sort=created_at`;
const idsOf = async (api: Api, path: string): Promise<string[]> =>
  (await api.get(path)).body.data.map(({ id }: { id: string }) => id);

const publish = async (api: Api, fields: object = {}): Promise<string> => {
  const { status, text, body } = await api.post(EVENTS, { type: 'order.created', data: {}, ...fields });
  expect(status, text).toBe(201);
  return body.id;
};

const waitsForLock = async (world: World) =>
  (await waitingForLocks(world)).some((statement) => statement.includes('event_keys'));

describe.each(ARENAS)('a program that reads the published events oldest first, $name', (arena) => {
  test('gets no event while an older one is still to be committed, and then both in order', () =>
    inArena(arena, async ({ world, racer }) => {
      const api = racer(0);
      const before = await publish(api);
      const account = (await api.get('/v2/account')).body.id.slice(4);
      const holder = await world.connect();
      await holder.query('begin');
      await holder.query(
        `insert into event_keys (account_id, external_id, event_id, request_hash) values ($1, 'held', new_id(), '')`,
        [account],
      );
      const publishing = api.post(`${EVENTS}/batch`, {
        events: [{ type: 'order.created', data: {}, external_id: 'held' }],
      });
      await until('the older event to wait', () => waitsForLock(world));
      const younger = await publish(racer(1));
      const meanwhile = [
        await idsOf(api, POLL),
        await idsOf(racer(1), `${EVENTS}?sort=id`),
        await idsOf(api, EVENTS),
      ];
      await holder.query('rollback');
      await holder.end();
      const older = (await publishing).body.items[0].event.id;
      expect(meanwhile).toEqual([[before], [before], [younger, before]]);
      expect(older < younger).toBe(true);
      expect(await idsOf(api, POLL)).toEqual([before, older, younger]);
    }));
});
