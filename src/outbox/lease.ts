import sql, { type Sql } from 'sql-template-tag';
import { isRendered, renderedFor } from '../db/api-versions.ts';
import type { Offer } from './hand-over.ts';
import type { Ordering } from './order.ts';
import { knownPositions, notBefore } from './positions.ts';

/** The parts of the publishing statement that lease deliveries at once. */
interface Leasing {
  /** CTEs over `wanted`, each followed by a comma. */
  readonly ctes: Sql;
  /** Rows for the queue. */
  readonly queued: Sql;
  /** The number of deliveries left to claim. */
  readonly left: Sql;
  /** Columns after those of the event, and their `from`. */
  readonly returned: Sql;
}

/** Every delivery waits for a claim. */
export const noLeases = (order: Ordering): Leasing => ({
  ctes: sql``,
  queued: sql`
    select account_id, endpoint_id, event_id, resumptions, now(), null${order.queued} from wanted`,
  left: sql`(select count(*)::int from wanted${order.inFront})`,
  returned: sql`from event`,
});

/**
 * Leases deliveries to a worker of this process if its offer and the lane have room. The only worker of the database knows
 * everything in flight, and leases nothing else meanwhile. One of several also locks the lane, counts what all of them have
 * in flight, and leaves an endpoint to the claim while another has locked it. Rate limits, pauses, batches and rows that
 * are already due are left to the claim, which is fair.
 */
export function leasing(
  { worker, leaseMs, isShared, slots, underWay, reserved, positions }: Offer,
  order: Ordering,
): Leasing {
  const isRegistered = isShared
    ? sql`exists (select from workers where number = ${worker}::int)`
    : sql`(select count(*) = 1 and bool_and(number = ${worker}::int) from workers)`;
  const lanes = isShared
    ? sql`
        open as materialized (
          select o.*, least(o.own_room, l.room) as room, l.locked_at + ${leaseMs}::int * interval '1 millisecond' as lease_end
          from unlocked o
          cross join lateral lock_lane(o.account_id, o.id, o.resumptions, o.leased_from, ${leaseMs}::int) l
          where o.own_room > 0),`
    : sql`
        open as materialized (
          select *, own_room as room, now + ${leaseMs}::int * interval '1 millisecond' as lease_end from unlocked),`;
  return {
    ctes: sql`
        moment as materialized (
          select now, lease_token(${worker}::int) as token from (select clock_timestamp() as now) at where ${isRegistered}),
        known as materialized (${knownPositions(positions, sql`(select now from moment)`)}),
        unlocked as materialized (
          select m.token, m.now, e.*, s.lane, s.failures, s.last_success_at, k.leased_from,
                 s.lane - coalesce(u.count, 0) - ${reserved}::int as own_room
          from moment m
          cross join (select distinct account_id, endpoint_id from wanted) w
          join webhook_endpoints e on e.account_id = w.account_id and e.id = w.endpoint_id
          join endpoint_state s on s.account_id = w.account_id and s.endpoint_id = w.endpoint_id
          left join unnest(${[...underWay.keys()]}::uuid[], ${[...underWay.values()]}::int[]) as u (id, count) on u.id = e.id
          left join known k on k.account_id = e.account_id and k.endpoint_id = e.id
          -- limit and order force one index lookup: otherwise it may scan everything that waits for its next attempt
          left join lateral (
            select true as is_there from queue q where q.account_id = e.account_id and q.endpoint_id = e.id
              and ${notBefore(sql`q`, sql`k`)} and (q.generation, q.due_at) <= (e.resumptions, m.now)
              and (q.lease_token is null or q.due_at <= m.now)
            order by q.generation, q.due_at limit 1) due on true
          where e.disabled_at is null and not e.pull and e.rate_limit is null and e.batch_events is null and s.may_start_at <= m.now
            and due.is_there is null),${lanes}
        leased as materialized (
          select * from (
            select w.event_id${order.leased}, o.*, row_number() over (partition by o.id order by w.event_id) as place_in_lane
            from open o join wanted w on w.account_id = o.account_id and w.endpoint_id = o.id${order.andInFront}) each_wanted
          where place_in_lane <= room order by event_id limit ${slots}::int),`,
    queued: sql`
          select w.account_id, w.endpoint_id, w.event_id, w.resumptions, coalesce(l.lease_end, now()), l.token${order.queuedOf}
          from wanted w left join leased l on l.event_id = w.event_id and l.id = w.endpoint_id`,
    left: sql`(select count(*)::int from wanted${order.inFront}) - (select count(*)::int from leased)`,
    returned: sql`,
          case when row_number() over (partition by event.id order by l.id) = 1 then payload end as payload, l.payload_form,
          case when ${isRendered(sql`l`)} then ${renderedFor(sql`l`, sql`payload`)} end as body, l.api_version, l.token,
          l.account_id, l.id as endpoint_id, l.event_id, l.url,
          case when l.local_url = l.url then l.local_machine end as local_machine, l.public_only, l.signing,
          l.secret, l.previous_signing,
          case when l.previous_secret_until > l.now then l.previous_secret end as previous_secret,
          l.header_names, l.header_values, l.egress_sealed, l.lane, l.failures,
          coalesce(l.last_success_at < l.now - interval '1 minute', true) as success_is_old${order.returned}
        from event left join leased l on l.event_id = event.id
        order by event.id, l.id`,
  };
}
