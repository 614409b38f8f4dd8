import { setTimeout as delay } from 'node:timers/promises';
import { startCounter } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Runs the stages of the demo, each with a progress line. Throws the signal's reason if it aborts. */
export interface Stages {
  /** Processes the items, in order or a few at once. */
  each<Item>(
    what: string,
    items: readonly Item[],
    work: (item: Item) => Promise<unknown>,
    atOnce?: number,
  ): Promise<void>;
  /** Waits until nothing is left, up to a limit. */
  until(what: string, left: () => Promise<number>): Promise<void>;
}

const PATIENCE_MS = 10_000;
const LOOK_MS = 100;

/** Stages that end when the signal aborts. */
export function createStages(terminal: Terminal, signal: AbortSignal): Stages {
  return {
    async each(what, items, work, atOnce = 1) {
      const progress = await startCounter(terminal, what, items.length);
      const rest = items.values();
      let done = 0;
      const lane = async () => {
        for (const item of rest) {
          signal.throwIfAborted();
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
    async until(what, left) {
      const end = performance.now() + PATIENCE_MS;
      const total = await left();
      const progress = await startCounter(terminal, what, total);
      try {
        for (let rest = total; rest > 0 && performance.now() < end; rest = await left()) {
          progress.update(total - rest);
          await delay(LOOK_MS, undefined, { signal });
        }
      } finally {
        progress.stop();
      }
    },
  };
}
