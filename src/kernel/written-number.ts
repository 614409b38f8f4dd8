import { MAX_JSON_INTEGER } from './money.ts';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?$/;
/** A decimal of this many digits survives a double within this range, which leaves out zero and what has fewer bits. */
const SURE_DIGITS = 15;
const SURE = { least: 1e-290, most: 1e290 };
/** Exponents with more digits are far outside any usable range. */
const MAX_EXPONENT_DIGITS = 18;

const NOT_MINUS_ZERO = 'must not be -0';

interface Decimal {
  readonly sign: '' | '-';
  /** Without leading and trailing zeros; empty = zero. */
  readonly digits: string;
  /** The power of ten that `digits` is multiplied by. */
  readonly exponent: bigint;
}

/** The exact decimal value of a JSON number; null when its exponent has more than 18 digits. */
function decimalOf(text: string): Decimal | null {
  const [, sign, whole = '', fraction = '', exponentSign = '', written = ''] = NUMBER.exec(text) ?? [];
  const all = whole + fraction;
  let start = 0;
  while (all[start] === '0') start += 1;
  let end = all.length;
  while (end > start && all[end - 1] === '0') end -= 1;
  const digits = all.slice(start, end);
  if (digits === '') return { sign: sign === '-' ? '-' : '', digits, exponent: 0n };
  const exponent = written.replace(/^0+/, '');
  if (exponent.length > MAX_EXPONENT_DIGITS) return null;
  const shift = all.length - end - fraction.length;
  return {
    sign: sign === '-' ? '-' : '',
    digits,
    exponent: BigInt(`${exponentSign === '-' ? '-' : ''}${exponent || '0'}`) + BigInt(shift),
  };
}

/** The same text for numbers of equal value: `7.0`, `7` and `70e-1` become `7e0`. -0 differs from 0. */
export function canonicalNumber(text: string): string {
  const decimal = decimalOf(text);
  return decimal === null ? text : `${decimal.sign}${decimal.digits || '0'}e${decimal.exponent}`;
}

/** The same for a number that was read: of an integer, which most numbers are, without reading its text again. */
export function canonicalOfRead(read: number): string {
  if (!Number.isSafeInteger(read) || read === 0) return canonicalNumber(String(read));
  let [digits, zeros] = [read, 0];
  while (digits % 10 === 0) {
    digits /= 10;
    zeros += 1;
  }
  return `${digits}e${zeros}`;
}

/**
 * The rule for integers that a JSON number breaks because JavaScript cannot represent it as written: digits are rounded
 * away, it is too large, or it is -0. null when JavaScript represents it exactly.
 */
export function roundedRule(text: string): string | null {
  if (text === '-0') return NOT_MINUS_ZERO;
  const read = Number(text);
  if (text.length <= SURE_DIGITS && Math.abs(read) > SURE.least && Math.abs(read) < SURE.most) return null;
  if (Object.is(read, -0) && decimalOf(text)?.digits === '') return NOT_MINUS_ZERO;
  if (canonicalNumber(text) === canonicalNumber(String(read))) return null;
  const decimal = decimalOf(text);
  const isFraction = decimal === null ? Math.abs(read) < 1 : decimal.exponent < 0n;
  return isFraction
    ? `must be a whole number, not ${short(text)}`
    : `must be from -${MAX_JSON_INTEGER} to ${MAX_JSON_INTEGER}, not ${short(text)}`;
}

const short = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** What `numeric` of PostgreSQL holds (PostgreSQL documentation, table 8.2), which `jsonb` keeps numbers as. */
const MOST_DIGITS = { beforePoint: 131_072, afterPoint: 16_383 };
/** PostgreSQL 15 reads no exponent of this size (`numeric_in`), even that of a zero; 16 and later take one more. */
const TOO_LARGE_EXPONENT = 2 ** 30 - 1;
/** A number that is at most this long, with an exponent of at most four digits, fits in any case. */
const SURELY_STORED = 5000;

function hasLongExponent(text: string): boolean {
  const [lower, upper] = [text.indexOf('e'), text.indexOf('E')];
  // an `e`, a sign and four digits
  return Math.max(lower, upper) !== -1 && text.length - Math.max(lower, upper) > 6;
}

/**
 * The rule that a JSON number breaks because `jsonb` of PostgreSQL cannot hold it; null when it can. Trailing zeros of a
 * fraction count as digits.
 */
export function unstorableRule(text: string): string | null {
  if (text.length <= SURELY_STORED && !hasLongExponent(text)) return null;
  const [, , whole = '', fraction = '', sign, written = ''] = NUMBER.exec(text) ?? [];
  const exponent = Number(written) * (sign === '-' ? -1 : 1);
  const digits = whole + fraction;
  const leadingZeros = /^0*/.exec(digits)?.[0].length ?? 0;
  const beforePoint = leadingZeros === digits.length ? 0 : whole.length - leadingZeros + exponent;
  const isStored =
    Math.abs(exponent) < TOO_LARGE_EXPONENT &&
    beforePoint <= MOST_DIGITS.beforePoint &&
    fraction.length - exponent <= MOST_DIGITS.afterPoint;
  return isStored
    ? null
    : `must have at most ${MOST_DIGITS.beforePoint} digits before the decimal point and ${MOST_DIGITS.afterPoint} after it, ` +
        `written without an exponent; not ${short(text)}`;
}
