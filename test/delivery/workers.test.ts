import { describe, expect, test } from 'vitest';
import { longRun, rounds, someOf } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import {
  deliveryCountErrors,
  type Endpoint,
  holdResponses,
  idsOf,
  type Log,
  onStage,
  type Stage,
} from './support.ts';

const attemptsOf = (log: Log) =>
  log.attempts.map(({ number, error_code }: { number: number; error_code: string | null }) => [
    number,
    error_code ?? 'ok',
  ]);

/** The worker with an attempt of this endpoint in flight appears stalled for longer than its lease. */
async function endLease(stage: Stage, endpoint: Endpoint): Promise<void> {
  await stage.world.query(
    `update queue set due_at = now() - interval '1 second' where endpoint_id = $1 and lease_token is not null`,
    [endpoint.uuid],
  );
}

/** What most tests share, because other settings need other servers: each worker has one attempt in flight. */
const ALONE = {
  delivers: false,
  databaseLatencyMs: 0,
  settings: { DELIVERY_CONCURRENCY: '1' },
};

/** How many events are published together, and as many one by one. */
const EACH = rounds(40, 150);

describe.concurrent('several workers', () => {
  test.each(someOf([2, 4], 1))(
    '(%d of them) share the work, and each event is delivered exactly once everywhere',
    (workers) =>
      onStage({ delivers: false, databaseLatencyMs: 25 }, async (stage) => {
        // a busy machine may stall a worker for longer than it waits for a connection
        stage.world.expectErrors();
        const receivers = await Promise.all([1, 2, 3].map(() => stage.receiver()));
        const endpoints = await Promise.all(receivers.map((receiver) => stage.endpoint(receiver)));
        await Promise.all(Array.from({ length: workers }, () => stage.world.startWorker()));
        await stage.backlog(EACH);
        const events = await stage.publishMany(EACH);
        await Promise.all(receivers.map((receiver) => receiver.until(2 * EACH)));
        for (const endpoint of endpoints) {
          await until('nothing waits', async () => (await stage.queue(endpoint)).length === 0);
        }
        const all = await stage.world.query<{ id: string }>(`select public_id('evt', id) as id from events`);
        expect(all).toHaveLength(2 * EACH);
        expect(events).toHaveLength(EACH);
        for (const { received } of receivers) {
          expect(
            deliveryCountErrors(
              received,
              all.map(({ id }) => id),
            ),
          ).toEqual({});
        }
        // a busy machine may stall a worker until another one takes what it has not sent
        expect(await stage.world.query('select status, count(*)::int from deliveries group by 1')).toEqual([
          { status: 'delivered', count: 3 * 2 * EACH },
        ]);
      }),
  );

  const MOMENTS = [
    ['while the other worker is sending it', false],
    ['after the other worker has delivered it', true],
  ] as const;
  test.each(someOf(MOMENTS, 1))(
    'one that wakes up %s has its result dropped, and its attempt was logged as lost',
    (_, isOver) =>
      onStage(ALONE, async (stage) => {
        const receiver = await stage.receiver();
        const hold = holdResponses(receiver);
        const endpoint = await stage.endpoint(receiver);
        const event = await stage.publish();
        const stalled = await stage.world.startWorker();
        await hold.until(1);
        await endLease(stage, endpoint);
        await stage.world.startWorker();
        await hold.until(2);
        const [first, second] = hold.held;
        const finish = async () => {
          second?.response.end('second');
          await stage.untilLog(endpoint, event, { status: 'delivered' });
        };
        expect(attemptsOf(await stage.log(endpoint, event))).toEqual([[1, 'lost']]);
        if (isOver) await finish();
        first?.response.writeHead(500).end('first');
        await stalled.close(); // it writes its results
        if (!isOver) {
          const log = await stage.log(endpoint, event);
          expect([log.status, attemptsOf(log)]).toEqual(['pending', [[1, 'lost']]]);
          await finish();
        }
        const log = await stage.log(endpoint, event);
        expect(log).toMatchObject({ status: 'delivered', attempt_count: 2, last_error_code: null });
        expect(attemptsOf(log)).toEqual([
          [1, 'lost'],
          [2, 'ok'],
        ]);
        expect(log.attempts[1].response_body).toBe('second');
        expect(idsOf(receiver.received)).toEqual([event, event]);
        expect(await stage.state(endpoint)).toMatchObject({ failures: 0 });
      }),
  );

  test('the first lost attempt in a row uses up nothing of the schedule, later ones do', () =>
    onStage({ delivers: false, settings: { DELIVERY_SCHEDULE: '0s 24h 24h' } }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      const worker = await stage.world.startWorker();
      const lose = async (attempts: number) => {
        await hold.until(attempts);
        await endLease(stage, endpoint);
        await stage.nudge();
        return stage.untilLog(endpoint, event, { attempt_count: attempts });
      };
      await lose(1); // sent again at once
      const again = await lose(2);
      expect(again.attempts[1].error_message).toContain(
        'the lease ended before the worker reported a result',
      );
      expect(await stage.queue(endpoint)).toMatchObject([{ step: 1, leased: false }]);
      expect((await stage.queue(endpoint))[0]?.due_in).toBeGreaterThan(20 * 3600);
      await stage.passTime(endpoint);
      await hold.until(3);
      hold.held[2]?.response.writeHead(500).end(); // so earlier losses no longer count
      await stage.untilLog(endpoint, event, { attempt_count: 3, status: 'pending' });
      await stage.passTime(endpoint);
      await lose(4);
      await lose(5);
      const log = await stage.untilLog(endpoint, event, { attempt_count: 5, status: 'failed' });
      expect(attemptsOf(log)).toEqual([
        [1, 'lost'],
        [2, 'lost'],
        [3, 'response_error'],
        [4, 'lost'],
        [5, 'lost'],
      ]);
      expect(await stage.queue(endpoint)).toEqual([]);
      await worker.close();
    }));
});

describe.concurrent('a worker that is closed', () => {
  test('while attempts hang gives them up, though none of them ends: they are logged as lost and due at once', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const events = await stage.publishMany(3);
      const worker = await stage.world.startWorker();
      await hold.until(3);
      await worker.close();
      const queued = await stage.queue(endpoint);
      expect(queued).toHaveLength(3);
      for (const row of queued) {
        expect(row).toMatchObject({ leased: false, step: 0, trigger: 'scheduled' });
        expect(row.due_in).toBeLessThanOrEqual(0);
      }
      for (const event of events) expect(attemptsOf(await stage.log(endpoint, event))).toEqual([[1, 'lost']]);
      hold.release();
      await stage.world.startWorker();
      for (const event of events) {
        const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
        expect(attemptsOf(log)).toEqual([
          [1, 'lost'],
          [2, 'ok'],
        ]);
      }
    }));

  test('under load has written the result of every attempt, and starts nothing more', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await stage.backlog(400);
      const worker = await stage.world.startWorker();
      await receiver.until(100);
      await worker.close();
      const sent = receiver.received.length;
      expect(await stage.queue(endpoint)).toHaveLength(400 - sent);
      const [row] = await stage.world.query<{ delivered: number }>(
        `select count(*)::int as delivered from deliveries where status = 'delivered'`,
      );
      expect(row?.delivered).toBe(sent);
    }));
});

describe.concurrent('with an unreliable database', () => {
  const MOMENTS = [
    ['right after they were committed', 'deaf'],
    ['before the results are written', 'refusing'],
  ] as const;
  test.each(someOf(MOMENTS, 1))(
    'that is lost %s, nothing is sent twice and every result is in the log',
    (_, how) =>
      onStage(ALONE, async (stage) => {
        const { latency, log } = stage.world;
        if (!latency) throw new Error('the world has latency');
        const receiver = await stage.receiver();
        const hold = holdResponses(receiver);
        const endpoint = await stage.endpoint(receiver);
        const event = await stage.publish();
        await stage.world.startWorker();
        await hold.until(1);
        let settling: object | undefined;
        latency.before = (message, connection) => {
          if (message.includes('settle\0')) settling = connection;
          if (settling !== connection) return undefined; // others write in the background
          if (how === 'refusing') {
            latency.refusing = true;
            latency.cut();
          } else if (message.includes('commit')) {
            latency.deaf = true;
          }
          return undefined;
        };
        hold.release();
        const failures = () =>
          log.filter(({ msg }) => String(msg).startsWith('writing results failed')).length;
        if (how === 'refusing') {
          await until('it was tried again', () => failures() >= 2);
        } else {
          const attempts = () => stage.world.query('select 1 from attempts');
          await until('the results are committed', async () => (await attempts()).length === 1);
          latency.before = undefined;
          latency.cut();
          await until('the worker has noticed', () => failures() >= 1);
        }
        latency.before = undefined;
        latency.refusing = false;
        const record = await stage.untilLog(endpoint, event, { status: 'delivered' });
        expect(attemptsOf(record)).toEqual([[1, 'ok']]);
        // it continues working
        const next = await stage.publish();
        await stage.untilLog(endpoint, next, { status: 'delivered' });
        expect(idsOf(receiver.received)).toEqual([event, next]);
      }),
  );

  test('an event whose notification is lost is found by the poll', () =>
    onStage(ALONE, async (stage) => {
      const { latency } = stage.world;
      if (!latency) throw new Error('the world has latency');
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await stage.world.startWorker();
      const first = await stage.publish();
      await stage.untilLog(endpoint, first, { status: 'delivered' });
      let swallowed = 0;
      latency.before = (message) => {
        if (!message.includes('pg_notify')) return undefined;
        swallowed += 1;
        return new Promise(() => undefined);
      };
      await stage.world.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'payhook listener'`,
      );
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      await until('the notification was dropped', () => swallowed > 0);
      const later = await stage.publish();
      await stage.untilLog(endpoint, later, { status: 'delivered' });
      latency.before = undefined;
      latency.cut();
    }));
});

longRun.describe.concurrent('an idle worker', () => {
  test('looks for deliveries also between two looks for other workers', () =>
    // one process in one cell: a process has a worker for each cell, and counts its own statements
    onStage({ databaseLatencyMs: 0, cell: 0, processes: 1 }, async (stage) => {
      const { latency } = stage.world;
      if (!latency) throw new Error('the world has latency');
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      const seen = { claims: 0, workers: 0 };
      latency.before = (message) => {
        if (message.includes('claim_endpoints\0')) seen.claims += 1;
        if (message.includes('see_workers\0')) seen.workers += 1;
        return undefined;
      };
      await until('a look for other workers', () => seen.workers === 1);
      seen.claims = 0;
      await until('the next one', () => seen.workers === 2);
      // pump.test.ts proves how long it rests in between
      expect(seen.claims).toBeGreaterThan(0);
    }));
});
