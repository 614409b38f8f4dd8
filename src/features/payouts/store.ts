import sql, { type Sql } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import { arrivals } from '../commissions/arrivals.ts';
import { claimCondition, decidedGroups, moment, type Selection } from './plan.ts';
import { lineJoins, lineRecord } from './records.ts';

/** The UUID of the unpaid payout, or null. */
export async function currentPayout(db: Reader, account: string): Promise<string | null> {
  const row = await maybeRow<{ id: string }>(
    db,
    sql`select id from payouts where account_id = ${account} and status = 'unpaid'`,
  );
  return row?.id ?? null;
}

/** An empty payout with the next number. Violates `payouts_one_unpaid` when there is an unpaid one. */
export async function insertPayout(
  tx: Tx,
  selection: Selection,
  createdBy: string,
): Promise<{ id: string; number: bigint }> {
  const { account, filters, search } = selection;
  return oneRow(
    tx,
    sql`with book as (
          update payout_books set next_number = next_number + 1 where account_id = ${account}
          returning next_number - 1 as number)
        insert into payouts (account_id, number, filters, search, as_of, created_by)
        select ${account}, number, ${filters.normal && JSON.stringify(filters.normal)}::jsonb,
               ${search === '' ? null : search}, now_ms(), ${createdBy} from book
        returning id, number`,
  );
}

/**
 * Decides and claims in one statement, so that the rules are judged and the rows taken on one snapshot: commissions
 * that come in meanwhile are in neither. Lines are summed from the rows really claimed. `is true` keeps the planner
 * from joining: it knows nothing of the groups' number, and the commissions must be walked in heap order.
 */
export async function claim(tx: Tx, selection: Selection, payout: string): Promise<void> {
  const { account } = selection;
  await rows(
    tx,
    sql`with moment as materialized (${moment}),
        decided as materialized (${decidedGroups(selection)}),
        claimed as (
          update commissions c set payout_id = ${payout}, updated_at = clock_timestamp()
          where ((c.affiliate_id, c.currency) in (
              select affiliate_id, currency from decided where reason is null)) is true
            and ${claimCondition(selection)}
          returning c.affiliate_id, c.currency, c.amount),
        sums as (
          select affiliate_id, currency, sum(amount)::int8 as amount, count(*) as commission_count
          from claimed group by 1, 2),
        line as (
          insert into payout_lines (account_id, payout_id, affiliate_id)
          select distinct ${account}::uuid, ${payout}::uuid, affiliate_id from sums),
        line_total as (
          insert into payout_line_totals (account_id, payout_id, affiliate_id, currency, amount, commission_count)
          select ${account}::uuid, ${payout}::uuid, affiliate_id, currency, amount, commission_count from sums),
        exclusion as (
          insert into payout_exclusions (account_id, payout_id, affiliate_id, currency, reason, amount, commission_count)
          select ${account}::uuid, ${payout}::uuid, affiliate_id, currency, reason, amount, commission_count
          from decided where reason is not null)
        update payouts set as_of = (select at from moment) where account_id = ${account} and id = ${payout}`,
  );
}

/** `{reason, affiliate_count, totals}` per reason, over a source `x` of exclusions. */
const exclusionsBy = (source: Sql) => sql`
  select coalesce(json_agg(r order by r.reason), '[]') from (
    select reason, (select count(distinct affiliate_id) from (${source}) x where x.reason = by.reason) as affiliate_count,
           json_agg((select t from (select currency, amount, commission_count, by.affiliate_count) t) order by currency)
             as totals
    from (select reason, currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
                 count(distinct affiliate_id) as affiliate_count
          from (${source}) x group by reason, currency) by
    group by reason) r`;

/**
 * Writes the payout's sums from its lines and exclusions; returns the largest sum and the number of lines. Looks each
 * line up instead of joining: of lines made in this transaction the planner knows nothing, and would loop over all.
 */
export async function refreshTotals(
  tx: Tx,
  account: string,
  payout: string,
): Promise<{ largest: bigint; lines: bigint }> {
  return oneRow(
    tx,
    sql`with line as (
          select t.affiliate_id, t.currency, t.amount, t.commission_count, (
            select is_paid from payout_lines l where l.account_id = t.account_id and l.payout_id = t.payout_id
              and l.affiliate_id = t.affiliate_id)
          from payout_line_totals t where t.account_id = ${account} and t.payout_id = ${payout}),
        by_currency as (
          select currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
                 count(*) as affiliate_count,
                 coalesce(sum(amount) filter (where is_paid), 0) as paid_amount,
                 coalesce(sum(commission_count) filter (where is_paid), 0)::int8 as paid_count,
                 coalesce(sum(amount) filter (where not is_paid), 0) as released_amount,
                 coalesce(sum(commission_count) filter (where not is_paid), 0)::int8 as released_count
          from line group by currency),
        changed as (
          update payouts set
            totals = (select coalesce(json_agg(b order by b.currency), '[]') from by_currency b),
            excluded = (${exclusionsBy(
              sql`select * from payout_exclusions where account_id = ${account} and payout_id = ${payout}`,
            )}),
            affiliate_count = (select count(distinct affiliate_id) from line),
            commission_count = coalesce((select sum(commission_count) from line), 0)::int8,
            updated_at = clock_timestamp()
          where account_id = ${account} and id = ${payout})
        select greatest((select max(abs(amount)) from by_currency), (
                 select max(abs(sum)) from (
                   select sum(amount) from payout_exclusions
                   where account_id = ${account} and payout_id = ${payout} group by reason, currency) s), 0)::int8
                 as largest,
               (select count(*) from line) as lines`,
  );
}

/** What was left out of a payout, for the message of an empty one. */
export function exclusionCounts(
  tx: Tx,
  account: string,
  payout: string,
): Promise<{ reason: string; affiliates: bigint; commissions: bigint }[]> {
  return rows(
    tx,
    sql`select reason, count(distinct affiliate_id) as affiliates, sum(commission_count)::int8 as commissions
        from payout_exclusions where account_id = ${account} and payout_id = ${payout} group by reason order by reason`,
  );
}

/** The record a create of this selection would make now, read without writing. */
export async function previewRecord(
  db: Reader,
  selection: Selection,
): Promise<{ json: string; largest: bigint }> {
  const { account, filters, search } = selection;
  return oneRow(
    db,
    sql`with moment as materialized (${moment}),
        decided as materialized (${decidedGroups(selection)}),
        taken as (select * from decided where reason is null),
        left_out as (select * from decided where reason is not null),
        totals as (
          select currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
                 count(*) as affiliate_count, 0 as paid_amount, 0 as paid_count, 0 as released_amount,
                 0 as released_count
          from taken group by currency),
        lines as (
          select t.affiliate_id, nullif(trim(concat_ws(' ', a.name_first, a.name_last)), '') as name, a.email,
                 a.paypal_email, a.payout_method, a.is_ready_for_payout, null::boolean as is_paid,
                 sum(t.commission_count)::int8 as commission_count,
                 json_agg((select s from (select t.currency, t.amount, t.commission_count) s) order by t.currency)
                   as totals,
                 null as payment_reference, 0 as returned_amount
          from taken t join affiliates a on a.account_id = ${account} and a.id = t.affiliate_id
          group by t.affiliate_id, a.account_id, a.id order by t.affiliate_id),
        record as (
          select null as id, 'affiliate_payout' as object, null as number, 'unpaid' as status,
                 ${filters.normal && JSON.stringify(filters.normal)}::json as filters,
                 ${search === '' ? null : search}::text as search, (select iso(at) from moment) as as_of,
                 case when (select count(*) from totals) = 1 then (select currency from totals) end as currency,
                 case when (select count(*) from totals) = 1 then (select amount from totals) end as amount,
                 (select coalesce(json_agg(t order by t.currency), '[]') from totals t) as totals,
                 (select count(*) from lines) as affiliate_count,
                 (select coalesce(sum(commission_count), 0)::int8 from taken) as commission_count,
                 case when (select count(*) from lines) <= 1000
                   then (select coalesce(json_agg(l), '[]') from lines l) end as affiliates,
                 (${exclusionsBy(sql`select * from left_out`)}) as excluded,
                 null as revision, null as created_by, null as created_at, null as updated_at, null as paid_at,
                 null as paid_by,
                 (select public_id('po', id) from payouts
                   where account_id = ${account} and status = 'unpaid') as current_payout_id)
        select row_to_json(record)::text as json,
               greatest((select max(abs(amount)) from totals),
                 (select max(abs(sum)) from (select sum(amount) from left_out group by reason, currency) s), 0)::int8
                 as largest
        from record`,
  );
}

export interface LockedPayout {
  readonly number: bigint;
  readonly status: 'unpaid' | 'paid';
  readonly revision: number;
  readonly totals: string;
}

/** The payout's row, locked until the transaction ends. The books are locked before it. */
export function lockPayout(tx: Tx, account: string, id: string): Promise<LockedPayout | null> {
  return maybeRow(
    tx,
    sql`select number, status, revision, totals from payouts where account_id = ${account} and id = ${id} for update`,
  );
}

export interface Entries {
  readonly affiliateIds: readonly number[];
  readonly isPaid: readonly boolean[];
  readonly references: readonly (string | null)[];
}

const entryRows = ({ affiliateIds, isPaid, references }: Entries) => sql`
  unnest(${affiliateIds}::int8[], ${isPaid}::boolean[], ${references}::text[])
    as e (affiliate_id, is_paid, payment_reference)`;

/** Entries whose affiliate has no line, and lines that no entry names (the first 21 of each, and how many). */
export async function compareEntries(tx: Tx, account: string, payout: string, entries: Entries) {
  const line = sql`select affiliate_id from payout_lines where account_id = ${account} and payout_id = ${payout}`;
  const entry = sql`select affiliate_id from ${entryRows(entries)}`;
  const only = (a: Sql, b: Sql) => sql`
    select count(*) as count, (array_agg(affiliate_id order by affiliate_id))[1:20] as first
    from (${a} except ${b}) d`;
  type Difference = { count: bigint; first: bigint[] | null };
  const strangers = await oneRow<Difference>(tx, only(entry, line));
  const unlisted = await oneRow<Difference>(tx, only(line, entry));
  return { strangers, unlisted };
}

/**
 * Marks the lines, copies names and destinations to them, and releases the commissions of the unpaid ones. Joins by hash:
 * of a payout made a moment ago the planner knows nothing, and would loop over all lines for each of them.
 */
export async function settleLines(tx: Tx, account: string, payout: string, entries: Entries): Promise<void> {
  await rows(tx, sql`set local enable_nestloop = off`);
  const { unpaid } = await oneRow<{ unpaid: bigint[] | null }>(
    tx,
    sql`with settled as (
          update payout_lines l set is_paid = e.is_paid, payment_reference = e.payment_reference,
            name_first = a.name_first, name_last = a.name_last, email = a.email, paypal_email = a.paypal_email,
            payout_method = a.payout_method, is_ready_for_payout = a.is_ready_for_payout
          from (select n.affiliate_id, coalesce(e.is_paid, false) as is_paid, e.payment_reference
                from payout_lines n left join ${entryRows(entries)} on e.affiliate_id = n.affiliate_id
                where n.account_id = ${account} and n.payout_id = ${payout}) e
          join affiliates a on a.account_id = ${account} and a.id = e.affiliate_id
          where l.account_id = ${account} and l.payout_id = ${payout} and l.affiliate_id = e.affiliate_id
          returning l.affiliate_id, l.is_paid)
        select array_agg(affiliate_id) as unpaid from settled where not is_paid`,
  );
  await rows(tx, sql`set local enable_nestloop to default`);
  if (unpaid === null) return;
  await rows(
    tx,
    sql`update commissions set payout_id = null, updated_at = clock_timestamp()
        where account_id = ${account} and payout_id = ${payout} and affiliate_id = any(${unpaid}::int8[])`,
  );
}

export async function markPaid(tx: Tx, account: string, payout: string, paidBy: string): Promise<void> {
  await rows(
    tx,
    sql`update payouts set status = 'paid', paid_at = clock_timestamp(), paid_by = ${paidBy}, revision = revision + 1
        where account_id = ${account} and id = ${payout}`,
  );
}

export async function deletePayout(tx: Tx, account: string, payout: string): Promise<void> {
  await rows(
    tx,
    sql`update commissions set payout_id = null, updated_at = clock_timestamp()
        where account_id = ${account} and payout_id = ${payout}`,
  );
  await rows(tx, sql`delete from payouts where account_id = ${account} and id = ${payout}`);
}

/** Whether a line was paid and whether its money came back; locked. null when the affiliate has no line. */
export function lockLine(
  tx: Tx,
  account: string,
  payout: string,
  affiliate: number,
): Promise<{ is_paid: boolean | null; returned: boolean } | null> {
  return maybeRow(
    tx,
    sql`select is_paid, returned_at is not null as returned from payout_lines
        where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${affiliate} for update`,
  );
}

/** Marks a line as returned and owes its amounts again, one adjustment per currency; returns their UUIDs. */
export async function bookReturn(
  tx: Tx,
  account: string,
  payout: string,
  affiliate: number,
  input: { reason: string; reference?: string | null },
): Promise<{ id: string }[]> {
  await rows(
    tx,
    sql`update payout_lines set returned_at = clock_timestamp(), return_reason = ${input.reason},
          return_reference = ${input.reference ?? null}
        where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${affiliate}`,
  );
  return rows(
    tx,
    sql`with made as (
        insert into commissions (account_id, external_id, affiliate_id, type, currency, amount, original_amount,
          description, occurred_at, available_at, returns_payout_id)
        select account_id, concat_ws(':', 'returned', public_id('po', payout_id), affiliate_id, currency),
          affiliate_id, 'adjustment', currency, amount, amount, ${input.reason}, now_ms(), now_ms(), payout_id
        from payout_line_totals
        where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${affiliate}
        returning id), arrived as (${arrivals(account)})
        select id from made`,
  );
}

/** The record of one line. */
export async function readLine(
  db: Reader,
  account: string,
  payout: string,
  affiliate: number,
): Promise<string> {
  const { json } = await oneRow<{ json: string }>(
    db,
    sql`select row_to_json(r)::text as json from (
          select ${lineRecord} from payout_lines l
          join payouts p on p.account_id = l.account_id and p.id = l.payout_id ${lineJoins}
          where l.account_id = ${account} and l.payout_id = ${payout} and l.affiliate_id = ${affiliate}) r`,
  );
  return json;
}
