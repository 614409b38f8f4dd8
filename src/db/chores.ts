import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { lookAtSlowClock } from './clock.ts';
import { type Database, rows, type Tx } from './connect.ts';
import { LOCKS, tryLock } from './locks.ts';

/** Work that some process of a database must do now and then. */
export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** Does all that there is to do. Safe to repeat, and to break off anywhere. */
  run(): Promise<unknown>;
}

/** The most rows that one slice of a chore may do. */
export const SLICE_ROWS = 5000;

/** One bounded piece of a chore: does at most `SLICE_ROWS` rows of a kind; returns how many rows of one kind it did. */
export type Slice = (tx: Tx) => Promise<number>;

/**
 * Does slices, each in a transaction of its own, until one has less than a slice to do. While another process is at the
 * chore of that name, it is left to it.
 */
export async function untilDone(db: Database, name: string, slice: Slice): Promise<void> {
  let done: number;
  do {
    done = await db.transaction(async (tx) => ((await tryLock(tx, LOCKS.chore(name))) ? slice(tx) : 0));
  } while (done >= SLICE_ROWS);
}

/**
 * A chore that deletes what is over. `slice` is told the time by the clock that cannot jump: what is deleted does not come
 * back when the database's clock does.
 */
export function forgetting(
  db: Database,
  { name, everyMs, slice }: { name: string; everyMs: number; slice(tx: Tx, at: string): Promise<number> },
): Chore {
  return {
    name,
    everyMs,
    async run() {
      const at = await db.transaction(lookAtSlowClock);
      await untilDone(db, name, (tx) => slice(tx, at));
    },
  };
}

const NOTED_EVERY_MS = 60_000;

/** The chore, noting when it was last done: under `chore` and its name in the settings, once a minute at most. */
export function noting(db: Database, chore: Chore): Chore {
  let notedAt = Number.NEGATIVE_INFINITY;
  return {
    ...chore,
    async run() {
      await chore.run();
      if (performance.now() - notedAt < NOTED_EVERY_MS) return;
      notedAt = performance.now();
      await db.transaction((tx) =>
        rows(
          tx,
          sql`insert into server_settings (key, value) values (${`chore ${chore.name}`}, iso(now()))
              on conflict (key) do update set value = excluded.value`,
        ),
      );
    },
  };
}

/** Runs each chore after `firstMs`, or its own pause where that is shorter, and a pause after it has ended. Returns what ends them. */
export function keepHouse(chores: readonly Chore[], firstMs: number, log: Logger): () => void {
  const stops = chores.map(({ name, everyMs, run }) => {
    let ended = false;
    const work = () => {
      run()
        .catch((error: unknown) => {
          if (!ended) log.warn({ err: error, chore: name }, 'housekeeping failed; it will be tried again');
        })
        .finally(() => {
          if (!ended) timer = setTimeout(work, everyMs).unref();
        });
    };
    let timer = setTimeout(work, Math.min(firstMs, everyMs)).unref();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  });
  return () => {
    for (const stop of stops) stop();
  };
}
