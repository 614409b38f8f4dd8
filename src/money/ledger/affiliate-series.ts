import sql, { raw, type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { formatInstant, type Span } from '../../kernel/time.ts';
import { movements } from './movements.ts';

/*
 * What each affiliate earned, was paid, … in each month, without reading commissions. A month is one of the account's time
 * zone, which is known when notes are folded. When the zone changes, and when a server of the previous version wrote
 * notes, which do not name the affiliate, the account is due: a chore adds up its months from the records again, and
 * until then readers read the records.
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

/** The statement that adds notes (a CTE) to the months of their affiliates. */
export const addToMonths = (notes: Sql): Sql => sql`
  insert into affiliate_series as s (account_id, month, affiliate_id, currency, ${each((name) => name)})
  select n.account_id, m.month, n.affiliate_id, n.currency, ${SPREAD}
  from ${notes} n join accounts a on a.id = n.account_id
  cross join lateral (values (${ALL_MONTHS}), (${monthOf(sql`n.starts_at`, sql`a.time_zone`)})) m (month)
  group by 1, 2, 3, 4
  on conflict (account_id, month, affiliate_id, currency) do update
  set ${each((name) => `${name} = s.${name} + excluded.${name}`)}`;

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
  await rows(
    tx,
    sql`with summed as materialized (
          select ${account}::uuid, m.month, h.affiliate_id, h.currency, ${SPREAD}
          from (
            select kind, affiliate_id, currency, at, amount * ${SIGN} as amount from (${raw(movements(account, null))}) r
            union all
            select kind, affiliate_id, currency, starts_at, -amount from affiliate_series_notes
            where account_id = ${account}) h
          join accounts a on a.id = ${account}
          cross join lateral (values (${ALL_MONTHS}), (${monthOf(sql`h.at`, sql`a.time_zone`)})) m (month)
          group by 1, 2, 3, 4)
        insert into affiliate_series (account_id, month, affiliate_id, currency, ${each((name) => name)})
        select * from summed`,
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

/**
 * A query of what happened in a period, one row per affiliate and currency: affiliate_id, currency, a column for each sum,
 * and `closing`, what was owed at the end of the period. Whole months come from sums, anything else from the records. `db` is a
 * snapshot, in which the query must run.
 */
export async function movedIn(db: Reader, account: AccountId, { span, months }: Months): Promise<Sql> {
  if (months === null || (await isDue(db, account))) {
    return sql`
      select affiliate_id, currency, ${each((name) => `coalesce(sum(${name}) filter (where is_within), 0)::int8 as ${name}`)},
             sum(owed)::int8 as closing
      from (
        select affiliate_id, currency, at >= ${formatInstant(span.from)}::timestamptz as is_within, amount as owed,
               ${each((name) => `case when kind = '${name}' then amount * ${SUMS[name] ? 1 : -1} else 0 end as ${name}`)}
        from (${raw(movements(account, null))}) r where at < ${formatInstant(span.until)}::timestamptz) part
      group by 1, 2`;
  }
  const { first, last } = months;
  const columns = each((name) => name);
  return sql`
    select affiliate_id, currency,
           ${each((name) => `coalesce(sum(${name}) filter (where is_within), 0)::int8 as ${name}`)},
           coalesce(sum(case when month = '-infinity' then owed when month > ${last}::date then -owed end), 0)::int8 as closing
    from (
      select *, month between ${first}::date and ${last}::date as is_within, ${OWED} as owed
      from (
        select affiliate_id, currency, month, ${columns} from affiliate_series
        where account_id = ${account} and month = ${ALL_MONTHS}
        union all
        select affiliate_id, currency, month, ${columns} from affiliate_series
        where account_id = ${account} and month >= ${first}::date
        union all
        select n.affiliate_id, n.currency, m.month,
               ${each((name) => `case when kind = '${name}' then amount else 0 end as ${name}`)}
        from affiliate_series_notes n join accounts a on a.id = n.account_id
        cross join lateral (values (${ALL_MONTHS}), (${monthOf(sql`n.starts_at`, sql`a.time_zone`)})) m (month)
        where n.account_id = ${account}) part) part
    group by 1, 2`;
}
