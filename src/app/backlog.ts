import type { Database } from '../db/database.ts';
import { inTime } from '../kernel/in-time.ts';
import { type Figures, readFigures } from '../people/system/figures.ts';

/** The statement runs at most this often, however many readers there are. */
const EVERY_MS = 15_000;
/** How long a reader waits for new figures before it gets the previous ones. */
const PATIENCE_MS = 1000;

/** The figures of a database, refreshed on demand. */
export interface Backlog {
  /** null = never read. `isUp` says whether PostgreSQL answered the last query. */
  latest(): Promise<{ readonly isUp: boolean; readonly figures: Figures | null }>;
}

/** Creates a reader of a database's backlog. It queries at most every 15 s and only on demand. Never rejects. */
export function createBacklog(db: Database): Backlog {
  let startedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  let figures: Figures | null = null;
  let isUp = false;

  function ask(): Promise<void> {
    startedAt = performance.now();
    return db.engine(readFigures, { single: true }).then(
      (read) => {
        figures = read;
        isUp = true;
      },
      () => {
        isUp = false;
      },
    );
  }

  return {
    async latest() {
      if (running === undefined && performance.now() - startedAt >= EVERY_MS) {
        running = ask().finally(() => {
          running = undefined;
        });
      }
      if (running !== undefined) {
        await inTime(startedAt + PATIENCE_MS - performance.now(), running, () => {
          isUp = false;
        });
      }
      return { isUp, figures };
    },
  };
}
