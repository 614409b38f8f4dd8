import {
  currencyDigits,
  formatDecimal,
  MAX_AMOUNT,
  normalizeCurrency,
  parseDecimal,
} from '../../kernel/money.ts';
import { amounts } from '../terminal/money.ts';
import { UsageError } from './errors.ts';

export const DECIMAL_HELP = 'a decimal such as 12.50';

/** The lower-case code of a currency from the command line. Throws a UsageError that names the option. */
export function readCurrency(option: string, text: string): string {
  const currency = normalizeCurrency(text);
  if (currency !== null) return currency;
  throw new UsageError(`${option} must be an ISO 4217 currency code such as eur, not ${text}`);
}

/** The range of an amount. */
interface Amount {
  readonly currency: string;
  /** The minimum, in minor units. */
  readonly from: number;
}

/**
 * Minor units of a decimal from the command line: `12.50` eur -> 1250. Throws a UsageError that names the option
 * and how many digits the currency has.
 */
export function readAmount(option: string, text: string, { currency, from }: Amount): number {
  const minor = parseDecimal(text, currency);
  const code = currency.toUpperCase();
  if (minor === null) {
    const digits = currencyDigits(currency);
    const example = formatDecimal(1250n, currency);
    const most = digits === 0 ? 'no digits after the point' : `at most ${digits} digits after the point`;
    throw new UsageError(
      `${option} must be an amount in ${code}, such as ${example}, with ${most}, not ${text}`,
    );
  }
  if (minor >= BigInt(from) && minor <= BigInt(MAX_AMOUNT)) return Number(minor);
  const [least, most] = [from, MAX_AMOUNT].map((limit) => formatDecimal(BigInt(limit), currency));
  throw new UsageError(`${option} must be from ${least} to ${most} ${code}, not ${text}`);
}

/**
 * Minimums from the command line: `usd=50.00,jpy=5000` -> `{usd: 5000, jpy: 5000}`, and `none` -> `{}`. Throws a
 * UsageError that names the option.
 */
export function readMinimums(option: string, text: string): Record<string, number> {
  if (text === 'none') return {};
  const minimums: Record<string, number> = {};
  for (const pair of text.split(',')) {
    const [, code = '', amount = ''] = /^\s*([A-Za-z]{3})\s*=\s*(\S+)\s*$/.exec(pair) ?? [];
    if (code === '') {
      throw new UsageError(
        `${option} must look like usd=50.00,eur=45.00, or be none, not ${JSON.stringify(text)}`,
      );
    }
    const currency = readCurrency(option, code);
    if (currency in minimums) throw new UsageError(`${option} names ${currency} twice`);
    minimums[currency] = readAmount(option, amount, { currency, from: 0 });
  }
  return minimums;
}

/** Minimums for people: `50.00 USD, 45.00 EUR`; null when there are none. */
export function describeMinimums(minimums: Readonly<Record<string, number>> | null): string | null {
  const list = Object.entries(minimums ?? {}).map(([currency, amount]) => ({ currency, amount }));
  return list.length === 0 ? null : amounts(list);
}
