import type pg from 'pg';
import { inject } from 'vitest';
import type { TestCell } from './cell-of-file.ts';
import { IMBALANCES, LOOSE_ENDS } from './imbalances.ts';
import { PATIENCE_MS } from './patience.ts';
import { until } from './wire.ts';
import { clientOf } from './world.ts';

/** The connection with which a test reads its database. */
export interface Inspector {
  readonly client: pg.Client;
  /** Whether a test left a transaction open on it. */
  isInTransaction(): boolean;
}

/** Connects to a cell as superuser. */
export async function inspectorOf(database: string, cell: TestCell): Promise<Inspector> {
  const client = clientOf(database, cell);
  let status = 'I';
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('readyForQuery', (message: { status: string }) => {
    status = message.status;
  });
  await client.connect();
  // each worker of a parallel plan is a process, and the tables of a test are small
  await client.query('set max_parallel_workers_per_gather = 0');
  // the checks of the books are long, and the same each time
  if (!inject('postgres').cluster) await client.query('set plan_cache_mode = force_generic_plan');
  return { client, isInTransaction: () => status !== 'I' };
}

/** The session settings of this connection; a test must reset its changes. */
const SETTINGS = `
  select name || ' = ' || setting as what from pg_settings where source = 'session'
    and name not in ('plan_cache_mode', 'max_parallel_workers_per_gather')
  union all
  select 'for the database: ' || array_to_string(setconfig, ', ') from pg_db_role_setting
  where setdatabase = (select oid from pg_database where datname = current_database())`;

const BUSY = `
  select state || ': ' || query as what from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
    and state in ('active', 'idle in transaction', 'idle in transaction (aborted)')`;

/** Tables, columns, functions, triggers and constraints, as one text. */
const SCHEMA = `
  select concat_ws(' ',
    (select sum(hashtextextended(concat(relname, relnatts), 0)) from pg_class
      where relnamespace = current_schema()::regnamespace and not relispartition and relkind in ('r', 'p', 'v', 'S')),
    (select sum(hashtextextended(concat(relname, ' ', attname), 0)) from pg_attribute a join pg_class c on c.oid = a.attrelid
      where relnamespace = current_schema()::regnamespace and not relispartition and relkind in ('r', 'p') and attnum > 0),
    (select sum(hashtextextended(concat(proname, prosrc), 0)) from pg_proc where pronamespace = current_schema()::regnamespace),
    (select count(*) from pg_trigger t join pg_class c on c.oid = tgrelid where not relispartition),
    (select count(*) from pg_constraint t join pg_class c on c.oid = conrelid where not relispartition)) as schema`;

/** A description of the schema, to be compared later. */
export async function schemaOf({ client }: Inspector): Promise<string> {
  const { rows } = await client.query<{ schema: string }>({ name: 'schema', text: SCHEMA });
  return rows[0]?.schema ?? '';
}

/** Violations in stored money and deliveries, one sentence each. The workers have stopped. */
export async function imbalances({ client }: Inspector): Promise<string[]> {
  const { rows } = await client.query({ name: 'books', text: `${IMBALANCES} union all ${LOOSE_ENDS}` });
  return rows.length > 0 ? [`the books do not balance: ${JSON.stringify(rows)}`] : [];
}

/** Changes that the next test would find, one sentence each: transactions, settings, the schema. */
export async function disorder(inspector: Inspector, schema: string): Promise<string[]> {
  const { client } = inspector;
  const found: string[] = [];
  if (inspector.isInTransaction()) {
    found.push('a transaction of `query` is open');
    await client.query('rollback');
  }
  const ask = async (name: string, text: string) =>
    (await client.query<{ what: string }>({ name, text })).rows;
  let busy: { what: string }[] = [];
  // a running chore or an aborted request finishes by itself
  await until(
    'the server to be idle',
    async () => {
      busy = await ask('busy', BUSY);
      return busy.length === 0;
    },
    PATIENCE_MS / 12,
  ).catch(() => found.push(`a transaction is open: ${busy.map(({ what }) => what).join(', ')}`));
  const changed = await ask('settings', SETTINGS);
  if (changed.length > 0) found.push(`settings were changed: ${changed.map(({ what }) => what).join(', ')}`);
  if ((await schemaOf(inspector)) !== schema) found.push('the schema was changed');
  return found;
}

const DUE = `
  select q.event_id || ' for ' || e.url as what from queue q
  join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id
  join endpoint_state s on s.account_id = e.account_id and s.endpoint_id = e.id
  where e.disabled_at is null and e.deleted_at is null and not e.pull and s.may_start_at <= now()
    and (q.generation, q.due_at) <= (e.resumptions, now() - coalesce(e.batch_wait_ms, 0) * interval '1 millisecond')
  limit 5`;

/** Waits until the worker has made every due attempt. Names the deliveries that remain. */
export async function stillQueued({ client }: Inspector): Promise<string[]> {
  let due: { what: string }[] = [];
  return until(
    'the worker to make all due attempts',
    async () => {
      due = (await client.query<{ what: string }>({ name: 'due', text: DUE })).rows;
      return due.length === 0;
    },
    PATIENCE_MS / 12,
  ).then(
    () => [],
    () => [`deliveries are queued: ${due.map(({ what }) => what).join(', ')}`],
  );
}
