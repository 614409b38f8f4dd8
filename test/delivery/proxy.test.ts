import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addressRules, PUBLIC_ONLY } from '../../src/kernel/addresses.ts';
import { egressRouteOf } from '../../src/webhooks/engine/egress-routes.ts';
import { createSender, type Sender, type SenderOptions } from '../../src/webhooks/engine/send.ts';
import { certificateFor } from '../support/certificate.ts';
import { hasProxy, type RunningProxy, startProxy } from '../support/proxy.ts';
import { startReceiver } from '../support/receiver.ts';
import { onStage } from './support.ts';

const PROXIES = (['tinyproxy', 'squid'] as const).filter(hasProxy);
const LOCAL = addressRules(['127.0.0.0/8', '::1/128']);
const settings = { DELIVERY_SCHEDULE: '0s,1h,1h' };
const LOGIN = 'payhook:secret-of-the-proxy';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function openReceiver(options?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(options);
  cleanups.push(() => receiver.close());
  return receiver;
}

function openSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({ addresses: LOCAL, timeoutMs: 4000, connectionsPerOrigin: 4, ...options });
  cleanups.push(() => sender.close());
  return sender;
}

const post = (sender: Sender, url: string, proxy?: string) =>
  sender.send({
    url,
    headers: {},
    body: '{}',
    route: proxy === undefined ? undefined : egressRouteOf({ proxy }),
  });

/** A TCP server that treats every connection alike; its URL as a proxy. */
const openBroken = (treat: (socket: Socket) => void) => listen(createServer(treat));

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe.skipIf(PROXIES.length === 0).each(PROXIES)('through %s', (name) => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(name);
  });
  afterAll(() => proxy.close());

  test('requests to http and https go by CONNECT to the checked address, on kept connections', async () => {
    const tls = certificateFor('localhost');
    const [plain, secure] = [await openReceiver(), await openReceiver({ tls })];
    const sender = openSender({ authorities: tls.cert });
    for (const receiver of [plain, secure]) {
      for (let count = 1; count <= 2; count += 1) {
        expect(await post(sender, receiver.url, proxy.url)).toMatchObject({ errorCode: null });
      }
      expect([receiver.received.length, receiver.connections()]).toEqual([2, 1]);
      if (name === 'tinyproxy')
        expect(proxy.log()).toContain(`CONNECT 127.0.0.1:${new URL(receiver.url).port}`);
    }
    expect(proxy.log()).not.toContain('localhost');
    // TLS ends at the receiver: the proxy cannot impersonate it
    expect((await post(openSender(), secure.url, proxy.url)).errorCode).toBe('tls_error');
  });

  test('a receiver at a private address is refused before the proxy sees it', async () => {
    const receiver = await openReceiver();
    const { port } = new URL(receiver.url);
    const before = proxy.log();
    const sender = openSender({
      addresses: PUBLIC_ONLY,
      proxies: { addresses: LOCAL },
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    for (const url of [`http://127.0.0.1:${port}/`, `http://rebound.example:${port}/`]) {
      expect((await post(sender, url, proxy.url)).errorCode).toBe('address_blocked');
    }
    expect(receiver.received).toHaveLength(0);
    expect(proxy.log()).toBe(before);
  });

  test('a receiver that is down is reported as refused by the proxy', async () => {
    const { errorCode, errorMessage } = await post(openSender(), 'http://127.0.0.1:9/', proxy.url);
    expect([errorCode, errorMessage]).toEqual(['proxy_refused', expect.stringMatching(/HTTP 50\d/)]);
  });
});

describe.skipIf(!hasProxy('squid'))('through squid with TLS only', () => {
  const tls = certificateFor('localhost');
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy('squid', { tls });
  });
  afterAll(() => proxy.close());

  test('requests to http and https use kept connections, with megabytes and a client certificate', async () => {
    const client = certificateFor('payhook');
    const mutual = { ...tls, ca: [client.cert], requestCert: true, rejectUnauthorized: true };
    const sender = openSender({ authorities: tls.cert });
    const route = egressRouteOf({
      proxy: proxy.url,
      certificate: { certificate: client.cert, key: client.key },
    });
    const body = JSON.stringify('x'.repeat(2_000_000));
    for (const receiver of [await openReceiver(), await openReceiver({ tls: mutual })]) {
      for (let count = 1; count <= 2; count += 1) {
        expect(await sender.send({ url: receiver.url, headers: {}, body, route })).toMatchObject({
          errorCode: null,
        });
      }
      expect(receiver.received.map((request) => request.body.length)).toEqual([body.length, body.length]);
      expect(receiver.connections()).toBe(1);
    }
  });

  test('nothing is sent to a proxy with another certificate, or without TLS', async () => {
    const receiver = await openReceiver();
    const stranger = await post(openSender(), receiver.url, proxy.url);
    expect(stranger).toMatchObject({
      errorCode: 'proxy_unreachable',
      errorMessage: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
    });
    const sender = openSender({ authorities: tls.cert, timeoutMs: 1000 });
    const unnamed = await post(sender, receiver.url, proxy.url.replace('localhost', '127.0.0.1'));
    expect(unnamed).toMatchObject({ errorMessage: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID') });
    const plain = (await openBroken((socket) => socket.end('HTTP/1.1 400 No\r\n\r\n'))).replace(
      'http',
      'https',
    );
    expect((await post(sender, receiver.url, plain)).errorCode).toBe('proxy_unreachable');
    const silent = (await openBroken(() => undefined)).replace('http', 'https');
    expect((await post(sender, receiver.url, silent)).errorCode).toBe('proxy_timeout');
    expect(receiver.received).toHaveLength(0);
  });
});

test('a TLS proxy sees its own name, and never gets the client certificate', async () => {
  const tls = certificateFor('proxy.example');
  const client = certificateFor('payhook');
  const seen: unknown[] = [];
  const server = createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, (socket) => {
    seen.push([socket.servername, socket.getPeerCertificate()]);
    socket.end('HTTP/1.1 403 No\r\n\r\n');
  });
  const { port } = new URL(await listen(server));
  const sender = openSender({
    authorities: tls.cert,
    resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const route = egressRouteOf({
    proxy: `https://proxy.example:${port}`,
    certificate: { certificate: client.cert, key: client.key },
  });
  const { errorCode } = await sender.send({ url: 'https://shop.example/', headers: {}, body: '{}', route });
  expect([errorCode, seen]).toEqual(['proxy_refused', [['proxy.example', {}]]]);
});

describe('a proxy that', () => {
  const broken: Readonly<Record<string, [(socket: Socket) => void, string]>> = {
    'hangs after the request': [() => undefined, 'proxy_timeout'],
    'asks for a password': [
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 407 Who?\r\ncontent-length: 0\r\n\r\n')),
      'proxy_unauthorized',
    ],
    'cuts the connection': [(socket) => socket.once('data', () => socket.destroy()), 'proxy_unreachable'],
    'resets it': [(socket) => socket.once('data', () => socket.resetAndDestroy()), 'proxy_unreachable'],
    'is none': [(socket) => socket.end('220 mail.example ESMTP\r\n'), 'proxy_unreachable'],
    'never ends its headers': [
      (socket) => socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`)),
      'proxy_unreachable',
    ],
    'answers that it refuses': [
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 403 No\r\n\r\n')),
      'proxy_refused',
    ],
  };
  test.each(Object.entries(broken))('%s is itself reported as the cause', async (_, [treat, code]) => {
    const receiver = await openReceiver();
    const url = await openBroken(treat);
    expect((await post(openSender({ timeoutMs: 1000 }), receiver.url, url)).errorCode).toBe(code);
    expect(receiver.received).toHaveLength(0);
  });

  test('is missing, or at an address forbidden to endpoint proxies, is itself reported as the cause', async () => {
    const receiver = await openReceiver();
    expect((await post(openSender(), receiver.url, 'http://127.0.0.1:9')).errorCode).toBe(
      'proxy_unreachable',
    );
    const url = await openBroken((socket) => socket.destroy());
    const sender = openSender({
      proxies: { addresses: PUBLIC_ONLY },
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    for (const private_ of [url, url.replace('127.0.0.1', 'proxy.example')]) {
      const { errorCode, errorMessage } = await post(sender, receiver.url, private_);
      expect([errorCode, errorMessage]).toEqual([
        'proxy_unreachable',
        'the proxy could not be reached: its address is not allowed',
      ]);
    }
  });

  test('fails adds no failure to the endpoint, and its waiting deliveries keep their time', () =>
    onStage({ settings: { ...settings, DELIVERY_TIMEOUT_MS: '1000' } }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { proxy: await openBroken(() => undefined) });
      const event = await stage.publish();
      const log = await stage.untilLog(endpoint, event, { attempt_count: 1 });
      expect(log).toMatchObject({ status: 'pending', last_error_code: 'proxy_timeout' });
      expect(await stage.state(endpoint)).toMatchObject({ failures: 0, failing: false, lane: 4 });
      expect(await stage.queue(endpoint)).toMatchObject([{ step: 1, leased: false }]);
      // without the proxy it arrives
      await stage.change(endpoint, { proxy: null });
      await stage.passTime(endpoint);
      await receiver.until(1);
      await stage.untilLog(endpoint, event, { status: 'delivered' });
    }));
});

describe.skipIf(!hasProxy('tinyproxy'))('the proxy', () => {
  let ofServer: RunningProxy;
  let own: RunningProxy;
  beforeAll(async () => {
    [ofServer, own] = await Promise.all([startProxy('tinyproxy'), startProxy('tinyproxy', { login: LOGIN })]);
  });
  afterAll(() => Promise.all([ofServer.close(), own.close()]));

  test('of the server carries all hosts but the excluded ones, and that of an endpoint replaces it', () =>
    onStage(
      { settings: { ...settings, DELIVERY_PROXY: ofServer.url, DELIVERY_NO_PROXY: 'localhost' } },
      async (stage) => {
        const [usual, direct, other] = [
          await stage.receiver(),
          await stage.receiver(),
          await stage.receiver(),
        ];
        await stage.endpoint(usual);
        await stage.endpoint(direct.url.replace('127.0.0.1', 'localhost'));
        await stage.endpoint(other, { proxy: own.url });
        await stage.publish();
        for (const receiver of [usual, direct, other]) await receiver.until(1);
        const portOf = ({ url }: { url: string }) => `127.0.0.1:${new URL(url).port}`;
        const seen = [usual, direct, other].map((receiver) =>
          [ofServer, own].map((proxy) => proxy.log().includes(portOf(receiver))),
        );
        expect(seen).toEqual([
          [true, false],
          [false, false],
          [false, true],
        ]);
      },
    ));

  test('is changed by its password alone, and kept when it is sent back as shown', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { proxy: own.url.replace('secret', 'wrong') });
      const shown = own.url.replace(/:secret[^@]*/, '');
      expect((await stage.api.get(endpoint.path)).body.proxy).toBe(shown);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { last_error_code: 'proxy_unauthorized' });
      await stage.change(endpoint, { proxy: own.url });
      await stage.change(endpoint, { proxy: shown });
      await stage.passTime(endpoint);
      await receiver.until(1);
      const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(JSON.stringify(log)).not.toContain('secret-of-the-proxy');
      expect(JSON.stringify(stage.world.log)).not.toContain('secret-of-the-proxy');
    }));
});
