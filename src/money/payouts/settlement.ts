import sql, { raw, type Sql } from 'sql-template-tag';
import { arrayText } from '../../db/array-text.ts';
import { oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import type { ImportedCommissions } from '../commissions/record.ts';
import { imported } from '../commissions/service.ts';
import { arrivals } from '../ledger/arrivals.ts';
import { NOTED, releaseCommissions } from '../ledger/balances.ts';
import { ownExternalId } from '../ledger/own-ids.ts';
import { netPartOf } from '../ledger/tax-on-top.ts';

/** An entry of Complete's body. */
export interface Entry {
  readonly affiliateId: number;
  /** null = all lines of the affiliate. */
  readonly currency: string | null;
  readonly isPaid: boolean;
  /** Minor units paid, with the tax on top; null = the whole line. */
  readonly amount: number | null;
  readonly reference: string | null;
}

/** The entries as rows `e`. The caller has checked that at most one covers each line. */
async function entryRows(entries: readonly Entry[]): Promise<Sql> {
  const column = (name: keyof Entry) => arrayText(entries.map((entry) => entry[name]));
  return sql`
    unnest(${await column('affiliateId')}::int8[], ${await column('currency')}::text[], ${await column('isPaid')}::boolean[],
           ${await column('amount')}::int8[], ${await column('reference')}::text[])
      as e (affiliate_id, currency, is_paid, amount, payment_reference)`;
}

const linesOf = (account: AccountId, payout: PayoutId) =>
  sql`(select * from payout_line_totals where account_id = ${account} and payout_id = ${payout}) t`;

const aboutLine = sql`e.affiliate_id = t.affiliate_id and (e.currency is null or e.currency = t.currency)`;

/** Affiliates, or single lines of them, that break a rule: their number, and the names of the first 20. */
export interface Named {
  readonly count: number;
  readonly first: string[] | null;
}

/**
 * Forces hash joins: the planner has no statistics about a new payout and would loop over all its lines for each entry.
 */
async function byHash<Result>(db: Tx, work: () => Promise<Result>): Promise<Result> {
  await rows(db, sql`set local enable_nestloop = off`);
  const result = await work();
  await rows(db, sql`set local enable_nestloop to default`);
  return result;
}

/** The result of matching Complete's entries with the payout's lines. */
export interface Comparison {
  /** Entries without a line: `7`, or `7 in kwd`. */
  readonly strangers: Named;
  /** Entries that pay more than the line: `7 in usd (1200 of 1000)`. */
  readonly tooLarge: Named;
  /** Entries that pay a part of a line whose net amount is one unit. */
  readonly indivisible: Named;
  /** Affiliates with lines that no entry covers: `7 in kwd, usd`. */
  readonly unlisted: Named;
  readonly unlistedLines: bigint;
  /** Affiliates with no listed line. */
  readonly unlistedAffiliates: bigint;
}

/** Compares entries with lines. Changes nothing. */
export function compareEntries(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  entries: readonly Entry[],
): Promise<Comparison> {
  const named = (name: Sql, source: Sql) => sql`
    select count(*) as count, (array_agg(${name} order by affiliate_id))[1:20] as first from (${source}) n`;
  const nameOf = sql`concat(affiliate_id, ' in ' || currency)`;
  return byHash(tx, async () => {
    const judged = sql`
      with entry as materialized (select * from ${await entryRows(entries)}),
      line as materialized (
        select t.affiliate_id, t.currency, t.amount + t.tax_amount as amount, e.affiliate_id is not null as is_listed,
               e.amount as paid, t.amount = 1 as is_one
        from ${linesOf(account, payout)} left join entry e on ${aboutLine}),
      who as (
        select affiliate_id, string_agg(currency, ', ' order by currency) filter (where not is_listed) as currency,
               count(*) filter (where not is_listed) as lines, bool_or(is_listed) as is_listed
        from line group by affiliate_id)`;
    const strangers = sql`select affiliate_id, currency from entry e
      where not exists (select from line t where ${aboutLine})`;
    const { json, ...counts } = await oneRow<{
      json: Json<[Named, Named, Named, Named]>;
      unlisted_lines: bigint;
      unlisted_affiliates: bigint;
    }>(
      tx,
      sql`${judged}
        select json_build_array(
                 (select row_to_json(s) from (${named(nameOf, strangers)}) s),
                 (select row_to_json(s) from (${named(
                   sql`concat(affiliate_id, ' in ', currency, ' (', paid, ' of ', amount, ')')`,
                   sql`select * from line where paid > amount`,
                 )}) s),
                 (select row_to_json(s) from (${named(nameOf, sql`select * from line where is_one and paid < amount`)}) s),
                 (select row_to_json(s) from (${named(nameOf, sql`select * from who where currency is not null`)}) s))::text as json,
               (select coalesce(sum(lines), 0)::int8 from who) as unlisted_lines,
               (select count(*) from who where not is_listed) as unlisted_affiliates`,
    );
    const [strange, tooLarge, indivisible, unlisted] = fromJson(json);
    return {
      strangers: strange,
      tooLarge,
      indivisible,
      unlisted,
      unlistedLines: counts.unlisted_lines,
      unlistedAffiliates: counts.unlisted_affiliates,
    };
  });
}

/**
 * Marks the lines, copies names and destinations into them, carries the unpaid part of paid lines, and releases the
 * commissions of unpaid lines.
 */
export async function settleLines(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  entries: readonly Entry[],
): Promise<void> {
  await byHash(tx, async () => {
    await freezeDestinations(tx, account, payout);
    await carryRests(tx, account, payout, entries);
    await rows(
      tx,
      sql`update payout_line_totals l set is_paid = e.is_paid, payment_reference = e.payment_reference
          from (select t.affiliate_id, t.currency, coalesce(e.is_paid, false) as is_paid, e.payment_reference
                from ${linesOf(account, payout)} left join ${await entryRows(entries)} on ${aboutLine}) e
          where l.account_id = ${account} and l.payout_id = ${payout} and l.affiliate_id = e.affiliate_id
            and l.currency = e.currency and l.is_paid is null`,
    );
  });
  await release(tx, account, payout);
}

async function freezeDestinations(tx: Tx, account: AccountId, payout: PayoutId): Promise<void> {
  await rows(
    tx,
    sql`update payout_lines l set name_first = a.name_first, name_last = a.name_last, email = a.email,
          paypal_email = a.paypal_email, payout_method = a.payout_method, legal_type = a.legal_type, is_ready_for_payout = a.is_ready_for_payout
        from affiliates a
        where l.account_id = ${account} and l.payout_id = ${payout} and a.account_id = ${account}
          and a.id = l.affiliate_id`,
  );
  await rows(
    tx,
    sql`update payout_line_totals t set destination_id = d.id
        from affiliate_destinations d
        where t.account_id = ${account} and t.payout_id = ${payout} and d.account_id = ${account}
          and d.affiliate_id = t.affiliate_id and d.replaced_at is null
          and (d.currency = t.currency or d.currency is null and not exists (
            select from affiliate_destinations own
            where own.account_id = ${account} and own.affiliate_id = t.affiliate_id and own.replaced_at is null
              and own.currency = t.currency))`,
  );
}

async function release(tx: Tx, account: AccountId, payout: PayoutId): Promise<void> {
  const { unpaid } = await oneRow<{ unpaid: bigint[] | null }>(
    tx,
    sql`select array_agg(distinct affiliate_id) as unpaid from ${linesOf(account, payout)} where not is_paid`,
  );
  if (unpaid === null) return;
  // the ids let an index find a few rows; `is true` keeps the pairs in a hash table
  await releaseCommissions(
    tx,
    account,
    sql`c.payout_id = ${payout} and c.affiliate_id = any(${unpaid}::int8[])
      and ((c.affiliate_id, c.currency) in (
        select affiliate_id, currency from ${linesOf(account, payout)} where not is_paid)) is true`,
  );
}

/** Makes the unpaid net part of paid lines owed again: one adjustment per line, linked to it. */
async function carryRests(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  entries: readonly Entry[],
): Promise<void> {
  const partly = entries.filter(({ amount }) => amount !== null);
  if (partly.length === 0) return;
  await rows(
    tx,
    sql`with rest as materialized (
          select new_id() as id, t.affiliate_id, t.currency, t.amount - s.net as amount, t.tax_amount - (e.amount - s.net) as tax,
                 e.payment_reference
          from ${linesOf(account, payout)} join ${await entryRows(partly)} on ${aboutLine}
          cross join lateral (select ${raw(netPartOf('e.amount', 't.amount', 't.tax_amount'))} as net) s
          where e.amount < t.amount + t.tax_amount),
        made as (
          insert into commissions (account_id, id, external_id, affiliate_id, type, currency, amount, original_amount,
            description, occurred_at, available_at, returns_payout_id)
          select ${account}::uuid, id, ${ownExternalId('carried', sql`public_id('po', ${payout}::uuid)`, 'id')},
            affiliate_id, 'adjustment', currency, amount, amount,
            (select 'Not paid in payout ' || number from payouts where account_id = ${account} and id = ${payout}),
            now_ms(), now_ms(), ${payout}::uuid
          from rest order by id
          returning ${NOTED}),
        ${arrivals(account)}
        update payout_line_totals l set is_paid = true, payment_reference = rest.payment_reference,
          carried_amount = rest.amount, carried_tax_amount = rest.tax, carried_commission_id = rest.id
        from rest
        where l.account_id = ${account} and l.payout_id = ${payout} and l.affiliate_id = rest.affiliate_id
          and l.currency = rest.currency`,
  );
}

/** The carried amounts as event data, or null. */
export async function carriedImport(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
): Promise<Json<ImportedCommissions> | null> {
  const { count, totals } = await oneRow<{ count: bigint; totals: Json<ImportedCommissions['totals']> }>(
    db,
    sql`select coalesce(sum(count), 0)::int8 as count, coalesce(json_agg(c order by currency), '[]')::text as totals
        from (select currency, sum(carried_amount) as amount, count(*) as count
              from ${linesOf(account, payout)} where carried_amount > 0 group by currency) c`,
  );
  if (count === 0n) return null;
  return imported({ source: 'payout', created: Number(count) }, totals);
}
