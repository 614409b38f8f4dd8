import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Tx } from '../../db/connect.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { changeCommissions } from '../ledger/balances.ts';

/** The commissions that came with an import. They lie between two ids, which the primary key finds. */
const ofImport = (account: AccountId, id: ImportId): Sql => sql`
  commissions.account_id = ${account} and commissions.import_id = ${id}
  and commissions.id >= (select id_floor(id_time(id)) from imports where account_id = ${account} and id = ${id})
  and commissions.id < (select id_floor(id_time(last_id) + interval '2 milliseconds') from imports
              where account_id = ${account} and id = ${id})`;

/** How many commissions of an import cannot be taken back, by why. */
export interface InUse {
  readonly paid: number;
  readonly in_payout: number;
  readonly refunded: number;
}

/** Counts what of an import was paid here, stands in the unpaid payout, or was refunded. The books are locked before. */
export function countUsed(tx: Tx, account: AccountId, id: ImportId): Promise<InUse> {
  return oneRow(
    tx,
    sql`select count(*) filter (where p.status = 'paid')::int as paid,
               count(*) filter (where p.status = 'unpaid')::int as in_payout,
               count(*) filter (where exists (
                 select from refund_items i where i.account_id = commissions.account_id and i.commission_id = commissions.id))::int as refunded
        from commissions left join payouts p on p.account_id = commissions.account_id and p.id = commissions.payout_id
        where ${ofImport(account, id)}`,
  );
}

/**
 * Voids what came with an import and is owed, and gives its external_ids free, so that a corrected file can be imported.
 * What was voided before stays as it was said.
 */
export async function voidImported(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  await changeCommissions(tx, account, {
    which: ofImport(account, id),
    set: sql`voided_at = coalesce(voided_at, clock_timestamp()),
      void_reason = case when voided_at is null then 'The import was undone' else void_reason end,
      available_at = coalesce(held_available_at, available_at), held_available_at = null,
      external_id = concat_ws(':', 'payhook:undone', public_id('com', id), external_id)`,
  });
}
