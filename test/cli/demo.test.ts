import { afterEach, expect, test } from 'vitest';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { type Machine, type Ran, ROOT, settingsOf, startMachine, startServer } from './support.ts';

const LISTEN = 'http://127.0.0.1:9000';

let machine: Machine;
let world: World | undefined;
afterEach(async () => {
  await machine.close();
  await world?.close(); // counts the books
  world = undefined;
});

/** The total of a list; each page is checked against the description. */
async function total(world: World, path: string): Promise<number> {
  const { status, text, body } = await world.api.get(path);
  expect(status, `${path}: ${text}`).toBe(200);
  return body.pagination.total;
}

/** The records of a demo, without values that differ each time. */
function contentOf(ran: Ran) {
  const { affiliates, commissions, payouts, webhook_endpoints } = ran.json();
  return {
    affiliates,
    commissions,
    payouts: payouts.map(({ number, status, filters, totals, revision }: Record<string, unknown>) => ({
      number,
      status,
      filters,
      totals,
      revision,
    })),
    endpoints: webhook_endpoints.map(({ url, status }: Record<string, unknown>) => ({ url, status })),
  };
}

test('the demo fills an empty account next to a delivering server, never mixes with other records, and can be stopped and run again', async () => {
  machine = startMachine();
  // as installed: only the operator reaches the loopback
  const opened = await borrowWorld({ delivers: true, settings: { DELIVERY_ALLOW_CIDRS: '' } });
  world = opened;
  const env = await settingsOf(opened);
  const first = await machine.run(['demo', '--json'], { env });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.json()).toMatchObject({ object: 'demo', account: { name: 'Default' }, affiliates: 60 });

  await everyListHasSomething(opened);
  await theEndpointsAreInEveryState(opened);

  // the account has records now: the demo refuses it when named, and otherwise ignores it
  const again = await machine.run(['demo', '--account', 'Default'], { env });
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(/^payhook: the account Default is not empty: it has 60 affiliates, /);

  const stopped = machine.start(['demo'], { env });
  const count = (table: string, where = 'true') =>
    opened
      .query<{ count: string }>(`select count(*) from ${table} where ${where}`)
      .then(([row]) => Number(row?.count));
  await until('the second demo is in progress', async () => (await count('affiliates')) > 65);
  stopped.child.kill('SIGINT');
  const interrupted = await stopped.ended;
  expect(interrupted).toMatchObject({ code: 1, stdout: '' });
  expect(interrupted.stderr).toMatch(
    /^payhook: interrupted: .* stays in the account Demo; payhook demo starts/,
  );
  // only the endpoint of the first demo is left to send to
  expect(await count('webhook_endpoints', 'disabled_at is null')).toBe(1);

  const second = await machine.run(['demo', '--json'], { env });
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.json().account.name).toBe('Demo 2');
  expect(contentOf(second)).toEqual(contentOf(first));
  // deliveries left behind would be retried for days
  expect(await count('queue q join webhook_endpoints e on e.id = q.endpoint_id', 'disabled_at is null')).toBe(
    0,
  );
  expect(machine.leftovers()).toEqual([]);

  const listed = (await machine.run(['accounts', 'list', '--json'], { env })).json().data;
  expect(listed.map(({ name, is_demo }: Record<string, unknown>) => [name, is_demo])).toEqual([
    ['Default', true],
    ['Demo', true],
    ['Demo 2', true],
  ]);
  const deleted = await machine.run(['accounts', 'delete', 'Demo 2', '--yes', '--name', 'Demo 2'], { env });
  expect(deleted).toMatchObject({ code: 0, stderr: '' });
  expect(await count('commissions c join accounts a on a.id = c.account_id', `a.name = 'Demo 2'`)).toBe(0);
  expect(await total(opened, '/v2/affiliates/commissions')).toBeGreaterThan(4999);
});

async function everyListHasSomething(world: World): Promise<void> {
  const { api } = world;
  const lists = [
    'affiliates?status=active',
    'affiliates?status=inactive',
    'affiliates/programs',
    ...['paid', 'unpaid'].map((status) => `affiliates/payouts?status=${status}`),
    ...['paid', 'unpaid', 'pending', 'voided'].map((status) => `affiliates/commissions?status=${status}`),
    ...['sale', 'recurring', 'bonus', 'adjustment', 'clawback'].map(
      (type) => `affiliates/commissions?type=${type}`,
    ),
    ...['usd', 'eur', 'gbp', 'jpy'].map((currency) => `affiliates/commissions?currency=${currency}`),
    ...['affiliates', 'commissions', 'excluded'].map((part) => `affiliates/payouts/current/${part}`),
    ...['enabled', 'disabled'].map((status) => `webhook-endpoints?status=${status}`),
    ...['delivered', 'failed', 'held'].map((status) => `webhook-events?status=${status}`),
    'audit-log',
  ];
  for (const list of lists) expect(await total(world, `/v2/${list}`), list).toBeGreaterThan(0);
  expect(await total(world, '/v2/affiliates/commissions')).toBeGreaterThan(4999);

  const payouts = (await api.get('/v2/affiliates/payouts?sort=number')).body.data;
  expect(payouts.map(({ number, status }: { number: number; status: string }) => [number, status])).toEqual([
    [1, 'paid'],
    [2, 'paid'],
    [3, 'paid'],
    // 4 was deleted
    [5, 'paid'],
    [6, 'unpaid'],
  ]);
  const one = async (number: number) => {
    const { id } = payouts.find((payout: { number: number }) => payout.number === number);
    return (await api.get(`/v2/affiliates/payouts/${id}`)).body;
  };
  expect((await one(1)).currency).toBe('usd');
  const file = await api.get(`/v2/affiliates/payouts/${payouts[0].id}/payment-files/paypal`);
  expect([file.status, file.headers.get('payhook-skipped-affiliates')], file.text).toEqual([200, '0']);
  expect((await one(2)).affiliates.map((line: { is_paid: boolean }) => line.is_paid)).toContain(false);
  const returned = (line: { returned_amount: unknown }) => line.returned_amount !== null;
  expect((await one(3)).affiliates.some(returned)).toBe(true);
  const current = await one(6);
  expect(current.excluded.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
    'affiliate_inactive',
    'below_minimum',
    'negative_balance',
    'not_ready',
    'on_hold',
  ]);
  expect(current.revision).toBeGreaterThan(1);
}

async function theEndpointsAreInEveryState(world: World): Promise<void> {
  const { api } = world;
  const endpoints = (await api.get('/v2/webhook-endpoints?sort=id')).body.data;
  expect(
    endpoints.map(({ url, status, disabled_reason }: Record<string, string>) => [
      url,
      status,
      disabled_reason,
    ]),
  ).toEqual([
    [`${LISTEN}/shop`, 'enabled', null],
    [`${LISTEN}/books`, 'disabled', 'manual'],
    [`${LISTEN}/crm`, 'disabled', 'gone'],
    [`${LISTEN}/warehouse`, 'disabled', 'manual'],
  ]);
  const [shop, books, crm, warehouse] = endpoints.map(
    ({ id }: { id: string }) => `/v2/webhook-endpoints/${id}`,
  );
  const statusOf = async (path: string, status: string) => total(world, `${path}/events?status=${status}`);
  expect(await statusOf(shop, 'delivered')).toBe(await total(world, `${shop}/events`));
  expect(await statusOf(books, 'delivered')).toBe(await total(world, `${books}/events`));
  expect(await statusOf(crm, 'failed')).toBeGreaterThan(0);
  expect(await statusOf(warehouse, 'held')).toBe(await total(world, `${warehouse}/events`));

  // one was prepared by hand, the others by the schedule
  const log = (await api.get(`${books}/events?sort=id&per_page=100`)).body.data;
  const recovered = log.filter((event: { attempt_count: number }) => event.attempt_count === 2);
  const histories = [];
  for (const { id } of recovered) {
    const { attempts } = (await api.get(`${books}/events/${id}`)).body;
    histories.push(
      attempts
        .map((attempt: Record<string, unknown>) => `${attempt.trigger} ${attempt.response_status}`)
        .join(', '),
    );
  }
  expect([...new Set(histories)].sort()).toEqual([
    'scheduled 500, manual 200',
    'scheduled 500, scheduled 200',
  ]);
}

test('on a fresh machine it needs no server, and every command it names works as typed', async () => {
  machine = startMachine();
  const { code, stdout, stderr } = await machine.run(['demo', '--seed', '7']);
  expect([code, stderr]).toEqual([0, `Created the first API key, in ${machine.dataDir}/first-api-key\n`]);
  expect(stdout).toMatch(/^Default is filled: 60 affiliates, 5\d\d\d commissions \(\d+ paid, /);
  expect(stdout).not.toContain('npm start'); // an installed package has none
  expect(stdout).toContain('while a server is running (npx payhook serve)');
  const commands = [...stdout.matchAll(/^ {2}.*npx payhook (.+)$/gm)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThan(8);
  expect(commands).toContain('users setup-link');
  const server = await startServer(machine);
  for (const command of commands.filter((each) => each !== 'listen')) {
    // irreversible commands ask on a terminal
    const answered = command.replace('--all-paid', '--all-paid --yes');
    const typed = `npx() { shift; '${process.execPath}' '${ROOT}dist/cli/main.js' "$@"; }; npx payhook ${answered}`;
    const ran = await machine.startOther('sh', ['-c', typed], machine.folder).ended;
    expect(ran, command).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
  }
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
});

test('it is for this machine only, and says so', async () => {
  machine = startMachine();
  const env = { PAYHOOK_URL: 'http://127.0.0.1:1', PAYHOOK_API_KEY: 'x' };
  const remote = await machine.run(['demo'], { env });
  expect(remote).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('unset PAYHOOK_URL') });
  const wrong = await machine.run(['demo', '--seed', 'x']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--seed must be a whole number') });
});
