import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import {
  ApiError,
  type Client,
  ConnectionError,
  createClient,
  type RequestInfo,
  type ResponseInfo,
} from '../../src/client/client.ts';
import { type Answer, hangUp, json, nothing, refusal, stub } from './support.ts';

const page = { data: [], pagination: { page: 1, limit: 50, total: 0, pages: 0 } };
const busy = refusal(500, 'internal_error', {
  'retry-after': '0',
  'payhook-reason': 'database_unavailable',
});
const UUID = /^[0-9a-f-]{36}$/;

test('a write without a response is sent again with the same Idempotency-Key, and each call has its own', async () => {
  const { client, seen } = await stub(hangUp, json(201, { id: 'key_1' }));
  expect(await client.apiKeys.create({ name: 'ci' })).toEqual({ id: 'key_1' });
  await client.apiKeys.create({ name: 'ci' });
  expect(seen.map(({ body }) => body)).toEqual(Array(3).fill('{"name":"ci"}'));
  const [lost, again, other] = seen.map(({ headers }) => headers['idempotency-key']);
  expect(lost).toMatch(UUID);
  expect(again).toBe(lost);
  expect(other).toMatch(UUID);
  expect(other).not.toBe(lost);
});

test("the caller's key is sent unchanged; reads and DELETE have none", async () => {
  const some = json(200, page);
  const { client, seen } = await stub(some, some, some, some, nothing);
  await client.payouts.create({}, { idempotencyKey: 'september' });
  await client.payouts.complete('po_1', { commissions: [] }, { idempotencyKey: 'september-paid' });
  await client.payouts.list();
  await client.account.change({ name: 'Northwind' }, { idempotencyKey: 'name' });
  await client.payouts.delete('po_1');
  expect(seen.map(({ method, headers }) => [method, headers['idempotency-key']])).toEqual([
    ['POST', 'september'],
    ['PUT', 'september-paid'],
    ['GET', undefined],
    ['PATCH', 'name'],
    ['DELETE', undefined],
  ]);
});

test('a 500 with Retry-After is retried, one without and a 4xx are not', async () => {
  const again = await stub(busy, busy, json(200, page));
  expect(await again.client.payouts.list()).toEqual(page);
  expect(again.seen).toHaveLength(3);
  for (const answer of [refusal(500, 'internal_error'), refusal(409, 'conflict', { 'retry-after': '0' })]) {
    const once = await stub(answer);
    await expect(once.client.payouts.create()).rejects.toThrow('it is');
    expect(once.seen).toHaveLength(1);
  }
});

test.each([
  ['payouts.delete', nothing, (client) => client.payouts.delete('po_1', { ifMatch: 3 })],
] as const satisfies readonly (readonly [string, Answer, (client: Client) => Promise<unknown>])[])(
  '%s is sent once when it may have been done, and again when the server rejected it',
  async (_, success, call) => {
    for (const answer of [hangUp, busy, refusal(503, 'internal_error')]) {
      const once = await stub(answer);
      await expect(call(once.client)).rejects.toThrow();
      expect(once.seen).toHaveLength(1);
    }
    const again = await stub(refusal(429, 'too_many', { 'retry-after': '0' }), success);
    await call(again.client);
    expect(again.seen).toHaveLength(2);
  },
);

test('an unreachable server is reported as such, after the configured retries', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const url = `http://127.0.0.1:${port}`;
  const client = createClient({ url, apiKey: 'x', retries: 1 });
  const failure = client.payouts.delete('po_1').catch((error: unknown) => error);
  expect(await failure).toBeInstanceOf(ConnectionError);
  expect(await failure).toMatchObject({ message: expect.stringMatching(`^no answer from ${url}: .+`) });
  await client.close();
});

test('the options of the client set the retries, and those of a call override them', async () => {
  const { url, seen, client } = await stub(busy);
  await expect(client.account.get()).rejects.toThrow();
  expect(seen.splice(0)).toHaveLength(4);
  const hasty = createClient({ url, apiKey: 'x', retries: 1 });
  await expect(hasty.account.get()).rejects.toThrow();
  expect(seen.splice(0)).toHaveLength(2);
  await expect(hasty.account.get({ retries: 0 })).rejects.toThrow();
  expect(seen.splice(0)).toHaveLength(1);
  await expect(hasty.account.get({ retries: 2 })).rejects.toThrow();
  expect(seen).toHaveLength(3);
  await hasty.close();
});

test('a signal ends a call, even one waiting for its retry', async () => {
  const { client, seen } = await stub(refusal(500, 'internal_error', { 'retry-after': '60' }));
  const signal = AbortSignal.timeout(500); // long after the refusal, long before the retry
  const calls = [client.account.get({ signal }), client.payouts.create({}, { signal })];
  await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ name: 'TimeoutError' })));
  await expect(client.account.get({ signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(seen).toHaveLength(2);
});

test('the client gives up on a silent server after timeoutMs', async () => {
  const { client, seen } = await stub(() => undefined);
  const silent = client.account.get({ timeoutMs: 100, retries: 0 });
  await expect(silent).rejects.toMatchObject({
    name: 'ConnectionError',
    message: /the server sent nothing for 0.1 seconds/,
  });
  expect(seen).toHaveLength(1);
});

test('an interrupted response is requested again', async () => {
  const cut: Answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"id":', () => response.destroy());
  };
  const { client, seen } = await stub(cut, json(200, { id: 'acc_1' }));
  expect(await client.account.get()).toEqual({ id: 'acc_1' });
  expect(seen).toHaveLength(2);
});

test('a refusal has status, code, reason, request id and the time of the next try', async () => {
  const { client } = await stub(
    refusal(404, 'not_found', {
      'payhook-reason': 'resource_missing',
      'payhook-request-id': 'req_1',
      'retry-after': '7',
    }),
  );
  const refused = await client.payouts.get('po_1').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({
    name: 'ApiError',
    status: 404,
    code: 'not_found',
    reason: 'resource_missing',
    requestId: 'req_1',
    retryAfter: 7,
    message: 'it is not_found',
  });
});

test('a response that is not from the API is reported as such and is no success', async () => {
  const html =
    (status: number): Answer =>
    (_, response) =>
      void response.writeHead(status, { location: '/', 'content-type': 'text/html' }).end('<h1>Hello</h1>');
  for (const status of [301, 403, 500, 504]) {
    const { client, seen } = await stub(html(status));
    const refused = client.webhookEndpoints.retry('we_1', 'evt_1', { retries: 0 });
    await expect(refused).rejects.toMatchObject({
      status,
      name: status < 500 ? 'ApiError' : 'ConnectionError',
      message: expect.stringContaining(
        `the server answered HTTP ${status} without an error of the API: is the address right?`,
      ),
    });
    expect(seen).toHaveLength(1);
  }
  const { client, seen } = await stub(html(200));
  await expect(client.account.get()).rejects.toThrow('the answer is not JSON: is the address right?');
  await expect(client.webhookEndpoints.retry('we_1', 'evt_1')).rejects.toThrow('is the address right?');
  expect(seen).toHaveLength(2);
});

test('a server behind a path is asked there, with the name of the program', async () => {
  const { url, seen } = await stub(json(200, page));
  const client = createClient({ url: `${url}/behind/a/proxy/`, apiKey: 'secret', userAgent: 'my-shop/1.4' });
  await client.payouts.list({ status: 'paid', per_page: 20, sort: undefined, 'paid_at[gte]': '2026-01-01' });
  expect(seen[0]).toMatchObject({
    url: '/behind/a/proxy/v2/affiliates/payouts?status=paid&per_page=20&paid_at%5Bgte%5D=2026-01-01',
    headers: { authorization: 'Bearer secret', 'user-agent': 'my-shop/1.4' },
  });
  await client.close();
  expect(() => createClient({ url: 'payhook.example.com', apiKey: 'x' })).toThrow(TypeError);
});

test('onRequest and onResponse get each attempt with its status, request id, replay and failure', async () => {
  const replay = { 'payhook-request-id': 'req_2', 'idempotent-replayed': 'true' };
  const { url } = await stub(
    refusal(503, 'internal_error', { 'retry-after': '0', 'payhook-request-id': 'req_1' }),
    json(201, {}, replay),
  );
  const [requests, responses]: [RequestInfo[], ResponseInfo[]] = [[], []];
  const client = createClient({
    url,
    apiKey: 'secret',
    onRequest: (request) => requests.push(request),
    onResponse: (response) => responses.push(response),
  });
  await client.payouts.create({}, { idempotencyKey: 'key-1' });
  const about = { method: 'POST', path: '/v2/affiliates/payouts', idempotencyKey: 'key-1' };
  expect(requests).toMatchObject([1, 2].map((attempt) => ({ ...about, attempt })));
  expect(responses).toMatchObject([
    { ...about, attempt: 1, status: 503, requestId: 'req_1', replayed: false, error: expect.any(ApiError) },
    { ...about, attempt: 2, status: 201, requestId: 'req_2', replayed: true, error: null },
  ]);
  expect(responses.every(({ durationMs }) => durationMs >= 0)).toBe(true);
  await expect(requests[0]?.over).resolves.toBeUndefined();
  await client.close();
  await expect(client.account.get({ retries: 0 })).rejects.toThrow(ConnectionError);
  expect(responses[2]).toMatchObject({ status: null, requestId: null, error: expect.any(ConnectionError) });
});

test('publishMany sends more than 1,000 events in several requests, whose keys are the same when it is repeated', async () => {
  const item = { index: 0, status: 201, event: { id: 'evt_1' } };
  const { client, seen } = await stub(json(200, { object: 'event_batch', items: [item] }));
  const events = Array.from({ length: 2500 }, (_, n) => ({ type: 'order.created', data: { n } }));
  const { items } = await client.events.publishMany(events, { idempotencyKey: 'key' });
  expect(seen.map(({ body }) => JSON.parse(body).events.length)).toEqual([1000, 1000, 500]);
  expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['key-0', 'key-1', 'key-2']);
  expect(items.map(({ index }) => index)).toEqual([0, 1, 2]);
  const large = Array.from({ length: 3 }, () => ({
    type: 'order.created',
    data: { text: 'x'.repeat(6 << 20) },
  }));
  await client.events.publishMany(large);
  expect(seen.slice(3).map(({ body }) => JSON.parse(body).events.length)).toEqual([2, 1]);
});

test('withResponse adds the status, the request id and whether the response is a replay', async () => {
  const { client } = await stub(
    json(200, { name: 'shop' }, { 'payhook-request-id': 'req_1', 'idempotent-replayed': 'true' }),
    refusal(404, 'not_found'),
  );
  expect(await client.account.change({ name: 'shop' }).withResponse()).toEqual({
    data: { name: 'shop' },
    response: { status: 200, requestId: 'req_1', replayed: true },
  });
  // nobody waits for the result itself: its failure is not unhandled
  await expect(client.account.get().withResponse()).rejects.toThrow(ApiError);
});

test('completing sends the revision', async () => {
  const { client, seen } = await stub(json(200, {}));
  const commissions = [{ affiliate_id: 1, is_paid: true }];
  await client.payouts.complete('po_1', { commissions, require_all: true }, { ifMatch: 7 });
  expect(seen[0]).toMatchObject({
    method: 'PUT',
    url: '/v2/affiliates/payouts/po_1',
    headers: { 'if-match': '"7"' },
  });
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ commissions, require_all: true });
});

test('a file is sent with its length and reports progress, and a lost attempt starts again from the beginning', async () => {
  const { client, seen } = await stub(hangUp, json(200, { created: 1 }));
  const progress: number[] = [];
  const file = {
    bytes: 6,
    repeatable: true,
    open: () => Readable.from([Buffer.from('abc'), Buffer.from('def')]),
    onProgress: (sent: number) => void progress.push(sent),
  };
  await client.commissions.import(file, { dry_run: true });
  expect(progress).toEqual([0, 3, 6, 0, 3, 6]);
  expect(seen[1]).toMatchObject({
    url: '/v2/affiliates/commissions/import?dry_run=true',
    headers: { 'content-type': 'text/csv', 'content-length': '6' },
    body: 'abcdef',
  });
  expect(seen[1]?.headers['idempotency-key']).toBe(seen[0]?.headers['idempotency-key']);
});

test('a file is a text, bytes or a stream; a stream that can be read once is not sent again', async () => {
  const { client, seen } = await stub(json(200, {}));
  await client.affiliates.import('email\nzoë@example.com\n');
  await client.affiliates.import(Buffer.from('email\n'));
  expect(seen.map(({ body, headers }) => [body, headers['content-length']])).toEqual([
    ['email\nzoë@example.com\n', '23'],
    ['email\n', '6'],
  ]);
  const once = await stub(hangUp);
  const file = { repeatable: false, open: () => Readable.from([Buffer.from('abc')]) };
  await expect(once.client.affiliates.import(file)).rejects.toThrow('no answer');
  expect(once.seen).toHaveLength(1);
});

test('a download has its name, revision and skipped lines, and fails when it is interrupted', async () => {
  const head = {
    'content-disposition': 'attachment; filename="payout-1-r3.csv"',
    etag: '"3"',
    'payhook-skipped-affiliates': '2',
  };
  const whole: Answer = (_, response) => void response.writeHead(200, head).end('a,b\r\n');
  const cut: Answer = (_, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename="../../etc/passwd"' });
    response.write('a,b\r\n', () => response.destroy());
  };
  const { client } = await stub(whole, cut);
  const { stream, ...about } = await client.payouts.download('po_1');
  const ofPaymentFiles = { fileSet: null, replacesFileSet: null, inOtherFiles: null };
  expect(about).toEqual({
    name: 'payout-1-r3.csv',
    revision: 3,
    skipped: 2,
    aboveLimit: null,
    ...ofPaymentFiles,
  });
  expect(await text(stream)).toBe('a,b\r\n');
  const broken = await client.payouts.download('po_1');
  expect(broken).toMatchObject({ name: null, revision: null, skipped: null });
  await expect(text(broken.stream)).rejects.toMatchObject({
    name: 'ConnectionError',
    message: expect.stringContaining('the download was cut off'),
  });
});

describe('the outcome of a failed write', () => {
  const create = (client: Client, options: object = {}) =>
    client.payouts.create({}, { retries: 0, ...options }).catch((error: unknown) => error);
  const gateway: Answer = (_, response) => void response.writeHead(504).end('<h1>Gateway Time-out</h1>');
  const own = (reason: string) => refusal(500, 'internal_error', { 'payhook-reason': reason });

  test.each([
    ['a gateway answered in its place', gateway],
    ['the server failed', own('internal_error')],
    ['the server lost its database', own('database_unavailable')],
    ['the connection was lost', hangUp],
  ])('is unknown when %s: the error carries the key to repeat it with', async (_, answer) => {
    const { client, seen } = await stub(answer, answer, json(201, { id: 'po_1' }));
    const failure = await create(client);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(failure).toMatchObject({
      outcome: 'unknown',
      idempotencyKey: seen[0]?.headers['idempotency-key'],
      message: expect.stringContaining('not known whether'),
    });
    expect(await create(client, { idempotencyKey: 'mine' })).toMatchObject({ idempotencyKey: 'mine' });
    const { idempotencyKey } = failure as ConnectionError;
    await client.payouts.create({}, { idempotencyKey: idempotencyKey ?? undefined });
    expect(seen[2]?.headers['idempotency-key']).toBe(idempotencyKey);
  });

  test('is "nothing changed" when the API refused it, or nothing reached the server', async () => {
    for (const reason of ['disk_full', 'shutting_down']) {
      const { client } = await stub(own(reason));
      expect(await create(client)).toBeInstanceOf(ApiError);
    }
    const { client } = await stub(gateway);
    const read = await client.account.get({ retries: 0 }).catch((error: unknown) => error);
    expect(read).toMatchObject({ name: 'ConnectionError', outcome: 'not_done', status: 504 });
  });

  test('stays unknown when a repeat is refused before it is compared with the first attempt', async () => {
    const late = refusal(429, 'too_many', { 'payhook-reason': 'rate_limited', 'retry-after': '3600' });
    const { client } = await stub(gateway, late);
    expect(await create(client, { retries: 1 })).toMatchObject({
      ...{ name: 'ConnectionError', outcome: 'unknown', status: 429 },
    });
    const answered = await stub(gateway, refusal(409, 'conflict', { 'payhook-reason': 'nothing_to_pay' }));
    expect(await create(answered.client, { retries: 1 })).toBeInstanceOf(ApiError);
  });
});
