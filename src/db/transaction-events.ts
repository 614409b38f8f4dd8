/**
 * Collects what a transaction announces; `end` runs its listeners. `announced` gets the milliseconds since the earliest work of a
 * committed one may be due.
 */
export function createTransactionEvents(announced: (ageMs: number) => void) {
  const begunAt = performance.now();
  const listeners: ((isCommitted: boolean) => void)[] = [];
  let earlierMs: number | null = null;
  return {
    announce(ms = 0): void {
      earlierMs = Math.max(earlierMs ?? 0, ms);
    },
    onEnd(listener: (isCommitted: boolean) => void): void {
      listeners.push(listener);
    },
    end(isCommitted: boolean): void {
      for (const listener of listeners.splice(0)) listener(isCommitted);
      if (isCommitted && earlierMs !== null) announced(performance.now() - begunAt + earlierMs);
      earlierMs = null;
    },
  };
}
