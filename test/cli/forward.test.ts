import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { latencyProxy } from '../support/latency.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { runOn } from './here.ts';
import { type RunOptions, type Started, useMachine } from './support.ts';

const world = useWorld({ settings: { DELIVERY_SCHEDULE: '0s,1s,1h' } });
const api = useAccount(world);
const machine = useMachine();

const environment = (url = world.url, key = api.key) => ({ env: { PAYHOOK_URL: url, PAYHOOK_API_KEY: key } });

/** The application on this machine. */
async function local() {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

interface Forwarding {
  readonly started: Started;
  readonly id: string;
  readonly secret: string;
  readonly path: string;
  /** Waits for the line about an attempt of an event. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape
  line(event: string, attempt?: number): Promise<any>;
  stop(signal?: NodeJS.Signals): Started['ended'];
}

async function forward(
  to: string,
  args: readonly string[] = [],
  options: RunOptions = environment(),
): Promise<Forwarding> {
  const started = machine.start(['listen', '--json', '--forward-to', to, ...args], options);
  const [first] = await started.printed(/^\{"object":"forwarder".*$/m);
  const { webhook_endpoint_id: id, secret, forward_to } = JSON.parse(first);
  expect(forward_to).toBe(new URL(to).href);
  return {
    started,
    id,
    secret,
    path: `/v2/webhook-endpoints/${id}`,
    async line(event, attempt = 1) {
      const [text] = await started.printed(new RegExp(`^.*"id":"${event}",.*"attempt":${attempt},.*$`, 'm'));
      return JSON.parse(text);
    },
    stop(signal = 'SIGINT') {
      started.child.kill(signal);
      return started.ended;
    },
  };
}

async function publish(fields: object = {}): Promise<string> {
  const made = await api.post('/v2/events', { type: 'order.created', data: { total: 3190 }, ...fields });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

const logOf = async ({ path }: Forwarding, event: string) => (await api.get(`${path}/events/${event}`)).body;
const untilLogged = (forwarding: Forwarding, event: string, status: string) =>
  until(`${event} to be ${status}`, async () => (await logOf(forwarding, event)).status === status);
const endpoints = async (): Promise<string[]> =>
  (await api.get('/v2/webhook-endpoints')).body.data.map(({ id }: { id: string }) => id);

/** Resolves when the notes match. */
function untilHeard({ child, ended }: Started, pattern: RegExp): Promise<void> {
  let heard = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (pattern.test(heard)) resolve();
    });
    void ended.then(() => reject(new Error(`it ended after: ${heard}`)));
  });
}

test('sends each event to the local address as the server would, signed with the secret of its endpoint', async () => {
  const receiver = await local();
  const forwarding = await forward(`${receiver.url}?shop=7`);
  const event = await publish();
  const [request] = await receiver.until(1);
  expect(request?.path).toBe('/hook?shop=7');
  expect(request?.headers).toMatchObject({
    'webhook-id': event,
    'user-agent': 'Payhook/2.0 (webhooks)',
    'content-type': 'application/json; charset=utf-8',
  });
  const verified = new Webhook(forwarding.secret).verify(
    request?.body ?? '',
    request?.headers as Record<string, string>,
  );
  expect(verified).toMatchObject({ id: event, type: 'order.created', data: { total: 3190 } });
  expect(await forwarding.line(event)).toEqual({
    object: 'forwarded_event',
    forwarded_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    status: 'delivered',
    answer: 200,
    error: null,
    duration_ms: expect.any(Number),
    id: event,
    type: 'order.created',
    attempt: 1,
    payload: verified,
  });
  await untilLogged(forwarding, event, 'delivered');
  expect(await logOf(forwarding, event)).toMatchObject({
    attempts: [{ claim: { consumer: 'payhook listen' } }],
  });
  const endpoint = await api.get(forwarding.path);
  expect(endpoint.body).toMatchObject({
    delivery: 'pull',
    description: expect.stringMatching(/^payhook listen on .*, forwards to http:\/\/127\.0\.0\.1/),
    metadata: { temporary: 'payhook listen' },
  });
  expect(await forwarding.stop()).toMatchObject({ code: 0, stderr: '' });
  expect(await endpoints()).toEqual([]);
});

test('an answer that is no 2xx, a redirect and a closed port are failed attempts with the reason, and the event comes again', async () => {
  const receiver = await local();
  receiver.respond((_request, response, count) => {
    if (count > 2) return response.end();
    if (count === 2) return response.writeHead(302, { location: receiver.url }).end();
    return response.writeHead(500).end('no \u001B[31m such order\n');
  });
  const forwarding = await forward(receiver.url);
  const event = await publish();
  const error = 'HTTP 500: no \uFFFD[31m such order';
  expect(await forwarding.line(event)).toMatchObject({ status: 'failed', answer: 500, error });
  expect(await forwarding.line(event, 2)).toMatchObject({ status: 'failed', answer: 302, error: 'HTTP 302' });
  await until(
    'the second failure in the log',
    async () => (await logOf(forwarding, event)).attempt_count === 2,
  );
  const { attempts } = await logOf(forwarding, event);
  expect(attempts).toMatchObject([{ error_message: error }, { error_message: 'HTTP 302' }]);
  // the third is an hour away
  await api.post(`${forwarding.path}/events/${event}/retry`);
  expect(await forwarding.line(event, 3)).toMatchObject({ status: 'delivered', answer: 200 });
  await untilLogged(forwarding, event, 'delivered');
  await forwarding.stop();

  const closed = await forward(`http://localhost:${await freePort()}`);
  const other = await publish();
  expect(await closed.line(other)).toMatchObject({
    status: 'failed',
    answer: null,
    error: expect.stringContaining('ECONNREFUSED'),
  });
  await until('its failure in the log', async () => (await logOf(closed, other)).attempt_count > 0);
  expect(await closed.stop('SIGTERM')).toMatchObject({ code: 0 });
  expect(await endpoints()).toEqual([]);
});

test('--types, --owner and --secret are those of its endpoint, --server names the server instead of PAYHOOK_URL, and it ends when somebody deletes the endpoint', async () => {
  const receiver = await local();
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  machine.write('forward-secret', secret);
  const args = ['--types', 'order.*, cart.left', '--owner', 'shop-7', '--secret', '@forward-secret'];
  const { PAYHOOK_API_KEY } = environment().env;
  const forwarding = await forward(receiver.url, [...args, '--server', world.url], {
    env: { PAYHOOK_API_KEY },
  });
  expect(forwarding.secret).toBe(secret);
  expect((await api.get(forwarding.path)).body).toMatchObject({
    event_types: ['order.*', 'cart.left'],
    owner: 'shop-7',
  });
  await publish({ owner: 'shop-8' });
  await publish({ type: 'stock.low' });
  const event = await publish({ owner: 'shop-7' });
  const requests = await receiver.until(1);
  expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([event]);
  await untilLogged(forwarding, event, 'delivered');
  await api.delete(forwarding.path);
  expect((await forwarding.started.ended).code).toBe(1);
});

test('the endpoint of one that was killed is deleted by the next start once nobody has asked it for five minutes', async () => {
  const receiver = await local();
  const killed = await forward(receiver.url);
  await killed.stop('SIGKILL');
  const second = await forward(receiver.url);
  expect((await endpoints()).toSorted()).toEqual([killed.id, second.id].toSorted());
  const { body: own } = await api.post('/v2/webhook-endpoints', { delivery: 'pull' });
  await world.query(
    `update endpoint_state set claimed_at = now() - interval '6 minutes' where public_id('we', endpoint_id) = any($1)`,
    [[killed.id, own.id]],
  );
  const third = await forward(receiver.url);
  expect((await endpoints()).toSorted()).toEqual([second.id, third.id, own.id].toSorted());
  await Promise.all([second.stop(), third.stop()]);
  expect(await endpoints()).toEqual([own.id]);
});

test('when the server goes away it goes on trying, and reports later what it could not report', async () => {
  const { port } = new URL(world.url);
  const proxy = await latencyProxy({ host: '127.0.0.1', port: Number(port) }, 0);
  onTestFinished(() => proxy.close());
  const receiver = await local();
  receiver.respond((_request, response) => {
    proxy.refusing = true;
    proxy.cut();
    response.end();
  });
  const url = `http://127.0.0.1:${proxy.port}`;
  const started = machine.start(['listen', '--forward-to', receiver.url], environment(url));
  const [, id = ''] = await started.printed(
    /Endpoint {4}(we_\S+), deleted when it stops\n {2}Secret {6}whsec_/,
  );
  const retrying = untilHeard(started, /; retrying/);
  const event = await publish();
  await started.printed(
    new RegExp(
      `order\\.created {2}${event} {2}attempt 1 {2}HTTP 200 after \\d+ ms\n {2}\\{"total":3190\\}\n`,
    ),
  );
  await retrying;
  const again = untilHeard(started, /The server answers again\./);
  proxy.refusing = false;
  await again;
  const path = `/v2/webhook-endpoints/${id}/events/${event}`;
  await until('the result in the log', async () => (await api.get(path)).body.status === 'delivered');
  expect(receiver.received).toHaveLength(1);
  // it cannot delete its endpoint either
  proxy.refusing = true;
  proxy.cut();
  started.child.kill('SIGINT');
  const { code, stderr } = await started.ended;
  expect(code).toBe(0);
  expect(stderr).toContain(`The endpoint ${id} was not deleted: `);
  expect(await endpoints()).toEqual([id]);
});

test('a wrong key, and a key that is revoked meanwhile, end it with the refusal', async () => {
  const receiver = await local();
  const args = ['listen', '--forward-to', receiver.url];
  const wrong = await runOn(machine)(args, environment(world.url, 'ph_wrong'));
  expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('API key') });
  const { body: key, text, status } = await api.post('/v2/api-keys', { name: 'laptop' });
  expect(status, text).toBe(201);
  const forwarding = await forward(receiver.url, [], environment(world.url, key.key));
  await api.delete(`/v2/api-keys/${key.id}`);
  await publish();
  const { code, stderr } = await forwarding.started.ended;
  expect(code).toBe(1);
  expect(JSON.parse(stderr).error.message).toContain('API key');
});

test.each([
  [['--forward-to', 'localhost:3000'], '--forward-to must be an http(s) URL without a user name'],
  [['--forward-to', 'http://me:x@localhost'], '--forward-to must be an http(s) URL without a user name'],
  [['--forward-to', 'http://localhost', '--port', '1'], '--port has no effect with --forward-to'],
  [['--forward-to', 'http://localhost', '--secret', 'a', '--secret', 'b'], '--secret may be given once'],
  [
    ['--forward-to', 'http://localhost', '--server', 'ftp://a'],
    '--server must be an http(s) URL without a user name',
  ],
  [['--server', 'https://payhook.example.com'], '--server needs --forward-to'],
  [['--types', 'order.*'], '--types needs --forward-to'],
  [['--owner', 'shop-7'], '--owner needs --forward-to'],
])('listen %j is a usage error', async (args, message) => {
  const ran = await runOn(machine)(['listen', ...args], environment());
  expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
});

test('without a server it names the command for the server of this machine', async () => {
  const ran = await runOn(machine)(['listen', '--forward-to', 'http://localhost:3000']);
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('payhook webhooks create http://localhost:3000/');
});
