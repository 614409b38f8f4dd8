import sql from 'sql-template-tag';
import { visitedEndpoints } from '../../db/at-work.ts';
import { oneRow, type Reader, rows, type Tx } from '../../db/database.ts';

const LAST_CLAIM = 'last_claim';
const SHORTEST_IDLE_MS = 30_000;

/** Records that a worker has just claimed deliveries. */
export async function noteClaim(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`insert into server_settings (key, value) values (${LAST_CLAIM}, iso(clock_timestamp()))
        on conflict (key) do update set value = excluded.value`,
    'note_claim',
  );
}

/**
 * Whether deliveries have been due for 30 s at an enabled endpoint while no worker of the database claimed anything.
 * Endpoints without work cost nothing. With a long `timeoutMs` of attempts, twice that time is used instead.
 */
export async function workNobodyClaims(db: Reader, timeoutMs: number): Promise<boolean> {
  const limit = sql`${Math.max(SHORTEST_IDLE_MS, 2 * timeoutMs)}::int8 * interval '1 millisecond'`;
  const { idle } = await oneRow<{ idle: boolean }>(
    db,
    sql`with recursive ${visitedEndpoints}
        select case
          when (select value::timestamptz from server_settings where key = ${LAST_CLAIM}) > now() - ${limit} then false
          else exists (
            select from visited v
            cross join lateral (
              select * from webhook_endpoints where account_id = v.account_id and id = v.endpoint_id limit 1) e
            cross join lateral (
              select may_start_at from endpoint_state where account_id = v.account_id and endpoint_id = v.endpoint_id limit 1) s
            cross join lateral (
              select from queue q where q.account_id = e.account_id and q.endpoint_id = e.id
                and (q.generation, q.due_at) <= (e.resumptions, now() - ${limit} - coalesce(e.batch_wait_ms, 0) * interval '1 millisecond')
                and (q.lease_token is null or q.due_at <= now())
              order by q.generation, q.due_at limit 1) q
            where e.disabled_at is null and e.deleted_at is null and not e.pull and s.may_start_at <= now() - ${limit}
              and (e.updated_at <= now() - ${limit})) end as idle`,
  );
  return idle;
}
