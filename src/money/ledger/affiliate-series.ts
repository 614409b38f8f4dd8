import sql, { raw, type Sql } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { movements } from './movements.ts';

/*
 * What each affiliate earned, was paid, … in each month, without reading commissions. A month is one of the account's time
 * zone, which is known when notes are folded. When the zone changes, and when a server of the previous version wrote
 * notes, which do not name the affiliate, the account is due: a chore adds up its months from the records again, and
 * until then readers read the records. The months of countries are sums of these: each row is counted under its `country`. When
 * the country of an affiliate changes, a chore moves its rows, and until then readers do.
 */

/** The sums of a row, and whether each adds to what is owed. */
const SUMS = {
  earned: true,
  refunded: false,
  voided: false,
  adjusted: true,
  paid: false,
  returned: true,
} as const;
type Sum = keyof typeof SUMS;
const NAMES = Object.keys(SUMS) as Sum[];

const each = (text: (name: Sum) => string, separator = ', ') => raw(NAMES.map(text).join(separator));

/** The effect of a row's sums on what is owed. */
const OWED = each((name) => `${SUMS[name] ? '+' : '-'} ${name}`, ' ');

/** The month -infinity is all of them. */
const ALL_MONTHS = sql`'-infinity'::date`;

/** The first day of the local month. All offsets are multiples of 15 minutes, so it is that of the quarter hour, too. */
const monthOf = (at: Sql, zone: Sql): Sql => sql`date_trunc('month', ${at} at time zone ${zone})::date`;

/** What an amount of `movements` is multiplied by to give the sum of its `kind`. */
const SIGN = raw(
  `case when kind in (${NAMES.filter((name) => !SUMS[name])
    .map((name) => `'${name}'`)
    .join(', ')}) then -1 else 1 end`,
);

/** One column for each sum, of rows with `kind` and `amount`. */
const SPREAD = each((name) => `sum(case when kind = '${name}' then amount else 0 end)::int8 as ${name}`);

/** The sums of rows under other names. */
const COLUMNS = each((name) => name);
const ADDED = each((name) => `${name} = s.${name} + excluded.${name}`);

/** The statement that adds months of countries: rows of account_id, month, country, currency and a column for each sum. */
const addToCountries = (counted: Sql): Sql => sql`
  insert into affiliate_series_countries as s (account_id, month, country, currency, ${COLUMNS})
  select account_id, month, country, currency, ${each((name) => `sum(${name})`)}
  from (${counted}) c where month > ${ALL_MONTHS} group by 1, 2, 3, 4
  on conflict (account_id, month, country, currency) do update set ${ADDED}`;

/**
 * CTEs that add notes (a CTE) to the months of their affiliates, and of the countries under which these are counted: the
 * current one of a new row.
 */
export const addToMonths = (notes: Sql): Sql => sql`
  by_month as (
    select n.account_id, m.month, n.affiliate_id, n.currency, ${SPREAD}
    from ${notes} n join accounts a on a.id = n.account_id
    cross join lateral (values (${ALL_MONTHS}), (${monthOf(sql`n.starts_at`, sql`a.time_zone`)})) m (month)
    group by 1, 2, 3, 4),
  placed as materialized (
    select n.*, coalesce(s.country, a.country, '') as country
    from by_month n
    left join affiliates a on a.account_id = n.account_id and a.id = n.affiliate_id
    left join affiliate_series s on s.account_id = n.account_id and s.month = n.month and s.affiliate_id = n.affiliate_id
      and s.currency = n.currency),
  by_affiliate as (
    insert into affiliate_series as s (account_id, month, affiliate_id, currency, country, ${COLUMNS})
    select account_id, month, affiliate_id, currency, country, ${COLUMNS} from placed
    on conflict (account_id, month, affiliate_id, currency) do update set ${ADDED}),
  by_country as (${addToCountries(sql`select * from placed`)})`;

/**
 * Adds up the months of one account that is due from its records, less its notes, which are folded later. Returns whether
 * there was one. The caller holds the lock of the chore, so nothing is folded meanwhile.
 */
export async function sumAgain(tx: Tx): Promise<boolean> {
  const due = await maybeRow<{ account: AccountId }>(
    tx,
    sql`select account_id as account from affiliate_series_due limit 1`,
    'due_affiliate_series',
  );
  if (due === null) return false;
  const { account } = due;
  // in this order: what made the account due before the first statement is visible to the last one
  await rows(tx, sql`delete from affiliate_series_due where account_id = ${account}`);
  await rows(tx, sql`delete from affiliate_series where account_id = ${account}`);
  await rows(tx, sql`delete from affiliate_series_countries where account_id = ${account}`);
  await rows(
    tx,
    sql`with summed as (
          select ${account}::uuid as account_id, m.month, h.affiliate_id, h.currency, ${SPREAD}
          from (
            select kind, affiliate_id, currency, at, amount * ${SIGN} as amount from (${raw(movements(account, null))}) r
            union all
            select kind, affiliate_id, currency, starts_at, -amount from affiliate_series_notes
            where account_id = ${account}) h
          join accounts a on a.id = ${account}
          cross join lateral (values (${ALL_MONTHS}), (${monthOf(sql`h.at`, sql`a.time_zone`)})) m (month)
          group by 1, 2, 3, 4),
        placed as materialized (
          select s.*, coalesce(a.country, '') as country
          from summed s left join affiliates a on a.account_id = s.account_id and a.id = s.affiliate_id),
        by_affiliate as (
          insert into affiliate_series (account_id, month, affiliate_id, currency, country, ${COLUMNS})
          select account_id, month, affiliate_id, currency, country, ${COLUMNS} from placed
          -- a report reads few months of all affiliates: those of a month are in the same blocks
          order by month, affiliate_id)
        ${addToCountries(sql`select * from placed`)}`,
  );
  return true;
}

/** A period: the instants, and the first days of its first and last month if it consists of whole months. */
export interface Months {
  readonly span: Span;
  readonly months: { readonly first: string; readonly last: string } | null;
}

/** Whether the months of an account have to be added up again, so that readers must read the records. */
const isDue = (db: Reader, account: AccountId): Promise<unknown> =>
  maybeRow(db, sql`select from affiliate_series_due where account_id = ${account} limit 1`, 'is_series_due');

/** The columns of a query by `movedIn`, of the rows of a group. */
const SUMMED = each((name) => `coalesce(sum(${name}) filter (where is_within), 0) as ${name}`);

/** The months of the notes of an account that are not folded. */
const freshMonths = (account: AccountId): Sql => sql`
  select n.affiliate_id, n.currency, m.month, ${each((name) => `case when kind = '${name}' then amount else 0 end as ${name}`)}
  from affiliate_series_notes n join accounts a on a.id = n.account_id
  cross join lateral (values (${ALL_MONTHS}), (${monthOf(sql`n.starts_at`, sql`a.time_zone`)})) m (month)
  where n.account_id = ${account}`;

/**
 * A query of what happened in a period, one row per affiliate and currency: affiliate_id, currency, a column for each sum,
 * and `closing`, what was owed at the end of the period. Whole months come from sums, anything else from the records. `db` is a
 * snapshot, in which the query must run.
 */
export async function movedIn(db: Reader, account: AccountId, { span, months }: Months): Promise<Sql> {
  if (months === null || (await isDue(db, account))) {
    return sql`
      select affiliate_id, currency, ${SUMMED}, sum(owed) as closing
      from (
        select affiliate_id, currency, at >= ${formatInstant(span.from)}::timestamptz as is_within, amount as owed,
               ${each((name) => `case when kind = '${name}' then amount * ${SUMS[name] ? 1 : -1} else 0 end as ${name}`)}
        from (${raw(movements(account, null))}) r where at < ${formatInstant(span.until)}::timestamptz) part
      group by 1, 2`;
  }
  const { first, last } = months;
  return sql`
    select affiliate_id, currency, ${SUMMED},
           coalesce(sum(case when month = '-infinity' then owed when month > ${last}::date then -owed end), 0) as closing
    from (
      select *, month between ${first}::date and ${last}::date as is_within, ${OWED} as owed
      from (
        select affiliate_id, currency, month, ${COLUMNS} from affiliate_series
        where account_id = ${account} and month = ${ALL_MONTHS}
        union all
        select affiliate_id, currency, month, ${COLUMNS} from affiliate_series
        where account_id = ${account} and month >= ${first}::date
        union all
        ${freshMonths(account)}) part) part
    group by 1, 2`;
}

/**
 * A query like that of `movedIn`, by the current countries of the affiliates: country (null = none), currency, the sums and
 * `closing`. It reads the months of countries, and those of affiliates whose country was changed since they were counted.
 */
export async function movedByCountry(db: Reader, account: AccountId, period: Months): Promise<Sql> {
  if (period.months === null || (await isDue(db, account))) {
    return sql`
      select a.country, m.currency, ${each((name) => `sum(${name}) as ${name}`)}, sum(closing) as closing
      from (${await movedIn(db, account, period)}) m
      join affiliates a on a.account_id = ${account} and a.id = m.affiliate_id
      group by 1, 2`;
  }
  const { first, last } = period.months;
  return sql`
    select nullif(country, '') as country, currency, ${SUMMED},
           coalesce(sum(owed) filter (where month <= ${last}::date), 0) as closing
    from (
      select *, month between ${first}::date and ${last}::date as is_within, ${OWED} as owed
      from (
        select country, currency, month, ${COLUMNS} from affiliate_series_countries
        where account_id = ${account}
        union all
        select c.country, s.currency, s.month, ${each((name) => `c.sign * s.${name}`)}
        from (${movedMonths(sql`affiliate_series_moves where account_id = ${account}`)}) o
        cross join lateral (
          select * from affiliate_series s
          where s.account_id = o.account_id and s.month = o.month and s.affiliate_id = o.affiliate_id offset 0) s
        cross join lateral (values (-1, s.country), (1, o.country)) c (sign, country)
        union all
        select case when a.id is null then coalesce(s.country, '') else coalesce(a.country, '') end, n.currency, n.month,
               ${each((name) => `n.${name}`)}
        from (${freshMonths(account)}) n
        left join affiliates a on a.account_id = ${account} and a.id = n.affiliate_id
        -- an affiliate that was deleted with its import is still counted where it was
        left join lateral (
          select country from affiliate_series s
          where a.id is null and s.account_id = ${account} and s.month = n.month and s.affiliate_id = n.affiliate_id
            and s.currency = n.currency offset 0) s on true
        where n.month > ${ALL_MONTHS}) part) part
    group by 1, 2`;
}

/** The current country of affiliates whose country was changed (rows of account_id and affiliate_id), with each of their months. */
const movedMonths = (moves: Sql): Sql => sql`
  select o.account_id, o.affiliate_id, coalesce(a.country, '') as country, m.month
  from (select distinct account_id, affiliate_id from ${moves}) o
  join affiliates a on a.account_id = o.account_id and a.id = o.affiliate_id
  join (select distinct account_id, month from affiliate_series_countries) m on m.account_id = o.account_id`;

const MOVED_AT_ONCE = 20_000;

/**
 * Counts the months of affiliates under their current country. Returns the number of changes of countries. The caller holds the
 * lock of the chore.
 */
export async function moveCountries(tx: Tx): Promise<number> {
  const { moved } = await oneRow<{ moved: number }>(
    tx,
    sql`with gone as (
          delete from affiliate_series_moves
          where ctid = any(array(select ctid from affiliate_series_moves limit ${MOVED_AT_ONCE}::int)) returning *),
        former as materialized (
          select o.*, s.currency, s.country as former
          from (${movedMonths(sql`gone`)}) o
          join affiliate_series s on s.account_id = o.account_id and s.month = o.month and s.affiliate_id = o.affiliate_id
            and s.country <> o.country),
        changed as (
          update affiliate_series s set country = o.country from former o
          where s.account_id = o.account_id and s.month = o.month and s.affiliate_id = o.affiliate_id
            and s.currency = o.currency
          returning s.account_id, s.month, s.currency, o.former, o.country, ${each((name) => `s.${name}`)}),
        by_country as (${addToCountries(sql`
          select c.account_id, c.month, c.currency, p.country, ${each((name) => `p.sign * c.${name} as ${name}`)}
          from changed c cross join lateral (values (-1, c.former), (1, c.country)) p (sign, country)`)})
        select count(*)::int as moved from gone`,
    'move_countries',
  );
  return moved;
}
