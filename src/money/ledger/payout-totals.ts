import sql, { raw, type Sql } from 'sql-template-tag';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { releaseCommissions } from './balances.ts';
import { duePaid, sumsWithTax, withTax } from './tax-on-top.ts';

/** `{reason, affiliate_count, totals}` per reason, over a source `x` of exclusions. */
export const exclusionsBy = (source: Sql) => sql`
  select coalesce(json_agg(r order by r.reason), '[]') from (
    select reason, (select count(distinct affiliate_id) from (${source}) x where x.reason = by.reason) as affiliate_count,
           json_agg((select t from (select currency, amount, commission_count, by.affiliate_count) t) order by currency)
             as totals
    from (select reason, currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
                 count(distinct affiliate_id) as affiliate_count
          from (${source}) x group by reason, currency) by
    group by reason) r`;

/**
 * Computes and stores the payout's sums from its lines and exclusions; returns the largest sum and the number of lines.
 */
export async function refreshTotals(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
): Promise<{ largest: bigint; lines: bigint }> {
  return oneRow(
    tx,
    sql`with line as (
          select affiliate_id, currency, amount, commission_count, is_paid, carried_amount, tax_terms, tax_amount,
                 carried_tax_amount
          from payout_line_totals where account_id = ${account} and payout_id = ${payout}),
        by_currency as (
          select currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
                 count(*) as affiliate_count,
                 coalesce(sum(amount - carried_amount) filter (where is_paid), 0) as paid_amount,
                 coalesce(sum(commission_count) filter (where is_paid), 0)::int8 as paid_count,
                 sum(carried_amount) as carried_amount,
                 coalesce(sum(amount) filter (where not is_paid), 0) as released_amount,
                 coalesce(sum(commission_count) filter (where not is_paid), 0)::int8 as released_count
          from line group by currency),
        taxed as (${sumsWithTax(sql`line`, sql`coalesce(sum(${raw(duePaid('line'))}) filter (where is_paid), 0)`)}),
        changed as (
          update payouts set
            totals = (select coalesce(json_agg(${raw(withTax('b', 'x.json'))} order by b.currency), '[]')
                      from by_currency b left join taxed x on x.currency = b.currency),
            excluded = (${exclusionsBy(
              sql`select * from payout_exclusions where account_id = ${account} and payout_id = ${payout}`,
            )}),
            affiliate_count = (select count(distinct affiliate_id) from line),
            commission_count = coalesce((select sum(commission_count) from line), 0)::int8,
            updated_at = clock_time()
          where account_id = ${account} and id = ${payout})
        select greatest((select max(abs(amount)) from by_currency), (select max(amount) from taxed), (
                 select max(abs(sum)) from (
                   select sum(amount) from payout_exclusions
                   where account_id = ${account} and payout_id = ${payout} group by reason, currency) s), 0)::int8
                 as largest,
               (select count(*) from line) as lines`,
  );
}

/** Deletes a payout that is not paid; its commissions are owed again. */
export async function deletePayout(tx: Tx, account: AccountId, payout: PayoutId): Promise<void> {
  await releaseCommissions(tx, account, sql`c.payout_id = ${payout}`);
  await rows(tx, sql`delete from payouts where account_id = ${account} and id = ${payout}`);
}
