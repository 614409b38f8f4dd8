import { randomBytes } from 'node:crypto';
import { makePartitions } from '../../src/db/partitions.ts';
import type { World } from './world.ts';

/** A past event at one endpoint, with its state. */
export interface Past {
  /** UUID. */
  readonly endpoint: string;
  readonly type?: string;
  readonly status?: 'pending' | 'delivered' | 'failed';
  /** UUID of the event, with the time it was published: `eventIdAt` creates one. */
  readonly event: string;
}

/** A UUID of version 7 of an instant. */
export function eventIdAt(ms: number): string {
  const hex = `${ms.toString(16).padStart(12, '0')}7${randomBytes(10).toString('hex').slice(1)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const timeOf = (eventId: string) =>
  new Date(Number.parseInt(eventId.replaceAll('-', '').slice(0, 12), 16)).toISOString();

/**
 * Writes the history of an account (UUID), as publishing and workers would have left it: events, the log with its
 * attempts and counts, and the queue.
 */
export async function putIn(
  world: Pick<World, 'db' | 'query'>,
  account: string,
  history: readonly Past[],
): Promise<void> {
  const made = history.map(({ event, endpoint, type = 'order.created', status = 'delivered' }) => ({
    event_id: event,
    endpoint_id: endpoint,
    type,
    status,
  }));
  const instants = made.map(({ event_id }) => timeOf(event_id));
  await world.db.transaction((tx) => makePartitions(tx, instants));
  await world.query(
    `with past as materialized (
       select $1::uuid as account_id, p.*, id_time(event_id) as at
       from json_to_recordset($2) as p (event_id uuid, endpoint_id uuid, type text, status text)),
     stored as (
       insert into events (account_id, id, type, payload)
       select distinct account_id, event_id, type, json_build_object('id', public_id('evt', event_id))::text from past),
     logged as (
       insert into deliveries (account_id, endpoint_id, event_id, type, status, attempt_count, next_attempt_at,
         last_attempt_at, last_response_status, last_error_code, delivered_at)
       select account_id, endpoint_id, event_id, type, status, (status <> 'pending')::int,
         case when status = 'pending' then now() end, case when status <> 'pending' then at end,
         case status when 'delivered' then 200 when 'failed' then 500 end,
         case when status = 'failed' then 'response_error' end, case when status = 'delivered' then at end
       from past),
     attempted as (
       insert into attempts (account_id, endpoint_id, event_id, number, trigger, url, started_at, duration_ms,
         response_status, error_code, error_message)
       select account_id, endpoint_id, event_id, 1, 'scheduled', 'http://127.0.0.1:9/hook', at, 1,
         case when status = 'failed' then 500 else 200 end, case when status = 'failed' then 'response_error' end,
         case when status = 'failed' then 'HTTP 500' end
       from past where status <> 'pending'),
     counted as (
       insert into delivery_count_deltas (account_id, endpoint_id, minute, total, delivered, failed, attempted_minute,
         attempt_codes)
       select account_id, endpoint_id, date_trunc('minute', at), 1, (status = 'delivered')::int, (status = 'failed')::int,
         case when status <> 'pending' then date_trunc('minute', at) end,
         case when status <> 'pending' then array[attempt_code(1, case when status = 'failed' then 500 else 200 end)] end
       from past)
     insert into queue (account_id, endpoint_id, event_id, step, generation, due_at)
     select account_id, endpoint_id, event_id, 1, 0, now() + interval '1 hour' from past where status = 'pending'`,
    [account, JSON.stringify(made)],
  );
}
