import sql, { type Sql } from 'sql-template-tag';
import { isRendered, renderedFor } from '../../db/api-versions.ts';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import { type AccountId, type EndpointId, nil } from '../../kernel/ids.ts';
import { unwanted } from '../../outbox/cutoffs.ts';
import { type Leased, type LeasedRow, leasedOf } from '../../outbox/hand-over.ts';
import {
  entriesRead,
  knownPositions,
  type LeasePosition,
  NO_POSITIONS,
  notBefore,
  type Position,
} from '../../outbox/positions.ts';
import {
  foundPositions,
  leasePositions,
  nextEndpoint,
  placeColumns,
  readEntries,
  underWay,
} from './claim-positions.ts';

export interface Claim {
  readonly token: string;
  readonly deliveries: readonly Leased[];
  /** Milliseconds since 1970 by the database's clock. */
  readonly now: number;
  /** Where the next claim continues; null = this one reached the end. */
  readonly next: Cursor | null;
  /** Milliseconds until an endpoint with waiting work may be tried; null = none. */
  readonly waitMs: number | null;
  /** An endpoint may have more due deliveries: its lane is full, or another worker had locked it. */
  readonly isCrowded: boolean;
  /** Endpoints with due deliveries that take several events in one request, as JSON that is passed on unparsed. */
  readonly batching: string | null;
  /** The current positions of known endpoints. */
  readonly positions: readonly Position[];
  readonly leasePositions: readonly LeasePosition[];
  /** Where very many entries without a row were read, for `findPositions`; null = nowhere. */
  readonly gaps: string | null;
}

/** An endpoint (account and UUID). Claims take endpoints in turn, so that none waits for the others. */
export interface Cursor {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
}

interface Round {
  now: bigint;
  /** Milliseconds until a waiting endpoint may start again. */
  wait_ms: number | null;
  /** The last visited endpoint … */
  account_id: AccountId;
  endpoint_id: EndpointId;
  /** … and whether more endpoints with work follow it. */
  goes_on: boolean;
  /** The locked endpoints as JSON, passed back unparsed; null = none. */
  free: string | null;
  free_count: number;
  is_crowded: boolean;
  batching: string | null;
  positions: string | null;
  gaps: string | null;
}

/** A delivery leased by a claim: `leasedColumns`. */
export interface ClaimedRow extends LeasedRow {
  payload: string;
  traceparent: string | null;
  tracestate: string | null;
  trigger: Leased['trigger'];
  step: number;
  /** The lease of an earlier attempt that was never settled. */
  lost: string | null;
}

interface Row extends ClaimedRow {
  token: string;
  now: bigint;
  wait_ms: number | null;
  lease_positions: string | null;
}

const START: Cursor = {
  account: nil(),
  endpoint: nil(),
};
const ENDPOINTS_AT_ONCE = 500;
/** If more endpoints have work, a claim takes several rows from each, and the next claim continues with the others. */
const ENDPOINTS_A_CLAIM = 32;

/**
 * Leases due deliveries to the worker with that number, at most `slots`. Visits the endpoints that have work, starting at
 * the cursor, locks those that may start and that no other worker is claiming from, and takes as many rows from each as
 * its lane and its rate limit allow across all workers. Never reads the whole backlog of an endpoint.
 *
 * Uses two statements: the deliveries that other workers have in flight must be counted in a snapshot taken after the
 * endpoints are locked, or a claim that committed just before would be missed.
 *
 * A row with an expired lease has an attempt without a result, which the worker first logs as `lost`.
 */
export async function claim(
  tx: Tx,
  {
    worker,
    slots,
    leaseMs,
    from,
    positions = NO_POSITIONS,
  }: { worker: number; slots: number; leaseMs: number; from: Cursor | null; positions?: string },
): Promise<Claim> {
  const rowsEach = Math.ceil(slots / ENDPOINTS_A_CLAIM);
  const round = await lockEndpoints(tx, { cursor: from ?? START, slots, rowsEach, leaseMs, positions });
  // no endpoint takes the slots of all other endpoints with work
  const share = Math.max(rowsEach, Math.ceil(slots / round.free_count));
  const taken = round.free === null ? [] : await takeRows(tx, round.free, { worker, slots, share, leaseMs });
  const waits = [round.wait_ms, taken[0]?.wait_ms ?? null].filter((wait) => wait !== null);
  return {
    token: taken[0]?.token ?? '',
    now: Number(taken[0]?.now ?? round.now),
    waitMs: waits.length === 0 ? null : Math.min(...waits),
    next: nextCursor(round, taken, { slots, share }),
    isCrowded: round.is_crowded,
    batching: round.batching,
    positions: JSON.parse(round.positions ?? '[]'),
    leasePositions: JSON.parse(taken[0]?.lease_positions ?? '[]'),
    gaps: round.gaps,
    deliveries: taken.map(claimed),
  };
}

/** Converts a claimed row for an attempt. */
export const claimed = ({ traceparent, tracestate, ...row }: ClaimedRow): Leased =>
  leasedOf(row, {
    ...row,
    trace: traceparent === null ? null : { parent: traceparent, state: tracestate },
  });

function nextCursor(
  round: Round,
  taken: readonly Row[],
  { slots, share }: { slots: number; share: number },
): Cursor | null {
  const last = taken.at(-1);
  if (last && taken.length >= slots) return { account: last.account_id, endpoint: last.endpoint_id };
  // slots are left: continue with the endpoints that follow, so that none waits for the backlog of these
  if (round.goes_on) return { account: round.account_id, endpoint: round.endpoint_id };
  const counts = new Map<string, number>();
  for (const { endpoint_id, lane } of taken) {
    const count = (counts.get(endpoint_id) ?? 0) + 1;
    if (count >= share && lane > share) return START; // endpoints that took their share may have more: visit all of them again
    counts.set(endpoint_id, count);
  }
  return null;
}

/**
 * Locks the endpoints after the cursor that have due deliveries and may start, until the transaction ends: as many as
 * fill the slots with that number of rows each. Skips endpoints whose lane is full; the end of one of their attempts
 * wakes the worker. Endpoints with batches are only listed, for `claimBatches`.
 */
function lockEndpoints(
  tx: Tx,
  {
    cursor,
    slots,
    rowsEach,
    leaseMs,
    positions,
  }: { cursor: Cursor; slots: number; rowsEach: number; leaseMs: number; positions: string },
): Promise<Round> {
  return oneRow<Round>(
    tx,
    sql`with recursive
        clock as materialized (
          select now, now + ${leaseMs}::int * interval '1 millisecond' as lease_end
          from (select clock_timestamp() as now) at),
        known as materialized (${knownPositions(positions, sql`(select now from clock)`)}),
        visited (account_id, endpoint_id, place, may_start_at, found, is_crowded, is_batching, generation, due_from, leased_from,
          walked, read) as (
          select ${cursor.account}::uuid, ${cursor.endpoint}::uuid, 0, null::timestamptz, 0, false, false, null::int,
                 null::timestamptz, null::timestamptz, 0::int8, ${entriesRead}
          union all
          select q.account_id, q.endpoint_id, v.place + 1, w.may_start_at,
                 v.found + case when w.may_start_at <= c.now then w.due else 0 end, w.is_crowded, w.is_batching,
                 q.generation, q.due_from, q.leased_from, q.read - v.read, ${entriesRead}
          from visited v
          cross join clock c
          ${nextEndpoint}
          left join lateral (
            select case when d.due > 0 and not r.is_batching then s.may_start_at end as may_start_at, d.due,
                   all_due.count >= r.room and not r.is_batching as is_crowded, d.due > 0 and r.is_batching as is_batching
            from (select * from webhook_endpoints
                  where account_id = q.account_id and id = q.endpoint_id limit 1) e
            cross join (select * from endpoint_state
                        where account_id = q.account_id and endpoint_id = q.endpoint_id limit 1) s
            cross join lateral (
              select count(*)::int as count from (
                select from queue d
                where d.account_id = q.account_id and d.endpoint_id = q.endpoint_id
                  and ${notBefore(sql`d`, sql`q`)} and (d.generation, d.due_at) <= (e.resumptions, c.now)
                  and (d.lease_token is null or d.due_at <= c.now)
                order by d.generation, d.due_at
                limit case when e.batch_events is null then ${rowsEach}::int else 1 end) due_rows) all_due
            cross join lateral (
              select case when e.batch_events is not null or all_due.count = 0 then 1
                          else greatest(0, least(${rowsEach}::int, s.lane - ${underWay(sql`q.leased_from`)})) end as room,
                     e.batch_events is not null as is_batching
              -- counted once, and only for endpoints with due deliveries
              offset 0) r
            cross join lateral (select least(all_due.count, r.room)::int as due) d
            where e.disabled_at is null and e.deleted_at is null and not e.pull) w on true
          where v.place < ${ENDPOINTS_AT_ONCE}::int and v.found < ${slots}::int),
        free as materialized (
          select v.place, v.account_id, v.endpoint_id, v.generation, v.due_from, v.leased_from
          from visited v join endpoint_state s on s.account_id = v.account_id and s.endpoint_id = v.endpoint_id
          where v.may_start_at is not null and s.may_start_at <= (select now from clock) order by v.place
          for no key update of s skip locked),
        ${readEntries}
        select (extract(epoch from c.now) * 1000)::int8 as now, ${foundPositions},
               (select ${milliseconds(sql`min(may_start_at) - c.now`)}
                from visited where may_start_at > c.now) as wait_ms,
               l.account_id, l.endpoint_id, l.place = ${ENDPOINTS_AT_ONCE}::int or l.found >= ${slots}::int as goes_on,
               (select json_agg(row_to_json(free)) from free) as free, (select count(*)::int from free) as free_count,
               (select json_agg(json_build_object('account_id', account_id, 'endpoint_id', endpoint_id, 'generation', generation,
                         'due_from', due_from, 'leased_from', leased_from))
                from visited where is_batching) as batching,
               (select coalesce(bool_or(is_crowded), false)
                  or count(*) filter (where may_start_at <= c.now) > (select count(*) from free) from visited) as is_crowded
        from clock c
        cross join lateral (
          select account_id, endpoint_id, place, found from visited order by place desc limit 1) l`,
    'claim_endpoints',
  );
}

/**
 * A span in milliseconds, never negative; null = none, which `least` and `greatest` would turn into 0. After a clock
 * jump, spans may exceed 24 days, the range of int4.
 */
export const milliseconds = (span: Sql) =>
  sql`case when ${span} is not null then least(greatest(0, ceil(extract(epoch from ${span}) * 1000)), 2147483647)::int end`;

/** The columns read of a queue row `q`, its endpoint `e` and the endpoint's state `s`, at the time of clock `c`. */
export const pickedColumns = sql`s.lane, s.failures, s.last_success_at, e.account_id, e.id, e.resumptions, e.rate_limit, e.url,
                 e.local_url, e.local_machine, e.public_only, e.signing, e.secret, e.previous_signing, e.previous_secret,
                 e.previous_secret_until, e.header_names, e.header_values, e.egress_sealed, e.payload_form, e.api_version, q.event_id, q.trigger, q.ordering_key,
                 q.lease_token as lost, ${unwanted(sql`q`, sql`c.now`)} as unwanted,
                 case when q.generation = e.resumptions then q.step else 0 end as step`;

/** A `ClaimedRow` of the picked row `p`, with `payloadJoin`. */
export const leasedColumns = (
  now: Sql,
) => sql`p.account_id, p.id as endpoint_id, p.event_id, p.payload_form, p.api_version,
               case when ${isRendered(sql`p`)} then ${renderedFor(sql`p`, sql`v.payload`)} else v.payload end as payload,
               v.traceparent, v.tracestate, p.trigger, p.ordering_key,
               p.step, p.lost, p.unwanted, p.url, case when p.local_url = p.url then p.local_machine end as local_machine,
               p.public_only, p.signing, p.secret, p.previous_signing,
               case when p.previous_secret_until > ${now} then p.previous_secret end as previous_secret,
               p.header_names, p.header_values, p.egress_sealed, p.lane, p.failures,
               coalesce(p.last_success_at < ${now} - interval '1 minute', true) as success_is_old`;
export const payloadJoin = sql`left join lateral (
          select payload, traceparent, tracestate from events where account_id = p.account_id and id = p.event_id) v on true`;

/** Leases due deliveries of the locked endpoints, in order. */
function takeRows(
  tx: Tx,
  free: string,
  { worker, slots, share, leaseMs }: { worker: number; slots: number; share: number; leaseMs: number },
): Promise<Row[]> {
  return rows<Row>(
    tx,
    sql`with
        clock as materialized (
          select now, now + ${leaseMs}::int * interval '1 millisecond' as lease_end,
                 lease_token(${worker}::int) as token
          from (select clock_timestamp() as now) at),
        free as materialized (
          select * from json_to_recordset(${free}::json) as f (place int, account_id uuid, endpoint_id uuid, ${placeColumns})),
        picked as materialized (
          select f.place, ${pickedColumns}
          from clock c
          cross join free f
          join endpoint_state s on s.account_id = f.account_id and s.endpoint_id = f.endpoint_id
          cross join lateral (
            select * from webhook_endpoints where account_id = f.account_id and id = f.endpoint_id limit 1) e
          cross join lateral (
            select q.event_id, q.trigger, q.ordering_key, q.step, q.generation, q.lease_token from queue q
            where q.account_id = f.account_id and q.endpoint_id = f.endpoint_id
              and ${notBefore(sql`q`, sql`f`)} and (q.generation, q.due_at) <= (e.resumptions, c.now)
              and (q.lease_token is null or q.due_at <= c.now)
            order by q.generation, q.due_at
            limit greatest(0, least(${share}::int, s.lane - ${underWay(sql`f.leased_from`)},
              case when e.rate_limit is null then s.lane else greatest(1, e.rate_limit / 10) end))
            for update skip locked) q
          where e.disabled_at is null and e.deleted_at is null and not e.pull
          order by f.place limit ${slots}::int),
        leased as (
          update queue q set due_at = c.lease_end, lease_token = c.token, generation = p.resumptions, step = p.step
          from clock c cross join picked p
          where q.event_id = p.event_id and q.endpoint_id = p.id),
        limited as (
          update endpoint_state s
          set may_start_at = add_span(greatest(s.may_start_at, c.now), started.count * (interval '1 second' / started.rate_limit))
          from clock c cross join (
            select account_id, id, rate_limit, count(*) from picked where rate_limit is not null
            group by account_id, id, rate_limit) started
          where s.account_id = started.account_id and s.endpoint_id = started.id
          returning s.may_start_at),
        moment as materialized (
          select now, token, (extract(epoch from now) * 1000)::int8 as now_ms,
                 (select ${milliseconds(sql`min(may_start_at) - c.now`)} from limited) as wait_ms,
                 (select json_agg(row_to_json(position)) from (${leasePositions(sql`free`)}) position) as lease_positions
          from clock c)
        select m.token, m.now_ms as now, m.wait_ms, m.lease_positions, ${leasedColumns(sql`m.now`)}
        from moment m cross join picked p
        ${payloadJoin}
        order by p.place`,
    'claim',
  );
}
