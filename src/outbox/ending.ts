import sql, { type Sql } from 'sql-template-tag';
import { oneRow, rows, type Tx } from '../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import { noteChanges } from './counts.ts';
import { holdKeys, letNextGo } from './keys.ts';

/*
 * Deliveries that leave the queue without an attempt: those of endpoints that were deleted, or have been disabled for a long
 * time, and those that are cancelled (see also cutoffs.ts).
 */

const ENDED_AT_ONCE = 1000;

/**
 * Ends waiting deliveries of deleted endpoints, a slice at a time: `failed`, `endpoint_deleted`. Attempts in flight are
 * left to their worker. Returns the number of rows ended.
 */
export async function endDeleted(tx: Tx): Promise<number> {
  const ended = await rows(
    tx,
    sql`with doomed as materialized (
          select q.account_id, q.endpoint_id, q.event_id
          from webhook_endpoints e
          cross join lateral (
            select * from queue q where q.account_id = e.account_id and q.endpoint_id = e.id
              and (q.lease_token is null or q.due_at <= now())
            limit ${ENDED_AT_ONCE}::int for update skip locked) q
          where e.deleted_at is not null limit ${ENDED_AT_ONCE}::int),
        ${leaving(sql`doomed`, 'failed', 'endpoint_deleted')}
        select 1 from ended`,
    'end_deleted',
  );
  return ended.length;
}

/**
 * Ends waiting deliveries, from one event id to another, of endpoints disabled since before `since`, and of enabled pull
 * endpoints, a slice at a time: `failed`, `endpoint_disabled` or `not_claimed`. Enabling such an endpoint waits for the slice. Returns the number of rows that left the
 * queue.
 */
export async function endAbandoned(
  tx: Tx,
  { from, until }: { readonly from: Sql; readonly until: Sql },
  since: Timestamp,
): Promise<number> {
  const ended = await rows(
    tx,
    sql`with waiting as materialized (
          select q.account_id, q.endpoint_id, q.event_id,
                 case when e.disabled_at is null then 'not_claimed' else 'endpoint_disabled' end as code
          from queue q join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id
          where q.event_id >= ${from} and q.event_id < ${until} and (q.lease_token is null or q.due_at <= now())
            and case when e.disabled_at is null then e.pull else e.disabled_at < ${since}::timestamptz end and e.deleted_at is null
          order by q.event_id, q.endpoint_id limit ${ENDED_AT_ONCE}::int
          for update of q skip locked for share of e),
        ${leaving(sql`waiting`, 'failed', sql`d.code`)}
        select 1 from waiting`,
    'end_abandoned',
  );
  return ended.length;
}

/** Deliveries of one endpoint, by UUIDs. */
export interface Deliveries {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly events: readonly EventId[];
}

/** Cancels pending deliveries at a user's request. See `cancel`. */
export const discard = (tx: Tx, deliveries: Deliveries): Promise<number> =>
  cancel(tx, deliveries, { code: sql`'discarded'`, among: sql`true` });

/**
 * Cancels pending deliveries of the queue `q` for which `among` holds. Those in flight stay: their attempt is the last, and a
 * failure cancels them. `code` is an expression over the delivery `d`. Returns the number cancelled now.
 */
export async function cancel(
  tx: Tx,
  { account, endpoint, events }: Deliveries,
  { code, among }: { code: Sql; among: Sql },
): Promise<number> {
  const ofEndpoint = sql`event_id = any(${[...events]}::uuid[]) and endpoint_id = ${endpoint}`;
  const busy = await rows<{ orderingKey: string }>(
    tx,
    sql`select distinct ordering_key as "orderingKey" from queue where ${ofEndpoint} and ordering_key is not null`,
  );
  const keys = await holdKeys(
    tx,
    busy.map(({ orderingKey }) => ({ endpoint, orderingKey })),
  );
  // waits for whoever leases, settles or retries them, so that the next statement sees the result
  await rows(tx, sql`select from queue where ${ofEndpoint} order by event_id for update`);
  const ended = await rows(
    tx,
    sql`with pending as materialized (
          select q.account_id, q.endpoint_id, q.event_id, q.lease_token is null or q.due_at <= now() as is_waiting
          from deliveries l
          join queue q on q.event_id = l.event_id and q.endpoint_id = l.endpoint_id
          where l.account_id = ${account} and l.endpoint_id = ${endpoint} and l.event_id = any(${[...events]}::uuid[])
            and l.status = 'pending' and ${among}),
        doomed as materialized (select account_id, endpoint_id, event_id from pending where is_waiting),
        marked as (
          update queue q set discarded = true from pending p
          where q.event_id = p.event_id and q.endpoint_id = p.endpoint_id and not p.is_waiting),
        ${leaving(sql`doomed`, 'cancelled', code)}
        select 1 from ended`,
  );
  // behind a key that a publisher holds, the next delivery waits for `tendKeys`
  await letNextGo(
    tx,
    keys.filter(({ state }) => state !== 'taken'),
  );
  return ended.length;
}

/**
 * Returns leased deliveries that could not be attempted. They are due as before, for the next claim, or cancelled if they
 * were discarded meanwhile; those of a batch have waited for it already. Nothing is logged, because nothing was sent.
 */
export async function giveBack(
  tx: Tx,
  { endpoint, events, token }: { endpoint: EndpointId; events: readonly EventId[]; token: string },
): Promise<void> {
  const leased = sql`q.event_id = any(${[...events]}::uuid[]) and q.endpoint_id = ${endpoint} and q.lease_token = ${token}`;
  const { waited_ms: waitedMs } = await oneRow<{ waited_ms: number }>(
    tx,
    sql`with doomed as materialized (
          select account_id, endpoint_id, event_id from queue q where ${leased} and discarded
          order by event_id for update),
        returned as (
          update queue q set lease_token = null, ${unclaimed},
                 due_at = now() - coalesce(e.batch_wait_ms, 0) * interval '1 millisecond'
          from webhook_endpoints e
          where ${leased} and not q.discarded and e.account_id = q.account_id and e.id = q.endpoint_id
          returning e.batch_wait_ms),
        ${leaving(sql`doomed`, 'cancelled', 'discarded')}
        select coalesce(max(batch_wait_ms), 0) as waited_ms from returned`,
    'give_back',
  );
  tx.announce(waitedMs);
}

/** SQL: assignments for a row of the queue that nobody holds any more, also if a consumer did. */
export const unclaimed = sql`claim = null, generation = coalesce(claimed_generation, generation), claimed_generation = null`;

/** SQL: removes deliveries `d` from the queue, and ends pending ones (`ended`) with this status and error code. */
export const leaving = (deliveries: Sql, status: 'failed' | 'cancelled', code: string | Sql) => sql`
        gone as (
          delete from queue q using ${deliveries} d
          where q.event_id = d.event_id and q.endpoint_id = d.endpoint_id),
        ended as (
          update deliveries l set status = ${status}, next_attempt_at = null, last_error_code = ${code}
          from ${deliveries} d
          where l.account_id = d.account_id and l.endpoint_id = d.endpoint_id and l.event_id = d.event_id
            and l.status = 'pending'
          returning l.account_id, l.endpoint_id, l.event_id),
        counted as (
          ${noteChanges(sql`select *, 0 as total, 0 as delivered, ${Number(status === 'failed')}::int as failed,
            ${Number(status === 'cancelled')}::int as cancelled from ended`)})`;
