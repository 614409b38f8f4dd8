import type { Commission } from '../../client/client.ts';
import { readAmount, readCurrency } from '../command/amounts.ts';
import { UsageError } from '../command/errors.ts';

/** A typed order line: all of it, or a part of its sale. */
interface TypedLine {
  readonly id: string;
  readonly amount: string | undefined;
}

/** The amounts of a refund for the API. */
export interface RefundLines {
  readonly currency?: string | undefined;
  readonly lines?: { readonly order_line_id: string; readonly sale_amount?: number }[];
}

/** `mug=12.00` and `plate` as lines; the amount follows the last equals sign. */
export function linesOf(typed: readonly string[]): TypedLine[] {
  return typed.map((text) => {
    const at = text.lastIndexOf('=');
    const [id, amount] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
    if (id !== '') return { id, amount };
    throw new UsageError(`--line must look like mug or mug=12.00, not ${text}`);
  });
}

/**
 * Lines in minor units of the given currency, or that of their commissions. Without lines, the currency of the
 * commissions. Throws a UsageError if it is ambiguous.
 */
export function readLines(
  lines: readonly TypedLine[],
  commissions: readonly Commission[],
  given: string | undefined,
): RefundLines {
  const codeOf = (some: readonly Commission[], what: string) => {
    if (given !== undefined) return readCurrency('--currency', given);
    const [currency, ...others] = new Set(some.map((each) => each.currency));
    if (others.length === 0) return currency;
    const codes = [currency, ...others].map((code) => code?.toUpperCase()).join(', ');
    throw new UsageError(
      `${what} has commissions in ${codes}: choose with --product or --line, or refund each with payhook commissions refund`,
    );
  };
  if (lines.length === 0) return { currency: codeOf(commissions, 'the order') };
  const read = lines.map(({ id, amount }) => {
    if (amount === undefined) return { order_line_id: id };
    const own = commissions.filter((each) => each.order_line_id === id);
    const currency = codeOf(own, `line ${id}`);
    if (currency === undefined) {
      throw new UsageError(`line ${id} has no commission yet: give the --currency of the amount`);
    }
    return { order_line_id: id, sale_amount: readAmount('--line', amount, { currency, from: 1 }) };
  });
  const withAmount = given !== undefined && read.some((line) => 'sale_amount' in line);
  return { ...(withAmount ? { currency: readCurrency('--currency', given) } : {}), lines: read };
}
