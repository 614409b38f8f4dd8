import { describe, expect, test } from 'vitest';
import { longRun, rounds } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import {
  attemptsOf,
  cancel,
  delivered,
  haveLooked,
  LONG_AGO,
  read,
  recover,
  untilIdle,
  untilRecovery,
} from './recoveries-support.ts';
import {
  deliveryCountErrors,
  type Endpoint,
  holdResponses,
  idsOf,
  type Log,
  onStage,
  type Stage,
} from './support.ts';

const triggers = (log: Log) => log.attempts.map(({ trigger }: { trigger: string }) => trigger);
const once = { DELIVERY_SCHEDULE: '0s' };
/** What a lane takes in four rounds at its widest: the most that a recovery may have in the queue. */
const MOST_ROOM = 256;
/** The same at its beginning. */
const FIRST_ROOM = 16;

/** How many rows of a recovery are in the queue of an endpoint. */
async function standing(stage: Stage, endpoint: Endpoint): Promise<number> {
  const found = await stage.world.query(
    `select 1 from queue where endpoint_id = $1 and trigger = 'recovery'`,
    [endpoint.uuid],
  );
  return found.length;
}

describe.concurrent('a recovery', () => {
  test('sends failed events again, with the same ids and its own trigger, and changes nothing else', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const fine = await stage.publishMany(5);
      for (const event of fine) await stage.untilLog(endpoint, event, { status: 'delivered' });
      receiver.respond(500);
      const failed = await stage.publishMany(20);
      for (const event of failed) await stage.untilLog(endpoint, event, { status: 'failed' });
      receiver.respond(200);
      receiver.received.length = 0;
      const recovery = await untilRecovery(stage, await recover(stage, endpoint));
      expect(recovery).toMatchObject({
        queued_count: 20,
        skipped_count: 0,
        processed_until: recovery.filters.until,
        cancelled_at: null,
      });
      expect(recovery.started_at <= recovery.completed_at).toBe(true);
      for (const event of failed) {
        const log = await stage.untilLog(endpoint, event, { status: 'delivered', attempt_count: 2 });
        expect(triggers(log)).toEqual(['scheduled', 'recovery']);
      }
      await untilIdle(stage, endpoint);
      expect(deliveryCountErrors(receiver.received, failed)).toEqual({});
      expect(receiver.received).toHaveLength(20);
    }));

  test('whose attempts fail changes nothing: failed and delivered events stay so, and the schedule continues', () =>
    onStage({ settings: { DELIVERY_SCHEDULE: '0s 24h' } }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const fine = await stage.publish();
      const before = { fine: await stage.untilLog(endpoint, fine, { status: 'delivered' }) };
      receiver.respond(500);
      const failed = await stage.publish();
      await stage.untilLog(endpoint, failed, { attempt_count: 1 });
      await stage.passTime(endpoint);
      await stage.untilLog(endpoint, failed, { status: 'failed', attempt_count: 2 });
      const waiting = await stage.publish();
      const { next_attempt_at } = await stage.untilLog(endpoint, waiting, { attempt_count: 1 });
      const [scheduled] = await stage.queue(endpoint);
      expect(scheduled).toMatchObject({ trigger: 'scheduled', step: 1 });
      for (const round of [1, 2]) {
        const status = ['failed', 'delivered', 'pending'];
        const recovery = await untilRecovery(stage, await recover(stage, endpoint, { status }));
        expect(recovery).toMatchObject({ queued_count: 3, skipped_count: 0 });
        const { delivered_at } = before.fine;
        await stage.untilLog(endpoint, fine, { status: 'delivered', attempt_count: 1 + round, delivered_at });
        await stage.untilLog(endpoint, failed, { status: 'failed', attempt_count: 2 + round });
        const log = await stage.untilLog(endpoint, waiting, { status: 'pending', attempt_count: 1 + round });
        expect(log.next_attempt_at).toBe(next_attempt_at);
        expect(triggers(log)).toEqual(['scheduled', ...Array(round).fill('recovery')]);
        const queue = await stage.queue(endpoint);
        expect(queue).toMatchObject([{ trigger: 'scheduled', step: 1, leased: false }]);
        expect(Math.abs((queue[0]?.due_in ?? 0) - (scheduled?.due_in ?? 0))).toBeLessThan(60);
      }
      receiver.respond(200);
      await stage.passTime(endpoint);
      const log = await stage.untilLog(endpoint, waiting, { status: 'delivered' });
      expect(triggers(log)).toEqual(['scheduled', 'recovery', 'recovery', 'scheduled']);
    }));

  test('skips what is in flight or due: that attempt counts', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const events = await stage.publishMany(12);
      for (const event of events) await stage.untilLog(endpoint, event, { status: 'failed' });
      // one is in flight, the others are due and wait for it
      await stage.world.query('update endpoint_state set lane = 1 where endpoint_id = $1', [endpoint.uuid]);
      receiver.received.length = 0;
      const hold = holdResponses(receiver);
      // the oldest: a recovery reaches them before its own deliveries fill its room
      const byHand = events.toSorted().slice(0, 5);
      for (const event of byHand) expect(await stage.retry(endpoint, event)).toBe(200);
      await hold.until(1);
      const recovery = await recover(stage, endpoint);
      await untilRecovery(stage, recovery, { skipped_count: 5 });
      hold.release();
      await untilRecovery(stage, recovery, { status: 'completed', queued_count: 7, skipped_count: 5 });
      await untilIdle(stage, endpoint);
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
      for (const event of events) {
        const log = await stage.untilLog(endpoint, event, { status: 'delivered', attempt_count: 2 });
        expect(triggers(log)[1]).toBe(byHand.includes(event) ? 'manual' : 'recovery');
      }
    }));

  test('takes the events of its span, its types and its statuses, and no others', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { event_types: null });
      const other = await stage.endpoint(await stage.receiver(), { event_types: null });
      const events: string[] = [];
      for (const type of ['order.paid', 'order_.paid', 'orders.paid', 'order.paid', 'order.item.added']) {
        // each in its own millisecond
        events.push(await stage.publish(type));
        await stage.untilLog(endpoint, events.at(-1) ?? '', { status: 'delivered' });
        await stage.untilLog(other, events.at(-1) ?? '', { status: 'delivered' });
      }
      const at = async (index: number): Promise<string> =>
        (await stage.log(endpoint, events[index] ?? '')).created_at;
      const cases: [object, number[]][] = [
        [{}, [0, 1, 2, 3, 4]],
        [{ since: await at(1), until: await at(3) }, [1, 2]],
        [{ since: await at(3) }, [3, 4]],
        [{ types: ['order.paid'] }, [0, 3]],
        [{ types: ['order_.*'] }, [1]],
        [{ types: ['order.*'] }, [0, 3, 4]],
        [{ types: ['order.item.*', 'orders.paid', 'nothing.*'] }, [2, 4]],
        [{ types: ['order.paid'], since: await at(1) }, [3]],
        [{ status: 'failed' }, []],
        [{ status: ['failed', 'delivered'], types: ['orders.*'] }, [2]],
      ];
      for (const [fields, expected] of cases) {
        receiver.received.length = 0;
        const recovery = await recover(stage, endpoint, { status: 'delivered', ...fields });
        await untilRecovery(stage, recovery, { status: 'completed', queued_count: expected.length });
        await untilIdle(stage, endpoint);
        const sent = idsOf(receiver.received).toSorted();
        expect(sent, JSON.stringify(fields)).toEqual(expected.map((index) => events[index]).toSorted());
      }
      expect(await attemptsOf(stage, other)).toEqual([
        { trigger: 'scheduled', outcome: 'ok', events: 5, attempts: 5 },
      ]);
    }));

  test('finds nothing in a week of the log that is being dropped', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await delivered(stage, endpoint, 5);
      await stage.world.query(
        `insert into dropped_weeks select date_trunc('week', id_time(event_id) at time zone 'UTC') at time zone 'UTC'
         from deliveries limit 1`,
      );
      const recovery = await recover(stage, endpoint, { status: 'delivered' });
      await untilRecovery(stage, recovery, { status: 'completed', queued_count: 0, skipped_count: 0 });
      await stage.world.query('delete from dropped_weeks');
      expect(receiver.received).toHaveLength(5);
    }));

  longRun.test('delays a new event by four rounds of the lane, however many events remain', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await delivered(stage, endpoint, 600);
      // as after a restart of the receiver
      await stage.world.query('update endpoint_state set lane = 4 where endpoint_id = $1', [endpoint.uuid]);
      receiver.received.length = 0;
      const hold = holdResponses(receiver);
      const recovery = await recover(stage, endpoint, { status: 'delivered' });
      await hold.until(4);
      await until('the room is used', async () => (await standing(stage, endpoint)) === FIRST_ROOM);
      expect(await read(stage, recovery)).toMatchObject({ status: 'running', queued_count: FIRST_ROOM });
      const fresh = await stage.publish();
      hold.release();
      await stage.untilLog(endpoint, fresh, { status: 'delivered' });
      expect(idsOf(receiver.received).indexOf(fresh)).toBeLessThanOrEqual(FIRST_ROOM);
      await untilRecovery(stage, recovery, { status: 'completed', queued_count: 600 });
    }),
  );

  test('at an endpoint with a rate limit has no more in the queue than four seconds of it', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await delivered(stage, endpoint, 100);
      await stage.change(endpoint, { rate_limit: 2 });
      holdResponses(receiver);
      const recovery = await recover(stage, endpoint, { status: 'delivered' });
      await untilRecovery(stage, recovery, { queued_count: 8 });
      await haveLooked(stage);
      expect(await stage.queue(endpoint)).toHaveLength(8);
      expect(await read(stage, recovery)).toMatchObject({ status: 'running', queued_count: 8 });
      expect(await cancel(stage, recovery)).toBe(204);
    }));
});

describe.concurrent('a recovery in progress', () => {
  const COUNT = 60;
  /** One of that many events whose first attempts are held. */
  async function recoveryInProgress(stage: Stage) {
    const receiver = await stage.receiver();
    const endpoint = await stage.endpoint(receiver);
    const events = await delivered(stage, endpoint, COUNT);
    await stage.world.query('update endpoint_state set lane = 4 where endpoint_id = $1', [endpoint.uuid]);
    receiver.received.length = 0;
    const hold = holdResponses(receiver);
    const recovery = await recover(stage, endpoint, { status: 'delivered' });
    await untilRecovery(stage, recovery, { queued_count: FIRST_ROOM });
    await hold.until(4);
    return { receiver, endpoint, events, hold, recovery };
  }

  test('shows its progress: a time between since and until that only moves forward', () =>
    onStage({ settings: once }, async (stage) => {
      const { hold, events, endpoint, recovery } = await recoveryInProgress(stage);
      const running = await read(stage, recovery);
      const last = await stage.log(endpoint, events[FIRST_ROOM - 1] ?? '');
      expect(running).toMatchObject({
        status: 'running',
        processed_until: last.created_at,
        completed_at: null,
      });
      hold.release();
      const { processed_until, filters } = await untilRecovery(stage, recovery);
      expect(processed_until).toBe(filters.until);
      expect(processed_until > running.processed_until).toBe(true);
    }));

  longRun.test('can be cancelled: its queued deliveries are sent, nothing more, and another may begin', () =>
    onStage({ settings: once }, async (stage) => {
      const { receiver, endpoint, events, hold, recovery } = await recoveryInProgress(stage);
      expect(await cancel(stage, recovery)).toBe(204);
      const cancelled = await read(stage, recovery);
      expect(cancelled).toMatchObject({
        status: 'cancelled',
        queued_count: FIRST_ROOM,
        completed_at: null,
        cancelled_at: expect.any(String),
      });
      expect(cancelled.processed_until < cancelled.filters.until).toBe(true);
      expect(await cancel(stage, recovery)).toBe(409);
      hold.release();
      await untilIdle(stage, endpoint);
      expect(idsOf(receiver.received).toSorted()).toEqual(events.slice(0, FIRST_ROOM));
      const next = await recover(stage, endpoint, { status: 'failed' });
      await untilRecovery(stage, next, { status: 'completed', queued_count: 0 });
      expect(await read(stage, recovery)).toEqual(cancelled);
      expect(receiver.received).toHaveLength(FIRST_ROOM);
    }),
  );

  test('pauses while its endpoint is disabled and continues when it is enabled; each event is sent once', () =>
    onStage({ settings: once }, async (stage) => {
      const { receiver, endpoint, events, hold, recovery } = await recoveryInProgress(stage);
      await stage.change(endpoint, { status: 'disabled' });
      const paused = await read(stage, recovery);
      expect(paused).toMatchObject({ status: 'paused', queued_count: FIRST_ROOM });
      hold.release();
      await until('requests in flight have ended', async () => (await stage.queue(endpoint)).length === 12);
      await haveLooked(stage);
      expect(await read(stage, recovery)).toEqual(paused);
      expect(receiver.received).toHaveLength(4);
      await stage.change(endpoint, { status: 'enabled' });
      await untilRecovery(stage, recovery, { status: 'completed', queued_count: COUNT, skipped_count: 0 });
      await untilIdle(stage, endpoint);
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
    }));

  test('of an endpoint that is deleted is cancelled; nothing is left in the queue, and the log stays', () =>
    onStage({ settings: once }, async (stage) => {
      const { receiver, endpoint, events, hold, recovery } = await recoveryInProgress(stage);
      expect((await stage.api.delete(endpoint.path)).status).toBe(204);
      expect(await read(stage, recovery)).toMatchObject({ status: 'cancelled', queued_count: FIRST_ROOM });
      const list = await stage.api.get(`${endpoint.path}/recoveries`);
      expect(list.body.data).toEqual([await read(stage, recovery)]);
      hold.release();
      await untilIdle(stage, endpoint);
      expect(receiver.received).toHaveLength(4);
      for (const event of events.slice(0, FIRST_ROOM + 1)) {
        expect((await stage.log(endpoint, event)).status).toBe('delivered');
      }
    }));

  test('does not match its own events again', () =>
    onStage({ settings: once }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await delivered(stage, endpoint, 50);
      const recovery = await recover(stage, endpoint, { status: 'delivered', since: LONG_AGO });
      await untilRecovery(stage, recovery, { status: 'completed', queued_count: 50 });
      await untilIdle(stage, endpoint);
      expect(receiver.received).toHaveLength(100);
    }));
});

// one after the other: each needs the whole machine
describe('a long recovery', () => {
  /** Several times what a lane takes in four rounds at its widest. */
  const COUNT = rounds(600, 5000);

  test('never has more events in the queue than four rounds of the lane, and sends each once', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await stage.world.startWorker();
      const events = await delivered(stage, endpoint, COUNT);
      receiver.received.length = 0;
      const recovery = await recover(stage, endpoint, { status: 'delivered' });
      const most: number[] = [];
      await until('it has ended', async () => {
        most.push(await standing(stage, endpoint));
        return (await read(stage, recovery)).status === 'completed';
      });
      await untilIdle(stage, endpoint);
      expect(Math.max(...most)).toBeGreaterThan(FIRST_ROOM);
      expect(Math.max(...most)).toBeLessThanOrEqual(MOST_ROOM);
      expect(await read(stage, recovery)).toMatchObject({ queued_count: COUNT, skipped_count: 0 });
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
      expect(await attemptsOf(stage, endpoint)).toEqual([
        { trigger: 'recovery', outcome: 'ok', events: COUNT, attempts: COUNT },
        { trigger: 'scheduled', outcome: 'ok', events: COUNT, attempts: COUNT },
      ]);
    }));

  longRun.test('by two workers at once sends each event once, and counts each once', () =>
    onStage({ delivers: false, databaseLatencyMs: 5 }, async (stage) => {
      const receivers = await Promise.all([1, 2].map(() => stage.receiver()));
      const endpoints = await Promise.all(receivers.map((receiver) => stage.endpoint(receiver)));
      await Promise.all([1, 2].map(() => stage.world.startWorker()));
      const [first, second] = endpoints as [Endpoint, Endpoint];
      const events = await delivered(stage, first, COUNT);
      await untilIdle(stage, second);
      for (const receiver of receivers) receiver.received.length = 0;
      const recoveries = await Promise.all(
        endpoints.map((endpoint) => recover(stage, endpoint, { status: 'delivered' })),
      );
      const most: number[] = [];
      await until('both have ended', async () => {
        for (const endpoint of endpoints) most.push(await standing(stage, endpoint));
        const all = await Promise.all(recoveries.map((recovery) => read(stage, recovery)));
        return all.every(({ status }) => status === 'completed');
      });
      expect(Math.max(...most)).toBeLessThanOrEqual(MOST_ROOM);
      for (const [index, endpoint] of endpoints.entries()) {
        await untilIdle(stage, endpoint);
        expect(await read(stage, recoveries[index])).toMatchObject({
          queued_count: COUNT,
          skipped_count: 0,
        });
        expect(deliveryCountErrors(receivers[index]?.received ?? [], events)).toEqual({});
      }
    }),
  );
});
