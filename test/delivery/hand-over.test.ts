import { describe, expect, test } from 'vitest';
import { longRun, rounds } from '../support/depth.ts';
import { countOfProcesses } from '../support/processes.ts';
import { until } from '../support/wire.ts';
import {
  deliveryCountErrors,
  type Endpoint,
  holdResponses,
  idsOf,
  metering,
  onStage,
  type Stage,
} from './support.ts';

/** For tests about a sole worker, which locks no lane, and about workers that a test starts and counts. */
const ALONE = { processes: 1 };

/** Workers that registered and hold their lock of life. */
const workersOf = ({ world }: Stage) => world.query<{ number: number }>('select number from workers');

const registered = (stage: Stage, count = countOfProcesses()) =>
  until(`${count} workers to be registered`, async () => (await workersOf(stage)).length === count);

/** Prevents claims at an endpoint until `end` is called: claims skip what others have locked. */
async function withoutClaims(stage: Stage, endpoint: Endpoint) {
  const client = await stage.world.connect();
  client.on('error', () => undefined); // a failed test closes its world, and this connection with it
  await client.query('begin');
  await client.query('select from endpoint_state where endpoint_id = $1 for update', [endpoint.uuid]);
  return {
    async end() {
      await client.query('rollback');
      await client.end();
    },
  };
}

/** The worker named in each lease of an endpoint. */
const leasedBy = (stage: Stage, { uuid }: Endpoint) =>
  stage.world.query<{ worker: number | null }>(
    'select lease_worker(lease_token) as worker from queue where endpoint_id = $1 order by event_id',
    [uuid],
  );

describe.concurrent('an event published in the process that delivers', () => {
  test('begins leased to it, and is sent without a claim', () =>
    onStage(ALONE, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await registered(stage, 1);
      const { hold, lock, event } = await until('an event begins leased', async () => {
        const hold = holdResponses(receiver);
        const lock = await withoutClaims(stage, endpoint);
        const event = await stage.publish();
        const [lease] = await leasedBy(stage, endpoint);
        if (lease?.worker) return { hold, lock, event };
        // the worker was just looking for work: this event waits for a claim
        await lock.end();
        await stage.nudge();
        await hold.until(1);
        hold.release();
        await stage.untilLog(endpoint, event, { status: 'delivered' });
        return undefined;
      });
      await hold.until(1);
      expect(await leasedBy(stage, endpoint)).toEqual([{ worker: (await workersOf(stage))[0]?.number }]);
      await lock.end();
      hold.release();
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(log.attempts).toHaveLength(1);
      expect(log.attempts[0]).toMatchObject({ trigger: 'scheduled', error_code: null });
      await until('nothing waits', async () => (await stage.queue(endpoint)).length === 0);
    }));

  longRun.test('begins leased to it too while another worker exists', () =>
    onStage(ALONE, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      await registered(stage, 1);
      const [own] = await workersOf(stage);
      const other = await stage.world.startWorker();
      await registered(stage, 2);
      // the endpoint of this world is not locked, but the other worker may be looking for work at that moment
      await until('an event begins leased', async () => {
        const event = await stage.publish();
        const leases = await leasedBy(stage, endpoint);
        hold.release();
        await stage.untilLog(endpoint, event, { status: 'delivered' });
        return leases.some(({ worker }) => worker === own?.number);
      });
      await other.close();
    }),
  );

  test('waits for a claim while another worker has locked the endpoint', () =>
    onStage({}, async (stage) => {
      const endpoint = await stage.endpoint(await stage.receiver());
      await registered(stage);
      const other = await stage.world.startWorker();
      await registered(stage, countOfProcesses() + 1);
      const lock = await withoutClaims(stage, endpoint);
      const event = await stage.publish();
      expect(await leasedBy(stage, endpoint)).toEqual([{ worker: null }]);
      await lock.end();
      await stage.nudge();
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      await other.close();
    }));

  longRun.test('never takes more places than the lane has, however many are published at once', () =>
    onStage({}, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      await registered(stage);
      const events = await stage.publishMany(30);
      await hold.until(4);
      await stage.publishMany(5);
      const leased = (await stage.queue(endpoint)).filter((row) => row.leased);
      expect([hold.held.length, leased.length]).toEqual([4, 4]);
      hold.release();
      for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
    }),
  );

  test('in a batch: the lane is filled at once, and the rest follows', () =>
    onStage(ALONE, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      await registered(stage, 1);
      const { events, lock } = await until('a batch begins leased', async () => {
        const lock = await withoutClaims(stage, endpoint);
        const body = {
          events: Array.from({ length: 10 }, (_, n) => ({ type: 'order.created', data: { n } })),
        };
        const answer = await stage.api.post('/v2/events/batch', body);
        expect(answer.status, answer.text).toBe(200);
        const events: string[] = answer.body.items.map((item: { event: { id: string } }) => item.event.id);
        const leased = (await leasedBy(stage, endpoint)).filter(({ worker }) => worker !== null);
        if (leased.length === 4) return { events, lock };
        // the worker was just looking for work, or at work: this batch waits for a claim
        await lock.end();
        await stage.nudge();
        hold.release();
        for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
        // it has grown
        await stage.world.query('update endpoint_state set lane = 4 where endpoint_id = $1', [endpoint.uuid]);
        receiver.respond((request, response) => void hold.held.push({ request, response }));
        return undefined;
      });
      await hold.until(4);
      const leases = await leasedBy(stage, endpoint);
      expect(leases.map(({ worker }) => worker !== null)).toEqual([
        ...Array(4).fill(true),
        ...Array(6).fill(false),
      ]);
      await lock.end();
      hold.release();
      for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(deliveryCountErrors(receiver.received, idsOf(receiver.received))).toEqual({});
    }));

  longRun.test('costs no more where thousands of deliveries wait for their next attempt', () =>
    onStage({}, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await registered(stage);
      const lock = await withoutClaims(stage, endpoint);
      await stage.backlog(3000);
      for (const [table, column] of [
        ['queue', 'due_at'],
        ['deliveries', 'next_attempt_at'],
      ]) {
        await stage.world.query(
          `update ${table} set ${column} = date_trunc('day', now()) + interval '2 days'
           ${table === 'queue' ? ', step = 1' : ''}`,
        );
      }
      await lock.end();
      const walked = async () => {
        const [row] = await stage.world.query<{ looks: number; entries: number }>(
          `select idx_scan::int as looks, idx_tup_read::int as entries from pg_stat_user_indexes
           where indexrelname = 'queue_due'`,
        );
        return { looks: row?.looks ?? 0, entries: row?.entries ?? 0 };
      };
      let published = 0;
      // 3,000 per look if they were read. Entries of moved rows are removed once no snapshot needs them.
      await until('a look to read few of them', async () => {
        const before = await walked();
        for (let count = 1; count <= 5; count += 1) await stage.publish();
        published += 5;
        await receiver.until(published);
        await until('the looks were counted', async () => (await walked()).looks >= before.looks + 10);
        const after = await walked();
        return after.entries - before.entries < 1000 * (after.looks - before.looks);
      });
    }),
  );

  test.each([
    ['has a rate limit', { rate_limit: 1000 }],
    ['is disabled', { status: 'disabled' }],
  ])('is left to a claim where the endpoint %s', (_, fields) =>
    onStage({}, async (stage) => {
      const endpoint = await stage.endpoint(await stage.receiver());
      await stage.change(endpoint, fields);
      await registered(stage);
      const lock = await withoutClaims(stage, endpoint);
      await stage.publish();
      expect(await leasedBy(stage, endpoint)).toEqual([{ worker: null }]);
      await lock.end();
    }),
  );

  test.each([
    [
      'asked for a pause',
      `update endpoint_state set may_start_at = now() + interval '1 hour' where endpoint_id = $1`,
    ],
    [
      'has others waiting that are due',
      `insert into queue (account_id, endpoint_id, event_id, generation, due_at)
       select account_id, id, new_id(), resumptions, now() + interval '1 second' from webhook_endpoints where id = $1`,
    ],
  ])('is left to a claim where the endpoint %s', (_, statement) =>
    onStage({}, async (stage) => {
      const endpoint = await stage.endpoint(await stage.receiver());
      await registered(stage);
      const client = await stage.world.connect();
      await client.query('begin');
      await client.query(statement, [endpoint.uuid]);
      await client.query('select from endpoint_state where endpoint_id = $1 for update', [endpoint.uuid]);
      await client.query('commit; begin');
      await client.query('select from endpoint_state where endpoint_id = $1 for update', [endpoint.uuid]);
      // the waiting deliveries become due only now: between the two transactions a claim would have taken them
      await stage.world.query('update queue set due_at = now() where endpoint_id = $1', [endpoint.uuid]);
      await stage.publish();
      expect((await leasedBy(stage, endpoint)).filter(({ worker }) => worker !== null)).toEqual([]);
      await client.query(
        `delete from queue where endpoint_id = $1 and event_id not in (select id from events)`,
        [endpoint.uuid],
      );
      await client.query('commit');
      await client.end();
    }),
  );

  test('is sent once to each of many endpoints, with their own headers, secrets and URL', () =>
    onStage({}, async (stage) => {
      const receivers = await Promise.all(Array.from({ length: 12 }, () => stage.receiver()));
      const endpoints = await Promise.all(
        receivers.map((receiver, index) =>
          stage.endpoint(receiver, { headers: { 'x-own': `value ${index}` } }),
        ),
      );
      await registered(stage);
      const events = await stage.publishMany(20);
      for (const [index, receiver] of receivers.entries()) {
        await receiver.until(20);
        expect(deliveryCountErrors(receiver.received, events)).toEqual({});
        expect(receiver.received.every(({ headers }) => headers['x-own'] === `value ${index}`)).toBe(true);
      }
      for (const endpoint of endpoints) {
        await until('nothing waits', async () => (await stage.queue(endpoint)).length === 0);
      }
    }));
});

describe('lanes of three processes that publish and deliver', () => {
  longRun.test('hold while workers start and stop', () =>
    onStage({ databaseLatencyMs: 5, ...ALONE }, async (stage) => {
      const receiver = await stage.receiver();
      const meter = metering(receiver, { answerMs: 40, status: 500 }); // a lane that narrows to one
      const endpoint = await stage.endpoint(receiver);
      await registered(stage, 1);
      const events = await stage.publishMany(20);
      await until('the lane is one', async () => (await stage.state(endpoint)).lane === 1);
      await until('nothing is leased', async () =>
        (await stage.queue(endpoint)).every(({ leased }) => !leased),
      );
      meter.most = 0;
      const publishing = Array.from({ length: 4 }, async () => {
        for (let count = 0; count < 25; count += 1) events.push(await stage.publish());
      });
      const [one, two] = [await stage.world.startWorker(), await stage.world.startWorker()];
      await registered(stage, 3);
      await one?.close();
      await two?.close();
      await Promise.all(publishing);
      await until('60 events to come', () => new Set(idsOf(receiver.received)).size >= 60);
      expect(meter.most).toBe(1);
      await stage.change(endpoint, { status: 'disabled' });
    }),
  );

  const EACH = rounds(6, 15);
  test('hold while all of them publish at once', () =>
    onStage({ databaseLatencyMs: 5, ...ALONE }, async (stage) => {
      const receiver = await stage.receiver();
      const meter = metering(receiver, { answerMs: 40, status: 500 }); // a lane that narrows to one
      const endpoint = await stage.endpoint(receiver);
      const servers = [await stage.world.secondServer(), await stage.world.secondServer()];
      await registered(stage, 3);
      await stage.publishMany(20);
      await until('the lane is one', async () => (await stage.state(endpoint)).lane === 1);
      await until('nothing is leased', async () =>
        (await stage.queue(endpoint)).every(({ leased }) => !leased),
      );
      meter.most = 0;
      await Promise.all(
        [stage.api, ...servers.map(({ api }) => api)].map(async (api) => {
          for (let count = 0; count < EACH; count += 1) {
            const answer = await api.post('/v2/events', { type: 'order.created', data: {} });
            expect(answer.status, answer.text).toBe(201);
          }
        }),
      );
      await until('most events to come', () => new Set(idsOf(receiver.received)).size >= 15 + 3 * EACH);
      expect(meter.most).toBe(1);
      await stage.change(endpoint, { status: 'disabled' });
      for (const server of servers) await server.close();
    }));
});
