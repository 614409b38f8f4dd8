import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { signal } from '../kernel/signals.ts';
import type { Timestamp } from '../kernel/time.ts';
import { lookAtSlowClock } from './clock.ts';
import { type Database, oneRow, type Reader, rows, type Tx } from './database.ts';
import { LOCKS, tryLock } from './locks.ts';

/** The rows that one slice of a chore handles at most. */
export const SLICE_ROWS = 5000;

/**
 * One bounded piece of work, in a transaction of its own. Returns how many rows it handled: `SLICE_ROWS` or more means
 * that there may be more to do.
 */
export type Slice = (tx: Tx) => Promise<number>;

/**
 * Every chore by its name, and whether it removes rows. `tables.ts` says from which tables. Some run only with certain
 * settings.
 */
export const CHORES = {
  clock: 'other work',
  'delivery counts': 'removes rows',
  'affiliate balances': 'removes rows',
  'commission series': 'removes rows',
  'commission arrivals': 'removes rows',
  partitions: 'other work',
  'webhook log': 'removes rows',
  filters: 'other work',
  erasures: 'other work',
  'payout schedules': 'other work',
  'approval alerts': 'other work',
  'tax form alerts': 'other work',
  'agreement alerts': 'other work',
  'idempotency keys': 'removes rows',
  'request digests': 'other work',
  'sign-in attempts': 'removes rows',
  links: 'removes rows',
  'portal links': 'removes rows',
  sessions: 'removes rows',
  tokens: 'removes rows',
  codes: 'removes rows',
  'unused grants': 'removes rows',
  'audit log': 'removes rows',
  'undo of imports': 'removes rows',
  'NACHA days': 'removes rows',
  'endpoint alerts': 'other work',
  'certificate alerts': 'other work',
  'payout alerts': 'other work',
  'alert channels': 'other work',
  'old alerts': 'removes rows',
  'e-mail': 'other work',
  'affiliate notices': 'other work',
  'contact notices': 'other work',
  backups: 'other work',
  disk: 'other work',
  'addresses of cells': 'other work',
} as const satisfies Readonly<Record<string, 'removes rows' | 'other work'>>;

export type ChoreName = keyof typeof CHORES;

/**
 * Work that must be done now and then, by any process of a database. It is safe to repeat, and to break off anywhere.
 * Most chores are done slice by slice, by one process at a time. `forget` is a slice that deletes what has expired. It is
 * given the time of the clock that cannot jump, because what it deletes does not come back when the database's clock is
 * set back. `run` does all there is to do in its own way.
 */
export type Chore = {
  /** GET /v2/system shows when the chore of this name was last done. */
  readonly name: ChoreName;
  readonly everyMs: number;
} & (
  | { readonly slice: Slice }
  | { forget(tx: Tx, at: string): Promise<number> }
  | { run(): Promise<unknown> }
);

/** Does a chore until there is nothing left to do. */
export async function doChore(db: Database, chore: Chore): Promise<void> {
  if ('slice' in chore) signal('folded', await untilDone(db, chore.name, chore.slice));
  else if ('run' in chore) await chore.run();
  else {
    const at = await db.transaction(lookAtSlowClock);
    signal('swept', await untilDone(db, chore.name, (tx) => chore.forget(tx, at)));
  }
}

/**
 * Does slices until one is less than a full slice; returns the rows of all. If another process is at the chore of that name,
 * does nothing.
 */
export async function untilDone(db: Database, name: string, slice: Slice): Promise<number> {
  let all = 0;
  let done: number;
  do {
    done = await db.transaction(async (tx) => ((await tryLock(tx, LOCKS.chore(name))) ? slice(tx) : 0), {
      takesLong: true,
    });
    all += done;
  } while (done >= SLICE_ROWS);
  return all;
}

const NOTED_EVERY_MS = 60_000;
/** The setting that says when a chore was last done: this, and the chore's name. */
export const DONE = 'chore ';

/** The setting of a chore that fails: this, and the chore's name. Its value is JSON. */
export const FAILING = 'failing chore ';
/** After so long, owners are notified of a chore that fails. */
const TOLD_AFTER = '1 hour';
const LONGEST_MESSAGE = 500;

/** A chore that has failed at every process since it was last done. */
export interface FailingChore {
  readonly name: string;
  /** The first failure. */
  readonly since: Timestamp;
  /** Whether that is an hour ago or more. */
  readonly isLong: boolean;
  /** Why it failed the last time. */
  readonly message: string;
}

/** The chores that fail at the moment, by name. */
export function failingChores(db: Reader): Promise<FailingChore[]> {
  return rows(
    db,
    sql`select substr(key, ${FAILING.length + 1}::int) as name, value::json ->> 'since' as since,
               now() - (value::json ->> 'since')::timestamptz >= ${TOLD_AFTER}::interval as "isLong",
               value::json ->> 'message' as message
        from server_settings where starts_with(key, ${FAILING}) order by key`,
  );
}

/** Notes that a chore failed now. Calls `notify` once when it has failed for an hour, in the same transaction. */
async function noteFailure(
  tx: Tx,
  { name }: Chore,
  error: unknown,
  notify: (tx: Tx, failing: FailingChore) => Promise<void>,
): Promise<void> {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_MESSAGE);
  const key = FAILING + name;
  const { is_due, ...failing } = await oneRow<Omit<FailingChore, 'name'> & { is_due: boolean }>(
    tx,
    sql`with noted as (
          insert into server_settings as s (key, value)
          values (${key}, json_build_object('since', iso(now()), 'message', ${message}::text)::text)
          on conflict (key) do update set value = (s.value::jsonb || (excluded.value::jsonb - 'since'))::text
          returning value::json as value),
        failing as (
          select value, value ->> 'since' as since,
                 now() - (value ->> 'since')::timestamptz >= ${TOLD_AFTER}::interval as "isLong" from noted)
        select since, value ->> 'message' as message, "isLong", "isLong" and value ->> 'is_told' is null as is_due
        from failing`,
  );
  if (!is_due) return;
  await rows(
    tx,
    sql`update server_settings set value = (value::jsonb || '{"is_told": true}')::text where key = ${key}`,
  );
  await notify(tx, { name, ...failing });
}

/** Notes in the settings that a chore was done now, and so no longer fails. */
async function noteDone(db: Database, { name }: Chore): Promise<void> {
  await db.transaction((tx) =>
    rows(
      tx,
      sql`with recovered as (delete from server_settings where key = ${FAILING + name})
          insert into server_settings (key, value) values (${DONE + name}, iso(now()))
          on conflict (key) do update set value = excluded.value`,
    ),
  );
}

interface Keeping {
  readonly db: Database;
  readonly log: Logger;
  readonly firstMs: number;
  /** Notifies people of a chore that has failed for an hour. */
  readonly notify: (tx: Tx, failing: FailingChore) => Promise<void>;
}

/**
 * Does each chore for the first time after `firstMs`, or after its own pause if that is shorter, and then again a pause
 * after it has ended. A failure is noted where every process sees it, until a process has done the chore. Returns what
 * stops them.
 */
export function keepHouse(chores: readonly Chore[], { db, log, firstMs, notify }: Keeping): () => void {
  const stops = chores.map((chore) => {
    let stopped = false;
    let notedAt = Number.NEGATIVE_INFINITY;
    let failureNotedAt = Number.NEGATIVE_INFINITY;
    const noteThat = async (error: unknown) => {
      if (performance.now() - failureNotedAt < NOTED_EVERY_MS) return;
      failureNotedAt = performance.now();
      // the next success is noted at once
      notedAt = Number.NEGATIVE_INFINITY;
      await db.transaction((tx) => noteFailure(tx, chore, error, notify));
    };
    const work = async () => {
      await doChore(db, chore);
      if (performance.now() - notedAt < NOTED_EVERY_MS) return;
      notedAt = performance.now();
      failureNotedAt = Number.NEGATIVE_INFINITY;
      await noteDone(db, chore);
    };
    const again = () => {
      work()
        .catch((error: unknown) => {
          if (stopped) return undefined;
          log.warn({ err: error, chore: chore.name }, 'housekeeping failed; it will be tried again');
          return noteThat(error);
        })
        // what cannot be noted because of the database is in the log
        .catch(() => undefined)
        .finally(() => {
          if (!stopped) timer = setTimeout(again, chore.everyMs).unref();
        });
    };
    let timer = setTimeout(again, Math.min(firstMs, chore.everyMs)).unref();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  });
  return () => {
    for (const stop of stops) stop();
  };
}
