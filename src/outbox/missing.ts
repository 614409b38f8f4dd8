import sql, { raw, type Sql } from 'sql-template-tag';
import { oneRow, type Reader, rows, type Tx } from '../db/database.ts';
import { readSetting, writeSetting } from '../db/settings.ts';
import { type AccountId, type EndpointId, nil } from '../kernel/ids.ts';
import { parseInstant, type Timestamp } from '../kernel/time.ts';
import { noteChanges } from './counts.ts';
import type { Deliveries } from './ending.ts';
import { isKept } from './queue.ts';
import { matches } from './searches.ts';
import { isCovered } from './subscriptions.ts';

/*
 * Events that have no row in the log of an endpoint, although it would get them if they were published now
 * (docs/decisions/0125). Conditions are over an event `v` and an endpoint `e`.
 */

/** SQL: the event is a test, which is for one endpoint only, or reports that this endpoint was disabled, or one of another owner. */
// nothing before the data can contain what ends the envelope
export const IS_NOT_ADDRESSED = `(
  v.type = 'webhook_endpoint.test' or split_part(split_part(v.payload, ',"data":', 1), ',"changes":', 1) like '%,"is_test":true'
  or (v.type = 'webhook_endpoint.disabled' and (public_id('we', e.id) = v.payload::json -> 'data' ->> 'id'
    or coalesce(e.owner <> coalesce(v.payload::json -> 'data' ->> 'owner', ''), false))))`;

/** The setting in which retention says how far back every event has all its rows. */
const COMPLETE = 'log_complete_from';

/**
 * SQL: whether the endpoint, which has these `event_types`, would get the event if it were published now, and has no row of it.
 * Most endpoints lack all events or none, so a count joins whole tables.
 */
export const isMissing = (eventTypes: readonly string[] | null): Sql => sql`
  ${isCovered(sql`v.type`, eventTypes)}
  and not exists (select from deliveries d where d.account_id = v.account_id and d.endpoint_id = e.id and d.event_id = v.id)
  and not exists (
    select from event_owners o where o.account_id = v.account_id and o.event_id = v.id and o.owner is distinct from e.owner)
  and not ${raw(IS_NOT_ADDRESSED)}
  and (e.filter_path is null or ${matches(sql`filterable(v.payload)`, {
    path: sql`e.filter_path`,
    fast: sql`e.filter_fast`,
    contains: sql`e.filter_contains`,
  })})`;

/** SQL: whether the log has all rows of the event: retention has not begun to delete them. */
export const hasAllRows: Sql = sql`(${isKept(sql`v.id`)} and v.id >= coalesce(
  (select id_floor(value::timestamptz) from server_settings where key = ${COMPLETE}), ${nil()}::uuid))`;

/**
 * Says that rows of events before an instant will be deleted while their events stay. Call it before, in a transaction that
 * holds `LOCKS.log`.
 */
export async function noteIncomplete(tx: Tx, before: Timestamp): Promise<void> {
  const known = await readSetting(tx, COMPLETE);
  if (known === null || known < before) await writeSetting(tx, COMPLETE, before);
}

/** When the oldest event of an account that has all its rows was published, in ms since 1970; null = there is none. */
export async function oldestComplete(db: Reader, account: AccountId): Promise<number | null> {
  const { at } = await oneRow<{ at: Timestamp | null }>(
    db,
    sql`select iso(id_time((select v.id from events v where v.account_id = ${account} and ${hasAllRows} order by v.id limit 1))) as at`,
  );
  return at === null ? null : parseInstant(at);
}

/** Counts the events of a span that an endpoint is missing. Linear in the events of the account in it. */
export async function countMissing(
  db: Reader,
  { account, endpoint, among }: { account: AccountId; endpoint: EndpointId; among: Sql },
): Promise<number> {
  const { eventTypes } = await oneRow<{ eventTypes: string[] | null }>(
    db,
    sql`select event_types as "eventTypes" from webhook_endpoints where account_id = ${account} and id = ${endpoint}`,
  );
  const { count } = await oneRow<{ count: number }>(
    db,
    sql`select count(*)::float8 as count from events v
        join webhook_endpoints e on e.account_id = v.account_id and e.id = ${endpoint}
        where v.account_id = ${account} and ${among} and ${hasAllRows} and ${isMissing(eventTypes)}`,
  );
  return count;
}

/**
 * Writes deliveries of events that the endpoint is missing, due now: each is a row of the log, which waits, and one of the
 * queue, in the generation `resumptions`. The caller has called `holdLog`, and holds the only job of the endpoint.
 */
export async function addMissing(
  tx: Tx,
  { account, endpoint, events }: Deliveries,
  resumptions: number,
): Promise<void> {
  await rows(
    tx,
    sql`with wanted as materialized (
          select account_id, ${endpoint}::uuid as endpoint_id, id as event_id, type, now_ms() as next_attempt_at, now() as due_at
          from events where account_id = ${account} and id = any(${[...events]}::uuid[])),
        logged as (
          insert into deliveries (account_id, endpoint_id, event_id, type, next_attempt_at)
          select account_id, endpoint_id, event_id, type, next_attempt_at from wanted),
        counted as (
          ${noteChanges(sql`
            select account_id, endpoint_id, event_id, 1 as total, 0 as delivered, 0 as failed, 0 as cancelled from wanted`)})
        insert into queue (account_id, endpoint_id, event_id, trigger, generation, due_at)
        select account_id, endpoint_id, event_id, 'recovery', ${resumptions}::int, due_at from wanted`,
  );
}
