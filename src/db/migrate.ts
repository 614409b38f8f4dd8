import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import sql, { raw } from 'sql-template-tag';
import { type Database, maybeRow, rows, type Tx } from './connect.ts';
import { FUNCTIONS } from './functions.ts';
import { readSetting, writeSetting } from './settings.ts';

const FOLDER = new URL('../../migrations/', import.meta.url);
const LOCK = 7_246_813_905n; // one number for "Payhook is migrating this database"

/** A database this program must not touch: newer than it knows, too old a PostgreSQL, wrong encoding. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

export interface MigrationReport {
  readonly version: number;
  readonly applied: readonly string[];
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
}

function knownMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name: name.replace(/\.sql$/, ''),
      text: readFileSync(new URL(name, FOLDER), 'utf8'),
    }));
}

/**
 * Brings the schema to this program's version, then runs `firstRun` in the same transaction and under the same
 * lock: of two servers that start on an empty database exactly one creates what the first start creates.
 * Throws MigrationError when the schema is newer than the program or the server cannot carry it.
 */
export async function migrate<Result>(
  db: Database,
  firstRun: (tx: Tx) => Promise<Result>,
): Promise<{ report: MigrationReport; first: Result }> {
  return db.transaction(async (tx) => {
    await rows(tx, sql`select pg_advisory_xact_lock(${LOCK})`);
    await refuseUnusable(tx);
    await rows(
      tx,
      sql`create table if not exists schema_migrations (
            version int primary key, name text not null, applied_at timestamptz(3) not null default now())`,
    );
    const known = knownMigrations();
    const newest = known.at(-1)?.version ?? 0;
    const { current } = (await maybeRow<{ current: number }>(
      tx,
      sql`select coalesce(max(version), 0) as current from schema_migrations`,
    )) ?? { current: 0 };
    if (current > newest) {
      throw new MigrationError(
        `the database has schema ${current}, this program knows up to ${newest}: run the newer program`,
      );
    }
    const pending = known.filter((migration) => migration.version > current);
    await createFunctions(tx);
    for (const migration of pending) {
      await rows(tx, raw(migration.text));
      await rows(
        tx,
        sql`insert into schema_migrations (version, name) values (${migration.version}, ${migration.name})`,
      );
    }
    const report = { version: newest, applied: pending.map((migration) => migration.name) };
    return { report, first: await firstRun(tx) };
  });
}

async function refuseUnusable(tx: Tx): Promise<void> {
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
  await rows(tx, raw(FUNCTIONS));
  await writeSetting(tx, 'functions', digest);
}
