import sql from 'sql-template-tag';
import { rows, type Tx } from './connect.ts';

/** From here on a statement of the transaction that waits longer than `ms` milliseconds for a lock fails (55P03). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await rows(tx, sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`);
}
