import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { browserOf, register, signedIn } from '../oauth/support.ts';
import { apiOf } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { hasGo, runGo, withoutGo } from '../support/go.ts';
import { hasCryptography, python, pythonEnvironment, withoutPython } from '../support/python.ts';
import { startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';
import type { Answer, Behaviour, Call, Result } from './behaviour.ts';
import { BEHAVIOURS } from './behaviours.ts';
import { bundleForBrowsers, inBareContext } from './bundle.ts';
import { runHere } from './drivers/driver.ts';

// The same table for the clients in all languages: each makes the call, and a server answers as the row says.
const PATIENCE_MS = 300_000;
const DRIVERS = join(ROOT, 'test/client/drivers');
const world = useWorld({ delivers: true });

type Run = (call: Call & { readonly url: string }) => Promise<Result>;

interface Authorization {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

interface Language {
  readonly name: string;
  readonly isHere: boolean;
  readonly without: string;
  /** Starts its driver. */
  start(): Promise<{ run: Run; stop(): void }>;
}

/** A program that answers each line with a line. */
function driver(child: ChildProcess): { run: Run; stop(): void } {
  const lines = createInterface({ input: child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  return {
    async run(call) {
      child.stdin?.write(`${JSON.stringify(call)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the driver ended at ${call.verb}`);
      return JSON.parse(value) as Result;
    },
    stop: () => child.stdin?.end(),
  };
}

const ofPython = (kind: 'sync' | 'async'): Language => ({
  name: `Python (${kind})`,
  isHere: python !== undefined,
  without: withoutPython,
  async start() {
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    return driver(
      spawn(python ?? '', [join(DRIVERS, 'driver.py'), kind], { env: pythonEnvironment, stdio: [...stdio] }),
    );
  },
});

const folder = mkdtempSync(join(tmpdir(), 'drivers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    isHere: true,
    without: '',
    start: async () => ({ run: (call) => runHere(call), stop: () => undefined }),
  },
  {
    name: 'TypeScript, bundled for browsers',
    isHere: true,
    without: '',
    async start() {
      const bundle = inBareContext(await bundleForBrowsers());
      return { run: (call) => runHere(call, bundle), stop: () => undefined };
    },
  },
  ofPython('sync'),
  ofPython('async'),
  {
    name: 'Go',
    isHere: hasGo,
    without: withoutGo,
    async start() {
      const program = join(folder, 'driver');
      const built = await runGo(['go', 'build', '-o', program, '.'], join(DRIVERS, 'go'));
      expect(built).toEqual({ code: 0, output: '' });
      return driver(spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] }));
    },
  },
];

/** Sends an answer of the table. */
async function send(answer: Answer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (answer === 'reset') return void request.socket.destroy();
  if (answer === 'silence') return;
  const { status, headers = {}, body, how } = answer;
  const bytes = Buffer.from(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
  if (how === undefined) return void response.writeHead(status, headers).end(bytes);
  response.writeHead(status, {
    ...headers,
    'content-length': how === 'cut' ? bytes.length + 9 : bytes.length,
  });
  if (how === 'cut') return void response.write(bytes, () => response.destroy());
  // each piece comes well before the time of the call has passed, and all of them after it
  for (const at of [0, 1, 2, 3]) {
    response.write(at < 3 ? bytes.subarray(at, at + 1) : bytes.subarray(3));
    await pause(at < 3 ? 600 : 0);
  }
  response.end();
}

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return addressOf(server);
}

/** Starts the server of a row, and another host that nothing may reach. */
async function serverOf({ answers = [] }: Behaviour) {
  const seen: Record<string, unknown>[] = [];
  const strayed: string[] = [];
  const other = createServer((request, response) => {
    strayed.push(String(request.url));
    response.end('{}');
  });
  const rest = [...(typeof answers === 'function' ? answers(await listening(other)) : answers)];
  const url = await listening(
    createServer(async (request, response) => {
      const answer = rest.length > 1 ? rest.shift() : rest[0];
      const { authorization: token, 'idempotency-key': key, 'if-match': ifMatch } = request.headers;
      const body = await text(request).catch(() => 'cut off');
      const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
      seen.push({
        ...{ method: request.method, url: sorted(request.url ?? ''), token, key, ifMatch },
        body: isForm ? sorted(`?${body}`).slice(1) : body,
        events: request.url === '/v2/events/batch' ? JSON.parse(body).events.length : undefined,
      });
      if (answer !== undefined) await send(answer, request, response);
    }),
  );
  return { url, seen, strayed };
}

/** An address with its query in the order of the names, which the languages choose for themselves. */
function sorted(url: string): string {
  const [path, query] = url.split('?');
  if (query === undefined) return url;
  const search = new URLSearchParams(query);
  search.sort();
  return `${path}?${search}`;
}

/** The expected object, where a pattern is a text that matches it. */
const matching = (expected: object): object =>
  Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [
      name,
      value instanceof RegExp ? expect.stringMatching(value) : value,
    ]),
  );

describe.each(LANGUAGES)('the client in $name', ({ name, isHere, without, start }) => {
  let started: Awaited<ReturnType<Language['start']>>;
  beforeAll(async () => {
    if (isHere) started = await start();
  }, PATIENCE_MS);
  afterAll(() => started?.stop());

  // another build of TypeScript, and another class of Python: a short run makes some of the calls with them
  const isOther = /bundled|async/.test(name);
  const inEachRun = isOther ? longRun.test : test;
  const lacksEd25519 = name.startsWith('Python') && isHere && !hasCryptography;
  const withoutEd25519 = lacksEd25519 ? ' (skipped: no package cryptography on this machine)' : without;

  for (const row of isOther ? someOf(BEHAVIOURS, 12) : BEHAVIOURS) {
    const lacks = row.needsEd25519 && lacksEd25519;
    test.skipIf(!isHere || lacks)(`${row.title}${lacks ? withoutEd25519 : without}`, async () => {
      const { url, seen, strayed } = await serverOf(row);
      const call = typeof row.call === 'function' ? row.call() : row.call;
      const result = await started.run({ ...call, url });
      expect(result).toMatchObject(matching(row.result));
      expect(seen).toHaveLength(row.requests?.length ?? 0);
      expect(seen).toMatchObject(row.requests ?? []);
      expect(strayed).toEqual([]);
      if (row.isOneKey) {
        expect(seen[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
        expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
      }
    });
  }

  inEachRun.skipIf(!isHere)(
    `a write whose answer a gateway replaced with 504 after the commit is done once${without}`,
    async () => {
      const { key } = await world.otherAccount();
      let attempts = 0;
      const url = await listening(
        createServer(async (request, response) => {
          const { authorization: _, host: __, ...headers } = request.headers;
          const answer = await fetch(`${world.url}${request.url}`, {
            method: request.method ?? '',
            headers: { ...(headers as Record<string, string>), authorization: `Bearer ${key}` },
            body: await text(request),
          });
          attempts += 1;
          const body = await answer.text();
          if (attempts === 1) response.writeHead(504).end('<h1>Gateway Time-out</h1>');
          else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
        }),
      );
      const result = await started.run({ verb: 'create_affiliate', url });
      expect(result).toMatchObject({ outcome: 'ok', value: { email: 'ada@example.com' } });
      expect(attempts).toBe(2);
    },
  );

  inEachRun.skipIf(!isHere)(
    `a merchant grants an application access, and its token is valid${without}`,
    async () => {
      const registered = await register(world.api, { redirect_uris: ['https://shop.example.com/callback'] });
      const application = { id: registered.id, secret: registered.client_secret };
      const about = { url: world.url, application };
      const request = (await started.run({ ...about, verb: 'oauth_authorization' })).value as Authorization;
      const browser = browserOf(world, await signedIn(world));
      const { location } = await browser.send(await browser.open(request.url), {});
      expect(location?.searchParams.get('state')).toBe(request.state);
      const code = String(location?.searchParams.get('code'));
      const { verifier } = request;
      const refused = await started.run({ ...about, verb: 'oauth_exchange', code, verifier: `${verifier}x` });
      expect(refused).toMatchObject({ outcome: 'oauth', code: 'invalid_grant' });
      const again = await browser.send(await browser.open(request.url), {});
      const next = String(again.location?.searchParams.get('code'));
      const given = await started.run({ ...about, verb: 'oauth_exchange', code: next, verifier });
      const { access } = given.value as { access: string };
      expect((await apiOf(world.url, access).get('/v2/affiliates')).status).toBe(200);
      expect((await apiOf(world.url, access).get('/v2/affiliates/payouts')).status).toBe(200);
      expect((await apiOf(world.url, access).get('/v2/account')).status).toBe(403);
    },
  );

  const realDelivery = async (signing: string) => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', { url: receiver.url, signing });
    await world.api.post(`/v2/webhook-endpoints/${endpoint.id}/test`);
    const [delivery] = await receiver.until(1);
    const { body = '' } = delivery ?? {};
    const headers = delivery?.headers as Record<string, string>;
    const call = { verb: 'verify', url: '', headers, secrets: [String(endpoint.secret)] };
    expect(await started.run({ ...call, body })).toMatchObject({
      outcome: 'ok',
      value: [{ id: headers['webhook-id'], type: 'webhook_endpoint.test' }],
    });
    const changed = await started.run({ ...call, body: body.replace('test', 'tesT') });
    expect(changed).toMatchObject({ outcome: 'not_genuine', code: 'wrong_signature' });
  };
  inEachRun.skipIf(!isHere)(`a real delivery is genuine until a byte of it changes${without}`, () =>
    realDelivery('standard'),
  );
  inEachRun.skipIf(!isHere || lacksEd25519)(
    `a real delivery that is signed with a private key is genuine until a byte of it changes${withoutEd25519}`,
    () => realDelivery('ed25519'),
  );
});
