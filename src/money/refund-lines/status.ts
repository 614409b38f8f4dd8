import sql from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';

/** Brings the status of refunds in line with that of their lines: waiting while one of them waits or is in doubt. */
export async function followLines(tx: Tx, account: AccountId, refunds: readonly string[]): Promise<void> {
  await rows(
    tx,
    sql`update refunds r set updated_at = clock_time(), status = case when exists (
            select from refund_lines l
            where l.account_id = r.account_id and l.refund_id = r.id and l.status <> 'applied')
          then 'waiting' else 'applied' end
        where account_id = ${account} and id = any(${refunds}::uuid[])`,
  );
}
