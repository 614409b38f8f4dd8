import sql, { empty, type Sql } from 'sql-template-tag';
import type { AccountId } from '../../kernel/ids.ts';
import { searchCondition } from '../affiliates/search.ts';
import { destinationsInForce } from '../ledger/destinations.ts';
import { all, type PayoutFilters } from './filters.ts';
import { type FormRule, formJoins, formReason } from './forms.ts';

export interface Selection {
  /** UUID of the account. */
  readonly account: AccountId;
  readonly filters: PayoutFilters;
  /** Trimmed; empty = none. */
  readonly search: string;
  readonly ignoreMinimum: boolean;
  /** Who needs a signed tax form; null = nobody. */
  readonly forms: FormRule | null;
  /** Stored with the payout, not used for selection. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * The cut-off, as a query to prepend as `moment`. It is read after the statement's snapshot was taken, so every
 * commission in the snapshot was created before it, and none is mistaken for one on hold.
 */
export const moment = sql`select date_trunc('milliseconds', clock_time()) as at`;
const asOf = sql`(select at from moment)`;

/**
 * The condition for commissions that count in their group: eligible and matching the filters, or a debt of a matching
 * affiliate.
 */
export function rowCondition({ account, filters }: Selection): Sql {
  return sql`c.account_id = ${account} and c.payout_id is null and c.voided_at is null
    and ${all(filters.commissionBound)} and (c.amount < 0 or ${all(filters.commissionOther)})`;
}

/** The rows that create takes from the groups it selected. The groups are summed by the same condition. */
export function claimCondition(selection: Selection): Sql {
  return sql`${rowCondition(selection)} and c.available_at <= ${asOf}`;
}

/**
 * The query of groups, after `moment`: one row per affiliate, currency and reason `(affiliate_id, currency, amount,
 * commission_count, reason)`. A null reason means paid by this selection. Rules apply in this order: filters, debts, net
 * (a debt settled to zero is neither paid nor left out), `total`, minimum (returned money is exempt), tax form. Preview and create
 * read the same query, so they cannot differ.
 */
export function decidedGroups(selection: Selection): Sql {
  const { account, filters, search, ignoreMinimum, forms } = selection;
  const hasMethod = filters.method.length > 0;
  const affiliates = all([...filters.affiliate, ...[searchCondition(search) ?? []].flat()]);
  const inactive = filters.namesAffiliateStatus ? sql`false` : sql`a.status = 'inactive'`;
  const notReady = filters.namesReadiness ? sql`false` : sql`not a.is_ready_for_payout`;
  return sql`
    select t.affiliate_id, t.currency, t.amount, t.commission_count,
           case when t.set_aside is not null then t.set_aside
                when t.amount < 0 then 'negative_balance'
                when not ${ignoreMinimum}::boolean and not t.returned and t.amount < coalesce(
                  (a.minimum_payout ->> t.currency)::int8, (o.minimum_payout ->> t.currency)::int8, 0)
                then 'below_minimum'
                ${forms === null ? empty : sql`else ${formReason(forms)}`} end as reason
    from (
      select c.affiliate_id, c.currency,
             case when ${inactive} then 'affiliate_inactive'
                  when ${notReady} then 'not_ready'
                  when c.available_at > ${asOf} then 'on_hold' end as set_aside,
             sum(c.amount) as amount, count(*) as commission_count,
             bool_or(c.returns_payout_id is not null) as returned
      from commissions c join affiliates a on a.account_id = c.account_id and a.id = c.affiliate_id
      where ${rowCondition(selection)} and ${affiliates}
      group by 1, 2, 3
      having bool_or(${all(filters.commissionOther)})) t
    join affiliates a on a.account_id = ${account} and a.id = t.affiliate_id
    join accounts o on o.id = ${account}
    ${hasMethod ? destinationsInForce(account) : empty}
    ${forms === null ? empty : formJoins(account, forms, hasMethod)}
    where ${all(filters.method)} and (t.set_aside is not null or t.amount < 0 or t.amount > 0 and ${all(filters.total)})`;
}
