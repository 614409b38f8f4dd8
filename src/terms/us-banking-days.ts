import { dayOf } from '../kernel/zones.ts';

const DAY_MS = 86_400_000;

/** Holidays of the Federal Reserve on the same date every year, `MM-DD`. */
const FIXED = ['01-01', '06-19', '07-04', '11-11', '12-25'];

/** Those on the nth weekday of a month; `last` = the last one: Martin Luther King, Washington, Memorial, Labor, Columbus, Thanksgiving. */
const MOVING: readonly { month: number; weekday: number; nth: number | 'last' }[] = [
  { month: 1, weekday: 1, nth: 3 },
  { month: 2, weekday: 1, nth: 3 },
  { month: 5, weekday: 1, nth: 'last' },
  { month: 9, weekday: 1, nth: 1 },
  { month: 10, weekday: 1, nth: 2 },
  { month: 11, weekday: 4, nth: 4 },
];

const dateOf = (day: string) => new Date(`${day}T00:00:00Z`);
const isFixed = (date: Date) => FIXED.includes(date.toISOString().slice(5, 10));

function isMoving(date: Date): boolean {
  const place = date.getUTCDate();
  return MOVING.some(
    ({ month, weekday, nth }) =>
      date.getUTCMonth() + 1 === month &&
      date.getUTCDay() === weekday &&
      (nth === 'last' ? place > 31 - 7 : Math.ceil(place / 7) === nth),
  );
}

/**
 * Whether the Federal Reserve settles payments on a day, `YYYY-MM-DD` (frbservices.org, holiday schedules). A holiday on a
 * Sunday closes it on Monday; one on a Saturday does not close it on Friday.
 */
export function isBankingDay(day: string): boolean {
  const date = dateOf(day);
  const weekday = date.getUTCDay();
  if (weekday === 0 || weekday === 6) return false;
  if (isFixed(date) || isMoving(date)) return false;
  return weekday !== 1 || !isFixed(new Date(date.getTime() - DAY_MS));
}

/** The first banking day after a day, both `YYYY-MM-DD`. */
export function nextBankingDay(day: string): string {
  const next = new Date(dateOf(day).getTime() + DAY_MS).toISOString().slice(0, 10);
  return isBankingDay(next) ? next : nextBankingDay(next);
}

/** The day that is a number of banking days after another, both `YYYY-MM-DD`. */
export function afterBankingDays(day: string, count: number): string {
  return count === 0 ? day : afterBankingDays(nextBankingDay(day), count - 1);
}

const ZONE = 'America/New_York';
/** From the end of the last window for payments of the same day, 4:45 p.m. (frbservices.org, FedACH processing schedule). */
const AFTER_LAST_WINDOW_MS = DAY_MS - (16 * 60 + 45) * 60_000;

/** The first banking day after today, `YYYY-MM-DD`. In: an instant in milliseconds. */
export const firstBankingDay = (nowMs: number): string => nextBankingDay(dayOf(nowMs, ZONE));

/**
 * Why an ACH payment cannot settle on a day, `YYYY-MM-DD`: it is over, no bank settles then, or its last window has closed;
 * null = it can. In: the day, and the instant in milliseconds.
 */
export function whyNoBankingDay(day: string, nowMs: number): string | null {
  const today = dayOf(nowMs, ZONE);
  if (day < today) return `must be today (${today} in New York) or later: no bank pays in the past`;
  const next = `the next banking day is ${nextBankingDay(day)}`;
  if (!isBankingDay(day)) return `is no banking day in the United States: ${next}`;
  return day < dayOf(nowMs + AFTER_LAST_WINDOW_MS, ZONE)
    ? `must be later than today: the last window for payments of the same day closed at 4:45 p.m. in New York; ${next}`
    : null;
}
