import sql from 'sql-template-tag';
import type { Timestamp } from '../kernel/time.ts';
import { oneRow, type Reader, type Tx } from './connect.ts';
import { readSetting, writeSetting } from './settings.ts';

const KEY = 'slow_clock';
const PACE = '4 hours';
/** A little less than the hour that it is looked at in. */
const HOUR = '50 minutes';

interface SlowClock {
  readonly time: Timestamp;
  readonly looked_at: Timestamp;
}

/**
 * The time for what cannot be undone, by a clock that follows the database's, but gains at most four hours in each hour
 * that somebody looks at it. A database whose clock jumps a year ahead moves it by four hours an hour: there are days to
 * notice. Set back, it follows at once. After a month in which nobody looked it is right again in ten days.
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
  await writeSetting(tx, KEY, json);
  return (JSON.parse(json) as SlowClock).time;
}

async function readClock(db: Reader): Promise<SlowClock | null> {
  const stored = await readSetting(db, KEY);
  return stored === null ? null : (JSON.parse(stored) as SlowClock);
}

/** How far the slow clock is behind the database's, in ms; null before anybody looked at it. */
export async function slowClockBehindMs(db: Reader): Promise<number | null> {
  const clock = await readClock(db);
  if (clock === null) return null;
  const { ms } = await oneRow<{ ms: bigint }>(
    db,
    sql`select (extract(epoch from now() - ${clock.time}::timestamptz) * 1000)::int8 as ms`,
  );
  return Number(ms);
}
