import sql, { raw, type Sql } from 'sql-template-tag';
import type { AccountId } from '../kernel/ids.ts';
import { oneRow, rows, type Tx } from './database.ts';
import { endedForLocks } from './faults.ts';

/** An advisory lock: the expression of its key in a cell, an int8. */
type Lock = (cell: number) => Sql;

// Cells may share a database, and advisory locks belong to the database. The keys of cell 0 are those of versions without cells.
const CELL_KEYS = 1_000_000_000_000;
const numbered =
  (key: number): Lock =>
  (cell) =>
    raw(String(key + cell * CELL_KEYS));
const named =
  (name: string): Lock =>
  (cell) =>
    sql`hashtextextended(${cell === 0 ? name : `cell ${cell} ${name}`}, 0)`;

/**
 * Every advisory lock of Payhook and what it guards. All are listed here, so that no two share a key by accident. They
 * last until the transaction ends, except a worker's sign of life (`workerSpaceOf`).
 */
export const LOCKS = {
  /** The checks of a start: migrations, the first account, the secret key. One process passes them at a time. */
  starts: numbered(7_246_813_905),
  /** Creating partitions. */
  partitions: numbered(7_246_813_906),
  /** Folding the notes of the log's counts into their sums. */
  counts: numbered(7_246_813_907),
  /** Retention of the log: one process drops weeks at a time. */
  retention: numbered(7_246_813_908),
  /** What may be put to work again from the log. Retries and recoveries share it, retention holds it alone. */
  log: numbered(7_246_813_909),
  /** Deleting an account: one at a time, so that two deletions cannot leave no account. */
  removal: numbered(7_246_813_910),
  /** Changing tables: a migration holds it alone, backups share it. No wait for a table queues behind a backup. */
  tables: numbered(7_246_813_911),
  /** A chore, by its name: one process does a slice of it at a time. */
  chore: (name: string) => named(`chore ${name}`),
  /** Refunds by order of an account, and commissions of many orders (money/refund-lines/locks.ts). */
  refundsOfAccount: (account: AccountId) => named(`refunds ${account}`),
  /** Refunds of one order, and its commissions. */
  refundsOfOrder: (account: AccountId, order: string) => named(`refunds ${account} ${order}`),
  /** Guards nothing: a running import shares it, so that others see its stage (money/imports/progress.ts). */
  importStage: (account: AccountId, key: string, stage: string) => named(`import ${account} ${key} ${stage}`),
  /** Counting the letters of an account, or to a person (UUIDs). */
  letters: (of: string) => named(`letters ${of}`),
  /** Counting the events that an endpoint of the account is missing. */
  missing: (account: AccountId) => named(`missing ${account}`),
  /** Attempts to sign in, or to do something else that is limited, on the same subject. */
  attempts: (subject: string) => named(`attempts ${subject}`),
} as const;

/**
 * The first half of the key of a worker's sign of life; the second is the worker's number. PostgreSQL keeps keys of two
 * int4 apart from the keys above. A connection holds it, so it lasts as long as the process.
 */
const WORKER_SPACE = 724_681_391;
export const workerSpaceOf = (cell: number) => WORKER_SPACE + cell;

/**
 * The first half of the key that transactions share which publish events; the second is when they began
 * (`begins_publishing` of `db/functions`).
 */
const PUBLISHING_SPACE = 724_800_000;
export const publishingSpaceOf = (cell: number) => PUBLISHING_SPACE + cell;

/** The statement of `begins_publishing`: shares the lock, with the last 32 bits of the milliseconds since 1970. */
export const SHARE_PUBLISHING =
  'perform pg_advisory_xact_lock_shared(space, floor(extract(epoch from now()) * 1000)::bigint::bit(32)::int);';

/** Takes a lock until the transaction ends; waits for whoever holds or shares it. */
export async function takeLock(tx: Tx, lock: Lock): Promise<void> {
  await rows(tx, sql`select pg_advisory_xact_lock(${lock(tx.cell)})`);
}

/** Shares a lock until the transaction ends; waits only for whoever holds it alone. */
export async function shareLock(tx: Tx, lock: Lock): Promise<void> {
  await rows(tx, sql`select pg_advisory_xact_lock_shared(${lock(tx.cell)})`);
}

/** Takes a lock until the transaction ends; false when another transaction has it. */
export async function tryLock(tx: Tx, lock: Lock): Promise<boolean> {
  const { mine } = await oneRow<{ mine: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock(${lock(tx.cell)}) as mine`,
  );
  return mine;
}

const limited = new WeakSet<Tx>();

/** From here on a statement of the transaction that waits longer than `ms` milliseconds for a lock fails (55P03). */
export async function limitLockWaits(tx: Tx, ms: number): Promise<void> {
  await rows(tx, raw(`set local lock_timeout = '${ms}ms'`));
  limited.add(tx);
}

/** Whether that was called for the transaction. */
export const limitsLockWaits = (tx: Tx): boolean => limited.has(tx);

const TRIES = 10;

/**
 * Runs a whole transaction again when PostgreSQL ended it because of its locks, ten times at most: for one that takes
 * too many for one order that suits all others. Nothing of an ended transaction was committed.
 */
export async function despiteLocks<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await transaction();
    } catch (error) {
      if (left === 0 || !endedForLocks(error)) throw error;
    }
  }
}
