import type { CommissionId } from '../../kernel/ids.ts';
import type { RequestedShare } from './rule.ts';

/**
 * What a refund by order names: the order, a product in it, a line of it, or one commission. Amounts in minor
 * units.
 */
export interface RefundLine {
  readonly productId: string | null;
  readonly orderLineId: string | null;
  /** The external_id of the one commission it names. */
  readonly externalId: string | null;
  readonly amount: bigint | null;
  readonly saleAmount: bigint | null;
  /** The currency the amount is in; null until it is known. */
  readonly currency: string | null;
}

/** A commission of the order, with the fields that decide what a refund means. */
export interface Candidate {
  readonly id: CommissionId;
  readonly external_id: string;
  readonly order_line_id: string | null;
  readonly product_id: string | null;
  readonly currency: string;
  readonly sale_amount: bigint | null;
}

/** The result of a line: no commission is there yet, it could mean several sales, or the commissions it takes. */
export type Settled<Item extends Candidate> =
  | { readonly status: 'waiting' }
  | { readonly status: 'in_doubt'; readonly why: string }
  | {
      readonly status: 'applied';
      readonly take: readonly Item[];
      readonly orderLineId: string | null;
      readonly currency: string | null;
      /** Commissions that are created later are taken too. */
      readonly isOpen: boolean;
    };

/** Whether a line matches this commission of its order. */
export function concerns(line: RefundLine, commission: Candidate): boolean {
  return (
    (line.productId === null || line.productId === commission.product_id) &&
    (line.orderLineId === null || line.orderLineId === commission.order_line_id) &&
    (line.externalId === null || line.externalId === commission.external_id)
  );
}

/** What a line takes from each commission. */
export function requestedShareOf({
  amount,
  saleAmount,
}: Pick<RefundLine, 'amount' | 'saleAmount'>): RequestedShare {
  if (amount !== null) return { of: 'commission', amount };
  return saleAmount === null ? { of: 'rest' } : { of: 'sale', amount: saleAmount };
}

/** The sale a commission is a share of: commissions of an order with the same line id share one. */
const saleOf = ({ order_line_id, external_id }: Candidate) =>
  order_line_id === null ? `commission ${external_id}` : `line ${order_line_id}`;

/** Decides what a line means, from the matching commissions of its order. */
export function settleLine<Item extends Candidate>(
  line: RefundLine,
  matched: readonly Item[],
): Settled<Item> {
  const [first] = matched;
  if (!first) return { status: 'waiting' };
  const applied = { status: 'applied', take: matched } as const;
  if (line.amount === null && line.saleAmount === null) {
    const { orderLineId, currency } = line;
    return { ...applied, orderLineId, currency, isOpen: line.externalId === null };
  }
  const why = doubtOf(line, matched);
  if (why !== null) return { status: 'in_doubt', why };
  const { order_line_id: orderLineId, currency } = first;
  // later shares of the same sale follow; an amount of commission refers to the one that was there
  const isOpen = line.amount === null && line.externalId === null && orderLineId !== null;
  return { ...applied, orderLineId, currency, isOpen };
}

function doubtOf(line: RefundLine, matched: readonly Candidate[]): string | null {
  const currencies = new Set(matched.map(({ currency }) => currency));
  if (line.currency !== null) currencies.add(line.currency);
  if (line.amount !== null && matched.length > 1)
    return 'an amount applies to one commission, but there are several';
  if (new Set(matched.map(saleOf)).size > 1) return 'there are several sales';
  if (currencies.size > 1) return 'there are several currencies';
  if (line.amount === null && matched.some(({ sale_amount }) => sale_amount === null)) {
    return 'a commission was stored without sale_amount';
  }
  return null;
}

/** The lines of an order for a message: how a refund can name each, its currency and its sale in minor units. */
export function describeLines(commissions: readonly Candidate[]): string {
  const lines = new Map<string, string>();
  for (const each of commissions) {
    const { order_line_id, external_id, currency, sale_amount } = each;
    const name = order_line_id === null ? `external_id ${external_id}` : `order_line_id ${order_line_id}`;
    const sale = sale_amount === null ? 'no sale_amount' : `sale_amount ${sale_amount}`;
    lines.set(`${saleOf(each)} ${currency}`, `${name} (${currency}, ${sale})`);
  }
  const shown = [...lines.values()].slice(0, 20).join(', ');
  return lines.size > 20 ? `${shown} and ${lines.size - 20} more` : shown;
}
