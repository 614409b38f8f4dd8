import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { DONE, FAILING } from '../../db/chores.ts';
import { alertState } from '../../notices/state.ts';
import { backupState } from './backups.ts';

const bytes = Type.Integer({ minimum: 0 });
const count = Type.Integer({ minimum: 0 });

const failingChore = {
  name: Type.String({ examples: ['webhook log'] }),
  since: { ...timestamp, description: 'of the first failure' },
  message: Type.String({ description: 'why it failed the last time' }),
};

const chore = strict({
  name: Type.String({ examples: ['webhook log'] }),
  last_done_at: { ...timestamp, description: 'by any process; noted once a minute at most' },
});

/** What the database of a cell says about it. */
const known = {
  object: Type.Literal('system'),
  schema_version: Type.Integer({ description: 'of the last migration' }),
  database: strict({
    version: Type.String({ examples: ['18.4'] }),
    size_bytes: bytes,
    started_at: timestamp,
  }),
  backlog: strict(
    {
      queued_count: { ...count, description: 'deliveries that somebody must act on, of all accounts' },
      due_count: { ...count, description: 'of these, due now at endpoints that are enabled' },
      behind_count: {
        ...count,
        description: 'of these, behind another delivery of their ordering key, which has to end first',
      },
      behind_since: nullable({
        ...timestamp,
        description: 'when the first of them at an endpoint that is enabled was published',
      }),
      oldest_due_at: nullable({ ...timestamp, description: 'since when the first of them is due' }),
    },
    { description: 'of all accounts' },
  ),
  workers: strict({
    processes: Type.Array(strict({ name: Type.String(), started_at: timestamp }), {
      description: 'what delivers at the moment: machine and process',
    }),
    last_claim_at: nullable({ ...timestamp, description: 'when one of them last took something to send' }),
    in_flight_count: { ...count, description: 'attempts under way, of all accounts' },
  }),
  chores: Type.Array(chore),
  failing_chores: Type.Array(strict(failingChore)),
  backups: strict(
    {
      last: nullable(
        strict({
          made_at: { ...timestamp, description: 'the instant that it holds' },
          file: Type.String({ description: 'where it was written, on the machine that made it' }),
          size_bytes: bytes,
          duration_ms: count,
        }),
      ),
      failure: nullable(
        strict(
          { failed_at: timestamp, message: Type.String({ description: 'why, and what to do' }) },
          { description: 'of BACKUP_EVERY; null when a backup was made since' },
        ),
      ),
    },
    { description: 'made by `payhook backup`, by any process' },
  ),
  alerts: strict(
    {
      waiting_count: { ...count, description: 'messages of all accounts that are still to be sent' },
      failed_count: { ...count, description: 'given up within the last week' },
      last_error: nullable(Type.String({ description: 'why the last of these was given up' })),
    },
    { description: 'the alerts of people and channels' },
  ),
};
/** The same with what only `cells` shows. */
export const knownState = strict({ ...known, account_count: count });
export type KnownState = Static<typeof knownState>;

const cell = strict({
  number: Type.Integer({ minimum: 0 }),
  state: Type.Enum(['open', 'draining'], { description: 'a draining cell takes no new accounts' }),
  problem: nullable(
    Type.String({ description: 'why it cannot be used; null = it can', examples: ['cannot be reached'] }),
  ),
  host: nullable(Type.String({ description: 'of its PostgreSQL; null = that of cell 0' })),
  schema: nullable(Type.String({ description: 'null = that of the login', examples: ['cell_1'] })),
  schema_version: nullable(
    Type.Integer({
      description: 'of its last migration; this and the counts are null while it cannot be used',
    }),
  ),
  account_count: nullable(count),
  due_count: nullable({ ...count, description: 'deliveries that are due now at endpoints that are enabled' }),
  worker_count: nullable({ ...count, description: 'processes that deliver' }),
});

/** The state of the installation. */
export const system = strict(
  {
    ...known,
    failing_chores: Type.Array(
      strict({
        ...failingChore,
        cell: Type.Integer({ minimum: 0, description: 'the cell in which it fails' }),
      }),
      { description: 'of all cells: what has failed, at every process that tried, since it was last done' },
    ),
    version: Type.String({ description: 'of the program', examples: ['0.1.0'] }),
    replica: nullable(
      strict(
        {
          is_used: Type.Boolean({ description: 'whether lists, reports and CSV files are read from it' }),
          problem: nullable(Type.String({ description: 'why not; null = it is used' })),
          lag_ms: nullable({ ...count, description: 'for how long it has not had what the primary has' }),
          lag_bytes: nullable({ ...count, description: 'WAL of the primary that it has not replayed' }),
        },
        { description: 'DATABASE_REPLICA_URL, as the server that answers sees it; null when it is not set' },
      ),
    ),
    cells: Type.Array(cell, { description: 'by number; cell 0 is the database of DATABASE_URL' }),
    disk: nullable(
      strict(
        { free_bytes: bytes, total_bytes: bytes },
        { description: 'where the data folder is; null when the database is elsewhere' },
      ),
    ),
  },
  { title: 'System' },
);
export type System = Static<typeof system>;

// as the claim sees it: a row of an earlier generation is due, one of a later generation waits for its ordering key
const isTaken = 'e.disabled_at is null and e.deleted_at is null';
const isDue = `${isTaken} and q.lease_token is null and (q.generation, q.due_at) <= (e.resumptions, now())`;
const isBehind = 'q.generation > e.resumptions';
const setting = (key: string) => `(select iso(value::timestamptz) from server_settings where key = '${key}')`;

export const stateRecord = columnsOf(knownState, {
  object: "'system'",
  schema_version: '(select max(version) from schema_migrations)',
  database: sql`(select json_build_object('version', split_part(current_setting('server_version'), ' ', 1),
    'size_bytes', pg_database_size(current_database()), 'started_at', iso(pg_postmaster_start_time())))`,
  backlog: `(select json_build_object('queued_count', count(*), 'due_count', count(*) filter (where ${isDue}),
      'behind_count', count(*) filter (where ${isBehind}),
      'behind_since', iso(min(id_time(q.event_id)) filter (where ${isBehind} and ${isTaken})),
      'oldest_due_at', iso(min(q.due_at) filter (where ${isDue})))
    from queue q join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id)`,
  workers: `(select json_build_object(
    'processes', (select coalesce(json_agg(json_build_object('name', w.name, 'started_at', iso(w.started_at))
      order by w.started_at, w.number), '[]') from workers w),
    'last_claim_at', ${setting('last_claim')},
    'in_flight_count', (select count(*) from queue where lease_token is not null)))`,
  chores: sql`(select coalesce(json_agg(json_build_object('name', substr(key, ${DONE.length + 1}::int),
      'last_done_at', iso(value::timestamptz)) order by key), '[]')
    from server_settings where starts_with(key, ${DONE}))`,
  failing_chores: sql`(select coalesce(json_agg(json_build_object('name', substr(key, ${FAILING.length + 1}::int),
      'since', value::json ->> 'since', 'message', value::json ->> 'message') order by key), '[]')
    from server_settings where starts_with(key, ${FAILING}))`,
  backups: backupState,
  alerts: alertState,
  account_count: '(select count(*) from accounts)',
});
