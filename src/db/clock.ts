import sql, { type Sql } from 'sql-template-tag';
import type { Timestamp } from '../kernel/time.ts';
import { oneRow, type Reader, rows, type Tx } from './database.ts';
import { readSetting, writeSetting } from './settings.ts';

const SLOW = 'slow_clock';
const LATEST = 'latest_time';
const PACE = '4 hours';
/** A little less than the hour between two looks. */
const HOUR = '50 minutes';

/** Clocks are corrected by less than this all the time, so nothing closer than this in the future counts as wrong. */
export const TOLERANCE: Sql = sql`interval '1 minute'`;

/** What time it is for the database, in milliseconds since 1970. */
export async function readNow(db: Reader): Promise<number> {
  const { now } = await oneRow<{ now: string }>(db, sql`select iso(now()) as now`, 'read_now');
  return Date.parse(now);
}

interface SlowClock {
  readonly time: Timestamp;
  readonly looked_at: Timestamp;
}

/**
 * The time for things that cannot be undone. This clock follows the database's, but gains at most four hours in
 * each hour that it is looked at. If the database's clock jumps a year ahead, this one moves four hours an hour,
 * which leaves days to notice. When the database's clock is set back it follows at once. After a month in which
 * nobody looked, it is right again in ten days.
 */
export async function lookAtSlowClock(tx: Tx): Promise<Timestamp> {
  const before = await readClock(tx);
  const { json } = await oneRow<{ json: string }>(
    tx,
    sql`select json_build_object(
          'time', iso(least(now(), case when is_hour_over then time + ${PACE}::interval else time end)),
          'looked_at', iso(case when is_hour_over or looked_at > now() then now() else looked_at end))::text as json
        from (
          select time, looked_at, looked_at <= now() - ${HOUR}::interval as is_hour_over
          from (select coalesce(${before?.time ?? null}::timestamptz, now()) as time,
                       coalesce(${before?.looked_at ?? null}::timestamptz, now()) as looked_at) stored) clock`,
  );
  await writeSetting(tx, SLOW, json);
  return (JSON.parse(json) as SlowClock).time;
}

/** The same clock inside a statement, as of the last look; never later than the database's. */
export const slowClock: Sql = sql`least(now(), coalesce(
  (select (value::json ->> 'time')::timestamptz from server_settings where key = ${SLOW}), now()))`;

async function readClock(db: Reader): Promise<SlowClock | null> {
  const stored = await readSetting(db, SLOW);
  return stored === null ? null : (JSON.parse(stored) as SlowClock);
}

/** How far the slow clock is behind the database's, in ms; null before the first look. */
export async function slowClockBehindMs(db: Reader): Promise<number | null> {
  const clock = await readClock(db);
  if (clock === null) return null;
  const { ms } = await oneRow<{ ms: bigint }>(
    db,
    sql`select (extract(epoch from now() - ${clock.time}::timestamptz) * 1000)::int8 as ms`,
  );
  return Number(ms);
}

/** The time of the database's clock, and the latest time that any process noted. */
export interface ClockReading {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** RFC 3339; null = nobody noted one. */
  readonly latest: string | null;
  /** It was set back by more than the usual corrections. */
  readonly wasSetBack: boolean;
}

export async function readLatestTime(db: Reader): Promise<ClockReading> {
  const { now_ms, latest, was_set_back } = await oneRow<{
    now_ms: bigint;
    latest: string | null;
    was_set_back: boolean;
  }>(
    db,
    sql`select (extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms, latest,
               coalesce(clock_timestamp() < latest::timestamptz - ${TOLERANCE}, false) as was_set_back
        from (select (select value from server_settings where key = ${LATEST}) as latest) noted`,
    'latest_time',
  );
  return { nowMs: Number(now_ms), latest, wasSetBack: was_set_back };
}

/**
 * Notes the database's time, so that every process sees when the clock is set back behind it. A later time replaces
 * an earlier one; `instead` is a time that may be replaced by an earlier one.
 */
export async function noteLatestTime(tx: Tx, instead: string | null = null): Promise<void> {
  await rows(
    tx,
    sql`insert into server_settings (key, value) values (${LATEST}, iso(clock_timestamp()))
        on conflict (key) do update set value = excluded.value
        where server_settings.value < excluded.value collate "C" or server_settings.value = ${instead}`,
  );
}
