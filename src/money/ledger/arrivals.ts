import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
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

/** Merges a batch of notes into one per account. Returns the number merged. Readers see the same sum before and after. */
export async function foldArrivals(tx: Tx): Promise<number> {
  const { folded } = await oneRow<{ folded: number }>(
    tx,
    sql`with gone as (
          delete from commission_arrivals where (account_id, id) in (
            select account_id, id from commission_arrivals
            where account_id in (select account_id from commission_arrivals group by account_id having count(*) > 1)
            limit ${FOLDED_AT_ONCE}::int for update skip locked)
          returning account_id, count),
        sums as (
          insert into commission_arrivals (account_id, count)
          select account_id, sum(count) from gone group by account_id)
        select count(*)::int as folded from gone`,
  );
  return folded;
}
