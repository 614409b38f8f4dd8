import { type Tx, uniqueViolation } from '../../db/connect.ts';
import { publish } from '../../delivery/queue.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { idOf, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { multiplyRounded } from '../../kernel/money.ts';
import { formatInstant, parseInstant } from '../../kernel/time.ts';
import { getCommission } from '../commissions/service.ts';
import { lockForChange, refuseState, settlePayoutOf, voidLocked } from '../commissions/state.ts';
import type { LockedCommission } from '../commissions/store.ts';
import { lockBooks } from '../payouts/books.ts';
import {
  commissionsOfOrder,
  insertClawback,
  insertRefund,
  noteRefunded,
  type RefundRequest,
  reduceCommission,
  type StoredRefund,
  storedRefunds,
} from './store.ts';

export interface RefundInput {
  readonly external_id: string;
  /** Minor units of commission to take back. */
  readonly amount?: number;
  /** Minor units of the sale that were refunded; the commission follows pro rata. */
  readonly sale_amount?: number;
  readonly reason?: string | null;
  readonly occurred_at?: string;
}

export interface OrderRefundInput extends RefundInput {
  readonly order_id: string;
  readonly product_id?: string | null;
}

/** The answer: the refund's record, and whether this request made it. */
export interface RefundAnswer {
  readonly json: Json<unknown>;
  readonly isNew: boolean;
}

const NOT_REFUNDABLE = ['clawback', 'adjustment'] as const;

/**
 * Refunds one commission, in part or the rest. Unpaid: reduced or voided, also in the unpaid payout. Paid: the paid
 * row stays and a clawback joins the next payout. Idempotent by `external_id`. Throws `resource_missing`,
 * `duplicate_external_id`, `wrong_commission_type`, `commission_is_voided`, `refund_exceeds_rest`, `invalid_amount`.
 */
export async function refundCommission(
  tx: Tx,
  account: string,
  id: string,
  input: RefundInput,
): Promise<RefundAnswer> {
  const request = readRequest(input, { commission_id: id });
  await lockBooks(tx, account);
  const commission = await lockForChange(tx, account, uuidOf('com', id));
  const stored = await replayed(tx, account, input.external_id, request);
  if (stored) return { json: await singleAnswer(tx, account, input.external_id, stored), isNew: false };
  await apply(tx, account, commission, input, request);
  const made = await storedRefunds(tx, account, input.external_id, request);
  return { json: await singleAnswer(tx, account, input.external_id, made), isNew: true };
}

/**
 * Refunds the commissions of an order (or of one product in it), all or none. With an amount the commissions must
 * leave no doubt what it is of. Throws as `refundCommission`.
 */
export async function refundOrder(tx: Tx, account: string, input: OrderRefundInput): Promise<RefundAnswer> {
  const productId = input.product_id ?? null;
  const request = readRequest(input, { order_id: input.order_id, product_id: productId });
  await lockBooks(tx, account);
  const stored = await replayed(tx, account, input.external_id, request);
  if (stored) return { json: await orderAnswer(tx, account, input, stored), isNew: false };
  const ids = await commissionsOfOrder(tx, account, input.order_id, productId);
  if (ids.length === 0) {
    const product = productId === null ? '' : ` with product_id ${productId}`;
    throw fail(
      'resource_missing',
      `order_id ${input.order_id}${product}: no commission that can be refunded`,
    );
  }
  const commissions: LockedCommission[] = [];
  for (const id of ids) commissions.push(await lockForChange(tx, account, id));
  refuseDoubt(commissions, input);
  for (const { id } of commissions) {
    // read again: the refund before this one may have taken its whole group out of the payout
    await apply(tx, account, await lockForChange(tx, account, id), input, request);
  }
  const made = await storedRefunds(tx, account, input.external_id, request);
  return { json: await orderAnswer(tx, account, input, made), isNew: true };
}

function refuseDoubt(commissions: readonly LockedCommission[], input: OrderRefundInput): void {
  if (commissions.length === 1) return;
  const names = nameSome(commissions.map(({ id }) => idOf('com', id)));
  const hint = `order_id ${input.order_id} has ${commissions.length} commissions (${names})`;
  if (input.amount !== undefined) {
    throw fail('invalid_amount', `amount: ${hint}: name a product_id, or refund each commission by its id`);
  }
  if (input.sale_amount !== undefined && new Set(commissions.map((each) => each.sale_amount)).size > 1) {
    throw fail(
      'invalid_amount',
      `sale_amount: ${hint} of different sales: name a product_id, or refund each by its id`,
    );
  }
}

function readRequest(input: RefundInput, target: RefundRequest): RefundRequest {
  if (input.amount !== undefined && input.sale_amount !== undefined) {
    throw fail(
      'invalid_body',
      'amount and sale_amount exclude each other: send one of them, or none for the rest',
    );
  }
  const occurred = input.occurred_at === undefined ? null : parseInstant(input.occurred_at);
  if (occurred === null && input.occurred_at !== undefined) {
    throw fail('invalid_body', 'occurred_at must be an RFC 3339 instant such as 2026-09-15T08:30:00Z');
  }
  return {
    ...target,
    amount: input.amount ?? null,
    sale_amount: input.sale_amount ?? null,
    reason: input.reason ?? null,
    occurred_at: occurred === null ? null : formatInstant(occurred),
  };
}

async function replayed(tx: Tx, account: string, externalId: string, request: RefundRequest) {
  const stored = await storedRefunds(tx, account, externalId, request);
  if (stored.length === 0) return null;
  if (stored.every((refund) => refund.same)) return stored;
  throw fail('duplicate_external_id', `external_id ${externalId} was used for another refund`);
}

function amountOf(commission: LockedCommission, input: RefundInput): bigint {
  const rest = commission.original_amount - commission.refunded_amount;
  let amount = rest;
  if (input.amount !== undefined) amount = BigInt(input.amount);
  else if (input.sale_amount !== undefined) amount = proRata(commission, BigInt(input.sale_amount));
  if (rest === 0n || amount > rest) {
    throw fail(
      'refund_exceeds_rest',
      `the refund of ${amount} is more than the ${rest} that is left of ${idOf('com', commission.id)}`,
    );
  }
  return amount;
}

function proRata(commission: LockedCommission, refunded: bigint): bigint {
  const sale = commission.sale_amount;
  if (sale === null || sale === 0n) {
    throw fail('invalid_amount', 'sale_amount: the commission was stored without one; send amount instead');
  }
  if (refunded > sale) {
    throw fail('refund_exceeds_rest', `sale_amount ${refunded} is more than the sale of ${sale}`);
  }
  return multiplyRounded(commission.original_amount, refunded, sale);
}

async function apply(
  tx: Tx,
  account: string,
  commission: LockedCommission,
  input: RefundInput,
  request: RefundRequest,
): Promise<void> {
  refuseState(commission, NOT_REFUNDABLE, { paidToo: true });
  const amount = amountOf(commission, input);
  const reason = input.reason ?? null;
  const occurredAt = request.occurred_at === null ? null : String(request.occurred_at);
  const clawback =
    commission.paid && amount > 0n
      ? await clawBack(tx, account, commission, { externalId: input.external_id, amount, reason, occurredAt })
      : null;
  if (!commission.paid && amount > 0n) await reduce(tx, account, commission, amount, reason);
  await insertRefund(tx, account, {
    externalId: input.external_id,
    commission: commission.id,
    request,
    amount,
    reason,
    occurredAt,
    clawback,
  });
}

async function reduce(
  tx: Tx,
  account: string,
  commission: LockedCommission,
  amount: bigint,
  reason: string | null,
) {
  const id = idOf('com', commission.id);
  if (amount === commission.amount) {
    await noteRefunded(tx, account, commission.id, amount);
    await voidLocked(tx, account, commission, reason ?? 'refunded');
    await publish(tx, { account, type: 'commission.voided', data: await getCommission(tx, account, id) });
    return;
  }
  await reduceCommission(tx, account, commission.id, amount);
  await settlePayoutOf(tx, account, commission);
  await publish(tx, { account, type: 'commission.updated', data: await getCommission(tx, account, id) });
}

async function clawBack(
  tx: Tx,
  account: string,
  commission: LockedCommission,
  refund: { externalId: string; amount: bigint; reason: string | null; occurredAt: string | null },
): Promise<string> {
  await noteRefunded(tx, account, commission.id, refund.amount);
  try {
    const externalId = `clawback:${refund.externalId}:${idOf('com', commission.id)}`;
    const id = await insertClawback(tx, account, commission, { ...refund, externalId });
    const data = await getCommission(tx, account, idOf('com', id));
    await publish(tx, { account, type: 'commission.clawed_back', data });
    return id;
  } catch (error) {
    if (uniqueViolation(error) === null) throw error;
    throw fail(
      'duplicate_external_id',
      `external_id: a commission named like the clawback of ${refund.externalId} exists`,
    );
  }
}

async function refundJson(tx: Tx, account: string, refund: StoredRefund): Promise<string> {
  const commission = await getCommission(tx, account, idOf('com', refund.commission_id));
  const clawback =
    refund.clawback_id === null ? 'null' : await getCommission(tx, account, idOf('com', refund.clawback_id));
  return `{"amount":${refund.amount},"commission":${commission},"clawback":${clawback}}`;
}

function head(externalId: string, refunds: readonly StoredRefund[]): string {
  const [first] = refunds;
  return (
    `"object":"affiliate_refund","external_id":${JSON.stringify(externalId)},"reason":${JSON.stringify(first?.reason ?? null)},` +
    `"occurred_at":${JSON.stringify(first?.occurred_at)},"created_at":${JSON.stringify(first?.created_at)}`
  );
}

async function singleAnswer(tx: Tx, account: string, externalId: string, refunds: readonly StoredRefund[]) {
  const [refund] = refunds;
  if (!refund) throw new Error('a refund that was stored is not there');
  return `{${head(externalId, refunds)},${(await refundJson(tx, account, refund)).slice(1)}`;
}

async function orderAnswer(
  tx: Tx,
  account: string,
  input: OrderRefundInput,
  refunds: readonly StoredRefund[],
) {
  const items: string[] = [];
  for (const refund of refunds) items.push(await refundJson(tx, account, refund));
  return `{${head(input.external_id, refunds)},"order_id":${JSON.stringify(input.order_id)},"refunds":[${items.join(',')}]}`;
}
