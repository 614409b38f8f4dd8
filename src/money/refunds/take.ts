import type { Tx } from '../../db/database.ts';
import { type AccountId, type CommissionId, idOf } from '../../kernel/ids.ts';
import { publish } from '../../outbox/queue.ts';
import type { LockedCommission } from '../commissions/record.ts';
import { getCommission } from '../commissions/service.ts';
import { lockForChange, settlePayoutOf, voidLocked } from '../commissions/state.ts';
import { refuseBeyondLimit } from '../ledger/limit.ts';
import { type RequestedShare, shareOf } from '../refund-lines/rule.ts';
import {
  insertClawback,
  insertItem,
  noteRefunded,
  reduceCommission,
  type StoredRefund,
  takenOf,
} from './store.ts';

/**
 * Takes what a refund asks from a commission (UUID), at most the rest. An unpaid commission is reduced, or voided when
 * nothing is left; a paid one gets a clawback. The caller has locked the books. The commission is read again, because
 * the previous one may have removed its whole group from the payout.
 */
export async function take(
  tx: Tx,
  account: AccountId,
  refund: StoredRefund,
  uuid: CommissionId,
  requested: RequestedShare,
): Promise<void> {
  const commission = await lockForChange(tx, account, uuid);
  const share = shareOf(await takenOf(tx, account, commission), requested);
  const { amount } = share;
  const clawback =
    commission.paid && amount > 0n ? await clawBack(tx, account, commission, refund, amount) : null;
  const voids = !commission.paid && amount > 0n && amount === commission.amount;
  const item = { commission: uuid, share, clawback, wasHeld: voids && commission.held };
  await insertItem(tx, account, refund, item);
  if (!commission.paid && amount > 0n) await reduce(tx, account, commission, amount, refund.reason);
}

async function reduce(
  tx: Tx,
  account: AccountId,
  commission: LockedCommission,
  amount: bigint,
  reason: string | null,
): Promise<void> {
  const id = idOf('com', commission.id);
  const before = commission.json;
  if (amount === commission.amount) {
    await noteRefunded(tx, account, commission.id, amount);
    await voidLocked(tx, account, commission, reason ?? 'refunded');
    await publish(tx, {
      account,
      type: 'commission.voided',
      data: await getCommission(tx, account, id),
      before,
    });
    return;
  }
  await reduceCommission(tx, account, commission.id, amount);
  await settlePayoutOf(tx, account, commission);
  await publish(tx, {
    account,
    type: 'commission.updated',
    data: await getCommission(tx, account, id),
    before,
  });
}

async function clawBack(
  tx: Tx,
  account: AccountId,
  commission: LockedCommission,
  refund: StoredRefund,
  amount: bigint,
): Promise<CommissionId> {
  await noteRefunded(tx, account, commission.id, amount);
  const id = await insertClawback(tx, account, commission, refund, amount);
  await refuseBeyondLimit(tx, account, commission, 'debts');
  const data = await getCommission(tx, account, idOf('com', id));
  await publish(tx, { account, type: 'commission.clawed_back', data });
  return id;
}
