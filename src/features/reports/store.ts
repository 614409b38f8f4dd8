import { type Column, literal, selectList } from '../csv-export.ts';

const text = (name: string): Column => [name, `csv_text(a.${name})`];
const money = (name: string, expression: string): Column => [name, `decimal_text(${expression}, s.currency)`];

/**
 * The COPY of what an account paid in a year, a row per affiliate and currency: lines of payouts that were paid in it,
 * and lines whose money came back in it, whenever that was paid. Instants are UTC.
 */
export function paidCopy(account: string, year: number): string {
  const within = (instant: string) =>
    `${instant} >= ${literal(`${year}-01-01T00:00:00Z`)} and ${instant} < ${literal(`${year + 1}-01-01T00:00:00Z`)}`;
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
      select affiliate_id, currency, count(*) filter (where is_paid) as payout_count,
             coalesce(sum(commission_count) filter (where is_paid), 0) as commission_count,
             coalesce(sum(amount) filter (where is_paid), 0) as paid,
             coalesce(sum(amount) filter (where is_returned), 0) as returned
      from (
        select t.*, ${within('p.paid_at')} as is_paid, coalesce(${within('l.returned_at')}, false) as is_returned
        from payouts p
        join payout_lines l on l.account_id = p.account_id and l.payout_id = p.id and l.is_paid
        join payout_line_totals t
          on t.account_id = l.account_id and t.payout_id = l.payout_id and t.affiliate_id = l.affiliate_id
        where p.account_id = ${literal(account)} and p.status = 'paid') line
      where is_paid or is_returned
      group by affiliate_id, currency) s
    join affiliates a on a.account_id = ${literal(account)} and a.id = s.affiliate_id
    order by s.affiliate_id, s.currency
  ) to stdout with (format csv, header)`;
}
