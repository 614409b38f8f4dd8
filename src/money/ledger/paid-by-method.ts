import sql, { raw, type Sql } from 'sql-template-tag';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { paidThrough } from './destinations.ts';
import { paidAmount } from './payout-record.ts';

/**
 * A query of what was paid and returned in a period, by affiliate, method and currency: affiliate_id, method, currency, paid,
 * returned. The method is the type of the destination that a line was paid
 * to, or the payout method, or PayPal if there was an address for it, as in payment files.
 */
export function movedBy(account: AccountId, span: Span): Sql {
  const within = (instant: string) =>
    sql`${raw(instant)} >= ${formatInstant(span.from)}::timestamptz
        and ${raw(instant)} < ${formatInstant(span.until)}::timestamptz`;
  const method = raw(`coalesce(${paidThrough('d.type', 'l')}, 'other')`);
  const way = raw(`
    join payout_lines l on l.account_id = t.account_id and l.payout_id = t.payout_id and l.affiliate_id = t.affiliate_id
    left join affiliate_destinations d on d.account_id = t.account_id and d.id = t.destination_id`);
  const returns = (instant: string, sign: string) => sql`
    select t.affiliate_id, ${method}, t.currency, 0, ${raw(sign)} r.amount
    from payout_returns r
    join payout_line_totals t on t.account_id = r.account_id and t.payout_id = r.payout_id
      and t.affiliate_id = r.affiliate_id and t.currency = r.currency
    ${way}
    where r.account_id = ${account} and ${within(`r.${instant}`)}`;
  return sql`
    select affiliate_id, method, currency, sum(paid)::int8 as paid, sum(returned)::int8 as returned
    from (
      select t.affiliate_id, ${method} as method, t.currency, ${raw(paidAmount('t'))} as paid, 0 as returned
      from payouts p
      join payout_line_totals t on t.account_id = p.account_id and t.payout_id = p.id and t.is_paid
      ${way}
      where p.account_id = ${account} and p.status = 'paid' and ${within('p.paid_at')}
      union all ${returns('returned_at', '')}
      union all ${returns('undone_at', '-')}) each
    group by affiliate_id, method, currency
    having sum(paid) <> 0 or sum(returned) <> 0`;
}
