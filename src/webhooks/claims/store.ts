import sql from 'sql-template-tag';
import { finderByHash } from '../../db/by-hash.ts';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../../kernel/ids.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { CLAIMED } from '../../outbox/order.ts';
import { claimable, roomOf } from '../engine/awaited.ts';
import { type ClaimedRow, leasedColumns, payloadJoin, pickedColumns } from '../engine/claim.ts';

/** A pull endpoint, by UUIDs. */
export interface Place {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
}

/** A delivery that a consumer has now. */
export interface TakenRow extends ClaimedRow {
  readonly token: string;
  readonly type: string;
  readonly attempt: number;
  readonly expires_at: Timestamp;
  /** Seconds since 1970. */
  readonly now: bigint;
}

interface Taking {
  readonly limit: number;
  readonly leaseSeconds: number;
  /** The id of a key, user, application or endpoint. */
  readonly claimedBy: string;
  readonly consumer: string | null;
}

/** The most bytes of bodies in a claim. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Leases the first deliveries that are due at an enabled pull endpoint to a consumer: at most `limit`, and 4 MiB. What others are
 * claiming at the same time is skipped. Workers have numbers from 1, so none of them owns these leases.
 */
export function take(
  tx: Tx,
  { account, endpoint }: Place,
  { limit, leaseSeconds, claimedBy, consumer }: Taking,
): Promise<TakenRow[]> {
  const now = sql`(select now from clock)`;
  return rows<TakenRow>(
    tx,
    sql`with
        clock as materialized (
          select now, now + ${leaseSeconds}::int * interval '1 second' as lease_end, now - interval '1 minute' as a_minute_ago,
                 lease_token(0) as token
          from (select clock_timestamp() as now) at),
        claimed as materialized (
          select json_build_object('lease_id', public_id('lease', token), 'claimed_by', ${claimedBy}::text,
                                   'consumer', ${consumer}::text) as claim
          from clock),
        picked as materialized (
          select ${pickedColumns} from clock c
          cross join (select * from webhook_endpoints where account_id = ${account} and id = ${endpoint} and pull
                        and disabled_at is null and deleted_at is null) e
          join endpoint_state s on s.account_id = e.account_id and s.endpoint_id = e.id
          cross join lateral (
            select q.event_id, q.trigger, q.ordering_key, q.step, q.generation, q.lease_token from ${claimable(sql`c.now`)}
            limit greatest(0, least(${limit}::int, ${roomOf}))
            for update skip locked) q),
        sized as materialized (
          select *, sum(octet_length(payload)) over (order by event_id) as bytes, row_number() over (order by event_id) as nth
          from (select p.resumptions, ${leasedColumns(now)} from picked p ${payloadJoin}) each_picked),
        taken as materialized (select * from sized where bytes <= ${MOST_BYTES}::int or nth = 1),
        leased as (
          update queue q set due_at = c.lease_end, lease_token = c.token, generation = ${CLAIMED},
                             claimed_generation = t.resumptions, step = t.step, claim = d.claim
          from clock c cross join claimed d cross join taken t
          where q.event_id = t.event_id and q.endpoint_id = t.endpoint_id),
        noted as (
          update endpoint_state set claimed_at = c.now from clock c
          where account_id = ${account} and endpoint_id = ${endpoint}
            and (claimed_at is null or claimed_at < c.a_minute_ago))
        select t.*, c.token, iso(c.lease_end) as expires_at,
               floor(extract(epoch from c.now))::int8 as now, d.type, d.attempt_count + 1 as attempt
        from clock c cross join taken t
        join deliveries d on d.account_id = t.account_id and d.endpoint_id = t.endpoint_id and d.event_id = t.event_id
        order by t.event_id`,
    'take_for_consumer',
  );
}

/** A lease of an event, by UUIDs. */
export interface Lease {
  readonly event: EventId;
  readonly token: string;
}

/** The leases whose attempts are in the log, with their results. */
export function findEnded(
  tx: Tx,
  { account, endpoint }: Place,
  leases: readonly Lease[],
): Promise<(Lease & { readonly status: 'delivered' | 'failed' | 'cancelled' })[]> {
  return rows(
    tx,
    sql`select a.event_id as event, r.token,
               case when a.error_code is null then 'delivered'
                    when a.error_code = 'consumer_failed' then 'failed'
                    when a.error_code = 'consumer_cancelled' then 'cancelled' end as status
        from unnest(${leases.map(({ event }) => event)}::uuid[], ${leases.map(({ token }) => token)}::uuid[]) as r (event, token)
        join attempts a on a.account_id = ${account} and a.endpoint_id = ${endpoint} and a.event_id = r.event
          and a.claim ->> 'lease_id' = public_id('lease', r.token)`,
    'find_ended_claims',
  );
}

/** Moves the ends of leases that have not ended. Returns them, with the new end. */
export function extend(
  tx: Tx,
  { account, endpoint }: Place,
  leases: readonly Lease[],
  seconds: number,
): Promise<(Lease & { readonly expires_at: Timestamp })[]> {
  return rows(
    tx,
    sql`with held as materialized (
          select * from (
            select q.event_id, q.lease_token, now() + ${seconds}::int * interval '1 second' as lease_end
            from unnest(${leases.map(({ event }) => event)}::uuid[], ${leases.map(({ token }) => token)}::uuid[]) as r (event, token)
            join queue q on q.event_id = r.event and q.endpoint_id = ${endpoint}
            where q.account_id = ${account} and q.lease_token = r.token and q.claim is not null and q.due_at > now()
            order by q.event_id for update of q) h),
        extended as (
          update queue q set due_at = h.lease_end from held h
          where q.event_id = h.event_id and q.endpoint_id = ${endpoint}
          returning q.event_id as event, h.lease_token as token, h.lease_end)
        select event, token, iso(lease_end) as expires_at from extended`,
    'extend_claims',
  );
}

/** Replaces the token (SHA-256) of a pull endpoint. Returns when the previous one ends; null = there is none, or it has ended. */
export async function replaceToken(
  tx: Tx,
  { account, endpoint }: Place,
  { hash, overlapSeconds }: { hash: Buffer; overlapSeconds: number },
): Promise<Timestamp | null> {
  const keeps = sql`token_hash is not null and ${overlapSeconds}::int > 0`;
  const { until } = await oneRow<{ until: Timestamp | null }>(
    tx,
    sql`with replaced as (
          update webhook_endpoints
          set token_hash = ${hash}, previous_token_hash = case when ${keeps} then token_hash end,
              previous_token_until = case when ${keeps} then at.overlap_end end, updated_at = at.now
          from (select now_ms() as now, now_ms() + ${overlapSeconds}::int * interval '1 second' as overlap_end) at
          where account_id = ${account} and id = ${endpoint} returning previous_token_until)
        select iso(previous_token_until) as until from replaced`,
  );
  return until;
}

/** The live pull endpoint whose token has this hash, or null. */
export const endpointByToken = finderByHash<Place & { readonly hash: Buffer }>((db, hashes) =>
  rows(
    db,
    sql`select token_hash as hash, account_id as account, id as endpoint from webhook_endpoints
        where token_hash = any(${hashes}::bytea[])
        union all
        select previous_token_hash, account_id, id from webhook_endpoints
        where previous_token_hash = any(${hashes}::bytea[]) and previous_token_until > now()`,
    'endpoints_by_token',
  ),
);
