import sql, { raw } from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { rows, type Tx } from '../../db/database.ts';

const DAY_MS = 86_400_000;

/**
 * Deletes a slice of the entries that were this many days old at `at`; returns the number deleted. Entries since the unpaid payout of their
 * account was created stay: they say who may approve it. The log itself refuses to lose an entry younger than that, or than 90 days.
 */
export async function deleteOldEntries(tx: Tx, at: string, days: number): Promise<number> {
  const keptFrom = new Date(Date.parse(at) - days * DAY_MS).toISOString();
  await rows(tx, raw(`set local payhook.audit_kept_from = '${keptFrom}'`));
  const gone = await rows(
    tx,
    sql`with old as materialized (
          select o.account_id, o.id from accounts a
          left join payouts p on p.account_id = a.id and p.status = 'unpaid'
          cross join lateral (
            select l.account_id, l.id from audit_log l
            where l.account_id = a.id and l.id < least(id_floor(${keptFrom}::timestamptz), p.id)
            order by l.id limit ${SLICE_ROWS}::int) o
          limit ${SLICE_ROWS}::int)
        delete from audit_log l using old o where l.account_id = o.account_id and l.id = o.id returning 1`,
  );
  return gone.length;
}
