import sql from 'sql-template-tag';
import { maybeRow, type Reader } from '../../db/connect.ts';

/** The return whose money a commission (UUID) owes again, or null. */
export function returnOf(
  db: Reader,
  account: string,
  commission: string,
): Promise<{ id: string; payout_id: string; affiliate_id: bigint } | null> {
  return maybeRow(
    db,
    sql`select id, payout_id, affiliate_id from payout_returns
        where account_id = ${account} and commission_id = ${commission}`,
  );
}
