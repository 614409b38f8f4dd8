import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import sql from 'sql-template-tag';
import { describe, expect, test } from 'vitest';
import { oneRow } from '../../src/db/database.ts';
import type { AccountId } from '../../src/kernel/ids.ts';
import type { EventType } from '../../src/outbox/event-types.ts';
import { publishEach } from '../../src/outbox/queue.ts';
import { type Claim, claim } from '../../src/webhooks/engine/claim.ts';
import { startPositioning } from '../../src/webhooks/engine/positioning.ts';
import { isOnNode } from '../support/cell-of-file.ts';
import { onSignal } from '../support/signals.ts';
import { until } from '../support/wire.ts';
import { type Endpoint, onStage, type Stage } from './support.ts';

const DEAD = 5000;
/** What a look that begins at positions may read, however many rows are dead. */
const FEW_ENTRIES = 100;
const LEASE_MS = 30_000;
/** A claim counts the index entries that it read with a counter of PostgreSQL, which on a node of Citus is not the one of the table. */
const withPositions = test.skipIf(isOnNode());
const quiet = { delivers: false, own: true } as const;

/** Takes a snapshot that sees all rows as they are now, and keeps it until `release` or, without a real worker, `end` is called. */
async function holdSnapshot({ world }: Stage) {
  const client = await world.connect();
  await client.query('begin isolation level repeatable read read only');
  await client.query('select 1');
  return {
    release: () => client.end(),
    async end() {
      await client.end();
      // the looks settled nothing: the log goes with the queue
      await world.query(
        'truncate events, deliveries, attempts, queue, delivery_counts, delivery_count_deltas, workers',
      );
    },
  };
}

/** Leaves dead rows of deliveries that were published, leased and settled: each step is a transaction. */
async function leaveDead({ world }: Stage, ...endpoints: Endpoint[]) {
  const those = endpoints.map(({ uuid }) => uuid);
  const off = `update webhook_endpoints set disabled_at = $2, disabled_reason = $3 where id = any($1)`;
  await world.query(off, [those, '2026-01-01', 'manual']);
  await world.query(
    `insert into queue (account_id, endpoint_id, event_id, generation, due_at)
     select account_id, id, new_id(), resumptions, now() - interval '5 minutes' from webhook_endpoints
     cross join generate_series(1, $2::int) where id = any($1)`,
    [those, DEAD / 2],
  );
  await world.query(
    `update queue set due_at = now() + interval '20 seconds', lease_token = $2 where endpoint_id = any($1)`,
    [those, randomUUID()],
  );
  await world.query('delete from queue where endpoint_id = any($1)', [those]);
  await world.query(off, [those, null, null]);
}

/** A worker that looks when the test calls it. */
function stepperOf({ world }: Stage, worker: number) {
  const { db } = world;
  const positions = startPositioning(db);
  const entries = sql`select pg_stat_get_xact_tuples_returned('queue_due'::regclass)::int as n`;
  return {
    positions,
    /** Claims once; returns how many index entries that read, and how many deliveries it took. */
    async look(): Promise<{ read: number; taken: number }> {
      const begunAt = performance.now();
      let made: Claim | undefined;
      const read = await db.engine(async (tx) => {
        const before = await oneRow<{ n: number }>(tx, entries);
        made = await claim(tx, {
          worker,
          slots: 200,
          leaseMs: LEASE_MS,
          from: null,
          positions: positions.json(),
        });
        return (await oneRow<{ n: number }>(tx, entries)).n - before.n;
      });
      const { deliveries } = made as Claim;
      await positions.note(made as Claim, begunAt);
      return { read, taken: deliveries.length };
    },
  };
}

const registerWorkers = ({ world }: Stage, count: number) =>
  world.query(
    `insert into workers (number, name, lease_ms) select n, 'worker ' || n, $2 from generate_series(1, $1::int) n`,
    [count, LEASE_MS],
  );

/** As a settle does. */
const settleAll = ({ world }: Stage, { uuid }: Endpoint) =>
  world.query('delete from queue where endpoint_id = $1 and lease_token is not null', [uuid]);

/** An endpoint with dead rows before its deliveries that an old snapshot keeps. */
const behindDeadRows = (work: (stage: Stage, endpoint: Endpoint) => Promise<void>) =>
  onStage(quiet, async (stage) => {
    const endpoint = await stage.endpoint('http://127.0.0.1:9/');
    const snapshot = await holdSnapshot(stage);
    await leaveDead(stage, endpoint);
    await work(stage, endpoint);
    await snapshot.end();
  });

describe.concurrent('while an old snapshot keeps dead rows in the queue', () => {
  withPositions(
    'the first look reads them, and later ones read a few entries, also at an endpoint without new events',
    () =>
      onStage(quiet, async (stage) => {
        const busy = await stage.endpoint('http://127.0.0.1:9/busy');
        const gone = await stage.endpoint('http://127.0.0.1:9/gone', { event_types: ['other.*'] });
        await registerWorkers(stage, 1);
        const snapshot = await holdSnapshot(stage);
        await leaveDead(stage, busy, gone);
        const { look, positions } = stepperOf(stage, 1);
        expect((await look()).read).toBeGreaterThanOrEqual(2 * DEAD);
        expect(JSON.parse(positions.json())).toHaveLength(2);
        // the position of an endpoint's leases is set when something is claimed there
        await stage.publish();
        expect((await look()).taken).toBe(1);
        await settleAll(stage, busy);
        for (let round = 0; round < 5; round += 1) {
          await stage.publishMany(2);
          const { read, taken } = await look();
          expect(taken).toBe(2);
          expect(read).toBeLessThan(FEW_ENTRIES);
          await settleAll(stage, busy);
        }
        await snapshot.end();
      }),
  );

  test('held deliveries are claimed when their endpoint is enabled, failed ones when retried by hand, and at once what fails after its endpoint was enabled again', () =>
    behindDeadRows(async (stage, endpoint) => {
      const { look } = stepperOf(stage, 1);
      await look();
      await stage.change(endpoint, { status: 'disabled' });
      const [event = ''] = await stage.publishMany(3);
      expect((await look()).taken).toBe(0);
      await stage.change(endpoint, { status: 'enabled' });
      expect(await look()).toMatchObject({ taken: 3 });
      await settleAll(stage, endpoint);
      expect((await look()).taken).toBe(0);
      expect(await stage.retry(endpoint, event)).toBe(200);
      expect(await look()).toMatchObject({ taken: 1 });
      await settleAll(stage, endpoint);

      await stage.publish();
      expect((await look()).taken).toBe(1);
      await stage.change(endpoint, { status: 'disabled' });
      await stage.change(endpoint, { status: 'enabled' });
      expect((await look()).taken).toBe(0);
      // like a settle that begins now
      await stage.world.query(
        `update queue set lease_token = null, due_at = now() + interval '5 seconds', step = 1 where endpoint_id = $1`,
        [endpoint.uuid],
      );
      expect((await look()).taken).toBe(1);
      await settleAll(stage, endpoint);
    }));

  withPositions('a lane holds across workers: leases of another worker count', () =>
    behindDeadRows(async (stage, endpoint) => {
      await registerWorkers(stage, 2);
      const [one, two] = [stepperOf(stage, 1), stepperOf(stage, 2)];
      for (const { look } of [one, two]) {
        await look();
        await stage.publish();
        expect((await look()).taken).toBe(1);
        await settleAll(stage, endpoint);
      }
      expect(JSON.parse(one.positions.json())[0].leased_from).toMatch(/^\d{4}-/);
      await stage.publishMany(9);
      expect((await one.look()).taken).toBe(4);
      expect((await two.look()).taken).toBe(0);
      await stage.world.query(
        `delete from queue where ctid in (select ctid from queue where lease_token is not null limit 3)`,
      );
      expect((await two.look()).taken).toBe(3);
      expect((await one.look()).taken).toBe(0);
    }),
  );

  withPositions(
    'a transaction that began earlier and commits now is found once it has announced how long it lasted',
    () =>
      behindDeadRows(async (stage, endpoint) => {
        const { look, positions } = stepperOf(stage, 1);
        await look();
        const ages: number[] = [];
        const stop = stage.world.db.onAnnounced((ageMs) => void ages.push(ageMs));
        await publishLate(stage, async (begunAt) => {
          // the position follows the looks
          await until('the position is later', async () => {
            await look();
            return Date.parse(JSON.parse(positions.json())[0].due_at) > begunAt;
          });
        });
        stop();
        expect((await look()).taken).toBe(0);
        positions.noteLate(ages[0] ?? 0);
        expect((await look()).taken).toBe(1);
        await settleAll(stage, endpoint);
        expect((await look()).taken).toBe(0);
      }),
  );

  test('a worker delivers the events of such a transaction', () =>
    onStage({ own: true }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const snapshot = await holdSnapshot(stage);
      await leaveDead(stage, endpoint);
      await publishLate(stage, async () => {
        let looks = 0;
        const listener = () => {
          looks += 1;
        };
        subscribe('payhook.claimed', listener);
        // they are half a second apart
        await onSignal(stage.world, 'claimed', 'looks', () => looks >= 4);
        unsubscribe('payhook.claimed', listener);
      });
      // at once, and not a minute later when the position is recomputed
      const [request] = await receiver.until(1);
      expect(JSON.parse(request?.body ?? '{}').type).toBe('order.late');
      await snapshot.release();
    }));
});

/** Publishes in a transaction that did something else before; its events get its start time. */
async function publishLate({ world }: Stage, before: (begunAt: number) => Promise<void>) {
  const [{ id: account } = { id: '' as never }] = await world.query<{ id: AccountId }>(
    'select id from accounts',
  );
  await world.db.transaction(async (tx) => {
    const { now } = await oneRow<{ now: string }>(tx, sql`select now() as now`);
    await before(Date.parse(now));
    await publishEach(tx, {
      account,
      type: 'order.late' as EventType,
      records: sql`select '{"number":1}' as data`,
    });
  });
}
