import { currencyDigits, formatDecimal } from '../../src/kernel/money.ts';

/** An amount of minor units. */
export interface Amount {
  readonly amount: number;
  readonly currency: string;
}

const locale = navigator.languages[0];

/** Caches formatters: creating one takes far longer than using it, and a table has hundreds of cells. */
function once<Options, Formatter>(make: (options: Options) => Formatter): (options: Options) => Formatter {
  const made = new Map<string, Formatter>();
  return (options) => {
    const key = JSON.stringify(options);
    const formatter = made.get(key) ?? make(options);
    made.set(key, formatter);
    return formatter;
  };
}

const numbers = once((options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
const dates = once((options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options));
const ages = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });

/** The digits of an amount in the reader's locale, complete and never rounded: 152584 usd -> `1,525.84`. */
export function figures({ amount, currency }: Amount): string {
  const digits = currencyDigits(currency);
  const format = numbers({ minimumFractionDigits: digits, maximumFractionDigits: digits });
  // a string keeps every digit, while a number beyond 2^53 would not
  return format.format(formatDecimal(BigInt(amount), currency) as unknown as number);
}

/** An amount in a sentence: `1,525.84 USD`. */
export const money = (each: Amount) => `${figures(each)} ${each.currency.toUpperCase()}`;

/** An example of an amount to type: `15.00`, without a fraction for yen. */
export const exampleAmount = (currency: string) =>
  formatDecimal(BigInt(15 * 10 ** currencyDigits(currency)), currency);

/** An integer in the reader's locale. */
export const whole = (number: number) => numbers({}).format(number);

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** A number of bytes in the reader's locale: `1.4 MB`. */
export function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), SIZES.length - 1);
  return numbers({
    style: 'unit',
    unit: SIZES[power] as (typeof SIZES)[number],
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 0 ? 0 : 1,
  }).format(bytes / 1000 ** power);
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** `3 minutes ago`, `in 2 days`. `now` in milliseconds since 1970. */
export function relative(instant: string, now: number): string {
  const seconds = (Date.parse(instant) - now) / 1000;
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return ages.format(Math.round(seconds / size), unit);
  }
  return ages.format(0, 'second');
}

/** The instant to the second, with its zone. */
export function exact(instant: string, clock: 'utc' | 'local'): string {
  return dates({
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
  }).format(new Date(instant));
}

/** The date and the time of day. */
export function dayAndTime(instant: string, clock: 'utc' | 'local'): string {
  return dates({
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...(clock === 'utc' ? { timeZone: 'UTC' } : {}),
  }).format(new Date(instant));
}

/** A day `YYYY-MM-DD` in the reader's locale. */
export function day(text: string): string {
  return dates({ dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${text}T00:00:00Z`));
}

/** A short round number for an axis: 1500 -> `1.5K`. */
export const short = (number: number) =>
  numbers({ notation: 'compact', maximumSignificantDigits: 4 }).format(number);

const DAY: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };
const MINUTE: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };

/**
 * The names of the interval that starts at an instant: in full, and for the axis of a chart. `timeZone` is the
 * account's for intervals of its days, else that of the chosen clock; undefined = the zone of this machine.
 */
export function intervalName(
  startsAt: string,
  interval: 'minute' | 'hour' | 'day' | 'week' | 'month',
  timeZone: string | undefined,
): { title: string; tick: string } {
  const written = (options: Intl.DateTimeFormatOptions) =>
    dates({ ...options, ...(timeZone && { timeZone }) }).format(new Date(startsAt));
  if (interval === 'month') {
    return { title: written({ month: 'long', year: 'numeric' }), tick: written({ month: 'short' }) };
  }
  if (interval === 'day' || interval === 'week') {
    return { title: written({ ...DAY, year: 'numeric' }), tick: written(DAY) };
  }
  return { title: written({ ...DAY, ...MINUTE }), tick: written(MINUTE) };
}
