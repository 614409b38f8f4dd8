import type { Finished } from './attempt.ts';

/** Decides how long the results of attempts wait for others, to be written together with them. */
export interface Gathering {
  /** Waits for more results. Whoever calls it meanwhile waits for the same moment. */
  more(): Promise<void>;
  /** A result came; `waiting` counts it and those before it that are not being written yet. */
  add(finished: Finished, waiting: number): void;
  /** Ends the wait soon: somebody waits for what these results take up. */
  hurry(): void;
}

/** Results that arrive at about the same moment are written together. */
const SHORT_MS = 2;
/** While nobody waits for them. What is not written when the process dies is sent again. */
const LONG_MS = 20;
/** So many are cheap enough to write together. */
const PLENTY = 8;

/** Creates it. `isAwaited` says whether something may wait for the place of a result in the lane of its endpoint. */
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
      // a failure changes what the endpoint may get, half a lane of results may be what keeps it full, and the next delivery of
      // an ordering key waits for the one before it
      const isHolding = delivery.orderingKey !== null || waiting >= Math.min(PLENTY, delivery.lane / 2);
      if (!result.succeeded || isHolding || isAwaited()) hurry();
    },
    hurry,
  };
}
