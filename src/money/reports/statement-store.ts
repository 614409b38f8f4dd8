import sql, { raw } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { type Column, literal, selectList } from '../files/csv-export.ts';
import { paidAmount } from '../ledger/payout-record.ts';
import { ENTRY_KINDS, type EntryKind } from './statement-record.ts';

const KINDS = Object.keys(ENTRY_KINDS) as EntryKind[];

/**
 * The query of everything that changed what an affiliate is owed: kind, currency, at, amount (minor units, below zero if
 * it subtracts), description and reference. A refund of a paid commission counts as itself, so its clawback does not; nor
 * do adjustments of payouts and returns, because only the amount actually paid counts as paid. It is text, because COPY
 * needs text.
 */
function entries(account: AccountId, affiliate: number): string {
  const of = (alias: string) =>
    `${alias}.account_id = ${literal(account)} and ${alias}.affiliate_id = ${literal(String(affiliate))}`;
  const returns = (instant: string, sign: '' | '-') => `
    select 'returned', r.currency, r.${instant}, ${sign}r.amount, 'payout ' || p.number, r.reference
    from payout_returns r join payouts p on p.account_id = r.account_id and p.id = r.payout_id
    where ${of('r')} and r.${instant} is not null`;
  return `
    select case c.type when 'adjustment' then 'adjusted' else 'earned' end as kind, c.currency, c.occurred_at as at,
           c.original_amount as amount, c.external_id as what, c.order_id as reference
    from commissions c
    where ${of('c')} and c.type <> 'clawback' and c.returns_payout_id is null
      and (c.external_id like 'payhook:undone:%') is not true
    union all
    select 'voided', c.currency, c.voided_at, -(c.original_amount - c.refunded_amount), c.external_id, c.order_id
    from commissions c
    where ${of('c')} and c.voided_at is not null and c.type <> 'clawback' and c.returns_payout_id is null
      and (c.external_id like 'payhook:undone:%') is not true and c.original_amount <> c.refunded_amount
    union all
    select 'refunded', c.currency, r.occurred_at, -i.amount, r.external_id, c.order_id
    from commissions c
    join refund_items i on i.account_id = c.account_id and i.commission_id = c.id
    join refunds r on r.account_id = i.account_id and r.id = i.refund_id
    where ${of('c')} and r.status <> 'reversed' and i.amount > 0
    union all
    select 'paid', t.currency, p.paid_at, -(${paidAmount('t')}), 'payout ' || p.number, t.payment_reference
    from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id
    where ${of('t')} and t.is_paid
    union all ${returns('returned_at', '')}
    union all ${returns('undone_at', '-')}`;
}

interface Sums {
  readonly name: string | null;
  readonly email: string;
  readonly largest: bigint;
  /** JSON. */
  readonly currencies: string;
  /** When it was read, in milliseconds since 1970. */
  readonly now: bigint;
}

/** The sums of a statement, and the largest of them; null for an unknown affiliate. */
export function readSums(
  db: Reader,
  account: AccountId,
  affiliate: number,
  { from, until }: Span,
): Promise<Sums | null> {
  const sums = KINDS.map(
    (kind) =>
      `coalesce(sum(amount) filter (where is_within and kind = '${kind}'), 0)::int8 as ${kind}_amount`,
  ).join(', ');
  return maybeRow(
    db,
    sql`with entry as materialized (
          select *, at >= ${formatInstant(from)}::timestamptz as is_within from (${raw(entries(account, affiliate))}) e
          where at < ${formatInstant(until)}::timestamptz),
        sums as (
          select currency, coalesce(sum(amount) filter (where not is_within), 0)::int8 as opening_amount, ${raw(sums)},
                 sum(amount)::int8 as closing_amount
          from entry group by currency)
        select nullif(trim(concat_ws(' ', a.name_first, a.name_last)), '') as name, a.email,
               (select coalesce(max(greatest(abs(opening_amount), abs(closing_amount))), 0)::int8 from sums) as largest,
               (select coalesce(json_agg(s order by s.currency), '[]')::text from sums s) as currencies,
               (extract(epoch from now()) * 1000)::int8 as now
        from affiliates a where a.account_id = ${account} and a.id = ${affiliate}`,
  );
}

interface Whose {
  readonly account: AccountId;
  readonly affiliate: number;
  /** The time zone of the days. */
  readonly zone: string;
}

/**
 * The query of a statement's lines: for each currency the opening balance, its entries in order, and the closing balance.
 * It is text, because COPY needs text.
 */
function lines({ account, affiliate }: Whose, { from, until }: Span, columns: readonly Column[]): string {
  const instant = (ms: number) => literal(formatInstant(ms));
  return `
    with entry as materialized (
      select * from (${entries(account, affiliate)}) e where at < ${instant(until)})
    select ${selectList(columns)} from (
      select 0 as place, 'opening_balance' as kind, currency, null::timestamptz as at,
             coalesce(sum(amount) filter (where at < ${instant(from)}), 0)::int8 as amount, null as what, null as reference
      from entry group by currency
      union all
      select 1, kind, currency, at, amount, what, reference from entry where at >= ${instant(from)}
      union all
      select 2, 'closing_balance', currency, null, sum(amount)::int8, null, null from entry group by currency) shown
    order by currency, place, at, kind, what`;
}

const dayIn = (zone: string): Column => [
  'day',
  `to_char(at at time zone ${zoneLiteral(zone)}, 'YYYY-MM-DD')`,
];

/** The COPY of a statement. */
export function linesCopy(whose: Whose, span: Span): string {
  const columns: readonly Column[] = [
    dayIn(whose.zone),
    ['kind', 'kind'],
    ['currency', 'upper(currency)'],
    ['amount', 'decimal_text(amount, currency)'],
    ['what', 'csv_text(what)'],
    ['reference', 'csv_text(reference)'],
  ];
  return `copy (${lines(whose, span, columns)}) to stdout with (format csv, header)`;
}

/** A line of a statement. */
export interface StatementLine {
  /** A day of the account; null for a balance. */
  readonly day: string | null;
  readonly kind: EntryKind | 'opening_balance' | 'closing_balance';
  readonly currency: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly what: string | null;
  readonly reference: string | null;
}

/** At most `most` lines of a statement as JSON for `statementLines`, and their number. */
export function readLines(
  db: Reader,
  whose: Whose,
  span: Span,
  most: number,
): Promise<{ json: string; count: number }> {
  const columns: readonly Column[] = [
    dayIn(whose.zone),
    ...['kind', 'currency', 'amount', 'what', 'reference'].map((name): Column => [name, name]),
  ];
  return oneRow(
    db,
    sql`select coalesce(json_agg(to_jsonb(l) || jsonb_build_object('amount', l.amount::text)), '[]')::text as json,
               count(*)::int as count
        from (${raw(lines(whose, span, columns))} limit ${most}) l`,
  );
}

/** Parses the lines that `readLines` returned. */
export const statementLines = (json: string): StatementLine[] =>
  (JSON.parse(json) as (Omit<StatementLine, 'amount'> & { amount: string })[]).map((line) => ({
    ...line,
    amount: BigInt(line.amount),
  }));

const zoneLiteral = (zone: string) => {
  if (!/^[\w/+-]+$/.test(zone)) throw new Error('not the name of a time zone');
  return `'${zone}'`;
};
