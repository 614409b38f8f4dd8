import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longRun, someOf } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { commandsAt, runOn } from './here.ts';
import { type Ran, type RunOptions, type Started, startServer, useMachine } from './support.ts';

const env = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_SCHEDULE: '0s 1s' };

const machine = useMachine();
let server: Started & { url: string };
let port: string;
let endpoint: { id: string; secret: string };
let url: string;

const firstKey = () => readFileSync(join(machine.dataDir, 'first-api-key'), 'utf8').trim();
const remoteEnv = () => ({ PAYHOOK_URL: server.url, PAYHOOK_API_KEY: firstKey() });
const { run, runJson: json } = commandsAt(() => ({ url: server.url, key: firstKey() }), machine);

interface Listening extends Started {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape
  line(id: string, attempt?: number): Promise<any>;
  stop(): Promise<Ran>;
}

/** `payhook listen --json`, on the same port each time. */
async function listen(args: string[] = [], options: RunOptions = {}): Promise<Listening> {
  const started = machine.start(['listen', '--json', '--port', port, ...args], options);
  const [, address = ''] = await started.printed(/"object":"listener","url":"([^"]+)"/);
  url = address;
  port = new URL(address).port;
  return {
    ...started,
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

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
async function api(path: string): Promise<any> {
  const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${firstKey()}` } });
  return answer.json();
}

/** Waits until the log has the event with this status; returns the record with its attempts. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records
function logged(event: string, status: string): Promise<any> {
  return until(`${event} is ${status}`, async () => {
    const record = await api(`/v2/webhook-endpoints/${endpoint.id}/events/${event}`);
    return record.status === status ? record : null;
  });
}

async function publish(...args: string[]): Promise<string> {
  return published(await run('events', 'publish', 'order.created', ...args));
}

function published(ran: Ran): string {
  expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^evt_[0-9a-f]{32}\n$/) });
  return ran.stdout.trim();
}

// One story on one data folder: each test continues where the previous one ended.

let listener: Listening;
test('listen, started before the server, verifies webhooks of an endpoint created later', async () => {
  port = '0';
  listener = await listen();
  await machine.init();
  server = await startServer(machine, { env });
  // without PAYHOOK_URL, by the data folder
  const line = ['webhooks', 'create', url, '--types', 'order.*', '--description', 'my machine'];
  const made = await runOn(machine)(line, { env });
  const [id = '', secret = '', what] = made.stdout.split('\n');
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(id).toMatch(/^we_[0-9a-f]{32}$/);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(what).toBe('Receives order.*. The second line is the secret that signs deliveries.');
  endpoint = { id, secret };

  const same = [
    'events',
    'publish',
    'order.created',
    '--data',
    '{"order_id":"order-1042"}',
    '--external-id',
    'x-1',
  ];
  const event = published(await runOn(machine)(same, { env }));
  expect(await listener.line(event)).toMatchObject({
    verified: true,
    type: 'order.created',
    webhook_endpoint_id: id,
    attempt: 1,
    answer: 200,
    payload: { id: event, data: { order_id: 'order-1042' } },
  });
  const record = await logged(event, 'delivered');
  expect(record.attempts).toMatchObject([
    { response_status: 200, response_body: 'payhook listen: verified\n' },
  ]);
  expect(published(await runOn(machine)(same, { env }))).toBe(event);
  // it asks and disconnects: it keeps nothing open while it waits
  expect(machine.leftovers()).toEqual([]);
});

test('data is published unchanged from an option, a file or standard input, long numbers included', async () => {
  const data = '{"n":12345678901234567890.10}';
  machine.write('data.json', `\uFEFF${data}\n`);
  const piped = { env, input: data };
  const ids = [await publish('--data', data), await publish('--data-file', 'data.json')];
  for (const option of someOf(['--data', '--data-file'], 1)) {
    const ran = await machine.run(['events', 'publish', 'order.created', option, '-'], piped);
    ids.push(ran.stdout.trim());
  }
  for (const id of ids) {
    const answer = await fetch(`${server.url}/v2/webhook-endpoints/${endpoint.id}/events/${id}`, {
      headers: { authorization: `Bearer ${firstKey()}` },
    });
    expect(await answer.text()).toContain(`"data":${data}`);
  }
  const whole = await json('events', 'publish', 'order.created');
  expect(whole).toMatchObject({ object: 'event', type: 'order.created', data: {} });
});

test('create --pull makes an endpoint without URL, and token the only token that claims its events', async () => {
  const made = await json('webhooks', 'create', '--pull', '--types', 'stock.*', '--api-version', '2.0.0');
  expect(made).toMatchObject({ delivery: 'pull', url: null, event_types: ['stock.*'], api_version: '2.0.0' });
  const { id } = made;
  const created = await run('webhooks', 'token', id);
  expect(created).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^phw_\S+\n$/) });
  const { id: event } = await json('events', 'publish', 'stock.counted');
  const claim = async (token: string) => {
    const headers = { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' };
    const path = `${server.url}/v2/webhook-endpoints/${id}/claims`;
    const answer = await fetch(path, { method: 'POST', headers, body: '{}' });
    return { status: answer.status, text: await answer.text() };
  };
  const claimed = await claim(created.stdout);
  expect([claimed.status, claimed.text]).toEqual([200, expect.stringContaining(event)]);
  const next = await json('webhooks', 'token', id);
  expect(next).toMatchObject({ object: 'webhook_endpoint_token', previous_token_expires_at: null });
  expect([(await claim(created.stdout)).status, (await claim(next.token)).status]).toEqual([401, 200]);
  expect((await run('webhooks', 'delete', id, '--yes')).code).toBe(0);
});

test('after a rotation without overlap listen fetches the new secret and continues to verify', async () => {
  const rotated = await run('webhooks', 'rotate-secret', url, '--overlap', '0');
  expect(rotated).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^whsec_\S+\n$/) });
  expect(rotated.stdout.trim()).not.toBe(endpoint.secret);
  expect(await listener.line(await publish())).toMatchObject({ verified: true });

  const again = await json('webhooks', 'rotate-secret', endpoint.id);
  expect(again).toMatchObject({ object: 'webhook_endpoint_secret' });
  expect(Date.parse(again.previous_secret_expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  expect(await listener.line(await publish())).toMatchObject({ verified: true });
  expect((await run('webhooks', 'secret', url)).stdout).toBe(`${again.secret}\n`);
  endpoint.secret = again.secret;
});

test('test sends a test event to the endpoint, whatever its subscriptions', async () => {
  const sent = await json('webhooks', 'test', url);
  expect(sent).toMatchObject({ object: 'webhook_event', type: 'webhook_endpoint.test' });
  expect(await listener.line(sent.id)).toMatchObject({ verified: true, type: 'webhook_endpoint.test' });
  await listener.stop();
});

test('events are listed with their state, and one shows where it went and why not elsewhere', async () => {
  const other = await json('webhooks', 'create', 'https://other.example.com/hooks', '--types', 'payout.*');
  const { data, pagination } = await json('events', 'list', '--type', 'order.*', '--external-id', 'x-1');
  expect([data[0], pagination.total]).toMatchObject([{ deliveries: { delivered: 1, failed: 0 } }, 1]);
  const table = (await run('events', 'list', '--per-page', '2')).stdout;
  expect(table).toMatch(/webhook_endpoint\.test +1 delivered +evt_[0-9a-f]{32}/);
  const { stdout } = await run('events', 'show', data[0].id);
  expect(stdout).toContain('x-1');
  expect(stdout).toContain('order-1042');
  expect(stdout).toMatch(new RegExp(`Sent to\n.*delivered.*${endpoint.id}`));
  expect(stdout).toContain(`${other.id}  the endpoint was created later  https://other.example.com/hooks`);
  await run('webhooks', 'delete', other.id, '--yes');
});

let failed: string;
test('tail shows each attempt at a failing receiver, until the event has failed', async () => {
  const tail = machine.start(['events', 'tail', '--lines', '1', '--json', '--endpoint', url], { env });
  await tail.printed(/\n/);
  listener = await listen(['--fail', '500']);
  failed = await publish('--data', '{"order_id":"order-1043"}');
  expect(await listener.line(failed, 2)).toMatchObject({ verified: true, answer: 500, duplicate: false });
  await tail.printed(new RegExp(`"id":"${failed}".*"status":"failed"`));
  tail.child.kill('SIGINT');
  const { code, stdout, stderr } = await tail.ended;
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ type: 'webhook_endpoint.test', status: 'delivered' });
  expect(new Set(lines.slice(1).map(({ id }) => id))).toEqual(new Set([failed]));
  expect(lines.at(-1)).toMatchObject({ attempt_count: 2, last_response_status: 500, status: 'failed' });

  const shown = await run('webhooks', 'show', url, failed);
  expect(shown.stdout).toMatch(new RegExp(`^${failed} {2}order\\.created {2}failed\n`));
  expect(shown.stdout).toContain('\n      "order_id": "order-1043"\n');
  expect(shown.stdout).toMatch(/\nAttempt 2 {2}\S+ \S+ {2}scheduled {2}failed: HTTP 500 after \d+ ms\n/);
  expect(shown.stdout).toContain('\n  ← content-type: text/plain; charset=utf-8\n');
  expect(shown.stdout).toContain('\n  payhook listen: verified, refused by --fail\n');
  await listener.stop();
});

test('retry sends it again, and so does retry --failed; success marks it delivered', async () => {
  const events = [await publish(), await publish(), await publish()]; // nothing listens
  for (const event of events) await logged(event, 'failed');
  const list = await json('webhooks', 'list', url, '--status', 'failed');
  expect(list).toMatchObject({
    pagination: { total: 4 },
    data: [{ last_error_code: 'connection_refused' }, {}, {}, { id: failed }],
  });

  listener = await listen();
  const one = await run('webhooks', 'retry', url, failed);
  expect(one).toMatchObject({ code: 0, stderr: '' });
  expect(one.stdout).toBe(
    `1 event is queued.\nTo see the result: payhook webhooks show ${endpoint.id} ${failed}\n`,
  );
  expect((await logged(failed, 'delivered')).attempts.at(-1)).toMatchObject({ number: 3, trigger: 'manual' });
  const other = await publish();
  const some = await json('webhooks', 'retry', url, '--failed', '--types', 'nobody.publishes', '--yes');
  expect(some).toMatchObject({
    object: 'webhook_recovery',
    filters: { status: ['failed'], types: ['nobody.publishes'] },
  });
  await until('that it finds nothing', async () => {
    const { data } = await json('webhooks', 'recoveries', url);
    return data[0].status === 'completed' && data[0].queued_count === 0;
  });
  const all = await run('webhooks', 'retry', url, '--failed', '--yes');
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.stdout).toMatch(/^rec_\w+ sends matching events again/);
  for (const event of events) {
    expect((await logged(event, 'delivered')).attempts.at(-1)).toMatchObject({
      trigger: 'recovery',
    });
  }
  expect((await logged(other, 'delivered')).attempts).toHaveLength(1);
});

test('recover sends a span of time again as a job, which is listed and can be cancelled', async () => {
  const record = await json(
    'webhooks',
    'recover',
    url,
    '--since',
    '2026-01-01',
    '--status',
    'delivered',
    '--yes',
  );
  expect(record).toMatchObject({
    object: 'webhook_recovery',
    filters: { status: ['delivered'], types: null },
  });
  const done = await until('the recovery is over', async () => {
    const { data } = await json('webhooks', 'recoveries', url);
    return data[0].status === 'completed' ? data[0] : null;
  });
  expect(done).toMatchObject({ id: record.id, skipped_count: 0 });
  await until('it was sent again', async () => {
    const { attempts } = await api(`/v2/webhook-endpoints/${endpoint.id}/events/${failed}`);
    return attempts.at(-1).trigger === 'recovery';
  });
  expect((await run('webhooks', 'recoveries', url)).stdout).toMatch(
    new RegExp(
      `^CREATED \\(UTC\\) .*\\n.* recover +completed +${done.queued_count} +0 +0 .* ${record.id}\\n(.*\\n){2}3 jobs, page 1 of 1\\n$`,
    ),
  );
  const over = await run('webhooks', 'cancel-recovery', url, record.id);
  expect(over).toMatchObject({ code: 1, stderr: expect.stringContaining('payhook: ') });
  expect(await run('webhooks', 'recover', url, '--since', 'yesterday', '--yes')).toMatchObject({ code: 1 });
  expect(await run('webhooks', 'recover', url, '--since', '2026-01-01')).toMatchObject({ code: 2 });
});

test('recover --missing sends an endpoint what it never got, after a count', async () => {
  const late = await json('webhooks', 'create', 'http://127.0.0.1:9/late', '--types', 'order.*');
  expect(await run('webhooks', 'recover', late.id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--since is required, unless --missing is given'),
  });
  const { matching_count } = await json('webhooks', 'recover', late.id, '--missing', '--dry-run');
  expect(matching_count).toBeGreaterThan(0);
  expect(await run('webhooks', 'recover', late.id, '--missing')).toMatchObject({ code: 2 });
  const ran = await run('webhooks', 'recover', late.id, '--missing', '--yes');
  expect(ran.stdout).toMatch(/^rec_\w+ sends matching events while/);
  await until('all of them are in its log', async () => {
    const { pagination } = await api(`/v2/webhook-endpoints/${late.id}/events`);
    return pagination.total === matching_count;
  });
  expect((await run('webhooks', 'recoveries', late.id)).stdout).toMatch(
    new RegExp(` missing +\\w+ +${matching_count} +0 +0 `),
  );
  expect(await run('webhooks', 'delete', late.id, '--yes')).toMatchObject({ code: 0 });
});

test('discard cancels what waits in a span of time, after a count', async () => {
  await run('webhooks', 'disable', url);
  const event = await publish();
  const span = [url, '--since', '2026-01-01', '--type', 'order.*'] as const;
  expect(await json('webhooks', 'discard', ...span, '--dry-run')).toMatchObject({
    ...{ object: 'recovery_preview', action: 'discard', matching_count: 1 },
  });
  expect(await run('webhooks', 'discard', ...span, '--dry-run')).toMatchObject({
    stdout: 'It would cancel 1 event.\n',
  });
  expect(await run('webhooks', 'discard', ...span)).toMatchObject({ code: 2 });
  const ran = await run('webhooks', 'discard', ...span, '--yes');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(/^rec_\w+ cancels waiting events/);
  await logged(event, 'cancelled');
  expect((await run('webhooks', 'recoveries', url)).stdout).toMatch(/ discard +completed +0 +1 +0 /);
  await run('webhooks', 'enable', url);
});

test('a retry that is refused midway says how many deliveries it had queued', async () => {
  const unknown = `evt_${'0'.repeat(32)}`;
  const ran = await run('webhooks', 'retry', url, failed, unknown, '--json');
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(ran.stderr).error).toEqual({
    code: 'not_found',
    reason: 'resource_missing',
    message: 'no such webhook event at this webhook endpoint; 1 of 2 were already queued',
  });
});

longRun.test('with a wrong secret listen refuses, and the log says why', async () => {
  await listener.stop();
  listener = await listen(['--secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']);
  const event = await publish();
  expect(await listener.line(event)).toMatchObject({
    verified: false,
    webhook_endpoint_id: null,
    reason: expect.stringContaining('--secret may belong to another endpoint'),
    answer: 400,
  });
  const [attempt] = (await logged(event, 'failed')).attempts;
  expect(attempt.response_body).toContain('payhook listen: no signature matches');
  await listener.stop();
  listener = await listen();
});

test('events of a disabled endpoint are held, and sent when it is enabled', async () => {
  expect((await run('webhooks', 'disable', url)).stdout).toBe(
    `${endpoint.id} is disabled: events for it are held.\n`,
  );
  const list = await run('webhooks', 'list');
  expect(list.stdout).toMatch(
    new RegExp(`^${endpoint.id} {2}disabled \\(manual\\) {2}order\\.\\* .* {2}${url}$`, 'm'),
  );
  const event = await publish();
  await logged(event, 'held');
  for (const args of [
    ['test', url],
    ['retry', url, event],
  ]) {
    const refused = await run('webhooks', ...args, '--json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'conflict', reason: 'endpoint_disabled' });
  }
  expect(await json('webhooks', 'enable', url)).toMatchObject({ id: endpoint.id, status: 'enabled' });
  expect(await listener.line(event)).toMatchObject({ verified: true });
  await listener.stop();
});

test('enable --held discard sends nothing that was held; --max-age is a number of seconds', async () => {
  const { id } = await json('webhooks', 'create', 'https://held.example.com/', '--types', 'none.such');
  await run('webhooks', 'disable', id);
  const { stdout } = await run('webhooks', 'enable', id, '--held', 'discard');
  expect(stdout).toBe(`${id} is enabled: held events are cancelled.\n`);
  const wrong = await run('webhooks', 'enable', id, '--held', 'keep');
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('held must be one of send, discard'),
  });
  expect(await json('webhooks', 'change', id, '--max-age', '3600')).toMatchObject({ max_age: 3600 });
  expect(await json('webhooks', 'change', id, '--max-age', 'none')).toMatchObject({ max_age: null });
  await run('webhooks', 'delete', id, '--yes');
});

test('a URL identifies an endpoint only when no other has the same', async () => {
  const twin = await json('webhooks', 'create', `${url}/`, '--types', 'none.such');
  const unclear = await run('webhooks', 'show', url);
  expect(unclear).toMatchObject({ code: 1, stdout: '' });
  expect(unclear.stderr).toContain(`choose one by its id: ${endpoint.id}, ${twin.id}`);
  const unconfirmed = await run('webhooks', 'delete', twin.id);
  expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  const deleted = await json('webhooks', 'delete', twin.id, '--yes');
  expect(deleted).toEqual({ id: twin.id, object: 'webhook_endpoint', deleted: true });
  const shown = await run('webhooks', 'show', url);
  expect(shown.stdout).toMatch(new RegExp(`^${endpoint.id} {2}enabled\nURL {10,}${url}\n`));
  expect(shown.stdout).toMatch(/^Description +my machine$/m);
  // the log of a deleted endpoint still exists
  expect(await json('webhooks', 'list', twin.id)).toMatchObject({ data: [], pagination: { total: 0 } });
});

longRun.test(
  'with PAYHOOK_URL the commands call that server, and listen fetches the secrets from it',
  async () => {
    const remote = { ...remoteEnv(), DATA_DIR: join(machine.folder, 'none') };
    listener = await listen([], { env: remote });
    const ran = await runOn(machine)(['events', 'publish', 'order.created'], { env: remote });
    expect(await listener.line(ran.stdout.trim())).toMatchObject({ verified: true });
    await listener.stop();
    expect(machine.files()).not.toContain('none');
  },
);

test.each([
  [['webhooks', 'create', 'ftp://example.com'], 'bad_request', 'invalid_url', 'url must begin with http'],
  [['webhooks', 'create', 'http://10.0.0.1'], 'bad_request', 'invalid_url', 'DELIVERY_ALLOW_CIDRS'],
  [
    ['webhooks', 'create', 'http://a.example', '--types', 'payout.piad'],
    'bad_request',
    'invalid_event_type',
    '',
  ],
  [['webhooks', 'show', 'http://a.example'], 'not_found', 'resource_missing', 'payhook webhooks list'],
  [['webhooks', 'show', 'we_1', 'evt_1'], 'not_found', 'resource_missing', 'no such webhook event'],
  [['webhooks', 'list', '--status', 'failed'], 'bad_request', 'invalid_query', 'status must be'],
  [['events', 'publish', 'payout.paid'], 'bad_request', 'reserved_event_type', 'payout.'],
  [['events', 'tail', '--status', 'lost'], 'bad_request', 'invalid_query', 'status must be'],
])('the API refuses %j: exit code 1 and its reason', async (args, code, reason, message) => {
  const ran = await run(...args, '--json');
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(ran.stderr).error).toMatchObject({
    code,
    reason,
    message: expect.stringContaining(message),
  });
});

test.each([
  [['webhooks', 'retry', 'we_1'], 'name the events to retry, or give --failed'],
  [['webhooks', 'retry', 'we_1', 'evt_1', '--failed'], 'name the events to retry, or give --failed'],
  [['webhooks', 'retry', 'we_1', '--failed'], 'add --yes'],
  [['webhooks', 'retry', 'we_1', 'evt_1', '--types', 'a.b'], '--types needs --failed'],
  [['webhooks', 'rotate-secret', 'we_1', '--overlap', '-1'], '--overlap must be a whole number from 0'],
  [['webhooks', 'token', 'we_1', '--overlap', '604801'], '--overlap must be a whole number from 0'],
  [['webhooks', 'create'], 'give the URL of the receiver, or --pull'],
  [['webhooks', 'create', 'https://shop.example.com', '--pull'], '--pull needs no URL'],
  [['webhooks', 'list', '--response-class', '5xx'], '--response-class filters events: name an endpoint'],
  [['events', 'publish', 'order.created', '--data', '[1]'], '--data must be a JSON object'],
  [['events', 'publish', 'order.created', '--data', '{'], '--data is not JSON'],
  [['events', 'publish', 'order.created', '--data', '{}', '--data-file', 'x'], 'not both'],
  [['events', 'tail', '--lines', '101'], '--lines must be a whole number from 0 to 100'],
])('%j is a usage error: exit code 2', async (args, message) => {
  const ran = await run(...args);
  expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
});

longRun.test(
  'tail survives the server and continues when it is back; it does not keep a server from starting',
  async () => {
    const tail = machine.start(['events', 'tail', '--lines', '1'], { env });
    await tail.printed(/\n/);
    await tail.printed(new RegExp(`order\\.created +${await publish()} `));
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    server = await startServer(machine, { env });
    const event = await publish();
    await tail.printed(
      new RegExp(`^\\S+ \\S+ {2}failed +attempt 2 +connection_refused +order\\.created +${event}`, 'm'),
    );
    tail.child.kill('SIGTERM');
    expect((await tail.ended).code).toBe(0);
    expect(machine.leftovers()).toEqual([]);
  },
);
