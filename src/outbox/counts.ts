import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { type Database, oneRow, rows, type Tx } from '../db/database.ts';
import { LOCKS, takeLock, tryLock } from '../db/locks.ts';
import type { AccountId, EndpointId } from '../kernel/ids.ts';
import { formatInstant, type Timestamp } from '../kernel/time.ts';

/*
 * Counts the rows of the log and finds the n-th without scanning it. Rows are summed by week, hour and minute of the time
 * inside the event id. Every statement that changes the log records the change in notes, which are folded into the sums
 * periodically. A reader adds the notes that are not folded yet, in one statement, so it does not matter when they are
 * folded. Attempts are counted with them, by the minute in which they began (outbox/series.ts).
 */

/** What is counted for an endpoint or an account: all rows of the log, or those of a final status. */
export type Kind = 'total' | 'delivered' | 'failed' | 'cancelled';

const LENGTHS = { week: '7 days', hour: '1 hour', minute: '1 minute' } as const;
type Span = keyof typeof LENGTHS;

const FOLDED_AT_ONCE = 20_000;
const MINUTE_MS = 60_000;

const lengthOf = (span: Span) => sql`interval '${raw(LENGTHS[span])}'`;
// weeks begin on Monday, like the partitions
const startOf = (span: Span, at: Sql) =>
  sql`date_bin(${lengthOf(span)}, ${at}, timestamptz '2001-01-01 00:00:00Z')`;
const spansOf = (...spans: Span[]) =>
  sql`(values ${join(spans.map((span) => sql`('${raw(span)}', ${lengthOf(span)})`))}) spans (span, length)`;

/**
 * SQL that records a change of the log. It must be part of the statement that makes the change. `changes` is a query of
 * account_id, endpoint_id, event_id, and the numbers to add to `total`, `delivered`, `failed` and `cancelled`.
 */
export function noteChanges(changes: Sql): Sql {
  return sql`insert into delivery_count_deltas (account_id, endpoint_id, minute, total, delivered, failed, cancelled)
    select account_id, endpoint_id, ${startOf('minute', sql`id_time(event_id)`)}, sum(total), sum(delivered), sum(failed), sum(cancelled)
    from (${changes}) changed group by 1, 2, 3`;
}

/**
 * The same for changes of attempts: `changes` also has `attempted_at` and `code`. Both are null if a change concerns no
 * attempt. A negative code removes an attempt.
 */
export function noteAttempts(changes: Sql): Sql {
  return sql`insert into delivery_count_deltas (account_id, endpoint_id, minute, attempted_minute, total, delivered,
      failed, cancelled, attempt_codes)
    select account_id, endpoint_id, ${startOf('minute', sql`id_time(event_id)`)}, ${startOf('minute', sql`attempted_at`)},
           sum(total), sum(delivered), sum(failed), sum(cancelled), array_agg(code) filter (where code is not null)
    from (${changes}) changed group by 1, 2, 3, 4`;
}

/** SQL: the code of an attempt. A consumer that acknowledges an event sends no status: that counts as a 200. */
export const codeOfAttempt = sql`attempt_code(duration_ms, coalesce(response_status, case when error_code is null then 200 end))`;

/** Folds the notes into the sums, unless another process is doing so. Readers see the same totals before and after. */
export async function foldCounts(db: Database): Promise<void> {
  const { some } = await oneRow<{ some: boolean }>(
    db.reader,
    sql`select exists (select from delivery_count_deltas) as some`,
    'is_there_to_fold',
  );
  if (some) while ((await foldSome(db)) === FOLDED_AT_ONCE);
}

function foldSome(db: Database): Promise<number> {
  return db.engine(async (tx) => {
    if (!(await tryLock(tx, LOCKS.counts))) return 0;
    const { folded } = await oneRow<{ folded: number }>(
      tx,
      sql`with gone as (
            delete from delivery_count_deltas
            where ctid = any(array(select ctid from delivery_count_deltas limit ${FOLDED_AT_ONCE}::int)) returning *),
          sums as (
            select account_id, endpoint_id, minute, sum(total) as total, sum(delivered) as delivered,
                   sum(failed) as failed, sum(cancelled) as cancelled
            from gone group by 1, 2, 3 having (sum(total), sum(delivered), sum(failed), sum(cancelled)) <> (0, 0, 0, 0)),
          added as (
            insert into delivery_counts as c (account_id, scope_id, span, starts_at, total, delivered, failed, cancelled)
            select account_id, scope_id, span, ${binned(sql`minute`)}, sum(total), sum(delivered), sum(failed), sum(cancelled)
            from sums
            cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
            cross join ${spansOf('week', 'hour', 'minute')}
            group by 1, 2, 3, 4
            on conflict (account_id, scope_id, span, starts_at) do update
            set total = c.total + excluded.total, delivered = c.delivered + excluded.delivered,
                failed = c.failed + excluded.failed, cancelled = c.cancelled + excluded.cancelled),
          ${attemptsAdded}
          select count(*)::int as folded from gone`,
      'fold_counts',
    );
    return folded;
  });
}

/** The start of the span of a `length` that contains a time. */
const binned = (at: Sql) => sql`date_bin(length, ${at}, timestamptz '2001-01-01 00:00:00Z')`;

/** The part of the fold that adds up the attempts of `gone`: a row has its codes and the number of each. */
const attemptsAdded = sql`
          coded as (
            select account_id, endpoint_id, attempted_minute, ${startOf('week', sql`minute`)} as log_week,
                   abs(code)::int2 as code, sum(sign(code))::int as n
            from gone cross join lateral unnest(attempt_codes) code
            group by 1, 2, 3, 4, 5),
          attempted as (
            insert into attempt_counts as a (account_id, scope_id, span, starts_at, log_week, codes, counts)
            select account_id, scope_id, span, starts_at, log_week, array_agg(code), array_agg(n)
            from (
              select account_id, scope_id, span, ${binned(sql`attempted_minute`)} as starts_at, log_week, code,
                     sum(n)::int as n
              from coded
              cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
              cross join ${spansOf('hour', 'minute')}
              group by 1, 2, 3, 4, 5, 6) summed
            group by 1, 2, 3, 4, 5
            on conflict (account_id, scope_id, span, starts_at, log_week) do update
            set (codes, counts) = (
              select coalesce(array_agg(code), '{}'), coalesce(array_agg(n), '{}')
              from (
                select code, sum(n)::int as n
                from (select * from unnest(a.codes, a.counts) union all
                      select * from unnest(excluded.codes, excluded.counts)) both_sides (code, n)
                group by 1 having sum(n) <> 0) added))`;

/** Deletes the sums of a week, folded or not. */
export async function forgetCounts(tx: Tx, week: Timestamp): Promise<void> {
  // waits for a running fold, which could bring back sums of the week
  await takeLock(tx, LOCKS.counts);
  for (const [table, column] of [
    ['delivery_count_deltas', 'minute'],
    ['delivery_counts', 'starts_at'],
    ['attempt_counts', 'log_week'],
  ] as const) {
    await rows(
      tx,
      sql`delete from ${raw(table)} where ${raw(column)} >= ${week}::timestamptz
            and ${raw(column)} < ${week}::timestamptz + ${lengthOf('week')}`,
    );
  }
}

/** The number of log rows of a week, for all accounts. */
export const weekRows = (week: Timestamp): Sql => sql`(
  (select coalesce(sum(total), 0) from delivery_counts
   where span = 'week' and starts_at = ${week}::timestamptz and scope_id = account_id)
  + (select coalesce(sum(total), 0) from delivery_count_deltas
     where minute >= ${week}::timestamptz and minute < ${week}::timestamptz + ${lengthOf('week')}))`;

/** Endpoints whose part of the log is read: one (UUID), several, or undefined for all of the account. */
export type Endpoints = EndpointId | readonly EndpointId[] | undefined;

/** A condition on a column, starting with `and`: it names one of the endpoints. */
export function ofEndpoints(column: Sql, endpoints: Endpoints): Sql {
  if (endpoints === undefined) return empty;
  return typeof endpoints === 'string'
    ? sql`and ${column} = ${endpoints}`
    : sql`and ${column} = any(${[...endpoints]}::uuid[])`;
}

/** The same for a column of the sums, which also has the sum of the account. */
export const ofScope = (column: Sql, account: AccountId, endpoints: Endpoints): Sql =>
  endpoints === undefined ? sql`and ${column} = ${account}` : ofEndpoints(column, endpoints);

/** Rows of the log in the order of their event ids, as described by the sums. */
export interface CountedRows {
  readonly account: AccountId;
  readonly endpoint: Endpoints;
  readonly kind: Kind;
  /** The time inside the event id, milliseconds since 1970; null = no bound. `until` is not included. */
  readonly from: number | null;
  readonly until: number | null;
  /** A query of `event_id`: rows of this kind that are not in the sums yet. */
  readonly uncounted: Sql | null;
  /** A query of the rows from one event id (inclusive) to another (exclusive). */
  between(first: Sql, end: Sql): Sql;
  /** The order of ranks over its columns, and its reverse. */
  readonly order: { readonly asc: Sql; readonly desc: Sql };
}

/** A page of rows in the order of event ids. */
export interface CountedCut {
  readonly isDescending: boolean;
  readonly offset: bigint;
  readonly limit: number;
  /** The row before the page, by UUIDs. `endpoint` is null if all rows belong to one endpoint. */
  readonly after: { readonly event: string; readonly endpoint: string | null } | null;
}

/** The parts of the statement that reads a page. */
export interface CountedPage {
  /** CTEs that the others read. */
  readonly ctes: Sql;
  /** A query of one column `n`: the number of rows. */
  readonly total: Sql;
  /** A query of the page's rows, unordered. */
  readonly rows: Sql;
}

/**
 * Finds any page at the cost of the first. Rows are ranked from oldest to newest, and the sums of weeks, then hours, then
 * minutes locate the minutes with the wanted ranks. Only rows of those minutes are read.
 */
export function countedPage(rows: CountedRows, cut: CountedCut): CountedPage {
  const { isDescending, offset, limit, after } = cut;
  const { account, endpoint, kind, uncounted } = rows;
  const minute = startOf('minute', sql`id_time(event_id)`);
  const fresh = sql`
    select minute, sum(n)::int8 as n from (
      select minute, ${raw(kind)} as n from delivery_count_deltas
      where account_id = ${account} ${ofEndpoints(sql`endpoint_id`, endpoint)}
      ${uncounted ? sql`union all select ${minute}, 1 from (${uncounted}) u` : empty}) noted
    group by minute`;
  const whole = sql`(${folded(rows, 'week', sql`true`)} + (select coalesce(sum(n), 0)::int8 from fresh))`;
  const [start, end] = [sql`${offset}::int8`, sql`${offset + BigInt(limit)}::int8`];
  // where the offset starts: an end of the span, or the cursor's rank within it
  const [bottom, top] = after
    ? [
        sql`least(hi, greatest(lo, ${place(rows, after, '<=')}))`,
        sql`least(hi, greatest(lo, ${place(rows, after, '<')}))`,
      ]
    : [sql`lo`, sql`hi`];
  const wanted = isDescending
    ? sql`select greatest(lo, top - ${end}) as first, greatest(lo, top - ${start}) as last
          from (select lo, ${top} as top from bounds) b`
    : sql`select least(hi, bottom + ${start}) as first, least(hi, bottom + ${end}) as last
          from (select hi, ${bottom} as bottom from bounds) b`;
  return {
    ctes: sql`
      fresh as materialized (${fresh}),
      bounds as materialized (
        select lo, greatest(lo, hi) as hi from (
          select ${rows.from === null ? sql`0::int8` : rank(rows, rows.from)} as lo,
                 ${rows.until === null ? whole : rank(rows, rows.until)} as hi) asked),
      wanted as materialized (${wanted}),
      all_time as (
        select '-infinity'::timestamptz as starts_at, 'infinity'::timestamptz as ends_at, 0::int8 as before),
      weeks as materialized (${within('all_time', 'week', rows)}),
      hours as materialized (${within('weeks', 'hour', rows)}),
      minutes as materialized (
        select id_floor(starts_at) as first_id, id_floor(ends_at) as end_id, n,
               greatest(0, w.first - before) as too_old, greatest(0, before + n - w.last) as too_new
        from (${within('hours', 'minute', rows)}) found cross join wanted w)`,
    total: sql`select hi - lo as n from bounds`,
    // `offset 0` makes PostgreSQL join to the whole page instead of to a minute at a time.
    rows: sql`
      select d.* from minutes m cross join lateral (
        ${fromEnd(rows, 'asc', sql`m.too_old`, sql`m.too_old <= m.too_new`)}
        union all
        ${fromEnd(rows, 'desc', sql`m.too_new`, sql`m.too_old > m.too_new`)}) d
      offset 0`,
  };
}

/** The wanted rows of a minute, reached from the nearer end by skipping the others. */
const fromEnd = (
  { between, order }: CountedRows,
  direction: 'asc' | 'desc',
  skipped: Sql,
  isNearer: Sql,
) => sql`
  (select d.* from (${between(sql`m.first_id`, sql`m.end_id`)}) d order by ${order[direction]}
   offset ${skipped} limit case when ${isNearer} then m.n - m.too_old - m.too_new else 0 end)`;

/**
 * The parts of the spans in `parent` that contain wanted ranks, with the rank at which each begins. `offset 0` makes
 * PostgreSQL look up each span separately: a join planned for one span would scan the whole history for many.
 */
function within(parent: string, span: Span, rows: CountedRows): Sql {
  const [spans, kind] = [raw(parent), raw(rows.kind)];
  return sql`
    select starts_at, starts_at + ${lengthOf(span)} as ends_at, n, before from (
      select starts_at, n, (select min(before) from ${spans}) + (sum(n) over (order by starts_at))::int8 - n as before
      from (
        select starts_at, sum(n)::int8 as n from (
          select c.starts_at, c.n from ${spans} p cross join lateral (
            select c.starts_at, c.${kind} as n from delivery_counts c
            where ${sumsOf(rows, span)} and c.${kind} <> 0
              and c.starts_at >= p.starts_at and c.starts_at < p.ends_at offset 0) c
          union all
          select ${startOf(span, sql`f.minute`)}, f.n from ${spans} p
          join fresh f on f.minute >= p.starts_at and f.minute < p.ends_at) part
        group by 1) summed) ranked
    cross join wanted w where n > 0 and before < w.last and before + n > w.first`;
}

const sumsOf = ({ account, endpoint }: CountedRows, span: Span) =>
  sql`c.account_id = ${account} ${ofScope(sql`c.scope_id`, account, endpoint)} and c.span = '${raw(span)}'`;

const folded = (rows: CountedRows, span: Span, condition: Sql) => sql`(
  select coalesce(sum(c.${raw(rows.kind)}), 0) from delivery_counts c where ${sumsOf(rows, span)} and ${condition})`;

/**
 * How many rows are older than an instant: whole weeks, hours and minutes, plus the cut part of the last
 * minute.
 */
function rank(rows: CountedRows, ms: number): Sql {
  const at = sql`${formatInstant(ms)}::timestamptz`;
  const rest = sql`select from (${rows.between(sql`id_floor(${startOf('minute', at)})`, sql`id_floor(${at})`)}) d`;
  return rankWith(rows, at, ms % MINUTE_MS === 0 ? null : rest);
}

/** The rank before a row of the log, or including it. */
function place(
  rows: CountedRows,
  { event, endpoint }: NonNullable<CountedCut['after']>,
  operator: '<' | '<=',
): Sql {
  const at = sql`id_time(${event}::uuid)`;
  const minute = startOf('minute', at);
  const inMinute = rows.between(sql`id_floor(${minute})`, sql`id_floor(${minute} + ${lengthOf('minute')})`);
  const is = raw(operator);
  const before =
    endpoint === null
      ? sql`d.event_id ${is} ${event}::uuid`
      : sql`(d.event_id, d.endpoint_id) ${is} (${event}::uuid, ${endpoint}::uuid)`;
  return rankWith(rows, at, sql`select from (${inMinute}) d where ${before}`);
}

/** The rows of the whole minutes before an instant, plus what `ofMinute` returns for the minute that contains it. */
function rankWith(rows: CountedRows, at: Sql, ofMinute: Sql | null): Sql {
  const [week, hour, minute] = [startOf('week', at), startOf('hour', at), startOf('minute', at)];
  const from = (start: Sql, end: Sql) => sql`c.starts_at >= ${start} and c.starts_at < ${end}`;
  const rest = ofMinute === null ? empty : sql`+ (select count(*) from (${ofMinute}) d)`;
  return sql`(${folded(rows, 'week', sql`c.starts_at < ${week}`)} + ${folded(rows, 'hour', from(week, hour))}
    + ${folded(rows, 'minute', from(hour, minute))}
    + (select coalesce(sum(n), 0)::int8 from fresh where minute < ${minute}) ${rest})`;
}
