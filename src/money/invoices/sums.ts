import { multiplyRounded } from '../../kernel/money.ts';

/** A rate in hundredths of a percent: 1900 = 19 %. */
type Rate = number;
const WHOLE = 10_000n;

/** The sums of an invoice in minor units. The amount paid is net + tax + rounding. */
export interface InvoiceSums {
  readonly net: bigint;
  readonly tax: bigint;
  /** The difference that no net amount plus its tax reaches: 0 or one minor unit (EN 16931, BT-114). */
  readonly rounding: bigint;
}

/** The tax on a net amount (EN 16931, BR-CO-17). */
const taxOn = (net: bigint, rate: Rate) => multiplyRounded(net, BigInt(rate), WHOLE);

/**
 * Splits an amount that includes tax. The tax is computed from the net amount, rounded half up, and the sum never exceeds
 * the amount paid.
 */
export function sumsOf(paid: bigint, rate: Rate): InvoiceSums {
  const near = multiplyRounded(paid, WHOLE, WHOLE + BigInt(rate));
  const fits = [near + 1n, near, near - 1n].find((net) => net + taxOn(net, rate) <= paid) ?? 0n;
  const tax = taxOn(fits, rate);
  return { net: fits, tax, rounding: paid - fits - tax };
}
