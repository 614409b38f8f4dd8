/** The end of a transaction, as its listeners are told. */
export function createTelling(announced: (ageMs: number) => void) {
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
