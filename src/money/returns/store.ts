import sql, { raw } from 'sql-template-tag';
import {
  currency,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { oneRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { type AccountId, type CommissionId, idOf, type PayoutId, type ReturnId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { NoticeFacts } from '../../notices/affiliate-kinds.ts';
import { notifyAffiliates } from '../../notices/affiliates.ts';
import { arrivals } from '../ledger/arrivals.ts';
import { NOTED, notePaid } from '../ledger/balances.ts';
import { ownExternalId } from '../ledger/own-ids.ts';
import { lineJoins, lineRecord, type PayoutLine } from '../ledger/payout-record.ts';
import { noteSeries } from '../ledger/series.ts';
import { cameBack, duePaid, netPartOf } from '../ledger/tax-on-top.ts';
import { type PayoutReturn, record } from './record.ts';

/** The lines of an affiliate in a payout (UUID). */
export interface LinesOf {
  readonly account: AccountId;
  readonly payout: PayoutId;
  readonly affiliate: number;
}

/** What a return needs to know about a line. */
export interface PaidLine {
  readonly currency: string;
  readonly is_paid: boolean | null;
  /** Minor units that were paid and not returned, with the tax on top. */
  readonly rest: bigint;
  /** Whether no part of it can be returned: its net amount is one unit, and there is a tax. */
  readonly is_indivisible: boolean;
}

/** What is left of a paid line `t`. */
const NET_LEFT = '(t.amount - t.carried_amount - t.returned_amount)';
const TAX_LEFT = '(t.tax_amount - t.carried_tax_amount - t.returned_tax_amount)';

/** Locks the lines of an affiliate in a payout and returns them. */
export function lockLines(tx: Tx, { account, payout, affiliate }: LinesOf): Promise<PaidLine[]> {
  return rows(
    tx,
    sql`select t.currency, t.is_paid, case when t.is_paid then ${raw(duePaid('t'))} - (${raw(cameBack('t'))}) else 0 end as rest,
               ${raw(NET_LEFT)} = 1 and ${raw(TAX_LEFT)} > 0 as is_indivisible
        from payout_line_totals t
        where t.account_id = ${account} and t.payout_id = ${payout} and t.affiliate_id = ${affiliate}
        order by t.currency for update`,
  );
}

/** Whether the affiliate has a line in the payout. */
export async function hasLine(db: Reader, { account, payout, affiliate }: LinesOf): Promise<boolean> {
  const { found } = await oneRow<{ found: boolean }>(
    db,
    sql`select exists (select from payout_lines
          where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${affiliate}) as found`,
  );
  return found;
}

/**
 * Records returns of lines, given with their tax, and makes the net part owed again, by one adjustment each. Returns the UUIDs of
 * the adjustments.
 * A CHECK of the table refuses more than was paid.
 */
export async function bookReturns(
  tx: Tx,
  { account, payout, affiliate }: LinesOf,
  parts: readonly { readonly currency: string; readonly amount: bigint }[],
  { reason, reference, externalId }: { reason: string; reference: string | null; externalId: string | null },
): Promise<CommissionId[]> {
  const booked = await rows<{ commission_id: CommissionId }>(
    tx,
    sql`with given as materialized (
          select new_id() as id, new_id() as commission_id, g.currency, s.net as amount, g.payment - s.net as tax
          from unnest(${parts.map((part) => part.currency)}::text[], ${parts.map((part) => part.amount)}::int8[])
            as g (currency, payment)
          join payout_line_totals t on t.account_id = ${account} and t.payout_id = ${payout} and t.affiliate_id = ${affiliate}
            and t.currency = g.currency
          cross join lateral (select ${raw(netPartOf('g.payment', NET_LEFT, TAX_LEFT))} as net) s),
        made as (
          insert into commissions (account_id, id, external_id, affiliate_id, type, currency, amount, original_amount,
            description, occurred_at, available_at, returns_payout_id)
          select ${account}::uuid, commission_id,
            ${ownExternalId('returned', sql`public_id('po', ${payout}::uuid)`, 'commission_id')},
            ${affiliate}::int8, 'adjustment', currency, amount, amount, ${reason}, now_ms(), now_ms(), ${payout}::uuid
          from given
          returning ${NOTED}),
        ${arrivals(account)},
        unpaid as (${notePaid(
          account,
          sql`select ${affiliate}::int8 as affiliate_id, currency, -amount as amount, null::timestamptz as paid_at from given`,
        )}),
        back as (${noteSeries(
          account,
          sql`select 'returned' as kind, ${affiliate}::int8 as affiliate_id, null::int8 as program_id, currency, now_ms() as at, amount,
                     1 as count
              from given`,
        )}),
        recorded as (
          insert into payout_returns (account_id, id, payout_id, affiliate_id, currency, amount, tax_amount, reason, reference,
            commission_id, returned_at, external_id)
          select ${account}::uuid, id, ${payout}::uuid, ${affiliate}::int8, currency, amount, tax, ${reason},
            ${reference}::text, commission_id, now_ms(), ${externalId}::text
          from given)
        update payout_line_totals t set returned_amount = returned_amount + g.amount,
          returned_tax_amount = returned_tax_amount + g.tax
        from given g
        where t.account_id = ${account} and t.payout_id = ${payout} and t.affiliate_id = ${affiliate}
          and t.currency = g.currency
        returning g.commission_id`,
  );
  return booked.map((row) => row.commission_id);
}

/**
 * The returns that a request with this external_id booked. The caller has locked the books, under which returns are
 * booked.
 */
export function returnsNamed(
  tx: Tx,
  account: AccountId,
  externalId: string,
): Promise<
  {
    payout: PayoutId;
    affiliate: bigint;
    currency: string;
    amount: bigint;
    reason: string;
    reference: string | null;
  }[]
> {
  return rows(
    tx,
    sql`select payout_id as payout, affiliate_id as affiliate, currency, amount + tax_amount as amount, reason, reference
        from payout_returns
        where account_id = ${account} and external_id = ${externalId}`,
  );
}

/** Notifies the affiliate of a return. */
export async function notifyOfReturn(
  tx: Tx,
  { account, payout, affiliate }: LinesOf,
  facts: NoticeFacts,
): Promise<void> {
  await notifyAffiliates(
    tx,
    account,
    'returned',
    sql`select ${affiliate}::int8 as affiliate_id, ${idOf('po', payout)}::text as subject,
               ${JSON.stringify(facts)}::json as data`,
  );
}

/** A return to undo. */
export interface LockedReturn {
  readonly commission_id: CommissionId;
  readonly undone: boolean;
}

/** Locks a return (UUID) of the lines; null if there is none. */
export function lockReturn(tx: Tx, of: LinesOf, id: ReturnId): Promise<LockedReturn | null> {
  return maybeRow(
    tx,
    sql`select commission_id, undone_at is not null as undone from payout_returns
        where account_id = ${of.account} and id = ${id} and payout_id = ${of.payout}
          and affiliate_id = ${of.affiliate} for update`,
  );
}

/** Marks a return as undone, and subtracts it from what was returned of the line. */
export async function markUndone(tx: Tx, account: AccountId, id: ReturnId): Promise<void> {
  await rows(
    tx,
    sql`with undone as (
          update payout_returns set undone_at = now_ms() where account_id = ${account} and id = ${id}
          returning payout_id, affiliate_id, currency, amount, tax_amount),
        paid as (${notePaid(
          account,
          sql`select affiliate_id, currency, amount, null::timestamptz as paid_at from undone`,
        )}),
        noted as (${noteSeries(
          account,
          sql`select 'returned' as kind, affiliate_id, null::int8 as program_id, currency, now_ms() as at, -amount as amount,
                     -1 as count
              from undone`,
        )})
        update payout_line_totals t set returned_amount = returned_amount - u.amount,
          returned_tax_amount = returned_tax_amount - u.tax_amount
        from undone u
        where t.account_id = ${account} and t.payout_id = u.payout_id and t.affiliate_id = u.affiliate_id
          and t.currency = u.currency`,
  );
}

/** The record of an affiliate in a payout. */
export function readLine(db: Reader, { account, payout, affiliate }: LinesOf): Promise<Json<PayoutLine>> {
  return oneRecord(
    db,
    lineRecord,
    sql`payout_lines l join payouts p on p.account_id = l.account_id and p.id = l.payout_id ${lineJoins}
        where l.account_id = ${account} and l.payout_id = ${payout} and l.affiliate_id = ${affiliate}`,
  );
}

export const returnList: ListDefinition = {
  id: 'r.id',
  defaultSort: '-id',
  sort: { id: 'r.id', returned_at: 'r.returned_at', amount: 'r.amount' },
  filters: {
    currency: currency('r.currency'),
    is_undone: oneOf(['true', 'false'], (isUndone) => sql`(r.undone_at is not null) = ${isUndone}::boolean`),
  },
};

export function listOfLines(
  db: Reader,
  { account, payout, affiliate }: LinesOf,
  list: ListQuery,
): Promise<Page<PayoutReturn>> {
  return listPage(db, {
    list,
    name: 'payout_returns',
    table: 'payout_returns',
    alias: 'r',
    where: sql`r.account_id = ${account} and r.payout_id = ${payout} and r.affiliate_id = ${affiliate}`,
    record,
  });
}
