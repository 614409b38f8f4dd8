import { currencyDigits, parseDecimal } from '../../kernel/money.ts';

/** An amount as written in a file. */
export interface WrittenAmount {
  /** 0 for zero, even with a minus. */
  readonly sign: -1 | 0 | 1;
  /** The possible readings of its digits, as decimals with a point and without a sign: two for `1,234`. */
  readonly readings: readonly string[];
}

const LONGEST = 64;

/**
 * Reads an amount with any separators: `1,234.56`, `1.234,56`, `1 234,5` or `-10`. Null if it is not an amount. A single
 * separator before three digits, as in `1,234`, may be a thousands separator or a decimal comma: the currency decides.
 */
export function readAmount(written: string): WrittenAmount | null {
  if (written.length > LONGEST) return null;
  const plain = written.replaceAll(/[\s'’]/g, '');
  const isNegative = /^[-−]/.test(plain);
  const digits = plain.replace(/^[-−+]/, '');
  const readings = /^\d[\d.,]*$/.test(digits) && /\d$/.test(digits) ? readingsOf(digits) : [];
  if (readings.length === 0) return null;
  return { sign: /[1-9]/.test(digits) ? (isNegative ? -1 : 1) : 0, readings };
}

/** The readings of digits with separators. */
function readingsOf(digits: string): string[] {
  const at = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (at === -1) return [digits];
  const sign = digits[at] ?? '';
  const [whole, fraction] = [digits.slice(0, at), digits.slice(at + 1)];
  const isDivided = /[.,]/.test(whole);
  if (isDivided && whole.includes(sign)) return isGrouped(digits, sign) ? [digits.replaceAll(sign, '')] : [];
  if (isDivided) {
    const other = sign === '.' ? ',' : '.';
    return isGrouped(whole, other) ? [`${whole.replaceAll(other, '')}.${fraction}`] : [];
  }
  const decimal = `${whole}.${fraction}`;
  return isGrouped(digits, sign) && !whole.startsWith('0') ? [`${whole}${fraction}`, decimal] : [decimal];
}

/** Whether a separator groups thousands, or lakhs as in India, and no other separator does. */
function isGrouped(digits: string, sign: string): boolean {
  const [first = '', ...groups] = digits.split(sign);
  return (
    /^\d{1,3}$/.test(first) &&
    groups.at(-1)?.length === 3 &&
    groups.every((group) => group.length >= 2 && /^\d{2,3}$/.test(group))
  );
}

/** The amount in an XML message: always decimals with a point. */
export const readXmlAmount = (text: string): readonly string[] =>
  /^\d{1,18}(\.\d{1,17})?$/.test(text) ? [text] : [];

/** Minor units of an amount; undefined if it is not an amount of the currency, or is ambiguous. */
export function minorOf(readings: readonly string[], currency: string): bigint | undefined {
  const cut = readings.length === 1 ? (text: string) => withoutZeros(text, currency) : (text: string) => text;
  const found = new Set(
    readings.map((text) => parseDecimal(cut(text), currency)).filter((minor) => minor !== null),
  );
  const [only] = found;
  return found.size === 1 ? only : undefined;
}

/** Banks write more zeros than a currency has digits: `10.00000`. */
function withoutZeros(text: string, currency: string): string {
  const point = text.indexOf('.');
  if (point === -1) return text;
  let end = text.length;
  while (end > point + 1 + currencyDigits(currency) && text[end - 1] === '0') end -= 1;
  return text.slice(0, end === point + 1 ? point : end);
}
