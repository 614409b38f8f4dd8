import sql from 'sql-template-tag';
import { distributionProblem } from './citus.ts';
import { slowClockBehindMs } from './clock.ts';
import { type Database, oneRow, type Reader, rows } from './database.ts';
import { databaseFault } from './faults.ts';
import { newestVersion, readMigrations } from './migration-files.ts';
import { foreignHistory, readApplied } from './migration-history.ts';
import { logBegins } from './partitions.ts';
import { readSecretKeyState, type SecretKeyState } from './secret-key.ts';
import { readServerSettings, type ServerSettings } from './server-settings.ts';

/** Throws PoolerError when a connection that listens would not get a session of its own. */
export const requireSession = (db: Pick<Database, 'outsideTransaction'>): Promise<void> =>
  db.outsideTransaction(sql`select`);

/** What a database is like, for `doctor`. */
export interface DatabaseFacts {
  readonly version: string;
  readonly versionNumber: number;
  readonly encoding: string;
  /** Whether lower() knows letters beyond ASCII, which search needs to ignore case. */
  readonly lowersAccents: boolean;
  readonly role: string;
  readonly isSuperuser: boolean;
  readonly fsync: boolean;
  readonly settings: ServerSettings;
  /** Whether a pooler shares sessions of PostgreSQL between us and others. */
  readonly isPooled: boolean;
  /** Why nothing can listen for work; null when it can. */
  readonly listening: string | null;
  /** Whether PostgreSQL refuses what a reader writes; null before there is a schema. */
  readonly readersAreReadOnly: boolean | null;
  /** Why tables that Citus distributed do not work; null when it has distributed none. */
  readonly distribution: string | null;
  /** How far the database's clock is ahead of this machine's, in ms. */
  readonly clockAheadMs: number;
  /** 0 = no schema yet. */
  readonly schemaVersion: number;
  /** The version this program has. */
  readonly newestSchemaVersion: number;
  /** Why this program must not work on the schema; null when it may. */
  readonly foreignSchema: string | null;
  /** null before there is a schema. */
  readonly secretKey: SecretKeyState | null;
  /** When the week of the oldest stored event begins (RFC 3339); null when there is none. */
  readonly logBegins: string | null;
  /** How far the clock of retention is behind the database's; null before it was started. */
  readonly retentionBehindMs: number | null;
}

interface ServerRow {
  version: string;
  number: number;
  encoding: string;
  lowers: boolean;
  role: string;
  superuser: boolean;
  fsync: boolean;
  pooled: boolean;
  now_ms: bigint;
  has_schema: boolean;
}

/** Reads the facts and changes nothing. Works on a database without our schema. */
export async function inspect({ reader: db, ...database }: Database): Promise<DatabaseFacts> {
  await oneRow(db, sql`select 1 as connected`); // so that the time of connecting is not taken for a difference of clocks
  const before = Date.now();
  const server = await oneRow<ServerRow>(
    db,
    sql`select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
          current_setting('server_encoding') as encoding, lower('É') = 'é' as lowers, current_user::text as role,
          (select rolsuper from pg_roles where rolname = current_user) as superuser,
          current_setting('fsync') = 'on' as fsync,
          -- a session of our own is read-only; behind a pooler each transaction is
          current_setting('default_transaction_read_only') = 'off' as pooled,
          (extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms,
          to_regclass('schema_migrations') is not null as has_schema`,
  );
  const whenMigrated = <Fact>(read: (db: Reader) => Promise<Fact>) => (server.has_schema ? read(db) : null);
  const applied = (await whenMigrated(readApplied)) ?? [];
  const here = (before + Date.now()) / 2;
  return {
    version: server.version,
    versionNumber: server.number,
    encoding: server.encoding,
    lowersAccents: server.lowers,
    role: server.role,
    isSuperuser: server.superuser,
    fsync: server.fsync,
    settings: await readServerSettings(db),
    isPooled: server.pooled,
    listening: await requireSession(database).then(
      () => null,
      (error: Error) => error.message,
    ),
    readersAreReadOnly: await whenMigrated(refusesWrites),
    distribution: await distributionProblem(db),
    clockAheadMs: Math.round(Number(server.now_ms) - here),
    schemaVersion: applied.at(-1)?.version ?? 0,
    newestSchemaVersion: newestVersion(),
    foreignSchema: foreignHistory(readMigrations(), applied),
    logBegins: await whenMigrated(logBegins),
    retentionBehindMs: await whenMigrated(slowClockBehindMs),
    secretKey: await whenMigrated(readSecretKeyState),
  };
}

/** Tries to write nothing. */
async function refusesWrites(db: Reader): Promise<boolean> {
  try {
    await rows(db, sql`delete from server_settings where false`);
    return false;
  } catch (error) {
    if (databaseFault(error) !== 'read_only') throw error;
    return true;
  }
}
