import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MigrationError } from '../../src/db/migration-files.ts';
import { longRun } from '../support/depth.ts';
import { emptyDatabase, type UnusedDatabase } from './support-start.ts';

let database: UnusedDatabase;
beforeEach(async () => {
  database = await emptyDatabase();
});
afterEach(() => database.drop());

const schema = () =>
  database.query<{ state: string }>(
    `select json_build_array((select json_agg(m) from schema_migrations m), (select json_agg(s) from server_settings s),
       (select json_agg(a) from accounts a), (select json_agg(k) from api_keys k))::text as state`,
  );

test('five servers that start at once on an empty database create one account and one key, which one of them reports', async () => {
  const platforms = await Promise.all(
    Array.from({ length: 5 }, (_, index) => database.start(`server-${index}`)),
  );
  const [counts] = await database.query(
    `select (select count(*)::int from accounts) as accounts, (select count(*)::int from api_keys) as keys,
            (select count(*)::int from payout_books) as books,
            (select count(*) = count(distinct version) from schema_migrations) as once`,
  );
  expect(counts).toEqual({ accounts: 1, keys: 1, books: 1, once: true });
  const keys = platforms.flatMap(({ firstKey }) => (firstKey ? [firstKey] : []));
  expect(keys).toHaveLength(1);
  expect(readFileSync(keys[0]?.path ?? '', 'utf8').trim()).toBe(keys[0]?.secret);
  const migrated = platforms.filter(({ migrations }) => migrations.applied.length > 0);
  expect(migrated).toHaveLength(1);
});

longRun.test('a database of a newer program is refused and unchanged', async () => {
  await database.start('first');
  await database.query(`insert into schema_migrations (version, name) values (9999, '9999_future')`);
  const before = await schema();
  const refused = database.start('second');
  await expect(refused).rejects.toThrow(MigrationError);
  await expect(refused).rejects.toThrow(/schema 9999.*run the newer program/);
  expect(await schema()).toEqual(before);
});

test("a SECRET_KEY other than the database's is refused, the right one still works", async () => {
  await database.start('first');
  const before = await schema();
  const refused = database.start('second', 'another secret key, long enough for the rule too');
  await expect(refused).rejects.toThrow(MigrationError);
  await expect(refused).rejects.toThrow(/SECRET_KEY is not the key/);
  expect(await schema()).toEqual(before);
  expect((await database.start('third')).firstKey).toBeUndefined();
});

test('a first start that fails midway leaves an empty database, and the next one is the first', async () => {
  // the table of keys cannot be created: its name is taken
  await database.query('create table api_keys (taken int)');
  await expect(database.start('first')).rejects.toThrow(/api_keys/);
  const left = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  expect(left).toEqual([{ name: 'api_keys' }]);
  await database.query('drop table api_keys');
  const platform = await database.start('second');
  expect(platform.firstKey?.secret).toMatch(/^ph_/);
  expect((await platform.accounts.list()).map(({ name }) => name)).toHaveLength(1);
});
