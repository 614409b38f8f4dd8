import { BEHIND } from '../../outbox/order.ts';

/* SQL of fields of an endpoint, over `webhook_endpoints e` and its `endpoint_state s`. */

/** Columns to write, with values as PostgreSQL takes them. */
export type Columns = Readonly<Record<string, unknown>>;

/** The name of the scheme in a column. */
export const signingOf = (column: string) => `case when ${column} is null then 'standard'
    when json_typeof(${column}) = 'string' then ${column} #>> '{}' else 'custom' end`;

/** The custom scheme in a column, or null. Schemes that an earlier version stored have no further headers. */
export const customOf = (column: string) => `case when json_typeof(${column}) = 'object' then
  (jsonb_build_object('headers', '{}'::jsonb) || ${column}::jsonb)::json end`;

/** The end of a pause, or null. Less than a second ahead is only the rate limit. */
export const pausedUntil = `case when s.may_start_at > now() + interval '1 second' then s.may_start_at end`;

/** When the first waiting event is due, or null. Rows of an earlier generation are due at once (see queue.generation). */
export const nextAttempt = `(select greatest(least(q.due_at, case when q.generation < e.resumptions then now() end), ${pausedUntil})
  from queue q where q.account_id = e.account_id and q.endpoint_id = e.id and q.lease_token is null and q.generation < ${BEHIND.sql}
  order by q.generation, q.due_at limit 1)`;
