import sql, { join, raw, type Sql } from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { cut, floorTo, type Lengths } from '../../kernel/spans.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { addToMonths, moveCountries, sumAgain } from './affiliate-series.ts';
import { sumPayout } from './paid-by-method.ts';

/*
 * What happened to commissions over time, without reading them. Every change records what happened and when in notes,
 * which are folded into sums by UTC day, hour and quarter hour. Readers add the notes that are not folded yet. A span in
 * any time zone consists of whole days, hours and quarter hours, because all offsets are multiples of 15 minutes. The
 * same notes are folded into the months of each affiliate (`affiliate-series.ts`).
 */

/** The kinds of changes; each has a sum and a count. */
export const KINDS = ['earned', 'refunded', 'voided', 'adjusted', 'paid', 'returned'] as const;
export type Kind = (typeof KINDS)[number];

const SPANS = { day: '1 day', hour: '1 hour', quarter: '15 minutes' } as const;
const QUARTER_MS = 15 * 60_000;
const LENGTHS: Lengths = [
  ['day', 96 * QUARTER_MS],
  ['hour', 4 * QUARTER_MS],
  ['quarter', QUARTER_MS],
];

const startOf = (length: Sql, at: Sql) => sql`date_bin(${length}, ${at}, timestamptz '2001-01-01 00:00:00Z')`;

/** The statement that records what happened: a query of kind, affiliate_id, program_id, currency, at, amount and count. */
export function noteSeries(account: AccountId, happened: Sql): Sql {
  return sql`insert into affiliate_series_notes (account_id, affiliate_id, program_id, starts_at, currency, kind, amount,
      count)
    select ${account}::uuid, affiliate_id, program_id, ${startOf(sql`interval '15 minutes'`, sql`at`)}, currency, kind,
           sum(amount), sum(count)
    from (${happened}) h group by 2, 3, 4, 5, 6 having sum(amount) <> 0 or sum(count) <> 0`;
}

/** Excludes clawbacks of paid commissions, and amounts owed again because a payout did not pay them. */
const OWN = sql`type <> 'clawback' and returns_payout_id is null`;

/** What new commissions earned or adjusted, or what undoing their import removes: columns `NOTED` of a CTE. */
export const earnedBy = (sign: '' | '-', source: Sql): Sql => sql`
  select case type when 'adjustment' then 'adjusted' else 'earned' end as kind, affiliate_id, program_id, currency, occurred_at as at,
         ${raw(sign)}original_amount as amount, ${raw(sign)}1 as count
  from ${source} where ${OWN}`;

/** The amounts that voiding removed from the commissions of a CTE with the columns `NOTED`, beyond earlier refunds. */
export const voidedOf = (sign: '' | '-', source: Sql): Sql => sql`
  select 'voided' as kind, affiliate_id, program_id, currency, voided_at as at,
         ${raw(sign)}(original_amount - refunded_amount) as amount, ${raw(sign)}1 as count
  from ${source} where voided_at is not null and ${OWN} and original_amount <> refunded_amount`;

/** The amounts that the refund items of a CTE (refund_id, commission_id, amount) took or gave back. */
export const refundedBy = (account: AccountId, sign: '' | '-', source: Sql): Sql => sql`
  select 'refunded' as kind, c.affiliate_id, c.program_id, c.currency, r.occurred_at as at, ${raw(sign)}i.amount as amount,
         ${raw(sign)}1 as count
  from ${source} i
  join commissions c on c.account_id = ${account} and c.id = i.commission_id
  join refunds r on r.account_id = ${account} and r.id = i.refund_id
  where i.amount > 0`;

/** The sum of a kind in one bucket, program and currency. */
export interface SeriesSum {
  readonly bucket: number;
  /** 0 = of all programs and of none. */
  readonly program: bigint;
  readonly currency: string;
  readonly kind: Kind;
  readonly amount: bigint;
  readonly count: bigint;
}

/** The program 0 is all of them. */
export const ALL_PROGRAMS = 0;

/** All notes of an account. Servers of the previous version write into the older table. */
const notesOf = (account: AccountId): Sql => sql`(
  select program_id, starts_at, currency, kind, amount, count from affiliate_series_notes where account_id = ${account}
  union all
  select program_id, starts_at, currency, kind, amount, count from commission_series_notes where account_id = ${account})`;

/** The sums in each of several spans, cut at quarter hours, of some programs. */
export function readSeries(
  db: Reader,
  account: AccountId,
  {
    buckets,
    currency,
    programs,
  }: { buckets: readonly Span[]; currency: string | null; programs: readonly number[] },
): Promise<SeriesSum[]> {
  const spans = buckets.map(({ from, until }) => ({
    from: floorTo(QUARTER_MS, from),
    until: floorTo(QUARTER_MS, until),
  }));
  const pieces = spans.flatMap((span, bucket) => cut(span, LENGTHS).map((piece) => ({ bucket, ...piece })));
  const instants = (times: readonly number[]) => sql`${times.map(formatInstant)}::timestamptz[]`;
  const wanted = sql`(${currency}::text is null or s.currency = ${currency})`;
  return rows(
    db,
    sql`select bucket, program, currency, kind, sum(amount) as amount, sum(count)::int8 as count
        from (
          select p.bucket, o.program, s.currency, s.kind, s.amount, s.count
          from unnest(${pieces.map(({ bucket }) => bucket)}::int[], ${pieces.map(({ length }) => length)}::text[],
                 ${instants(pieces.map(({ from }) => from))}, ${instants(pieces.map(({ until }) => until))})
            as p (bucket, span, from_at, until_at)
          cross join unnest(${programs}::int8[]) o (program)
          cross join lateral (
            select * from commission_series s
            where s.account_id = ${account} and s.program_id = o.program and s.span = p.span
              and s.starts_at >= p.from_at and s.starts_at < p.until_at and ${wanted} offset 0) s
          union all
          select p.place::int - 1, o.program, s.currency, s.kind, s.amount, s.count
          from ${notesOf(account)} s
          join unnest(${instants(spans.map(({ from }) => from))}, ${instants(spans.map(({ until }) => until))})
            with ordinality as p (from_at, until_at, place) on s.starts_at >= p.from_at and s.starts_at < p.until_at
          join unnest(${programs}::int8[]) o (program) on o.program in (${ALL_PROGRAMS}::int8, s.program_id)
          where ${wanted}) part
        group by 1, 2, 3, 4 having sum(amount) <> 0 or sum(count) <> 0
        order by 1, 2, 3, 4`,
  );
}

const FOLDED_AT_ONCE = 20_000;

/** Adds a batch of notes to the sums. Returns the number of notes. Readers see the same sums before and after. */
export async function foldSeries(tx: Tx): Promise<number> {
  const spans = join(
    Object.entries(SPANS).map(([span, length]) => sql`('${raw(span)}', interval '${raw(length)}')`),
  );
  const { folded } = await oneRow<{ folded: number }>(
    tx,
    sql`with gone as (
          delete from affiliate_series_notes
          where ctid = any(array(select ctid from affiliate_series_notes limit ${FOLDED_AT_ONCE}::int)) returning *),
        without_affiliate as (
          delete from commission_series_notes
          where ctid = any(array(select ctid from commission_series_notes limit ${FOLDED_AT_ONCE}::int)) returning *),
        added as (
          insert into commission_series as s (account_id, program_id, span, starts_at, currency, kind, amount, count)
          select account_id, scope, span, ${startOf(sql`length`, sql`starts_at`)}, currency, kind, sum(amount), sum(count)
          from (
            select account_id, program_id, starts_at, currency, kind, amount, count from gone
            union all
            select account_id, program_id, starts_at, currency, kind, amount, count from without_affiliate) note
          cross join lateral (
            select ${ALL_PROGRAMS}::int8 as scope union all select program_id where program_id is not null) scopes
          cross join (values ${spans}) spans (span, length)
          group by 1, 2, 3, 4, 5, 6
          on conflict (account_id, program_id, span, starts_at, currency, kind) do update
          set amount = s.amount + excluded.amount, count = s.count + excluded.count),
        ${addToMonths(sql`gone`)}
        select ((select count(*) from gone) + (select count(*) from without_affiliate))::int as folded`,
    'fold_series',
  );
  if (folded >= SLICE_ROWS) return folded;
  const moved = await moveCountries(tx);
  if (moved >= SLICE_ROWS) return moved;
  // one account or payout at a time, because each takes long
  return (await sumAgain(tx)) || (await sumPayout(tx)) ? SLICE_ROWS : folded;
}
