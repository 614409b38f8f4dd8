import sql from 'sql-template-tag';
import type { Timestamp } from '../kernel/time.ts';
import { DONE } from './chores.ts';
import { type Reader, rows } from './database.ts';
import { TABLES, type TableFacts, UNITS, type Unit } from './tables.ts';

/** A table that is larger than the list of tables says. */
export interface LargeTable {
  readonly name: string;
  /** With its indexes, in bytes. */
  readonly bytes: number;
  /** What would be enough for what there is. */
  readonly expected_bytes: number;
  /** As PostgreSQL estimates them. */
  readonly rows: number;
  /** The chore that removes its rows; null = none does. */
  readonly chore: string | null;
  /** When that was last done (RFC 3339); null = never, or nobody noted it. */
  readonly chore_last_done_at: Timestamp | null;
  readonly remedy: string;
}

/** A smaller table is never named. */
const LEAST_BYTES = 64 * 1024 ** 2;
/** Sizes are estimates, and a table that is changed often has room for rows that were. */
const TOLERATED = 3;

interface Found {
  readonly name: string;
  readonly bytes: number;
  readonly rows: number;
  /** PostgreSQL has an estimate of its rows. */
  readonly is_counted: boolean;
}

/**
 * The tables that are larger than they should be, the largest first. Counts nothing: it reads the sizes of files, and how many
 * rows PostgreSQL estimated last.
 */
export async function findLargeTables(db: Reader): Promise<LargeTable[]> {
  const found = await rows<Found>(
    db,
    sql`select name, sum(bytes)::float8 as bytes, sum(greatest(tuples, 0))::float8 as rows,
               bool_and(tuples >= 0 or bytes < ${LEAST_BYTES}) as is_counted
        from (select coalesce(p.relname, c.relname) as name, c.reltuples as tuples, pg_total_relation_size(c.oid) as bytes
              from pg_class c
              left join pg_inherits i on i.inhrelid = c.oid
              left join pg_class p on p.oid = i.inhparent
              where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r') each_table
        group by name order by 2 desc`,
  );
  const counts = new Map(found.map((table) => [table.name, table.rows]));
  const done = await rows<{ chore: string; at: Timestamp }>(
    db,
    sql`select substr(key, ${DONE.length + 1}::int) as chore, value as at from server_settings where starts_with(key, ${DONE})`,
  );
  return found.flatMap(({ name, bytes, rows, is_counted }) => {
    const facts = TABLES[name];
    if (facts === undefined || facts.hasPayloads || !is_counted) return [];
    const expected = Math.max(facts.bytes * unitsOf(facts.unit, counts, rows), LEAST_BYTES / TOLERATED);
    if (bytes <= TOLERATED * expected) return [];
    const chore = 'chore' in facts ? facts.chore : null;
    const chore_last_done_at = done.find((each) => each.chore === chore)?.at ?? null;
    const remedy = remedyFor(name, facts, chore_last_done_at);
    return [{ name, bytes, expected_bytes: Math.round(expected), rows, chore, chore_last_done_at, remedy }];
  });
}

/** How many units there are: the rows of the table of the unit; without one, the rows of the table itself. */
function unitsOf(unit: Unit, counts: ReadonlyMap<string, number>, own: number): number {
  if (unit === 'pending work') return 0;
  const facts = UNITS[unit];
  return 'table' in facts ? (counts.get(facts.table) ?? 0) : own;
}

function remedyFor(name: string, facts: TableFacts, lastDone: Timestamp | null): string {
  const first =
    'chore' in facts
      ? `the chore "${facts.chore}" removes its rows, ${lastDone === null ? 'and nobody noted that it was done' : `last at ${lastDone}`}: ` +
        'if that is long ago, start a server and look for "housekeeping failed" in its log'
      : 'look for transactions that have been open for long (pg_stat_activity), which keep deleted rows';
  return `${first}; VACUUM FULL ${name} gives the space of deleted rows back, and locks the table meanwhile`;
}
