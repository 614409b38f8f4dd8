import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { changeCommissions } from '../ledger/balances.ts';
import { earnedBy, noteSeries, voidedOf } from '../ledger/series.ts';

/** The commissions created by an import. They lie between two ids, so the primary key finds them. */
const ofImport = (account: AccountId, id: ImportId): Sql => sql`
  commissions.account_id = ${account} and commissions.import_id = ${id}
  and commissions.id >= (select id_floor(id_time(id)) from imports where account_id = ${account} and id = ${id})
  and commissions.id < (select id_floor(id_time(last_id) + interval '2 milliseconds') from imports
              where account_id = ${account} and id = ${id})`;

/** A commission of an import that cannot be undone, and why. */
export interface CommissionInUse {
  readonly external_id: string | null;
  readonly why: 'paid' | 'in_payout' | 'refunded' | 'returned' | 'invoiced';
  /** The number of the payout, if that is the reason. */
  readonly number: bigint | null;
  /** Of all commissions in use. */
  readonly total: bigint;
}

/**
 * The first commissions of an import that were paid here, are in the unpaid payout, were refunded, had their payment
 * returned (unless that was undone), or are on an invoice. Commissions imported as paid do not count as in use for that reason. The caller has locked
 * the books.
 */
export function findUsedCommissions(tx: Tx, account: AccountId, id: ImportId): Promise<CommissionInUse[]> {
  return rows(
    tx,
    sql`select external_id, why, number, count(*) over () as total
        from (
          select commissions.id, commissions.external_id, p.number,
                 case when p.status = 'unpaid' then 'in_payout'
                      when p.import_id is distinct from ${id} and p.id is not null then 'paid'
                      when exists (select from refund_items i
                        where i.account_id = commissions.account_id and i.commission_id = commissions.id) then 'refunded'
                      when exists (select from payout_returns r where r.account_id = p.account_id and r.payout_id = p.id
                        and r.affiliate_id = commissions.affiliate_id and r.currency = commissions.currency
                        and r.undone_at is null)
                        then 'returned'
                      when exists (select from invoices v where v.account_id = p.account_id and v.payout_id = p.id
                        and v.affiliate_id = commissions.affiliate_id and v.currency = commissions.currency)
                        then 'invoiced' end as why
          from commissions left join payouts p on p.account_id = commissions.account_id and p.id = commissions.payout_id
          where ${ofImport(account, id)}) used
        where why is not null order by id limit 20`,
  );
}

/** The external_id of commissions whose import was undone: the original id is at its end. */
const UNDONE = 'payhook:undone';
const undoneId = (c: Sql) =>
  sql`${UNDONE}::text || ':' || public_id('com', ${c}.id) || coalesce(':' || ${c}.external_id, '')`;

/**
 * Undoes the commissions of an import: they are voided, removed from the past payouts and from what was earned, and
 * their external_ids are free again, so that a corrected file can be imported. Commissions voided before keep their
 * reason.
 */
export async function voidImported(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  await changeCommissions(tx, account, {
    which: ofImport(account, id),
    set: sql`payout_id = null, voided_at = coalesce(voided_at, at.now),
      void_reason = case when voided_at is null then 'The import was undone' else void_reason end,
      available_at = coalesce(held_available_at, available_at), held_available_at = null,
      external_id = ${undoneId(sql`commissions`)}`,
    happened: sql`${earnedBy('-', sql`before`)} union all ${voidedOf('-', sql`before`)}`,
  });
}

/**
 * Removes the undone returns of the past payouts of an import, whose lines go with the import. Their adjustments are voided
 * already; they stay as what never was. The caller has checked that no return is in force.
 */
export async function removeUndoneReturns(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  await rows(
    tx,
    sql`with gone as (
          delete from payout_returns r using payouts p
          where p.account_id = ${account} and p.import_id = ${id} and r.account_id = p.account_id and r.payout_id = p.id
          returning r.commission_id, r.affiliate_id, r.currency, r.amount, r.returned_at, r.undone_at),
        noted as (${noteSeries(
          account,
          sql`select 'returned' as kind, affiliate_id, null::int8 as program_id, currency, returned_at as at, -amount as amount,
                     -1 as count
              from gone
              union all
              select 'returned', affiliate_id, null, currency, undone_at, amount, 1 from gone where undone_at is not null`,
        )})
        update commissions c set returns_payout_id = null, updated_at = clock_time(),
          external_id = ${undoneId(sql`c`)}
        from gone where c.account_id = ${account} and c.id = gone.commission_id`,
  );
}
