import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { startMachine } from './support.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that answers its requests with one answer after the other, the last one for ever. */
async function server(...answers: Answer[]): Promise<{ client: Client; url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const http = createServer(async (request, response) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    const { method, url, headers } = request;
    const body = await text(request).catch(() => 'cut off');
    seen.push({ method, url, headers, body });
    answer?.(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const client = createClient({ url, apiKey: 'secret' });
  closers.push(async () => {
    await client.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { client, url, seen };
}

const hangUp: Answer = (request) => void request.socket.destroy();
const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { error: { code, message: `it is ${code}` } }, headers);

test('a write whose answer was lost is sent again with the same Idempotency-Key', async () => {
  const { client, seen } = await server(hangUp, json(201, { id: 'key_1' }));
  expect(await client.createKey('ci')).toEqual({ id: 'key_1' });
  expect(seen.map(({ body }) => body)).toEqual(['{"name":"ci"}', '{"name":"ci"}']);
  const keys = seen.map(({ headers }) => headers['idempotency-key']);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(keys[1]).toBe(keys[0]);
});

test('a 500 with Retry-After is tried again, one without and a 4xx are not', async () => {
  const busy = refusal(500, 'internal_error', {
    'retry-after': '0',
    'payhook-reason': 'database_unavailable',
  });
  const again = await server(busy, busy, json(200, { data: [] }));
  expect(await again.client.listPayouts()).toEqual({ data: [] });
  expect(again.seen).toHaveLength(3);

  for (const answer of [refusal(500, 'internal_error'), refusal(409, 'conflict', { 'retry-after': '0' })]) {
    const once = await server(answer);
    await expect(once.client.createPayout({})).rejects.toThrow('it is');
    expect(once.seen).toHaveLength(1);
  }
});

test('a delete is sent once: it has no Idempotency-Key', async () => {
  const { client, seen } = await server(hangUp);
  await expect(client.deletePayout('po_1', 3)).rejects.toMatchObject({ name: 'ConnectionError' });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ method: 'DELETE', headers: { 'if-match': '"3"' } });
});

test('a refusal carries status, code, reason and request id', async () => {
  const { client } = await server(
    refusal(404, 'not_found', { 'payhook-reason': 'resource_missing', 'payhook-request-id': 'req_1' }),
  );
  await expect(client.getPayout('po_/../x')).rejects.toMatchObject({
    name: 'ApiError',
    status: 404,
    code: 'not_found',
    reason: 'resource_missing',
    requestId: 'req_1',
    message: 'it is not_found',
  });
});

test('an answer of something else than the API is told as such', async () => {
  const { client } = await server((_, response) => void response.writeHead(502).end('<h1>Bad Gateway</h1>'));
  await expect(client.listKeys()).rejects.toThrow('the server answered HTTP 502');
});

test('completing names the revision and every affiliate', async () => {
  const { client, seen } = await server(json(200, {}));
  await client.completePayout('po_1', 7, [{ affiliate_id: 1, is_paid: true }]);
  expect(seen[0]).toMatchObject({
    method: 'PUT',
    url: '/v2/affiliates/payouts/po_1',
    headers: { 'if-match': '"7"' },
  });
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    commissions: [{ affiliate_id: 1, is_paid: true }],
    require_all: true,
  });
});

test('a file is sent with its length, its progress is told, and a lost attempt starts again from the beginning', async () => {
  const { client, seen } = await server(hangUp, json(200, { created: 1 }));
  const progress: number[] = [];
  const file = {
    bytes: 6,
    repeatable: true,
    open: () => Readable.from([Buffer.from('abc'), Buffer.from('def')]),
    onProgress: (sent: number) => void progress.push(sent),
  };
  await client.importCommissions(file, { dryRun: true, partial: false });
  expect(progress).toEqual([0, 3, 6, 0, 3, 6]);
  expect(seen[1]).toMatchObject({
    url: '/v2/affiliates/commissions/import?dry_run=true',
    headers: { 'content-type': 'text/csv', 'content-length': '6' },
    body: 'abcdef',
  });
});

test('a file that can be read once is not sent again', async () => {
  const { client, seen } = await server(hangUp);
  const file = { bytes: undefined, repeatable: false, open: () => Readable.from([Buffer.from('abc')]) };
  await expect(client.importAffiliates(file, { dryRun: false, partial: false })).rejects.toThrow('no answer');
  expect(seen).toHaveLength(1);
});

test('a change without an Idempotency-Key is sent once', async () => {
  const { client, seen } = await server(hangUp, json(200, {}));
  await expect(client.changeWebhookEndpoint('we_1', { status: 'enabled' })).rejects.toThrow('no answer');
  expect(seen).toMatchObject([
    { method: 'PATCH', url: '/v2/webhook-endpoints/we_1', body: '{"status":"enabled"}' },
  ]);
});

test('an export that is cut off on the way leaves no file', async () => {
  const payout = { id: 'po_1', number: 1, affiliates: [] };
  const cut: Answer = (_, response) => {
    response.writeHead(200, { 'content-disposition': 'attachment; filename="payout-1.csv"' });
    response.write('payout_id,payout_status\r\n', () => response.destroy());
  };
  const { url } = await server(json(200, payout), cut);
  const machine = startMachine();
  closers.push(() => machine.close());
  const env = { PAYHOOK_URL: url, PAYHOOK_API_KEY: 'x' };
  const ran = await machine.run(['payouts', 'export', 'po_1'], { env });
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(/^payhook: .+\n$/);
  expect(machine.files()).toEqual([]);
});
