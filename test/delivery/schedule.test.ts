import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { idsOf, onStage } from './support.ts';

const HOUR_S = 3600;
const secondsBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

/** No second attempt comes in between, however slow the machine is. */
const SLOW = { settings: { DELIVERY_SCHEDULE: '0s 1h 2h' } };

describe.concurrent('the schedule', () => {
  test('decides when a failed event is sent again; each attempt is logged with its request and response', () =>
    onStage(SLOW, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond((_request, response, count) =>
        response.writeHead(500, { 'x-count': count }).end(`no ${count}`),
      );
      const endpoint = await stage.endpoint(receiver, { headers: { 'X-Own': 'secret value' } });
      const event = await stage.publish();
      const first = await stage.untilLog(endpoint, event, { attempt_count: 1 });
      expect(first).toMatchObject({
        status: 'pending',
        last_response_status: 500,
        last_error_code: 'response_error',
      });
      const pause = secondsBetween(first.last_attempt_at, first.next_attempt_at);
      expect(pause).toBeGreaterThan(0.9 * HOUR_S - 1);
      expect(pause).toBeLessThan(1.1 * HOUR_S + 30);
      const [queued] = await stage.queue(endpoint);
      expect(queued).toMatchObject({ step: 1, leased: false, trigger: 'scheduled' });
      expect(Math.abs((queued?.due_in ?? 0) - pause)).toBeLessThan(30);

      await stage.passTime(endpoint);
      const second = await stage.untilLog(endpoint, event, { attempt_count: 2 });
      const longer = secondsBetween(second.last_attempt_at, second.next_attempt_at);
      expect(longer).toBeGreaterThan(1.8 * HOUR_S - 1);
      expect(longer).toBeLessThan(2.2 * HOUR_S + 30);

      await stage.passTime(endpoint);
      const last = await stage.untilLog(endpoint, event, { attempt_count: 3 });
      expect(last).toMatchObject({ status: 'failed', next_attempt_at: null, delivered_at: null });
      expect(await stage.queue(endpoint)).toEqual([]);
      expect(idsOf(receiver.received)).toEqual([event, event, event]);
      for (const [index, attempt] of last.attempts.entries()) {
        const request = receiver.received[index];
        expect(attempt).toMatchObject({
          number: index + 1,
          trigger: 'scheduled',
          status: 'failed',
          url: receiver.url,
          response_status: 500,
          response_body: `no ${index + 1}`,
          response_truncated: false,
          error_code: 'response_error',
        });
        expect(attempt.response_headers['x-count']).toBe(String(index + 1));
        expect(attempt.request_headers).toEqual({
          'x-own': '(hidden)',
          'content-type': request?.headers['content-type'],
          'user-agent': request?.headers['user-agent'],
          'webhook-id': event,
          'webhook-timestamp': request?.headers['webhook-timestamp'],
          'webhook-signature': request?.headers['webhook-signature'],
        });
        expect(request?.headers['x-own']).toBe('secret value');
      }
    }));

  test('runs by itself, and an event that is never accepted fails with its last attempt', () =>
    onStage({ settings: { DELIVERY_SCHEDULE: '0s 1s 1s' } }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      const log = await stage.untilLog(endpoint, event, { status: 'failed' });
      expect(log.attempt_count).toBe(3);
      expect(await stage.queue(endpoint)).toEqual([]);
      const [first = 0, second = 0, third = 0] = receiver.received.map(({ at }) => at);
      // ten percent of jitter, and a little for clocks
      expect(second - first).toBeGreaterThan(850);
      expect(third - second).toBeGreaterThan(850);
    }));

  longRun.test('ends with the first success', () =>
    onStage(SLOW, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond((_request, response, count) => response.writeHead(count === 1 ? 500 : 204).end());
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { attempt_count: 1 });
      await stage.passTime(endpoint);
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(log).toMatchObject({
        attempt_count: 2,
        next_attempt_at: null,
        last_response_status: 204,
        last_error_code: null,
      });
      expect(log.delivered_at).not.toBeNull();
      expect(await stage.queue(endpoint)).toEqual([]);
    }),
  );
});

describe.concurrent("a receiver's request", () => {
  const httpDate = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
  test.each([
    ['in seconds', () => '120', true],
    ['as a date', () => httpDate(121), true],
    ['as a date in a response without Date', () => httpDate(121), false],
  ])('by Retry-After %s is a minimum, and applies to its other events too', (_, retryAfter, sendsDate) =>
    onStage({ settings: { DELIVERY_SCHEDULE: '0s 1s 1s' } }, async (stage) => {
      const [receiver, other] = [await stage.receiver(), await stage.receiver()];
      receiver.respond((_request, response) => {
        response.sendDate = sendsDate;
        response.writeHead(500, { 'retry-after': retryAfter() }).end();
      });
      const endpoint = await stage.endpoint(receiver);
      const elsewhere = await stage.endpoint(other, { event_types: ['invoice.*', 'order.*'] });
      const first = await stage.publish();
      const log = await stage.untilLog(endpoint, first, { attempt_count: 1 });
      expect(secondsBetween(log.last_attempt_at, log.next_attempt_at)).toBeGreaterThan(118);
      expect((await stage.state(endpoint)).waits).toBeGreaterThan(110);

      // both are due; a later event is delivered elsewhere, so the workers have looked
      receiver.respond(200);
      const second = await stage.publish();
      await stage.untilLog(elsewhere, second, { status: 'delivered' });
      await stage.untilLog(elsewhere, await stage.publish('invoice.paid'), { status: 'delivered' });
      expect(receiver.received).toHaveLength(1);
      expect(await stage.log(endpoint, second)).toMatchObject({ status: 'pending', attempt_count: 0 });

      await stage.world.query('update endpoint_state set may_start_at = now() where endpoint_id = $1', [
        endpoint.uuid,
      ]);
      await stage.nudge();
      await stage.untilLog(endpoint, second, { status: 'delivered' });
      expect(idsOf(receiver.received)).toEqual([first, second]);
    }),
  );

  test('by 429, 502, 503 and 504 without Retry-After slows the endpoint down, by a 500 it does not', () =>
    onStage(SLOW, async (stage) => {
      const waits: Record<number, boolean> = {};
      for (const status of [429, 500, 502, 503, 504]) {
        const receiver = await stage.receiver();
        receiver.respond(status);
        const endpoint = await stage.endpoint(receiver, { event_types: [`order.s${status}`] });
        // more failures in a row wait longer: long enough here to be seen
        await stage.world.query(
          'update endpoint_state set failures = 6, failing_since = now() where endpoint_id = $1',
          [endpoint.uuid],
        );
        const event = await stage.publish(`order.s${status}`);
        await stage.untilLog(endpoint, event, { attempt_count: 1 });
        waits[status] = (await stage.state(endpoint)).waits > 30;
      }
      expect(waits).toEqual({ 429: true, 500: false, 502: true, 503: true, 504: true });
    }));

  test('by 410 is final: that event failed, the endpoint is disabled as gone, its other events are held', () =>
    onStage(SLOW, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      const waiting = await stage.publish();
      await stage.untilLog(endpoint, waiting, { attempt_count: 1 });
      receiver.respond(410);
      const event = await stage.publish();
      const log = await stage.untilLog(endpoint, event, { status: 'failed' });
      expect(log).toMatchObject({ attempt_count: 1, last_response_status: 410, next_attempt_at: null });
      const disabled = async () => (await stage.api.get(endpoint.path)).body;
      await until('the endpoint is disabled', async () => (await disabled()).status === 'disabled');
      expect((await disabled()).disabled_reason).toBe('gone');
      expect(await stage.log(endpoint, waiting)).toMatchObject({ status: 'held', next_attempt_at: null });
      const later = await stage.publish();
      expect(await stage.log(endpoint, later)).toMatchObject({ status: 'held', attempt_count: 0 });
    }));

  test('by a redirect is a failed attempt: the redirect is not followed', () =>
    onStage(SLOW, async (stage) => {
      const [receiver, target] = [await stage.receiver(), await stage.receiver()];
      for (const status of [301, 302, 303, 307, 308]) {
        receiver.respond((_request, response) => response.writeHead(status, { location: target.url }).end());
        const endpoint = await stage.endpoint(receiver, { event_types: [`order.s${status}`] });
        const event = await stage.publish(`order.s${status}`);
        const log = await stage.untilLog(endpoint, event, { attempt_count: 1 });
        expect(log).toMatchObject({
          status: 'pending',
          last_error_code: 'redirect',
          last_response_status: status,
        });
      }
      expect(target.received).toEqual([]);
    }));
});

describe.concurrent('a failing endpoint', () => {
  const fail = (hours: number, failures: number) => `update endpoint_state
    set failures = ${failures}, failing_since = now() - interval '${hours} hours' where endpoint_id = $1`;

  test('at every attempt for 120 hours is disabled as failing, and another endpoint is notified', () =>
    onStage(SLOW, async (stage) => {
      const [receiver, other] = [await stage.receiver(), await stage.receiver()];
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver, { event_types: null });
      await stage.endpoint(other, { event_types: ['webhook_endpoint.*'] });
      await stage.world.query(fail(121, 19), [endpoint.uuid]);
      const event = await stage.publish();
      const [notified] = await other.until(1);
      expect(JSON.parse(notified?.body ?? '{}')).toMatchObject({
        type: 'webhook_endpoint.disabled',
        data: { id: endpoint.id, status: 'disabled', disabled_reason: 'failing' },
      });
      expect((await stage.api.get(endpoint.path)).body.disabled_reason).toBe('failing');
      expect(await stage.log(endpoint, event)).toMatchObject({ status: 'held', attempt_count: 1 });
      const own = (await stage.api.get(`${endpoint.path}/events`)).body.data;
      expect(own.map(({ type }: { type: string }) => type)).toEqual(['order.created']);
    }));

  test.each([
    ['for less than 120 hours', 119, 100],
    ['fewer than twenty times', 1000, 17],
  ])('%s stays enabled', (_, hours, failures) =>
    onStage(SLOW, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      await stage.world.query(fail(hours, failures), [endpoint.uuid]);
      // the attempt is followed at once by what would disable it: a second attempt proves that the first did not
      for (const more of [1, 2]) {
        const event = await stage.publish();
        await stage.untilLog(endpoint, event, { status: 'pending', attempt_count: 1 });
        expect(await stage.state(endpoint)).toMatchObject({ failures: failures + more });
      }
      expect((await stage.api.get(endpoint.path)).body.status).toBe('enabled');
    }),
  );

  test('recovers completely with one success', () =>
    onStage(SLOW, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      await stage.world.query(fail(1000, 1000), [endpoint.uuid]);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(await stage.state(endpoint)).toMatchObject({ failures: 0, failing: false, succeeded: true });
      const { first_failure_at, last_success_at } = (await stage.api.get(endpoint.path)).body;
      expect([first_failure_at, last_success_at === null]).toEqual([null, false]);
      receiver.respond(500);
      const next = await stage.publish();
      await stage.untilLog(endpoint, next, { attempt_count: 1 });
      expect(await stage.state(endpoint)).toMatchObject({ failures: 1 });
      expect((await stage.api.get(endpoint.path)).body.status).toBe('enabled');
    }));
});
