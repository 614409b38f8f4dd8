import sql from 'sql-template-tag';
import { isRendered, renderedFor } from '../../db/api-versions.ts';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../../kernel/ids.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { notBefore } from '../../outbox/positions.ts';
import type { Several } from './attempt.ts';
import {
  type ClaimedRow,
  claimed,
  leasedColumns,
  milliseconds,
  payloadJoin,
  pickedColumns,
} from './claim.ts';
import { isUnderWay, placeColumns } from './claim-positions.ts';
import { type Candidate, pack } from './packing.ts';

/** Deliveries of one endpoint for one request. */
export interface LeasedBatch {
  /** The token of exactly these deliveries' leases. */
  readonly token: string;
  readonly deliveries: Several;
}

export interface BatchClaim {
  readonly batches: readonly LeasedBatch[];
  /** Milliseconds until a delivery has waited long enough for its batch, or an endpoint may be tried; null = none. */
  readonly waitMs: number | null;
  /** An endpoint may have more to send: its lane is full, or another worker had locked it. */
  readonly isCrowded: boolean;
}

export interface BatchClaimOptions {
  readonly worker: number;
  /** The number of requests this process can begin. */
  readonly slots: number;
  /** The number of body bytes it has room for; the last request may exceed it. */
  readonly bytes: number;
  readonly leaseMs: number;
}

interface Locked {
  /** The locked endpoints as JSON, passed back unparsed; null = none. */
  free: string | null;
  wait_ms: number | null;
  is_crowded: boolean;
  /** There are more endpoints than one claim reads. */
  is_part: boolean;
}

interface DueRow {
  account_id: AccountId;
  endpoint_id: EndpointId;
  max_events: number;
  max_bytes: number;
  max_wait_ms: number;
  room: number;
  event_id: EventId | null;
  bytes: number;
  age_ms: number;
  is_alone: boolean;
}

interface Due extends Candidate {
  readonly endpoint: EndpointId;
  readonly event: EventId;
}

const ENDPOINTS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 2000;
/** When the other endpoints are read. */
const SOON_MS = 20;

/**
 * Leases due deliveries of endpoints that take several events in one request. `endpoints` comes from a claim. Each
 * request has its own lease token, so counting tokens counts requests. As in a claim, a snapshot taken after the
 * endpoints are locked counts what other workers have in flight. A delivery that failed in a batch is retried alone, so
 * one that the receiver cannot process does not hold up others.
 */
export async function claimBatches(
  tx: Tx,
  endpoints: string,
  options: BatchClaimOptions,
): Promise<BatchClaim> {
  const locked = await lockEndpoints(tx, endpoints);
  const waits = [locked.wait_ms, locked.is_part ? SOON_MS : null].filter((wait) => wait !== null);
  const due = locked.free === null ? [] : groupByEndpoint(await readDue(tx, locked.free, options));
  const chosen: (readonly Due[])[] = [];
  let isCrowded = locked.is_crowded;
  let bytes = 0;
  const share = Math.max(1, Math.ceil(options.slots / Math.max(1, due.length)));
  for (const { limits, candidates } of due) {
    const packed = pack(candidates, limits);
    if (packed.waitMs !== null) waits.push(Math.max(1, Math.ceil(packed.waitMs)));
    // no endpoint takes the slots of all others
    const fitting = packed.requests.slice(0, Math.min(share, options.slots - chosen.length));
    const taken: (readonly Due[])[] = [];
    for (const request of fitting) {
      if (bytes >= options.bytes) break;
      bytes += request.reduce((sum, one) => sum + one.bytes, 0);
      taken.push(request);
    }
    chosen.push(...taken);
    isCrowded ||= packed.isFull || taken.length < packed.requests.length;
    // unread deliveries would still fit
    if (!isCrowded && candidates.length >= EVENTS_AT_ONCE) waits.push(SOON_MS);
  }
  const batches = chosen.length === 0 ? { batches: [], waitMs: null } : await lease(tx, chosen, options);
  if (batches.waitMs !== null) waits.push(batches.waitMs);
  return { batches: batches.batches, waitMs: waits.length === 0 ? null : Math.min(...waits), isCrowded };
}

/**
 * Locks some of these endpoints that may start, until the transaction ends. They are chosen at random, so that none waits
 * for the backlog of the others.
 */
function lockEndpoints(tx: Tx, endpoints: string): Promise<Locked> {
  return oneRow<Locked>(
    tx,
    sql`with clock as materialized (select clock_timestamp() as now),
        requested as materialized (
          select s.account_id, s.endpoint_id, s.may_start_at, f.generation, f.due_from, f.leased_from
          from json_to_recordset(${endpoints}::json) as f (account_id uuid, endpoint_id uuid, ${placeColumns})
          join webhook_endpoints e on e.account_id = f.account_id and e.id = f.endpoint_id
          join endpoint_state s on s.account_id = f.account_id and s.endpoint_id = f.endpoint_id
          where e.batch_events is not null and e.disabled_at is null and e.deleted_at is null
          order by random() limit ${ENDPOINTS_AT_ONCE}::int),
        free as materialized (
          select s.account_id, s.endpoint_id, a.generation, a.due_from, a.leased_from
          from requested a join endpoint_state s on s.account_id = a.account_id and s.endpoint_id = a.endpoint_id
          where s.may_start_at <= (select now from clock)
          for no key update of s skip locked)
        select (select json_agg(row_to_json(free)) from free) as free,
               (select ${milliseconds(sql`min(may_start_at) - c.now`)} from requested where may_start_at > c.now) as wait_ms,
               (select count(*) from requested where may_start_at <= c.now) > (select count(*) from free)
                 as is_crowded,
               json_array_length(${endpoints}::json) > ${ENDPOINTS_AT_ONCE}::int as is_part
        from clock c`,
    'lock_batching',
  );
}

/** The due deliveries of the locked endpoints in sending order, at most as many as may start. */
function readDue(tx: Tx, free: string, { leaseMs }: BatchClaimOptions): Promise<DueRow[]> {
  return rows<DueRow>(
    tx,
    sql`with clock as materialized (
          select now, now + ${leaseMs}::int * interval '1 millisecond' as lease_end
          from (select clock_timestamp() as now) at)
        select e.account_id, e.id as endpoint_id, e.batch_events as max_events, e.batch_bytes as max_bytes,
               e.batch_wait_ms as max_wait_ms, r.room, q.event_id, q.is_alone,
               -- deliveries that were leased or held before have waited long enough
               case when q.has_waited then 2147483647 else extract(epoch from c.now - q.due_at) * 1000 end::float8 as age_ms,
               octet_length(case when ${isRendered(sql`e`)} then ${renderedFor(sql`e`, sql`v.payload`)} else v.payload end) as bytes
        from clock c
        cross join json_to_recordset(${free}::json) as f (account_id uuid, endpoint_id uuid, ${placeColumns})
        join endpoint_state s on s.account_id = f.account_id and s.endpoint_id = f.endpoint_id
        cross join lateral (
          select * from webhook_endpoints where account_id = f.account_id and id = f.endpoint_id limit 1) e
        cross join lateral (
          select greatest(0, least(
            s.lane - (
              select count(distinct o.lease_token) from queue o where ${isUnderWay(sql`f.leased_from`)}),
            case when e.rate_limit is null then s.lane else greatest(1, e.rate_limit / 10) end))::int as room
          -- counted once, not per delivery
          offset 0) r
        left join lateral (
          select q.event_id, q.due_at, q.generation < e.resumptions or q.lease_token is not null as has_waited,
                 q.alone or q.trigger = 'manual' or (q.generation = e.resumptions and q.step > 0) as is_alone
          from queue q
          where q.account_id = e.account_id and q.endpoint_id = e.id
            and ${notBefore(sql`q`, sql`f`)} and (q.generation, q.due_at) <= (e.resumptions, c.now)
            and (q.lease_token is null or q.due_at <= c.now)
          order by q.generation, q.due_at
          limit least(r.room * e.batch_events, ${EVENTS_AT_ONCE}::int)) q on true
        left join lateral (
          select payload from events where account_id = e.account_id and id = q.event_id) v on true
        where e.batch_events is not null and e.disabled_at is null and e.deleted_at is null
        order by e.id, q.due_at, q.event_id`,
    'read_batching',
  );
}

function groupByEndpoint(due: readonly DueRow[]) {
  const groups = new Map<
    EndpointId,
    {
      limits: { maxEvents: number; maxBytes: number; maxWaitMs: number; requests: number };
      candidates: Due[];
    }
  >();
  for (const row of due) {
    const { max_events: maxEvents, max_bytes: maxBytes, max_wait_ms: maxWaitMs, room: requests } = row;
    const group = groups.get(row.endpoint_id) ?? {
      limits: { maxEvents, maxBytes, maxWaitMs, requests },
      candidates: [],
    };
    groups.set(row.endpoint_id, group);
    const { event_id: event, bytes, age_ms: ageMs, is_alone: isAlone } = row;
    if (event !== null) group.candidates.push({ endpoint: row.endpoint_id, event, bytes, ageMs, isAlone });
  }
  return [...groups.values()];
}

interface LeasedRowOfBatch extends ClaimedRow {
  token: string;
  wait_ms: number | null;
}

/** Leases the deliveries of each request. Those that another transaction changed meanwhile are skipped. */
async function lease(
  tx: Tx,
  requests: readonly (readonly Due[])[],
  { worker, leaseMs }: BatchClaimOptions,
): Promise<{ batches: LeasedBatch[]; waitMs: number | null }> {
  const wanted = requests.flatMap((request, place) =>
    request.map(({ endpoint, event }) => ({ place, endpoint_id: endpoint, event_id: event })),
  );
  const taken = await rows<LeasedRowOfBatch>(
    tx,
    sql`with
        clock as materialized (
          select now, now + ${leaseMs}::int * interval '1 millisecond' as lease_end
          from (select clock_timestamp() as now) at),
        request as materialized (
          select place, lease_token(${worker}::int) as token from generate_series(0, ${requests.length - 1}::int) as place),
        picked as materialized (
          select f.place, r.token, ${pickedColumns}
          from clock c
          cross join json_to_recordset(${JSON.stringify(wanted)}::json) as f (place int, endpoint_id uuid, event_id uuid)
          join request r on r.place = f.place
          join queue q on q.event_id = f.event_id and q.endpoint_id = f.endpoint_id
          join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id
          join endpoint_state s on s.account_id = q.account_id and s.endpoint_id = q.endpoint_id
          where e.disabled_at is null and e.deleted_at is null
            and (q.generation, q.due_at) <= (e.resumptions, c.now)
            and (q.lease_token is null or q.due_at <= c.now)
          order by q.event_id, q.endpoint_id
          for update of q skip locked),
        leased as (
          update queue q set due_at = c.lease_end, lease_token = p.token, generation = p.resumptions, step = p.step
          from clock c cross join picked p
          where q.event_id = p.event_id and q.endpoint_id = p.id),
        limited as (
          update endpoint_state s
          set may_start_at = add_span(greatest(s.may_start_at, c.now), started.count * (interval '1 second' / started.rate_limit))
          from clock c cross join (
            select account_id, id, rate_limit, count(distinct place) from picked where rate_limit is not null
            group by account_id, id, rate_limit) started
          where s.account_id = started.account_id and s.endpoint_id = started.id
          returning s.may_start_at)
        select p.token, (select ${milliseconds(sql`min(may_start_at) - c.now`)} from limited) as wait_ms,
               ${leasedColumns(sql`c.now`)}
        from clock c cross join picked p
        ${payloadJoin}
        order by p.place, p.event_id`,
    'lease_batches',
  );
  const batches = new Map<string, [Leased, ...Leased[]]>();
  for (const row of taken) {
    const batch = batches.get(row.token);
    if (batch) batch.push(claimed(row));
    else batches.set(row.token, [claimed(row)]);
  }
  return {
    batches: [...batches].map(([token, deliveries]) => ({ token, deliveries })),
    waitMs: taken[0]?.wait_ms ?? null,
  };
}
