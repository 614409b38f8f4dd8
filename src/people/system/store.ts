import sql from 'sql-template-tag';
import { oneRecord } from '../../contract/records.ts';
import { oneRow, type Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import { type KnownState, stateRecord } from './record.ts';

/** Whether the account (UUID) is the one that was made first. */
export async function isFirstAccount(db: Reader, account: AccountId): Promise<boolean> {
  const { first } = await oneRow<{ first: boolean }>(
    db,
    sql`select not exists (select from accounts where id < ${account}) as first`,
  );
  return first;
}

/** What the database of a cell says about it. */
export async function readState(db: Reader): Promise<KnownState> {
  return fromJson(await oneRecord(db, stateRecord, sql`(select 1) one`));
}
