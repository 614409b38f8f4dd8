import { describe, expect, test } from 'vitest';
import { longRun, rounds, someOf } from '../support/depth.ts';
import { LEASE_TIMEOUT_MS, mostLeasesInASecond, NOTE_LEASES } from '../support/leases.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type Endpoint, holdResponses, metering, onStage, type Stage } from './support.ts';

/** More than a claim reads. */
const BACKLOG = rounds(600, 2000);
const FIRST_LANE = 4;
const WIDEST_LANE = 64;

/**
 * Extends the moment in which a claim has its snapshot and not yet its locks, so that two workers overlap in it again
 * and again.
 */
async function slowClaims(stage: Stage): Promise<void> {
  await stage.world.query(`alter function new_id() rename to quick_id`);
  await stage.world.query(
    `create function new_id() returns uuid language sql volatile as
       'select quick_id() from pg_sleep(0.03 * random())'`,
  );
}

/** Endpoints that share a receiver, each with its own path. */
async function endpointsOf(stage: Stage, receiver: Receiver, count: number): Promise<Endpoint[]> {
  const endpoints: Endpoint[] = [];
  for (let index = 0; index < count; index++) {
    endpoints.push(await stage.endpoint(`${receiver.url}/${index}`));
  }
  return endpoints;
}

function countByPath(requests: readonly Received[]): number[] {
  const counts = new Map<string, number>();
  for (const { path } of requests) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts.values()];
}

const waitingAt = async (stage: Stage, endpoint: Endpoint) => (await stage.queue(endpoint)).length;

describe.concurrent('over two workers', () => {
  longRun.test(
    'an endpoint with a rate limit of 10 gets no more than that in any second, except for a small burst',
    () =>
      onStage(
        // its own world: a trigger records the leases
        { delivers: false, own: true, settings: { DELIVERY_TIMEOUT_MS: String(LEASE_TIMEOUT_MS) } },
        async (stage) => {
          for (const statement of NOTE_LEASES) await stage.world.query(statement);
          const receiver = await stage.receiver();
          const { uuid } = await stage.endpoint(receiver, { rate_limit: 10 });
          await stage.backlog(35);
          await Promise.all([stage.world.startWorker(), stage.world.startWorker()]);
          await receiver.until(35);
          const [leases] = await stage.world.query<{ most: number }>(mostLeasesInASecond(uuid));
          expect(leases?.most).toBeLessThanOrEqual(15);
        },
      ),
  );

  longRun.test('a hanging endpoint has no more than its lane of four in flight', () =>
    // its own world: a function of the database slows claims
    onStage({ delivers: false, own: true }, async (stage) => {
      const [hanging, healthy] = [await stage.receiver(), await stage.receiver()];
      const hold = holdResponses(hanging);
      const endpoints = await endpointsOf(stage, hanging, 12);
      await stage.endpoint(healthy, { event_types: ['looked.*'] });
      await slowClaims(stage);
      await Promise.all([stage.world.startWorker(), stage.world.startWorker()]);
      await stage.backlog(20);
      await hold.until(endpoints.length * FIRST_LANE);
      // by their arrival each claimer has seen the others' backlogs again
      for (const round of [1, 2, 3, 4, 5]) {
        await stage.publish('looked.around');
        await healthy.until(round);
      }
      expect(countByPath(hanging.received)).toEqual(Array(12).fill(FIRST_LANE));
      hold.release();
    }),
  );

  test('an endpoint that answers well gets a wider lane, 64 at most', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      const meter = metering(receiver, { answerMs: 40 });
      const endpoint = await stage.endpoint(receiver);
      await stage.backlog(1500);
      await Promise.all([stage.world.startWorker(), stage.world.startWorker()]);
      await receiver.until(1500);
      expect(meter.most).toBeGreaterThan(WIDEST_LANE / 2);
      expect(meter.most).toBeLessThanOrEqual(WIDEST_LANE);
      expect((await stage.state(endpoint)).lane).toBe(WIDEST_LANE);
      await until('all are delivered', async () => (await waitingAt(stage, endpoint)) === 0);
      expect(receiver.received).toHaveLength(1500);
    }));

  test('a failing endpoint gets a narrow lane: one at a time', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      await stage.backlog(200);
      await Promise.all([stage.world.startWorker(), stage.world.startWorker()]);
      await until('the lane is narrow', async () => (await stage.state(endpoint)).lane === 1);
      // earlier claims are over when the next thirty have arrived
      await receiver.until(receiver.received.length + 30);
      const meter = metering(receiver, { status: 500 });
      await receiver.until(receiver.received.length + FIRST_LANE);
      expect(meter.most).toBe(1);
    }));
});

describe.concurrent('isolation', () => {
  test('twenty endpoints with backlogs share four places evenly', () =>
    onStage({ delivers: false, settings: { DELIVERY_CONCURRENCY: '4' } }, async (stage) => {
      const receiver = await stage.receiver();
      await endpointsOf(stage, receiver, 20);
      await stage.backlog(15);
      await stage.world.startWorker();
      await receiver.until(300);
      for (const length of [100, 200]) {
        const counts = countByPath(receiver.received.slice(0, length));
        expect(counts, `after ${length}`).toHaveLength(20);
        // the last one of a round may get the remaining places
        expect(Math.max(...counts), `after ${length}: ${counts}`).toBeLessThanOrEqual(
          1.5 * Math.min(...counts) + 4,
        );
      }
    }));

  longRun.test('more waiting endpoints than one claim reads all get served', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      // more than one account may have
      for (const name of ['first', 'second', 'third']) {
        const account = await stage.world.otherAccount(name);
        for (let first = 0; first < 170; first += 10) {
          const numbers = Array.from({ length: 10 }, (_, index) => first + index);
          await Promise.all(
            numbers.map((number) => stage.endpoint(`${receiver.url}/${name}/${number}`, {}, account)),
          );
        }
      }
      await stage.world.query(`update endpoint_state set may_start_at = now() + interval '1 day'`);
      await stage.endpoint(`${receiver.url}/last`);
      await stage.backlog(2);
      await stage.world.startWorker();
      await receiver.until(2);
      expect(receiver.received.map(({ path }) => path)).toEqual(['/hook/last', '/hook/last']);
      await stage.world.query('update endpoint_state set may_start_at = now()');
      await receiver.until(1022);
      expect(countByPath(receiver.received)).toEqual(Array(511).fill(2));
    }),
  );

  test('full lanes and a deep backlog do not delay the endpoints behind them', () =>
    onStage({ delivers: false }, async (stage) => {
      const [hanging, receiver] = [await stage.receiver(), await stage.receiver()];
      holdResponses(hanging);
      const hang = (count: number) =>
        Promise.all(
          Array.from({ length: count }, () => stage.endpoint(hanging, { event_types: ['hang.*'] })),
        );
      await hang(20);
      await stage.endpoint(`${receiver.url}/deep`);
      await hang(20);
      await stage.endpoint(`${receiver.url}/behind`, { event_types: ['last.*'] });
      await stage.world.query(`update endpoint_state set lane = 1`);
      await stage.world.query(
        `update endpoint_state s set lane = 64 from webhook_endpoints e where e.id = s.endpoint_id and e.url like '%/deep'`,
      );
      await stage.backlog(20, 'hang.on');
      await stage.backlog(rounds(1000, 3000));
      await stage.backlog(1, 'last.one');
      await stage.world.startWorker();
      const paths = () => receiver.received.map(({ path }) => path);
      await until('the endpoints behind it are served', async () => paths().includes('/hook/behind'));
      expect(paths().indexOf('/hook/behind')).toBeLessThan(500);
    }));

  test.each(someOf(['hangs', 'refuses connections'], 1))(
    'an endpoint that %s, with a long backlog, does not block others',
    (how) =>
      onStage({ delivers: false, settings: { DELIVERY_CONCURRENCY: '16' } }, async (stage) => {
        const [dead, healthy] = [await stage.receiver(), await stage.receiver()];
        holdResponses(dead);
        const broken = await stage.endpoint(dead, { event_types: ['order.*', 'old.*'] });
        if (how !== 'hangs') await dead.close();
        await stage.backlog(BACKLOG, 'old.created');
        const others = await endpointsOf(stage, healthy, 5);
        await stage.world.startWorker();
        await stage.backlog(40);
        await healthy.until(200);
        for (const other of others) {
          await until('all is delivered there', async () => (await waitingAt(stage, other)) === 0);
        }
        const [left] = await stage.world.query<{ count: string }>(
          'select count(*) from queue where endpoint_id = $1',
          [broken.uuid],
        );
        expect(Number(left?.count)).toBe(BACKLOG + 40);
        if (how === 'hangs') expect(dead.received.length).toBeLessThanOrEqual(FIRST_LANE);
      }),
  );

  longRun.test(
    'of ten endpoints one hangs: the nine have all their events before its first attempts are over',
    () =>
      onStage({}, async (stage) => {
        const [hanging, healthy] = [await stage.receiver(), await stage.receiver()];
        const hold = holdResponses(hanging);
        const tenth = await stage.endpoint(hanging);
        const nine = await endpointsOf(stage, healthy, 9);
        const events = await stage.publishMany(40);
        for (const endpoint of nine) {
          await until('all is delivered there', async () => (await waitingAt(stage, endpoint)) === 0);
        }
        expect(healthy.received).toHaveLength(9 * events.length);
        // none of its attempts has ended, and the maximum is in flight
        const attempts = await stage.world.query('select 1 from attempts where endpoint_id = $1', [
          tenth.uuid,
        ]);
        expect(attempts).toEqual([]);
        expect(hold.held).toHaveLength(FIRST_LANE);
        hold.release();
        await until('the tenth has its events too', async () => (await waitingAt(stage, tenth)) === 0);
      }),
  );
});
