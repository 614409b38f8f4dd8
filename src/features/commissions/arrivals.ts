import sql, { type Sql } from 'sql-template-tag';
import { type Database, rows } from '../../db/connect.ts';

/**
 * The statement that notes how many rows the CTE `made` inserted: whatever inserts commissions has it beside. The
 * exact total of all commissions is the sum of these notes.
 */
export function arrivals(account: string): Sql {
  return sql`insert into commission_arrivals (account_id, count)
    select ${account}::uuid, count(*) from made having count(*) > 0`;
}

/** Folds the notes of each account into one; readers see the same sum before and after. */
export async function foldArrivals(db: Database): Promise<void> {
  await db.transaction((tx) =>
    rows(
      tx,
      sql`with gone as (
            delete from commission_arrivals where (account_id, id) in (
              select account_id, id from commission_arrivals limit 100000 for update skip locked)
            returning account_id, count)
          insert into commission_arrivals (account_id, count)
          select account_id, sum(count) from gone group by account_id`,
    ),
  );
}
