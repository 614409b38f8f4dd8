/** A sum of a line or payout, and what leaves the bank if its commissions are net or something is withheld. */
interface Sum {
  readonly amount: number;
  readonly with_tax?: { readonly amount: number } | undefined;
}

/** What leaves the bank, in minor units: the amount, with the tax on top and without what is withheld. */
export const toPay = ({ amount, with_tax }: Sum): number => with_tax?.amount ?? amount;

/**
 * The part of what is owed in a payment out of `net` and `tax`, below zero if withheld, in minor units: in proportion, rounded half up, at least 1 on each side; all of it
 * when the payment is everything. The server computes the same in SQL (`netPartOf`).
 */
export function netPart(payment: bigint, net: bigint, tax: bigint): bigint {
  if (tax === 0n) return payment;
  if (payment === net + tax) return net;
  const near = (2n * payment * net + net + tax) / (2n * (net + tax));
  const [least, most] = [1n, net - 1n];
  return near < least ? least : near > most ? most : near;
}
