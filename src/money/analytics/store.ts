import sql from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/connect.ts';

/** What time it is for the database, in milliseconds since 1970. */
export async function readNow(db: Reader): Promise<number> {
  const { now } = await oneRow<{ now: string }>(db, sql`select iso(now()) as now`, 'read_now');
  return Date.parse(now);
}
