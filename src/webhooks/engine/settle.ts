import sql, { type Sql } from 'sql-template-tag';
import { slowClock } from '../../db/clock.ts';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import { codeOfAttempt, noteAttempts } from '../../outbox/counts.ts';
import { unclaimed } from '../../outbox/ending.ts';
import type { Leased } from '../../outbox/hand-over.ts';

/** The result of an attempt, ready to be written. */
export interface Result {
  readonly delivery: Pick<Leased, 'account' | 'endpoint' | 'event'>;
  readonly token: string;
  readonly succeeded: boolean;
  /** Milliseconds to the next scheduled attempt; null = this was the last one, or the receiver answered 410. */
  readonly retryMs: number | null;
  /**
   * It is unknown what the receiver did, and this is our fault. The delivery is due again at once, and the schedule does
   * not count the attempt, unless the previous one was lost too.
   */
  readonly lost: boolean;
  /** It failed, and the receiver gives up the event: a pending delivery is cancelled. */
  readonly cancelled: boolean;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly url: string;
  /** null = unknown. */
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly responseTruncated: boolean;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** A result that was written. */
export interface Settled {
  readonly result: Result;
  /** It was the last scheduled attempt: the delivery has failed. */
  readonly isLast: boolean;
}

/**
 * Writes the results of attempts: the attempts, the log and the queue, in one statement. Only rows that still carry the
 * lease of their attempt are written. Otherwise another worker owns the row, and the result is dropped. Returns the
 * results that were written.
 */
export async function settle(tx: Tx, results: readonly Result[]): Promise<Settled[]> {
  // lets PostgreSQL skip the weeks of the log without them
  const events = results.map(({ delivery }) => delivery.event).sort();
  const isNear = (id: Sql) => sql`${id} between ${events[0]}::uuid and ${events.at(-1)}::uuid`;
  const settled = await rows<{ place: number; is_last: boolean }>(
    tx,
    sql`with result as materialized (
          select * from rows from (json_to_recordset(${JSON.stringify(results.map(recordOf))}::json) as (
            endpoint_id uuid, event_id uuid, token uuid, failed boolean, retry_ms int, lost boolean, cancelled boolean,
            started_at timestamptz(3), duration_ms int, url text, request_headers json, response_status int,
            response_headers json, response_body text, response_truncated boolean, error_code text,
            error_message text)) with ordinality as r),
        owned as materialized (
          select o.*, now_ms() as settled_at, now_ms() + case when o.released then 0 else o.retry_ms end * interval '1 millisecond' as retry_at
          from (
          select r.*, q.account_id, q.trigger, q.step, q.claim, r.cancelled or q.discarded as ended,
                 case when r.lost and not q.discarded then (
                   select nullif(b.last_error_code is distinct from 'lost', false) from deliveries b
                   where b.account_id = q.account_id and b.endpoint_id = q.endpoint_id and b.event_id = q.event_id
                     and ${isNear(sql`b.event_id`)}) end as released,
                 -- for scheduled attempts the log says pending; for others it is looked up, which is safe, because
                 -- holding the lease is holding the row
                 case when q.trigger = 'scheduled' then 'pending' else (
                   select b.status from deliveries b where b.account_id = q.account_id
                     and b.endpoint_id = q.endpoint_id and b.event_id = q.event_id
                     and ${isNear(sql`b.event_id`)}) end as status_before
          from result r
          join queue q on q.event_id = r.event_id and q.endpoint_id = r.endpoint_id
          where q.lease_token = r.token
          order by q.event_id, q.endpoint_id
          for update of q) o),
        logged as (
          update deliveries d
          set attempt_count = d.attempt_count + 1, last_attempt_at = o.started_at,
              last_response_status = o.response_status, last_error_code = o.error_code,
              status = case when o.failed is null then 'delivered'
                            when d.status = 'pending' and o.ended then 'cancelled'
                            when d.status = 'pending' and o.trigger = 'scheduled' and o.retry_at is null then 'failed'
                            else d.status end,
              delivered_at = case when o.failed is null then coalesce(d.delivered_at, o.settled_at) else d.delivered_at end,
              next_attempt_at = case when o.failed is null or o.ended then null
                                     when o.trigger = 'scheduled' then o.retry_at
                                     else d.next_attempt_at end
          from owned o
          where d.account_id = o.account_id and d.endpoint_id = o.endpoint_id and d.event_id = o.event_id
            and ${isNear(sql`d.event_id`)}
          returning o.*, d.attempt_count, d.status, d.next_attempt_at),
        counted as (
          ${noteAttempts(sql`
            select account_id, endpoint_id, event_id, 0 as total,
                   (status = 'delivered')::int - (status_before = 'delivered')::int as delivered,
                   (status = 'failed')::int - (status_before = 'failed')::int as failed,
                   (status = 'cancelled')::int - (status_before = 'cancelled')::int as cancelled,
                   started_at as attempted_at, ${codeOfAttempt} as code
            from logged`)}),
        noted as (
          insert into attempts (account_id, endpoint_id, event_id, number, trigger, url, started_at, duration_ms,
            request_headers, response_status, response_headers, response_body, response_truncated, error_code,
            error_message, claim)
          select account_id, endpoint_id, event_id, attempt_count, trigger, url, started_at, duration_ms,
            request_headers, response_status, response_headers, response_body, response_truncated is not null,
            error_code, error_message, claim
          from logged),
        finished as (
          delete from queue q using logged l
          where q.event_id = l.event_id and q.endpoint_id = l.endpoint_id
            and l.status <> 'pending' and l.released is null),
        continued as (
          update queue q
          set lease_token = null, ${unclaimed}, due_at = case when l.released then l.settled_at else l.next_attempt_at end,
              trigger = case when l.released then l.trigger else 'scheduled' end,
              step = l.step + case when l.trigger = 'scheduled' and l.released is null then 1 else 0 end
          from logged l
          where q.event_id = l.event_id and q.endpoint_id = l.endpoint_id
            and (l.status = 'pending' or l.released))
        select ordinality::int as place, status = 'failed' and status_before = 'pending' as is_last from logged`,
    'settle',
  );
  return settled.map(({ place, is_last }) => ({ result: results[place - 1] as Result, isLast: is_last }));
}

// JSON for the statement. False and null are omitted, because the statement parses it for each attempt.
function recordOf(result: Result): object {
  return {
    endpoint_id: result.delivery.endpoint,
    event_id: result.delivery.event,
    token: result.token,
    failed: result.succeeded ? undefined : true,
    retry_ms: result.retryMs ?? undefined,
    lost: result.lost ? true : undefined,
    cancelled: result.cancelled ? true : undefined,
    started_at: result.startedAt,
    duration_ms: result.durationMs,
    url: result.url,
    request_headers: result.requestHeaders ?? undefined,
    response_status: result.responseStatus ?? undefined,
    response_headers: result.responseHeaders ?? undefined,
    response_body: result.responseBody ?? undefined,
    response_truncated: result.responseTruncated ? true : undefined,
    error_code: result.errorCode ?? undefined,
    error_message: result.errorMessage ?? undefined,
  };
}

/** What attempts showed about an endpoint since the last note. */
export interface EndpointNote {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly succeeded: boolean;
  readonly failures: number;
  /** The change of the lane: it doubles, halves or stays. */
  readonly lane: 'grow' | 'shrink' | 'stay';
  /** Milliseconds to wait before the next attempt; 0 = none. */
  readonly waitMs: number;
}

/** An endpoint to disable because every attempt has failed for too long. */
export interface Hopeless {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
}

export interface Patience {
  /** How long every attempt must have failed … */
  readonly ms: number;
  /** … and the minimum number of failures. */
  readonly failures: number;
}

/** Writes what attempts showed about their endpoints. Returns those to disable. */
export async function noteEndpoints(
  tx: Tx,
  notes: readonly EndpointNote[],
  patience: Patience,
): Promise<Hopeless[]> {
  const records = notes.map(({ account, endpoint, waitMs, ...note }) => ({
    ...note,
    account_id: account,
    endpoint_id: endpoint,
    wait_ms: waitMs,
  }));
  return rows<Hopeless>(
    tx,
    sql`with note as materialized (
          select n.*, now_ms() as noted_at, now() + n.wait_ms * interval '1 millisecond' as waits_until
          from json_to_recordset(${JSON.stringify(records)}::json) as n (
            account_id uuid, endpoint_id uuid, succeeded boolean, failures int, lane text, wait_ms int)
          join endpoint_state s on s.account_id = n.account_id and s.endpoint_id = n.endpoint_id
          order by n.account_id, n.endpoint_id
          for no key update of s),
        changed as (
          update endpoint_state s
          set lane = case when n.lane = 'grow' then least(64, s.lane * 2)
                          when n.lane = 'shrink' then greatest(1, s.lane / 2) else s.lane end,
              may_start_at = case when n.wait_ms > 0 then greatest(s.may_start_at, n.waits_until) else s.may_start_at end,
              failures = case when n.succeeded then 0 else s.failures + n.failures end,
              failing_since = case when n.succeeded then null
                                   when n.failures > 0 then coalesce(s.failing_since, n.noted_at)
                                   else s.failing_since end,
              last_success_at = case when n.succeeded then n.noted_at else s.last_success_at end
          from note n
          where s.account_id = n.account_id and s.endpoint_id = n.endpoint_id
          returning s.*)
        select account_id as account, endpoint_id as endpoint from changed
        where failures >= ${patience.failures}
          -- by the clock that cannot jump, so a jump of the database's clock disables nothing
          and failing_since <= ${slowClock} - ${patience.ms}::int8 * interval '1 millisecond'`,
    'note_endpoints',
  );
}
