import sql from 'sql-template-tag';
import { oneRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import { arrivals } from '../commissions/arrivals.ts';
import type { LockedCommission } from '../commissions/store.ts';

/** What a refund asked for, normalised: the same object means the same request. */
export type RefundRequest = Readonly<Record<string, string | number | null>>;

export interface StoredRefund {
  readonly commission_id: string;
  readonly clawback_id: string | null;
  readonly amount: bigint;
  readonly reason: string | null;
  readonly occurred_at: string;
  readonly created_at: string;
  /** Whether it was asked for with the same words. */
  readonly same: boolean;
}

/** The refunds stored under an external_id, one for each commission they concern. */
export function storedRefunds(
  db: Reader,
  account: string,
  externalId: string,
  request: RefundRequest,
): Promise<StoredRefund[]> {
  return rows(
    db,
    sql`select commission_id, clawback_id, amount, reason, occurred_at, created_at,
               request = ${JSON.stringify(request)}::jsonb as same
        from refunds where account_id = ${account} and external_id = ${externalId} order by commission_id`,
  );
}

/** The UUIDs of an order's commissions that a refund may concern, in id order: the order they are locked in. */
export async function commissionsOfOrder(
  db: Reader,
  account: string,
  orderId: string,
  productId: string | null,
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select id from commissions
        where account_id = ${account} and order_id = ${orderId} and type in ('sale', 'recurring', 'bonus')
          and voided_at is null and refunded_amount < original_amount
          and (${productId}::text is null or product_id = ${productId})
        order by id`,
  );
  return found.map((row) => row.id);
}

export async function insertRefund(
  tx: Tx,
  account: string,
  refund: {
    externalId: string;
    commission: string;
    request: RefundRequest;
    amount: bigint;
    reason: string | null;
    occurredAt: string | null;
    clawback: string | null;
  },
): Promise<void> {
  await rows(
    tx,
    sql`insert into refunds (account_id, external_id, commission_id, request, amount, reason, occurred_at, clawback_id)
        values (${account}, ${refund.externalId}, ${refund.commission}, ${JSON.stringify(refund.request)},
          ${refund.amount}, ${refund.reason}, coalesce(${refund.occurredAt}::timestamptz, now_ms()), ${refund.clawback})`,
  );
}

/** Lowers what is still owed of a commission. */
export async function reduceCommission(tx: Tx, account: string, id: string, amount: bigint): Promise<void> {
  await rows(
    tx,
    sql`update commissions set amount = amount - ${amount}::int8, refunded_amount = refunded_amount + ${amount}::int8,
          updated_at = clock_timestamp()
        where account_id = ${account} and id = ${id}`,
  );
}

/** Notes that part of a commission was refunded, without touching its amount. */
export async function noteRefunded(tx: Tx, account: string, id: string, amount: bigint): Promise<void> {
  await rows(
    tx,
    sql`update commissions set refunded_amount = refunded_amount + ${amount}::int8, updated_at = clock_timestamp()
        where account_id = ${account} and id = ${id}`,
  );
}

/** A debt against a paid commission: it joins the next payout at once, whatever the hold. Returns its UUID. */
export async function insertClawback(
  tx: Tx,
  account: string,
  commission: LockedCommission,
  clawback: { externalId: string; amount: bigint; reason: string | null; occurredAt: string | null },
): Promise<string> {
  const { id } = await oneRow<{ id: string }>(
    tx,
    sql`with made as (
        insert into commissions (account_id, external_id, affiliate_id, program_id, type, currency, amount,
          original_amount, order_id, product_id, product_name, customer_email, description, occurred_at, available_at,
          reverses_commission_id)
        select account_id, ${clawback.externalId}, affiliate_id, program_id, 'clawback', currency,
          -${clawback.amount}::int8, -${clawback.amount}::int8, order_id, product_id, product_name, customer_email,
          ${clawback.reason}, coalesce(${clawback.occurredAt}::timestamptz, now_ms()), now_ms(), id
        from commissions where account_id = ${account} and id = ${commission.id}
        returning id), arrived as (${arrivals(account)})
        select id from made`,
  );
  return id;
}
