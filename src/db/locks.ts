import sql from 'sql-template-tag';
import { oneRow, rows, type Tx } from './connect.ts';

/** From here on a statement of the transaction that waits longer than `ms` milliseconds for a lock fails (55P03). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await rows(tx, sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`);
}

/** Takes a lock by its name until the transaction ends; false when another transaction of the database has it. */
export async function tryLock(tx: Tx, name: string): Promise<boolean> {
  const { mine } = await oneRow<{ mine: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as mine`,
  );
  return mine;
}
