import { type Static, Type } from 'typebox';
import { dayInQuery, strict } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { clip } from '../../kernel/strict-json.ts';
import { parseDay, parseDayIn, type Span } from '../../kernel/time.ts';

/** The period of a report: a year, or the days from one to another, both included. A missing bound is open. */
export const period = strict({
  year: Type.Optional(Type.String({ description: 'four digits, 1970 to 2999', examples: ['2026'] })),
  from: dayInQuery('the first day'),
  to: dayInQuery('the last day'),
});
export type PeriodInput = Static<typeof period>;

/** A period as requested, and the instants it spans. */
export interface Period {
  /** The year, if the period is a whole one; else null. */
  readonly year: number | null;
  /** The requested days; null = open. */
  readonly from: string | null;
  readonly to: string | null;
  /** The end of a file's name. */
  readonly name: string;
  readonly span: Span;
}

const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '2999-12-31'];
const DAY_MS = 86_400_000;

const refuse = (message: string) => fail('invalid_query', message);

/** Reads a period in days of the zone. Throws `invalid_query`. */
export function readPeriod({ year, from, to }: PeriodInput, zone: string): Period {
  if (year !== undefined) {
    if (from !== undefined || to !== undefined) throw refuse('give a year, or from and to, not both');
    if (parseDay(`${year}-01-01`) === null) {
      throw refuse('year must be four digits such as 2026, from 1970 to 2999');
    }
    const [first, last] = [`${year}-01-01`, `${year}-12-31`];
    return { year: Number(year), from: first, to: last, name: `-${year}`, span: spanOf(first, last, zone) };
  }
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined && parseDay(value) === null) {
      throw refuse(`${name} must be a day YYYY-MM-DD, from 1970 to 2999`);
    }
  }
  if (from !== undefined && to !== undefined && from > to) {
    throw refuse(`from must not be after to: ${from} is after ${to}`);
  }
  const name = `${from === undefined ? '' : `-from-${from}`}${to === undefined ? '' : `-to-${to}`}`;
  const span = spanOf(from ?? FIRST_DAY, to ?? LAST_DAY, zone);
  return { year: null, from: from ?? null, to: to ?? null, name, span };
}

function spanOf(first: string, last: string, zone: string): Span {
  return { from: parseDayIn(first, zone)?.from ?? 0, until: parseDayIn(last, zone)?.until ?? 0 };
}

const QUARTER_MONTHS = 3;
const YEAR_MONTHS = 12;

/** The periods that end with the current one, and their lengths in months. */
const RELATIVE = {
  this_month: [1, 0],
  last_month: [1, -1],
  this_quarter: [QUARTER_MONTHS, 0],
  last_quarter: [QUARTER_MONTHS, -1],
  this_year: [YEAR_MONTHS, 0],
  last_year: [YEAR_MONTHS, -1],
} as const;
export const RELATIVE_PERIODS = Object.keys(RELATIVE) as (keyof typeof RELATIVE)[];

const RULE =
  'period must be a month such as 2026-07, a quarter such as 2026-Q3, a year such as 2026, from 1970 to 2999, or one of ' +
  RELATIVE_PERIODS.join(', ');

export interface NamedPeriodInput {
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
}

/**
 * Reads a month, quarter or year (`2026-07`, `2026-Q3`, `2026`, `last_month`), or the days from one to another; without
 * anything, the current month. `today` is a day in the zone. Throws `invalid_query`.
 */
export function readNamedPeriod(
  { period: named, from, to }: NamedPeriodInput,
  { zone, today }: { zone: string; today: string },
): Period {
  if (named === undefined && (from !== undefined || to !== undefined))
    return readPeriod({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }, zone);
  if (from !== undefined || to !== undefined) throw refuse('give a period, or from and to, not both');
  const { month, length } = monthsOf(named ?? 'this_month', today);
  const [first, last] = [dayOfMonth(month, 1), dayOfMonth(month + length, 0)];
  if (parseDay(first) === null) throw refuse(`${RULE}, not ${clip(named ?? '')}`);
  const name = nameOf(month, length);
  return {
    ...readPeriod({ from: first, to: last }, zone),
    year: length === YEAR_MONTHS ? Number(name) : null,
    name: `-${name}`,
  };
}

/** The first month of a named period, counted from the year 0, and the number of its months. Throws `invalid_query`. */
function monthsOf(named: string, today: string): { month: number; length: number } {
  const relative = Object.hasOwn(RELATIVE, named) ? RELATIVE[named as keyof typeof RELATIVE] : undefined;
  if (relative) {
    const [length, step] = relative;
    const current = Number(today.slice(0, 4)) * YEAR_MONTHS + Number(today.slice(5, 7)) - 1;
    return { month: current - (current % length) + step * length, length };
  }
  const [, year, quarter, month] = /^(\d{4})(?:-[Qq]([1-4])|-(0[1-9]|1[0-2]))?$/.exec(named) ?? [];
  if (year === undefined) throw refuse(`${RULE}, not ${clip(named)}`);
  const start = Number(year) * YEAR_MONTHS;
  if (quarter !== undefined)
    return { month: start + (Number(quarter) - 1) * QUARTER_MONTHS, length: QUARTER_MONTHS };
  return month === undefined
    ? { month: start, length: YEAR_MONTHS }
    : { month: start + Number(month) - 1, length: 1 };
}

/** A day of a month that is counted from the year 0; the day 0 is the last one of the month before. */
function dayOfMonth(month: number, day: number): string {
  const date = new Date(Date.UTC(2000, month - 2000 * YEAR_MONTHS, day));
  return date.toISOString().slice(0, 10);
}

/** The name of a period of whole months: `2026-07`, `2026-Q3`, `2026`. */
function nameOf(month: number, length: number): string {
  const day = dayOfMonth(month, 1);
  const year = day.slice(0, 4);
  if (length === 1) return day.slice(0, 7);
  return length === YEAR_MONTHS ? year : `${year}-Q${(month % YEAR_MONTHS) / QUARTER_MONTHS + 1}`;
}

/** The first days of the first and last month of a period, if it consists of whole months; else null. */
export function monthsIn({ from, to }: Period): { first: string; last: string } | null {
  const [first, last] = [from ?? FIRST_DAY, to ?? LAST_DAY];
  const next = new Date((parseDay(last) ?? 0) + DAY_MS);
  return first.endsWith('-01') && next.getUTCDate() === 1 ? { first, last: `${last.slice(0, 7)}-01` } : null;
}

/** A period in a document: `from 2026-07-01 to 2026-09-30`. */
export const inWords = ({ from, to }: Period): string =>
  `${from === null ? 'from the beginning' : `from ${from}`} ${to === null ? 'until now' : `to ${to}`}`;
