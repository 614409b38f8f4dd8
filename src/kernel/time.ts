import { dayStart } from './zones.ts';

/** An RFC 3339 instant in UTC with milliseconds: `2026-09-15T08:30:00.000Z`. */
export type Timestamp = string;

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAY_MS = 86_400_000;
// Rejects typos in the year: no commission needs years outside this range, and arithmetic on dates stays within what
// PostgreSQL supports.
const FIRST_YEAR = 1970;
const LAST_YEAR = 2999;

/** What `parseInstant` accepts, for messages. */
export const INSTANT_RULE = `an RFC 3339 instant such as 2026-09-15T08:30:00Z, from ${FIRST_YEAR} to ${LAST_YEAR}`;
/** What `parseInstantOrDay` accepts, for messages. */
export const INSTANT_OR_DAY_RULE = `an RFC 3339 instant or a day YYYY-MM-DD, from ${FIRST_YEAR} to ${LAST_YEAR}`;

/** Milliseconds since 1970 of an RFC 3339 instant (section 5.6), or null. Digits below milliseconds are cut off. */
export function parseInstant(text: string): number | null {
  const match = RFC3339.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second, fraction = '', offset = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const date = parseDay(`${year}-${month}-${day}`);
  const shift = offsetMs(offset);
  if (date === null || shift === null) return null;
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  return date + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000 + ms - shift;
}

function offsetMs(offset: string): number | null {
  if (offset === 'Z' || offset === 'z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Milliseconds since 1970 of the start in UTC of a valid day `YYYY-MM-DD`, 1970 to 2999; null when it is not one. */
export function parseDay(text: string): number | null {
  const match = DAY.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (year < FIRST_YEAR || year > LAST_YEAR) return null;
  const ms = Date.UTC(year, month - 1, day);
  const date = new Date(ms);
  const same =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? ms : null;
}

/** The instant as RFC 3339 UTC with milliseconds. */
export function formatInstant(ms: number): Timestamp {
  return new Date(ms).toISOString();
}

/** The JSON schema of a text for `parseInstantOrDay`. */
export const INSTANT_OR_DAY = {
  title: 'InstantOrDay',
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}([Tt ].+)?$',
};

/** A half-open range of time, from `from` until before `until`, in milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Operators of range filters. */
export const BOUNDS = ['gte', 'gt', 'lte', 'lt'] as const;
export type Bound = (typeof BOUNDS)[number];

/**
 * Where the range of a bound starts (`from`, inclusive) or ends (`until`, exclusive), in milliseconds. A day counts as
 * a whole: `lte` includes it, `gt` starts after it.
 */
export function boundOf(bound: Bound, at: Span): { from: number } | { until: number } {
  if (bound === 'gte') return { from: at.from };
  if (bound === 'gt') return { from: at.until };
  return { until: bound === 'lte' ? at.until : at.from };
}

/** The span of a day between its midnights in a zone; null when there is no such day. */
export function parseDayIn(text: string, zone: string): Span | null {
  const day = parseDay(text);
  return day === null ? null : { from: dayStart(day, zone), until: dayStart(day + DAY_MS, zone) };
}

/** The span of an instant (one millisecond) or of a day in a zone; null when it is neither. */
export function parseInstantOrDay(text: string, zone: string): Span | null {
  const day = parseDayIn(text, zone);
  if (day !== null) return day;
  const instant = parseInstant(text);
  return instant === null ? null : { from: instant, until: instant + 1 };
}
