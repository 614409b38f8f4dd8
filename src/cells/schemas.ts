import pg from 'pg';
import sql, { raw } from 'sql-template-tag';
import { hasNodes } from '../db/citus.ts';
import { type Database, oneRow, type Reader, rows, type Tx } from '../db/database.ts';
import { MigrationError } from '../db/migration-files.ts';
import { readSetting, writeSetting } from '../db/settings.ts';
import { CellError } from './accounts.ts';

/** In the settings of each cell: its number and the installation that it belongs to. */
const NUMBER = 'cell_number';
export const INSTALLATION = 'cell_installation';

/** Identifies an installation of Payhook; it is generated when the first cell is added. */
export async function installationOf(first: Database): Promise<string> {
  return (await readSetting(first.reader, INSTALLATION)) ?? '';
}

/** Notes in a cell which one it is. */
export async function markCell(tx: Tx, number: number, installation: string): Promise<void> {
  await writeSetting(tx, NUMBER, String(number));
  await writeSetting(tx, INSTALLATION, installation);
}

/** The cell that a database says it is: its number and its installation; null = cell 0, or nothing of Payhook. */
export async function markOf(db: Reader): Promise<{ number: number; installation: string } | null> {
  const number = await readSetting(db, NUMBER);
  return number === null
    ? null
    : { number: Number(number), installation: (await readSetting(db, INSTALLATION)) ?? '' };
}

/** Throws MigrationError unless a database is the cell that the directory says. */
export async function refuseStranger(tx: Tx, number: number, installation: string): Promise<void> {
  const problem = await strangerProblem(tx, number, installation);
  if (problem !== null) throw new MigrationError(problem);
}

/** Why a database is not the cell that the directory says; null = it is. */
export async function strangerProblem(
  db: Reader,
  number: number,
  installation: string,
): Promise<string | null> {
  const mark = await markOf(db);
  if (mark?.number === number && mark.installation === installation) return null;
  const what =
    mark === null
      ? 'cell 0 of an installation'
      : `cell ${mark.number}${mark.installation === installation ? '' : ' of another installation'}`;
  return `the database is ${what}, not cell ${number}`;
}

/** Throws MigrationError when the database of DATABASE_URL is a cell of another one's directory. */
export async function refuseOtherCell(tx: Tx): Promise<void> {
  const mark = await markOf(tx);
  if (mark === null || mark.number === 0) return;
  throw new MigrationError(
    `this database is cell ${mark.number}: DATABASE_URL must be cell 0, which holds the directory of cells`,
  );
}

/** Whether a database has the tables of a cell, or some of them. */
export async function hasTables(db: Reader): Promise<boolean> {
  const { found } = await oneRow<{ found: boolean }>(
    db,
    sql`select to_regclass('schema_migrations') is not null as found`,
  );
  return found;
}

/** What a cell says of itself. */
export async function readFacts(db: Reader): Promise<{ accounts: number; version: number }> {
  return oneRow(
    db,
    sql`select (select count(*)::int from accounts) as accounts, (select max(version) from schema_migrations) as version`,
  );
}

/**
 * Creates a schema in a database, if it is missing. Where Citus has nodes it creates nothing and returns false: on a node only a login
 * of its own can select a schema.
 */
export async function createSchema(db: Database, schema: string): Promise<boolean> {
  if (await hasNodes(db.reader)) return false;
  await db.transaction((tx) => rows(tx, raw(`create schema if not exists ${pg.escapeIdentifier(schema)}`)));
  return true;
}

/** Throws CellError unless the schema is empty, or is what an earlier run of the same command left. */
export async function refuseUsed(db: Reader, number: number, installation: string): Promise<void> {
  const found = await oneRow<{ schema: string | null; is_ours: boolean; is_used: boolean }>(
    db,
    sql`select current_schema()::text as schema, to_regclass('schema_migrations') is not null as is_ours,
          exists (select from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')) as is_used`,
  );
  if (found.schema === null) throw new CellError('the login has no schema: name one with --schema');
  if (!found.is_used) return;
  if (!found.is_ours)
    throw new CellError(`the schema ${found.schema} has other tables: name one that is empty`);
  const mark = await markOf(db);
  if (mark?.number === number && mark.installation === installation) return;
  const holds = mark === null ? 'cell 0 of an installation' : `cell ${mark.number}`;
  throw new CellError(
    `the schema ${found.schema} already holds ${holds}: each cell needs a schema of its own`,
  );
}
