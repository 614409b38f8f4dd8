import type { Moment } from '../../kernel/moments.ts';

/** PostgreSQL's clock, as estimated by this process. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Records a time from an answer of PostgreSQL. */
  note(answer: number, asked: Moment): void;
}

/**
 * Follows PostgreSQL's clock. The time in an answer lies between the question and the answer, however long this process
 * was blocked in between. So an answer corrects only what contradicts it.
 */
export function createDatabaseClock(): DatabaseClock {
  /** Added to `performance.now()`. */
  let offset = performance.timeOrigin;
  return {
    now: () => performance.now() + offset,
    note(answer, asked) {
      const least = answer - performance.now();
      const most = answer + 1 - asked.steady; // the answer is truncated to whole milliseconds
      offset = Math.min(Math.max(offset, least), most);
    },
  };
}
