import sql, { type Sql } from 'sql-template-tag';

/** More endpoints that have work are not looked at. */
const MOST_AT_WORK = 1000;

/**
 * The recursive CTE `visited` (account_id, endpoint_id, place): endpoints that have rows in the queue, found by its index at
 * the cost of one look each, however many rows there are and however many endpoints have none.
 */
export const visitedEndpoints: Sql = sql`
        visited (account_id, endpoint_id, place) as (
          (select account_id, endpoint_id, 1 from queue order by account_id, endpoint_id limit 1)
          union all
          select q.account_id, q.endpoint_id, v.place + 1
          from visited v cross join lateral (
            select account_id, endpoint_id from queue
            where (account_id, endpoint_id) > (v.account_id, v.endpoint_id)
            order by account_id, endpoint_id limit 1) q
          where v.place < ${MOST_AT_WORK}::int)`;
