import sql, { type Sql } from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import type { Change } from './approval-rules.ts';
import type { PayoutSummary } from './payout-record.ts';
import { readSummary, summaryJson } from './payouts.ts';
import { personBehind } from './person-behind.ts';
import { noteSignals, type Revised } from './signals.ts';

/**
 * Locks the account's row of payout books until the transaction ends. Every change of a payout's members or amounts locks
 * in this order: books, payout, commissions by id. Creating commissions does not lock the books.
 */
export async function lockBooks(tx: Tx, account: AccountId): Promise<void> {
  await rows(tx, sql`select 1 from payout_books where account_id = ${account} for no key update`);
}

/**
 * Lets nobody create commissions of the account until the transaction ends: their foreign keys need its row. Call it before any
 * other lock.
 */
export async function stopCommissions(tx: Tx, account: AccountId): Promise<void> {
  await rows(tx, sql`select 1 from accounts where id = ${account} for update`);
}

/** Raises the revision of the unpaid payout if the affiliate has a line in it, and publishes the change. */
export async function reviseCurrentPayout(tx: Tx, account: AccountId, affiliateId: number): Promise<void> {
  await reviseFor(tx, account, sql`l.affiliate_id = ${affiliateId}`);
}

/** The same for the affiliates that a condition over the lines `l` of the unpaid payout selects. */
export async function reviseFor(tx: Tx, account: AccountId, lines: Sql): Promise<void> {
  const found = await maybeRow<{ id: PayoutId; before: Json<PayoutSummary> }>(
    tx,
    sql`select p.id, ${summaryJson} as before from payouts p
        where p.account_id = ${account} and p.status = 'unpaid' and exists (
          select from payout_lines l
          where l.account_id = p.account_id and l.payout_id = p.id and ${lines})`,
  );
  if (found)
    await revise(tx, account, found.id, {
      change: 'redirected',
      before: found.before,
      lines,
      regroups: true,
    });
}

/**
 * Raises the revision of the unpaid payout, records who caused it and how (`approval-rules.ts`), finds the signals of the changed
 * lines again, and publishes the change. Nothing else raises a revision, so nobody can approve a payout after changing it. The
 * caller has locked the books; `before` is the record until the change.
 */
export async function revise(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  { change, before, ...revised }: Revised & { readonly change: Change; readonly before: Json<PayoutSummary> },
): Promise<void> {
  const { by } = tx;
  const user = by === null ? null : await personBehind(tx, account, by);
  await rows(
    tx,
    sql`with revised as (
          update payouts set revision = revision + 1, updated_at = clock_time()
          where account_id = ${account} and id = ${payout} returning account_id, id, revision)
        insert into payout_changes (account_id, payout_id, revision, change, actor_kind, actor_id, user_id)
        select account_id, id, revision, ${change}, ${by?.kind ?? null}::text, ${by?.id ?? null}::text, ${user}::uuid
        from revised where ${by !== null}`,
  );
  await noteSignals(tx, account, payout, revised);
  const data = await readSummary(tx, account, payout);
  await publish(tx, { account, type: 'payout.updated', data, before });
}
