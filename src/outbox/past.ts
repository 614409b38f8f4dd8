import sql from 'sql-template-tag';
import { rows, type Tx } from '../db/database.ts';
import { makePartitions } from '../db/partitions.ts';
import type { AccountId, EndpointId, EventId } from '../kernel/ids.ts';
import { formatInstant } from '../kernel/time.ts';
import { noteAttempts } from './counts.ts';

/** An attempt of a past delivery. */
export interface PastAttempt {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly responseStatus: number;
  readonly responseBody: string;
}

/** A delivery of a past event. It waits for another attempt if `nextAttemptAt` is not null. */
export interface PastDelivery {
  readonly endpoint: EndpointId;
  /** The id that the event gets. */
  readonly event: EventId;
  readonly attempts: readonly PastAttempt[];
  /** Milliseconds since 1970. */
  readonly nextAttemptAt: number | null;
}

/** An event that has no deliveries yet, and the id that replaces its own: it contains the time. */
export interface PastEvent {
  readonly id: EventId;
  readonly becomes: EventId;
}

/** What the past deliveries of an endpoint left in its state. Times are in milliseconds since 1970. */
export interface PastState {
  readonly endpoint: EndpointId;
  readonly failingSince: number | null;
  readonly failures: number;
  readonly lastSuccessAt: number | null;
  /** It was disabled at that time, because it answered 410. */
  readonly goneAt: number | null;
}

/** A log of the past, and the state of its endpoints. */
export interface PastLog {
  readonly events: readonly PastEvent[];
  readonly deliveries: readonly PastDelivery[];
  readonly states: readonly PastState[];
}

/**
 * Moves events of an account into the past, and writes their deliveries as publishing and workers would have left them: the
 * log, the attempts, the counts, the queue and the state of the endpoints. Only for example data: the events must have no
 * deliveries.
 */
export async function writePast(
  tx: Tx,
  account: AccountId,
  { events, deliveries, states }: PastLog,
): Promise<void> {
  const instants = await rows<{ at: string }>(
    tx,
    sql`select distinct iso(date_trunc('week', id_time(id))) as at from unnest(${events.map(({ becomes }) => becomes)}::uuid[]) id`,
  );
  await makePartitions(
    tx,
    instants.map(({ at }) => at),
  );
  await rows(
    tx,
    sql`update events e
        set id = m.becomes,
            payload = replace(
              replace(e.payload, '"timestamp":"' || iso(id_time(e.id)) || '"', '"timestamp":"' || iso(id_time(m.becomes)) || '"'),
              public_id('evt', e.id), public_id('evt', m.becomes))
        from json_to_recordset(${JSON.stringify(events)}) as m (id uuid, becomes uuid)
        where e.account_id = ${account} and e.id = m.id`,
  );
  await rows(tx, deliveriesOf(account, deliveries));
  await writeStates(tx, account, states);
}

function deliveriesOf(account: AccountId, deliveries: readonly PastDelivery[]) {
  const made = deliveries.map(({ endpoint, event, attempts, nextAttemptAt }) => ({
    endpoint_id: endpoint,
    event_id: event,
    next_attempt_at: nextAttemptAt === null ? null : formatInstant(nextAttemptAt),
    attempts: attempts.map(({ startedAt, durationMs, responseStatus, responseBody }) => ({
      started_at: formatInstant(startedAt),
      duration_ms: durationMs,
      response_status: responseStatus,
      response_body: responseBody,
    })),
  }));
  return sql`
    with past as materialized (
      select p.*, e.account_id, e.type, json_array_length(p.attempts) as attempt_count
      from json_to_recordset(${JSON.stringify(made)}) as p (
        endpoint_id uuid, event_id uuid, next_attempt_at timestamptz(3), attempts json)
      join events e on e.account_id = ${account} and e.id = p.event_id),
    attempt as materialized (
      select p.account_id, p.endpoint_id, p.event_id, a.*, url
      from past p join webhook_endpoints w on w.account_id = p.account_id and w.id = p.endpoint_id,
      lateral rows from (json_to_recordset(p.attempts) as (
        started_at timestamptz(3), duration_ms int, response_status int, response_body text))
        with ordinality as a (started_at, duration_ms, response_status, response_body, number)),
    last_attempt as (
      select distinct on (endpoint_id, event_id) * from attempt order by endpoint_id, event_id, number desc),
    logged as (
      insert into deliveries (account_id, endpoint_id, event_id, type, status, attempt_count, next_attempt_at,
        last_attempt_at, last_response_status, last_error_code, delivered_at)
      select p.account_id, p.endpoint_id, p.event_id, p.type,
             case when p.next_attempt_at is not null then 'pending' when l.response_status < 300 then 'delivered' else 'failed' end,
             p.attempt_count, p.next_attempt_at, l.started_at, l.response_status,
             case when l.response_status >= 300 then 'response_error' end,
             case when l.response_status < 300 then l.started_at + l.duration_ms * interval '1 millisecond' end
      from past p left join last_attempt l using (endpoint_id, event_id)
      returning account_id, endpoint_id, event_id, status),
    attempted as (
      insert into attempts (account_id, endpoint_id, event_id, number, trigger, url, started_at, duration_ms,
        request_headers, response_status, response_headers, response_body, error_code, error_message)
      select account_id, endpoint_id, event_id, number, 'scheduled', url, started_at, duration_ms,
             '{"content-type":"application/json"}', response_status, '{"content-type":"text/plain"}', response_body,
             case when response_status >= 300 then 'response_error' end,
             case when response_status >= 300 then 'HTTP ' || response_status end
      from attempt),
    counted as (
      ${noteAttempts(sql`
        select account_id, endpoint_id, event_id, 1 as total, (status = 'delivered')::int as delivered,
               (status = 'failed')::int as failed, 0 as cancelled, null::timestamptz as attempted_at, null::int2 as code from logged
        union all
        select account_id, endpoint_id, event_id, 0, 0, 0, 0, started_at, attempt_code(duration_ms, response_status) from attempt`)})
    insert into queue (account_id, endpoint_id, event_id, step, generation, due_at)
    select p.account_id, p.endpoint_id, p.event_id, p.attempt_count, w.resumptions, p.next_attempt_at
    from past p join webhook_endpoints w on w.account_id = p.account_id and w.id = p.endpoint_id
    where p.next_attempt_at is not null`;
}

async function writeStates(tx: Tx, account: AccountId, states: readonly PastState[]): Promise<void> {
  const instant = (ms: number | null) => (ms === null ? null : formatInstant(ms));
  const given = states.map(({ endpoint, failingSince, failures, lastSuccessAt, goneAt }) => ({
    endpoint_id: endpoint,
    failing_since: instant(failingSince),
    failures,
    last_success_at: instant(lastSuccessAt),
    gone_at: instant(goneAt),
  }));
  await rows(
    tx,
    sql`with given as materialized (
          select * from json_to_recordset(${JSON.stringify(given)}) as g (
            endpoint_id uuid, failing_since timestamptz(3), failures int, last_success_at timestamptz(3), gone_at timestamptz(3))),
        gone as (
          update webhook_endpoints w set disabled_at = g.gone_at, disabled_reason = 'gone'
          from given g where w.account_id = ${account} and w.id = g.endpoint_id and g.gone_at is not null)
        update endpoint_state s
        set failing_since = g.failing_since, failures = g.failures, last_success_at = g.last_success_at
        from given g where s.account_id = ${account} and s.endpoint_id = g.endpoint_id`,
  );
}
