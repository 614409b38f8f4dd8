import type { Database } from '../db/database.ts';
import { type Figures, readFigures } from '../people/system/figures.ts';

/** The statement is asked no more often than this, whoever reads the figures. */
const EVERY_MS = 15_000;
/** A reader waits for an answer this long after it was asked for; then it gets the figures of before. */
const PATIENCE_MS = 1000;

/** The figures of a database, as old as they must be. */
export interface Backlog {
  /** null = they were never read. `isUp` is whether PostgreSQL answered when it was last asked. */
  latest(): Promise<{ readonly isUp: boolean; readonly figures: Figures | null }>;
}

/** Makes what reads the figures of a database, at most every 15 s and only when somebody wants them. Never rejects. */
export function createBacklog(db: Database): Backlog {
  let askedAt = Number.NEGATIVE_INFINITY;
  let asked: Promise<void> | undefined;
  let figures: Figures | null = null;
  let isUp = false;

  function ask(): Promise<void> {
    askedAt = performance.now();
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
      if (asked === undefined && performance.now() - askedAt >= EVERY_MS) {
        asked = ask().finally(() => {
          asked = undefined;
        });
      }
      if (asked !== undefined && !(await isOver(asked, askedAt + PATIENCE_MS - performance.now())))
        isUp = false;
      return { isUp, figures };
    },
  };
}

/** Whether it is over within some milliseconds. */
async function isOver(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  const answer = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return answer;
}
