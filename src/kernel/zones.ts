/** The zone of accounts that chose none. */
export const UTC = 'UTC';

const DAY_MS = 86_400_000;
/** Days that were asked for lately: a file of a million lines has few. */
const MOST_KNOWN = 2000;
const known = new Map<string, number>();
const clocks = new Map<string, Intl.DateTimeFormat>();

/** Whether days can be computed in a time zone of this IANA name. */
export function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && clockOf(name) !== undefined;
  } catch {
    return false;
  }
}

function clockOf(zone: string): Intl.DateTimeFormat {
  const before = clocks.get(zone);
  if (before) return before;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  clocks.set(zone, clock);
  return clock;
}

/** What the clocks of a zone show at an instant (ms since 1970), as the milliseconds at which UTC shows the same. */
function shownAt(ms: number, zone: string): number {
  if (zone === UTC) return ms;
  const parts = Object.fromEntries(
    clockOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1000) + 1000) % 1000);
}

/**
 * When a day begins in a zone. In: the milliseconds at which it begins in UTC. Out: milliseconds since 1970. A midnight
 * that comes twice counts the first time; a day whose midnight is left out begins where the clocks go on, as the next
 * one does where the whole day is left out.
 */
export function dayStart(utcMidnight: number, zone: string): number {
  if (zone === UTC) return utcMidnight;
  const key = `${zone} ${utcMidnight}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const start = findStart(utcMidnight, zone);
  known.set(key, start);
  return start;
}

function findStart(utcMidnight: number, zone: string): number {
  // by the offsets of the day before and the day after: a change of the clocks lies between them
  const [earlier, later] = [-DAY_MS, DAY_MS].map((step) => {
    const at = utcMidnight + step;
    return utcMidnight - (shownAt(at, zone) - at);
  }) as [number, number];
  const midnights = [earlier, later].filter((at) => shownAt(at, zone) === utcMidnight);
  return midnights.length === 0 ? earlier : Math.min(...midnights);
}

/** The day `YYYY-MM-DD` that a zone has at an instant in milliseconds since 1970. */
export function dayOf(ms: number, zone: string): string {
  return new Date(shownAt(ms, zone)).toISOString().slice(0, 10);
}
