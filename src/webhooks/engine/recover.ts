import type { Logger } from 'pino';
import sql, { type Sql } from 'sql-template-tag';
import { type Database, maybeRow, oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../../kernel/ids.ts';
import { discard } from '../../outbox/ending.ts';
import { addMissing, hasAllRows, isMissing } from '../../outbox/missing.ts';
import { holdLog, isKept } from '../../outbox/queue.ts';
import { firstUncommitted } from '../../outbox/running.ts';
import { isCovered } from '../../outbox/subscriptions.ts';
import { MOST_CLAIMED } from './awaited.ts';

/** Runs recoveries and discards until closed. Any number of recoverers share the recoveries of a database. */
export interface Recoverer {
  /** Starts no more slices and waits for the current one. */
  close(): Promise<void>;
}

/** A recovery, by the UUIDs of its account and its own. */
interface Job {
  readonly account: AccountId;
  readonly id: string;
}

interface LockedJob {
  readonly action: 'recover' | 'discard';
  readonly endpoint: EndpointId;
  readonly cursor: string;
  readonly until: string;
  /** Empty = events that have no row in the log of the endpoint. */
  readonly statuses: readonly string[];
  readonly types: readonly string[] | null;
  /** Of the endpoint, as they are now; null = all. */
  readonly eventTypes: readonly string[] | null;
  /** The generation of deliveries that are queued now. */
  readonly resumptions: number;
}

const JOBS_AT_ONCE = 100;
const ROWS_AT_ONCE = 1000;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
const AFTER_ERROR_MS = 1000;

/**
 * The number of rows a recovery may have in the queue of endpoint `e` with state `s`: four lanes, or four seconds of its
 * rate limit; with batches, as many events as fill these requests, up to 4,000; of a pull endpoint, as many as consumers may hold. A new event is due after these rows and
 * waits for no others.
 */
const room = sql`case when e.pull then ${MOST_CLAIMED}::int
  else least(4 * least(s.lane, coalesce(e.rate_limit, s.lane)) * coalesce(e.batch_events, 1), 4000) end`;
const standing = sql`(select count(*) from queue q where q.endpoint_id = r.endpoint_id and q.trigger = 'recovery')`;
const isOpen = sql`r.completed_at is null and r.cancelled_at is null`;
const endpointJoin = sql`
  join webhook_endpoints e on e.account_id = r.account_id and e.id = r.endpoint_id
  join endpoint_state s on s.account_id = r.account_id and s.endpoint_id = r.endpoint_id`;

/** Runs recoveries in turn: a slice of each that has room in the queue. */
export function startRecovering({ db, log }: { db: Database; log: Logger }): Recoverer {
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = SHORTEST_PAUSE_MS;
  let looking: Promise<void> = Promise.resolve();

  function look(): void {
    looking = round().then((nextMs) => {
      if (!closing) timer = setTimeout(look, nextMs);
    });
  }

  /** Returns the milliseconds until the next useful round. */
  async function round(): Promise<number> {
    let moved = false;
    try {
      for (const job of await db.engine(jobsWithRoom, { single: true })) {
        if (closing) return 0;
        moved = (await tryToMove(job)) || moved;
      }
    } catch (error) {
      if (!closing) log.warn({ err: error }, 'looking for recoveries failed; it will be retried');
      return AFTER_ERROR_MS;
    }
    pauseMs = moved ? SHORTEST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    return moved ? 0 : pauseMs;
  }

  /** A recovery that fails does not hold up the others. */
  async function tryToMove(job: Job): Promise<boolean> {
    try {
      return await db.engine((tx) => moveOn(tx, job));
    } catch (error) {
      if (!closing) log.warn({ err: error, ...job }, 'continuing a recovery failed; it will be retried');
      return false;
    }
  }

  look();
  return {
    async close() {
      closing = true;
      clearTimeout(timer);
      await looking;
    },
  };
}

/** A discard runs at any endpoint, a recovery only at an enabled one. */
const mayRun = sql`(r.action = 'discard' or e.disabled_at is null)`;

/** Open jobs that may run: a recovery uses at most half of its share of the queue. */
function jobsWithRoom(tx: Tx): Promise<Job[]> {
  return rows<Job>(
    tx,
    sql`select r.account_id as account, r.id from webhook_recoveries r ${endpointJoin}
        where ${isOpen} and ${mayRun} and (r.action = 'discard' or 2 * ${standing} <= ${room})
        order by r.id limit ${JOBS_AT_ONCE}::int`,
    'recoveries_with_room',
  );
}

/**
 * Runs one slice of a job. The changed rows, the cursor and the counts are written in one transaction, so an
 * interrupted job continues from there and does nothing twice. Returns false if another worker runs it, or it is
 * over.
 */
async function moveOn(tx: Tx, { account, id }: Job): Promise<boolean> {
  await holdLog(tx);
  const job = await maybeRow<LockedJob>(
    tx,
    sql`select r.action, r.endpoint_id as endpoint, r.cursor, r.until, r.statuses, r.types, e.event_types as "eventTypes", e.resumptions
        from webhook_recoveries r ${endpointJoin}
        where r.account_id = ${account} and r.id = ${id} and ${isOpen} and ${mayRun}
        for update of r skip locked`,
    'lock_recovery',
  );
  if (job === null) return false;
  const slice = await sliceOf(tx, account, { ...job, id });
  // the room may be exhausted before the rows
  const isFull = slice.matched >= slice.room;
  const isEnd = !isFull && slice.scanned < ROWS_AT_ONCE && !slice.is_waiting;
  await rows(
    tx,
    sql`update webhook_recoveries
        set cursor = coalesce(${isFull ? slice.last_matched : slice.last_scanned}, cursor),
            queued_count = queued_count + ${slice.done}::int,
            skipped_count = skipped_count + ${slice.matched - slice.done}::int,
            started_at = coalesce(started_at, at.now), completed_at = case when ${isEnd} then at.now end
        from (select now_ms() as now) at
        where account_id = ${account} and id = ${id}`,
    'move_recovery',
  );
  if (slice.done > 0 && job.action === 'recover') tx.announce();
  return slice.scanned > 0 || isEnd;
}

interface Slice {
  readonly room: number;
  /** The number of log rows read, and how many of them match and have room. */
  readonly scanned: number;
  readonly matched: number;
  /** Event ids (UUID); null = none. */
  readonly last_scanned: string | null;
  readonly last_matched: string | null;
  /** The number of matching ones that it queued or cancelled: the others were in flight, or due already. */
  readonly done: number;
  /** It ends before events that are being published. */
  readonly is_waiting?: boolean;
}

function sliceOf(tx: Tx, account: AccountId, job: LockedJob & { id: string }): Promise<Slice> {
  if (job.action === 'discard') return discardSlice(tx, account, job);
  return job.statuses.length === 0 ? missingSlice(tx, account, job) : queueSlice(tx, account, job);
}

/** The next rows of the log for a job. */
function scan(account: AccountId, { endpoint, cursor, until, statuses }: LockedJob): Sql {
  // a literal, so that the index of failed rows is used
  const among = statuses.every((status) => status === 'failed') ? sql`d.is_failed` : sql`true`;
  return sql`
          select d.event_id, d.status, d.type from deliveries d
          where d.account_id = ${account} and d.endpoint_id = ${endpoint} and ${among}
            and d.event_id > ${cursor}::uuid and d.event_id < id_floor(${until}::timestamptz)
            and ${isKept(sql`d.event_id`)}
          order by d.event_id limit ${ROWS_AT_ONCE}::int`;
}

const matches = ({ statuses, types }: LockedJob): Sql =>
  sql`status = any(${[...statuses]}::text[]) and ${isCovered(sql`type`, types)}`;

/** Cancels the next deliveries of a discard. */
async function discardSlice(tx: Tx, account: AccountId, job: LockedJob): Promise<Slice> {
  const { events, ...scanned } = await oneRow<{
    scanned: number;
    last_scanned: string | null;
    events: EventId[];
  }>(
    tx,
    sql`with scanned as materialized (${scan(account, job)})
        select count(*)::int as scanned, (array_agg(event_id order by event_id desc))[1] as last_scanned,
               coalesce(array_agg(event_id order by event_id) filter (where ${matches(job)}), '{}') as events
        from scanned`,
  );
  const done = events.length === 0 ? 0 : await discard(tx, { account, endpoint: job.endpoint, events });
  return { ...scanned, room: ROWS_AT_ONCE + 1, matched: events.length, last_matched: null, done };
}

const roomOf = (account: AccountId, { id }: { id: string }): Sql => sql`
  select greatest(0, ${room} - ${standing})::int as room from webhook_recoveries r ${endpointJoin}
  where r.account_id = ${account} and r.id = ${id}`;

/**
 * Adds deliveries of the next events that the endpoint is missing. It reads no further than the first event whose publishing
 * has not ended: whether that has a delivery here is only known afterwards.
 */
async function missingSlice(tx: Tx, account: AccountId, job: LockedJob & { id: string }): Promise<Slice> {
  const { endpoint, cursor, until, types } = job;
  const before = await firstUncommitted(tx, account);
  const { events, ...scanned } = await oneRow<Omit<Slice, 'matched' | 'done'> & { events: EventId[] }>(
    tx,
    sql`with
        room as materialized (${roomOf(account, job)}),
        scanned as materialized (
          select v.id, v.type from events v
          where v.account_id = ${account} and v.id > ${cursor}::uuid and v.id < id_floor(${until}::timestamptz)
            and v.id < ${before}::uuid and ${hasAllRows}
          order by v.id limit ${ROWS_AT_ONCE}::int),
        matched as materialized (
          select v.id from scanned s
          join events v on v.account_id = ${account} and v.id = s.id
          join webhook_endpoints e on e.account_id = v.account_id and e.id = ${endpoint}
          where ${isCovered(sql`v.type`, types)} and ${isMissing(job.eventTypes)}
          order by v.id limit (select room from room))
        select (select room from room) as room, (select count(*)::int from scanned) as scanned,
               (select id from scanned order by id desc limit 1) as last_scanned,
               (select id from matched order by id desc limit 1) as last_matched,
               array(select id from matched order by id) as events,
               ${before}::uuid < id_floor(${until}::timestamptz) as is_waiting`,
  );
  if (events.length > 0) await addMissing(tx, { account, endpoint, events }, job.resumptions);
  return { ...scanned, matched: events.length, done: events.length };
}

/**
 * Queues the next deliveries of a recovery. A delivery waiting for its schedule becomes due now. One that is due or in
 * flight (leased, or locked by the settler) counts as the attempt and is unchanged. This is a separate statement after
 * the lock, so its snapshot includes what the previous slice queued. It is planned every time: a plan from when the log
 * was empty may scan the rows of other endpoints.
 */
function queueSlice(tx: Tx, account: AccountId, job: LockedJob & { id: string }): Promise<Slice> {
  return oneRow<Slice>(
    tx,
    sql`with
        room as materialized (${roomOf(account, job)}),
        scanned as materialized (${scan(account, job)}),
        matched as materialized (
          select event_id from scanned where ${matches(job)} order by event_id limit (select room from room)),
        waiting as materialized (
          select * from (
            select q.event_id from matched m
            join queue q on q.event_id = m.event_id and q.endpoint_id = ${job.endpoint}
            where q.lease_token is null and q.due_at > now() and q.generation = ${job.resumptions}::int
            order by q.event_id for update of q skip locked) w),
        pulled as (
          update queue q set trigger = 'recovery', due_at = now() from waiting w
          where q.event_id = w.event_id and q.endpoint_id = ${job.endpoint} returning 1),
        missing as materialized (
          select m.event_id, now() as due_at from matched m
          where not exists (select from queue q where q.event_id = m.event_id and q.endpoint_id = ${job.endpoint})
          order by m.event_id),
        added as (
          insert into queue (account_id, endpoint_id, event_id, trigger, generation, due_at)
          select ${account}::uuid, ${job.endpoint}::uuid, event_id, 'recovery', ${job.resumptions}::int, due_at from missing
          on conflict (event_id, endpoint_id) do nothing returning 1)
        select (select room from room) as room, (select count(*)::int from scanned) as scanned,
               (select count(*)::int from matched) as matched,
               (select event_id from scanned order by event_id desc limit 1) as last_scanned,
               (select event_id from matched order by event_id desc limit 1) as last_matched,
               (select count(*)::int from pulled) + (select count(*)::int from added) as done`,
  );
}
