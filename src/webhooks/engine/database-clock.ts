import type { Moment } from '../../kernel/moments.ts';

/** PostgreSQL's clock, as far as it is known here. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Takes a time it gave in answer to a question. */
  note(answer: number, asked: Moment): void;
}

/**
 * Follows PostgreSQL's clock. What it says lies between the question and the answer, however long this process stood still
 * in between. So an answer corrects only what contradicts it.
 */
export function createDatabaseClock(): DatabaseClock {
  /** Add this to `performance.now()`. */
  let offset = performance.timeOrigin;
  return {
    now: () => performance.now() + offset,
    note(answer, asked) {
      const least = answer - performance.now();
      const most = answer + 1 - asked.steady; // it is cut to a whole millisecond
      offset = Math.min(Math.max(offset, least), most);
    },
  };
}
