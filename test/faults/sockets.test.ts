import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isLong, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { openStubborn, type Stubborn } from '../support/stubborn.ts';
import { until } from '../support/wire.ts';
import { useWorld, type World } from '../support/world.ts';

const opened: Stubborn[] = [];
const open = async (url: string, bytes: string, from?: string): Promise<Stubborn> => {
  const client = await openStubborn(url, bytes, from);
  opened.push(client);
  return client;
};
const openMany = (count: number, url: string, bytes: string, from?: string) =>
  Promise.all(Array.from({ length: count }, () => open(url, bytes, from)));
const held = (clients: readonly Stubborn[]) => clients.filter((client) => !client.isLeft());

afterEach(async () => {
  const gone = opened.splice(0).map(async ({ socket }) => {
    if (socket.closed) return;
    socket.resetAndDestroy();
    await once(socket, 'close');
  });
  await Promise.all(gone);
});

/** Whether the server answers a request over a new connection. */
const isAnswered = (url: string, from?: string): Promise<boolean> =>
  open(url, request('GET', '/healthz', { connection: 'close' }), from).then((client) =>
    until('an answer, or the end', () => client.isLeft()).then(() =>
      /^HTTP\/1\.1 200 /.test(client.received()),
    ),
  );

const request = (method: string, path: string, headers: Record<string, string> = {}, body = '') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`;
const HALF_HEAD = 'GET /healthz HTTP/1.1\r\nhost:';

describe('the server releases a client that never closes', () => {
  const world = useWorld({ settings: { REQUEST_TIMEOUT_MS: '1000', MIN_BYTES_PER_SECOND: '1000' } });
  const owned = () => ({ authorization: `Bearer ${world.api.key}`, 'content-type': 'application/json' });
  const json = { 'content-type': 'application/json' };

  const STATES: [string, () => string][] = [
    ['that sends no byte', () => ''],
    ['that sends half a head', () => HALF_HEAD],
    ['that sends something other than HTTP', () => 'hello\r\n\r\n'],
    ['that begins with TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['that greets in HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['whose head is too large', () => request('GET', '/healthz', { 'x-long': 'x'.repeat(20_000) })],
    ['whose second request is half a head', () => request('GET', '/healthz') + HALF_HEAD],
    ['whose second request is not HTTP', () => `${request('GET', '/healthz')}hello\r\n\r\n`],
    [
      'that sends a head without its body',
      () => request('POST', '/v2/affiliates', { ...owned(), 'content-length': '900' }),
    ],
    [
      'that sends half a body',
      () => request('POST', '/v2/affiliates', { ...owned(), 'content-length': '900' }, '{"em'),
    ],
    [
      'that sends half a chunk',
      () => request('POST', '/v2/affiliates', { ...owned(), 'transfer-encoding': 'chunked' }, '90\r\n{"em'),
    ],
    [
      'that sends a chunk of no length',
      () => request('POST', '/v2/affiliates', { ...owned(), 'transfer-encoding': 'chunked' }, 'zz\r\n{"em'),
    ],
    [
      'that holds back a small unwanted body',
      () => request('POST', '/v2/affiliates', { ...json, 'content-length': '9' }),
    ],
    [
      'that holds back a large unwanted body',
      () => request('POST', '/v2/affiliates', { ...json, 'content-length': '999999999' }),
    ],
    ['that holds back the body of a GET', () => request('GET', '/healthz', { 'content-length': '9' })],
    ['that holds back a form', () => request('POST', '/sign-in', { 'content-length': '9' })],
    [
      'that waits for 100 Continue',
      () => request('POST', '/v2/affiliates', { ...owned(), expect: '100-continue', 'content-length': '9' }),
    ],
    ['that asks for a tunnel', () => request('CONNECT', 'x:443')],
    ['whose request was its last', () => request('GET', '/healthz', { connection: 'close' })],
    ['that was refused for its key', () => request('GET', '/v2/account', { connection: 'close' })],
    ['that requested something unknown', () => request('GET', '/v2/nothing', { connection: 'close' })],
    ['that named two hosts', () => request('GET', '/healthz', { connection: 'close', Host: 'y' })],
  ];
  const LEFT_OUT = /^that (sends half a head|sends a head without|holds back (a small|the body|a form))/;
  test.each(isLong ? STATES : STATES.filter(([state]) => !LEFT_OUT.test(state)))('%s', async (_, bytes) => {
    const client = await open(world.url, bytes());
    await client.freed();
  });

  test('that continues in another protocol after it requested an upgrade', async () => {
    const upgrade = request('GET', '/healthz', { connection: 'upgrade', upgrade: 'websocket' });
    const client = await open(world.url, upgrade);
    await until('the answer', () => client.received().endsWith('}'));
    client.socket.write(Buffer.from([0x81, 0x00]));
    await client.freed();
  });

  test('that reads no responses to the thousands of requests it sent at once', async () => {
    const client = await open(world.url, '');
    client.socket.pause();
    // more than the kernel holds for both sides
    client.socket.write(request('GET', '/v2/openapi.json', { accept: '*/*' }).repeat(2000));
    await until('it was cut off', () =>
      world.log.some(({ msg }) => msg === 'a response was read too slowly and was cut off'),
    );
    client.socket.resume();
    await client.freed();
  });

  test('and answers a broken request behind an unanswered one by ending the connection', async () => {
    const client = await open(world.url, `${request('GET', '/v2/account', owned())}\0\0\0\0`);
    await client.freed();
    expect(client.received().match(/^HTTP\/1\.1 \d+/gm)?.length).toBeLessThanOrEqual(1);
  });
});

describe('with a limit of two hundred connections', () => {
  let small: World;
  beforeAll(async () => {
    small = await borrowWorld({
      settings: { MAX_CONNECTIONS: '200', TRUSTED_PROXIES: '127.0.0.9/32', METRICS_PORT: '0' },
    });
  });
  afterAll(() => small.close());
  // a client that arrives after closed connections is answered once the server has noticed that they closed
  beforeEach(() => until('the server is empty', () => isAnswered(small.url)));

  /** Requests in progress: the server has asked for their bodies. */
  const begin = async (count: number, from: string): Promise<Stubborn[]> => {
    const head = request('POST', '/v2/affiliates', {
      authorization: `Bearer ${small.api.key}`,
      'content-type': 'application/json',
      'content-length': '900',
      expect: '100-continue',
    });
    const clients = await openMany(count, small.url, head, from);
    const isSettled = (client: Stubborn) => client.isLeft() || client.received() !== '';
    await until('all have begun, or were refused', () => clients.every(isSettled));
    return clients;
  };

  const STATES = [
    ['that send nothing', ''],
    ['with half a head', HALF_HEAD],
    ['that were answered and stay', request('GET', '/healthz')],
    ['that were refused and stay', 'hello\r\n\r\n'],
  ] as const;
  test.each(someOf(STATES, 2))('210 connections %s block nobody', async (_, bytes) => {
    await openMany(105, small.url, bytes, '127.0.0.2');
    await openMany(105, small.url, bytes, '127.0.0.3');
    expect(await isAnswered(small.url)).toBe(true);
    expect(await isAnswered(small.url, '127.0.0.2')).toBe(true);
  });

  test('a connection that waits for its next request is closed for a new connection, the longest-waiting first', async () => {
    const idle = async (count: number): Promise<Stubborn[]> => {
      const clients = await openMany(count, small.url, request('GET', '/healthz'), '127.0.0.9');
      await until('all were answered', () => clients.every((client) => client.received().endsWith('}')));
      return clients;
    };
    const [first] = await idle(1);
    const others = await idle(199);
    expect(await isAnswered(small.url)).toBe(true);
    await first?.freed();
    expect(held(others)).toHaveLength(199);
  });

  test('a connection with a request in progress is never closed for another', async () => {
    const busy = await begin(200, '127.0.0.9');
    expect(await isAnswered(small.url)).toBe(false);
    expect(held(busy)).toHaveLength(200);
  });

  test('one address has at most half of them, and a trusted proxy may have all', async () => {
    const greedy = await begin(150, '127.0.0.2');
    expect(held(greedy)).toHaveLength(100);
    expect(await isAnswered(small.url, '127.0.0.2')).toBe(false);
    expect(await isAnswered(small.url)).toBe(true);
    // room is left for the request that must be answered
    const proxied = await begin(98, '127.0.0.9');
    expect(await isAnswered(small.url, '127.0.0.9')).toBe(true);
    expect(held(proxied)).toHaveLength(98);
    await until('the operator is notified', () =>
      small.log.some(
        ({ msg, address }) => /MAX_CONNECTIONS_PER_ADDRESS/.test(String(msg)) && address === '127.0.0.2',
      ),
    );
  });

  test("an address at its limit closes its own idle connections for a new one, and nobody else's", async () => {
    const others = await openMany(20, small.url, request('GET', '/healthz'), '127.0.0.3');
    await openMany(120, small.url, request('GET', '/healthz'), '127.0.0.2');
    expect(await isAnswered(small.url, '127.0.0.2')).toBe(true);
    expect(held(others)).toHaveLength(20);
  });

  test('the port of the metrics answers /healthz whatever happens at the other port or at this one', async () => {
    const at = new URL('/healthz', small.metricsUrl).href;
    await begin(200, '127.0.0.9');
    for (const bytes of ['', HALF_HEAD, request('GET', '/healthz')]) {
      await openMany(300, at, bytes);
      expect(await isAnswered(at)).toBe(true);
    }
    expect(await (await fetch(at)).json()).toEqual({ status: 'ok' });
    const metrics = await (await fetch(small.metricsUrl)).text();
    expect(metrics).toMatch(/payhook_connections_closed_total\{reason="address"\} [1-9]/);
    expect(metrics).toMatch(/payhook_connections_closed_total\{reason="full"\} [1-9]/);
  });
});
