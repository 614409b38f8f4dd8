import { expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';

const world = useWorld();

/*
 * An account's rows can stay on one machine only if every table has an account column and every key is unique within
 * the account: an engine that distributes tables by account checks a key on the machine of the account. The exceptions
 * listed here are looked up without the account, or must change before such an engine can be used. docs/scaling.md
 * explains this.
 */

/** Tables that belong to no account. */
const SHARED: Readonly<Record<string, string>> = {
  accounts: 'the account itself: its id is the key',
  cells: 'the directory of cells, in cell 0',
  dropped_weeks: 'a week of the log is dropped for all accounts at once',
  oauth_codes: 'found by its hash; its grant names the account',
  oauth_tokens: 'found by its hash; its grant names the account',
  people: 'a person is a user of several accounts',
  person_cells: 'the directory of cells, in cell 0',
  schema_migrations: 'of the database',
  server_settings: 'of the database',
  sign_in_failures: 'counted by address, before anybody knows an account',
  workers: 'a worker delivers for all accounts',
};

/** Unique keys of tables with an account that are not unique within it. */
const WITHOUT_ACCOUNT: Readonly<Record<string, string>> = {
  api_keys_pkey: 'directory: an audit entry and a creator name the key alone',
  api_keys_hash_key: 'directory: found by the hash of the secret',
  oauth_applications_id: 'directory: a client names itself before an account is known',
  oauth_grants_id: 'directory: codes and tokens refer to it',
  portal_links_pkey: 'directory',
  portal_links_hash_key: 'directory: found by the hash in the link',
  portal_links_token_hash_key: 'directory: found by the hash of the token',
  queue_pkey: 'must change: publish and settle reach a row by event and endpoint',
  queue_in_front: 'must change: an endpoint and an ordering key',
  queue_keys_pkey: 'must change: an endpoint and an ordering key',
  sessions_pkey: 'directory',
  sessions_hash_key: 'directory: found by the hash of the cookie',
  user_links_pkey: 'directory: found by the hash in the link',
  users_pkey: 'directory: sessions and grants refer to it',
  webhook_endpoints_contact: 'directory: found by the hash in the link',
  webhook_endpoints_previous_token: 'directory: found by the hash of the token',
  webhook_endpoints_token: 'directory: found by the hash of the token',
};

/** Foreign keys of tables with an account that do not begin with it, other than those to a shared table. */
const WITHOUT_ACCOUNT_IN_REFERENCE: Readonly<Record<string, string>> = {
  oauth_grants_application_id_fkey: 'directory to directory',
};

const ACCOUNT = `(select attnum from pg_attribute a
  where a.attrelid = t.oid and a.attname = 'account_id' and not a.attisdropped)`;
const TABLES = `from pg_class t where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p')
  and not t.relispartition`;

test('every table has the account of a row, or is listed with the reason', async () => {
  const found = await world.query<{ name: string }>(
    `select t.relname as name ${TABLES} and ${ACCOUNT} is null order by 1`,
  );
  expect(found.map(({ name }) => name)).toEqual(Object.keys(SHARED));
  const optional = await world.query<{ name: string }>(
    `select t.relname as name ${TABLES} and exists (
       select from pg_attribute a where a.attrelid = t.oid and a.attname = 'account_id' and not a.attnotnull)`,
  );
  expect(optional).toEqual([]);
});

test('every unique key of a table with an account contains it, or is listed with the reason', async () => {
  const found = await world.query<{ name: string }>(
    `select i.relname as name from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
     where x.indisunique and t.oid in (select t.oid ${TABLES})
       and ${ACCOUNT} is not null and ${ACCOUNT} <> all(x.indkey)`,
  );
  expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(WITHOUT_ACCOUNT).sort());
});

test('every foreign key between tables with an account begins with it, or is listed with the reason', async () => {
  const found = await world.query<{ name: string }>(
    `select f.conname as name from pg_constraint f join pg_class t on t.oid = f.conrelid
     where f.contype = 'f' and t.oid in (select t.oid ${TABLES}) and ${ACCOUNT} is not null
       and f.conkey[1] <> ${ACCOUNT} and f.confrelid::regclass::text <> all($1)`,
    [Object.keys(SHARED)],
  );
  expect(found.map(({ name }) => name).sort()).toEqual(Object.keys(WITHOUT_ACCOUNT_IN_REFERENCE).sort());
});
