import sql, { type Sql } from 'sql-template-tag';
import type { Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fresh, OPEN } from './balances.ts';
import { hasDestination } from './destinations.ts';

/*
 * What all affiliates of an account are owed. A balance's state says whether a payout without filters would include it,
 * or why not. States are computed when balances are folded, together with their sums by currency. Readers correct the
 * sums for what is not folded yet: new amounts, changed affiliates, and every balance if the account's minimums changed.
 * So the sums are always current, and the cost of a read depends on recent changes only.
 */

/** `payable` without a destination is a separate state. */
export type BalanceState =
  | 'payable'
  | 'without_destination'
  | 'below_minimum'
  | 'negative_balance'
  | 'not_ready'
  | 'affiliate_inactive';

/**
 * The CTEs `judged` and `moved`. They need `delta` (account_id, affiliate_id, currency, and the changes of unpaid and
 * pending; one row per balance). `judged` has the columns of `delta`, the new balance (`now_unpaid`, `now_pending`),
 * its `old_state` and its `state`; `moved` has the changes of the sums. The rules are those of a payout without filters
 * (`decidedGroups` in the plan of payouts), applied to sums instead of commissions. `exempt` says whether a row of `d`
 * is exempt from the minimum. Stored states ignore exemptions, since these depend on single commissions.
 */
export const judging = (exempt: Sql): Sql => sql`
  judged as materialized (
    select d.*, coalesce(b.unpaid, 0) as old_unpaid, coalesce(b.pending, 0) as old_pending, b.state as old_state,
           s.now_unpaid, s.now_pending,
           case when s.now_unpaid = 0 and s.now_pending = 0 then null
                when a.status = 'inactive' then 'affiliate_inactive'
                when not a.is_ready_for_payout then 'not_ready'
                when s.now_unpaid < 0 then 'negative_balance'
                when s.now_unpaid < coalesce((a.minimum_payout ->> d.currency)::int8,
                       (o.minimum_payout ->> d.currency)::int8, 0) and not ${exempt} then 'below_minimum'
                when ${hasDestination('d.currency')} then 'payable' else 'without_destination' end as state
    from delta d
    join accounts o on o.id = d.account_id
    -- row by row: the planner does not know that few balances change
    cross join lateral (
      select * from affiliates a where a.account_id = d.account_id and a.id = d.affiliate_id offset 0) a
    left join lateral (
      select * from affiliate_balances b
      where b.account_id = d.account_id and b.affiliate_id = d.affiliate_id and b.currency = d.currency offset 0) b on true
    cross join lateral (
      select coalesce(b.unpaid, 0) + d.unpaid as now_unpaid, coalesce(b.pending, 0) + d.pending as now_pending) s),
  moved as (
    select account_id, currency, s.state, sum(sign * s.unpaid) as unpaid, sum(sign * s.pending) as pending,
           sum(sign) as count, sum(sign * (s.unpaid <> 0)::int) as unpaid_count,
           sum(sign * (s.pending <> 0)::int) as pending_count
    from judged
    cross join lateral (values (-1, old_state, old_unpaid, old_pending), (1, state, now_unpaid, now_pending))
      as s (sign, state, unpaid, pending)
    where s.state is not null group by 1, 2, 3)`;

/** The statement that adds `moved` to the sums. */
export const SUM_MOVED = sql`
  insert into affiliate_balance_sums as s (account_id, currency, state, unpaid, pending, count, unpaid_count, pending_count)
  select * from moved
  on conflict (account_id, currency, state) do update
  set unpaid = s.unpaid + excluded.unpaid, pending = s.pending + excluded.pending, count = s.count + excluded.count,
      unpaid_count = s.unpaid_count + excluded.unpaid_count, pending_count = s.pending_count + excluded.pending_count`;

/** The statement that records which affiliates have changed: a query of account_id and id. */
export const noteAffiliates = (changed: Sql): Sql => sql`
  insert into affiliate_balance_stale (account_id, affiliate_id) select account_id, id from (${changed}) c`;

/** What is owed in one currency and state: minor units, and the number of balances. */
export interface OwedSum {
  readonly currency: string;
  readonly state: BalanceState;
  readonly unpaid: bigint;
  readonly pending: bigint;
  readonly count: bigint;
  readonly unpaid_count: bigint;
  readonly pending_count: bigint;
}

/** The sum of an unpaid payout in one currency. */
export interface PayoutSum extends Omit<OwedSum, 'state'> {
  readonly state: 'in_payout';
  readonly payout_id: string;
}

/** What an account owes its affiliates, and what its unpaid payout contains. */
export function readOwed(db: Reader, account: AccountId): Promise<(OwedSum | PayoutSum)[]> {
  const ofAccount = sql`account_id = ${account}`;
  const owedAgain = sql`
    select affiliate_id, currency from commissions where ${ofAccount} and returns_payout_id is not null and ${OPEN}`;
  return db.rows(
    sql`with ${fresh(account)},
        owed_again as materialized (${owedAgain} and available_at <= now()),
        delta as (
          select ${account}::uuid as account_id, affiliate_id, currency, sum(unpaid) as unpaid, sum(pending) as pending
          from (
            select affiliate_id, currency, unpaid, pending from fresh
            union all
            select affiliate_id, currency, 0, 0 from owed_again
            union all
            select s.affiliate_id, b.currency, 0, 0
            from (select distinct affiliate_id from affiliate_balance_stale where ${ofAccount}) s
            cross join lateral (
              select currency from affiliate_balances where ${ofAccount} and affiliate_id = s.affiliate_id offset 0) b
            union all
            select affiliate_id, currency, 0, 0 from affiliate_balances where ${ofAccount} and (
              select m.minimum_payout is distinct from o.minimum_payout
              from accounts o left join affiliate_balance_marks m on m.account_id = o.id where o.id = ${account})) part
          group by 2, 3),
        ${judging(sql`(d.affiliate_id, d.currency) in (select affiliate_id, currency from owed_again)`)},
        current as materialized (
          select public_id('po', id) as payout_id, totals from payouts where ${ofAccount} and status = 'unpaid')
        select currency, state, sum(unpaid) as unpaid, sum(pending) as pending, sum(count)::int8 as count,
               sum(unpaid_count)::int8 as unpaid_count, sum(pending_count)::int8 as pending_count, null as payout_id
        from (select * from affiliate_balance_sums where ${ofAccount} union all select * from moved) s
        group by 1, 2 having sum(count) > 0
        union all
        select t ->> 'currency', 'in_payout', (t ->> 'amount')::numeric, 0, (t ->> 'affiliate_count')::int8,
               (t ->> 'affiliate_count')::int8, 0, payout_id
        from current cross join json_array_elements(totals) t
        order by 1, 2`,
    'owed',
  );
}
