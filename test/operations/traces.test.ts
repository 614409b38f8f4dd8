import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { onStage } from '../delivery/support.ts';
import { until } from '../support/wire.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const STATE = 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

describe('a trace', () => {
  /** A collector for OTLP/HTTP with JSON. */
  const spans: Span[] = [];
  const services = new Set<unknown>();
  const collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url !== '/v1/traces') return void response.writeHead(404).end();
    const sent = JSON.parse(Buffer.concat(chunks).toString());
    for (const { resource, scopeSpans } of sent.resourceSpans) {
      for (const { key, value } of resource.attributes)
        if (key === 'service.name') services.add(value.stringValue);
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  let traced: { settings: Record<string, string>; own: true };
  beforeAll(async () => {
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    // its own world: a server sends its last spans when it stops
    traced = { settings: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }, own: true };
  });
  beforeEach(() => {
    spans.length = 0;
  });
  afterAll(() => void collector.close());

  const named = (name: string) => spans.filter((span) => span.name === name);
  const attribute = ({ attributes }: Span, key: string) => {
    const value = attributes.find((one) => one.key === key)?.value ?? {};
    return Object.values(value)[0];
  };

  test('covers the request, its transaction and its event, each attempt, and the receiver', async () => {
    let received: (string | undefined)[] = [];
    await onStage(traced, async ({ api, ...stage }) => {
      const receiver = await stage.receiver();
      receiver.respond((_request, response, count) => response.writeHead(count === 1 ? 500 : 200).end());
      const endpoint = await stage.endpoint(receiver);
      const { body } = await api.post(
        '/v2/events',
        { type: 'order.created', data: {} },
        { traceparent: PARENT, tracestate: STATE },
      );
      await receiver.until(1);
      await stage.untilLog(endpoint, body.id, { attempt_count: 1 });
      await stage.retry(endpoint, body.id);
      await receiver.until(2);
      await stage.untilLog(endpoint, body.id, { status: 'delivered' });
      received = receiver.received.map(({ headers }) => headers.traceparent as string | undefined);
      for (const { headers } of receiver.received)
        expect(headers.tracestate?.toString().replaceAll(' ', '')).toBe(STATE.replaceAll(' ', ''));
    });
    // stopping the server sends the rest
    const [request] = named('POST /v2/events');
    const transaction = named('transaction').find(({ parentSpanId }) => parentSpanId === request?.spanId);
    const [publish] = named('publish order.created');
    const attempts = named('attempt');
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: '00f067aa0ba902b7', kind: 2 });
    expect(attribute(request as Span, 'http.response.status_code')).toBe(201);
    expect(publish).toMatchObject({ traceId: TRACE, parentSpanId: transaction?.spanId, kind: 4 });
    expect(attempts.map(({ traceId, parentSpanId, kind }) => [traceId, parentSpanId, kind])).toEqual([
      [TRACE, publish?.spanId, 3],
      [TRACE, publish?.spanId, 3],
    ]);
    expect(attempts.map((one) => [attribute(one, 'http.response.status_code'), one.status.code])).toEqual([
      [500, 2],
      [200, 0],
    ]);
    expect(received).toEqual(attempts.map(({ spanId }) => `00-${TRACE}-${spanId}-01`));
    expect([...services]).toEqual(['payhook']);
  });

  test("covers a batch, each of its events and their attempt, and an event of Payhook's own; it begins at a request whose traceparent is missing or not well-formed", async () => {
    const other = TRACE.replace('4', '5');
    await onStage(traced, async ({ api, ...stage }) => {
      const receiver = await stage.receiver();
      await stage.endpoint(receiver);
      const events = ['order.created', 'order.paid'].map((type) => ({ type, data: {} }));
      await api.post('/v2/events/batch', { events }, { traceparent: PARENT, tracestate: STATE });
      await receiver.until(2);
      for (const { headers } of receiver.received) expect(headers.tracestate).toContain('rojo=');

      const owned = await stage.receiver();
      await stage.endpoint(owned, { event_types: ['affiliate.created'] });
      const affiliate = { email: 'a@example.com', name_first: 'A' };
      const made = await api.post('/v2/affiliates', affiliate, { traceparent: PARENT.replace('4', '5') });
      expect(made.status, made.text).toBe(201);
      await owned.until(1);
      expect(owned.received[0]?.headers.traceparent).toMatch(new RegExp(`^00-${other}-`));

      for (const traceparent of [
        '',
        PARENT.toUpperCase(),
        PARENT.slice(0, -1),
        `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      ]) {
        const headers = { traceparent };
        expect((await api.get('/v2/affiliates', { headers })).status).toBe(200);
      }
    });
    const [request] = named('POST /v2/events/batch');
    const transaction = named('transaction').find(({ parentSpanId }) => parentSpanId === request?.spanId);
    const published = [...named('publish order.created'), ...named('publish order.paid')];
    expect(published.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual(
      Array(2).fill([TRACE, transaction?.spanId]),
    );
    const attempts = named('attempt').filter(({ traceId }) => traceId === TRACE);
    expect(attempts.map(({ parentSpanId }) => parentSpanId).toSorted()).toEqual(
      published.map(({ spanId }) => spanId).toSorted(),
    );

    expect(named('publish affiliate.created')).toMatchObject([{ traceId: other }]);
    expect(named('attempt').filter(({ traceId }) => traceId === other)).toHaveLength(1);
    expect(named('attempt')).toHaveLength(3);

    const requests = named('GET /v2/affiliates');
    expect(requests).toHaveLength(4);
    for (const { traceId, parentSpanId } of requests) {
      expect(traceId).not.toContain(TRACE);
      expect(parentSpanId ?? '').toBe('');
    }
  });
});

test('without a collector receivers get the traceparent of the caller, also for claimed events', () =>
  onStage({ delivers: false }, async ({ api, world, ...stage }) => {
    const receiver = await stage.receiver();
    const endpoint = await stage.endpoint(receiver);
    const publish = (headers: Record<string, string>) =>
      api.post('/v2/events', { type: 'order.created', data: {} }, headers);
    const [traced, untraced, broken] = [
      await publish({ traceparent: PARENT, tracestate: STATE }),
      await publish({ tracestate: STATE }),
      await publish({ traceparent: `${PARENT}\t` }),
    ];
    await publish({ traceparent: 'nonsense', tracestate: STATE });
    const worker = await world.startWorker();
    await receiver.until(4);
    const passed = (id: string) =>
      receiver.received.find(({ headers }) => headers['webhook-id'] === id)?.headers.traceparent;
    expect(passed(traced.body.id)).toBe(PARENT);
    expect(passed(untraced.body.id)).toBeUndefined();
    expect(passed(broken.body.id)).toBe(PARENT); // surrounding blanks are not part of a value
    expect(receiver.received.filter(({ headers }) => headers.traceparent !== undefined)).toHaveLength(2);
    const states = receiver.received.map(({ headers }) => headers.tracestate);
    expect(states.filter((state) => state !== undefined)).toEqual([STATE]);
    const log = await stage.untilLog(endpoint, traced.body.id, { status: 'delivered' });
    expect(JSON.stringify(log)).toContain(PARENT);
    await worker.close();
  }));

test('custom trace headers of an endpoint stay unchanged', () =>
  onStage({}, async ({ api, ...stage }) => {
    const receiver = await stage.receiver();
    await stage.endpoint(receiver, { headers: { Traceparent: 'mine' } });
    const second = await stage.receiver();
    await stage.endpoint(second, { headers: { Tracestate: 'mine' } });
    const headers = { traceparent: PARENT, tracestate: STATE };
    await api.post('/v2/events', { type: 'order.created', data: {} }, headers);
    await Promise.all([receiver.until(1), second.until(1)]);
    const traced = [receiver, second].map(({ received: [first] }) => [
      first?.headers.traceparent,
      first?.headers.tracestate,
    ]);
    expect(traced).toEqual([
      ['mine', undefined],
      [PARENT, 'mine'],
    ]);
  }));

test('a well-formed X-Request-Id is returned and logged, another one is ignored', () =>
  onStage({ delivers: false }, async ({ api, world }) => {
    const good = 'order-4711/a.b:c+d=e@f_G';
    for (const id of [good, 'x'.repeat(128)]) {
      const answer = await api.get('/v2/affiliates', { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toBe(id);
      const ours = answer.headers.get('payhook-request-id');
      expect(ours).toMatch(/^req_[0-9a-f]{24}$/);
      await until('its line in the log', () =>
        world.log.some(({ reqId, x_request_id: theirs }) => reqId === ours && theirs === id),
      );
    }
    for (const id of ['', 'two words', 'x'.repeat(129), '<script>', 'a"b', 'é']) {
      const answer = await api.get('/v2/affiliates', { headers: { 'x-request-id': id } });
      expect(answer.headers.get('x-request-id')).toBeNull();
      const line = await until('its line in the log', () =>
        world.log.find(
          ({ reqId, msg }) => msg === 'request' && reqId === answer.headers.get('payhook-request-id'),
        ),
      );
      expect(line).not.toHaveProperty('x_request_id');
    }
  }));
