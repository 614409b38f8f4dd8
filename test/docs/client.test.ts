import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { ROOT } from '../cli/support.ts';
import { type Consumer, makeConsumer } from '../client/consumer.ts';
import { browserOf, register, signedIn } from '../oauth/support.ts';
import { useWorld } from '../support/world.ts';

// The programs of the guide, run as a reader would: extracted from the page, compiled against the installed package,
// and started one after the other against one server.
const PAGE = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');
const SECRET = `whsec_${Buffer.from('a secret of 32 bytes, for tests!').toString('base64')}`;

/** The programs by their names; all code of the page. */
const programs = new Map(
  [...PAGE.matchAll(/^```(\w+)\n(?:\/\/ ([\w-]+\.ts)\n)?([\s\S]*?)^```$/gm)].map(([, fence, name, code]) => {
    if (fence !== 'ts' || name === undefined) throw new Error(`a block that no test runs: ${code}`);
    return [name, code ?? ''];
  }),
);

const world = useWorld();
let client: Client;
let consumer: Consumer;
const ran = new Set<string>();
beforeAll(async () => {
  client = createClient({ url: world.url, apiKey: world.api.key });
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  consumer = await makeConsumer(programs, { ...compilerOptions, noEmit: false });
});
afterAll(async () => {
  consumer.remove();
  await client.close();
});

const environment = () => ({ PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key });

/** Runs a program of the page to its end; returns what it printed. */
async function run(name: string, ...args: string[]): Promise<string> {
  ran.add(name);
  const { code, stdout, stderr } = await consumer.run(name, args, environment());
  expect(code, stderr).toBe(0);
  return stdout;
}

test('every program of the page compiles under the strict types of this repository', () => {
  expect(consumer.compile()).toBe('');
});

test('the first call prints the name of the account', async () => {
  ran.add('payhook.ts'); // the others import it
  expect(await run('first-call.ts')).toBe('Default pays in usd\n');
});

test('without owed amounts, creating a payout prints that', async () => {
  expect(await run('errors.ts')).toBe('nobody is owed anything\n');
});

test('a file is imported after its dry run; with a bad line nothing is', async () => {
  await client.affiliates.import(
    'external_id,email,paypal_email\na1,ada@example.com,pay@example.com\na2,bob@example.com,\n',
  );
  const file = (amount: string) =>
    writeFileSync(
      join(consumer.folder, 'commissions.csv'),
      `external_id,affiliate_external_id,amount,currency\nc1,a1,31.90,usd\nc2,a2,${amount},usd\n`,
    );
  file('ten');
  expect(await run('import.ts')).toMatch(/^line 3: .+\n$/);
  file('10.00');
  expect(await run('import.ts')).toBe('2 created, 0 unchanged\n');
  expect(await run('import.ts')).toBe('0 created, 2 unchanged\n');
});

test('lists are counted and added up', async () => {
  expect(await run('lists.ts')).toBe('0 of 0 payouts\n{ usd: 4190 }\n');
});

test('held commissions are released after review', async () => {
  for await (const { id } of client.commissions.list()) await client.commissions.hold(id);
  expect(await run('release.ts')).toBe('2 released\n');
  expect(await run('release.ts')).toBe('0 released\n');
});

test('paying completes the lines that the bank could pay, and releases the rest', async () => {
  expect(await run('pay.ts')).toBe('3190 usd paid, 1000 owed again\n');
  const [payout] = (await client.payouts.list()).data;
  const lines = (await client.payouts.affiliates(payout?.id ?? '')).data;
  expect(lines.map(({ is_paid, payment_reference }) => [is_paid, payment_reference])).toEqual([
    [true, `transfer-${lines[0]?.affiliate_id}`],
    [false, null],
  ]);
});

test('the paid payout is exported to a whole file', async () => {
  const name = (await run('export.ts')).trim();
  expect(readFileSync(join(consumer.folder, name), 'utf8').split('\r\n')).toHaveLength(3);
  expect(readdirSync(consumer.folder).filter((file) => file.endsWith('.part'))).toEqual([]);
});

test('the monthly payout is created once, however often the program runs; errors.ts finds it', async () => {
  const nextYear = `${new Date().getFullYear() + 1}-01`;
  const id = await run('monthly.ts', nextYear);
  expect(id).toMatch(/^po_\w+\n$/);
  expect(await run('monthly.ts', nextYear)).toBe(id);
  expect(await run('errors.ts')).toMatch(/^payout \d+ is still unpaid\n$/);
});

test('events are published, numbers unchanged', async () => {
  const { id: endpoint } = await client.webhookEndpoints.create({ url: 'http://127.0.0.1:9/' });
  const [created, exact] = (await run('publish.ts')).trim().split(' ');
  expect((await client.webhookEndpoints.event(endpoint, created ?? '')).payload.data).toEqual({
    order_id: 'order-1042',
    total: 3190,
    currency: 'usd',
  });
  const stored = await world.api.get(`/v2/webhook-endpoints/${endpoint}/events/${exact}`);
  expect(stored.text).toContain('12345678901234567890');
});

test('many events are published at once, and known ones are reported', async () => {
  const first = await run('publish-many.ts');
  expect(first).toMatch(/^published evt_\w+\npublished evt_\w+\n$/);
  expect(await run('publish-many.ts')).toBe(first.replaceAll('published', 'known'));
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('the receiver accepts signed requests, and nothing else', async () => {
  ran.add('receiver.ts');
  const port = await freePort();
  const compiled = join(consumer.folder, 'out/receiver.js');
  const program = readFileSync(compiled, 'utf8');
  writeFileSync(compiled, program.replace('listen(9000)', `listen(${port}, () => console.log('up'))`));
  const child = consumer.start('receiver.ts', [], { PAYHOOK_WEBHOOK_SECRET: SECRET });
  try {
    const lines = child.stdout as NonNullable<typeof child.stdout>;
    await once(lines, 'data');
    const body = '{"id":"evt_1","type":"payout.paid","data":{"name":"Zoë"}}';
    const now = new Date();
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(SECRET).sign('evt_1', now, body),
    };
    const post = (text: string) =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text }).then(
        ({ status }) => status,
      );
    expect(await post(`${body} `)).toBe(400);
    const printed = once(lines, 'data');
    expect(await post(body)).toBe(204);
    expect(String(await printed)).toBe('evt_1 payout.paid\n');
  } finally {
    child.kill();
    await once(child, 'close');
  }
});

test('a receiver can be tested with signed bodies', async () => {
  ran.add('test-receiver.ts');
  expect(await consumer.run('test-receiver.ts', [], {})).toEqual({ code: 0, stdout: 'po_1\n', stderr: '' });
});

test('a consumer handles the events of a pull endpoint until it is stopped', async () => {
  ran.add('consume.ts');
  const { id } = await client.webhookEndpoints.create({ delivery: 'pull', event_types: ['order.pulled'] });
  const event = await client.events.publish({ type: 'order.pulled', data: {} });
  const child = consumer.start('consume.ts', [id], environment());
  try {
    const [printed] = await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    expect(String(printed)).toBe(`${event.id} order.pulled\n`);
  } finally {
    child.kill('SIGTERM');
  }
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(await client.webhookEndpoints.event(id, event.id)).toMatchObject({ status: 'delivered' });
});

test('an application reads the affiliates of a merchant who granted it access', async () => {
  ran.add('merchant.ts');
  const application = await register(world.api, { redirect_uris: ['https://shop.example.com/callback'] });
  const merchant = async (...args: string[]) => {
    const secrets = { CLIENT_ID: application.id, CLIENT_SECRET: application.client_secret };
    const { code, stdout, stderr } = await consumer.run('merchant.ts', args, {
      ...environment(),
      ...secrets,
    });
    expect(code, stderr).toBe(0);
    return stdout.trim();
  };
  const browser = browserOf(world, await signedIn(world));
  const { location } = await browser.send(await browser.open(await merchant()), {});
  expect(await merchant(String(location))).toBe('2 affiliates');
});

test('no program of the page is omitted, and its table names every function', () => {
  expect([...ran].toSorted()).toEqual([...programs.keys()].toSorted());
  const named = [...PAGE.matchAll(/^\| `(\w+)` \| ((?:`\w+` ?)+)\|$/gm)].map(([, noun, verbs = '']) => [
    noun,
    [...verbs.matchAll(/\w+/g)].map(([verb]) => verb),
  ]);
  const { close: _, ...resources } = client;
  const there = Object.entries(resources).map(([noun, functions]) => [noun, Object.keys(functions)]);
  expect(named).toEqual(there);
});
