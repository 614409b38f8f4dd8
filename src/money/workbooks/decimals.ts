/** The digits a spreadsheet keeps of a number (IEEE 754). */
const KEPT_DIGITS = 15;

/** A decimal number: `digits` without leading zeros, the last `scale` of them after the point. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly scale: number;
}

/** A stored number such as `0.30000000000000004` or `1.2E+15`, to the 15 digits that a spreadsheet shows. null = not a number. */
export function decimalOf(text: string): Decimal | null {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number)) return null;
  const [mantissa = '0', exponent = '0'] = Math.abs(number)
    .toExponential(KEPT_DIGITS - 1)
    .split('e');
  const digits = withoutEndZeros(mantissa.replace('.', ''));
  const scale = digits.length - 1 - Number(exponent);
  const whole = scale < 0 ? digits + '0'.repeat(-scale) : digits;
  return {
    isNegative: number < 0,
    digits: whole.replace(/^0+/, ''),
    scale: digits === '' ? 0 : Math.max(0, scale),
  };
}

/** Digits without the zeros at their end. */
export function withoutEndZeros(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '0') end -= 1;
  return digits.slice(0, end);
}

/** Whether a whole number has more digits than a spreadsheet keeps, so that its last digits are lost. */
export const hasLostDigits = ({ digits, scale }: Decimal): boolean => digits.length - scale > KEPT_DIGITS;

/** The number times a power of ten. */
export function shifted({ isNegative, digits, scale }: Decimal, places: number): Decimal {
  const next = scale - places;
  return next >= 0
    ? { isNegative, digits, scale: next }
    : { isNegative, digits: digits === '' ? '' : digits + '0'.repeat(-next), scale: 0 };
}

/** The digits before the point (empty for 0), and `places` digits after it; halves are rounded away from zero. */
export function rounded(
  { digits, scale }: Decimal,
  places: number,
): { readonly whole: string; readonly fraction: string } {
  const padded = digits.padStart(scale, '0') + '0'.repeat(Math.max(0, places - scale));
  const cut = Math.max(0, scale - places);
  const kept = padded.slice(0, padded.length - cut);
  const isUp = cut > 0 && padded.charAt(padded.length - cut) >= '5';
  const text = (isUp ? (BigInt(kept || '0') + 1n).toString() : kept).padStart(places, '0');
  return {
    whole: text.slice(0, text.length - places).replace(/^0+/, ''),
    fraction: text.slice(text.length - places),
  };
}

/** All digits, with a point if there is a fraction. */
export function plainText(number: Decimal): string {
  const { whole, fraction } = rounded(number, number.scale);
  const sign = number.isNegative && number.digits !== '' ? '-' : '';
  return `${sign}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}
