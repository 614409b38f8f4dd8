import sql from 'sql-template-tag';
import { oneRow, type Reader, rows } from './database.ts';

/*
 * What keeps PostgreSQL from removing dead rows: whatever may still read them. VACUUM removes no row that was deleted
 * since the oldest snapshot was taken, in any table of the database (the "xmin horizon"; PostgreSQL documentation, "Routine
 * Vacuuming"). Everything here reads views of sessions, prepared transactions and slots, and no table.
 */

/**
 * What may hold the horizon. Sessions of other databases do not, and neither does VACUUM itself. Of sessions of other roles
 * PostgreSQL hides all but their locks from a role without pg_read_all_stats: whoever is in a transaction locks its number.
 */
const holders = sql`
  select 'session' as kind, a.pid::text as name, a.usename::text as "user", a.application_name as application, a.state,
         a.xact_start as since, greatest(age(a.backend_xmin), age(a.backend_xid)) as transactions,
         a.query = '<insufficient privilege>' as is_hidden,
         -- its first words: what follows may be a customer's data
         substring(regexp_replace(a.query, '\\s+', ' ', 'g') from '^[^''"$0-9<]{1,60}') as query,
         null::float8 as wal_bytes
  from pg_stat_activity a
  where a.pid <> pg_backend_pid() and (a.datname is null or a.datname = current_database())
    and case when a.query = '<insufficient privilege>' then a.datname is not null and a.usename is not null
               and exists (select from pg_locks l where l.locktype = 'virtualxid' and l.pid = a.pid)
             else (a.backend_xmin is not null or a.backend_xid is not null)
               and a.backend_type not in ('autovacuum worker', 'parallel worker')
               and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid) end
  union all
  select 'prepared', p.gid, p.owner::text, null, null, p.prepared, age(p.transaction), false, null, null
  from pg_prepared_xacts p where p.database = current_database()
  union all
  select 'slot', s.slot_name::text, null, null, case when s.active then 'active' else 'inactive' end, null, age(s.xmin),
         false, null, case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::float8 end
  from pg_replication_slots s where s.xmin is not null or not s.active`;

/** A session, prepared transaction or replication slot that keeps dead rows, or WAL that nobody reads. */
export interface Holder {
  readonly kind: 'session' | 'prepared' | 'slot';
  /** Its process id, the name of the transaction, or the name of the slot. */
  readonly name: string;
  readonly user: string | null;
  readonly application: string | null;
  /** As PostgreSQL says, such as `idle in transaction`; of a slot `active` or `inactive`. */
  readonly state: string | null;
  /** When its transaction began (RFC 3339), and how many seconds ago; null = not known. */
  readonly since: string | null;
  readonly seconds: number | null;
  /** How many transactions have begun since its snapshot; null = not known, or it is a slot that keeps only WAL. */
  readonly transactions: number | null;
  /** The first words of its last statement. */
  readonly query: string | null;
  /** It is in a transaction, and PostgreSQL hides from this role since when, and what it does. */
  readonly isHidden: boolean;
  /** WAL that is kept for a slot, in bytes. */
  readonly walBytes: number | null;
}

/** What `readHorizon` found. */
export interface Horizon {
  /** The oldest first. */
  readonly holders: readonly Holder[];
  /** Rows of the queue, as PostgreSQL estimates them: dead ones, and the others. */
  readonly deadRows: number;
  readonly liveRows: number;
}

const MOST_HOLDERS = 100;

/** Reads what keeps dead rows now, the oldest first; at most 100 of it. */
export async function readHorizon(db: Reader): Promise<Horizon> {
  const found = await rows<Holder>(
    db,
    sql`select kind, name, "user", application, state, iso(since) as since,
               extract(epoch from now() - since)::float8 as seconds, transactions, query, is_hidden as "isHidden",
               wal_bytes as "walBytes"
        from (${holders}) holder
        order by since nulls last, transactions desc nulls last limit ${MOST_HOLDERS}::int`,
  );
  const queue = await oneRow<{ deadRows: number; liveRows: number }>(
    db,
    sql`select coalesce(max(n_dead_tup), 0)::float8 as "deadRows", coalesce(max(n_live_tup), 0)::float8 as "liveRows"
        from pg_stat_user_tables where relid = 'queue'::regclass`,
  );
  return { holders: found, ...queue };
}

/**
 * A query of one row for metrics: `horizon_transactions` and `horizon_seconds` of what holds the horizon (0 = nothing does;
 * null seconds = PostgreSQL hides those of some session), `dead_rows` and `live_rows` of the queue.
 */
export const horizonFigures = sql`
  select coalesce(max(h.transactions), 0)::float8 as horizon_transactions,
         case when count(h) = 0 then 0
              when not bool_or(h.is_hidden) then greatest(0, extract(epoch from now() - min(h.since))) end::float8 as horizon_seconds,
         coalesce(max(q.n_dead_tup), 0)::float8 as dead_rows, coalesce(max(q.n_live_tup), 0)::float8 as live_rows
  from (select 'queue'::regclass as table) asked
  left join pg_stat_user_tables q on q.relid = asked.table
  left join (${holders}) h on h.transactions is not null or h.is_hidden`;
