import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import {
  completePayout,
  EVENTS,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  PROGRAMS,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { agree, letInvoice } from '../support/invoicing.ts';
import { makeEndpoint } from '../support/seed.ts';
import { clientOf, type World } from '../support/world.ts';

/** Texts that a row format may parse wrongly. */
const ODD = ['tab\there', 'line\nend', 'back\\slash', '\\N', '\\.', 'Zürich 🦊', '"quoted"', "it's"];

/** Something in most tables of a world: money, a paid and an unpaid payout, endpoints, several weeks of log. */
export async function fill(world: World, api: Api): Promise<void> {
  const program = (await api.post(PROGRAMS, { name: 'Partners' })).body.id;
  for (const text of ODD) {
    const { id } = await makeAffiliate(api, { name_first: text, metadata: { text } });
    await makeCommission(api, id, { program_id: program, description: text });
    await makeCommission(api, id, { currency: 'jpy', amount: 5 });
  }
  const invoiced = await makeAffiliate(api);
  await letInvoice(api);
  await agree(api, invoiced.id);
  await makeCommission(api, invoiced.id, { currency: 'eur' });
  const paid = await completePayout(api, await makePayout(api));
  await api.post(`${PAYOUTS}/${paid.id}/invoices`);
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id);
  await makePayout(api);
  await makeCommission(api, id, { type: 'bonus', amount: 7 });
  const endpoint = await makeEndpoint(api, { headers: { 'x-key': 'sealed' } });
  await api.post(EVENTS, { type: 'order.created', data: { odd: ODD } });
  const [row] = await world.query<{ account_id: string; id: string }>(
    `select account_id, id from webhook_endpoints where public_id('we', id) = $1`,
    [endpoint],
  );
  const week = 7 * 24 * 3_600_000;
  await putIn(
    world,
    row?.account_id ?? '',
    [1, 3, 9].flatMap((weeks) =>
      (['delivered', 'failed', 'pending'] as const).map((status) => ({
        endpoint: row?.id ?? '',
        status,
        event: eventIdAt(Date.now() - weeks * week),
      })),
    ),
  );
}

/** Every row of every table as text, and the columns of the tables; without what a program writes at start. */
export async function everything(client: pg.Client): Promise<Record<string, unknown>> {
  await client.query(`set timezone = 'UTC'`);
  const tables = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and not relispartition and relname <> 'schema_migrations' order by 1`,
  );
  const all: Record<string, unknown> = {};
  for (const { name } of tables.rows) {
    const rest =
      name === 'server_settings' ? `where key !~ '^(last_backup|functions$|chore |probed|last_claim)'` : '';
    const { rows } = await client.query<{ row: string }>(
      `select t::text as row from "${name}" t ${rest} order by 1`,
    );
    all[name] = rows.map(({ row }) => row);
  }
  return all;
}

/** Indexes, rules and sequences, as PostgreSQL describes them. */
export async function structure(client: pg.Client): Promise<unknown[]> {
  const { rows } = await client.query(
    `select indexdef as part from pg_indexes where schemaname = 'public' and indexname !~ '_\\d{8}'
     union all
     select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
       where connamespace = 'public'::regnamespace and contype <> 'n' and conrelid::regclass::text !~ '_\\d{8}$'
     union all
     select tgrelid::regclass || ' ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
     union all
     select sequencename || ' ' || coalesce(last_value, 0) from pg_sequences where schemaname = 'public'
     union all
     select inhparent::regclass || ' ' || inhrelid::regclass || ' ' || count(indexrelid)
       from pg_inherits join pg_class p on p.oid = inhparent and p.relkind = 'p'
       left join pg_index on indrelid = inhrelid group by inhparent, inhrelid
     order by 1`,
  );
  return rows.map(({ part }) => part);
}

/** Runs `work` with a connection to the embedded PostgreSQL of a folder, which nothing else uses. */
export async function inEmbedded<Result>(
  folder: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const { connection, close } = await openEmbedded({ dataDir: folder, purpose: 'command' });
  const client = new pg.Client(connection);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
    await close();
  }
}

/** A database on the PostgreSQL of the tests, empty unless a template is named; `drop` removes it. */
export async function emptyDatabase(template = 'template0'): Promise<{
  url: string;
  connect(): Promise<pg.Client>;
  drop(): Promise<void>;
}> {
  const { host, port, user, password } = inject('postgres');
  const database = `payhook_test_${randomBytes(8).toString('hex')}`;
  const connect = async (name: string) => {
    const client = clientOf(name);
    await client.connect();
    return client;
  };
  const asAdmin = async (statement: string) => {
    const admin = await connect('postgres');
    await admin.query(statement).finally(() => admin.end());
  };
  await asAdmin(`create database ${database} owner ${user} template ${template} encoding 'UTF8'`);
  const credentials = [user, ...(password ? [password] : [])].map(encodeURIComponent).join(':');
  return {
    url: `postgres://${credentials}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
    connect: () => connect(database),
    drop: () => asAdmin(`drop database ${database} with (force)`),
  };
}
