/** The end of a transaction, as its listeners are told. */
export function createTelling(announced: () => void) {
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
      if (isCommitted && hasAnnounced) announced();
      hasAnnounced = false;
    },
  };
}
