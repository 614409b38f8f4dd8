import type { Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import type { LockedCommission } from '../commissions/record.ts';
import { getCommission } from '../commissions/service.ts';
import { lockForChange, settlePayoutOf, voidLocked } from '../commissions/state.ts';
import { lockBooks } from '../ledger/books.ts';
import { refuseBeyondLimit } from '../ledger/limit.ts';
import { lockOrder } from '../refund-lines/locks.ts';
import type { Refund } from './record.ts';
import { getRefund, refundAt } from './service.ts';
import { giveBack, itemsOf, markReversed, noteRefunded, type StoredItem } from './store.ts';

/**
 * Reverses a refund (by id or external_id) that was a mistake: what it took is owed again, its clawbacks are voided,
 * and lines that still wait for commissions no longer do. All or nothing, and only while no paid payout was reduced by
 * it. Throws `resource_missing`, `refund_is_reversed`, `refund_is_settled`, `amount_too_large`.
 */
export async function reverseRefund(tx: Tx, account: AccountId, reference: string): Promise<Json<Refund>> {
  await lockBooks(tx, account);
  const { id, order_id: order } = await refundAt(tx, account, reference);
  if (order !== null) await lockOrder(tx, account, order);
  const refund = await refundAt(tx, account, reference);
  if (refund.status === 'reversed') throw fail('refund_is_reversed', 'the refund is already reversed');
  const items = (await itemsOf(tx, account, id)).filter(({ amount }) => amount > 0n);
  for (const item of items) await refuseSettled(tx, account, item);
  for (const item of items) await undo(tx, account, item);
  await markReversed(tx, account, id);
  return getRefund(tx, account, idOf('ref', id));
}

/** Refuses when a paid payout was reduced by the item: it contained the clawback or the reduced commission. */
async function refuseSettled(tx: Tx, account: AccountId, item: StoredItem): Promise<void> {
  const commission = await lockForChange(tx, account, item.commission_id);
  const settled = item.clawback_id === null ? commission : await lockForChange(tx, account, item.clawback_id);
  if (!settled.paid || settled.payout_id === null) return;
  const { affiliate_id: affiliate, currency } = commission;
  throw fail(
    'refund_is_settled',
    `payout ${idOf('po', settled.payout_id)} was paid ${item.amount} ${currency} less because of this refund of ` +
      `${idOf('com', commission.id)}: credit the affiliate instead, POST /v2/affiliates/${affiliate}/adjustments`,
  );
}

async function undo(
  tx: Tx,
  account: AccountId,
  { commission_id, clawback_id, amount }: StoredItem,
): Promise<void> {
  const publishAbout = async (
    type: 'commission.updated' | 'commission.voided',
    { id, json: before }: LockedCommission,
  ) => publish(tx, { account, type, data: await getCommission(tx, account, idOf('com', id)), before });
  if (clawback_id !== null) {
    const clawback = await lockForChange(tx, account, clawback_id);
    await noteRefunded(tx, account, commission_id, -amount);
    await voidLocked(tx, account, clawback, 'the refund was reversed');
    await publishAbout('commission.voided', clawback);
    return;
  }
  const commission = await lockForChange(tx, account, commission_id);
  await giveBack(tx, account, commission_id, amount);
  await refuseBeyondLimit(tx, account, commission, 'credits');
  await settlePayoutOf(tx, account, commission);
  await publishAbout('commission.updated', commission);
}
