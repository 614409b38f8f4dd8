import sql from 'sql-template-tag';
import { type ListDefinition, type ListQuery, listPage, numberId, type Page } from '../../contract/lists.ts';
import { columnsOf } from '../../contract/records.ts';
import type { Reader } from '../../db/database.ts';
import { destinationsInForce } from '../ledger/destinations.ts';
import { fullName, line, type PayoutLine, undecidedTotals } from '../ledger/payout-record.ts';
import { type PayoutSignal, previewSignalColumns } from '../ledger/signal-record.ts';
import { readSignalRules, signalCtes } from '../ledger/signals.ts';
import { exclusionList } from './lists.ts';
import { decidedGroups, moment, rowCondition, type Selection } from './plan.ts';
import { type PreviewExclusion, previewExclusion } from './record.ts';
import { signalFilters, signalSort } from './signals.ts';
import { PREVIEWED } from './store.ts';

const affiliateId = numberId((id) => sql`g.affiliate_id = ${id}`);

export const previewLineList: ListDefinition = {
  id: 'g.affiliate_id',
  defaultSort: 'id',
  sort: { id: 'g.affiliate_id', affiliate_id: 'g.affiliate_id', commission_count: 'g.commission_count' },
  filters: { affiliate_id: affiliateId },
};

const previewLineRecord = columnsOf(line, {
  affiliate_id: 'g.affiliate_id',
  name: fullName('a'),
  email: 'a.email',
  paypal_email: 'a.paypal_email',
  payout_method: 'a.payout_method',
  is_ready_for_payout: 'a.is_ready_for_payout',
  is_paid: 'null::boolean',
  commission_count: 'g.commission_count',
  totals: 'g.totals',
  payment_reference: 'null::text',
  returned_amount: '0',
});

/** A page of the lines that a create of this selection would make now. */
export function previewLines(db: Reader, selection: Selection, list: ListQuery): Promise<Page<PayoutLine>> {
  return listPage(db, {
    list,
    name: 'preview_lines',
    isPrepared: false,
    ctes: sql`moment as materialized (${moment}),
      decided as materialized (${decidedGroups(selection)}),
      lines as materialized (
        select t.affiliate_id, sum(commission_count)::int8 as commission_count,
               ${undecidedTotals} as totals
        from decided t join affiliates a on a.account_id = ${selection.account} and a.id = t.affiliate_id
        ${destinationsInForce(selection.account)} where reason is null group by t.affiliate_id)`,
    table: 'lines',
    alias: 'g',
    where: sql`true`,
    join: sql`join affiliates a on a.account_id = ${selection.account} and a.id = g.affiliate_id`,
    record: previewLineRecord,
  });
}

export const previewExclusionList: ListDefinition = exclusionList;

const previewExclusionRecord = columnsOf(previewExclusion, {
  affiliate_id: 'x.affiliate_id',
  name: fullName('a'),
  email: 'a.email',
  currency: 'x.currency',
  reason: 'x.reason',
  amount: 'x.amount',
  commission_count: 'x.commission_count',
  minimum_payout: `case when x.reason = 'below_minimum' then coalesce(
    (a.minimum_payout ->> x.currency)::int8, (o.minimum_payout ->> x.currency)::int8) end`,
  available_at: 'iso(available.at)',
});

/**
 * A page of the affiliates that create would leave out now, and what would change that: the minimum, or when their first
 * commission on hold becomes available.
 */
export function previewExclusions(
  db: Reader,
  selection: Selection,
  list: ListQuery,
): Promise<Page<PreviewExclusion>> {
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
    record: previewExclusionRecord,
  });
}

export const previewSignalList: ListDefinition = {
  ...signalSort(['s.affiliate_id', 's.currency', 's.rule']),
  filters: signalFilters,
};

/** A page of the signals that a create of this selection would find now. */
export async function previewSignals(
  db: Reader,
  selection: Selection,
  list: ListQuery,
): Promise<Page<PayoutSignal>> {
  const { account } = selection;
  return listPage(db, {
    list,
    name: 'preview_signals',
    isPrepared: false,
    ctes: sql`moment as materialized (${moment}),
      decided as materialized (${decidedGroups(selection)}),
      ${signalCtes(account, await readSignalRules(db, account), PREVIEWED)}`,
    table: 'found',
    alias: 's',
    where: sql`true`,
    join: sql`join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id`,
    record: previewSignalColumns,
  });
}
