import sql, { raw } from 'sql-template-tag';
import { oneRow, type Reader, rows, type Tx } from './database.ts';

/*
 * The tables of a database as a backup holds them: each with the columns that are written, each week of the log as a
 * table of its own. What the program writes into every database itself is left out.
 */

/** A table whose rows are saved. */
export interface SavedTable {
  readonly name: string;
  /** Without generated ones, in the order of the table. */
  readonly columns: readonly string[];
}

export interface SavedSequence {
  readonly name: string;
  /** An int8 as text. */
  readonly last_value: string;
  readonly is_called: boolean;
}

/** A sum over a table, by currency: a whole number as text. */
export interface SavedSum {
  readonly of: string;
  readonly currency: string;
  readonly amount: string;
}

/**
 * The tables of the schema, by name. A partition that is being dropped is none any more; one that was dropped in part
 * (`events_20260105` without its parent) is not in here either.
 */
export function savedTables(db: Reader): Promise<SavedTable[]> {
  return rows(
    db,
    sql`select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        left join pg_inherits i on i.inhrelid = c.oid
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and not coalesce(i.inhdetachpending, false)
          and c.relname <> 'schema_migrations'
          and (i.inhrelid is not null or c.relname !~ '^(events|deliveries|attempts)_\\d{8}$')
        group by c.relname order by c.relname`,
  );
}

/** Something that lies in the schema, by its name; null = the schema is empty. */
export async function anyRelation(db: Reader): Promise<string | null> {
  const [found] = await rows<{ name: string }>(
    db,
    sql`select relname as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
        order by relname = 'accounts' desc, relname limit 1`,
  );
  return found?.name ?? null;
}

/** The rows of a table for `COPY`. The digest of the functions is of the program that made them, and stays out. */
export function sourceOf({ name, columns }: SavedTable): string {
  const list = columns.map(quoted).join(', ');
  return name === 'server_settings'
    ? `(select ${list} from server_settings where key <> 'functions')`
    : `${quoted(name)} (${list})`;
}

/** Where `COPY` puts the rows of a table. */
export const placeOf = ({ name, columns }: SavedTable): string =>
  `${quoted(name)} (${columns.map(quoted).join(', ')})`;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** How many rows of a table are saved. */
export async function countSaved(db: Reader, table: SavedTable): Promise<number> {
  const rest = table.name === 'server_settings' ? `where key <> 'functions'` : '';
  const { count } = await oneRow<{ count: bigint }>(
    db,
    raw(`select count(*) as count from ${quoted(table.name)} ${rest}`),
  );
  return Number(count);
}

/** Keeps tables from being changed or dropped until the transaction ends; reading and writing go on. */
export async function keepTables(db: Reader, tables: readonly SavedTable[]): Promise<void> {
  await rows(db, sql`select set_config('lock_timeout', '30s', true)`);
  await rows(db, raw(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in access share mode`));
}

/** Texts of values do not depend on the settings of a server or a role. Until the transaction ends. */
export async function fixTexts(db: Reader): Promise<void> {
  await rows(
    db,
    sql`select set_config('DateStyle', 'ISO', true), set_config('IntervalStyle', 'postgres', true),
               set_config('TimeZone', 'UTC', true), set_config('bytea_output', 'hex', true),
               set_config('extra_float_digits', '1', true)`,
  );
}

export async function savedSequences(db: Reader): Promise<SavedSequence[]> {
  const found = await rows<{ name: string }>(
    db,
    sql`select relname as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'S' order by relname`,
  );
  if (found.length === 0) return [];
  const each = found.map(
    ({ name }) =>
      `select '${name.replaceAll("'", "''")}' as name, last_value::text as last_value, is_called from ${quoted(name)}`,
  );
  return rows(db, raw(each.join(' union all ')));
}

export async function setSequence(tx: Tx, { name, last_value, is_called }: SavedSequence): Promise<void> {
  await rows(tx, sql`select setval(${quoted(name)}::regclass, ${last_value}::int8, ${is_called})`);
}

/** The instant of a snapshot (RFC 3339), and the version of PostgreSQL. */
export function snapshotFacts(db: Reader): Promise<{ made_at: string; postgresql: string }> {
  return oneRow(
    db,
    sql`select iso(now()) as made_at, split_part(current_setting('server_version'), ' ', 1) as postgresql`,
  );
}

/** What all commissions are worth, and all lines of payouts. */
export function savedSums(db: Reader): Promise<SavedSum[]> {
  return rows(
    db,
    sql`select 'commissions' as of, currency, sum(amount)::text as amount from commissions group by currency
        union all
        select 'payout lines', currency, sum(amount)::text from payout_line_totals group by currency
        order by 1, 2`,
  );
}
