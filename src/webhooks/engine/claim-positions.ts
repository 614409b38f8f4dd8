import sql, { raw, type Sql } from 'sql-template-tag';
import { entriesRead, MANY_ENTRIES, notBefore, positionAfter } from '../../outbox/positions.ts';

/* The parts of a claim's statements that begin at positions (outbox/positions.ts) and find the current ones. */

/** The lease of a worker of the previous version, which does not store its duration. */
const SHORTEST_LEASE_MS = 2000;

/** After every endpoint. */
const END = raw(`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`);

/** The columns of an endpoint's position that a claim passes on. */
export const placeColumns = raw('generation int, due_from timestamptz, leased_from timestamptz');

/**
 * The endpoint `q` after endpoint `v`: the next one with rows, or the next one in `known`, whose rows are not searched
 * here.
 */
export const nextEndpoint = sql`left join lateral (
            select * from known k where (k.account_id, k.endpoint_id) > (v.account_id, v.endpoint_id)
            order by k.account_id, k.endpoint_id limit 1) k on true
          cross join lateral (
            select *, ${entriesRead} as read from (
              (select account_id, endpoint_id, null::int as generation, null::timestamptz as due_from,
                      null::timestamptz as leased_from from queue
               where (account_id, endpoint_id) > (v.account_id, v.endpoint_id)
                 and (account_id, endpoint_id) < (coalesce(k.account_id, ${END}), coalesce(k.endpoint_id, ${END}))
               order by account_id, endpoint_id limit 1)
              union all
              select k.account_id, k.endpoint_id, k.generation, k.due_from, k.leased_from where k.account_id is not null) each_next
            limit 1) q`;

/** CTEs over `visited`: the number of index entries read on the way to each endpoint, and after the last one. */
export const readEntries = sql`ended as materialized (
          select account_id, endpoint_id, ${entriesRead} - read as walked from visited order by place desc limit 1),
        gap as (
          select lag(account_id) over (order by place) as after_account, lag(endpoint_id) over (order by place) as after_endpoint,
                 account_id as to_account, endpoint_id as to_endpoint, walked from visited
          union all
          select account_id, endpoint_id, ${END}, ${END}, walked from ended)`;

/** Columns: the gaps with many entries, and the current positions of visited endpoints. */
export const foundPositions = sql`(
                 select json_agg(row_to_json(gap)) from gap where walked >= ${MANY_ENTRIES}::int) as gaps,
               (select json_agg(row_to_json(position)) from (
                  select v.account_id, v.endpoint_id, ${positionAfter(sql`first`, sql`e.resumptions`)}
                  from visited v
                  join webhook_endpoints e on e.account_id = v.account_id and e.id = v.endpoint_id
                  left join lateral (
                    select d.generation, d.due_at from queue d
                    where d.account_id = v.account_id and d.endpoint_id = v.endpoint_id and ${notBefore(sql`d`, sql`v`)}
                      -- a position is never later; after it come entries of settled leases
                      and (d.generation, d.due_at) <= (e.resumptions, now())
                    order by d.generation, d.due_at limit 1) first on true
                  where v.generation is not null and (select walked from ended) is not null) position) as positions`;

/**
 * Whether `o` is an attempt of endpoint `e` in flight at time `c`, at any worker. None ends before `from`, if that is not
 * null.
 */
export const isUnderWay = (
  from: Sql,
) => sql`o.account_id = e.account_id and o.endpoint_id = e.id and o.generation = e.resumptions
    and o.due_at > c.now and o.due_at >= coalesce(${from}, c.now) and o.due_at <= c.lease_end and o.lease_token is not null`;

/** The number of these. */
export const underWay = (from: Sql) => sql`(select count(*) from queue o where ${isUnderWay(from)})`;

/**
 * The endpoints of `locked` with a position, and when their first lease ends: not before the end of the shortest lease
 * that any worker begins now. They are locked, so no other lease of theirs begins.
 */
export const leasePositions = (locked: Sql) => sql`
  select f.endpoint_id, least(first.due_at, c.now + (
           select min(coalesce(lease_ms, ${SHORTEST_LEASE_MS}::int)) from workers) * interval '1 millisecond') as leased_from
  from ${locked} f join webhook_endpoints e on e.account_id = f.account_id and e.id = f.endpoint_id
  cross join clock c
  left join lateral (
    select o.due_at from queue o where ${isUnderWay(sql`f.leased_from`)} order by o.due_at limit 1) first on true
  where f.generation is not null`;
