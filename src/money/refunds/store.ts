import sql, { raw } from 'sql-template-tag';
import { namesOf } from '../../contract/fields.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, CommissionId, RefundId } from '../../kernel/ids.ts';
import type { LockedCommission } from '../commissions/record.ts';
import { columnsOf, STORED as OF_COMMISSION } from '../commissions/store.ts';
import { arrivals } from '../ledger/arrivals.ts';
import { changeCommissions, NOTED } from '../ledger/balances.ts';
import { ownExternalId } from '../ledger/own-ids.ts';
import { noteSeries, refundedBy } from '../ledger/series.ts';
import type { Candidate, RefundLine, Settled } from '../refund-lines/lines.ts';
import type { Share, Taken } from '../refund-lines/rule.ts';
import { REFUND_FIELDS } from './fields.ts';

/** The normalised input of a refund: equal objects mean the same request. */
export type RefundRequest = Readonly<Record<string, unknown>>;

/** The fields of a stored refund that changes need. */
export interface StoredRefund {
  /** UUID. */
  readonly id: RefundId;
  readonly external_id: string;
  readonly order_id: string | null;
  readonly reason: string | null;
  readonly status: 'waiting' | 'applied' | 'reversed';
  readonly occurred_at: string;
}

/** The refund stored under an external_id, and whether its request was the same; or null. */
export function storedRefund(
  db: Reader,
  account: AccountId,
  externalId: string,
  request: RefundRequest,
): Promise<{ id: RefundId; same: boolean } | null> {
  return maybeRow(
    db,
    sql`select id, jsonb_strip_nulls(request) = jsonb_strip_nulls(${JSON.stringify(request)}::jsonb) as same
        from refunds where account_id = ${account} and external_id = ${externalId}`,
  );
}

/** A refund by its UUID or, when there is none, by its external_id. */
export function findRefund(
  db: Reader,
  account: AccountId,
  by: { readonly id: RefundId | null; readonly externalId: string },
): Promise<StoredRefund | null> {
  return maybeRow(
    db,
    sql`select id, external_id, order_id, reason, status, occurred_at from refunds
        where account_id = ${account} and (id = ${by.id}::uuid or external_id = ${by.externalId})
        order by id = ${by.id}::uuid desc nulls last limit 1`,
  );
}

const STORED = namesOf(REFUND_FIELDS, (field) => 'schema' in field);
const PLAIN = raw(STORED.filter((name) => name !== 'occurred_at').join(', '));

export function insertRefund(
  tx: Tx,
  account: AccountId,
  externalId: string,
  request: RefundRequest,
): Promise<StoredRefund> {
  const given = JSON.stringify({ ...request, external_id: externalId });
  return oneRow(
    tx,
    sql`insert into refunds (account_id, request, occurred_at, ${PLAIN})
        select ${account}, ${JSON.stringify(request)}, coalesce(occurred_at, now_ms()), ${PLAIN}
        from json_populate_record(null::refunds, ${given}) given
        returning id, external_id, order_id, reason, status, occurred_at`,
  );
}

/** Inserts the settled lines of a refund; waiting lines apply to commissions that are created later. */
export async function insertLines(
  tx: Tx,
  account: AccountId,
  refund: StoredRefund,
  lines: readonly { readonly line: RefundLine; readonly settled: Settled<Candidate> }[],
): Promise<void> {
  const written = lines.map(({ line, settled }, position) => ({
    position,
    product_id: line.productId,
    order_line_id: settled.status === 'applied' ? settled.orderLineId : line.orderLineId,
    commission_external_id: line.externalId,
    amount: line.amount === null ? null : String(line.amount),
    sale_amount: line.saleAmount === null ? null : String(line.saleAmount),
    currency: settled.status === 'applied' ? settled.currency : line.currency,
    status: settled.status,
    is_open: settled.status === 'applied' ? settled.isOpen : true,
  }));
  await rows(
    tx,
    sql`insert into refund_lines (account_id, refund_id, order_id, position, product_id, order_line_id,
          commission_external_id, amount, sale_amount, currency, status, is_open)
        select ${account}, ${refund.id}, ${refund.order_id}, l.*
        from json_to_recordset(${JSON.stringify(written)}::json) as l (position int, product_id text,
          order_line_id text, commission_external_id text, amount int8, sale_amount int8, currency text, status text,
          is_open boolean)`,
  );
}

/** The commissions of an order, whatever their state, by id, which is the lock order. */
export function commissionsOfOrder(db: Reader, account: AccountId, orderId: string): Promise<Candidate[]> {
  return rows(
    db,
    sql`select id, external_id, order_line_id, product_id, currency, sale_amount from commissions
        where account_id = ${account} and order_id = ${orderId} and type in ('sale', 'recurring', 'bonus')
        order by id`,
  );
}

/** Which of these external_ids belong to commissions of other orders. */
export async function ofOtherOrders(
  db: Reader,
  account: AccountId,
  orderId: string,
  externalIds: readonly string[],
): Promise<string[]> {
  const found = await rows<{ external_id: string }>(
    db,
    sql`select external_id from commissions
        where account_id = ${account} and external_id = any(${externalIds}::text[])
          and (order_id is distinct from ${orderId} or type not in ('sale', 'recurring', 'bonus'))
        order by external_id`,
  );
  return found.map(({ external_id }) => external_id);
}

/** What refunds have taken from a commission so far, without reversed ones. */
export async function takenOf(db: Reader, account: AccountId, commission: LockedCommission): Promise<Taken> {
  const sums = await oneRow<{ sale: bigint; by_amount: bigint }>(
    db,
    sql`select coalesce(sum(i.sale_amount), 0)::int8 as sale,
               coalesce(sum(i.amount) filter (where i.sale_amount is null), 0)::int8 as by_amount
        from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
        where i.account_id = ${account} and i.commission_id = ${commission.id} and r.status <> 'reversed'`,
  );
  return {
    original: commission.original_amount,
    sale: commission.sale_amount,
    refunded: commission.refunded_amount,
    refundedSale: sums.sale,
    byAmount: sums.by_amount,
  };
}

export async function insertItem(
  tx: Tx,
  account: AccountId,
  refund: StoredRefund,
  item: { commission: CommissionId; share: Share; clawback: CommissionId | null; wasHeld: boolean },
): Promise<void> {
  const { amount, sale, capped } = item.share;
  await rows(
    tx,
    sql`with item as (
          insert into refund_items (account_id, refund_id, commission_id, amount, sale_amount, capped, clawback_id,
            was_held)
          values (${account}, ${refund.id}, ${item.commission}, ${amount}, ${sale}, ${capped}, ${item.clawback},
            ${item.wasHeld})
          returning refund_id, commission_id, amount),
        noted as (${noteSeries(account, refundedBy(account, '', sql`item`))})
        select 1`,
  );
}

export interface StoredItem {
  readonly commission_id: CommissionId;
  readonly clawback_id: CommissionId | null;
  readonly amount: bigint;
}

/** What a refund took, in lock order of the commissions. */
export function itemsOf(db: Reader, account: AccountId, refund: RefundId): Promise<StoredItem[]> {
  return rows(
    db,
    sql`select commission_id, clawback_id, amount from refund_items
        where account_id = ${account} and refund_id = ${refund} order by commission_id`,
  );
}

/** Reduces what is still owed of a commission. */
export async function reduceCommission(
  tx: Tx,
  account: AccountId,
  id: CommissionId,
  amount: bigint,
): Promise<void> {
  await changeCommissions(tx, account, {
    which: sql`id = ${id}`,
    set: sql`amount = amount - ${amount}::int8, refunded_amount = refunded_amount + ${amount}::int8`,
  });
}

/** Adds to the refunded amount of a commission, or subtracts when negative, without changing its amount. */
export async function noteRefunded(
  tx: Tx,
  account: AccountId,
  id: CommissionId,
  amount: bigint,
): Promise<void> {
  await rows(
    tx,
    sql`update commissions set refunded_amount = refunded_amount + ${amount}::int8, updated_at = clock_time()
        where account_id = ${account} and id = ${id}`,
  );
}

/**
 * Restores what a refund took from an unpaid commission. If only refunds had voided it, it is owed again, and on hold
 * again if it was on hold then.
 */
export async function giveBack(tx: Tx, account: AccountId, id: CommissionId, amount: bigint): Promise<void> {
  const wasVoided = sql`voided_at is not null and refunded_amount = original_amount`;
  const isHeldAgain = sql`${wasVoided} and exists (
    select from refund_items i where i.account_id = ${account} and i.commission_id = ${id} and i.was_held)`;
  await changeCommissions(tx, account, {
    which: sql`id = ${id}`,
    set: sql`refunded_amount = refunded_amount - ${amount}::int8,
      amount = original_amount - refunded_amount + ${amount}::int8,
      voided_at = case when ${wasVoided} then null else voided_at end,
      void_reason = case when ${wasVoided} then null else void_reason end,
      held_available_at = case when ${isHeldAgain} then available_at else held_available_at end,
      available_at = case when ${isHeldAgain} then 'infinity' else available_at end`,
  });
}

/** Marks a refund as reversed: it no longer takes anything from existing or future commissions. */
export async function markReversed(tx: Tx, account: AccountId, id: RefundId): Promise<void> {
  await rows(
    tx,
    sql`update refund_lines set is_open = false where account_id = ${account} and refund_id = ${id}`,
  );
  await rows(
    tx,
    sql`with reversed as (
          update refunds set status = 'reversed', reversed_at = clock_time(), updated_at = clock_time()
          where account_id = ${account} and id = ${id}),
        item as (select * from refund_items where account_id = ${account} and refund_id = ${id}),
        noted as (${noteSeries(account, refundedBy(account, '-', sql`item`))})
        select 1`,
  );
}

const COPIED = columnsOf(OF_COMMISSION.filter(([, { isOfClawback }]) => isOfClawback));

/** A debt against a paid commission, included in the next payout without a hold. Returns its UUID. */
export async function insertClawback(
  tx: Tx,
  account: AccountId,
  commission: LockedCommission,
  refund: StoredRefund,
  amount: bigint,
): Promise<CommissionId> {
  const { id } = await oneRow<{ id: CommissionId }>(
    tx,
    sql`with made as (
        insert into commissions (account_id, id, external_id, affiliate_id, type, amount, original_amount, description,
          occurred_at, available_at, reverses_commission_id, ${COPIED})
        select account_id, clawback_id, ${ownExternalId('clawback', sql`${refund.external_id}::text`, 'clawback_id')},
          affiliate_id, 'clawback', -${amount}::int8, -${amount}::int8, ${refund.reason}, ${refund.occurred_at}::timestamptz,
          now_ms(), id, ${COPIED}
        from (select new_id() as clawback_id, c.* from commissions c
              where account_id = ${account} and id = ${commission.id}) c
        returning id, ${NOTED}), ${arrivals(account)}
        select id from made`,
  );
  return id;
}
