import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Pauses after which something happens: the story waits a whole number of one of these. */
const UNITS_MS = [DAY_MS, 5 * MINUTE_MS] as const;
/** When the world was created, in the story's time; older and unrelated instants stay as they are. */
const BEFORE = Date.parse('2026-07-01T08:00:00.000Z');
const OLDEST_WORLD_MS = DAY_MS / 2;
const DURATION_MS = 84;
const DURATIONS = /^(duration|p\d\d)_ms$/;
/** The day of the story that replaces today. */
const TODAY = Date.parse('2026-09-15T00:00:00.000Z');
const YEAR = '2026';

/**
 * A step begins this long before its actions and after the previous step, because the clock of a virtual machine is
 * corrected now and then.
 */
const SLACK_MS = 10;

/** A moment of the run and its replacement in the story, both in milliseconds since 1970. */
interface Moment {
  readonly from: number;
  readonly story: number;
}

/** The two times of the story: the time it shows and the time it really happens in. */
export interface Clock {
  /** Begins a chapter at this instant of the story; its steps are a minute apart. */
  chapter(instant: string): void;
  /** Begins the next step, shortly after the previous one: the server's later dates belong to it. */
  step(): Promise<void>;
  /** The real instant, for requests, of an instant of the story; it must be before the story's today. */
  real(instant: string): string;
  /** The real day, `YYYY-MM-DD`, of a day of the story. */
  realDay(day: string): string;
  /** Whether this was really the year when the story began, or is now. */
  isRealYear(year: string): boolean;
  /** The instant of the story, in milliseconds, that replaces a real one. */
  shown(ms: number): number;
  /** The day of the story that replaces a real one. */
  shownDay(day: string): string;
}

export function storyClock(): Clock {
  const now = Date.now();
  const shift = now - (now % DAY_MS) - TODAY;
  const spoken = new Set<number>();
  const moments: Moment[] = [];
  let next = BEFORE;
  const shownNow = (ms: number) => moments.findLast(({ from }) => from <= ms)?.story;
  return {
    chapter(instant) {
      next = Date.parse(instant);
    },
    async step() {
      await delay(SLACK_MS);
      moments.push({ from: Date.now(), story: next });
      next += MINUTE_MS;
      await delay(SLACK_MS);
    },
    real(instant) {
      const ms = Date.parse(instant) + shift;
      spoken.add(ms % DAY_MS);
      return new Date(ms).toISOString();
    },
    isRealYear: (year) => [now, Date.now()].some((ms) => year === new Date(ms).toISOString().slice(0, 4)),
    realDay(day) {
      // the response has a day as the instant it begins at
      spoken.add(0);
      return new Date(Date.parse(day) + shift).toISOString().slice(0, 10);
    },
    shown(ms) {
      if (spoken.has(ms % DAY_MS)) return ms - shift;
      const first = moments[0]?.from ?? ms;
      if (ms < first) return ms < first - OLDEST_WORLD_MS ? ms : BEFORE;
      for (const unit of UNITS_MS) {
        const units = Math.floor((ms - first) / unit);
        const at = ms - units * unit;
        if (at <= Date.now()) return (shownNow(at) ?? BEFORE) + units * unit;
      }
      return ms;
    },
    shownDay: (day) => new Date(Date.parse(day) - shift).toISOString().slice(0, 10),
  };
}

const digest = (seed: string) => createHash('sha256').update(seed).digest('hex');
const hint = (secret: string) => `${secret.slice(0, 7)}…${secret.slice(-4)}`;
const NOT_A_SECRET = 'NotASecret'.repeat(5);

/** The replacement of a secret or an id; `seed` distinguishes them. */
const STAND_INS = {
  secret: (prefix: string, seed: string) =>
    `${prefix}${NOT_A_SECRET.slice(0, 43)}${digest(seed).slice(0, 6)}`,
  signing: (seed: string) =>
    `whsec_${Buffer.from(`an example, no secret: ${digest(seed).slice(0, 9)}`).toString('base64')}`,
  request: (seed: string) => `req_${digest(seed).slice(0, 24)}`,
  // ids contain the time of creation, so this one contains the story's
  id: (prefix: string, ms: number, seed: string) =>
    `${prefix}${ms.toString(16).padStart(12, '0')}7${digest(seed).slice(0, 3)}b${digest(seed).slice(3, 18)}`,
};

/**
 * Replaces everything that differs between runs in values of JSON: the same value always by the same. `addresses` have
 * other names; `place` is the current position in the story, from which new values are named.
 */
export function normaliser(
  clock: Clock,
  addresses: Readonly<Record<string, string>>,
): (value: unknown, place: string) => unknown {
  const known = new Map<string, string>();
  let place = '';
  let count = 0;
  const once = (real: string, make: (seed: string) => string): string => {
    const made = known.get(real) ?? make(`${place} ${++count}`);
    known.set(real, made);
    return made;
  };
  const digestOnce = (real: string): string => {
    const made = known.get(real) ?? digest(`a file of ${place}`);
    known.set(real, made);
    return made;
  };
  const secret = (real: string, prefix: string) =>
    once(real, (seed) => {
      const made = STAND_INS.secret(prefix, seed);
      known.set(hint(real), hint(made));
      return made;
    });
  const RULES: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
    [/\b(ph[a-z]{0,2}_)[0-9A-Za-z]{49}\b/g, (real, prefix = '') => secret(real, prefix)],
    [
      /\b(ph[a-z]{0,2}_)[0-9A-Za-z]{3,4}…[0-9A-Za-z]{4}/g,
      (real, prefix = '') => once(real, (seed) => hint(STAND_INS.secret(prefix, seed))),
    ],
    [/\bwhsec_[A-Za-z0-9+/]+=*/g, (real) => once(real, STAND_INS.signing)],
    [/\breq_[0-9a-f]{24}\b/g, (real) => once(real, STAND_INS.request)],
    [
      /\b([a-z]+_)([0-9a-f]{12})7[0-9a-f]{19}\b/g,
      (real, prefix = '', time = '') =>
        once(real, (seed) => STAND_INS.id(prefix, clock.shown(Number.parseInt(time, 16)), seed)),
    ],
    [
      /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
      (real) => new Date(clock.shown(Date.parse(real))).toISOString(),
    ],
    [/\b\d{4}-\d\d-\d\d\b(?!T)/g, (real) => clock.shownDay(real)],
    // a day within an invoice as XML, and the year in the number of one
    [
      /(?<=format="102">)(\d{4})(\d\d)(\d\d)/g,
      (_, year = '', month = '', day = '') => clock.shownDay(`${year}-${month}-${day}`).replaceAll('-', ''),
    ],
    [/(?<=\bSB-)20\d\d(?=-\d{6})/g, (real) => (clock.isRealYear(real) ? YEAR : real)],
    [/(?<=^|paid-|1099-nec-)20\d\d(?=$|\.csv|,)/gm, (real) => (clock.isRealYear(real) ? YEAR : real)],
  ];
  const text = (real: string): string => {
    let shown = real;
    for (const [address, name] of Object.entries(addresses)) shown = shown.replaceAll(address, name);
    for (const [pattern, replace] of RULES) shown = shown.replaceAll(pattern, replace);
    return shown;
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const walked = Object.entries(value).map(([key, inner]) => {
      if (key === 'year' && typeof inner === 'number') return [key, Number(text(String(inner)))];
      // under a key of the run
      if (key === 'digest' && typeof inner === 'string') return [key, digestOnce(inner)];
      // known in the story's year
      if (key === 'is_threshold_known') return [key, true];
      if (key === 'next_on') return [key, nextOfMonth(Number(Reflect.get(value, 'day')))];
      return [key, DURATIONS.test(key) ? DURATION_MS : walk(inner)];
    });
    return stamped(Object.fromEntries(walked));
  };
  return (value, at) => {
    place = at;
    count = 0;
    return walk(value);
  };
}

/** The day of the month after the story's today, as in a monthly schedule: the real one moves with the calendar. */
function nextOfMonth(day: number): string {
  const [today, at] = [new Date(TODAY), new Date(TODAY)];
  at.setUTCDate(day);
  if (at <= today) at.setUTCMonth(at.getUTCMonth() + 1);
  return at.toISOString().slice(0, 10);
}

/** An attempt or a claimed event with its second as its signed timestamp, and an invented signature; anything else unchanged. */
function stamped(value: Record<string, unknown>): Record<string, unknown> {
  const [start, name] =
    value.object === 'claimed_event'
      ? [value.lease_expires_at, 'headers']
      : [value.started_at, 'request_headers'];
  const headers = value[name];
  if (typeof start !== 'string' || typeof headers !== 'object' || headers === null) return value;
  const seconds = String(Math.floor(Date.parse(start) / 1000));
  const signed = {
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${createHash('sha256').update(`signed at ${seconds}`).digest('base64')}`,
  };
  return { ...value, [name]: { ...headers, ...signed } };
}
