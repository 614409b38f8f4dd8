import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Reader } from '../db/database.ts';

/** The state of alerts and account messages of all accounts. */
export interface AlertState {
  /** Notices that wait to be sent. */
  readonly waiting_count: number;
  /** Failed within the last week, which is how long they are kept. */
  readonly failed_count: number;
  /** The error of the last failed notice. */
  readonly last_error: string | null;
}

/** AlertState as JSON. */
export const alertState: Sql = sql`(select json_build_object(
    'waiting_count', count(*) filter (where failed_at is null), 'failed_count', count(failed_at),
    'last_error', (array_agg(error order by failed_at desc nulls last) filter (where failed_at is not null))[1])
  from notices where sent_at is null)`;

export async function readAlertState(db: Reader): Promise<AlertState> {
  const { state } = await oneRow<{ state: string }>(db, sql`select ${alertState}::text as state`);
  return JSON.parse(state) as AlertState;
}
