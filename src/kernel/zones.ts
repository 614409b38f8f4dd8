/** The zone of accounts without one of their own. */
export const UTC = 'UTC';

const DAY_MS = 86_400_000;
/** The size of the cache of days: even a file of a million lines has few different ones. */
const MOST_KNOWN = 2000;
const known = new Map<string, number>();
const clocks = new Map<string, Intl.DateTimeFormat>();

/** Whether `name` is an IANA time zone that dates can be computed in. */
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

/** The local time in a zone at an instant (ms since 1970), as the milliseconds at which UTC shows the same time. */
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
 * that occurs twice counts the first time. A day whose midnight is skipped begins where the clocks resume; if the whole
 * day is skipped, that is where the next one begins too.
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
  // from the offsets a day before and a day after: a clock change lies between them
  const [earlier, later] = [-DAY_MS, DAY_MS].map((step) => {
    const at = utcMidnight + step;
    return utcMidnight - (shownAt(at, zone) - at);
  }) as [number, number];
  const midnights = [earlier, later].filter((at) => shownAt(at, zone) === utcMidnight);
  return midnights.length === 0 ? earlier : Math.min(...midnights);
}

/** The local day `YYYY-MM-DD` in a zone at an instant in milliseconds since 1970. */
export function dayOf(ms: number, zone: string): string {
  return new Date(shownAt(ms, zone)).toISOString().slice(0, 10);
}
