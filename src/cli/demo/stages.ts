import type { Progress } from '../terminal/progress.ts';

/** Runs the stages of the demo. Throws the signal's reason if it aborts. */
export interface Stages {
  /** Processes the items, in order or a few at once. */
  each<Item>(
    what: string,
    items: readonly Item[],
    work: (item: Item) => Promise<unknown>,
    atOnce?: number,
  ): Promise<void>;
}

/** Stages that end when the signal aborts. `show` starts the progress of each. */
export function createStages(
  show: (what: string, total: number) => Promise<Progress>,
  signal?: AbortSignal,
): Stages {
  return {
    async each(what, items, work, atOnce = 1) {
      const progress = await show(what, items.length);
      const rest = items.values();
      let done = 0;
      const lane = async () => {
        for (const item of rest) {
          signal?.throwIfAborted();
          await work(item);
          done += 1;
          progress.update(done);
        }
      };
      const lanes = Array.from({ length: atOnce }, lane);
      try {
        await Promise.all(lanes);
      } finally {
        // nothing may continue while the caller cleans up
        await Promise.allSettled(lanes);
        progress.stop();
      }
    },
  };
}
