import type { Database } from '../db/database.ts';
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
      if (running !== undefined && !(await isOver(running, startedAt + PATIENCE_MS - performance.now())))
        isUp = false;
      return { isUp, figures };
    },
  };
}

/** Whether the work ends within `ms` milliseconds. */
async function isOver(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  const answer = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return answer;
}
