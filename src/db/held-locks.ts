import sql from 'sql-template-tag';
import { type Database, rows, type Tx } from './database.ts';
import { LOCKS, shareLock, tryLock } from './locks.ts';

/** Runs `work` while no migration changes the tables. A snapshot that it takes is of after the last one. */
export function betweenMigrations<Result>(db: Database, work: () => Promise<Result>): Promise<Result> {
  return db.transaction(
    async (tx) => {
      await stayOpen(tx);
      await shareLock(tx, LOCKS.tables);
      return work();
    },
    { takesLong: true },
  );
}

/**
 * Runs `work` unless another process is at the chore of that name; null = one is. Not on the connections for writing:
 * there may be only one, and `work` takes it.
 */
export function aloneAt<Result>(
  db: Database,
  chore: string,
  work: () => Promise<Result>,
): Promise<Result | null> {
  return db.engine(async (tx) => {
    await stayOpen(tx);
    return (await tryLock(tx, LOCKS.chore(chore))) ? work() : null;
  });
}

/** The transaction only holds a lock, for as long as something takes. */
const stayOpen = (tx: Tx) =>
  rows(tx, sql`select set_config('idle_in_transaction_session_timeout', '0', true)`);
