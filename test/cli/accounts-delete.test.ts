import sql, { raw } from 'sql-template-tag';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rows } from '../../src/db/database.ts';
import type { AccountId } from '../../src/kernel/ids.ts';
import { removeAccount } from '../../src/people/accounts/removal.ts';
import { dump } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { longRun } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { agree, letInvoice, withRate } from '../support/invoicing.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeAffiliates, makeEndpoint, makeGrant, salesFor, seedAttempts, takeIn } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import { runOn } from './here.ts';
import { type Machine, type Ran, settingsOf, startMachine } from './support.ts';

let machine: Machine;
let world: World;
let env: Record<string, string>;
beforeEach(async () => {
  machine = startMachine();
  world = await borrowWorld({ own: true });
  env = await settingsOf(world);
});
afterEach(async () => {
  await machine.close();
  await world.close(); // counts the books
});

const run = (...args: string[]): Promise<Ran> => runOn(machine)(args, { env });
const remove = (name: string) => run('accounts', 'delete', name, '--yes', '--name', name);
const idOf = async (api: Api): Promise<string> => (await api.get('/v2/account')).body.id;
const uuidOf = (id: string) => id.replace(/^acc_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** An account filled by the demo, as far as the database knows. */
async function demoAccount(name = 'Demo'): Promise<{ api: Api; uuid: string }> {
  const api = await world.otherAccount(name);
  const uuid = uuidOf(await idOf(api));
  await world.platform.accounts.markDemo(uuid as AccountId);
  return { api, uuid };
}

async function done(answer: ReturnType<Api['get']>) {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

/** What a change of a payout, its approval and an ACH file leave; their own tests create these through the API. */
async function noteSecondPerson(payout: string): Promise<void> {
  const of = `from payouts p join users u on u.account_id = p.account_id where public_id('po', p.id) = $1 limit 1`;
  for (const insert of [
    `insert into payout_changes (account_id, payout_id, revision, change, actor_kind, actor_id)
     select p.account_id, p.id, 2, 'reduced', 'key', 'x' from payouts p where public_id('po', p.id) = $1`,
    `insert into payout_approvals (account_id, payout_id, revision, user_id) select p.account_id, p.id, 2, u.id ${of}`,
    `insert into payout_signals (account_id, payout_id, affiliate_id, currency, rule, revision, amount, details, blocks)
     select p.account_id, p.id, 1, 'usd', 'first_payout_above', 1, 1, '{}', false from payouts p where public_id('po', p.id) = $1`,
    `insert into nacha_days select account_id, '1', '1', '260101', 1, 1 from payouts p where public_id('po', p.id) = $1`,
  ])
    await world.query(insert, [payout]);
}

/** Inserts a row into every table that has accounts. */
async function fill(api: Api, name: string): Promise<void> {
  const [ada, bob] = (await makeAffiliates(api, 2, name)) as [number, number];
  const program = await done(api.post('/v2/affiliates/programs', { name }, { 'Idempotency-Key': 'once' }));
  await takeIn(api, salesFor([ada, bob], 6, name));
  const [sale] = salesFor([ada], 1, `${name}-program`);
  await done(api.post('/v2/affiliates/commissions', { ...sale, program_id: program.id }));
  const [held] = (await done(api.get('/v2/affiliates/commissions?sort=id'))).data;
  await done(api.post(`/v2/affiliates/commissions/${held.id}/hold`));
  const bank = { type: 'sepa', account_holder: 'Ada Lovelace', iban: 'DE89370400440532013000' };
  await done(api.put(`/v2/affiliates/${ada}/destination`, bank));
  const address = { line1: '1 Main St', city: 'Boston' };
  const signed = { legal_type: 'person', legal_name: 'Ada Lovelace', country: 'US', address };
  await done(api.put(`/v2/affiliates/${ada}/tax-profile`, signed));
  const payout = await done(api.post('/v2/affiliates/payouts'));
  await done(api.get(`/v2/affiliates/payouts/${payout.id}/payment-files/summary`));
  await done(api.get(`/v2/affiliates/payouts/${payout.id}/payment-files/paypal?allow_skipped=true`));
  const answer = {
    body: `reference\nP${payout.number}-A${ada}\n`,
    headers: { 'content-type': 'text/csv' },
  };
  await done(api.request('POST', `/v2/affiliates/payouts/${payout.id}/results`, answer));
  const paid = [ada, bob].map((affiliate_id) => ({ affiliate_id, is_paid: true }));
  await done(api.put(`/v2/affiliates/payouts/${payout.id}`, { commissions: paid }));
  await letInvoice(api);
  await agree(api, bob);
  const { paid_at } = await done(api.get(`/v2/affiliates/payouts/${payout.id}`));
  await done(api.post(`/v2/affiliates/payouts/${payout.id}/invoices`, withRate(paid_at)));
  await done(
    api.post(`/v2/affiliates/payouts/${payout.id}/affiliates/${bob}/returned`, {
      reason: 'closed',
      amount: 1,
    }),
  );
  const members = (await done(api.get(`/v2/affiliates/payouts/${payout.id}/commissions`))).data;
  await done(api.post(`/v2/affiliates/commissions/${members[0].id}/refund`, { external_id: `${name}-paid` }));
  await done(api.post('/v2/affiliates/refunds', { external_id: `${name}-early`, order_id: 'not yet' }));
  await done(api.put('/v2/event-types/order.created', { description: name }));
  const endpoint = await makeEndpoint(api, { ordered: true });
  const event = { type: 'order.created', data: {} };
  await done(api.post('/v2/events', { ...event, external_id: 'first' }));
  const [delivery] = (await done(api.get(`/v2/webhook-endpoints/${endpoint}/events`))).data;
  await seedAttempts(world, delivery, [{ status: 500 }, { status: null }]);
  await done(api.post('/v2/events', { ...event, ordering_key: 'order:1' }));
  await done(api.post(`/v2/webhook-endpoints/${endpoint}/recover`, { since: '2026-01-01T00:00:00Z' }));
  await done(api.post(`/v2/webhook-endpoints/${endpoint}/portal-link`));
  const fields = { name: 'ops', format: 'slack', url: 'http://127.0.0.1:9/alerts', kinds: [] };
  const channel = await done(api.post('/v2/alert-channels', fields));
  await done(api.post(`/v2/alert-channels/${channel.id}/test`));
  // nothing listens there: an attempt would change the row while rows are compared
  await world.query('update notices set failed_at = now_ms() where failed_at is null');
  await done(api.post('/v2/events', { ...event, owner: 'customer-7', tags: ['shop'] }));
  await done(api.post('/v2/users', { email: `both-${name}@example.com`, name: 'Both', role: 'member' }));
  await done(api.post('/v2/users', { email: 'both@example.com', name: 'Both', role: 'member' }));
  const people = '/v2/imports?kind=affiliates&accept_guesses=true&save_as=ours';
  const columns = 'email,account_holder,iban,legal_type,legal_name,tax_country,address_line1,address_city';
  const line = `new@${name}.example,Ada,${bank.iban},person,Ada,US,1 Main St,Boston`;
  await done(api.upload(people, `${columns}\n${line}\n`));
  const rhythm = { name: 'monthly', every: 'month', day: 1 };
  await done(api.post('/v2/affiliates/payout-schedules', rhythm));
  await done(api.post(`/v2/affiliates/${bob}/erase`));
  await keepHouse(world, 'erasures');
  // what a report of the bank would store (api/verifications)
  await world.query(
    `insert into payee_verifications (account_id, destination_id, affiliate_id, result, payment_file)
     select account_id, id, affiliate_id, 'match', 'file' from affiliate_destinations where affiliate_id = ${ada} limit 1`,
  );
  await world.query(
    `insert into destination_corrections (account_id, destination_id, affiliate_id, payout_id, code, received_on, due_on)
     select account_id, id, affiliate_id, new_id(), 'C01', now(), now() from affiliate_destinations where affiliate_id = ${ada} limit 1`,
  );
  await world.query(
    `insert into notices (account_id, kind, data, is_alone, affiliate_id, due_at, failed_at)
     select account_id, 'paid', '{}', true, id, now_ms(), now_ms() from affiliates where id = ${ada}`,
  );
  await makeGrant(world, api);
  await noteSecondPerson(payout.id);
}

/** The number of an account's rows in each table that has accounts. */
async function countsOf(uuid: string): Promise<Record<string, number>> {
  const tables = await world.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attname = 'account_id' and not a.attisdropped order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await world.query<{ count: string }>(
      `select count(*) from ${name} where account_id = '${uuid}'`,
    );
    counts[name] = Number(row?.count);
  }
  return counts;
}

test('deleting a demo account deletes its rows in every table; other accounts keep theirs', async () => {
  const { api, uuid } = await demoAccount();
  await fill(world.api, 'real');
  await fill(api, 'demo');
  const counts = await countsOf(uuid);
  // notes are added up when a chore runs
  const isSum = (name: string) =>
    /^(delivery_count|attempt_counts|affiliate_balance|affiliate_series|commission_series|commission_arrivals|program_affiliates)/.test(
      name,
    );
  for (const sums of ['delivery_count', 'affiliate_balance', 'affiliate_series']) {
    const of = Object.entries(counts).filter(([name]) => name.startsWith(sums));
    expect(
      of.reduce((all, [, count]) => all + count, 0),
      sums,
    ).toBeGreaterThan(0);
  }
  // only of accounts in other cells
  const isOfCells = (name: string) => name === 'account_cells';
  const tables = Object.fromEntries(
    Object.entries(counts).filter(([name]) => !isSum(name) && !isOfCells(name)),
  );
  expect(Object.entries(tables).filter(([, count]) => count === 0)).toEqual([]);
  expect(Object.keys(tables).length).toBeGreaterThan(28);
  const grants = await world.query<{ id: string }>(
    `select id from oauth_grants where account_id = '${uuid}'`,
  );
  const people = await world.query<{ id: string }>(
    `select person_id as id from users u where account_id = '${uuid}'
       and not exists (select from users o where o.person_id = u.person_id and o.account_id <> u.account_id)`,
  );
  expect([grants.length, people.length]).toEqual([1, 2]);
  const gone = [uuid, ...[...grants, ...people].map(({ id }) => id)];
  const before = await dump(world);

  const ran = await remove('Demo');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toMatch(/^Demo \(acc_\w{32}\) was deleted\.\n$/);
  expect(Object.entries(await countsOf(uuid)).filter(([, count]) => count > 0)).toEqual([]);
  expect(await dump(world)).toEqual(before.filter((row) => !gone.some((id) => row.includes(id))));
  expect(
    Object.values(await countsOf(uuidOf(await idOf(world.api)))).filter((n) => n > 0).length,
  ).toBeGreaterThan(29);
  expect((await api.get('/v2/account')).status).toBe(401);
});

test('deleting asks for the name again, and refuses real accounts, the last account, and accounts in use', async () => {
  const { api } = await demoAccount();
  await world.otherAccount('Northwind');
  const kept = async (ran: Ran, code: number, message: string) => {
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect((await run('accounts', 'list', '--json')).json().data).toHaveLength(3);
  };
  await kept(await run('accounts', 'delete', 'Demo'), 2, 'add --yes and --name');
  await kept(await run('accounts', 'delete', 'Demo', '--yes'), 2, 'add --yes and --name');
  await kept(await run('accounts', 'delete', 'Demo', '--yes', '--name', 'demo'), 1, 'the name is Demo');
  await kept(await remove('Nobody'), 1, 'no account has the id or name Nobody');
  await kept(await remove('Northwind'), 1, 'only an account that payhook demo filled can be deleted');
  expect(await run('accounts', 'use', 'Demo')).toMatchObject({ code: 0 });
  await kept(await remove('Demo'), 1, 'is the current account: choose another first');
  expect(await run('accounts', 'use', 'Northwind')).toMatchObject({ code: 0 });

  const { application_id } = await makeGrant(world, api);
  await world.query(
    `update oauth_grants set account_id = u.account_id, user_id = u.id from users u
     where u.account_id <> oauth_grants.account_id and u.id = $1`,
    [await userOf(world.api)],
  );
  expect(application_id).toMatch(/^app_/);
  await kept(await remove('Demo'), 1, 'other accounts granted access');
});

async function userOf(api: Api): Promise<string> {
  const { id } = await done(
    api.post('/v2/users', { email: 'owner@example.com', name: 'Owner', role: 'owner' }),
  );
  const [user] = await world.query<{ id: string }>(`select id from users where public_id('usr', id) = $1`, [
    id,
  ]);
  return user?.id ?? '';
}

longRun.test('a single remaining account is the current one, which cannot be deleted', async () => {
  const { uuid } = await demoAccount();
  await world.platform.accounts.markDemo(uuidOf(await idOf(world.api)) as AccountId);
  expect(await run('accounts', 'use', 'Demo')).toMatchObject({ code: 0 });
  const ran = await remove('Demo');
  expect(ran).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nDefault \(acc_\w+\) is now the current account\.\n$/),
  });
  expect(Object.values(await countsOf(uuid)).filter((count) => count > 0)).toEqual([]);
  expect((await run('payouts', 'list', '--json')).code).toBe(0);
  expect(await remove('Default')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the last account'),
  });
});

test('an event published while the account is deleted is refused, and leaves nothing', async () => {
  const { api, uuid } = await demoAccount();
  await makeEndpoint(api);
  const published = await world.db.transaction(async (tx) => {
    expect(await removeAccount(tx, uuid as AccountId)).toBeNull();
    const answer = api.post('/v2/events', { type: 'order.created', data: {} });
    await untilLockWait(world);
    return { answer };
  });
  expect(await published.answer).toMatchObject({ status: 404, reason: 'resource_missing' });
  expect(Object.values(await countsOf(uuid)).filter((count) => count > 0)).toEqual([]);
});

longRun.test('a deletion that PostgreSQL aborts because of a deadlock starts again', async () => {
  const { api, uuid } = await demoAccount();
  await makeEndpoint(api);
  const { db } = world;
  // the deletion detects the deadlock first, so PostgreSQL aborts the deletion
  await noticeDeadlocksAfter('10s');
  db.renew();
  const removed = await db.transaction(async (tx) => {
    await rows(tx, sql`select from webhook_endpoints where account_id = ${uuid} for update`);
    await noticeDeadlocksAfter('3s');
    const ran = remove('Demo');
    await untilLockWait(world);
    await rows(tx, sql`select from accounts where id = ${uuid} for key share`);
    return { ran };
  });
  expect(await removed.ran).toMatchObject({ code: 0, stderr: '' });
  expect(Object.values(await countsOf(uuid)).filter((count) => count > 0)).toEqual([]);
});

const noticeDeadlocksAfter = (time: string) =>
  world.query(
    `do $$ begin execute format('alter database %I set deadlock_timeout = %L', current_database(), '${time}'); end $$`,
  );

test('the audit log deletes only the entries of the demo account being deleted', async () => {
  const { api, uuid } = await demoAccount();
  for (const each of [api, world.api]) await done(each.post('/v2/affiliates/programs', { name: 'Program' }));
  const real = uuidOf(await idOf(world.api));
  const entries = await countOfEntries();
  const attempts = [
    [real, 'delete from audit_log'],
    [real, `delete from audit_log where account_id = '${real}'`],
    [uuid, 'delete from audit_log'],
    [uuid, `update audit_log set target = null where account_id = '${uuid}'`],
    [uuid, 'truncate audit_log'],
  ] as const;
  for (const [named, statement] of attempts) {
    const tried = world.db.transaction(async (tx) => {
      await rows(tx, sql`select set_config('payhook.removed_account', ${named}, true)`);
      await rows(tx, sql`${raw(statement)}`);
    });
    await expect(tried, statement).rejects.toThrow('append-only');
  }
  expect(await countOfEntries()).toBe(entries);
});

const countOfEntries = async () => (await world.query('select 1 from audit_log')).length;
