import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { openPlatform, type Platform } from '../../src/app.ts';
import { MigrationError } from '../../src/db/migrate.ts';
import { readConfig } from '../../src/kernel/config.ts';

const postgres = inject('postgres');
let database: string;
let folder: string;
const opened: Platform[] = [];

async function asSuperuser<Row>(name: string, text: string): Promise<Row[]> {
  const { host, port, superuser, superuserPassword } = postgres;
  const client = new pg.Client({
    host,
    port,
    user: superuser,
    database: name,
    ...(superuserPassword ? { password: superuserPassword } : {}),
  });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

beforeEach(async () => {
  database = `payhook_start_${randomBytes(8).toString('hex')}`;
  folder = mkdtempSync(join(tmpdir(), 'payhook-start-'));
  await asSuperuser(
    'postgres',
    `create database ${database} owner ${postgres.user} template template0 encoding 'UTF8'`,
  );
});
afterEach(async () => {
  for (const platform of opened.splice(0)) await platform.close();
  await asSuperuser('postgres', `drop database ${database} with (force)`);
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the program on the test's database, with a data folder of its own. */
async function start(name: string, secretKey = postgres.secretKey): Promise<Platform> {
  const config = readConfig({ DATA_DIR: join(folder, name), SECRET_KEY: secretKey, LOG_LEVEL: 'silent' });
  const platform = await openPlatform(config, { purpose: 'command', target: { ...postgres, database } });
  opened.push(platform);
  return platform;
}

const schema = () =>
  asSuperuser<{ state: string }>(
    database,
    `select json_build_array((select json_agg(m) from schema_migrations m), (select json_agg(s) from server_settings s),
       (select json_agg(a) from accounts a), (select json_agg(k) from api_keys k))::text as state`,
  );

test('five servers at once on an empty database make one account and one key, and one of them tells it', async () => {
  const platforms = await Promise.all(Array.from({ length: 5 }, (_, index) => start(`server-${index}`)));
  const [counts] = await asSuperuser(
    database,
    `select (select count(*)::int from accounts) as accounts, (select count(*)::int from api_keys) as keys,
            (select count(*)::int from payout_books) as books,
            (select count(*) = count(distinct version) from schema_migrations) as once`,
  );
  expect(counts).toEqual({ accounts: 1, keys: 1, books: 1, once: true });
  const told = platforms.flatMap(({ firstKey }) => (firstKey ? [firstKey] : []));
  expect(told).toHaveLength(1);
  expect(readFileSync(told[0]?.path ?? '', 'utf8').trim()).toBe(told[0]?.secret);
  const migrated = platforms.filter(({ migrations }) => migrations.applied.length > 0);
  expect(migrated).toHaveLength(1);
});

test('a database of a newer program is refused and stays as it is', async () => {
  await start('first');
  await asSuperuser(database, `insert into schema_migrations (version, name) values (9999, '9999_future')`);
  const before = await schema();
  const refused = start('second');
  await expect(refused).rejects.toThrow(MigrationError);
  await expect(refused).rejects.toThrow(/schema 9999.*run the newer program/);
  expect(await schema()).toEqual(before);
});

test('another SECRET_KEY than the one of the database is refused, the right one still works', async () => {
  await start('first');
  const before = await schema();
  const refused = start('second', 'another secret key, long enough for the rule too');
  await expect(refused).rejects.toThrow(MigrationError);
  await expect(refused).rejects.toThrow(/SECRET_KEY is not the one/);
  expect(await schema()).toEqual(before);
  expect((await start('third')).firstKey).toBeUndefined();
});

test('a first start that fails midway leaves an empty database, and the next one is the first', async () => {
  // the table of keys cannot be made: its name is taken
  await asSuperuser(database, 'create table api_keys (taken int)');
  await expect(start('first')).rejects.toThrow(/api_keys/);
  const left = await asSuperuser<{ name: string }>(
    database,
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  expect(left).toEqual([{ name: 'api_keys' }]);
  await asSuperuser(database, 'drop table api_keys');
  const platform = await start('second');
  expect(platform.firstKey?.secret).toMatch(/^ph_/);
  expect((await platform.accounts.list()).map(({ name }) => name)).toHaveLength(1);
});
