/** Collects what a transaction announces; `end` runs its listeners. `announced` gets the age of a committed one, in milliseconds. */
export function createTransactionEvents(announced: (ageMs: number) => void) {
  const begunAt = performance.now();
  const listeners: ((isCommitted: boolean) => void)[] = [];
  let hasAnnounced = false;
  return {
    announce(): void {
      hasAnnounced = true;
    },
    onEnd(listener: (isCommitted: boolean) => void): void {
      listeners.push(listener);
    },
    end(isCommitted: boolean): void {
      for (const listener of listeners.splice(0)) listener(isCommitted);
      if (isCommitted && hasAnnounced) announced(performance.now() - begunAt);
      hasAnnounced = false;
    },
  };
}
