import { normalizeCurrency, parseDecimal } from '../../kernel/money.ts';
import { UsageError } from '../command/errors.ts';

/** An entry of an option: all lines of an affiliate, one of them, or the amount paid of one. */
export interface Named {
  readonly affiliate_id: number;
  readonly currency?: string;
  /** Minor units. */
  readonly amount?: number;
}

/**
 * The list of `--paid 1,2:usd,3:huf=1200`: affiliates, single lines, and the amount paid of a line. Throws UsageError for
 * anything else.
 */
export function readNamed(option: string, text: string): Named[] {
  return text.split(',').map((item) => {
    const found = /^\s*([1-9]\d{0,14})(?::([A-Za-z]{3})(?:=(\S+))?)?\s*$/.exec(item);
    if (found === null) {
      throw new UsageError(
        `${option} must be affiliate ids such as 1,2,3, or with a currency 3:usd, not ${JSON.stringify(text)}`,
      );
    }
    const [, id, code, decimal] = found;
    const named = { affiliate_id: Number(id) };
    if (code === undefined) return named;
    const currency = normalizeCurrency(code);
    if (currency === null) throw new UsageError(`${option}: ${code} is not an ISO 4217 currency code`);
    if (decimal === undefined) return { ...named, currency };
    const amount = parseDecimal(decimal, currency);
    if (amount === null || amount < 1n) {
      throw new UsageError(`${option}: ${decimal} is not an amount in ${currency.toUpperCase()} above zero`);
    }
    return { ...named, currency, amount: Number(amount) };
  });
}
