import sql, { raw } from 'sql-template-tag';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import { releaseCommissions } from './balances.ts';
import { revise } from './books.ts';
import type { PayoutSummary } from './payout-record.ts';
import { deletePayout, refreshTotals } from './payout-totals.ts';
import { readSummary, summaryJson } from './payouts.ts';
import { taxOn } from './tax-on-top.ts';

/** The commissions of one affiliate in one currency: the unit that payout rules apply to. */
export interface Group {
  readonly account: AccountId;
  readonly payout: PayoutId;
  readonly affiliate: bigint;
  readonly currency: string;
}

/**
 * Updates the unpaid payout after commissions of a group have changed or left. A group whose sum is not positive is
 * removed and recorded as excluded; an empty payout is deleted; the revision rises. The caller has locked the books.
 */
export async function settleGroup(tx: Tx, group: Group): Promise<void> {
  const { account, payout } = group;
  const { amount, count, owed, before } = await oneRow<{
    amount: bigint;
    count: bigint;
    owed: bigint;
    before: Json<PayoutSummary>;
  }>(
    tx,
    sql`select coalesce(sum(amount), 0)::int8 as amount, count(*) as count, coalesce((
          select t.amount from payout_line_totals t
          where t.account_id = ${account} and t.payout_id = ${payout} and t.affiliate_id = ${group.affiliate}
            and t.currency = ${group.currency}), 0)::int8 as owed,
          (select ${summaryJson} from payouts p where p.account_id = ${account} and p.id = ${payout}) as before
        from commissions
        where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${group.affiliate}
          and currency = ${group.currency}`,
  );
  if (amount > 0n) await changeLineTotal(tx, group, amount, count);
  else await removeGroup(tx, group, amount, count);
  const { lines } = await refreshTotals(tx, account, payout);
  if (lines === 0n) {
    const data = await readSummary(tx, account, payout);
    await deletePayout(tx, account, payout);
    await publish(tx, { account, type: 'payout.deleted', data });
    return;
  }
  await revise(tx, account, payout, {
    change: amount > owed ? 'increased' : 'reduced',
    before,
    lines: sql`l.affiliate_id = ${group.affiliate}`,
    regroups: amount <= 0n,
  });
}

async function changeLineTotal(tx: Tx, group: Group, amount: bigint, count: bigint): Promise<void> {
  await rows(
    tx,
    sql`update payout_line_totals t set amount = g.amount, commission_count = ${count},
          tax_amount = ${raw(taxOn('g.amount', 't.tax_terms'))}
        from (select ${amount}::int8 as amount) g
        where t.account_id = ${group.account} and t.payout_id = ${group.payout} and t.affiliate_id = ${group.affiliate}
          and t.currency = ${group.currency}`,
  );
}

async function removeGroup(tx: Tx, group: Group, amount: bigint, count: bigint): Promise<void> {
  const { account, payout, affiliate, currency } = group;
  await releaseCommissions(
    tx,
    account,
    sql`c.payout_id = ${payout} and c.affiliate_id = ${affiliate} and c.currency = ${currency}`,
  );
  await rows(
    tx,
    sql`delete from payout_line_totals where account_id = ${account} and payout_id = ${payout}
          and affiliate_id = ${affiliate} and currency = ${currency}`,
  );
  await rows(
    tx,
    sql`delete from payout_lines l where account_id = ${account} and payout_id = ${payout}
          and affiliate_id = ${affiliate} and not exists (
            select from payout_line_totals t
            where t.account_id = l.account_id and t.payout_id = l.payout_id and t.affiliate_id = l.affiliate_id)`,
  );
  if (amount === 0n) return;
  await rows(
    tx,
    sql`insert into payout_exclusions (account_id, payout_id, affiliate_id, currency, reason, amount, commission_count)
        values (${account}, ${payout}, ${affiliate}, ${currency}, 'negative_balance', ${amount}, ${count})
        on conflict (account_id, payout_id, affiliate_id, currency, reason)
        do update set amount = excluded.amount, commission_count = excluded.commission_count`,
  );
}

/**
 * Records that a commission of a group was removed from the unpaid payout for review. Call `settleGroup` afterwards.
 */
export async function noteHeld(tx: Tx, group: Group, amount: bigint): Promise<void> {
  const { account, payout, affiliate, currency } = group;
  await rows(
    tx,
    sql`insert into payout_exclusions as x (account_id, payout_id, affiliate_id, currency, reason, amount,
          commission_count)
        values (${account}, ${payout}, ${affiliate}, ${currency}, 'on_hold', ${amount}, 1)
        on conflict (account_id, payout_id, affiliate_id, currency, reason)
        do update set amount = x.amount + excluded.amount, commission_count = x.commission_count + 1`,
  );
}
