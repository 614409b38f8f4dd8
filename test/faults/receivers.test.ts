import { createSocket } from 'node:dgram';
import { type LookupAddress, Resolver } from 'node:dns';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addressRules } from '../../src/kernel/addresses.ts';
import { resolveThrough } from '../../src/webhooks/engine/dial.ts';
import type { Outcome } from '../../src/webhooks/engine/outcome.ts';
import { createSender, type Sender, type SenderOptions } from '../../src/webhooks/engine/send.ts';
import { certificateFor } from '../support/certificate.ts';
import { rounds } from '../support/depth.ts';
import { HOSTILE_RECEIVERS } from '../support/hostile.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';

const TIMEOUT_MS = 1000;
/** For attempts that the time limit must not end, however busy the machine is. */
const PATIENCE_MS = 20_000;
const LOCAL = ['127.0.0.0/8', '::1/128'];

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function openSender(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    addresses: addressRules(LOCAL),
    timeoutMs: TIMEOUT_MS,
    connectionsPerOrigin: 64,
    ...options,
  });
  cleanups.push(() => sender.close());
  return sender;
}

async function openReceiver(options?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(options);
  cleanups.push(() => receiver.close());
  return receiver;
}

function post(sender: Sender, url: string, body = '{}'): Promise<Outcome> {
  return sender.send({ url, headers: { 'content-type': 'application/json' }, body });
}

/** Sockets and waits that keep this process alive, including those of other files' worlds. */
const allHandles = () =>
  process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Connect/.test(name)).length;
let others = 0;
beforeEach(() => {
  others = allHandles();
});
/** Those of a test. */
const handles = () => Math.max(0, allHandles() - others);

describe('a receiver that', () => {
  for (const hostile of HOSTILE_RECEIVERS) {
    test(`${hostile.name} costs its own attempt: ${hostile.expected ?? 'delivered'}`, async () => {
      const receiver = await hostile.start();
      const isSlow = /timeout|body_too_slow/.test(hostile.expected ?? '') || hostile.name.startsWith('drips');
      const sender = openSender(isSlow ? {} : { timeoutMs: PATIENCE_MS });
      const { heapUsed, external } = process.memoryUsage();
      const outcomes = await Promise.all(Array.from({ length: 2 }, () => post(sender, receiver.url)));
      const after = process.memoryUsage();
      const written = receiver.written();
      await sender.close();
      await receiver.close();
      for (const outcome of outcomes) {
        expect(outcome.errorCode).toBe(hostile.expected);
        expect(outcome.errorMessage === null).toBe(hostile.expected === null);
        expect(outcome.errorMessage ?? '').not.toMatch(/\d+\.\d+\.\d+\.\d+/);
        expect(outcome.responseBody?.length ?? 0).toBeLessThanOrEqual(16_384);
      }
      expect(after.heapUsed + after.external - heapUsed - external).toBeLessThan(48 * 1024 * 1024);
      // The kernel buffers of two sockets, not twice 100 MB.
      expect(written).toBeLessThan(40 * 1024 * 1024);
      await until('no socket is left', () => handles() === 0);
    });
  }
});

describe('an exchange', () => {
  test('transmits the body and the headers unchanged, over one connection', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response, count) =>
      response.writeHead(201, { 'x-count': count }).end('taken'),
    );
    const sender = openSender();
    const headers = { 'content-type': 'application/json', 'webhook-id': 'evt_1' };
    for (const count of [1, 2, 3]) {
      const outcome = await sender.send({ url: `${receiver.url}?a=b%20c`, headers, body: '{"name":"Zoë"}' });
      expect(outcome).toMatchObject({
        responseStatus: 201,
        responseBody: 'taken',
        responseTruncated: false,
        errorCode: null,
        errorMessage: null,
        retryAfterSeconds: null,
      });
      expect(outcome.responseHeaders?.['x-count']).toBe(String(count));
    }
    expect(receiver.connections()).toBe(1);
    const [request] = receiver.received;
    expect(request).toMatchObject({ path: '/hook?a=b%20c', body: '{"name":"Zoë"}' });
    expect(request?.headers).toMatchObject({ ...headers, 'content-length': '15' });
    expect(request?.headers['accept-encoding']).toBeUndefined();
  });

  test('reads a response that no database could store as text one can', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response) => {
      response.setHeader('__proto__', 'own');
      response.setHeader('set-cookie', ['a=1', 'b=2']);
      response.setHeader('x-name', Buffer.from('Zoë \u{1f600}').toString('latin1'));
      response.setHeader('x-broken', 'Zo\u00eb');
      response.end(Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80, 0xc3, 0xab, 0xe2, 0x82]));
    });
    const outcome = await post(openSender(), receiver.url);
    expect(outcome.responseBody).toBe(`a${'\u{fffd}'.repeat(5)}ë\u{fffd}`);
    expect(outcome.responseHeaders).toMatchObject({ 'set-cookie': 'a=1, b=2', 'x-name': 'Zoë \u{1f600}' });
    expect(outcome.responseHeaders?.['x-broken']).toBe('Zo\u{fffd}');
    expect(JSON.stringify(outcome.responseHeaders)).toContain('"__proto__":"own"');
  });

  test('keeps at most 16 KiB of a body and splits no character', async () => {
    const receiver = await openReceiver();
    const sender = openSender();
    const answered = async (body: Buffer | string) => {
      receiver.respond((_request, response) => response.end(body));
      const { responseBody, responseTruncated, errorCode } = await post(sender, receiver.url);
      expect(errorCode).toBeNull();
      return { body: responseBody ?? '', truncated: responseTruncated };
    };
    expect(await answered('x'.repeat(16_384))).toEqual({ body: 'x'.repeat(16_384), truncated: false });
    expect(await answered('x'.repeat(16_385))).toEqual({ body: 'x'.repeat(16_384), truncated: true });
    expect(await answered('€'.repeat(6000))).toEqual({ body: '€'.repeat(5461), truncated: true });
    // A byte that is not UTF-8 takes three when it is stored.
    const noise = await answered(Buffer.alloc(10_000, 0xff));
    expect(noise).toEqual({ body: '\u{fffd}'.repeat(5461), truncated: true });
  });

  test('keeps at most 16 KiB of headers', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response) => {
      for (let index = 0; index < 12; index += 1) response.setHeader(`x-${index}`, 'ë'.repeat(1000));
      response.end();
    });
    const { responseHeaders, errorCode } = await post(openSender(), receiver.url);
    expect(errorCode).toBeNull();
    expect(Buffer.byteLength(JSON.stringify(responseHeaders))).toBeLessThan(16_384 + 500);
  });

  test.each([
    ['120', undefined, 120],
    ['0', undefined, 0],
    ['99999999999999999999', undefined, 31_536_000],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 60],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 60],
    ['Sun Nov  6 08:50:37 1994', 'Sun, 06 Nov 1994 08:49:37 GMT', 60],
    ['Sun, 06 Nov 1994 08:48:37 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['Sun, 06 Nov 1994 08:50:37 GMT', undefined, 37],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 'yesterday', 37],
    ['-5', undefined, null],
    ['1.5', undefined, null],
    ['soon', undefined, null],
    ['1994-11-06', undefined, null],
  ])('reads Retry-After %j with Date %j as %s seconds', async (value, date, seconds) => {
    const receiver = await openReceiver();
    receiver.respond((_request, response) => {
      response.sendDate = false;
      response.writeHead(503, { 'retry-after': value, ...(date === undefined ? {} : { date }) }).end();
    });
    const sender = openSender({ clock: () => Date.UTC(1994, 10, 6, 8, 50, 0) });
    const outcome = await post(sender, receiver.url);
    expect(outcome).toMatchObject({
      errorCode: 'response_error',
      errorMessage: 'HTTP 503',
      retryAfterSeconds: seconds,
    });
  });

  test('that cannot be built from its input fails, and no other one with it', async () => {
    const receiver = await openReceiver();
    const sender = openSender();
    for (const url of ['', 'nonsense', 'ftp://127.0.0.1/', 'http://'])
      expect((await post(sender, url)).errorCode).toBe('network_error');
    const headers = { 'x-broken': 'a\r\nb' };
    expect((await sender.send({ url: receiver.url, headers, body: '' })).errorCode).toBe('network_error');
    expect((await post(sender, receiver.url)).errorCode).toBeNull();
    expect(receiver.received).toHaveLength(1);
  });

  test('requires the certificate of the host it was sent to', async () => {
    const tls = certificateFor('localhost');
    const receiver = await openReceiver({ tls });
    const trusting = openSender({ authorities: tls.cert });
    for (let count = 1; count <= 2; count += 1)
      expect((await post(trusting, receiver.url)).errorCode).toBeNull();
    expect(receiver.connections()).toBe(1);
    expect((await post(openSender(), receiver.url)).errorCode).toBe('tls_error');

    const wrong = certificateFor('elsewhere.example');
    const impostor = await openReceiver({ tls: wrong });
    const outcome = await post(openSender({ authorities: wrong.cert }), impostor.url);
    expect(outcome.errorCode).toBe('tls_error');
    expect(outcome.errorMessage).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(impostor.received).toHaveLength(0);
  });
});

describe('the deadline', () => {
  test('includes the time an exchange waits for a connection, and an aborted one is never sent', async () => {
    const receiver = await openReceiver();
    const held: ServerResponse[] = [];
    receiver.respond((_, response) => void held.push(response));
    const sender = openSender({ connectionsPerOrigin: 2, timeoutMs: PATIENCE_MS });
    const sending = [1, 2].map(() => post(sender, receiver.url));
    await receiver.until(2);
    const waiting = Array.from({ length: 18 }, () =>
      sender.send({ url: receiver.url, headers: {}, body: '{}', limitMs: TIMEOUT_MS }),
    );
    for (const { errorCode } of await Promise.all(waiting)) expect(errorCode).toBe('timeout');
    // now the others could have a connection
    receiver.respond(200);
    for (const response of held) response.end();
    for (const { errorCode } of await Promise.all(sending)) expect(errorCode).toBeNull();
    expect((await post(sender, receiver.url)).errorCode).toBeNull();
    expect(receiver.received).toHaveLength(3);
    expect(receiver.connections()).toBe(2);
  });

  test('includes a name server that never answers, which is queried once for all', async () => {
    let queries = 0;
    const resolve = () => {
      queries += 1;
    };
    const sender = openSender({ resolve });
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => post(sender, 'http://slow.example/')),
    );
    for (const { errorCode } of outcomes) expect(errorCode).toBe('timeout');
    expect(queries).toBe(1);
  });

  test('of each exchange is its own', async () => {
    const receiver = await openReceiver();
    receiver.respond(() => {});
    const sender = openSender({ timeoutMs: 400 });
    const first = post(sender, receiver.url);
    await receiver.until(1);
    await until(
      'half the time of the first is over',
      () => performance.now() - receiver.received[0]!.at > 200,
    );
    const second = post(sender, receiver.url);
    // at least: a busy machine may take longer
    for (const { errorCode, durationMs } of [await first, await second]) {
      expect(errorCode).toBe('timeout');
      expect(durationMs).toBeGreaterThanOrEqual(395);
    }
  });
});

describe('a kept connection', () => {
  test('that is cut as the next request is sent costs nothing: it is sent again', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response, count) => {
      if (count === 2) response.socket?.destroy();
      else response.end(`answer ${count}`);
    });
    const sender = openSender();
    expect((await post(sender, receiver.url)).responseBody).toBe('answer 1');
    expect((await post(sender, receiver.url)).responseBody).toBe('answer 3');
    expect(receiver.connections()).toBe(2);
  });

  test('is no excuse for a receiver that cuts each one: it gets a request at most twice', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response, count) => {
      if (count === 1) response.end();
      else response.socket?.destroy();
    });
    const sender = openSender();
    expect((await post(sender, receiver.url)).errorCode).toBeNull();
    expect((await post(sender, receiver.url)).errorCode).toBe('connection_reset');
    expect(receiver.received).toHaveLength(3);
    expect((await post(sender, receiver.url)).errorCode).toBe('connection_reset');
    expect(receiver.received).toHaveLength(4);
  });

  test('is not replaced once the response has begun', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response, count) => {
      if (count === 1) response.end();
      else response.socket?.end('HTTP/1.1 200 OK\r\n');
    });
    const sender = openSender();
    await post(sender, receiver.url);
    expect((await post(sender, receiver.url)).errorCode).toBe('connection_reset');
    expect(receiver.received).toHaveLength(2);
  });

  test('is not used again when the receiver announces its close', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response) => response.writeHead(200, { connection: 'close' }).end());
    const sender = openSender({ connectionsPerOrigin: 1 });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => post(sender, receiver.url)));
    for (const { errorCode } of outcomes) expect(errorCode).toBeNull();
    expect(receiver.connections()).toBe(10);
  });
});

describe('a request whose lease expires', () => {
  test.each([
    ['while its name is looked up', { first: 0 }],
    ['while a kept connection turns out to be closed', { first: 1 }],
  ])('%s is not sent', async (_, { first }) => {
    const receiver = await openReceiver();
    let isGood = true;
    receiver.respond((_request, response, count) => {
      if (count > first) isGood = false; // the worker was stopped, and the receiver closed the connection
      if (count > first) response.socket?.destroy();
      else response.end();
    });
    const sender = openSender({
      timeoutMs: PATIENCE_MS,
      resolve: (_name, done) => {
        if (first === 0) isGood = false;
        done(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    const url = receiver.url.replace('127.0.0.1', 'shop.example.com');
    const permit = { isGood: () => isGood, endsAt: Number.POSITIVE_INFINITY };
    const send = () => sender.send({ url, headers: {}, body: '{}', permit });
    for (let sent = 0; sent < first; sent++) expect((await send()).errorCode).toBeNull();
    expect(await send()).toMatchObject({ errorCode: 'lost', isUnsent: true, responseStatus: null });
    expect(receiver.received).toHaveLength(first === 0 ? 0 : first + 1);
    isGood = true;
    receiver.respond(200);
    if (first > 0) expect((await send()).errorCode).toBeNull();
  });

  test('while the receiver works is aborted before that', async () => {
    const receiver = await openReceiver();
    receiver.respond(() => undefined);
    const sender = openSender({ timeoutMs: PATIENCE_MS });
    const permit = { isGood: () => true, endsAt: performance.now() };
    const outcome = await sender.send({ url: receiver.url, headers: {}, body: '{}', permit });
    expect(outcome).toMatchObject({ errorCode: 'lost', isUnsent: false });
    expect(outcome.errorMessage).toContain('was blocked');
  });
});

describe('aborting', () => {
  test('ends each exchange as lost, at any stage, and the sender continues', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response, count) => {
      if (count === 2) response.writeHead(500).write('half');
    });
    const sender = openSender({ connectionsPerOrigin: 2, resolve: () => {} });
    const exchanges = [1, 2, 3].map(() => post(sender, receiver.url));
    exchanges.push(post(sender, 'http://slow.example/'));
    await receiver.until(2);
    sender.abortAll();
    for (const outcome of await Promise.all(exchanges)) expect(outcome.errorCode).toBe('lost');
    receiver.respond(200);
    expect((await post(sender, receiver.url)).errorCode).toBeNull();
    // two had a connection: the time of the others ended with theirs, and none of them got one after that
    expect(receiver.received).toHaveLength(3);
  });

  test('permanently leaves no socket behind, and later exchanges are lost', async () => {
    const receiver = await openReceiver();
    const sender = openSender();
    await Promise.all(Array.from({ length: 20 }, () => post(sender, receiver.url)));
    receiver.respond(() => {});
    const hanging = Array.from({ length: 30 }, () => post(sender, receiver.url));
    await receiver.until(50);
    await Promise.all([sender.close(), sender.close()]);
    for (const outcome of await Promise.all(hanging)) expect(outcome.errorCode).toBe('lost');
    expect((await post(sender, receiver.url)).errorCode).toBe('lost');
    await receiver.close();
    cleanups.length = 0;
    await until('no socket is left', () => handles() === 0);
  });
});

describe('the address filter', () => {
  const spellings = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0x7f000001', '0177.0.0.1', '017700000001']
    .concat(['127.0.0.1.', '①②⑦.0.0.1', '%31%32%37.0.0.1', 'localhost', 'LOCALHOST', 'localhost.'])
    .concat(['[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '0', '0.0.0.0', '[::]'])
    .concat(['[::127.0.0.1]', '[::ffff:0.0.0.0]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::1]']);

  test.each(spellings)('lets nothing through to http://%s where no network is allowed', async (host) => {
    const receiver = await openReceiver();
    const sender = openSender({ addresses: addressRules([]) });
    const { port } = new URL(receiver.url);
    for (const scheme of ['http', 'https']) {
      const outcome = await post(sender, `${scheme}://${host}:${port}/hook`);
      // Some systems do not know this name at all.
      if (host === 'localhost.' && outcome.errorCode === 'dns_error') continue;
      expect(outcome).toMatchObject({ errorCode: 'address_blocked', responseStatus: null });
      expect(outcome.errorMessage).toBe('the address of the receiver is not allowed');
    }
    expect(receiver.connections()).toBe(0);
  });

  test('checks a name at every connection, so that a name server cannot change its answer in between', async () => {
    const receiver = await openReceiver();
    receiver.respond((_request, response) => response.writeHead(200, { connection: 'close' }).end());
    const { port } = new URL(receiver.url);
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1'];
    const sender = openSender({
      addresses: addressRules(['127.0.0.1/32']),
      resolve: (_name, done) => done(null, [{ address: answers.shift() ?? '', family: 4 }]),
    });
    const codes = [];
    for (let count = 1; count <= 4; count += 1)
      codes.push((await post(sender, `http://rebinding.example:${port}/hook`)).errorCode);
    expect(codes).toEqual([null, 'address_blocked', null, 'address_blocked']);
    expect(receiver.connections()).toBe(2);
  });

  test.each<[string, readonly LookupAddress[], string | null]>([
    ['only a forbidden one', [{ address: '10.0.0.1', family: 4 }], 'address_blocked'],
    ['none', [], 'dns_error'],
    ['nonsense', [{ address: 'example.com', family: 4 }], 'address_blocked'],
    ['a loopback address in disguise', [{ address: '::ffff:127.0.0.2', family: 6 }], 'address_blocked'],
    [
      'an allowed one behind others',
      [
        { address: '::1', family: 6 },
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      null,
    ],
  ])('dials the allowed ones of several addresses: %s', async (_name, found, code) => {
    const receiver = await openReceiver();
    const { port } = new URL(receiver.url);
    const sender = openSender({
      addresses: addressRules(['127.0.0.1/32']),
      resolve: (_hostname, done) => done(null, found),
    });
    expect((await post(sender, `http://several.example:${port}/hook`)).errorCode).toBe(code);
    expect(receiver.connections()).toBe(code === null ? 1 : 0);
  });

  test('reports the most specific error when several addresses fail', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    const sender = openSender({
      resolve: (_hostname, done) =>
        done(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '127.0.0.2', family: 4 },
        ]),
    });
    const { port } = new URL(receiver.url);
    expect((await post(sender, `http://several.example:${port}/hook`)).errorCode).toBe('connection_refused');
  });
});

test('thousands of origins leave nothing behind', async () => {
  const receiver = await openReceiver();
  const { port } = new URL(receiver.url);
  const sender = openSender({
    timeoutMs: 20_000,
    resolve: (_hostname, done) => setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const visit = async (from: number, count: number) => {
    for (let index = from; index < from + count; index += 100) {
      const urls = Array.from(
        { length: 100 },
        (_, place) => `http://host-${index + place}.example:${port}/hook`,
      );
      const outcomes = await Promise.all(urls.map((url) => post(sender, url)));
      for (const { errorCode } of outcomes) expect(errorCode).toBeNull();
      receiver.received.length = 0;
    }
  };
  await visit(0, rounds(1200, 3000));
  // Connections that wait for another request; the sender keeps 1,000 of them, the receiver has the other end of each.
  await until('the oldest idle connections are cut', () => handles() < 2 * 1000 + 50, 1000);
});

test('names whose name servers are down do not delay other deliveries', async () => {
  const silent = createSocket('udp4');
  let queries = 0;
  silent.on('message', () => {
    queries += 1;
  });
  await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
  const network = new Resolver({ timeout: 30_000, tries: 1 });
  network.setServers([`127.0.0.1:${silent.address().port}`]);
  const receiver = await openReceiver();
  const sender = openSender({ resolve: resolveThrough(network), timeoutMs: 10_000 });
  const dead = Array.from({ length: 20 }, (_, index) =>
    sender.send({ url: `http://dead-${index}.example/`, headers: {}, body: '' }),
  );
  await until('the name server was asked for all', () => queries >= 40);
  const healthy = receiver.url.replace('127.0.0.1', 'localhost');
  const first = await Promise.race([sender.send({ url: healthy, headers: {}, body: '' }), ...dead]);
  expect(first.errorCode).toBeNull();
  sender.abortAll();
  expect((await Promise.all(dead)).map(({ errorCode }) => errorCode)).toEqual(dead.map(() => 'lost'));
  network.cancel();
  silent.close();
});
