import { createHash } from 'node:crypto';
import sql from 'sql-template-tag';
import { type Database, maybeRow, rows, type Tx } from './database.ts';
import { FUNCTIONS } from './functions.ts';
import { LOCKS, takeLock } from './locks.ts';
import { MigrationError, readMigrations } from './migration-files.ts';
import { foreignHistory, readApplied, recordChecksums } from './migration-history.ts';
import { runScript } from './script.ts';
import { readSetting, writeSetting } from './settings.ts';

export interface MigrationReport {
  readonly version: number;
  readonly applied: readonly string[];
}

/**
 * Brings the schema to this program's version, then runs `firstRun` in the same transaction and under the same
 * lock: of two servers that start on an empty database exactly one creates what the first start creates.
 * Throws MigrationError when what was applied is not the beginning of what the program has, or the server cannot
 * carry it, and with `onlyExisting` when there is nothing of Payhook in the database yet.
 */
export async function migrate<Result>(
  db: Database,
  firstRun: (tx: Tx) => Promise<Result>,
  { onlyExisting = false }: { onlyExisting?: boolean } = {},
): Promise<{ report: MigrationReport; first: Result }> {
  return db.transaction(
    async (tx) => {
      await lockStarts(tx);
      await refuseUnusable(tx);
      if (onlyExisting) await refuseEmpty(tx);
      const report = await applyMigrations(tx);
      return { report, first: await firstRun(tx) };
    },
    { takesLong: true },
  );
}

/**
 * Brings the schema to a version, this program's newest without one. The caller holds the lock of starts. Throws
 * MigrationError as `migrate` does.
 */
export async function applyMigrations(tx: Tx, upTo = Number.POSITIVE_INFINITY): Promise<MigrationReport> {
  await rows(
    tx,
    sql`create table if not exists schema_migrations (
          version int primary key, name text not null, checksum text,
          applied_at timestamptz(3) not null default now())`,
  );
  const known = readMigrations();
  const applied = await readApplied(tx);
  const refusal = foreignHistory(known, applied);
  if (refusal !== null) throw new MigrationError(refusal);
  await createFunctions(tx);
  await recordChecksums(tx, known, applied);
  const pending = known.slice(applied.length).filter(({ version }) => version <= upTo);
  // a backup reads every table to its end
  if (pending.length > 0) await takeLock(tx, LOCKS.tables);
  for (const { version, name, text, checksum } of pending) {
    await runScript(tx, text);
    await rows(
      tx,
      sql`insert into schema_migrations (version, name, checksum) values (${version}, ${name}, ${checksum})`,
    );
  }
  const newest = pending.at(-1)?.version ?? applied.at(-1)?.version ?? 0;
  return { version: newest, applied: pending.map((migration) => migration.name) };
}

/** Until the transaction ends no process gets past the checks of its start. */
export async function lockStarts(tx: Tx): Promise<void> {
  await takeLock(tx, LOCKS.starts);
}

async function refuseEmpty(tx: Tx): Promise<void> {
  const there = await maybeRow(tx, sql`select where to_regclass('schema_migrations') is not null`);
  if (there === null) {
    throw new MigrationError(
      'this database was not set up for Payhook: name the right one with DATABASE_URL or --data-dir,  ' +
        'or set this one up with payhook init or payhook serve',
    );
  }
}

/** Throws MigrationError when Payhook cannot work on the PostgreSQL or the encoding of a database. */
export async function refuseUnusable(tx: Tx): Promise<void> {
  const server = await maybeRow<{ number: number; version: string; encoding: string }>(
    tx,
    sql`select current_setting('server_version_num')::int as number,
               current_setting('server_version') as version,
               current_setting('server_encoding') as encoding`,
  );
  if (!server) return;
  if (server.number < 150_000) {
    throw new MigrationError(`PostgreSQL ${server.version} is too old: Payhook runs on 15 to 18`);
  }
  if (server.encoding !== 'UTF8') {
    throw new MigrationError(`the database's encoding is ${server.encoding}: create it with ENCODING 'UTF8'`);
  }
}

async function createFunctions(tx: Tx): Promise<void> {
  await rows(tx, sql`create table if not exists server_settings (key text primary key, value text not null)`);
  const digest = createHash('sha256').update(FUNCTIONS).digest('hex');
  if ((await readSetting(tx, 'functions')) === digest) return;
  await runScript(tx, FUNCTIONS);
  await writeSetting(tx, 'functions', digest);
}
