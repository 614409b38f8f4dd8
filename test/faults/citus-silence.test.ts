import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate } from '../api/fixtures.ts';
import { whyNoCitus } from '../support/citus.ts';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

/** A connection is given up when two looks in a row find that PostgreSQL does nothing for it. */
const LOOKS = 3;

// other members of a cluster do not report that they wait for a node: pg_stat_activity shows ClientRead, as for a silent caller
describe.skipIf(!process.env.TEST_CITUS || whyNoCitus !== null)(
  'connections to a cell on a node of a Citus cluster',
  () => {
    let world: World;
    let looks = 0;

    beforeAll(async () => {
      world = await borrowWorld({ databaseLatencyMs: 0, own: true });
      if (!world.latency) throw new Error('no proxy');
      world.latency.before = async (message) => {
        if (message.includes('left join pg_stat_activity')) looks++;
      };
    });
    afterAll(() => world.close());

    /** Locks an affiliate on the node, and sends a request that has to wait for it. */
    const beginWaiting = async () => {
      const { id } = await makeAffiliate(world.api);
      const holder = await world.connect();
      await holder.query('begin');
      await holder.query('select from affiliates where id = $1 for update', [id]);
      looks = 0;
      const answer = world.api.patch(`${AFFILIATES}/${id}`, { name_first: 'Ada' });
      const untilSeen = () =>
        // if it is refused, the answer says why
        Promise.race([
          until('the server to ask PostgreSQL about the connection', () => looks >= LOOKS),
          answer.then(({ text }) => expect(text).toBe('')),
        ]);
      return {
        answer,
        untilSeen,
        async release() {
          await holder.query('commit');
          await holder.end();
        },
      };
    };

    test('one whose statement waits for the node is kept, however long that takes', async () => {
      const { answer, untilSeen, release } = await beginWaiting();
      await untilSeen();
      await release();
      const { status, body } = await answer;
      expect([status, body.name_first]).toEqual([200, 'Ada']);
    });

    test('one that fell silent meanwhile is given up when the node has answered, and the request can be repeated', async () => {
      world.expectErrors();
      const { answer, untilSeen, release } = await beginWaiting();
      await untilSeen();
      world.latency?.silence();
      await release();
      const { status, reason, headers } = await answer;
      expect([status, reason, headers.get('retry-after')]).toEqual([500, 'database_unavailable', '2']);
      await until('a request to be answered', async () => (await world.api.get(AFFILIATES)).status === 200);
    });
  },
);
