import sql, { raw } from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';

/** What an import of affiliates changed, with what was there before. Only its undo reads them. */
const NEEDED = ['import_affiliates', 'import_destinations', 'import_tax_profiles'];

/**
 * Deletes what the undo of one import of affiliates needs that was this many days old at `at`, and notes that on the import, so that
 * its undo is refused from then on. Returns SLICE_ROWS if there may be another one.
 */
export async function endUndo(tx: Tx, at: string, days: number): Promise<number> {
  const ended = await maybeRow<{ account: AccountId; id: ImportId }>(
    tx,
    sql`update imports i set undo_ended_at = greatest(now_ms(), undone_at)
        from (select account_id, id from imports
              where kind = 'affiliates' and undo_ended_at is null
                and id < id_floor(${at}::timestamptz - ${days}::int * interval '1 day')
              order by id limit 1 for update skip locked) due
        where i.account_id = due.account_id and i.id = due.id returning i.account_id as account, i.id`,
  );
  if (ended === null) return 0;
  for (const table of NEEDED) {
    await rows(
      tx,
      sql`delete from ${raw(table)} where account_id = ${ended.account} and import_id = ${ended.id}`,
    );
  }
  return SLICE_ROWS;
}
