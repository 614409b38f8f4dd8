import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import type { Received } from '../support/receiver.ts';
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

const DAY_S = 24 * 3600;
/** Two attempts at once, then one a day. */
const settings = { DELIVERY_SCHEDULE: '0s 1h 24h 24h' };

/** Waits until the workers have looked at everything due earlier. */
async function haveLooked(stage: Stage): Promise<void> {
  const receiver = await stage.receiver();
  await stage.endpoint(receiver, { event_types: ['looked.*'] });
  for (const round of [1, 2]) {
    await stage.publish('looked.around');
    await receiver.until(round);
  }
}

/** Events that were refused twice and wait for tomorrow. */
async function refusedTwice(stage: Stage, endpoint: Endpoint, count: number): Promise<string[]> {
  const events = await stage.publishMany(count);
  for (const event of events) await stage.untilLog(endpoint, event, { attempt_count: 1 });
  await stage.passTime(endpoint);
  for (const event of events) await stage.untilLog(endpoint, event, { attempt_count: 2 });
  return events;
}

const versions = (stage: Stage, endpoint: Endpoint) =>
  stage.world.query(
    `select 'queue' as place, event_id, xmin::text, ctid::text from queue where endpoint_id = $1
     union all select 'log', event_id, xmin::text, ctid::text from deliveries where endpoint_id = $1 order by 1, 2`,
    [endpoint.uuid],
  );

const attemptsOf = (received: readonly Received[], event: string) =>
  received.filter(({ headers }) => headers['webhook-id'] === event);

describe.concurrent('a disabled endpoint', () => {
  test('holds its events, and rewrites none of the stored rows', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      await refusedTwice(stage, endpoint, 3);
      const before = await versions(stage, endpoint);
      expect(before).toHaveLength(6);
      await stage.change(endpoint, { status: 'disabled' });
      expect(await versions(stage, endpoint)).toEqual(before);
      const held = await stage.api.get(`${endpoint.path}/events?status=held`);
      expect(held.body.pagination.total).toBe(3);
      for (const record of held.body.data) {
        expect(record).toMatchObject({ status: 'held', attempt_count: 2, next_attempt_at: null });
      }
      const later = await stage.publish();
      expect(await stage.log(endpoint, later)).toMatchObject({ status: 'held', attempt_count: 0 });
      await stage.passTime(endpoint);
      await haveLooked(stage);
      expect(receiver.received).toHaveLength(6);
    }));

  test('gets all held events at once when enabled, each exactly once, though they were due tomorrow', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const events = await refusedTwice(stage, endpoint, 6);
      for (const { due_in } of await stage.queue(endpoint)) expect(due_in).toBeGreaterThan(0.8 * DAY_S);
      await stage.change(endpoint, { status: 'disabled' });
      events.push(await stage.publish());
      const before = await versions(stage, endpoint);
      receiver.received.length = 0;
      receiver.respond(200);
      await stage.change(endpoint, { status: 'enabled' });
      expect(before).toHaveLength(14);
      await receiver.until(7);
      for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
      expect(await stage.queue(endpoint)).toEqual([]);
    }));

  test('that is enabled again begins a new schedule for held events, and continues the numbers of attempts', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const [event = ''] = await refusedTwice(stage, endpoint, 1);
      expect(await stage.queue(endpoint)).toMatchObject([{ step: 2, generation: 0 }]);
      await stage.change(endpoint, { status: 'disabled' });
      await stage.change(endpoint, { status: 'enabled' });
      const log = await stage.untilLog(endpoint, event, { attempt_count: 3 });
      expect(log).toMatchObject({ status: 'pending' });
      const [queued] = await stage.queue(endpoint);
      expect(queued).toMatchObject({ step: 1, generation: 1, leased: false });
      expect(queued?.due_in).toBeGreaterThan(3000);
      expect(queued?.due_in).toBeLessThan(4100);
      expect(log.attempts.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3]);
    }));

  const RESULTS = [
    ['that fails waits with the others', 500, { status: 'held', attempt_count: 1, next_attempt_at: null }],
    ['that succeeds counts', 200, { status: 'delivered', attempt_count: 1 }],
  ] as const;
  test.each(someOf(RESULTS, 1))('was disabled during an attempt: one %s', (_, status, expected) =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await hold.until(1);
      await stage.change(endpoint, { status: 'disabled' });
      expect((await stage.log(endpoint, event)).status).toBe('held');
      hold.release(status);
      await stage.untilLog(endpoint, event, expected);
      await stage.passTime(endpoint);
      await haveLooked(stage);
      expect(idsOf(receiver.received)).toEqual([event]);
    }),
  );

  test('enabled during an attempt waits for it: no event is sent twice at the same time', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await hold.until(1);
      for (const status of ['disabled', 'enabled', 'disabled', 'enabled']) {
        await stage.change(endpoint, { status });
      }
      await haveLooked(stage);
      const [first] = hold.held;
      const meter = metering(receiver);
      const second = await stage.publish();
      await stage.untilLog(endpoint, second, { status: 'delivered' });
      expect(attemptsOf(receiver.received, event)).toHaveLength(1);
      first?.response.writeHead(500).end();
      // it began before the endpoint was enabled, so the new schedule begins now
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(log.attempt_count).toBe(2);
      expect(attemptsOf(receiver.received, event)).toHaveLength(2);
      expect(meter.mostOfOneEvent).toBe(1);
    }));
});

describe.concurrent('a deleted endpoint', () => {
  test('gets nothing more: waiting deliveries fail, those in flight may succeed, the log stays', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const [waiting = ''] = await refusedTwice(stage, endpoint, 1);
      await stage.world.query('update endpoint_state set lane = 4');
      const hold = holdResponses(receiver);
      const [good = '', bad = ''] = await stage.publishMany(2);
      await hold.until(2);
      expect((await stage.api.delete(endpoint.path)).status).toBe(204);
      const ended = { status: 'failed', last_error_code: 'endpoint_deleted', next_attempt_at: null };
      const log = await stage.untilLog(endpoint, waiting, ended);
      expect(log).toMatchObject({ attempt_count: 2, payload: { id: waiting, type: 'order.created' } });
      expect(log.attempts).toHaveLength(2);
      expect(await stage.queue(endpoint)).toMatchObject([{ leased: true }, { leased: true }]);
      for (const { request, response } of hold.held) {
        response.writeHead(request.headers['webhook-id'] === good ? 200 : 500).end();
      }
      await stage.untilLog(endpoint, good, { status: 'delivered', attempt_count: 1 });
      await stage.untilLog(endpoint, bad, { ...ended, attempt_count: 1 });
      await until('a worker has ended the row', async () => (await stage.queue(endpoint)).length === 0);
      expect(receiver.received).toHaveLength(4);
      const list = await stage.api.get('/v2/webhook-events/?status=failed');
      expect(list.body.pagination.total).toBe(2);
      const refused = await stage.api.post(`${endpoint.path}/events/${waiting}/retry`);
      expect([refused.status, refused.reason]).toEqual([409, 'endpoint_deleted']);
    }));

  test('with more than a thousand waiting events fails all of them at the next look', () =>
    onStage({ settings }, async (stage) => {
      const endpoint = await stage.endpoint(await stage.receiver(), { status: 'disabled' });
      await stage.backlog(1200);
      expect((await stage.api.delete(endpoint.path)).status).toBe(204);
      const total = async (status: string) =>
        (await stage.api.get(`${endpoint.path}/events?status=${status}&per_page=1`)).body.pagination.total;
      expect(await total('held')).toBe(0);
      // a thousand with the response, the rest by a worker that looks every 5 s
      await until('all have ended', async () => (await total('failed')) === 1200, 9000);
    }));
});

describe.concurrent('a change', () => {
  const verified = (secret: string, request: Received | undefined): boolean => {
    try {
      new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };

  test('of the URL and of headers applies from the next attempt on, also to events refused before', () =>
    onStage({ settings }, async (stage) => {
      const [old, other] = [await stage.receiver(), await stage.receiver()];
      old.respond(500);
      const endpoint = await stage.endpoint(old, { headers: { 'X-One': '1', 'X-Two': '2' } });
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { attempt_count: 1 });
      await stage.change(endpoint, { url: other.url, headers: { 'X-One': 'new', 'X-Two': null } });
      await stage.passTime(endpoint);
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(log.attempts.map(({ url }: { url: string }) => url)).toEqual([old.url, other.url]);
      expect(old.received[0]?.headers).toMatchObject({ 'x-one': '1', 'x-two': '2' });
      expect(other.received[0]?.headers).toMatchObject({ 'x-one': 'new', 'webhook-id': event });
      expect(other.received[0]?.headers['x-two']).toBeUndefined();
    }));

  test('of the secret applies at the next attempt: both verify during the overlap, afterwards only the new one', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      receiver.respond(500);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { attempt_count: 1 });
      const rotated = await stage.api.post(`${endpoint.path}/rotate-secret`, { overlap_seconds: 3600 });
      const { secret } = rotated.body;
      await stage.passTime(endpoint);
      await stage.untilLog(endpoint, event, { attempt_count: 2 });
      await stage.world.query('update webhook_endpoints set previous_secret_until = now_ms() where id = $1', [
        endpoint.uuid,
      ]);
      receiver.respond(200);
      await stage.passTime(endpoint);
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      const [before, during, after] = receiver.received;
      expect([verified(endpoint.secret, before), verified(secret, before)]).toEqual([true, false]);
      expect([verified(endpoint.secret, during), verified(secret, during)]).toEqual([true, true]);
      expect([verified(endpoint.secret, after), verified(secret, after)]).toEqual([false, true]);
      expect(idsOf(receiver.received)).toEqual([event, event, event]);
      await until('nothing waits', async () => (await stage.queue(endpoint)).length === 0);
    }));
});
