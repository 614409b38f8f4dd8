import sql, { raw, type Sql } from 'sql-template-tag';
import { type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { paidThrough } from './destinations.ts';
import { withheld } from './tax-on-top.ts';

/*
 * What was paid by each method. The method is the type of the destination that a line was paid to, or the payout method, or
 * PayPal if there was an address for it, as in payment files. Null = unknown. It does not change once the payout is paid, so a
 * chore adds up the lines of each paid payout once (`payouts.paid_by_method`).
 */

const METHOD = raw(paidThrough('d.type', 'l'));
/** Joins what decides the method to line totals `t`. */
const WAY = raw(`
  join payout_lines l on l.account_id = t.account_id and l.payout_id = t.payout_id and l.affiliate_id = t.affiliate_id
  left join affiliate_destinations d on d.account_id = t.account_id and d.id = t.destination_id`);

const within = (instant: string, span: Span) =>
  sql`${raw(instant)} >= ${formatInstant(span.from)}::timestamptz and ${raw(instant)} < ${formatInstant(span.until)}::timestamptz`;

/** The paid lines of payouts `p`: account_id, payout_id, affiliate_id, method, currency, paid, withheld. */
const paidLines = (which: Sql): Sql => sql`
  select p.account_id, p.id as payout_id, t.affiliate_id, ${METHOD} as method, t.currency, t.amount - t.carried_amount as paid,
         ${raw(withheld('t.tax_amount - t.carried_tax_amount'))} as withheld
  from payouts p
  join payout_line_totals t on t.account_id = p.account_id and t.payout_id = p.id and t.is_paid
  ${WAY} where p.status = 'paid' and ${which}`;

/** The returns in a period, less those that were undone in it: affiliate_id, method, currency, returned, withheld. */
function returns(account: AccountId, span: Span): Sql {
  const at = (instant: string, sign: '' | '-') => sql`
    select t.affiliate_id, ${METHOD} as method, t.currency, ${raw(sign)}r.amount as returned,
           ${raw(sign)}${raw(withheld('r.tax_amount'))} as withheld
    from payout_returns r
    join payout_line_totals t on t.account_id = r.account_id and t.payout_id = r.payout_id
      and t.affiliate_id = r.affiliate_id and t.currency = r.currency
    ${WAY} where r.account_id = ${account} and ${within(`r.${instant}`, span)}`;
  return sql`${at('returned_at', '')} union all ${at('undone_at', '-')}`;
}

/**
 * A query of what was paid and returned in a period, by affiliate, method and currency: affiliate_id, method, currency, paid,
 * returned, and withheld of what was paid, less what returns reversed. An unknown method is `other`.
 */
export function movedBy(account: AccountId, span: Span): Sql {
  return sql`
    select affiliate_id, coalesce(method, 'other') as method, currency, sum(paid)::int8 as paid, sum(returned)::int8 as returned,
           sum(withheld)::int8 as withheld
    from (
      select affiliate_id, method, currency, paid, 0 as returned, withheld
      from (${paidLines(sql`p.account_id = ${account} and ${within('p.paid_at', span)}`)}) line
      union all
      select affiliate_id, method, currency, 0, returned, -withheld from (${returns(account, span)}) back) each
    group by 1, 2, 3
    having sum(paid) <> 0 or sum(returned) <> 0`;
}

/** What was paid and returned by a method, in minor units. */
export interface PaidByMethod {
  readonly method: string | null;
  readonly currency: string;
  readonly paid: bigint;
  readonly returned: bigint;
}

/** What was paid and returned in a period by each method. Of payouts it reads the sums; the lines only of those without. */
export function readMethods(db: Reader, account: AccountId, span: Span): Promise<PaidByMethod[]> {
  const inPeriod = sql`p.account_id = ${account} and ${within('p.paid_at', span)}`;
  return rows(
    db,
    sql`select method, currency, sum(paid) as paid, sum(returned) as returned
        from (
          select m.method, m.currency, m.paid, 0 as returned
          from payouts p
          cross join lateral json_to_recordset(p.paid_by_method) as m (method text, currency text, paid numeric)
          where p.status = 'paid' and ${inPeriod}
          union all
          select method, currency, paid, 0 from (${paidLines(sql`p.paid_by_method is null and ${inPeriod}`)}) line
          union all
          select method, currency, 0, returned from (${returns(account, span)}) back) part
        group by 1, 2 having sum(paid) <> 0 or sum(returned) <> 0`,
  );
}

/** Adds up a paid payout that has no sums by method yet. Returns whether there was one. */
export async function sumPayout(tx: Tx): Promise<boolean> {
  const summed = await rows(
    tx,
    sql`with next as materialized (
          select account_id, id from payouts where status = 'paid' and paid_by_method is null limit 1),
        summed as (
          select coalesce(json_agg(s order by method, currency), '[]') as sums
          from (
            select method, currency, sum(paid) as paid
            from (${paidLines(sql`(p.account_id, p.id) in (select account_id, id from next)`)}) line group by 1, 2) s)
        update payouts p set paid_by_method = summed.sums from next cross join summed
        where p.account_id = next.account_id and p.id = next.id
        returning p.id`,
    'sum_payout',
  );
  return summed.length > 0;
}
