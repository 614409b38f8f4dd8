import type { Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type CommissionId, idOf, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import { lockBooks } from '../ledger/books.ts';
import { type Group, noteHeld, settleGroup } from '../ledger/membership.ts';
import { returnOf } from '../ledger/returned.ts';
import type { Commission, LockedCommission } from './record.ts';
import { getCommission } from './service.ts';
import { lockCommission, markHeld, markUnheld, markVoided } from './store.ts';

/**
 * Reads the commission (UUID) to change and locks it; the caller has locked the books. Throws `resource_missing`, also
 * for null, the value of a malformed id.
 */
export async function lockForChange(
  tx: Tx,
  account: AccountId,
  uuid: CommissionId | null,
): Promise<LockedCommission> {
  const commission = uuid === null ? null : await lockCommission(tx, account, uuid);
  if (commission === null) throw fail('resource_missing', 'no such commission');
  return commission;
}

async function lock(tx: Tx, account: AccountId, id: string): Promise<LockedCommission> {
  await lockBooks(tx, account);
  return lockForChange(tx, account, uuidOf('com', id));
}

/** Throws `wrong_commission_type`, `commission_is_voided` or, unless `paidToo`, `commission_is_paid`. */
export function refuseState(
  commission: LockedCommission,
  refused: readonly LockedCommission['type'][],
  { paidToo = false } = {},
): void {
  if (refused.includes(commission.type) && commission.type === 'clawback') {
    throw fail(
      'wrong_commission_type',
      'this operation is not possible for a clawback: reverse its refund, POST /v2/affiliates/refunds/{refund_id}/reverse',
    );
  }
  if (refused.includes(commission.type)) {
    throw fail(
      'wrong_commission_type',
      `a commission of type ${commission.type} does not support this operation`,
    );
  }
  if (commission.voided) throw fail('commission_is_voided', 'the commission is voided');
  if (commission.paid && !paidToo) throw fail('commission_is_paid', 'the commission is paid: use a refund');
}

/**
 * Throws `commission_is_bound` for a commission that a payout owes again: voiding it alone would contradict the payout.
 */
async function refuseBound(tx: Tx, account: AccountId, commission: LockedCommission): Promise<void> {
  if (commission.returns_payout_id === null) return;
  const payout = idOf('po', commission.returns_payout_id);
  const found = await returnOf(tx, account, commission.id);
  throw fail(
    'commission_is_bound',
    found === null
      ? `the commission is the part of a line that payout ${payout} did not pay: correct what is owed with an adjustment`
      : `the commission is money that came back from payout ${payout}: if it did not, undo that with DELETE ` +
          `/v2/affiliates/payouts/${payout}/affiliates/${found.affiliate_id}/returned/${idOf('ret', found.id)}`,
  );
}

/** Voids a locked commission; one in the unpaid payout is handled as for a full refund. */
export async function voidLocked(
  tx: Tx,
  account: AccountId,
  commission: LockedCommission,
  reason: string | null,
): Promise<void> {
  await markVoided(tx, account, commission.id, reason);
  await settlePayoutOf(tx, account, commission);
}

/** Updates the unpaid payout that the commission was in, if any. */
export async function settlePayoutOf(
  tx: Tx,
  account: AccountId,
  commission: LockedCommission,
): Promise<void> {
  const group = groupOf(account, commission);
  if (group !== null) await settleGroup(tx, group);
}

/** The group of the commission in the unpaid payout, if it was in one. */
function groupOf(account: AccountId, commission: LockedCommission): Group | null {
  const { payout_id: payout, affiliate_id: affiliate, currency, paid } = commission;
  return payout === null || paid ? null : { account, payout, affiliate, currency };
}

/**
 * Voids a commission that is not paid; its external_id stays taken. Throws `resource_missing`, `wrong_commission_type`
 * (clawback), `commission_is_voided`, `commission_is_paid`, `commission_is_bound`.
 */
export async function voidCommission(
  tx: Tx,
  account: AccountId,
  id: string,
  reason: string | null,
): Promise<Json<Commission>> {
  const commission = await lock(tx, account, id);
  refuseState(commission, ['clawback']);
  await refuseBound(tx, account, commission);
  await voidLocked(tx, account, commission, reason);
  const json = await getCommission(tx, account, id);
  await publish(tx, { account, type: 'commission.voided', data: json, before: commission.json });
  return json;
}

/**
 * Holds a commission for review until `unhold`; it leaves the unpaid payout. Throws `resource_missing`,
 * `wrong_commission_type` (a debt cannot be held), `commission_is_voided`, `commission_is_paid`, `commission_is_held`.
 */
export async function holdCommission(tx: Tx, account: AccountId, id: string): Promise<Json<Commission>> {
  const commission = await lock(tx, account, id);
  refuseState(commission, commission.amount < 0n ? ['clawback', 'adjustment'] : ['clawback']);
  if (commission.held) throw fail('commission_is_held', 'the commission is already held for review');
  await markHeld(tx, account, commission.id);
  const group = groupOf(account, commission);
  if (group !== null) await noteHeld(tx, group, commission.amount);
  await settlePayoutOf(tx, account, commission);
  return changed(tx, account, commission);
}

/** Ends the review: the original availability date applies again. Throws `resource_missing`, `commission_not_held`. */
export async function unholdCommission(tx: Tx, account: AccountId, id: string): Promise<Json<Commission>> {
  const commission = await lock(tx, account, id);
  if (!commission.held) throw fail('commission_not_held', 'the commission is not held for review');
  await markUnheld(tx, account, commission.id);
  return changed(tx, account, commission);
}

async function changed(
  tx: Tx,
  account: AccountId,
  { id, json: before }: LockedCommission,
): Promise<Json<Commission>> {
  const json = await getCommission(tx, account, idOf('com', id));
  await publish(tx, { account, type: 'commission.updated', data: json, before });
  return json;
}
