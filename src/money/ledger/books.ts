import sql, { type Sql } from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../../db/connect.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { publish } from '../../outbox/queue.ts';
import { readSummary } from './payouts.ts';

/**
 * Locks the account's row of payout books until the transaction ends. Everything that changes the members or amounts of
 * a payout locks in this order: books, payout, commissions by id. Creating commissions does not lock the books.
 */
export async function lockBooks(tx: Tx, account: AccountId): Promise<void> {
  await rows(tx, sql`select 1 from payout_books where account_id = ${account} for no key update`);
}

/** Raises the revision of the unpaid payout if the affiliate has a line in it, and publishes the change. */
export async function reviseCurrentPayout(tx: Tx, account: AccountId, affiliateId: number): Promise<void> {
  await reviseFor(tx, account, sql`l.affiliate_id = ${affiliateId}`);
}

/** The same for the affiliates selected by a condition over the lines `l` of the unpaid payout. */
export async function reviseFor(tx: Tx, account: AccountId, lines: Sql): Promise<void> {
  const revised = await maybeRow<{ id: PayoutId }>(
    tx,
    sql`update payouts p set revision = revision + 1, updated_at = clock_timestamp()
        where p.account_id = ${account} and p.status = 'unpaid' and exists (
          select from payout_lines l
          where l.account_id = p.account_id and l.payout_id = p.id and ${lines})
        returning p.id`,
  );
  if (revised) {
    await publish(tx, {
      account,
      type: 'payout.updated',
      data: await readSummary(tx, account, revised.id),
    });
  }
}
