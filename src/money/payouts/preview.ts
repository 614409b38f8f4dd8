import sql from 'sql-template-tag';
import { type ListDefinition, type ListQuery, listPage, numberId, type Page } from '../../contract/lists.ts';
import type { Reader } from '../../db/connect.ts';
import { fullName, undecidedTotal } from '../ledger/payout-record.ts';
import { exclusionList } from './lists.ts';
import { decidedGroups, moment, rowCondition, type Selection } from './plan.ts';

const affiliateId = numberId((id) => sql`g.affiliate_id = ${id}`);

export const previewLineList: ListDefinition = {
  id: 'g.affiliate_id',
  defaultSort: 'id',
  sort: { id: 'g.affiliate_id', affiliate_id: 'g.affiliate_id', commission_count: 'g.commission_count' },
  filters: { affiliate_id: affiliateId },
};

/** A page of the lines that a create of this selection would make now. */
export function previewLines(db: Reader, selection: Selection, list: ListQuery): Promise<Page> {
  return listPage(db, {
    list,
    name: 'preview_lines',
    isPrepared: false,
    ctes: sql`moment as materialized (${moment}),
      decided as materialized (${decidedGroups(selection)}),
      lines as materialized (
        select affiliate_id, sum(commission_count)::int8 as commission_count,
               json_agg((select t from (select ${undecidedTotal('d')}) t) order by d.currency) as totals
        from decided d where reason is null group by affiliate_id)`,
    table: 'lines',
    alias: 'g',
    where: sql`true`,
    join: sql`join affiliates a on a.account_id = ${selection.account} and a.id = g.affiliate_id`,
    record: sql`g.affiliate_id, ${fullName('a')} as name, a.email, a.paypal_email, a.payout_method,
      a.is_ready_for_payout, null::boolean as is_paid, g.commission_count, g.totals,
      null::text as payment_reference, 0 as returned_amount`,
  });
}

export const previewExclusionList: ListDefinition = exclusionList;

/**
 * A page of who a create of this selection would leave out now, with what would let them in: the minimum that a sum
 * does not reach, and when the first of what is on hold is off it.
 */
export function previewExclusions(db: Reader, selection: Selection, list: ListQuery): Promise<Page> {
  const { account } = selection;
  return listPage(db, {
    list,
    name: 'preview_exclusions',
    isPrepared: false,
    ctes: sql`moment as materialized (${moment}),
      decided as materialized (${decidedGroups(selection)}),
      left_out as materialized (select * from decided where reason is not null)`,
    table: 'left_out',
    alias: 'x',
    where: sql`true`,
    join: sql`join affiliates a on a.account_id = ${account} and a.id = x.affiliate_id
      join accounts o on o.id = ${account}
      left join lateral (
        select nullif(min(c.available_at), 'infinity') as at from commissions c
        where x.reason = 'on_hold' and ${rowCondition(selection)} and c.affiliate_id = x.affiliate_id
          and c.currency = x.currency and c.available_at > (select at from moment)) available on true`,
    record: sql`x.affiliate_id, ${fullName('a')} as name, a.email, x.currency, x.reason, x.amount, x.commission_count,
      case when x.reason = 'below_minimum' then coalesce(
        (a.minimum_payout ->> x.currency)::int8, (o.minimum_payout ->> x.currency)::int8) end as minimum_payout,
      iso(available.at) as available_at`,
  });
}
