import { describe, expect, test } from 'vitest';
import { longRun, someOf } from '../support/depth.ts';
import { holdBack } from '../support/held.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { until } from '../support/wire.ts';
import { untilIdle } from './recoveries-support.ts';
import { type Endpoint, holdResponses, idsOf, onStage, type Stage, uuidOf } from './support.ts';

const options = { settings: { DELIVERY_SCHEDULE: '0s 24h' }, databaseLatencyMs: 1 };
const HOUR_MS = 3_600_000;
/** The statement that looks for what is too old. */
const SWEEP = 'judged_until as after';

/** Lets events that were published two hours ago wait for an endpoint, due at this moment; returns their ids. */
async function waitingSinceLong(stage: Stage, endpoint: Endpoint, count: number): Promise<string[]> {
  const { id: account } = (await stage.api.get('/v2/account')).body;
  const events = Array.from({ length: count }, () => eventIdAt(Date.now() - 2 * HOUR_MS));
  const past = events.map((event) => ({ endpoint: endpoint.uuid, event, status: 'pending' as const }));
  await putIn(stage.world, uuidOf(account), past);
  return events.map((event) => `evt_${event.replaceAll('-', '')}`);
}

/** The number of events of an endpoint's log by status, as the lists and the analytics count them. */
async function counts(stage: Stage, endpoint: Endpoint): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const status of ['pending', 'held', 'delivered', 'failed', 'cancelled']) {
    const { body } = await stage.api.get(`${endpoint.path}/events?status=${status}&per_page=1`);
    if (body.pagination.total > 0) found[status] = body.pagination.total;
  }
  return found;
}

async function untilCounts(stage: Stage, endpoint: Endpoint, expected: Record<string, number>) {
  let seen: Record<string, number> = {};
  await until(`the log to have ${JSON.stringify(expected)}`, async () => {
    seen = await counts(stage, endpoint);
    return JSON.stringify(seen) === JSON.stringify(expected);
  }).catch((error: Error) => {
    throw new Error(`${error.message}; it has ${JSON.stringify(seen)}`);
  });
}

const publishUnder = async (stage: Stage, key: string): Promise<string> =>
  (await stage.api.post('/v2/events', { type: 'order.created', data: {}, ordering_key: key })).body.id;

describe.concurrent('an endpoint with a max_age', () => {
  test('gets no event that is older: what is held is cancelled, and a retry by hand sends it', () =>
    onStage(options, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { max_age: 3600, status: 'disabled' });
      const [old] = await waitingSinceLong(stage, endpoint, 3);
      const fresh = await stage.publishMany(2);
      await untilCounts(stage, endpoint, { held: 2, cancelled: 3 });
      expect(await stage.log(endpoint, String(old))).toMatchObject({
        ...{ status: 'cancelled', attempt_count: 0, last_error_code: 'expired', next_attempt_at: null },
      });
      await stage.change(endpoint, { status: 'enabled' });
      await untilCounts(stage, endpoint, { delivered: 2, cancelled: 3 });
      expect(idsOf(receiver.received).toSorted()).toEqual(fresh.toSorted());
      expect(await stage.retry(endpoint, String(old))).toBe(200);
      await untilCounts(stage, endpoint, { delivered: 3, cancelled: 2 });
    }));

  test('gets none either that a worker takes before it is found, and a new max_age applies to what waits', () =>
    onStage(options, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { status: 'disabled' });
      const search = holdBack(stage.world, SWEEP);
      await waitingSinceLong(stage, endpoint, 30);
      const fresh = await stage.publish();
      await stage.change(endpoint, { max_age: 3600, status: 'enabled' });
      await untilCounts(stage, endpoint, { delivered: 1, cancelled: 30 });
      expect(idsOf(receiver.received)).toEqual([fresh]);
      await untilIdle(stage, endpoint);
      search.goOn();
    }));

  test('does not wait for the next retry: an event that fails is cancelled when it reaches that age', () =>
    onStage(options, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const [first, second] = [await publishUnder(stage, 'a'), await publishUnder(stage, 'a')];
      await stage.untilLog(endpoint, first, { attempt_count: 1 });
      await stage.change(endpoint, { max_age: 1 });
      for (const event of [first, second]) await stage.untilLog(endpoint, event, { status: 'cancelled' });
      expect(await stage.log(endpoint, first)).toMatchObject({ attempt_count: 1, next_attempt_at: null });
      await untilIdle(stage, endpoint);
      await untilCounts(stage, endpoint, { cancelled: 2 });
    }));

  const ENDS = [
    [500, 'cancelled'],
    [200, 'delivered'],
  ] as const;
  test.each(someOf(ENDS, 1))('lets an attempt in flight finish: after %i the event is %s', (status, ends) =>
    onStage(options, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await hold.until(1);
      await stage.change(endpoint, { max_age: 1 });
      await until('it is too old', async () => {
        const marked = await stage.world.query('select from queue where discarded');
        return marked.length === 1;
      });
      hold.release(status);
      await stage.untilLog(endpoint, event, { status: ends, attempt_count: 1 });
      await untilCounts(stage, endpoint, { [ends]: 1 });
    }),
  );
});

describe.concurrent('enabling an endpoint with held: discard', () => {
  test('sends nothing that was held, and of each ordering key what comes later', () =>
    onStage(options, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { ordered: true, status: 'disabled' });
      for (const key of ['a', 'a', 'b']) await publishUnder(stage, key);
      const [held] = await stage.publishMany(3);
      const search = holdBack(stage.world, SWEEP);
      await stage.change(endpoint, { status: 'enabled', held: 'discard' });
      const later = [await publishUnder(stage, 'a'), await stage.publish()];
      await untilCounts(stage, endpoint, { delivered: 2, cancelled: 6 });
      expect(idsOf(receiver.received).toSorted()).toEqual(later.toSorted());
      expect(await stage.log(endpoint, String(held))).toMatchObject({
        ...{ status: 'cancelled', last_error_code: 'discarded', attempt_count: 0 },
      });
      search.goOn();
      // the next time they are sent again
      await stage.change(endpoint, { status: 'disabled' });
      await stage.publish();
      await stage.change(endpoint, { status: 'enabled' });
      await untilCounts(stage, endpoint, { delivered: 3, cancelled: 6 });
    }));

  longRun.test(
    'races with two workers and a publisher: each held event is cancelled once, and each later one is sent',
    () =>
      onStage({ delivers: false, databaseLatencyMs: 5 }, async (stage) => {
        const receiver = await stage.receiver();
        const endpoint = await stage.endpoint(receiver, { event_types: null, status: 'disabled' });
        await stage.backlog(600);
        const workers = [await stage.world.startWorker(), await stage.world.startWorker()];
        await stage.change(endpoint, { status: 'enabled', held: 'discard' });
        const later = await stage.publishMany(50);
        await untilCounts(stage, endpoint, { delivered: 50, cancelled: 600 });
        await untilIdle(stage, endpoint);
        expect(new Set(idsOf(receiver.received))).toEqual(new Set(later));
        await Promise.all(workers.map((worker) => worker.close()));
      }),
  );
});
