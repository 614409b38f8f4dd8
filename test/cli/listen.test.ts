import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import { openWire } from '../support/wire.ts';
import { runOn } from './here.ts';
import { type Started, useMachine } from './support.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_YSBzZWNyZXQgb2YgMzIgYnl0ZXMsIGZvciB0ZXN0cyE=';

const machine = useMachine();

interface Listening {
  readonly started: Started;
  readonly url: string;
  /** Waits for the line about an event, with --json. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape
  line(id: string, attempt?: number): Promise<any>;
  /** Stops it as Ctrl-C does. */
  stop(): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

async function listen(...args: string[]): Promise<Listening> {
  const started = machine.start(['listen', '--port', '0', ...args]);
  const [, url = ''] = await started.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  return {
    started,
    url,
    async line(id, attempt = 1) {
      const [line] = await started.printed(new RegExp(`^.*"id":"${id}".*"attempt":${attempt}\\b.*$`, 'm'));
      return JSON.parse(line);
    },
    stop() {
      started.child.kill('SIGINT');
      return started.ended;
    },
  };
}

/** A webhook as Payhook sends it. */
function webhook(id: string, { secret = SECRET, data = {} as unknown, secondsAgo = 0, text = '' } = {}) {
  const at = new Date(Date.now() - secondsAgo * 1000);
  const body = text || JSON.stringify({ id, object: 'event', type: 'order.created', data });
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { method: 'POST', headers, body };
}

test.each([
  [['--port', 'x'], '--port must be a whole number from 0 to 65535, not x'],
  [['--fail', '200'], '--fail must be a whole number from 300 to 599'],
  [['--slow', '1h'], '--slow must be a number of seconds'],
  [['--secret', 'secret'], '--secret must be whsec_'],
  [['--unknown'], "unknown option '--unknown'"],
])('listen %j is a usage error', async (args, message) => {
  const ran = await runOn(machine)(['listen', ...args]);
  expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
});

test('settings that can never work are refused at once, not at the first webhook', async () => {
  const wrong = await runOn(machine)(['listen'], { env: { PORT: 'x' } });
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('PORT must be') });
  const env = { PAYHOOK_URL: 'http://127.0.0.1:1', PAYHOOK_API_KEY: 'x' };
  const both = await runOn(machine)(['listen', '--account', 'a'], { env });
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--account has no effect') });
});

test('a port in use is one clear line and exit code 1', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const ran = await machine.run(['listen', '--port', String(port), '--secret', SECRET]);
  other.close();
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(new RegExp(`^payhook: port ${port} is in use: .*--port\n$`));
});

test('a webhook signed with the secret is verified and answered 200; its repetition is called a duplicate', async () => {
  const { url, line, stop } = await listen('--json', '--secret', OTHER, '--secret', SECRET);
  const data = { order_id: 'order-1042' };
  for (const attempt of [1, 2]) {
    const answer = await fetch(url, webhook('evt_1', { data }));
    expect([answer.status, await answer.text()]).toEqual([200, 'payhook listen: verified\n']);
    expect(await line('evt_1', attempt)).toEqual({
      object: 'received_webhook',
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      verified: true,
      reason: null,
      id: 'evt_1',
      type: 'order.created',
      webhook_endpoint_id: null,
      attempt,
      duplicate: attempt === 2,
      answer: 200,
      payload: { id: 'evt_1', object: 'event', type: 'order.created', data },
    });
  }
  const { code, stdout, stderr } = await stop();
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((text) => JSON.parse(text).object)).toEqual([
    'listener',
    'received_webhook',
    'received_webhook',
  ]);
  expect(existsSync(machine.dataDir)).toBe(false);
});

test('a webhook signed with a private key is verified with its public key', async () => {
  const [own, other] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const { x = '' } = own.publicKey.export({ format: 'jwk' });
  const key = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
  const { url, line, stop } = await listen('--json', '--secret', key);
  for (const [id, { privateKey }, status] of [
    ['evt_own', own, 200],
    ['evt_other', other, 400],
  ] as const) {
    const { method, headers, body } = webhook(id);
    const content = `${id}.${headers['webhook-timestamp']}.${body}`;
    const signature = sign(null, Buffer.from(content), privateKey).toString('base64');
    const signed = { ...headers, 'webhook-signature': `v1a,${signature}` };
    expect((await fetch(url, { method, headers: signed, body })).status).toBe(status);
    expect(await line(id)).toMatchObject({ verified: status === 200 });
  }
  expect((await stop()).code).toBe(0);
});

test('an old webhook, one signed with another secret, and a request that is no webhook are NOT VERIFIED with the reason', async () => {
  const { url, line, stop } = await listen('--json', '--secret', SECRET);
  const cases = [
    ['evt_other', { secret: OTHER }, 400, /no signature matches: --secret may belong to another endpoint/],
    ['evt_old', { secondsAgo: 3600 }, 400, /webhook-timestamp is 60 minutes old/],
    ['evt_text', { text: 'no JSON' }, 400, /the body is not a JSON object/],
    ['evt_large', { text: `"${'x'.repeat(4 * 1024 * 1024)}"` }, 413, /larger than 4 MiB/],
  ] as const;
  for (const [id, how, status, reason] of cases) {
    const answer = await fetch(url, webhook(id, how));
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(reason);
    expect(await line(id)).toMatchObject({ verified: false, reason: expect.stringMatching(reason) });
  }
  expect((await fetch(url)).status).toBe(405);
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400);
  expect((await stop()).code).toBe(0);
});

test('garbage does not end it, and nothing unprintable reaches the terminal', async () => {
  const { url, started, stop } = await listen('--secret', SECRET);
  const deep = `{"data":${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
  for (const text of [
    deep,
    '\u001B[31m\u009B2J\u202E',
    '{"type":"\\u001B[2J","data":"\\u202Eevil\\u009B2J"}',
  ]) {
    for (const secret of [SECRET, OTHER]) await fetch(url, webhook('evt_bad', { text, secret }));
  }
  const wire = await openWire(url, 'POST', '/', { 'content-length': '10' });
  wire.send('half');
  wire.vanish();
  const nonsense = await openWire(url, 'POST', '/', { 'transfer-encoding': 'chunked' });
  nonsense.send('no chunk\r\n');
  await nonsense.closed();
  expect((await fetch(url, webhook('evt_good'))).status).toBe(200);
  await started.printed(/verified .*evt_good .*answer 200\n {2}\{\}\n/);
  const { stdout } = await stop();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E]/);
  expect(stdout).toContain('evil');
});

test('--fail answers with its status, --slow waits, and neither affects unverified requests', async () => {
  const { url, line, stop } = await listen('--json', '--fail', '503', '--slow', '0.3', '--secret', SECRET);
  const begun = performance.now();
  expect((await fetch(url, webhook('evt_1'))).status).toBe(503);
  expect(performance.now() - begun).toBeGreaterThan(290);
  expect((await fetch(url, webhook('evt_1'))).status).toBe(503);
  // a refused one is no duplicate: it must come again
  expect(await line('evt_1', 2)).toMatchObject({ verified: true, answer: 503, duplicate: false });
  expect((await fetch(url, webhook('evt_2', { secret: OTHER }))).status).toBe(400);
  await stop();
});

test("for people it prints where it listens, how to create its endpoint, and each webhook's line and data", async () => {
  const { url, started, stop } = await listen('--secret', SECRET);
  await fetch(url, webhook('evt_1', { data: { name: 'Zoë', note: 'x'.repeat(500) } }));
  await fetch(url, webhook('evt_2', { secret: OTHER }));
  await started.printed(/NOT VERIFIED .*\n.*\n.*\n/);
  const { stdout } = await stop();
  expect(stdout).toContain(`  payhook webhooks create ${url}\n`);
  expect(stdout).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}verified {6}order\.created {2}evt_1 {2}attempt 1 {2}answer 200$/m,
  );
  expect(stdout).toMatch(/^ {2}\{"name":"Zoë","note":"x{50,100}…$/m);
  expect(stdout).toMatch(/^.* {2}NOT VERIFIED {2}order\.created {2}evt_2 {2}attempt 1 {2}answer 400$/m);
  expect(stdout).toContain('\n  no signature matches: --secret may belong to another endpoint');
});

test('--payload prints the whole payload, and --once stops after the first that is verified', async () => {
  const { url, started } = await listen('--once', '--payload', '--secret', SECRET);
  await fetch(url, webhook('evt_1', { secret: OTHER }));
  expect((await fetch(url, webhook('evt_2', { data: { a: [1] } }))).status).toBe(200);
  const { code, stdout } = await started.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('    "data": {\n      "a": [\n        1\n      ]\n    }\n');
});

test('when it cannot fetch the secrets it says so once, creates no data folder, and continues', async () => {
  const { url, started, stop } = await listen();
  for (const id of ['evt_1', 'evt_2']) {
    const answer = await fetch(url, webhook(id));
    expect([answer.status, await answer.text()]).toEqual([
      500,
      'payhook listen: the secrets cannot be fetched\n',
    ]);
  }
  await started.printed(/NOT VERIFIED .*evt_2/);
  const { code, stderr } = await stop();
  expect(code).toBe(0);
  expect(stderr).toMatch(/^The secrets cannot be fetched: there is no Payhook data in .*--secret\n$/);
  expect(existsSync(machine.dataDir)).toBe(false);
});

// other tests stop it as Ctrl-C does
test.each(someOf(['SIGTERM', 'SIGINT'] as const, 1))(
  '%s ends it with exit code 0, even during a response',
  async (signal) => {
    const { url, line, started } = await listen('--json', '--slow', '600', '--secret', SECRET);
    const waiting = fetch(url, webhook('evt_1')).catch(() => 'cut off');
    await line('evt_1');
    started.child.kill(signal);
    expect(await started.ended).toMatchObject({ code: 0, stderr: '' });
    expect(await waiting).toBe('cut off');
  },
);
