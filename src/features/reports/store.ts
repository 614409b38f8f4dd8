import { type Column, literal, selectList } from '../csv-export.ts';
import { paidAmount } from '../payouts/records.ts';

const text = (name: string): Column => [name, `csv_text(a.${name})`];
const money = (name: string, expression: string): Column => [name, `decimal_text(${expression}, s.currency)`];

/**
 * The COPY of what an account paid in a year, a row per affiliate and currency, of what moved in it: what was paid, what
 * came back, whenever that was paid, and less what turned out not to have come back. Instants are UTC.
 */
export function paidCopy(account: string, year: number): string {
  const within = (instant: string) =>
    `${instant} >= ${literal(`${year}-01-01T00:00:00Z`)} and ${instant} < ${literal(`${year + 1}-01-01T00:00:00Z`)}`;
  const returns = (instant: string, sign: '' | '-') => `
        select affiliate_id, currency, 0, 0, 0, ${sign}amount from payout_returns
        where account_id = ${literal(account)} and ${within(instant)}`;
  const columns: readonly Column[] = [
    ['year', String(year)],
    ['affiliate_id', 'a.id'],
    ...['external_id', 'name_first', 'name_last', 'email', 'paypal_email'].map(text),
    ['currency', 'upper(s.currency)'],
    ['payout_count', 's.payout_count'],
    ['commission_count', 's.commission_count'],
    money('paid_amount', 's.paid'),
    money('returned_amount', 's.returned'),
    money('net_amount', 's.paid - s.returned'),
  ];
  return `copy (
    select ${selectList(columns)}
    from (
      select affiliate_id, currency, sum(payouts) as payout_count, sum(commissions) as commission_count,
             sum(paid) as paid, sum(returned) as returned
      from (
        select t.affiliate_id, t.currency, 1 as payouts, t.commission_count as commissions,
               ${paidAmount('t')} as paid, 0 as returned
        from payouts p
        join payout_line_totals t on t.account_id = p.account_id and t.payout_id = p.id and t.is_paid
        where p.account_id = ${literal(account)} and p.status = 'paid' and ${within('p.paid_at')}
        union all ${returns('returned_at', '')}
        union all ${returns('undone_at', '-')}) moved
      group by affiliate_id, currency
      having sum(payouts) > 0 or sum(returned) <> 0) s
    join affiliates a on a.account_id = ${literal(account)} and a.id = s.affiliate_id
    order by s.affiliate_id, s.currency
  ) to stdout with (format csv, header)`;
}
