import { normalizeCurrency } from '../../kernel/money.ts';
import { formatInstant, parseDay } from '../../kernel/time.ts';
import { dayStart } from '../../kernel/zones.ts';

/** The decimal sign of a file's amounts. */
export const DECIMALS = ['point', 'comma'] as const;
export type Decimal = (typeof DECIMALS)[number];

/** How a file writes days: year first, or day or month first. */
export const DATE_FORMS = ['iso', 'dmy', 'mdy'] as const;
export type DateForm = (typeof DATE_FORMS)[number];

/** What a value proves about the file; `either` = it is ambiguous, null = it proves nothing. */
export type Evidence<Choice> = Choice | 'either' | null;

const SYMBOLS: Readonly<Record<string, RegExp>> = {
  '€': /^eur$/,
  '£': /^(gbp|fkp|shp|egp|lbp|ssp)$/,
  '¥': /^(jpy|cny)$/,
  $: /^(usd|cad|aud|nzd|sgd|hkd|twd|mxn|brl|ars|clp|cop)$/,
};

/** Longer cells are no numbers and no dates, whatever they contain. */
const LONGEST_CELL = 64;
const isShort = (text: string) => text.length <= LONGEST_CELL;

const AMOUNT =
  /^(-?)\s*(?:([A-Za-z]{3})\s*)?(?:([$€£¥])\s*)?(?:(-)\s*)?(\d(?:[.,'’ \u00a0\u202f]?\d)*)\s*(?:([$€£¥])\s*)?([A-Za-z]{3})?$/;

interface Written {
  readonly sign: string;
  readonly digits: string;
  /** The currency next to the digits: a code, a symbol or nothing. */
  readonly unit: string;
}

/** An amount with its sign in front: spreadsheets also write `(5.00)`, `$(5.00)`, `5.00-` and `−5.00` (U+2212). */
const signed = (text: string): string =>
  text
    .replaceAll('−', '-')
    .replace(/^([^()]*)\(([^()]+)\)$/, '-$1$2')
    .replace(/^(.+)-$/, '-$1');

/** Splits an amount into its parts; null when it is not an amount. */
function written(text: string): Written | null {
  const match = isShort(text) ? AMOUNT.exec(signed(text)) : null;
  if (match === null) return null;
  const [, before = '', code = '', symbol = '', after = '', digits = '', end = '', endCode = ''] = match;
  const units = [code, symbol, end, endCode].filter((unit) => unit !== '');
  if (units.length > 1 || (before !== '' && after !== '')) return null;
  return { sign: before + after, digits, unit: units[0] ?? '' };
}

/** What an amount proves about the decimal sign. `1.234` could be a thousand or one and a fraction: either. */
export function decimalEvidence(text: string): Evidence<Decimal> {
  const digits = written(text)?.digits;
  if (digits === undefined) return null;
  const points = digits.split('.').length - 1;
  const commas = digits.split(',').length - 1;
  if (points > 0 && commas > 0) return digits.lastIndexOf('.') > digits.lastIndexOf(',') ? 'point' : 'comma';
  if (points + commas === 0) return null;
  const own: Decimal = points > 0 ? 'point' : 'comma';
  if (points + commas > 1) return own === 'point' ? 'comma' : 'point';
  const [whole = '', fraction = ''] = digits.split(/[.,]/);
  return fraction.length === 3 && /^[1-9]\d{0,2}$/.test(whole) ? 'either' : own;
}

const DIGITS: Readonly<Record<Decimal, RegExp>> = {
  point: /^(?:\d+|\d{1,3}([,'’ \u00a0\u202f])\d{3}(?:\1\d{3})*)(?:\.\d+)?$/,
  comma: /^(?:\d+|\d{1,3}([.'’ \u00a0\u202f])\d{3}(?:\1\d{3})*)(?:,\d+)?$/,
};
const PLAIN_AMOUNT = /^\d+(?:\.\d+)?$/;

/** An amount in our own format (`1234.50`), or the error, worded to follow the name of its field. */
export function readAmount(
  text: string,
  decimal: Decimal,
  currency: string | null,
): { readonly text: string } | { readonly rule: string } {
  if (decimal === 'point' && isShort(text) && PLAIN_AMOUNT.test(text)) return { text };
  const found = written(text);
  if (found === null || !DIGITS[decimal].test(found.digits)) {
    return {
      rule: `must be an amount with a decimal ${decimal}${decimal === 'point' ? ' (1234.50)' : ' (1234,50)'}`,
    };
  }
  const { sign, digits, unit } = found;
  if (unit !== '' && currency !== null && !isUnitOf(unit, currency)) return { rule: `is not in ${currency}` };
  const bare = digits.replaceAll(decimal === 'point' ? /[,'’ \u00a0\u202f]/g : /[.'’ \u00a0\u202f]/g, '');
  return { text: sign + bare.replace(',', '.') };
}

function isUnitOf(unit: string, currency: string): boolean {
  const code = normalizeCurrency(currency);
  return SYMBOLS[unit]?.test(code ?? '') ?? normalizeCurrency(unit) === code;
}

/** A rate in basis points: `12.5 %` is 1250. null when it is no percentage of at most two decimals. */
export function readPercent(text: string): string | null {
  const match = isShort(text) ? /^(\d{1,3})(?:[.,](\d{1,2}))?\s*%$/.exec(text) : null;
  return match && String(Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')));
}

/** Whether a spreadsheet shortened a long number, so that its last digits are lost: `1.23457E+15`. */
export const isShortened = (text: string): boolean => /^\d(?:[.,]\d{1,20})?E\+\d{2,3}$/.test(text);

const CLOCK = String.raw`(?:[T,]?\s*(?:at\s+)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:\s*(AM|PM))?(?:\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?`;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[Tt].+)?$/;
const ISO_DAY = /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{1,2}:\d{2}.*)?$/;
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})${CLOCK}$`, 'i');
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})${CLOCK}$`, 'i');
const DAY_NAMED = new RegExp(
  String.raw`^(\d{1,2})(?:st|nd|rd|th)?\.?[ -]([A-Z]{3,9})\.?,?[ -](\d{4})${CLOCK}$`,
  'i',
);
const MONTH_NAMED = new RegExp(
  String.raw`^([A-Z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})${CLOCK}$`,
  'i',
);
const DATES = [YEAR_FIRST, YEAR_LAST, DAY_NAMED, MONTH_NAMED];
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];
const DAY_MS = 86_400_000;

/** What a date proves about the order of day and month. */
export function dateEvidence(text: string): Evidence<DateForm> {
  if (!isShort(text)) return null;
  if (ISO.test(text) || YEAR_FIRST.test(text)) return 'iso';
  const match = YEAR_LAST.exec(text);
  if (match === null) return null;
  const [first, second] = [Number(match[1]), Number(match[3])];
  if (first > 12) return second <= 12 ? 'dmy' : null;
  return second > 12 ? 'mdy' : 'either';
}

/**
 * A date or time in our own format: `2026-09-01`, or an instant if there is a time of day, in `zone` unless it names
 * another. null when it is not a date.
 */
export function readTime(text: string, form: DateForm, zone: string): string | null {
  if (!isShort(text)) return null;
  if (ISO.test(text)) return text;
  const parts = dateParts(text, form);
  if (parts === null) return null;
  const day = dayOf(parts);
  const midnight = day === null ? null : parseDay(day);
  if (day === null || midnight === null) return null;
  return parts.clock[0] === undefined ? day : instantOf(midnight, parts.clock, zone);
}

const DATE_EXAMPLES: Readonly<Record<DateForm, string>> = {
  iso: 'such as 2026-12-31',
  dmy: 'with the day first, such as 31.12.2026',
  mdy: 'with the month first, such as 12/31/2026',
};

/** The rule that a text breaks that `readTime` or `readDay` cannot read, worded to follow the name of its field. */
export function dateRule(text: string, form: DateForm): string {
  const { month = 0, day = 0 } = (isShort(text) && dateParts(text, form)) || {};
  const isNear = month >= 1 && month <= 12 && day >= 1 && day <= 31;
  return isNear ? 'is not a day of the calendar' : `must be a date ${DATE_EXAMPLES[form]}`;
}

/** The day of a date or time, such as `2026-09-01`; null when it is neither. */
export function readDay(text: string, form: DateForm): string | null {
  if (!isShort(text)) return null;
  if (ISO_DAY.test(text)) return text.slice(0, 10);
  const parts = dateParts(text, form);
  return parts && dayOf(parts);
}

/** Whether a text is a date or time that can be read, whichever of day and month comes first. */
export const isDate = (text: string): boolean =>
  isShort(text) && (ISO_DAY.test(text) || DATES.some((date) => date.test(text)));

interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Hour, minute, second, AM or PM, zone. */
  readonly clock: readonly (string | undefined)[];
}

/** The day in our own format; null when the calendar does not have it. */
function dayOf({ year, month, day }: DateParts): string | null {
  const pad = (number: number) => String(number).padStart(2, '0');
  const text = `${year}-${pad(month)}-${pad(day)}`;
  return parseDay(text) === null ? null : text;
}

function dateParts(text: string, form: DateForm): DateParts | null {
  let match = YEAR_FIRST.exec(text);
  if (match)
    return { year: Number(match[1]), month: Number(match[3]), day: Number(match[4]), clock: match.slice(5) };
  match = YEAR_LAST.exec(text);
  if (match) {
    if (form === 'iso') return null;
    const [day, month] = form === 'dmy' ? [match[1], match[3]] : [match[3], match[1]];
    return { year: Number(match[4]), month: Number(month), day: Number(day), clock: match.slice(5) };
  }
  match = DAY_NAMED.exec(text);
  if (match)
    return { year: Number(match[3]), month: monthOf(match[2]), day: Number(match[1]), clock: match.slice(4) };
  match = MONTH_NAMED.exec(text);
  if (match)
    return { year: Number(match[3]), month: monthOf(match[1]), day: Number(match[2]), clock: match.slice(4) };
  return null;
}

/** 1 to 12, or 0 when it is not an English month name. */
function monthOf(name = ''): number {
  const lower = name.toLowerCase();
  return (
    MONTHS.findIndex(
      (month) =>
        month === lower || month.slice(0, 3) === lower || (lower === 'sept' && month === 'september'),
    ) + 1
  );
}

function instantOf(midnight: number, clock: readonly (string | undefined)[], zone: string): string | null {
  const [hours = '0', minutes = '0', seconds = '0', half, offset] = clock;
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (half.toUpperCase() === 'PM' ? 12 : 0);
  }
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const time = ((hour * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  if (offset !== undefined) return formatInstant(midnight + time - offsetMs(offset));
  const start = dayStart(midnight, zone);
  // the clocks change on few days; only on those is the time searched for
  const isEven = dayStart(midnight + DAY_MS, zone) - start === DAY_MS;
  return formatInstant(isEven ? start + time : dayStart(midnight + time, zone));
}

function offsetMs(offset: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(offset);
  if (match === null) return 0;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
}
