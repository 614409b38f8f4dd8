import sql from 'sql-template-tag';
import { maybeRow, type Reader } from '../../db/database.ts';
import type { AccountId, CommissionId, PayoutId, ReturnId } from '../../kernel/ids.ts';

/** The return that made a commission (UUID) owed again, or null. */
export function returnOf(
  db: Reader,
  account: AccountId,
  commission: CommissionId,
): Promise<{ id: ReturnId; payout_id: PayoutId; affiliate_id: bigint } | null> {
  return maybeRow(
    db,
    sql`select id, payout_id, affiliate_id from payout_returns
        where account_id = ${account} and commission_id = ${commission}`,
  );
}
