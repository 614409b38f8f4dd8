import type { Finished } from './attempt.ts';

/** Decides how long results of attempts wait to be written together with others. */
export interface Gathering {
  /** Waits for more results. Concurrent calls wait for the same moment. */
  more(): Promise<void>;
  /** A result arrived. `waiting` includes it and earlier ones whose writing has not started. */
  add(finished: Finished, waiting: number): void;
  /** Ends the wait soon: a delivery waits for the slots of these results. */
  hurry(): void;
}

/** Results that arrive at about the same time are written together. */
const SHORT_MS = 2;
/**
 * Used while nothing waits for the results. A result not written before the process dies means that its event is sent
 * again.
 */
const LONG_MS = 20;
/** The number of results that are cheap enough to write at once. */
const PLENTY = 8;

/**
 * Creates a `Gathering`. `isAwaited` says whether a delivery may wait for a result's slot in the lane of its endpoint.
 */
export function createGathering(isAwaited: () => boolean): Gathering {
  let isUrgent = false;
  let over: Promise<void> | undefined;
  let end = () => {};
  let timer: NodeJS.Timeout | undefined;

  function hurry(): void {
    if (isUrgent) return;
    isUrgent = true;
    if (over === undefined) return;
    clearTimeout(timer);
    timer = setTimeout(end, SHORT_MS);
  }

  return {
    more() {
      over ??= new Promise((resolve) => {
        end = () => {
          over = undefined;
          isUrgent = false;
          resolve();
        };
        timer = setTimeout(end, isUrgent || isAwaited() ? SHORT_MS : LONG_MS);
      });
      return over;
    },
    add({ delivery, result }, waiting) {
      // a failure changes the endpoint's limits, results for half a lane may keep it full, and the next delivery of an
      // ordering key waits for the previous one
      const isHolding = delivery.orderingKey !== null || waiting >= Math.min(PLENTY, delivery.lane / 2);
      if (!result.succeeded || isHolding || isAwaited()) hurry();
    },
    hurry,
  };
}
