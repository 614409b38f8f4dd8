import sql, { raw } from 'sql-template-tag';
import { oneRow, type Reader, rows, type Tx } from './connect.ts';

/** The tables that lie in partitions of a week of event ids. */
const TABLES = ['events', 'deliveries', 'attempts'] as const;
/** A delivery is written twice: its second version finds room beside the first, and no index changes. */
const STORAGE: Readonly<Record<string, string>> = { deliveries: 'with (fillfactor = 60)' };
const WEEKS_AHEAD = 4;
const LOCK = 7_246_813_906n; // one number for "Payhook makes partitions"

/**
 * Makes the partitions of the last week, this one and the four to come, where they are missing: any process may, at
 * any time. A week begins on Monday 00:00 UTC; the last one is there for a clock that is set back.
 *
 * ATTACH takes a lock that lets inserts pass; creating a partition of the parent would not (it waits 5 s at most for
 * others who change the tables).
 */
export async function makePartitions(tx: Tx): Promise<void> {
  await rows(tx, sql`set local lock_timeout = '5s'`);
  await rows(tx, sql`select pg_advisory_xact_lock(${LOCK})`);
  const missing = await rows<{ parent: string; name: string; first: string; last: string }>(
    tx,
    sql`select parent, name, id_floor(starts)::text as first, id_floor(starts + interval '7 days')::text as last
        from generate_series(-1, ${WEEKS_AHEAD}::int) week,
             lateral (select date_trunc('week', now() at time zone 'UTC') at time zone 'UTC'
                             + week * interval '7 days' as starts) monday,
             unnest(${[...TABLES]}::text[]) parent,
             lateral (select parent || '_' || to_char(starts at time zone 'UTC', 'YYYYMMDD') as name) named
        where to_regclass(name) is null order by starts, parent`,
  );
  for (const { parent, name, first, last } of missing) {
    await rows(tx, raw(`create table ${name} (like ${parent} including all) ${STORAGE[parent] ?? ''}`));
    await rows(
      tx,
      raw(`alter table ${parent} attach partition ${name} for values from ('${first}') to ('${last}')`),
    );
  }
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
