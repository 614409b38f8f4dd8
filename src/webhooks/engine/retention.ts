import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { lookAtSlowClock } from '../../db/clock.ts';
import { type Database, oneRow, rows, type Tx } from '../../db/database.ts';
import { LOCKS, limitLockWaits, takeLock, tryLock } from '../../db/locks.ts';
import { dropPartitions, loggedWeeks } from '../../db/partitions.ts';
import { type AccountId, type EndpointId, type EventId, nil } from '../../kernel/ids.ts';
import { formatInstant, type Timestamp } from '../../kernel/time.ts';
import { codeOfAttempt, forgetCounts, noteAttempts, weekRows } from '../../outbox/counts.ts';
import { endAbandoned } from '../../outbox/ending.ts';
import { noteIncomplete } from '../../outbox/missing.ts';

/*
 * Drops the log a week at a time; db/partitions.ts has the partitions.
 * 1. A week is due when its last event is older than the setting, by a clock that cannot jump (db/clock.ts).
 * 2. Its deliveries that wait for an endpoint disabled for as long, or that no consumer of a pull endpoint claimed, end as failed, and
 * leave the queue.
 * 3. If the queue holds none of its events, one transaction marks the week as dropped and deletes its sums. From then on
 * nothing in it is read or sent again, so the rest is invisible: partitions and keys are dropped one at a time. If a
 * process is killed, the next one continues.
 * 4. Otherwise undelivered deliveries stay, with their events. Everything else in the week is deleted in slices.
 * Any process may do this at any time; a lock admits one at a time.
 */

const AT_ONCE = 5000;
const DAY_MS = 86_400_000;
const NOWHERE = nil();

interface Options {
  readonly db: Database;
  readonly log: Logger;
  /** The number of days that events are kept; null = forever. */
  readonly days: number | null;
}

/** Drops what is older than that number of days. Throws if a table stays locked for too long; the next call continues. */
export async function dropOldWeeks({ db, log, days }: Options): Promise<void> {
  // The lock lasts as long as this transaction, whatever happens to the process; the work is done outside it. The
  // statement has no parameters: with parameters it would keep its snapshot until the next statement, and detaching waits
  // for older snapshots.
  await db.transaction(async (tx) => {
    if (!(await tryLock(tx, LOCKS.retention))) return;
    await emptyDropped(db);
    if (days === null) return;
    const cutoff = Date.parse(await db.engine(lookAtSlowClock)) - days * DAY_MS;
    const due = (await loggedWeeks(db.reader)).filter((week) => Date.parse(week) + 7 * DAY_MS <= cutoff);
    for (const week of due) {
      while ((await db.engine((other) => endAbandoned(other, inWeek(week), formatInstant(cutoff)))) > 0);
      if (await db.engine((other) => giveUp(other, week))) {
        await emptyDropped(db);
        log.info({ week }, 'a week of the webhook log was dropped');
      } else {
        await removeFinished(db, week);
      }
    }
    await db.engine((other) => forgetRecoveries(other, formatInstant(cutoff)));
    await db.engine((other) => forgetEndpoints(other, formatInstant(cutoff)));
  });
}

const inWeek = (week: Timestamp) =>
  ({
    from: sql`id_floor(${week}::timestamptz)`,
    until: sql`id_floor(${week}::timestamptz + interval '7 days')`,
  }) as const;

/** Marks a week as dropped and deletes its sums. Returns false if the queue still holds one of its events. */
async function giveUp(tx: Tx, week: Timestamp): Promise<boolean> {
  await limitLockWaits(tx, 10_000);
  // transactions that were about to queue events of the log have committed, so the next statement sees them
  await takeLock(tx, LOCKS.log);
  const { from, until } = inWeek(week);
  const marked = await rows(
    tx,
    sql`with idle as materialized (
          select ${week}::timestamptz as starts_at
          where not exists (select from queue where event_id >= ${from} and event_id < ${until}))
        insert into dropped_weeks (starts_at) select starts_at from idle returning 1`,
  );
  if (marked.length === 0) return false;
  await forgetCounts(tx, week);
  return true;
}

/** Drops the rest of weeks that are marked as dropped. */
async function emptyDropped(db: Database): Promise<void> {
  const weeks = await rows<{ week: Timestamp }>(
    db.reader,
    sql`select iso(starts_at) as week from dropped_weeks order by starts_at`,
  );
  for (const { week } of weeks) {
    await dropPartitions(db, week);
    while ((await db.engine((tx) => forgetKeys(tx, week))) === AT_ONCE);
    await db.engine((tx) => rows(tx, sql`delete from dropped_weeks where starts_at = ${week}::timestamptz`));
  }
}

async function forgetKeys(tx: Tx, week: Timestamp): Promise<number> {
  const { from, until } = inWeek(week);
  const forgotten = await rows(
    tx,
    sql`delete from event_keys where ctid = any(array(
          select ctid from event_keys where event_id >= ${from} and event_id < ${until} limit ${AT_ONCE}::int))
          -- checked again on the current row, after a transaction that took over the external_id has committed
          and event_id >= ${from} and event_id < ${until}
        returning 1`,
  );
  return forgotten.length;
}

/** Deletes the finished deliveries of a week: one stuck delivery does not keep a million others. */
async function removeFinished(db: Database, week: Timestamp): Promise<void> {
  if ((await finishedRows(db, week)) === 0n) return;
  await db.engine((tx) => notePartial(tx, week));
  let last: Last | null = { account: nil(), endpoint: nil(), event: nil() };
  while (last !== null) {
    const cursor: Last = last;
    last = await db.engine((tx) => removeDeliveries(tx, week, cursor));
  }
  last = { account: nil(), endpoint: nil(), event: nil() };
  while (last !== null) {
    const cursor: Last = last;
    last = await db.engine((tx) => removeEvents(tx, week, cursor));
  }
}

/** No recovery takes events of a week whose rows are being deleted for events that the endpoint never got. */
async function notePartial(tx: Tx, week: Timestamp): Promise<void> {
  await takeLock(tx, LOCKS.log);
  await noteIncomplete(tx, formatInstant(Date.parse(week) + 7 * DAY_MS));
}

/** The log rows of a week, without those in the queue. */
async function finishedRows(db: Database, week: Timestamp): Promise<bigint> {
  const { from, until } = inWeek(week);
  const { count } = await oneRow<{ count: bigint }>(
    db.reader,
    sql`select ${weekRows(week)}
          - (select count(*) from queue where event_id >= ${from} and event_id < ${until}) as count`,
  );
  return count;
}

/** Where a slice ended, by UUIDs. */
interface Last {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly event: EventId;
}

async function removeDeliveries(
  tx: Tx,
  week: Timestamp,
  { account, endpoint, event }: Last,
): Promise<Last | null> {
  await takeLock(tx, LOCKS.log);
  const { from, until } = inWeek(week);
  const seen = await rows<Last>(
    tx,
    sql`with slice as materialized (
          select account_id, endpoint_id, event_id, status from deliveries
          where event_id >= ${from} and event_id < ${until}
            and (account_id, endpoint_id, event_id) > (${account}::uuid, ${endpoint}::uuid, ${event}::uuid)
          order by account_id, endpoint_id, event_id limit ${AT_ONCE}::int),
        finished as materialized (
          select * from slice s
          where not exists (select from queue q where q.event_id = s.event_id and q.endpoint_id = s.endpoint_id)),
        gone as (
          delete from deliveries d using finished f
          where d.account_id = f.account_id and d.endpoint_id = f.endpoint_id and d.event_id = f.event_id),
        attempted as (
          delete from attempts a using finished f
          where a.account_id = f.account_id and a.endpoint_id = f.endpoint_id and a.event_id = f.event_id
          returning a.*),
        counted as (${noteAttempts(sql`
          select account_id, endpoint_id, event_id, -1 as total, -(status = 'delivered')::int as delivered,
                 -(status = 'failed')::int as failed, -(status = 'cancelled')::int as cancelled,
                 null::timestamptz as attempted_at, null::int2 as code
          from finished
          union all
          select account_id, endpoint_id, event_id, 0, 0, 0, 0, started_at, -${codeOfAttempt}
          from attempted`)})
        select account_id as account, endpoint_id as endpoint, event_id as event from slice
        order by account_id, endpoint_id, event_id`,
  );
  return seen.length === AT_ONCE ? (seen.at(-1) ?? null) : null;
}

/** Deletes events without deliveries. */
async function removeEvents(tx: Tx, week: Timestamp, { account, event }: Last): Promise<Last | null> {
  const { from, until } = inWeek(week);
  const seen = await rows<Last>(
    tx,
    sql`with slice as materialized (
          select account_id, id from events
          where id >= ${from} and id < ${until} and (account_id, id) > (${account}::uuid, ${event}::uuid)
          order by account_id, id limit ${AT_ONCE}::int),
        alone as materialized (
          select * from slice s
          where not exists (select from deliveries d where d.account_id = s.account_id and d.event_id = s.id)),
        keys as (
          delete from event_keys k using alone a where k.event_id = a.id),
        owners as (
          delete from event_owners o using alone a where o.account_id = a.account_id and o.event_id = a.id),
        tags as (
          delete from event_tags t using alone a where t.account_id = a.account_id and t.event_id = a.id),
        gone as (
          delete from events e using alone a where e.account_id = a.account_id and e.id = a.id)
        select account_id as account, ${NOWHERE} as endpoint, id as event from slice order by account_id, id`,
  );
  return seen.length === AT_ONCE ? (seen.at(-1) ?? null) : null;
}

/** Deletes recoveries that ended before everything left in the log. */
async function forgetRecoveries(tx: Tx, cutoff: Timestamp): Promise<void> {
  await rows(
    tx,
    sql`delete from webhook_recoveries where coalesce(completed_at, cancelled_at) < ${cutoff}::timestamptz`,
  );
}

/**
 * Deletes the rows of endpoints that were deleted before everything left in the log: nothing references them any more.
 */
async function forgetEndpoints(tx: Tx, cutoff: Timestamp): Promise<void> {
  await rows(
    tx,
    sql`with nameless as materialized (
          select e.account_id, e.id from webhook_endpoints e
          where e.deleted_at < ${cutoff}::timestamptz
            and not exists (select from deliveries d where d.account_id = e.account_id and d.endpoint_id = e.id)
            and not exists (select from queue q where q.account_id = e.account_id and q.endpoint_id = e.id)),
        states as (
          delete from endpoint_state s using nameless n where s.account_id = n.account_id and s.endpoint_id = n.id),
        recoveries as (
          delete from webhook_recoveries r using nameless n
          where r.account_id = n.account_id and r.endpoint_id = n.id)
        delete from webhook_endpoints e using nameless n where e.account_id = n.account_id and e.id = n.id`,
  );
}
