import type { Reader, Tx } from '../../db/database.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { type AccountId, type CommissionId, idOf, type RefundId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../../kernel/names.ts';
import { lockForChange, refuseState } from '../commissions/state.ts';
import { lockBooks } from '../ledger/books.ts';
import {
  type Candidate,
  concerns,
  describeLines,
  type RefundLine,
  requestedShareOf,
  type Settled,
  settleLine,
} from '../refund-lines/lines.ts';
import { lockOrder } from '../refund-lines/locks.ts';
import { type RequestedShare, shareOf } from '../refund-lines/rule.ts';
import { followLines } from '../refund-lines/status.ts';
import { readCommissionRefund, readRefund } from './list.ts';
import type { CommissionRefund, OrderRefund, Refund, RefundOfOne } from './record.ts';
import { readLines, readRequest } from './request.ts';
import {
  commissionsOfOrder,
  findRefund,
  insertLines,
  insertRefund,
  ofOtherOrders,
  type RefundRequest,
  type StoredRefund,
  storedRefund,
  takenOf,
} from './store.ts';
import { take } from './take.ts';

/** The refund's record, and whether this request created it. */
export interface RefundAnswer<T> {
  readonly json: Json<T>;
  readonly isNew: boolean;
}

const NOT_REFUNDABLE = ['clawback', 'adjustment'] as const;

/**
 * Refunds one commission, in part or the rest. An unpaid commission is reduced or voided, in the unpaid payout too. A
 * paid one stays as it is, and a clawback is added to the next payout. Idempotent by `external_id`. Throws
 * `resource_missing`, `duplicate_external_id`, `wrong_commission_type`, `commission_is_voided`, `refund_exceeds_rest`,
 * `invalid_amount`.
 */
export async function refundCommission(
  tx: Tx,
  account: AccountId,
  id: string,
  input: RefundOfOne,
): Promise<RefundAnswer<CommissionRefund>> {
  const request = readRequest(input, { commission_id: id });
  const requested = requestedShareOf({
    amount: input.amount === undefined ? null : BigInt(input.amount),
    saleAmount: input.sale_amount === undefined ? null : BigInt(input.sale_amount),
  });
  await lockBooks(tx, account);
  const commission = await lockForChange(tx, account, uuidOf('com', id));
  const known = await replayed(tx, account, input.external_id, request);
  if (known) return { json: await readCommissionRefund(tx, account, known), isNew: false };
  const isSpent = commission.voided && commission.refunded_amount === commission.original_amount;
  refuseState(
    { ...commission, voided: commission.voided && !(isSpent && requested.of === 'sale') },
    NOT_REFUNDABLE,
    {
      paidToo: true,
    },
  );
  await refuseTooMuch(tx, account, commission.id, requested);
  const refund = await insertRefund(tx, account, input.external_id, request);
  await take(tx, account, refund, commission.id, requested);
  return { json: await readCommissionRefund(tx, account, refund.id), isNew: true };
}

/**
 * An amount of commission must not exceed the rest; without an amount there must be a rest. Parts of a sale are capped.
 */
async function refuseTooMuch(
  tx: Tx,
  account: AccountId,
  uuid: CommissionId,
  requested: RequestedShare,
): Promise<void> {
  const commission = await lockForChange(tx, account, uuid);
  if (requested.of === 'sale' && commission.sale_amount === null) {
    throw fail('invalid_amount', 'sale_amount: the commission was stored without one; send amount instead');
  }
  const rest = commission.original_amount - commission.refunded_amount;
  const { amount, capped } = shareOf(await takenOf(tx, account, commission), requested);
  const isSpent = requested.of === 'rest' && amount === 0n && commission.original_amount > 0n;
  if (isSpent || (requested.of === 'commission' && capped)) {
    const wanted = requested.of === 'commission' ? requested.amount : amount;
    throw fail(
      'refund_exceeds_rest',
      `the refund of ${wanted} is more than the ${rest} left of ${idOf('com', uuid)}`,
    );
  }
}

/**
 * Refunds an order: all of it or of a product in it, part of its one sale, or the given lines; all or nothing. Lines
 * that do not exist yet are refunded when they are created. Throws `invalid_amount` where it could mean several sales,
 * `invalid_body`, `duplicate_entry`, `duplicate_external_id`, `refund_exceeds_rest`.
 */
export async function refundOrder(
  tx: Tx,
  account: AccountId,
  input: OrderRefund,
): Promise<RefundAnswer<Refund>> {
  const { lines, request } = readLines(input);
  await lockBooks(tx, account);
  await lockOrder(tx, account, input.order_id);
  const known = await replayed(tx, account, input.external_id, request);
  if (known) return { json: await recordOf(tx, account, known), isNew: false };
  const commissions = await commissionsOfOrder(tx, account, input.order_id);
  refuseUnnameable(input, commissions);
  const named = lines.flatMap(({ externalId }) => externalId ?? []);
  const strangers = await ofOtherOrders(tx, account, input.order_id, named);
  if (strangers.length > 0) {
    throw fail(
      'invalid_body',
      `lines: external_id ${nameSome(strangers)}: not a sale of order ${input.order_id}`,
    );
  }
  const settled = lines.map((line) => ({ line, settled: settleExactly(line, commissions, input) }));
  refuseTwice(settled.map((each) => each.settled));
  const refund = await insertRefund(tx, account, input.external_id, request);
  await insertLines(tx, account, refund, settled);
  for (const { line, settled: found } of settled) {
    if (found.status !== 'applied') continue;
    for (const { id } of found.take) await takeOfOrder(tx, account, refund, id, line);
  }
  await followLines(tx, account, [refund.id]);
  return { json: await recordOf(tx, account, refund.id), isNew: true };
}

/** Commissions voided by hand are not owed, and fully refunded ones have no rest; both are skipped. */
async function takeOfOrder(
  tx: Tx,
  account: AccountId,
  refund: StoredRefund,
  id: CommissionId,
  line: RefundLine,
) {
  const requested = requestedShareOf(line);
  const commission = await lockForChange(tx, account, id);
  const isSpent = commission.refunded_amount === commission.original_amount;
  if (isSpent ? requested.of === 'rest' : commission.voided) return;
  if (requested.of === 'commission') await refuseTooMuch(tx, account, id, requested);
  await take(tx, account, refund, id, requested);
}

function settleExactly(
  line: RefundLine,
  commissions: readonly Candidate[],
  input: OrderRefund,
): Settled<Candidate> {
  const matched = commissions.filter((commission) => concerns(line, commission));
  const settled = settleLine(line, matched);
  if (settled.status !== 'in_doubt') return settled;
  throw fail(
    'invalid_amount',
    `order_id ${input.order_id}: ${settled.why}: ${describeLines(matched)}: ` +
      'name what was refunded with lines: [{"order_line_id" or "external_id", "sale_amount"}]',
  );
}

/** New commissions cannot have such ids, but existing ones can still be refunded by them. */
function refuseUnnameable(input: OrderRefund, commissions: readonly Candidate[]): void {
  const lines = (input.lines ?? []).map(
    ({ order_line_id }, index) => [`lines[${index}].order_line_id`, order_line_id] as const,
  );
  const known = new Set(commissions.flatMap(({ order_line_id, product_id }) => [order_line_id, product_id]));
  if (commissions.length > 0) known.add(input.order_id);
  for (const [field, id] of [
    ['order_id', input.order_id],
    ['product_id', input.product_id],
    ...lines,
  ] as const) {
    if (id && !known.has(id) && !isIdentifier(id)) throw fail('invalid_body', `${field} ${IDENTIFIER_RULE}`);
  }
}

/** Two lines of one refund must not refund the same commission. */
function refuseTwice(settled: readonly Settled<Candidate>[]): void {
  const taken = settled.flatMap((each) => (each.status === 'applied' ? each.take : []));
  const twice = taken.filter(({ id }, index) => taken.findIndex((other) => other.id === id) < index);
  if (twice.length === 0) return;
  const names = nameSome([...new Set(twice.map(({ external_id }) => external_id))]);
  throw fail('duplicate_entry', `lines: two of them name the same commission: ${names}`);
}

/** The UUID of the refund stored for the same request. Throws `duplicate_external_id` for a different one. */
async function replayed(tx: Tx, account: AccountId, externalId: string, request: RefundRequest) {
  const stored = await storedRefund(tx, account, externalId, request);
  if (stored === null) return null;
  if (stored.same) return stored.id;
  throw fail('duplicate_external_id', `external_id ${externalId} was used for another refund`);
}

async function recordOf(db: Reader, account: AccountId, uuid: RefundId): Promise<Json<Refund>> {
  const json = await readRefund(db, account, uuid);
  if (json === null) throw new Error('a refund that was stored is not there');
  return json;
}

/** The refund addressed in a path by its id or external_id. Throws `resource_missing`. */
export async function refundAt(db: Reader, account: AccountId, reference: string): Promise<StoredRefund> {
  // no external_id contains NUL, and PostgreSQL does not accept it
  const refund = reference.includes('\0')
    ? null
    : await findRefund(db, account, { id: uuidOf('ref', reference), externalId: reference });
  if (refund === null) throw fail('resource_missing', 'no such refund');
  return refund;
}

/** One refund by its id or external_id. Throws `resource_missing`. */
export async function getRefund(db: Reader, account: AccountId, reference: string): Promise<Json<Refund>> {
  return recordOf(db, account, (await refundAt(db, account, reference)).id);
}
