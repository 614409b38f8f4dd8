import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { useMachine } from '../cli/support.ts';
import { urlOf } from '../support/database-url.ts';
import { rounds } from '../support/depth.ts';
import { untilGone } from '../support/processes.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

const ROUNDS = rounds(2, 20);
const ROWS = 60;
const KEYS = 3;
const DATABASE = `payhook_outbox_${process.pid}`;

const folder = dataFolder();
const machine = useMachine();
let admin: pg.Client;
let shop: pg.Client;

const login = (database: string) => {
  const { host, port, superuser: user, superuserPassword: password } = inject('postgres');
  return { host, port, user, password, database };
};

async function open(database: string): Promise<pg.Client> {
  const client = new pg.Client(login(database));
  await client.connect();
  return client;
}

beforeAll(async () => {
  admin = await open('postgres');
  await admin.query(`create database ${DATABASE}`);
  shop = await open(DATABASE);
  const { stdout } = await machine.run(['relay', '--table', 'outbox', '--sql']);
  await shop.query(stdout);
});
afterAll(async () => {
  await shop.end();
  await admin.query(`drop database ${DATABASE} with (force)`);
  await admin.end();
  await folder.remove();
});

test('two relays, a server and the connections to the outbox that are killed at any moment lose no row, publish none twice, and keep the order of keys', async () => {
  let server = await folder.start();
  const start = () =>
    machine.start(['relay', '--database', urlOf(login(DATABASE)), '--table', 'outbox', '--rows', '7'], {
      env: { PAYHOOK_URL: server.url, PAYHOOK_API_KEY: server.api.key },
    });
  const waiting = async () =>
    (await shop.query<{ count: number }>('select count(*)::int as count from outbox')).rows[0]?.count ?? 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await shop.query(
      `insert into outbox (type, external_id, ordering_key)
       select 'order.created', 'row-' || n, 'key-' || n % ${KEYS} from generate_series($1::int, $2::int) n`,
      [round * ROWS, (round + 1) * ROWS - 1],
    );
    const relays = [start(), start()];
    const left = 1 + Math.floor(Math.random() * (ROWS - 10));
    await until('some rows are published', async () => (await waiting()) <= left);
    // a short run kills PostgreSQL with the server, and then the connections
    const what = (round + 1) % 4;
    if (what === 0) await server.kill();
    if (what === 1) await server.kill(true);
    if (what === 2)
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'payhook relay' and datname = $1`,
        [DATABASE],
      );
    for (const { child } of relays) {
      child.kill('SIGKILL');
      await untilGone(child.pid ?? 0);
    }
    if (what < 2) server = await folder.start();
  }
  await until('the locks of the last relays to end', async () => {
    const found = await shop.query(`select from pg_stat_activity where application_name = 'payhook relay'`);
    return found.rows.length === 0;
  });
  const last = await machine.run(
    ['relay', '--database', urlOf(login(DATABASE)), '--table', 'outbox', '--once'],
    { env: { PAYHOOK_URL: server.url, PAYHOOK_API_KEY: server.api.key } },
  );
  expect(last).toMatchObject({ code: 0, stderr: '' });
  expect(await waiting()).toBe(0);

  const numbers = (
    await folder.query<{ number: number }>(
      `select substr(k.external_id, 5)::int as number from events v
       join event_keys k on k.account_id = v.account_id and k.event_id = v.id
       where v.type = 'order.created' order by v.id`,
    )
  ).map(({ number }) => number);
  expect(numbers.toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: ROUNDS * ROWS }, (_, index) => index),
  );
  expect(
    await folder.query(`select count(*)::int as count from events where type = 'order.created'`),
  ).toEqual([{ count: ROUNDS * ROWS }]);
  for (let key = 0; key < KEYS; key += 1) {
    const ofKey = numbers.filter((number) => number % KEYS === key);
    expect(ofKey).toEqual(ofKey.toSorted((one, other) => one - other));
  }
  expect((await server.signal('SIGTERM')).code).toBe(0);
});
