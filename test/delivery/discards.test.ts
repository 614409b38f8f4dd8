import { describe, expect, test } from 'vitest';
import { longRun, rounds, someOf } from '../support/depth.ts';
import { holdBack } from '../support/held.ts';
import { until } from '../support/wire.ts';
import { LONG_AGO, type Recovery, recover, untilIdle, untilRecovery } from './recoveries-support.ts';
import { type Endpoint, holdResponses, idsOf, onStage, type Stage } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s 24h' };

/** Discards what waits at an endpoint; returns the record once it is completed. */
async function discard(stage: Stage, endpoint: Endpoint, fields: object = {}): Promise<Recovery> {
  const made = await stage.api.post(`${endpoint.path}/discard`, { since: LONG_AGO, ...fields });
  expect(made.status, made.text).toBe(201);
  return untilRecovery(stage, made.body);
}

/** Publishes an event with an ordering key; returns its id. */
async function publishUnder(stage: Stage, key: string, type: string): Promise<string> {
  const { status, text, body } = await stage.api.post('/v2/events', { type, data: {}, ordering_key: key });
  expect(status, text).toBe(201);
  return body.id;
}

/** The number of events of an endpoint's log by status, as the lists and the analytics count them. */
async function counts(stage: Stage, endpoint: Endpoint): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const status of ['pending', 'held', 'delivered', 'failed', 'cancelled']) {
    const { body } = await stage.api.get(`${endpoint.path}/events?status=${status}&per_page=1`);
    if (body.pagination.total > 0) found[status] = body.pagination.total;
  }
  const { totals } = (await stage.api.get(`/v2/analytics/deliveries?webhook_endpoint_id=${endpoint.id}`))
    .body;
  const { delivered = 0, failed = 0, cancelled = 0 } = found;
  expect(totals).toMatchObject({ delivered, failed, cancelled });
  return found;
}

const answer = (status: number, instruction: string) => ({
  status,
  headers: { 'webhook-delivery': instruction },
});

describe.concurrent('a receiver that answers `webhook-delivery`', () => {
  test('abort-message ends the event: it is cancelled and not sent again, unless somebody retries it', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const { status, headers } = answer(422, 'Abort-Message');
      receiver.respond((_request, response) => response.writeHead(status, headers).end());
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      expect(await stage.untilLog(endpoint, event, { status: 'cancelled' })).toMatchObject({
        attempt_count: 1,
        last_response_status: 422,
        next_attempt_at: null,
      });
      expect(await stage.queue(endpoint)).toEqual([]);
      expect(await counts(stage, endpoint)).toEqual({ cancelled: 1 });
      expect((await stage.api.get(`/v2/events/${event}`)).body.deliveries).toMatchObject({ cancelled: 1 });
      // the receiver works, so it is not on its way to being disabled
      expect((await stage.api.get(endpoint.path)).body.first_failure_at).toBeNull();
      receiver.respond(200);
      expect(await stage.retry(endpoint, event)).toBe(200);
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(await counts(stage, endpoint)).toEqual({ delivered: 1 });
    }));

  test('abort-message with success changes nothing, and neither do unknown words', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const answers = [answer(200, 'abort-message'), answer(500, 'abort'), answer(500, 'abort-message-x')];
      receiver.respond((_request, response) => {
        const { status, headers } = answers.shift() ?? answer(200, '');
        response.writeHead(status, headers).end();
      });
      const endpoint = await stage.endpoint(receiver);
      for (const status of ['delivered', 'pending', 'pending']) {
        const event = await stage.publish();
        await stage.untilLog(endpoint, event, { status, attempt_count: 1 });
      }
    }));

  test.each(someOf([500, 200], 1))(
    'disable with %i disables the endpoint, which holds what is not delivered',
    (status) =>
      onStage({ settings }, async (stage) => {
        const receiver = await stage.receiver();
        receiver.respond((_request, response) =>
          response.writeHead(status, { 'webhook-delivery': 'disable' }).end(),
        );
        const endpoint = await stage.endpoint(receiver);
        const event = await stage.publish();
        const shown = status === 200 ? 'delivered' : 'held';
        await stage.untilLog(endpoint, event, { status: shown, attempt_count: 1 });
        await until('the endpoint is disabled', async () => {
          const { body } = await stage.api.get(endpoint.path);
          return body.disabled_reason === 'requested';
        });
        const later = await stage.publish();
        expect(await stage.log(endpoint, later)).toMatchObject({ status: 'held', attempt_count: 0 });
        receiver.respond(200);
        await stage.change(endpoint, { status: 'enabled' });
        for (const each of [event, later]) await stage.untilLog(endpoint, each, { status: 'delivered' });
      }),
  );
});

/** The events of a race. */
const COUNT = rounds(200, 600);

describe.concurrent('a discard', () => {
  test('cancels what a disabled endpoint holds, of its types and its span, and nothing else; a recovery sends it', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const types = { event_types: ['order.*', 'invoice.*'] };
      const endpoint = await stage.endpoint(receiver, types);
      const other = await stage.endpoint(receiver, types);
      const before = await stage.publish('order.created');
      await stage.untilLog(endpoint, before, { status: 'delivered' });
      await stage.untilLog(other, before, { status: 'delivered' });
      for (const each of [endpoint, other]) await stage.change(each, { status: 'disabled' });
      const doomed = await stage.publishMany(30, 'order.created');
      const kept = await stage.publish('invoice.created');
      const found = await stage.api.post(`${endpoint.path}/preview-recovery`, {
        action: 'discard',
        since: LONG_AGO,
        types: ['order.*'],
      });
      expect(found.body).toMatchObject({ action: 'discard', matching_count: 30 });
      expect(await discard(stage, endpoint, { types: ['order.*'] })).toMatchObject({
        action: 'discard',
        filters: { status: ['pending'], types: ['order.*'] },
        ...{ queued_count: 0, discarded_count: 30, skipped_count: 0 },
      });
      expect(await counts(stage, endpoint)).toEqual({ delivered: 1, held: 1, cancelled: 30 });
      expect(await counts(stage, other)).toEqual({ delivered: 1, held: 31 });
      const { data } = (await stage.api.get(`${endpoint.path}/events?status=cancelled&per_page=100`)).body;
      expect(data.map(({ id }: { id: string }) => id).toSorted()).toEqual(doomed.toSorted());
      expect(data[0]).toMatchObject({ last_error_code: 'discarded', next_attempt_at: null });

      await stage.api.delete(other.path);
      receiver.received.length = 0;
      await stage.change(endpoint, { status: 'enabled' });
      await stage.untilLog(endpoint, kept, { status: 'delivered' });
      expect(idsOf(receiver.received)).toEqual([kept]);
      const recovery = await recover(stage, endpoint, { status: 'cancelled' });
      expect(await untilRecovery(stage, recovery)).toMatchObject({ queued_count: 30, discarded_count: 0 });
      await untilIdle(stage, endpoint);
      expect(await counts(stage, endpoint)).toEqual({ delivered: 32 });
    }));

  test.each([
    [500, 'cancelled'],
    [200, 'delivered'],
  ])('lets an attempt in flight finish: after %i the event is %s, and counted once', (status, ends) =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish();
      await hold.until(1);
      expect(await discard(stage, endpoint)).toMatchObject({ discarded_count: 0, skipped_count: 1 });
      expect(await counts(stage, endpoint)).toEqual({ pending: 1 });
      hold.release(status);
      await stage.untilLog(endpoint, event, { status: ends, attempt_count: 1, next_attempt_at: null });
      await untilIdle(stage, endpoint);
      expect(await counts(stage, endpoint)).toEqual({ [ends]: 1 });
    }),
  );

  test('of the first event of an ordering key lets the next one go', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver, { ordered: true, event_types: null });
      for (const key of ['a', 'b']) {
        const first = await publishUnder(stage, key, 'order.old');
        await stage.untilLog(endpoint, first, { attempt_count: 1 });
        await publishUnder(stage, key, 'order.old');
      }
      const next = [await publishUnder(stage, 'a', 'order.new'), await publishUnder(stage, 'b', 'order.new')];
      receiver.respond(200);
      receiver.received.length = 0;
      expect(await discard(stage, endpoint, { types: ['order.old'] })).toMatchObject({ discarded_count: 4 });
      for (const event of next) await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(idsOf(receiver.received).toSorted()).toEqual(next.toSorted());
      await until('no key is busy', async () => {
        const busy = await stage.world.query('select from queue_keys');
        return busy.length === 0;
      });
    }));

  longRun.test(
    'of an event in flight lets the next one of its ordering key go as soon as that attempt has failed',
    () =>
      onStage({ settings, databaseLatencyMs: 1 }, async (stage) => {
        const receiver = await stage.receiver();
        const hold = holdResponses(receiver);
        const endpoint = await stage.endpoint(receiver, { ordered: true, event_types: null });
        const first = await publishUnder(stage, 'a', 'order.old');
        const next = await publishUnder(stage, 'a', 'order.new');
        await hold.until(1);
        const gone = await discard(stage, endpoint, { types: ['order.old'] });
        expect(gone).toMatchObject({ discarded_count: 0, skipped_count: 1 });
        // the repair of keys would release it too
        const repair = holdBack(stage.world, 'tend_keys');
        hold.release(500);
        await stage.untilLog(endpoint, first, { status: 'cancelled', attempt_count: 1 });
        await stage.untilLog(endpoint, next, { status: 'pending', attempt_count: 1 });
        repair.goOn();
      }),
  );

  longRun.test('leaves a retry by hand of what was delivered before the discard reached it', () =>
    onStage({ settings, databaseLatencyMs: 1 }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const event = await stage.publish('order.old');
      const [first] = (await hold.until(1)).splice(0);
      const locking = holdBack(stage.world, 'select from queue where event_id');
      const body = { since: LONG_AGO, types: ['order.old'] };
      const job = (await stage.api.post(`${endpoint.path}/discard`, body)).body;
      await locking.reached; // it has read that the event is pending
      first?.response.writeHead(200).end();
      await stage.untilLog(endpoint, event, { status: 'delivered' });
      await stage.publishMany(4, 'order.new'); // as many as may be in flight, so that the retry waits
      await hold.until(4);
      expect(await stage.retry(endpoint, event)).toBe(200);
      locking.goOn();
      expect(await untilRecovery(stage, job)).toMatchObject({ discarded_count: 0, skipped_count: 1 });
      hold.release(200);
      await stage.untilLog(endpoint, event, { status: 'delivered', attempt_count: 2 });
      await untilIdle(stage, endpoint);
      expect(await counts(stage, endpoint)).toEqual({ delivered: 5 });
    }),
  );

  test('races with deliveries by two workers: each event is delivered or cancelled, once, and the counts agree', () =>
    onStage({ delivers: false, databaseLatencyMs: 10 }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { event_types: null });
      await stage.backlog(COUNT);
      const workers = [await stage.world.startWorker(), await stage.world.startWorker()];
      await receiver.until(20);
      const gone = await discard(stage, endpoint);
      await untilIdle(stage, endpoint);
      const { delivered = 0, cancelled = 0, ...rest } = await counts(stage, endpoint);
      expect(rest).toEqual({});
      expect(delivered + cancelled).toBe(COUNT);
      // on a busy machine a lease may end before its result is written: the log says so
      const why = await stage.world.query<{ code: string; events: number }>(
        `select last_error_code as code, count(*)::int as events from deliveries
         where endpoint_id = $1 and status = 'cancelled' group by 1`,
        [endpoint.uuid],
      );
      const {
        discarded = 0,
        lost = 0,
        ...others
      } = Object.fromEntries(why.map(({ code, events }) => [code, events]));
      expect(others).toEqual({});
      expect(discarded).toBe(gone.discarded_count);
      expect(discarded).toBeGreaterThan(0);
      expect(lost).toBeLessThanOrEqual(gone.skipped_count);
      expect(new Set(idsOf(receiver.received)).size).toBeGreaterThanOrEqual(delivered);
      await Promise.all(workers.map((worker) => worker.close()));
    }));
});
