import type { Tx } from './database.ts';
import { endedForLocks, missesPartition } from './faults.ts';

/**
 * Ends a transaction that needs locks which it must take before anything else. The whole transaction runs again, and
 * `takeLocks` is the first it does.
 */
export class NeedsLocksFirst extends Error {
  override name = 'NeedsLocksFirst';
  readonly takeLocks: (tx: Tx) => Promise<void>;

  constructor(takeLocks: (tx: Tx) => Promise<void>) {
    super('the transaction must begin by taking locks');
    this.takeLocks = takeLocks;
  }
}

const TRIES = 10;

/**
 * Runs a whole transaction (`run`), and runs it again when `work` throws NeedsLocksFirst, or when PostgreSQL ends one that
 * began with such locks in a deadlock; ten times at most. Nothing of an ended transaction was committed.
 */
export async function withLocksFirst<Result>(
  run: (work: (tx: Tx) => Promise<Result>) => Promise<Result>,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  let needed: NeedsLocksFirst | null = null;
  for (let left = TRIES - 1; ; left--) {
    const first: NeedsLocksFirst | null = needed;
    try {
      if (first === null) return await run(work);
      return await run(async (tx) => {
        await first.takeLocks(tx);
        return work(tx);
      });
    } catch (error) {
      if (error instanceof NeedsLocksFirst) needed = error;
      else if (needed === null || !endedForLocks(error)) throw error;
      if (left === 0) throw error;
    }
  }
}

/**
 * Runs a whole transaction (`run`), and runs it again when a row found no partition of its table: the clock of the
 * database may have jumped past all that were made ahead. `makePartitions` makes those of now, in a transaction of its own.
 */
export async function withPartitions<Result>(
  run: () => Promise<Result>,
  makePartitions: () => Promise<void>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!missesPartition(error)) throw error;
  }
  await makePartitions();
  return run();
}
