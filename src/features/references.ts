import sql, { raw } from 'sql-template-tag';
import { type Reader, rows } from '../db/connect.ts';

async function missingOf(
  db: Reader,
  table: 'affiliates' | 'affiliate_programs',
  account: string,
  ids: readonly number[],
): Promise<bigint[]> {
  if (ids.length === 0) return [];
  const missing = await rows<{ id: bigint }>(
    db,
    sql`select id from unnest(${ids}::int8[]) with ordinality as given (id, position)
        where not exists (select from ${raw(table)} t where t.account_id = ${account} and t.id = given.id)
        order by position`,
  );
  return missing.map((row) => row.id);
}

/** Which of these ids are no affiliates of the account, in the order given. */
export function missingAffiliates(db: Reader, account: string, ids: readonly number[]): Promise<bigint[]> {
  return missingOf(db, 'affiliates', account, ids);
}

/** Which of these ids are no programs of the account, in the order given. */
export function missingPrograms(db: Reader, account: string, ids: readonly number[]): Promise<bigint[]> {
  return missingOf(db, 'affiliate_programs', account, ids);
}
