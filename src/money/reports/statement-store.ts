import sql, { raw } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader } from '../../db/database.ts';
import { literal } from '../../db/literal.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { type Column, selectList } from '../files/csv-export.ts';
import { movements } from '../ledger/movements.ts';
import { ENTRY_KINDS, type EntryKind } from './statement-record.ts';

const KINDS = Object.keys(ENTRY_KINDS) as EntryKind[];

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
          select kind, currency, amount, at >= ${formatInstant(from)}::timestamptz as is_within
          from (${raw(movements(account, affiliate))}) e
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
      select kind, currency, at, amount, what, reference from (${movements(account, affiliate)}) e
      where at < ${instant(until)})
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
