import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Tx } from '../../db/database.ts';
import { type AccountId, nil } from '../../kernel/ids.ts';
import { noteNew } from './balances.ts';
import { earnedBy, noteSeries } from './series.ts';

/**
 * CTEs that record the rows of the CTE `made`, which returns `NOTED`. Every statement that inserts commissions includes
 * them. The exact total of all commissions is the sum of these notes.
 */
export function arrivals(account: AccountId): Sql {
  return sql`arrived as (
      insert into commission_arrivals (account_id, count)
      select ${account}::uuid, count(*) from made having count(*) > 0),
    balanced as (${noteNew(account)}),
    noted as (${noteSeries(account, earnedBy('', sql`made`))})`;
}

const FOLDED_AT_ONCE = 100_000;

/**
 * Adds a batch of notes to the sum of their account, which is the note with the nil id. Returns the number added. Readers
 * see the same total before and after.
 */
export async function foldArrivals(tx: Tx): Promise<number> {
  const { folded } = await oneRow<{ folded: number }>(
    tx,
    // without a join: with statistics from before a backlog, the planner chose one that compared all pairs of notes
    sql`with gone as (
          delete from commission_arrivals where ctid = any(array(
            select ctid from commission_arrivals where id <> ${nil()} limit ${FOLDED_AT_ONCE}::int for update skip locked))
          returning account_id, count),
        sums as (
          insert into commission_arrivals as a (account_id, id, count)
          select account_id, ${nil()}::uuid, sum(count) from gone group by account_id
          on conflict (account_id, id) do update set count = a.count + excluded.count)
        select count(*)::int as folded from gone`,
  );
  return folded;
}
