import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longRun, rounds } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { longSalesFile, makeAffiliates, salesFile, salesFor } from '../support/seed.ts';
import { isWhole, openWire, until, type Wire } from '../support/wire.ts';
import { useWorld, type World } from '../support/world.ts';

const IMPORT = '/v2/affiliates/commissions/import';
const HEADER = 'external_id,affiliate_id,amount,currency\n';

const world = useWorld({
  settings: { REQUEST_TIMEOUT_MS: '2000', MIN_BYTES_PER_SECOND: '1000', MAX_UPLOADS: '4' },
});
let affiliates: number[];
beforeAll(async () => {
  affiliates = await makeAffiliates(world.api, 2);
});
// it throws when an error was logged: a slow client is no error of ours

/** Sends a byte now and then for as long as the connection lives. */
function drip(wire: Wire, byte = 'a'): void {
  const timer = setInterval(() => wire.send(byte), 200);
  wire.socket.once('close', () => clearInterval(timer));
}

const json = () => ({ authorization: `Bearer ${world.api.key}`, 'content-type': 'application/json' });
const csv = () => ({ authorization: `Bearer ${world.api.key}`, 'content-type': 'text/csv' });

const expectTimeout = (received: string) => {
  expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(received).toMatch(/\r\npayhook-reason: request_timeout\r\n/i);
  expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4)).error).toMatchObject({
    code: 'bad_request',
  });
};

describe('a client that sends a byte now and then does not hold a connection:', () => {
  test('a hundred bodies', async () => {
    const wires = await Promise.all(
      Array.from({ length: 100 }, () =>
        openWire(world.url, 'POST', '/v2/affiliates', { ...json(), 'content-length': '900' }),
      ),
    );
    for (const wire of wires) drip(wire);
    expect((await world.api.get('/v2/affiliates')).status).toBe(200);
    for (const { received } of await Promise.all(wires.map((wire) => wire.closed()))) expectTimeout(received);
  });

  test('a body behind a request that is still unanswered', async () => {
    const wire = await openWire(world.url, 'GET', '/v2/affiliates', { ...json(), connection: 'keep-alive' });
    const head = Object.entries({
      ...json(),
      host: 'localhost',
      connection: 'close',
      'content-length': '900',
    });
    wire.send(`POST /v2/affiliates HTTP/1.1\r\n${head.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`);
    drip(wire);
    const { received } = await wire.closed();
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expectTimeout(received.slice(received.lastIndexOf('HTTP/1.1 ')));
  });

  longRun.test('the file of an import', async () => {
    const wire = await openWire(world.url, 'POST', IMPORT, { ...csv(), 'content-length': '900000' });
    wire.send(HEADER);
    drip(wire);
    expectTimeout((await wire.closed()).received);
  });

  longRun.test('a form, whose refusal is a page', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '900' };
    const [signIn, token] = await Promise.all(
      ['/sign-in', '/oauth/token'].map(async (path) => {
        const wire = await openWire(world.url, 'POST', path, form);
        drip(wire);
        return (await wire.closed()).received;
      }),
    );
    expect(signIn).toMatch(/^HTTP\/1\.1 400 [\s\S]*text\/html/);
    expect(token).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":"invalid_request"/);
  });

  test('the head of a request', async () => {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes;
    });
    socket.on('error', () => undefined);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ');
    const timer = setInterval(() => socket.write('a'), 200);
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(timer);
    expectTimeout(received);
  });

  test('nothing at all', async () => {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).resume();
    await new Promise((resolve) => socket.once('close', resolve));
  });
});

longRun.test('a slow import that keeps moving is accepted, however long it takes', async () => {
  const file = salesFile(salesFor(affiliates, 600, 'slow'));
  const wire = await openWire(world.url, 'POST', IMPORT, { ...csv(), 'content-length': `${file.length}` });
  let pieces = 0;
  for (let at = 0; at < file.length; at += 700) {
    wire.send(file.slice(at, at + 700));
    pieces += 1;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const { received } = await wire.closed();
  // twice the time after which a stalled body is aborted
  expect(pieces * 250).toBeGreaterThan(4000);
  expect(received).toMatch(/^HTTP\/1\.1 20[01] [\s\S]*"created":600/);
});

describe('an unwanted body is not read to its end:', () => {
  const rows: [string, string, string, Record<string, string>, number][] = [
    ['without a key', 'POST', '/v2/affiliates', { 'content-type': 'application/json' }, 401],
    ['of an import without a key', 'POST', IMPORT, { 'content-type': 'text/csv' }, 401],
    ['where no operation exists', 'POST', '/v2/nothing', { 'content-type': 'application/json' }, 404],
    [
      'longer than a form',
      'POST',
      '/oauth/token',
      { 'content-type': 'application/x-www-form-urlencoded' },
      400,
    ],
  ];
  test.each(rows)('%s', async (_, method, path, headers, status) => {
    const wire = await openWire(world.url, method, path, {
      ...headers,
      connection: 'keep-alive',
      'content-length': '1000000000',
    });
    const piece = 'x'.repeat(1 << 16);
    let sent = 0;
    const more = () => {
      while (!wire.socket.destroyed && wire.socket.writable && sent < 1e9) {
        sent += piece.length;
        if (!wire.socket.write(piece)) return void wire.socket.once('drain', more);
      }
    };
    more();
    const { received } = await wire.closed();
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    // or a client would send its next request after a body that is never read
    expect(received).toMatch(/\r\nconnection: close\r\n/i);
    // the kernel buffers of both sides, besides the little that is read
    expect(sent).toBeLessThan(50e6);
  });
});

test('a large unwanted body does not break the next request of its sender', async () => {
  const body = JSON.stringify({ email: 'x'.repeat(3 << 20) });
  for (let round = 0; round < rounds(2, 20); round++) {
    // the client decides whether it reads the response before the connection ends
    await fetch(`${world.url}/v2/affiliates`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    }).then((answer) => answer.text(), String);
    expect((await fetch(`${world.url}/healthz`)).status).toBe(200);
  }
});

test('a small unwanted body costs the caller neither the response nor the connection', async () => {
  const wire = await openWire(world.url, 'POST', '/v2/affiliates', {
    'content-type': 'application/json',
    connection: 'keep-alive',
    'content-length': '60000',
  });
  wire.send('x'.repeat(60_000));
  wire.send('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  const { received } = await wire.closed();
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
});

describe('a download', () => {
  let path: string;
  beforeAll(async () => {
    const file = longSalesFile(salesFor(affiliates, 12_000, 'many'));
    expect((await world.api.upload(IMPORT, file)).status).toBe(200);
    const payout = await world.api.post('/v2/affiliates/payouts');
    path = `/v2/affiliates/payouts/${payout.body.id}/download`;
  });

  const download = () => openWire(world.url, 'GET', path, { authorization: `Bearer ${world.api.key}` });

  test('that stalls is cut off', async () => {
    const wire = await download();
    wire.socket.pause();
    await until('it was cut off', () =>
      world.log.some((line) => line.msg === 'a response was read too slowly and was cut off'),
    );
    wire.socket.resume();
    expect(isWhole((await wire.closed()).received)).toBe(false);
  });

  test('that is read slowly arrives complete', async () => {
    const wire = await download();
    const timer = setInterval(
      () => (wire.socket.isPaused() ? wire.socket.resume() : wire.socket.pause()),
      100,
    );
    const { received } = await wire.closed();
    clearInterval(timer);
    expect(isWhole(received)).toBe(true);
  });
});

test('one account gets half of the slots for files, and the others get the other half', async () => {
  const other = await world.otherAccount();
  const begin = async (key: string) => {
    const wire = await openWire(world.url, 'POST', IMPORT, {
      authorization: `Bearer ${key}`,
      'content-type': 'text/csv',
      'content-length': '900000',
    });
    wire.send(HEADER);
    return wire;
  };
  const open = await Promise.all([1, 2, 3].map(() => begin(world.api.key)));
  const refused = await until('one of three is refused', () => open.find((wire) => isWhole(wire.received())));
  expect(refused.received()).toMatch(/^HTTP\/1\.1 409 [\s\S]*payhook-reason: too_many_uploads/);
  expect(refused.received()).toMatch(/\r\nretry-after: \d+\r\n/);
  expect(open.filter((wire) => wire.received() === '')).toHaveLength(2);
  expect((await other.upload(`${IMPORT}?dry_run=true`, HEADER)).status).toBe(200);
  for (const wire of open) wire.vanish();
  await until('the slots are free', async () => {
    const { reason } = await world.api.upload(`${IMPORT}?dry_run=true`, HEADER);
    return reason !== 'too_many_uploads';
  });
});

describe('with a limit of twenty connections', () => {
  let small: World;
  beforeAll(async () => {
    small = await borrowWorld({ settings: { REQUEST_TIMEOUT_MS: '2000', MAX_CONNECTIONS: '20' } });
  });
  afterAll(() => small.close());

  /** Opens this many connections; each sends this and then nothing more. */
  const crowd = (count: number, head: string) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { hostname, port } = new URL(small.url);
        const socket = connect(Number(port), hostname).on('error', () => undefined);
        await new Promise((resolve) => socket.once('connect', resolve));
        socket.write(head);
        return socket.resume();
      }),
    );

  test.each([
    ['that send nothing', ''],
    ['that never end their heads', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
    ['that hold back a body', 'POST /sign-in HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n'],
    ['that were answered and stay', 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('sixty %s block nobody for long', async (_, head) => {
    const sockets = await crowd(60, head);
    await until('the server answers', () =>
      small.api.get('/v2/account').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    for (const socket of sockets) socket.destroy();
  });
});
