import { afterEach, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { runOn } from './here.ts';
import { type Machine, ROOT, settingsOf, startMachine, startServer } from './support.ts';

const LISTEN = 'http://127.0.0.1:9000';

let machine: Machine;
let world: World | undefined;
afterEach(async () => {
  await machine.close();
  await world?.close(); // counts the books
  world = undefined;
});

/** The total of a list; each page is checked against the description. */
async function total(api: Api, path: string): Promise<number> {
  const { status, text, body } = await api.get(path);
  expect(status, `${path}: ${text}`).toBe(200);
  return body.pagination.total;
}

test('the demo always creates an account named Demo, with months of payouts and a day of deliveries, and deletes it when interrupted', async () => {
  machine = startMachine();
  // as installed: only the operator reaches the loopback
  const opened = await borrowWorld({ delivers: true, settings: { DELIVERY_ALLOW_CIDRS: '' } });
  world = opened;
  const env = await settingsOf(opened);
  const run = (...args: string[]) => runOn(machine)(args, { env });
  const count = (table: string, where = 'true') =>
    opened
      .query<{ count: string }>(`select count(*) from ${table} where ${where}`)
      .then(([row]) => Number(row?.count));
  const stopped = machine.start(['demo'], { env });
  await until('the demo is in progress', async () => (await count('affiliates')) > 5);
  stopped.child.kill('SIGINT');
  const interrupted = await stopped.ended;
  expect(interrupted).toMatchObject({ code: 1, stdout: '' });
  expect(interrupted.stderr).toBe('payhook: interrupted: the account Demo was deleted again\n');
  expect(await count('affiliates')).toBe(0);

  // the only account is empty, and stays so
  const filled = await run('demo', '--json');
  expect(filled).toMatchObject({ code: 0, stderr: '' });
  // the same seed gives the same numbers
  expect(filled.json()).toMatchObject({
    object: 'demo',
    account: { name: 'Demo' },
    affiliates: 60,
    commissions: { paid: 2867, unpaid: 1407, pending: 732, voided: 19 },
  });
  expect(await total(opened.api, '/v2/affiliates')).toBe(0);
  const listed = (await run('accounts', 'list', '--json')).json().data;
  expect(listed.map((each: Record<string, unknown>) => [each.name, each.is_demo, each.is_current])).toEqual([
    ['Default', false, true],
    ['Demo', true, false],
  ]);
  const key = await run('keys', 'create', '--account', 'Demo', '--name', 'x', '--json');
  const api = apiOf(opened.url, key.json().key);
  await everyListHasSomething(api);
  await payoutsAreOfSeveralMonths(api);
  await theEndpointsAreInEveryState(api);

  const again = await run('demo');
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(
    /^payhook: there is an account named Demo already \(acc_\w+\): delete it with payhook accounts delete Demo, /,
  );
  const named = await run('demo', '--account', 'Default');
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('--account has no effect') });
  const deleted = await run('accounts', 'delete', 'Demo', '--yes', '--name', 'Demo');
  expect(deleted).toMatchObject({ code: 0, stderr: '' });
  expect(await count('commissions')).toBe(0);
  expect(machine.leftovers()).toEqual([]);
});

async function everyListHasSomething(api: Api): Promise<void> {
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
    ...['delivered', 'failed', 'held', 'pending'].map((status) => `webhook-events?status=${status}`),
    'audit-log',
  ];
  for (const list of lists) expect(await total(api, `/v2/${list}`), list).toBeGreaterThan(0);
}

async function payoutsAreOfSeveralMonths(api: Api): Promise<void> {
  const payouts = (await api.get('/v2/affiliates/payouts?sort=number')).body.data;
  expect(payouts.map(({ number, status }: { number: number; status: string }) => [number, status])).toEqual([
    ...[1, 2, 3, 4, 5, 6].map((number) => [number, 'paid']),
    // 7 was deleted
    [8, 'unpaid'],
  ]);
  const months = new Set(payouts.map(({ paid_at }: { paid_at: string | null }) => paid_at?.slice(0, 7)));
  expect(months.size).toBeGreaterThan(5);
  const one = async (number: number) => {
    const { id } = payouts.find((payout: { number: number }) => payout.number === number);
    return (await api.get(`/v2/affiliates/payouts/${id}`)).body;
  };
  const recent = await one(6);
  const file = await api.get(`/v2/affiliates/payouts/${recent.id}/payment-files/paypal`);
  expect([file.status, file.headers.get('payhook-skipped-affiliates')], file.text).toEqual([200, '0']);
  expect(recent.affiliates.map((line: { is_paid: boolean }) => line.is_paid)).toContain(false);
  const returned = (line: { returned_amount: unknown }) => line.returned_amount !== null;
  expect(recent.affiliates.some(returned)).toBe(true);
  const current = await one(8);
  expect(current.excluded.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
    'affiliate_inactive',
    'below_minimum',
    'negative_balance',
    'not_ready',
    'on_hold',
  ]);
  expect(current.revision).toBeGreaterThan(1);
}

async function theEndpointsAreInEveryState(api: Api): Promise<void> {
  const endpoints = (await api.get('/v2/webhook-endpoints?sort=id')).body.data;
  const states = endpoints.map((each: Record<string, string | null>) => [
    each.url,
    each.status,
    each.disabled_reason,
    each.first_failure_at !== null,
  ]);
  expect(states).toEqual([
    [`${LISTEN}/shop`, 'enabled', null, false],
    [`${LISTEN}/books`, 'enabled', null, true],
    [`${LISTEN}/crm`, 'disabled', 'gone', false],
    [`${LISTEN}/warehouse`, 'disabled', 'manual', false],
  ]);
  const [shop, books, crm, warehouse] = endpoints.map(
    ({ id }: { id: string }) => `/v2/webhook-endpoints/${id}`,
  );
  const statusOf = (path: string, status: string) => total(api, `${path}/events?status=${status}`);
  expect(await statusOf(shop, 'delivered')).toBe(await total(api, `${shop}/events`));
  expect(await statusOf(books, 'delivered')).toBeGreaterThan(10);
  expect(await statusOf(books, 'pending')).toBeGreaterThan(10);
  expect(await statusOf(crm, 'failed')).toBe(1);
  expect(await statusOf(warehouse, 'held')).toBe(await total(api, `${warehouse}/events`));

  // spread over a day, and counted
  const { buckets, totals } = (await api.get('/v2/analytics/deliveries?interval=hour')).body;
  expect(buckets.filter(({ published }: { published: number }) => published > 0).length).toBeGreaterThan(18);
  expect(totals.published).toBe(await total(api, '/v2/webhook-events'));
  const [event] = (await api.get(`${books}/events?status=pending&sort=id`)).body.data;
  const { attempts, payload } = (await api.get(`${books}/events/${event.id}`)).body;
  expect(payload).toMatchObject({ id: event.id, timestamp: event.created_at });
  expect(attempts.length).toBeGreaterThan(2);
  expect(attempts[0]).toMatchObject({ response_status: 500, started_at: event.created_at });
}

longRun.test('on a fresh machine it needs no server, and every command it names works as typed', async () => {
  machine = startMachine();
  const { code, stdout, stderr } = await machine.run(['demo', '--seed', '7']);
  expect([code, stderr]).toEqual([0, `Created the first API key, in ${machine.dataDir}/first-api-key\n`]);
  expect(stdout).toMatch(/^Demo is filled: 60 affiliates, 5\d\d\d commissions \(\d+ paid, /);
  expect(stdout).not.toContain('npm start'); // an installed package has none
  expect(stdout).toContain('while a server is running (npx payhook serve)');
  const commands = [...stdout.matchAll(/^ {2}.*npx payhook (.+)$/gm)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThan(8);
  expect(commands).toContain('users setup-link --account Demo');
  const server = await startServer(machine);
  for (const command of commands.filter((each) => !each.startsWith('listen'))) {
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
  const remote = await runOn(machine)(['demo'], { env });
  expect(remote).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('unset PAYHOOK_URL') });
  const wrong = await runOn(machine)(['demo', '--seed', 'x']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--seed must be a whole number') });
});
