import sql, { empty, raw, type Sql } from 'sql-template-tag';
import type { AccountId } from '../../kernel/ids.ts';
import { searchCondition } from '../affiliates/search.ts';
import { destinationsInForce } from '../ledger/destinations.ts';
import { taxOn, taxRule, taxTerms, WITHHOLDING_TERMS } from '../ledger/tax-on-top.ts';
import { all, type PayoutFilters } from './filters.ts';
import { type FormRules, formJoins, formReason, isWithheld } from './forms.ts';

export interface Selection {
  /** UUID of the account. */
  readonly account: AccountId;
  readonly filters: PayoutFilters;
  /** Trimmed; empty = none. */
  readonly search: string;
  readonly ignoreMinimum: boolean;
  /** Who needs a signed tax form, and from whom is withheld; null = nobody. */
  readonly forms: FormRules | null;
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

/** Whether the tax is paid on top of a group `t`. */
const IS_NET = `t.set_aside is null and coalesce(a.commissions_are, o.commissions_are) = 'net'`;

/**
 * The terms of what is withheld from a group `t`, or of the tax on top of it; null if neither is. Read it from a subquery with
 * `offset 0`, so that it is computed once for each group.
 */
const termsOfGroup = (forms: FormRules | null) => sql`
  case ${forms === null ? empty : sql`when t.set_aside is null and ${isWithheld(forms)} then ${raw(WITHHOLDING_TERMS)}`}
  when ${raw(IS_NET)} then ${raw(taxTerms(`to_char((select at from moment) at time zone o.time_zone, 'YYYY-MM-DD')`))} end`;

/** The rows that create takes from the groups it selected. The groups are summed by the same condition. */
export function claimCondition(selection: Selection): Sql {
  return sql`${rowCondition(selection)} and c.available_at <= ${asOf}`;
}

/**
 * The query of groups, after `moment`: one row per affiliate, currency and reason `(affiliate_id, currency, amount,
 * commission_count, tax_terms, tax_amount, reason)`. A null reason means paid by this selection. Rules apply in this order: filters,
 * debts, net (a debt settled to zero is neither paid nor left out), `total`, minimum (returned money is exempt), tax form. Preview and
 * create read the same query, so they cannot differ.
 */
export function decidedGroups(selection: Selection): Sql {
  const { account, filters, search, ignoreMinimum, forms } = selection;
  const hasMethod = filters.method.length > 0;
  const affiliates = all([...filters.affiliate, ...[searchCondition(search) ?? []].flat()]);
  const inactive = filters.namesAffiliateStatus ? sql`false` : sql`a.status = 'inactive'`;
  const notReady = filters.namesReadiness ? sql`false` : sql`not a.is_ready_for_payout`;
  return sql`
    select t.affiliate_id, t.currency, t.amount, t.commission_count, w.terms as tax_terms,
           ${raw(taxOn('t.amount', 'w.terms'))} as tax_amount,
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
    left join affiliate_tax_profiles x on x.account_id = ${account} and x.affiliate_id = t.affiliate_id
    ${hasMethod ? destinationsInForce(account) : empty}
    ${forms === null ? empty : formJoins(account, forms, hasMethod)}
    left join lateral ${raw(taxRule(IS_NET))} rule on true
    cross join lateral (select ${termsOfGroup(forms)} as terms offset 0) w
    where ${all(filters.method)} and (t.set_aside is not null or t.amount < 0 or t.amount > 0 and ${all(filters.total)})`;
}
