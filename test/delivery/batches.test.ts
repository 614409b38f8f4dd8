import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { SIGNING_SCHEMES } from '../../src/client/fields.ts';
import { longRun, someOf } from '../support/depth.ts';
import type { Received } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type Endpoint, holdResponses, metering, onStage, type Stage } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s,1h,1h' };
/** No batch is sent because of its waiting time. */
const PATIENT = { max_wait_ms: 60_000 };
const HASTY = { max_wait_ms: 0 };

/** The ids of the events in a request. */
const idsIn = ({ body }: Received): string[] => JSON.parse(body).map(({ id }: { id: string }) => id);
const allIn = (received: readonly Received[]) => received.flatMap(idsIn);
const sizes = (received: readonly Received[]) => received.map((request) => idsIn(request).length);
const come = (count: number) => (all: Received[]) => new Set(allIn(all)).size >= count;

/** Publishes events in one transaction, in this order; returns their ids. */
async function publishAll({ api }: Stage, events: readonly object[]): Promise<string[]> {
  const { status, text, body } = await api.post('/v2/events/batch', {
    events: events.map((event) => ({ type: 'order.created', ...event })),
  });
  expect(status, text).toBe(200);
  return body.items.map(({ event }: { event: { id: string } }) => event.id);
}
const numbered = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, number) => ({ data: { number }, ...fields }));

const untilEmpty = (stage: Stage, endpoint: Endpoint) =>
  until('nothing waits', async () => (await stage.queue(endpoint)).length === 0);

/** The log records of every delivery of an endpoint. */
const outcomes = ({ world }: Stage, { uuid }: Endpoint) =>
  world.query<{ status: string; attempt_count: number; count: number }>(
    'select status, attempt_count, count(*)::int from deliveries where endpoint_id = $1 group by 1, 2 order by 2, 1',
    [uuid],
  );

describe.concurrent('an endpoint with batches', () => {
  test('gets events in an array, in the order of publishing, under one signature', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 10, ...PATIENT } });
      const ids = await publishAll(stage, numbered(10));
      const [request] = await receiver.until(1);
      const { headers, body } = request!;
      expect(idsIn(request!)).toEqual(ids);
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'webhook-batch-size': '10',
        'webhook-id': expect.stringMatching(/^batch_[0-9a-f]{32}$/),
      });
      expect(headers).not.toHaveProperty('webhook-payload');
      expect(new Webhook(endpoint.secret).verify(body, headers as Record<string, string>)).toHaveLength(10);
      for (const [place, id] of ids.entries()) {
        const log = await stage.untilLog(endpoint, id, { status: 'delivered', attempt_count: 1 });
        expect(log.payload).toEqual(JSON.parse(body)[place]);
        expect(log.attempts).toMatchObject([
          {
            batch: { id: headers['webhook-id'], event_count: 10 },
            request_body: null,
            response_status: 200,
            status: 'succeeded',
          },
        ]);
      }
      // each body is the one it would have had alone
      const alone = await stage.api.get(`/v2/events/${ids[3]}`);
      expect(body).toContain(JSON.stringify(JSON.parse(body)[3]));
      expect(alone.status).toBe(200);
    }));

  test('gets as many as it allows, and the rest when that has waited', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 8, ...PATIENT } });
      const ids = await publishAll(stage, numbered(20));
      await receiver.until(2);
      expect(sizes(receiver.received)).toEqual([8, 8]);
      // the rest waits for more events, unleased, and the log shows it as pending
      await until('four wait', async () => (await stage.queue(endpoint)).length === 4);
      expect((await stage.queue(endpoint)).some(({ leased }) => leased)).toBe(false);
      await stage.untilLog(endpoint, ids[19]!, { status: 'pending', attempt_count: 0 });
      await stage.world.query(
        `update queue set due_at = now() - interval '1 minute' where endpoint_id = $1`,
        [endpoint.uuid],
      );
      await stage.nudge();
      await receiver.until(come(20));
      expect(sizes(receiver.received)).toEqual([8, 8, 4]);
      expect(allIn(receiver.received).sort()).toEqual([...ids].sort());
      await untilEmpty(stage, endpoint);
      expect(await outcomes(stage, endpoint)).toEqual([{ status: 'delivered', attempt_count: 1, count: 20 }]);
    }));

  test('waits as long as configured, and no longer', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 100, max_wait_ms: 700 } });
      const before = performance.now();
      const [first] = await publishAll(stage, numbered(3));
      const [request] = await receiver.until(1);
      expect(request!.at - before).toBeGreaterThan(690);
      expect(idsIn(request!)).toHaveLength(3);
      await stage.untilLog(endpoint, first!, { status: 'delivered' });
    }));

  test('gets no body larger than it allows, and a larger event alone', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const LIMIT = 20_000;
      const endpoint = await stage.endpoint(receiver, {
        batch: { max_events: 100, max_bytes: LIMIT, ...HASTY },
      });
      // of two bytes a letter
      const events = [5000, 5000, 1000, 15_000, 100, 100].map((letters) => ({
        data: { text: 'é'.repeat(letters / 2) },
      }));
      await stage.change(endpoint, { status: 'disabled' });
      const ids = await publishAll(stage, events);
      await stage.change(endpoint, { status: 'enabled' });
      await receiver.until(come(6));
      expect(receiver.received.map(idsIn).sort((a, b) => b.length - a.length)).toEqual(
        [ids.slice(0, 3), ids.slice(3)].sort((a, b) => b.length - a.length),
      );
      await publishAll(stage, [{ data: { text: 'é'.repeat(50_000) } }]);
      await receiver.until(come(7));
      const bytes = receiver.received.map(({ body }) => Buffer.byteLength(body));
      expect(bytes.filter((each) => each > LIMIT)).toHaveLength(1);
      expect(sizes(receiver.received).at(-1)).toBe(1);
    }));

  test('gets arrays of thin events, and of CloudEvents as their SDK reads them', () =>
    onStage({ settings }, async (stage) => {
      const [thin, cloud] = [await stage.receiver(), await stage.receiver()];
      const batch = { max_events: 3, ...PATIENT };
      const thinly = await stage.endpoint(thin, { batch, payload: 'thin' });
      const cloudily = await stage.endpoint(cloud, { batch, payload: 'cloudevents' });
      const ids = await publishAll(stage, numbered(3));
      const [asThin] = await thin.until(1);
      const [asCloud] = await cloud.until(1);
      expect(asThin?.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'webhook-payload': 'thin',
        'webhook-batch-size': '3',
      });
      expect(idsIn(asThin!)).toEqual(ids);
      expect(asCloud?.headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8');
      const read = HTTP.toEvent({ headers: asCloud!.headers, body: asCloud!.body });
      expect(Array.isArray(read) && read.every((one) => one instanceof CloudEvent && one.validate())).toBe(
        true,
      );
      for (const [endpoint, request] of [
        [thinly, asThin],
        [cloudily, asCloud],
      ] as const) {
        const log = await stage.untilLog(endpoint, ids[1]!, { status: 'delivered' });
        // its part of the array, to the byte
        expect(request?.body).toContain(`,${log.attempts[0].request_body},`);
      }
    }));

  test('gets the events of a failed batch one by one: an event that it refuses delays no other', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(({ body }, response) =>
        response.writeHead(body.includes('poison') ? 413 : 200).end('é'.repeat(5000)),
      );
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 6, ...PATIENT } });
      const events = numbered(6);
      const ids = await publishAll(stage, [...events.slice(0, 5), { data: { text: 'poison' } }]);
      for (const id of ids) await stage.untilLog(endpoint, id, { status: 'pending', attempt_count: 1 });
      // one request failed, however many events it contained
      expect(await stage.state(endpoint)).toMatchObject({ failures: 1, lane: 2 });
      await stage.passTime(endpoint);
      await receiver.until(7);
      expect(sizes(receiver.received)).toEqual([6, 1, 1, 1, 1, 1, 1]);
      for (const id of ids.slice(0, 5)) {
        const { attempts } = await stage.untilLog(endpoint, id, { status: 'delivered', attempt_count: 2 });
        expect(attempts[0]).toMatchObject({ response_status: 413, batch: { event_count: 6 } });
        // a copy for each would be large
        expect(attempts[0].response_body).toBe('é'.repeat(1024));
        expect(attempts[0].response_truncated).toBe(true);
        expect(attempts[1]).toMatchObject({ batch: { event_count: 1 }, response_body: 'é'.repeat(5000) });
      }
      await stage.untilLog(endpoint, ids[5]!, { status: 'pending', attempt_count: 2 });
      // later events are sent in a batch
      const later = await publishAll(stage, numbered(6));
      await receiver.until(come(12));
      expect(sizes(receiver.received).at(-1)).toBe(6);
      await stage.untilLog(endpoint, later[0]!, { status: 'delivered', attempt_count: 1 });
    }));

  test('that answers 410 gets nothing more, and is disabled once', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(410);
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 3, ...PATIENT } });
      const ids = await publishAll(stage, numbered(3));
      for (const id of ids) await stage.untilLog(endpoint, id, { status: 'failed', attempt_count: 1 });
      await until('it is disabled', async () => {
        const { body } = await stage.api.get(endpoint.path);
        return body.disabled_reason === 'gone';
      });
      expect(receiver.received).toHaveLength(1);
    }));

  test('has a lane of requests, not of events, and a rate limit of requests', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 5, ...PATIENT } });
      await publishAll(stage, numbered(50));
      await hold.until(4);
      await stage.nudge();
      expect((await stage.queue(endpoint)).filter(({ leased }) => leased)).toHaveLength(20);
      hold.release();
      await receiver.until(come(50));
      await untilEmpty(stage, endpoint);
      expect(sizes(receiver.received)).toEqual(Array(10).fill(5));

      const slow = await stage.receiver();
      const limited = await stage.endpoint(slow, { batch: { max_events: 5, ...PATIENT }, rate_limit: 1 });
      await publishAll(stage, numbered(15));
      for (const requests of [1, 2, 3]) {
        await slow.until(requests);
        // a request counts one second, however many events it contains
        expect((await stage.state(limited)).waits).toBeLessThanOrEqual(1);
      }
      expect(sizes(slow.received)).toEqual([5, 5, 5]);
    }));

  test('gets one event of an ordering key in a request, and the next of the key after that', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(({ body }, response) =>
        response.writeHead(/"number":0[^{]*"key":"a"/.test(body) ? 500 : 200).end(),
      );
      const endpoint = await stage.endpoint(receiver, {
        ordered: true,
        batch: { max_events: 10, max_wait_ms: 50 },
      });
      const of = (key: string) =>
        Array.from({ length: 3 }, (_, number) => ({ ordering_key: key, data: { number, key } }));
      const all = [...of('a'), ...of('b'), ...of('c')];
      // the first of a key fails alone as well: the keys of its neighbours continue
      await publishAll(stage, all);
      const numbersOf = (key: string) =>
        receiver.received
          .flatMap(({ body }) => JSON.parse(body) as { data: { key: string; number: number } }[])
          .filter(({ data }) => data.key === key)
          .map(({ data }) => data.number);
      await until('the first attempt failed', async () =>
        (await stage.queue(endpoint)).some(({ step }) => step > 0),
      );
      await stage.passTime(endpoint);
      await until('keys b and c are done', () => numbersOf('b').includes(2) && numbersOf('c').includes(2));
      for (const key of ['b', 'c']) {
        expect(numbersOf(key).filter((number, place, them) => number !== them[place - 1])).toEqual([0, 1, 2]);
      }
      expect(new Set(numbersOf('a'))).toEqual(new Set([0]));
      receiver.respond(200);
      await stage.passTime(endpoint);
      await untilEmpty(stage, endpoint);
      expect(numbersOf('a').filter((number, place, them) => number !== them[place - 1])).toEqual([0, 1, 2]);
      for (const { body } of receiver.received) {
        const keys = JSON.parse(body).map(({ data }: { data: { key: string } }) => data.key);
        expect(new Set(keys).size).toBe(keys.length);
      }
    }));

  test('gets a retry by hand at once and alone, and a recovery in batches', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 20, max_wait_ms: 300 } });
      const ids = await publishAll(stage, numbered(60));
      await receiver.until(come(60));
      await untilEmpty(stage, endpoint);
      await stage.change(endpoint, { batch: { max_events: 20, ...PATIENT } });
      expect(await stage.retry(endpoint, ids[7]!)).toBe(200);
      await stage.untilLog(endpoint, ids[7]!, { attempt_count: 2 });
      expect(idsIn(receiver.received.at(-1)!)).toEqual([ids[7]]);
      const sent = receiver.received.length;
      const { status } = await stage.api.post(`${endpoint.path}/recover`, {
        since: '2020-01-01T00:00:00Z',
        status: ['delivered'],
      });
      expect(status).toBe(201);
      await until('all were sent again', async () =>
        (await outcomes(stage, endpoint)).every((row) => row.attempt_count > 1),
      );
      expect(sizes(receiver.received.slice(sent))).toEqual([20, 20, 20]);
    }));

  test('gets a waiting event at once and alone when it is retried by hand, and a test event likewise', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 20, ...PATIENT } });
      const [first, second, third] = (await publishAll(stage, numbered(3))) as [string, string, string];
      expect(await stage.retry(endpoint, second)).toBe(200);
      const log = await stage.untilLog(endpoint, second, { status: 'delivered' });
      expect(log.attempts).toMatchObject([{ number: 1, trigger: 'scheduled' }]);
      const { status, body } = await stage.api.post(`${endpoint.path}/test`, {});
      expect(status).toBe(201);
      const tested = await stage.untilLog(endpoint, body.id, { status: 'delivered' });
      expect(tested.attempts).toMatchObject([{ number: 1, trigger: 'scheduled' }]);
      expect(receiver.received.map(idsIn)).toEqual([[second], [body.id]]);
      // the others still wait for more
      await stage.change(endpoint, { batch: { max_events: 2, ...PATIENT } });
      for (const id of [first, third]) await stage.untilLog(endpoint, id, { status: 'delivered' });
      expect(idsIn(receiver.received[2]!)).toEqual([first, third]);
    }));

  test('that is disabled while events wait keeps them, and gets them when it is enabled', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 100, ...PATIENT } });
      const ids = await publishAll(stage, numbered(5));
      await stage.change(endpoint, { status: 'disabled' });
      await stage.untilLog(endpoint, ids[0]!, { status: 'held' });
      await stage.change(endpoint, { status: 'enabled' });
      const [request] = await receiver.until(1);
      expect(idsIn(request!)).toEqual(ids);
      // a test event is like any other
      await stage.change(endpoint, { batch: { max_events: 100, ...HASTY } });
      expect((await stage.api.post(`${endpoint.path}/test`)).status).toBe(201);
      const [, tested] = await receiver.until(2);
      expect(JSON.parse(tested!.body)).toMatchObject([{ type: 'webhook_endpoint.test', is_test: true }]);
    }));

  test('that is deleted gets none of its waiting events', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 100, ...PATIENT } });
      const ids = await publishAll(stage, numbered(5));
      expect((await stage.api.delete(endpoint.path)).status).toBe(204);
      await stage.untilLog(endpoint, ids[4]!, { status: 'failed', last_error_code: 'endpoint_deleted' });
      await untilEmpty(stage, endpoint);
      expect(receiver.received).toHaveLength(0);
    }));

  test('without batches again gets one event per request, as before', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 100, ...PATIENT } });
      const ids = await publishAll(stage, numbered(3));
      await stage.change(endpoint, { batch: null });
      await receiver.until(3);
      expect(receiver.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual([...ids].sort());
      for (const { headers } of receiver.received) expect(headers).not.toHaveProperty('webhook-batch-size');
      const log = await stage.untilLog(endpoint, ids[0]!, { status: 'delivered' });
      expect(log.attempts[0].batch).toBeNull();
    }));
});

describe.concurrent('batches and workers', () => {
  test('events in flight when their worker died are sent again, in a batch, and nothing is lost', () =>
    onStage({ delivers: false, settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 4, ...PATIENT } });
      await stage.world.startWorker();
      const ids = await publishAll(stage, numbered(8));
      await hold.until(2);
      // its leases end, as if it were gone
      await stage.world.query(
        `update queue set due_at = now() - interval '1 second' where endpoint_id = $1 and lease_token is not null`,
        [endpoint.uuid],
      );
      await stage.world.startWorker();
      await hold.until(4);
      hold.release();
      for (const id of ids) {
        const { attempts } = await stage.untilLog(endpoint, id, { status: 'delivered', attempt_count: 2 });
        expect(attempts.map(({ error_code }: { error_code: string | null }) => error_code)).toEqual([
          'lost',
          null,
        ]);
      }
      expect(sizes(receiver.received)).toEqual([4, 4, 4, 4]);
      const names = receiver.received.map(({ headers }) => headers['webhook-id']);
      expect(new Set(names).size).toBe(4);
    }));

  longRun.test('two workers share a lane, and send each event once', () =>
    onStage({ delivers: false, settings, databaseLatencyMs: 10 }, async (stage) => {
      const receiver = await stage.receiver();
      const meter = metering(receiver, { answerMs: 30 });
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 10, max_wait_ms: 200 } });
      await stage.world.query('update endpoint_state set lane = 1 where endpoint_id = $1', [endpoint.uuid]);
      await Promise.all([stage.world.startWorker(), stage.world.startWorker()]);
      await stage.backlog(200);
      await receiver.until(come(200));
      await untilEmpty(stage, endpoint);
      expect(allIn(receiver.received)).toHaveLength(200);
      expect(await outcomes(stage, endpoint)).toEqual([
        { status: 'delivered', attempt_count: 1, count: 200 },
      ]);
      // it doubles after as many requests as it is wide, not events
      expect(meter.most).toBeLessThanOrEqual(16);
    }),
  );

  test('neighbours without batches get their events as usual, whatever a batch waits for', () =>
    onStage({ settings }, async (stage) => {
      const [batching, plain] = [await stage.receiver(), await stage.receiver()];
      const hold = holdResponses(batching);
      await stage.endpoint(batching, { batch: { max_events: 2, ...PATIENT } });
      const endpoint = await stage.endpoint(plain);
      // its lane is full and a backlog waits
      const ids = await publishAll(stage, numbered(30));
      await hold.until(4);
      await plain.until(30);
      for (const id of await stage.publishMany(10)) {
        await stage.untilLog(endpoint, id, { status: 'delivered', attempt_count: 1 });
      }
      for (const { headers, body } of plain.received) {
        expect(headers['webhook-id']).toBe(JSON.parse(body).id);
        expect(headers).not.toHaveProperty('webhook-batch-size');
      }
      expect(ids).toHaveLength(30);
      hold.release();
      await batching.until(come(40));
    }));
});

describe.concurrent('limits of batches', () => {
  test('are checked, and missing ones have their default', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { batch: {} });
      const batchOf = async () => (await stage.api.get(endpoint.path)).body.batch;
      expect(await batchOf()).toEqual({ max_events: 100, max_bytes: 1_048_576, max_wait_ms: 1000 });
      await stage.change(endpoint, { batch: { max_events: 1000, max_bytes: 4_194_304, max_wait_ms: 0 } });
      expect(await batchOf()).toEqual({ max_events: 1000, max_bytes: 4_194_304, max_wait_ms: 0 });
      await stage.change(endpoint, { batch: await batchOf(), description: 'the record can be sent back' });
      for (const [batch, field, rule] of [
        [{ max_events: 1 }, 'batch.max_events', '2'],
        [{ max_events: 1001 }, 'batch.max_events', '1000'],
        [{ max_bytes: 16_383 }, 'batch.max_bytes', '16384'],
        [{ max_bytes: 4_194_305 }, 'batch.max_bytes', '4194304'],
        [{ max_wait_ms: -1 }, 'batch.max_wait_ms', '0'],
        [{ max_wait_ms: 60_001 }, 'batch.max_wait_ms', '60000'],
        [{ max_wait_ms: 1.5 }, 'batch.max_wait_ms', 'integer'],
        [{ events: 5 }, 'batch', 'events'],
        [7, 'batch', 'object'],
      ] as const) {
        const { status, body } = await stage.api.patch(endpoint.path, { batch });
        expect(status).toBe(400);
        expect(body.error.message.replaceAll(',', '')).toContain(field);
        expect(body.error.message.replaceAll(',', '')).toContain(rule);
      }
      expect(await batchOf()).toEqual({ max_events: 1000, max_bytes: 4_194_304, max_wait_ms: 0 });
    }));

  test('exclude schemes whose receivers read one event from a request', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const ofBatches = ['standard', 'ed25519'];
      const others = Object.keys(SIGNING_SCHEMES).filter((name) => !ofBatches.includes(name));
      for (const signing of someOf(others, 2)) {
        const url = receiver.url;
        const made = await stage.api.post('/v2/webhook-endpoints', { url, signing, batch: {} });
        expect(made.status).toBe(400);
        expect(made.body.error.message).toContain(
          `signing must be standard, ed25519 or custom with batch: a receiver for ${signing}`,
        );
        const endpoint = await stage.endpoint(receiver, { signing });
        const set = await stage.api.patch(endpoint.path, { batch: {} });
        expect(set.body.error.message).toBe(made.body.error.message);
        await stage.change(endpoint, { signing: 'standard', secret: `whsec_${'A'.repeat(32)}`, batch: {} });
        const back = await stage.api.patch(endpoint.path, { signing });
        expect(back.body.error.message).toBe(made.body.error.message);
      }
      const custom_signing = { header: 'x-sign', content: '{id}.{body}', encoding: 'hex' };
      await stage.endpoint(receiver, { signing: 'custom', custom_signing, batch: {} });
    }));
});
