import { describe, expect, test } from 'vitest';
import { longRun, someOf } from '../support/depth.ts';
import { holdResponses, idsOf, type Log, onStage } from './support.ts';

/** Settings that tests share, because each needs servers of its own. */
const ONCE = { settings: { DELIVERY_SCHEDULE: '0s' } };
const DAILY = { settings: { DELIVERY_SCHEDULE: '0s 24h 24h' } };

const triggers = (log: Log) => log.attempts.map(({ trigger }: { trigger: string }) => trigger);

describe.concurrent('a retry by hand', () => {
  test('of a failed event sends it again with the same id; a failure leaves it failed, a success delivers it', () =>
    onStage(ONCE, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { status: 'failed' });
      expect(await stage.retry(endpoint, event)).toBe(200);
      await stage.untilLog(endpoint, event, { status: 'failed', attempt_count: 2, next_attempt_at: null });
      expect(await stage.queue(endpoint)).toEqual([]);
      receiver.respond(200);
      expect(await stage.retry(endpoint, event)).toBe(200);
      const log = await stage.untilLog(endpoint, event, { status: 'delivered', last_error_code: null });
      expect(triggers(log)).toEqual(['scheduled', 'manual', 'manual']);
      expect(idsOf(receiver.received)).toEqual([event, event, event]);
      expect(await stage.queue(endpoint)).toEqual([]);
    }));

  test('of a delivered event sends it again, and it stays delivered whatever the result', () =>
    onStage(ONCE, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      const { delivered_at } = await stage.untilLog(endpoint, event, { status: 'delivered' });
      for (const [index, status] of [200, 500].entries()) {
        receiver.respond(status);
        expect(await stage.retry(endpoint, event)).toBe(200);
        const log = await stage.untilLog(endpoint, event, { attempt_count: index + 2 });
        expect(log).toMatchObject({
          status: 'delivered',
          delivered_at,
          next_attempt_at: null,
          last_response_status: status,
        });
        expect(await stage.queue(endpoint)).toEqual([]);
      }
      expect(idsOf(receiver.received)).toEqual([event, event, event]);
    }));

  test('of an event that waits for tomorrow sends it now; a failure does not change its schedule', () =>
    onStage(DAILY, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      const { next_attempt_at } = await stage.untilLog(endpoint, event, { attempt_count: 1 });
      const due = async () =>
        stage.world.query(
          'select step, trigger, iso(due_at) as due_at, lease_token from queue where endpoint_id = $1',
          [endpoint.uuid],
        );
      const scheduled = [{ step: 1, trigger: 'scheduled', due_at: next_attempt_at, lease_token: null }];
      expect(await due()).toEqual(scheduled);
      for (const attempt_count of [2, 3, 4]) {
        expect(await stage.retry(endpoint, event)).toBe(200);
        await stage.untilLog(endpoint, event, { attempt_count, status: 'pending', next_attempt_at });
        expect(await due()).toEqual(scheduled);
      }
      await stage.passTime(endpoint);
      const log = await stage.untilLog(endpoint, event, { attempt_count: 5 });
      expect(log.next_attempt_at).not.toBe(next_attempt_at);
      expect(await stage.queue(endpoint)).toMatchObject([{ step: 2 }]);
      receiver.respond(200);
      expect(await stage.retry(endpoint, event)).toBe(200);
      const end = await stage.untilLog(endpoint, event, { status: 'delivered', next_attempt_at: null });
      expect(triggers(end)).toEqual(['scheduled', 'manual', 'manual', 'manual', 'scheduled', 'manual']);
      expect(await stage.queue(endpoint)).toEqual([]);
    }));

  test('answered by 410 does not use up the schedule: the endpoint is gone and the event is held', () =>
    onStage(DAILY, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { attempt_count: 1 });
      receiver.respond(410);
      expect(await stage.retry(endpoint, event)).toBe(200);
      await stage.untilLog(endpoint, event, { attempt_count: 2, status: 'held' });
      expect(await stage.queue(endpoint)).toMatchObject([{ step: 1, leased: false, trigger: 'scheduled' }]);
    }));

  test('during an attempt is that attempt', () =>
    onStage(ONCE, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await hold.until(1);
      expect(await stage.retry(endpoint, event)).toBe(200);
      // the workers have looked since: a later event arrived
      const other = await stage.publish();
      await hold.until(2);
      hold.release();
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      await stage.untilLog(endpoint, other, { status: 'delivered' });
      expect(triggers(log)).toEqual(['scheduled']);
      expect(await stage.queue(endpoint)).toEqual([]);
      expect(idsOf(receiver.received)).toEqual([event, other]);
    }));

  longRun.test('of an event that is due anyway is one attempt', () =>
    onStage({ delivers: false }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      expect(await stage.retry(endpoint, event)).toBe(200);
      expect(await stage.queue(endpoint)).toHaveLength(1);
      const worker = await stage.world.startWorker();
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(log.attempt_count).toBe(1);
      await worker.close();
      expect(idsOf(receiver.received)).toEqual([event]);
    }),
  );

  const STATES = [
    ['failed', '0s'],
    ['waiting for tomorrow', '0s 24h'],
  ] as const;
  test.each(someOf(STATES, 1))('fifty times at once of an event that is %s sends it once', (_, schedule) =>
    onStage(
      { databaseLatencyMs: 25, poolSize: 20, settings: { DELIVERY_SCHEDULE: schedule } },
      async (stage) => {
        const receiver = await stage.receiver();
        receiver.respond(500);
        const endpoint = await stage.endpoint(receiver);
        const event = await stage.publish();
        await stage.untilLog(endpoint, event, { attempt_count: 1 });
        const hold = holdResponses(receiver);
        const answers = await Promise.all(Array.from({ length: 50 }, () => stage.retry(endpoint, event)));
        expect(answers).toEqual(Array(50).fill(200));
        await hold.until(1);
        hold.release();
        const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
        expect(log.attempt_count).toBe(2);
        expect(await stage.queue(endpoint)).toEqual([]);
        expect(idsOf(receiver.received)).toEqual([event, event]);
      },
    ),
  );

  test('does not wait as the receiver requested: it ends the slow-down', () =>
    onStage(DAILY, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond((_request, response) => response.writeHead(429, { 'retry-after': '3600' }).end());
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { attempt_count: 1 });
      expect((await stage.state(endpoint)).waits).toBeGreaterThan(3500);
      receiver.respond(200);
      expect(await stage.retry(endpoint, event)).toBe(200);
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(triggers(log)).toEqual(['scheduled', 'manual']);
    }));

  test('at a disabled endpoint is refused and queues nothing', () =>
    onStage(ONCE, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { status: 'failed' });
      await stage.change(endpoint, { status: 'disabled' });
      const refused = await stage.api.post(`${endpoint.path}/events/${event}/retry`);
      expect([refused.status, refused.reason]).toEqual([409, 'endpoint_disabled']);
      expect(await stage.queue(endpoint)).toEqual([]);
      await stage.change(endpoint, { status: 'enabled' });
      expect(await stage.log(endpoint, event)).toMatchObject({ status: 'failed', attempt_count: 1 });
    }));
});
