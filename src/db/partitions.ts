import sql, { raw, type Sql } from 'sql-template-tag';
import type { Timestamp } from '../kernel/time.ts';
import { isOnNode } from './citus.ts';
import { type Database, maybeRow, oneRow, type Reader, rows, type Tx } from './database.ts';
import { LOCKS, limitLockWaits, takeLock } from './locks.ts';

/** The tables that lie in partitions of a week of event ids. */
const TABLES = ['events', 'event_owners', 'event_tags', 'deliveries', 'attempts'] as const;
/** A delivery is written twice: its second version finds room next to the first, and no index changes. */
const STORAGE: Readonly<Record<string, string>> = { deliveries: 'with (fillfactor = 60)' };
const WEEKS_AHEAD = 4;

/**
 * Makes the partitions of the last week, this one and the four to come, where they are missing: any process may, at
 * any time. A week begins on Monday 00:00 UTC; the last one is there for a clock that is set back. `past` names
 * more instants (RFC 3339) that partitions are for, when a history is put in.
 *
 * ATTACH takes a lock that lets inserts pass; creating a partition of the parent would not (it waits 5 s at most for
 * others who change the tables).
 */
export async function makePartitions(tx: Tx, past: readonly Timestamp[] = []): Promise<void> {
  await limitLockWaits(tx, 5000);
  await takeLock(tx, LOCKS.partitions);
  const missing = await rows<{ parent: string; name: string; first: string; last: string }>(
    tx,
    sql`select parent, name, id_floor(starts)::text as first, id_floor(starts + interval '7 days')::text as last
        from (select now() + week * interval '7 days' as at from generate_series(-1, ${WEEKS_AHEAD}::int) week
              union select unnest(${[...past]}::timestamptz[])) needed,
             lateral (select date_trunc('week', at at time zone 'UTC') at time zone 'UTC' as starts) monday,
             unnest(${[...TABLES]}::text[]) parent,
             lateral (select parent || '_' || to_char(starts at time zone 'UTC', 'YYYYMMDD') as name) named
        -- a backup of an earlier version has no event_owners or event_tags until it is migrated
        where to_regclass(name) is null and to_regclass(parent) is not null
        group by starts, parent, name order by starts, parent`,
  );
  for (const { parent, name, first, last } of missing) {
    await rows(tx, raw(`create table ${name} (like ${parent} including all) ${STORAGE[parent] ?? ''}`));
    await rows(
      tx,
      raw(`alter table ${parent} attach partition ${name} for values from ('${first}') to ('${last}')`),
    );
  }
}

/** Whether events of last week, of this one or of the next would not find their partitions. */
export async function needsPartitions(db: Reader): Promise<boolean> {
  const { missing } = await oneRow<{ missing: boolean }>(
    db,
    sql`select bool_or(to_regclass(parent || '_' || to_char(
               date_trunc('week', now() at time zone 'UTC') + week * interval '7 days', 'YYYYMMDD')) is null) as missing
        from unnest(${[...TABLES]}::text[]) parent, generate_series(-1, 1) week`,
    'needs_partitions',
  );
  return missing;
}

/** Whether events of a week from now would find their partitions. */
export async function hasPartitionsAhead(db: Reader): Promise<boolean> {
  const { ready } = await oneRow<{ ready: boolean }>(
    db,
    sql`select bool_and(to_regclass(parent || '_' || to_char(
               date_trunc('week', now() at time zone 'UTC') + interval '7 days', 'YYYYMMDD')) is not null) as ready
        from unnest(${[...TABLES]}::text[]) parent`,
  );
  return ready;
}

const MOST_COUNTED_WEEKS = 8;

/** SQL: how many of the weeks to come have all their partitions, up to 8. */
export const weeksAhead: Sql = sql`(
  select coalesce(min(week) - 1, ${MOST_COUNTED_WEEKS}::int)
  from unnest(${[...TABLES]}::text[]) parent, generate_series(1, ${MOST_COUNTED_WEEKS}::int) week
  where to_regclass(parent || '_' || to_char(
    date_trunc('week', now() at time zone 'UTC') + week * interval '7 days', 'YYYYMMDD')) is null)`;

/** The partition of a table for a week, or the table that is left of it. */
interface Partition {
  readonly parent: string;
  readonly name: string;
  /** When the week begins. */
  readonly week: Timestamp;
  /** Whether it is part of its parent; detached ones only wait to be dropped. */
  readonly state: 'attached' | 'detaching' | 'detached';
}

function partitions(db: Reader): Promise<Partition[]> {
  return rows(
    db,
    sql`select parent, c.relname as name,
               iso(to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC') as week,
               case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'detaching'
                    else 'attached' end as state
        from unnest(${[...TABLES]}::text[]) parent
        join pg_class p on p.oid = to_regclass(parent)
        join pg_class c on c.relkind = 'r' and c.relnamespace = p.relnamespace
          and c.relname ~ ('^' || parent || '_\\d{8}$')
        left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = p.oid
        order by week, parent`,
  );
}

/** The weeks that the log has partitions for, the oldest first. */
export async function loggedWeeks(db: Reader): Promise<Timestamp[]> {
  const attached = (await partitions(db)).filter(({ state }) => state !== 'detached');
  return [...new Set(attached.map(({ week }) => week))];
}

/**
 * Drops the partitions of a week, wherever an earlier attempt ended: detaching lets others read and write meanwhile, but
 * is two transactions of PostgreSQL's own. Throws when somebody holds one of the tables for too long.
 */
export async function dropPartitions(db: Database, week: Timestamp): Promise<void> {
  const onNode = await isOnNode(db.reader);
  for (const { parent, name, state } of (await partitions(db.reader)).filter((each) => each.week === week)) {
    const detach = `alter table ${parent} detach partition ${name}`;
    if (state === 'attached' && !onNode) await db.outsideTransaction(raw(`${detach} concurrently`));
    if (state === 'attached' && onNode) await db.transaction((tx) => detachLocked(tx, detach));
    if (state === 'detaching') await db.outsideTransaction(raw(`${detach} finalize`));
    await db.outsideTransaction(raw(`drop table ${name}`));
  }
}

/** Citus cannot detach concurrently. Others wait behind this lock, so it does not wait long itself. */
async function detachLocked(tx: Tx, detach: string): Promise<void> {
  await limitLockWaits(tx, 5000);
  await rows(tx, raw(detach));
}

/** When the week begins that the oldest stored event is of, or null. */
export async function logBegins(db: Reader): Promise<Timestamp | null> {
  for (const { parent, name, week, state } of await partitions(db)) {
    if (parent !== 'events' || state !== 'attached') continue;
    if (await maybeRow(db, raw(`select 1 from ${name} limit 1`))) return week;
  }
  return null;
}
