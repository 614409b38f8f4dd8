import { MAX_JSON_INTEGER } from './money.ts';

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?)(\d+))?$/;
/** An exponent of more digits is out of everybody's reach. */
const MAX_EXPONENT_DIGITS = 18;

interface Decimal {
  readonly sign: '' | '-';
  /** Without zeros at either end; empty = zero. */
  readonly digits: string;
  /** Of ten, times the digits. */
  readonly exponent: bigint;
}

/** The decimal that a JSON number says, digit by digit; null when its exponent has more than 18 digits. */
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

/** The same text for numbers of the same value: `7.0`, `7` and `70e-1` give `7e0`. -0 is not 0. */
export function canonicalNumber(text: string): string {
  const decimal = decimalOf(text);
  return decimal === null ? text : `${decimal.sign}${decimal.digits || '0'}e${decimal.exponent}`;
}

/**
 * The rule for a whole number that a JSON number breaks which JavaScript does not hold as it was written: by digits
 * that are rounded away, by its size, or as -0. null when it is held.
 */
export function roundedRule(text: string): string | null {
  const read = Number(text);
  if (Object.is(read, -0) && decimalOf(text)?.digits === '') return 'must not be -0';
  if (canonicalNumber(text) === canonicalNumber(String(read))) return null;
  const decimal = decimalOf(text);
  const isFraction = decimal === null ? Math.abs(read) < 1 : decimal.exponent < 0n;
  return isFraction
    ? `must be a whole number, not ${short(text)}`
    : `must be from -${MAX_JSON_INTEGER} to ${MAX_JSON_INTEGER}, not ${short(text)}`;
}

const short = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
