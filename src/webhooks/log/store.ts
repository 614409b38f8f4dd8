import sql from 'sql-template-tag';
import { maybeRow, type Reader, type Tx } from '../../db/connect.ts';
import type { AccountId, EndpointId, EventId } from '../../kernel/ids.ts';
import { isKept } from '../../outbox/queue.ts';

// An endpoint that is disabled holds what waits for it; a deleted one has ended it, though workers write that later.
const isHeld = sql`(e.disabled_at is not null and e.deleted_at is null)`;
const isOver = sql`(d.status = 'pending' and e.deleted_at is not null)`;
export const endpointJoin = sql`join webhook_endpoints e on e.account_id = d.account_id and e.id = d.endpoint_id
  left join endpoint_state s on s.account_id = d.account_id and s.endpoint_id = d.endpoint_id`;
// not before the endpoint may be sent to again
const nextAttempt = sql`greatest(d.next_attempt_at, case when s.may_start_at > now() + interval '1 second' then s.may_start_at end)`;

/** The columns of the record, over `deliveries d` join `webhook_endpoints e`. */
export const record = sql`public_id('evt', d.event_id) as id, 'webhook_event' as object,
  public_id('we', d.endpoint_id) as webhook_endpoint_id, d.type,
  case when ${isOver} then 'failed' when d.status = 'pending' and ${isHeld} then 'held' else d.status end as status,
  d.attempt_count,
  case when e.disabled_at is null and e.deleted_at is null and d.next_attempt_at is not null
    then iso(${nextAttempt}) end as next_attempt_at,
  iso(d.last_attempt_at) as last_attempt_at, d.last_response_status,
  case when ${isOver} then 'endpoint_deleted' else d.last_error_code end as last_error_code,
  iso(d.delivered_at) as delivered_at, iso(id_time(d.event_id)) as created_at`;

/** Whether the account has or had the endpoint (UUID): the log of a deleted one stays readable. */
export async function hadEndpoint(db: Reader, account: AccountId, endpoint: EndpointId): Promise<boolean> {
  const found = await maybeRow(
    db,
    sql`select 1 from webhook_endpoints where account_id = ${account} and id = ${endpoint}`,
  );
  return found !== null;
}

const rowsOf = (account: AccountId, endpoint: EndpointId, event: EventId) =>
  sql`deliveries d ${endpointJoin}
      where d.account_id = ${account} and d.endpoint_id = ${endpoint} and d.event_id = ${event}
        and ${isKept(sql`d.event_id`)}`;

/** One record without its attempts, or null. */
export async function readDelivery(
  db: Reader,
  account: AccountId,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<string | null> {
  const row = await maybeRow<{ json: string }>(
    db,
    sql`select row_to_json(r)::text as json from (select ${record} from ${rowsOf(account, endpoint, event)}) r`,
  );
  return row?.json ?? null;
}

/** One record with its payload and its attempts, or null. */
export function readDeliveryWhole(
  db: Reader,
  account: AccountId,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<{ json: string; type: string } | null> {
  const attempts = sql`
    select coalesce(json_agg(row_to_json(t) order by t.number), '[]') from (
      select a.number, a.trigger, case when a.error_code is null then 'succeeded' else 'failed' end as status, a.url,
             iso(a.started_at) as started_at, a.duration_ms, a.request_headers, a.response_status,
             a.response_headers, a.response_body, a.response_truncated, a.error_code, a.error_message
      from attempts a
      where a.account_id = d.account_id and a.endpoint_id = d.endpoint_id and a.event_id = d.event_id) t`;
  return maybeRow(
    db,
    sql`select row_to_json(r)::text as json, r.type from (
          select ${record},
            (select v.payload::json from events v where v.account_id = d.account_id and v.id = d.event_id) as payload,
            (${attempts}) as attempts
          from ${rowsOf(account, endpoint, event)}) r`,
  );
}

/** What a retry decides by: the type, and whether the endpoint takes deliveries. Its row is locked: disabling waits. */
export function lockDelivery(
  tx: Tx,
  account: AccountId,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<{ type: string; disabled: boolean; deleted: boolean } | null> {
  return maybeRow(
    tx,
    sql`select d.type, e.disabled_at is not null as disabled, e.deleted_at is not null as deleted
        from ${rowsOf(account, endpoint, event)} for share of e`,
  );
}
