import { multiplyRounded } from '../../kernel/money.ts';

/** What was taken back of a commission so far, in minor units. */
export interface Taken {
  readonly original: bigint;
  /** The sale it is a share of; null = not known. */
  readonly sale: bigint | null;
  /** Taken back in total. */
  readonly refunded: bigint;
  /** Refunded of the sale in total. */
  readonly refundedSale: bigint;
  /** The part of `refunded` that was requested as commission, not as a part of the sale. */
  readonly byAmount: bigint;
}

/** What a refund requests of a commission: minor units of it, minor units of its sale, or all that is left. */
export type RequestedShare =
  | { readonly of: 'commission'; readonly amount: bigint }
  | { readonly of: 'sale'; readonly amount: bigint }
  | { readonly of: 'rest' };

/** What a refund takes. */
export interface Share {
  readonly amount: bigint;
  /** The part of the sale that it refunds; null when commission was requested. */
  readonly sale: bigint | null;
  /** More was requested than was left. */
  readonly capped: boolean;
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

/**
 * What a refund takes. Refunds of a sale are cumulative: together they take the original × the refunded part of the
 * sale / the sale, rounded half away from zero, however many there are. What was requested as commission comes on top.
 * They never take more than the original.
 */
export function shareOf(taken: Taken, requested: RequestedShare): Share {
  const rest = taken.original - taken.refunded;
  if (requested.of === 'rest') {
    const left = taken.sale === null ? null : taken.sale - taken.refundedSale;
    return { amount: rest, sale: left !== null && left < 0n ? 0n : left, capped: false };
  }
  if (requested.of === 'commission') {
    return { amount: smaller(requested.amount, rest), sale: null, capped: requested.amount > rest };
  }
  const sale = taken.sale ?? 0n;
  const refunded = taken.refundedSale + requested.amount;
  const proRata =
    sale === 0n ? taken.original : multiplyRounded(taken.original, smaller(refunded, sale), sale);
  const due = proRata + taken.byAmount;
  const more = smaller(due, taken.original) - taken.refunded;
  return {
    amount: more > 0n ? more : 0n,
    sale: requested.amount,
    capped: refunded > sale || due > taken.original,
  };
}

/** The totals with this share included. */
export function after(taken: Taken, { amount, sale }: Share): Taken {
  return {
    ...taken,
    refunded: taken.refunded + amount,
    refundedSale: taken.refundedSale + (sale ?? 0n),
    byAmount: taken.byAmount + (sale === null ? amount : 0n),
  };
}
