import sql, { raw, type Sql } from 'sql-template-tag';
import {
  type Filter,
  type ListDefinition,
  type ListQuery,
  listPage,
  type Page,
} from '../../contract/lists.ts';
import type { Reader } from '../../db/database.ts';
import { literal } from '../../db/literal.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, parseDay, type Span } from '../../kernel/time.ts';
import { type Column, selectList } from '../files/csv-export.ts';
import { paidThrough } from '../ledger/destinations.ts';
import { paidAmount } from '../ledger/payout-record.ts';
import { type PaidRow, record } from './record.ts';

const text = (name: string): Column => [name, `csv_text(a.${name})`];
const money = (name: string, expression: string): Column => [name, `decimal_text(${expression}, s.currency)`];

/**
 * The query of what an account paid in a period: one row per affiliate, currency and payout method. It sums the movements
 * in the period: payments, and returns whenever the money had been paid. An undone return counts against the returns of
 * the day it was undone. It is text, because COPY needs text.
 */
export function moved(account: AccountId, { from, until }: Span): string {
  const of = (alias: string) => `${alias}.account_id = ${literal(account)}`;
  const within = (instant: string) =>
    `${instant} >= ${literal(formatInstant(from))} and ${instant} < ${literal(formatInstant(until))}`;
  const line = `join payout_lines l on l.account_id = t.account_id and l.payout_id = t.payout_id
          and l.affiliate_id = t.affiliate_id
        left join affiliate_destinations d on d.account_id = t.account_id and d.id = t.destination_id`;
  const method = paidThrough('d.type', 'l');
  const returns = (instant: string, sign: '' | '-') => `
        select r.affiliate_id, r.currency, ${method}, 0, 0, 0, ${sign}r.amount
        from payout_returns r
        join payout_line_totals t on t.account_id = r.account_id and t.payout_id = r.payout_id
          and t.affiliate_id = r.affiliate_id and t.currency = r.currency
        ${line} where ${of('r')} and ${within(`r.${instant}`)}`;
  return `
      select affiliate_id, currency, payout_method, sum(payouts)::int8 as payout_count,
             sum(commissions)::int8 as commission_count, sum(paid) as paid, sum(returned) as returned
      from (
        select t.affiliate_id, t.currency, ${method} as payout_method, 1 as payouts, t.commission_count as commissions,
               ${paidAmount('t')} as paid, 0 as returned
        from payouts p
        join payout_line_totals t on t.account_id = p.account_id and t.payout_id = p.id and t.is_paid
        ${line}
        where ${of('p')} and p.status = 'paid' and ${within('p.paid_at')}
        union all ${returns('returned_at', '')}
        union all ${returns('undone_at', '-')}) moved
      group by affiliate_id, currency, payout_method
      having sum(payouts) > 0 or sum(returned) <> 0`;
}

/** The COPY of what an account paid in a period. `year` is null unless the period is a whole year. */
export function paidCopy(account: AccountId, period: Span, year: number | null): string {
  const columns: readonly Column[] = [
    ['year', `${year ?? 'null'}::int`],
    ['affiliate_id', 'a.id'],
    ...['external_id', 'name_first', 'name_last', 'email', 'paypal_email'].map(text),
    ['currency', 'upper(s.currency)'],
    ['payout_count', 's.payout_count'],
    ['commission_count', 's.commission_count'],
    money('paid_amount', 's.paid'),
    money('returned_amount', 's.returned'),
    money('net_amount', 's.paid - s.returned'),
    ['payout_method', 's.payout_method'],
    ['country', 'a.country'],
  ];
  return `copy (
    select ${selectList(columns)} from (${moved(account, period)}) s
    join affiliates a on a.account_id = ${literal(account)} and a.id = s.affiliate_id
    order by s.affiliate_id, s.currency, s.payout_method
  ) to stdout with (format csv, header)`;
}

const row = ['s.affiliate_id', 's.currency', 's.payout_method'];
const all = (): Sql => sql`true`;

/** Bounds of the period. They do not filter rows: a row sums what moved within them. */
const day: Filter = {
  rule: 'a day YYYY-MM-DD, from 1970 to 2999',
  schema: { title: 'Day', type: 'string' },
  condition: (value) => (parseDay(value) === null ? null : all()),
};
const year: Filter = {
  rule: 'four digits such as 2026, from 1970 to 2999',
  schema: { type: 'string', pattern: '^[0-9]{4}$' },
  condition: (value) => (parseDay(`${value}-01-01`) === null ? null : all()),
};

export const paidList: ListDefinition = {
  id: row,
  defaultSort: 'id',
  sort: { id: row, affiliate_id: 's.affiliate_id' },
  nullable: ['id', 'affiliate_id'],
  filters: { from: day, to: day, year },
};

/** A page of what an account paid in a period. */
export function listPaid(
  db: Reader,
  account: AccountId,
  period: Span,
  list: ListQuery,
): Promise<Page<PaidRow>> {
  return listPage(db, {
    list,
    name: 'paid',
    isPrepared: false,
    ctes: sql`moved as materialized (${raw(moved(account, period))})`,
    table: 'moved',
    alias: 's',
    where: sql`true`,
    join: sql`join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id`,
    record,
  });
}
