import sql, { raw } from 'sql-template-tag';
import { columnsOf } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId, ScheduleId, UserId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { approvalStatus, lastApproval } from '../ledger/approval.ts';
import { noteClaimed, notePaid } from '../ledger/balances.ts';
import { destinationsInForce } from '../ledger/destinations.ts';
import { type PayoutSummary, undecidedTotals } from '../ledger/payout-record.ts';
import { exclusionsBy } from '../ledger/payout-totals.ts';
import { summaryJson } from '../ledger/payouts.ts';
import { noteSeries } from '../ledger/series.ts';
import { sharedDestinations } from '../ledger/shared-destinations.ts';
import { signalCounts } from '../ledger/signal-record.ts';
import { readSignalRules, signalCtes } from '../ledger/signals.ts';
import { sumsWithTax, withTax } from '../ledger/tax-on-top.ts';
import { claimCondition, decidedGroups, moment, type Selection } from './plan.ts';
import { type PayoutPreview, preview } from './record.ts';

/** The UUID of the unpaid payout, or null. */
export async function currentPayout(db: Reader, account: AccountId): Promise<PayoutId | null> {
  const row = await maybeRow<{ id: PayoutId }>(
    db,
    sql`select id from payouts where account_id = ${account} and status = 'unpaid'`,
  );
  return row?.id ?? null;
}

/** An empty payout with the next number. Violates `payouts_one_unpaid` when there is an unpaid one. */
export async function insertPayout(
  tx: Tx,
  selection: Selection,
  by: { readonly id: string; readonly user: UserId | null; readonly schedule: ScheduleId | null },
): Promise<{ id: PayoutId; number: bigint }> {
  const { account, filters, search, metadata } = selection;
  return oneRow(
    tx,
    sql`with book as (
          update payout_books set next_number = next_number + 1 where account_id = ${account}
          returning next_number - 1 as number)
        insert into payouts (account_id, number, filters, search, as_of, created_by, created_by_user, schedule_id,
          metadata)
        select ${account}, number, ${filters.normal && JSON.stringify(filters.normal)}::jsonb,
               ${search === '' ? null : search}, now_ms(), ${by.id}, ${by.user}, ${by.schedule}, ${JSON.stringify(metadata)}::jsonb
        from book
        returning id, number`,
  );
}

/**
 * Selects and claims in one statement, so that rules and rows come from one snapshot, without commissions created
 * meanwhile. Lines are sums of the rows actually claimed, because it returns false if those differ from the rows selected: a commission
 * changed meanwhile, or Citus took a snapshot for each step. `is true` keeps the planner from joining: it does not know the
 * number of groups, and the commissions must be read in heap order.
 */
export async function claim(tx: Tx, selection: Selection, payout: PayoutId): Promise<boolean> {
  const { account } = selection;
  const { agrees } = await oneRow<{ agrees: boolean }>(
    tx,
    sql`with moment as materialized (${moment}),
        decided as materialized (${decidedGroups(selection)}),
        claimed as (
          update commissions c set payout_id = ${payout}, updated_at = (select at from moment)
          where ((c.affiliate_id, c.currency) in (
              select affiliate_id, currency from decided where reason is null)) is true
            and ${claimCondition(selection)}
          returning c.affiliate_id, c.currency, c.amount, c.available_at),
        balanced as (${noteClaimed(account)}),
        sums as (
          select affiliate_id, currency, sum(amount)::int8 as amount, count(*) as commission_count
          from claimed group by 1, 2),
        line as (
          insert into payout_lines (account_id, payout_id, affiliate_id)
          select distinct ${account}::uuid, ${payout}::uuid, affiliate_id from decided where reason is null),
        line_total as (
          insert into payout_line_totals (account_id, payout_id, affiliate_id, currency, amount, commission_count, tax_terms,
            tax_amount)
          select ${account}::uuid, ${payout}::uuid, affiliate_id, currency, amount, commission_count, tax_terms, tax_amount
          from decided where reason is null),
        exclusion as (
          insert into payout_exclusions (account_id, payout_id, affiliate_id, currency, reason, amount, commission_count)
          select ${account}::uuid, ${payout}::uuid, affiliate_id, currency, reason, amount, commission_count
          from decided where reason is not null),
        dated as (
          update payouts set as_of = (select at from moment) where account_id = ${account} and id = ${payout})
        select not exists (
          select affiliate_id, currency, amount, commission_count from decided where reason is null
          except select affiliate_id, currency, amount, commission_count from sums) as agrees`,
  );
  return agrees;
}

/** What was left out of a payout, for the message of `nothing_to_pay`. */
export function exclusionCounts(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
): Promise<{ reason: string; affiliates: bigint; commissions: bigint }[]> {
  return rows(
    tx,
    sql`select reason, count(distinct affiliate_id) as affiliates, sum(commission_count)::int8 as commissions
        from payout_exclusions where account_id = ${account} and payout_id = ${payout} group by reason order by reason`,
  );
}

/** The lines of a preview with what leaves the bank for each, over `decided`. */
export const PREVIEWED = sql`
  select affiliate_id, currency, (amount + tax_amount)::int8 as amount from decided where reason is null`;

/** The record that create would make now, read without writing. */
export async function previewRecord(
  db: Reader,
  selection: Selection,
): Promise<{ json: Json<PayoutPreview>; largest: bigint }> {
  const { account, filters, search, metadata } = selection;
  const isOfOne = '(select count(*) from totals) = 1';
  const columns = columnsOf(preview, {
    id: 'null',
    object: "'affiliate_payout'",
    number: 'null',
    status: "'unpaid'",
    filters: sql`${filters.normal && JSON.stringify(filters.normal)}::json`,
    search: sql`${search === '' ? null : search}::text`,
    as_of: '(select iso(at) from moment)',
    currency: `case when ${isOfOne} then (select currency from totals) end`,
    amount: `case when ${isOfOne} then (select amount from totals) end`,
    totals: `(select coalesce(json_agg(${withTax('t', 'x.json')} order by t.currency), '[]')
      from totals t left join taxed x on x.currency = t.currency)`,
    affiliate_count: '(select affiliates from counted)',
    commission_count: '(select commissions from counted)',
    metadata: sql`${JSON.stringify(metadata)}::jsonb`,
    affiliates: `case when (select affiliates from counted) <= 1000
      then (select coalesce(json_agg(l), '[]') from lines l) end`,
    excluded: sql`(${exclusionsBy(sql`select * from left_out`)})`,
    shared_destinations: sharedDestinations(
      sql`${account}::uuid`,
      sql`select affiliate_id, currency, amount from taken`,
    ),
    signals: signalCounts(sql`select rule, blocks, null::timestamptz as reviewed_at from found`),
    revision: 'null',
    created_by: 'null',
    schedule_id: 'null',
    created_at: 'null',
    updated_at: 'null',
    paid_at: 'null',
    paid_by: 'null',
    approval: 'null',
    current_payout_id: sql`(
      select public_id('po', id) from payouts where account_id = ${account} and status = 'unpaid')`,
  });
  const rules = await readSignalRules(db, account);
  return oneRow(
    db,
    sql`with moment as materialized (${moment}),
        decided as materialized (${decidedGroups(selection)}),
        ${signalCtes(account, rules, PREVIEWED)},
        taken as (select * from decided where reason is null),
        left_out as (select * from decided where reason is not null),
        counted as materialized (
          select count(distinct affiliate_id) as affiliates, coalesce(sum(commission_count), 0)::int8 as commissions from taken),
        totals as (
          select currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
                 count(*) as affiliate_count, 0 as paid_amount, 0 as paid_count, 0 as carried_amount,
                 0 as released_amount, 0 as released_count
          from taken group by currency),
        taxed as (${sumsWithTax(sql`taken`, sql`0`)}),
        lines as (
          select t.affiliate_id, nullif(trim(concat_ws(' ', a.name_first, a.name_last)), '') as name, a.email,
                 a.paypal_email, a.payout_method, a.is_ready_for_payout, null::boolean as is_paid,
                 sum(t.commission_count)::int8 as commission_count,
                 ${undecidedTotals} as totals,
                 null as payment_reference, 0 as returned_amount
          from taken t join affiliates a on a.account_id = ${account} and a.id = t.affiliate_id
          ${destinationsInForce(account)}
          group by t.affiliate_id, a.account_id, a.id order by t.affiliate_id),
        record as (
          select ${columns})
        select row_to_json(record)::text as json,
               greatest((select max(abs(amount)) from totals), (select max(amount) from taxed),
                 (select max(abs(sum)) from (select sum(amount) from left_out group by reason, currency) s), 0)::int8
                 as largest
        from record`,
  );
}

export interface LockedPayout {
  readonly number: bigint;
  readonly status: 'unpaid' | 'paid';
  readonly revision: number;
  readonly totals: Json<PayoutSummary['totals']>;
  readonly created_at: Timestamp;
  /** By the database's clock. */
  readonly now: Timestamp;
  /** The record as events show it. */
  readonly json: Json<PayoutSummary>;
}

/** The payout's row, locked until the transaction ends. The caller has locked the books. */
export function lockPayout(tx: Tx, account: AccountId, id: PayoutId): Promise<LockedPayout | null> {
  return maybeRow(
    tx,
    sql`select p.number, p.status, p.revision, p.totals, iso(id_time(p.id)) as created_at, iso(clock_time()) as now,
               ${summaryJson} as json
        from payouts p where p.account_id = ${account} and p.id = ${id} for update of p`,
  );
}

/** The approval under which a payout `p` is paid: one row, with nulls if none is needed. */
const approvalInForce = raw(`
  select case when d.decided_by is not null then 'approved' end as decision,
         case when d.decided_by is not null then p.revision end as decided_revision, d.*
  from payouts p left join lateral (select * from ${lastApproval} a where ${approvalStatus} = 'approved') d on true`);

/** Marks a payout (UUID) as paid, by whom and when (null = now). `metadata` replaces the stored value; null keeps it. */
export async function markPaid(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  paid: { by: string; at: Timestamp | null; metadata: object | null },
): Promise<void> {
  const metadata = paid.metadata && JSON.stringify(paid.metadata);
  await rows(
    tx,
    sql`with approval as (${approvalInForce} where p.account_id = ${account} and p.id = ${payout}),
        paid as (
          update payouts set status = 'paid', paid_at = ${paid.at === null ? sql`clock_time()` : sql`${paid.at}::timestamptz`},
            paid_by = ${paid.by}, revision = revision + 1, metadata = coalesce(${metadata}::jsonb, metadata),
            (decision, decided_revision, decided_by, decided_at, decision_note) = (
              select decision, decided_revision, decided_by, decided_at, decision_note from approval)
          where account_id = ${account} and id = ${payout} returning paid_at),
        balanced as (${notePaid(
          account,
          sql`select t.affiliate_id, t.currency, t.amount - t.carried_amount as amount, paid.paid_at
              from payout_line_totals t cross join paid
              where t.account_id = ${account} and t.payout_id = ${payout} and t.is_paid`,
        )}),
        noted as (${noteSeries(
          account,
          sql`select 'paid' as kind, t.affiliate_id, null::int8 as program_id, t.currency, paid.paid_at as at,
                     t.amount - t.carried_amount as amount, t.commission_count as count
              from payout_line_totals t cross join paid
              where t.account_id = ${account} and t.payout_id = ${payout} and t.is_paid`,
        )})
        select 1`,
  );
}
