import { once } from 'node:events';
import { createServer } from 'node:http';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { Json } from '../api/fixtures.ts';
import { urlOf } from '../support/database-url.ts';
import { longRun } from '../support/depth.ts';
import { untilGone } from '../support/processes.ts';
import { until } from '../support/wire.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { runOn } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const DATABASE = `payhook_shop_${process.pid}`;
const clients: pg.Client[] = [];
let shop: pg.Client;
/** The statements that create the table. */
let statements: string;

async function open(database: string): Promise<pg.Client> {
  const { host, port, superuser: user, superuserPassword: password } = inject('postgres');
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  clients.push(client);
  return client;
}

const databaseUrl = () => {
  const { host, port, superuser: user, superuserPassword: password } = inject('postgres');
  return urlOf({ host, port, user, password, database: DATABASE });
};
const environment = (url = world.url, key = api.key) => ({ env: { PAYHOOK_URL: url, PAYHOOK_API_KEY: key } });
const relay = (...args: string[]) =>
  runOn(machine)(
    ['relay', '--database', databaseUrl(), '--table', 'outbox', '--once', ...args],
    environment(),
  );
const start = () => machine.start(['relay', '--database', databaseUrl(), '--table', 'outbox'], environment());
const events = async (type: string): Promise<Json[]> =>
  (await api.get(`/v2/events?type=${type}&per_page=100`)).body.data.reverse();
const rows = async () => (await shop.query('select * from outbox order by id')).rows;

beforeAll(async () => {
  const admin = await open('postgres');
  await admin.query(`create database ${DATABASE}`);
  shop = await open(DATABASE);
  statements = (await runOn(machine)(['relay', '--table', 'outbox', '--sql'])).stdout;
});
beforeEach(async () => {
  await shop.query(`drop table if exists outbox; drop table if exists elsewhere; ${statements}`);
});
afterAll(async () => {
  await Promise.all(clients.slice(1).map((client) => client.end()));
  await clients[0]?.query(`drop database ${DATABASE} with (force)`);
  await clients[0]?.end();
});

test('publishes the rows of committed transactions in order, and deletes them', async () => {
  await shop.query(
    `begin; insert into outbox (type, data) values ('order.first', '{"lost": true}'); rollback`,
  );
  await shop.query(`
    insert into outbox (type, data, external_id, ordering_key, owner)
    values ('order.first', '{"n": 12345678901234567890.10}', 'mine', 'order:1', 'customer-7'),
           ('order.first', '{"n": 2}', default, null, null)`);
  const ran = await relay('--json');
  expect(ran).toMatchObject({ code: 0, stdout: '{"published":2,"refused":[]}\n', stderr: '' });
  const [first, second, ...rest] = await events('order.first');
  expect(rest).toEqual([]);
  expect(first).toMatchObject({ external_id: 'mine', ordering_key: 'order:1', owner: 'customer-7' });
  expect(second).toMatchObject({ external_id: expect.stringMatching(/^[0-9a-f-]{36}$/), owner: null });
  expect((await api.get(`/v2/events/${second.id}`)).body.payload.data).toEqual({ n: 2 });
  expect((await api.get(`/v2/events/${first.id}`)).text).toContain('"data":{"n": 12345678901234567890.10}');
  expect(await rows()).toEqual([]);
  expect(await relay('--json')).toMatchObject({ code: 0, stdout: '' });
});

test('leaves the rows that are refused in the table with the reason, and publishes the others', async () => {
  await api.post('/v2/events', { type: 'order.second', data: {}, external_id: 'taken' });
  await shop.query(`
    insert into outbox (type, external_id, data)
    select 'order.second', 'good-' || n, '{}' from generate_series(1, 20) n;
    insert into outbox (type, external_id, data)
    values ('payout.paid', 'reserved', '{}'), ('order.second', 'taken', '{"other": 1}'), ('order.second', 'list', '[]')`);
  const ran = await relay();
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe('published 20 events\n');
  expect(ran.stderr).toMatch(/The row 21 of outbox was refused and stays there: type: events under payout\./);
  expect((await events('order.second')).map((event) => event.external_id)).toEqual([
    'taken',
    ...Array.from({ length: 20 }, (_, index) => `good-${index + 1}`),
  ]);
  expect(await rows()).toMatchObject([
    { external_id: 'reserved', refused_at: expect.any(Date), refusal: expect.stringMatching(/^type: /) },
    { external_id: 'taken', refusal: expect.stringContaining('external_id') },
    { external_id: 'list', refusal: expect.stringContaining('data must be a JSON object') },
  ]);
  expect(await relay()).toMatchObject({ code: 0, stdout: '' });
  await shop.query(`update outbox set external_id = 'free', refused_at = null where external_id = 'taken'`);
  expect(await relay()).toMatchObject({ code: 0, stdout: 'published 1 event\n' });
});

test('keeps rows that are too large for an event, and publishes the others', async () => {
  await shop.query(`
    insert into outbox (type, external_id, data)
    values ('order.large', 'huge', json_build_object('text', repeat('x', 20000000))),
           ('order.large', 'above', json_build_object('text', repeat('x', 300000))), ('order.large', 'small', '{}')`);
  expect((await relay()).code).toBe(1);
  expect(await rows()).toMatchObject([
    {
      external_id: 'huge',
      refused_at: expect.any(Date),
      refusal: expect.stringContaining('may have at most'),
    },
    { external_id: 'above', refused_at: expect.any(Date), refusal: expect.stringContaining('256 KiB') },
  ]);
  expect((await api.get('/v2/events?type=order.large&per_page=1')).body.pagination.total).toBe(1);
});

longRun.test('publishes large rows in as many requests as they need', async () => {
  await shop.query(`
    insert into outbox (type, external_id, data)
    select 'order.vast', 'large-' || n, json_build_object('text', repeat('x', 200000)) from generate_series(1, 90) n`);
  expect(await relay()).toMatchObject({ code: 0, stdout: 'published 90 events\n' });
  expect((await api.get('/v2/events?type=order.vast&per_page=1')).body.pagination.total).toBe(90);
});

test('publishes the tags of a row, and keeps a row with other tags than texts', async () => {
  await shop.query(`
    insert into outbox (type, external_id, tags)
    values ('order.tagged', 'tagged', array['order:1042', 'urgent']), ('order.tagged', 'untagged', null),
           ('order.tagged', 'empty', '{}'), ('order.tagged', 'hole', array['urgent', null]),
           ('order.tagged', 'eleven', array(select n::text from generate_series(1, 11) n))`);
  const ran = await relay();
  expect(ran).toMatchObject({ code: 1, stdout: 'published 3 events\n' });
  expect(ran.stderr).toMatch(/The row 4 of outbox was refused and stays there: tags/);
  const published = (await events('order.tagged')).map(({ external_id, tags }) => [external_id, tags]);
  expect(published).toEqual([
    ['tagged', ['order:1042', 'urgent']],
    ['untagged', []],
    ['empty', []],
  ]);
  expect((await api.get('/v2/events?tag=urgent')).body.pagination.total).toBe(1);
  expect(await rows()).toMatchObject([
    { external_id: 'hole', refusal: expect.stringMatching(/^tags/) },
    { external_id: 'eleven', refusal: expect.stringMatching(/^tags/) },
  ]);
});

test.each([
  ['no column for tags', '', `(type) values ('order.older')`, []],
  ['tags as JSON', 'add column tags jsonb', `(type, tags) values ('order.json', '["urgent"]')`, ['urgent']],
])('publishes the rows of a table with %s', async (_, change, row, tags) => {
  await shop.query('alter table outbox drop column tags');
  if (change !== '') await shop.query(`alter table outbox ${change}`);
  await shop.query(`insert into outbox ${row}`);
  expect(await relay()).toMatchObject({ code: 0, stdout: 'published 1 event\n' });
  expect(await events(tags.length === 0 ? 'order.older' : 'order.json')).toMatchObject([{ tags }]);
});

test('a locked row delays those of its ordering key and no others', async () => {
  await shop.query(`
    insert into outbox (type, external_id, ordering_key)
    values ('order.third', 'locked-1', 'a'), ('order.third', 'locked-2', 'a'), ('order.third', 'locked-3', 'b'), ('order.third', 'locked-4', null)`);
  const other = await open(DATABASE);
  await other.query(`begin; select from outbox where external_id = 'locked-1' for update`);
  await relay();
  const ids = async () => (await events('order.third')).map((event) => event.external_id);
  expect(await ids()).toEqual(['locked-3', 'locked-4']);
  await other.query('rollback');
  await relay();
  expect(await ids()).toEqual(['locked-3', 'locked-4', 'locked-1', 'locked-2']);
});

test('several relays publish each row once, in the order of its key', async () => {
  const relays = [start(), start(), start()];
  await until('three connected relays', async () => {
    const found = await shop.query(`select from pg_stat_activity where application_name = 'payhook relay'`);
    return found.rows.length === 3;
  });
  for (let from = 0; from < 90; from += 10) {
    await shop.query(`
      insert into outbox (type, external_id, ordering_key)
      select 'order.fourth', 'several-' || n, 'key:' || n % 3 from generate_series(${from}, ${from + 9}) n`);
  }
  await until('an empty table', async () => (await rows()).length === 0);
  const numbers = (await events('order.fourth')).map((event) =>
    Number(event.external_id.slice('several-'.length)),
  );
  expect(numbers).toHaveLength(90);
  for (const key of [0, 1, 2]) {
    const ofKey = numbers.filter((number) => number % 3 === key);
    expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
  }
  for (const { child, ended } of relays) {
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0 });
  }
});

test('a relay that is killed before it deletes what it published publishes nothing twice', async () => {
  await shop.query(`
    create function hold() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(7); return old; end $$;
    create trigger hold before delete on outbox for each row execute function hold();
    insert into outbox (type, external_id) select 'order.fifth', 'killed-' || n from generate_series(1, 5) n`);
  const holder = await open(DATABASE);
  await holder.query('select pg_advisory_lock(7)');
  const { child } = start();
  await until('the events', async () => (await events('order.fifth')).length === 5);
  child.kill('SIGKILL');
  await untilGone(child.pid ?? 0);
  await holder.query('select pg_advisory_unlock(7)');
  await until('the rows again', async () => {
    const free = await shop.query('select from outbox for update skip locked');
    return free.rows.length === 5;
  });
  expect(await relay()).toMatchObject({ code: 0, stdout: 'published 5 events\n' });
  expect(await events('order.fifth')).toHaveLength(5);
  expect(await rows()).toEqual([]);
  await shop.query('drop function hold() cascade');
});

test('a table that disappears is reported, and its rows are published when it is back', async () => {
  const started = start();
  await untilHeard(started.child, /Publishing the rows of outbox/);
  await shop.query(`insert into outbox (type, external_id) values ('order.sixth', 'before')`);
  await until('the first', async () => (await events('order.sixth')).length === 1);
  await shop.query('alter table outbox rename to elsewhere');
  await untilHeard(started.child, /outbox.* does not exist.*; retrying/);
  await shop.query(`insert into elsewhere (type, external_id) values ('order.sixth', 'after')`);
  await shop.query('alter table elsewhere rename to outbox');
  await untilHeard(started.child, /The relay works again/);
  expect(await events('order.sixth')).toHaveLength(2);
  started.child.kill('SIGINT');
  expect((await started.ended).code).toBe(0);
});

function untilHeard(child: ReturnType<typeof start>['child'], pattern: RegExp): Promise<void> {
  let heard = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (pattern.test(heard)) resolve();
    });
    child.once('close', () => reject(new Error(`the relay ended: ${heard}`)));
  });
}

test('a failed server changes no row', async () => {
  await shop.query(`insert into outbox (type, external_id) values ('order.seventh', 'kept')`);
  const server = createServer((_request, response) => response.writeHead(500).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const args = ['relay', '--database', databaseUrl(), '--table', 'outbox', '--once'];
  const ran = await runOn(machine)(args, environment(`http://127.0.0.1:${port}`));
  server.close();
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(await rows()).toMatchObject([{ external_id: 'kept', refused_at: null, refusal: null }]);
});

test.each([
  [['--table', 'outbox'], 2, '--database must be the URL of your PostgreSQL'],
  [['--database', 'mysql://x', '--table', 'outbox'], 2, '--database must begin with postgres://'],
  [
    ['--database', 'postgres://x', '--table', 'Outbox; drop'],
    2,
    '--table must be the name of a table in lower case',
  ],
  [
    ['--database', 'postgres://x', '--table', 'outbox', '--rows', '0'],
    2,
    '--rows must be a whole number from 1',
  ],
  [['--database', 'postgres://x'], 2, "required option '--table <name>' not specified"],
])('relay %j is refused', async (args, code, message) => {
  const ran = await runOn(machine)(['relay', ...args], environment());
  expect(ran).toMatchObject({ code, stderr: expect.stringContaining(message) });
});

test('a missing table, a missing column and an unreachable database are named', async () => {
  const at = (database: string, table: string) =>
    runOn(machine)(['relay', '--database', database, '--table', table, '--once'], environment());
  const missing = await at(databaseUrl(), 'nowhere.outbox');
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the table nowhere.outbox does not exist'),
  });
  await shop.query('alter table outbox drop column owner, drop column refusal');
  const short = await at(databaseUrl(), 'outbox');
  expect(short).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the table outbox has no owner, refusal'),
  });
  const away = await at('postgres://shop@127.0.0.1:1/shop', 'outbox');
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('ECONNREFUSED') });
  expect(away.stderr).not.toContain('    at ');
  const key = await runOn(machine)(
    ['relay', '--database', databaseUrl(), '--table', 'outbox', '--once'],
    environment(world.url, 'ph_wrong'),
  );
  expect(key.code).toBe(1);
});
