import sql from 'sql-template-tag';
import { visitedEndpoints } from '../../db/at-work.ts';
import { DONE, FAILING } from '../../db/chores.ts';
import { oneRow, type Tx } from '../../db/database.ts';
import { horizonFigures } from '../../db/horizon.ts';
import { weeksAhead } from '../../db/partitions.ts';
import { backupState } from './backups.ts';

/** What is counted for metrics, of all accounts. */
export interface Figures {
  /** Deliveries that are due and not under way; the count ends at 50,000. */
  readonly due: number;
  /** For how many seconds the first of them has been due; 0 = none is. */
  readonly oldest_due_age: number;
  /** Endpoints by status; the count ends at 20,000. */
  readonly enabled: number;
  readonly failing: number;
  readonly disabled: number;
  readonly workers: number;
  /** Weeks to come that have partitions, at most 8. */
  readonly weeks_ahead: number;
  /** When each chore was last done, in seconds since 1970. */
  readonly chores: Readonly<Record<string, number>>;
  /** Since when each chore that fails has failed, in seconds since 1970. */
  readonly failing_chores: Readonly<Record<string, number>>;
  /** The instant that the last backup holds, in seconds since 1970; null = there is none. */
  readonly backup_at: number | null;
  /** Whether a backup failed since. */
  readonly backup_failed: boolean;
  /** How many transactions have begun since the oldest snapshot, and how many seconds ago that was; null = not known. */
  readonly horizon_transactions: number;
  readonly horizon_seconds: number | null;
  /** Rows of the queue that are deleted and not removed yet, and the others, as PostgreSQL estimates them. */
  readonly dead_rows: number;
  readonly live_rows: number;
}

const MOST_DUE = 50_000;
const MOST_ENDPOINTS = 20_000;

/**
 * Reads the figures in one statement whose cost does not grow with the backlog: it finds the endpoints that have work by
 * the index, 1,000 at most, and stops counting at a limit. For `Database.engine`, whose plans use indexes.
 */
export function readFigures(tx: Tx): Promise<Figures> {
  return oneRow<Figures>(
    tx,
    sql`with recursive ${visitedEndpoints},
        at_work as materialized (
          select e.account_id, e.id, e.resumptions, e.updated_at
          from visited v cross join lateral (
            select * from webhook_endpoints where account_id = v.account_id and id = v.endpoint_id limit 1) e
          where e.disabled_at is null and e.deleted_at is null and not e.pull),
        oldest as (
          -- what waited at an endpoint is due since it was enabled again
          select greatest(first.due_at, case when first.generation < e.resumptions then e.updated_at end) as since
          from at_work e cross join lateral (${due} limit 1) first),
        endpoint as materialized (
          select count(*) filter (where disabled_at is null)::int as able, count(*) filter (where disabled_at is not null)::int as disabled
          from (select disabled_at from webhook_endpoints where deleted_at is null limit ${MOST_ENDPOINTS}::int) e),
        failing as materialized (
          select count(*)::int as count from (
            select from endpoint_state s
            cross join lateral (
              select from webhook_endpoints where account_id = s.account_id and id = s.endpoint_id
                and disabled_at is null and deleted_at is null limit 1) e
            where (s.failing_since is not null or s.told > 0) and s.failing_since is not null limit ${MOST_ENDPOINTS}::int) s)
        select (select count(*)::int from (
                  select from at_work e cross join lateral (${due}) each limit ${MOST_DUE}::int) all_due) as due,
               (select coalesce(greatest(0, extract(epoch from now() - min(since))), 0)::float8
                from oldest) as oldest_due_age,
               counts.*, (select count(*)::int from workers) as workers, ${weeksAhead} as weeks_ahead,
               (select coalesce(json_object_agg(substr(key, ${DONE.length + 1}::int),
                         extract(epoch from value::timestamptz)), '{}')
                from server_settings where starts_with(key, ${DONE})) as chores,
               (select coalesce(json_object_agg(substr(key, ${FAILING.length + 1}::int),
                         extract(epoch from (value::json ->> 'since')::timestamptz)), '{}')
                from server_settings where starts_with(key, ${FAILING})) as failing_chores,
               extract(epoch from (backups #>> '{last,made_at}')::timestamptz)::float8 as backup_at,
               backups #>> '{failure,failed_at}' is not null as backup_failed, horizon.*
        from (select greatest(0, e.able - f.count) as enabled, f.count as failing, e.disabled from endpoint e, failing f) counts,
             ${backupState} as state (backups), (${horizonFigures}) horizon`,
    'figures',
  ).then((row) => ({
    ...row,
    chores: JSON.parse(String(row.chores)) as Figures['chores'],
    failing_chores: JSON.parse(String(row.failing_chores)) as Figures['failing_chores'],
  }));
}

/** What is due at endpoint `e`, the oldest first. */
const due = sql`
  select q.due_at, q.generation from queue q
  where q.account_id = e.account_id and q.endpoint_id = e.id
    and (q.generation, q.due_at) <= (e.resumptions, now()) and (q.lease_token is null or q.due_at <= now())
  order by q.generation, q.due_at`;
