import sql, { raw } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import { type AccountId, idOf, type PayoutId } from '../../kernel/ids.ts';
import { notify } from '../../notices/notices.ts';
import { approvalStatus } from '../ledger/approval.ts';

/**
 * Notifies about payouts that wait for a second person: once, and again when a change voids a decision. Further changes
 * of a waiting payout do not notify again.
 */
export async function notifyOfApprovals(tx: Tx): Promise<number> {
  const waiting = await rows<{ account: AccountId; payout: PayoutId }>(
    tx,
    sql`update payout_books b set told_approval = w.mark
        from (select p.account_id, p.id, p.id || coalesce(' ' || greatest(p.decided_revision, (
                select max(v.revision) from payout_approvals v where v.account_id = p.account_id and v.payout_id = p.id)), '') as mark from payouts p
              where p.status = 'unpaid' and ${raw(approvalStatus)} = 'waiting') w
        where w.account_id = b.account_id and b.told_approval is distinct from w.mark
        returning b.account_id as account, w.id as payout`,
  );
  await notify(
    tx,
    waiting.map(({ account, payout }) => ({
      account,
      kind: 'approval_waiting',
      subject: idOf('po', payout),
      data: {},
    })),
  );
  return 0;
}
