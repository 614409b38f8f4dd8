import sql from 'sql-template-tag';
import type { Static } from 'typebox';
import { oneRecord } from '../../contract/records.ts';
import { oneRow, type Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type knownState, stateRecord } from './record.ts';

/** Whether the account (UUID) is the one that was made first. */
export async function isFirstAccount(db: Reader, account: AccountId): Promise<boolean> {
  const { first } = await oneRow<{ first: boolean }>(
    db,
    sql`select not exists (select from accounts where id < ${account}) as first`,
  );
  return first;
}

/** What the database says about the installation. */
export function readState(db: Reader): Promise<Json<Static<typeof knownState>>> {
  return oneRecord(db, stateRecord, sql`(select 1) one`);
}
