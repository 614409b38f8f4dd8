/**
 * Lets only one thing at a time lease deliveries in this process. A claim counts what is in flight by what is
 * committed, and a publish by what the process knows, so each must be over before the next begins.
 */
export interface Turns {
  /** Takes the turn, waiting at most `patienceMs`, or not at all if 0. Returns whether it did. */
  take(patienceMs: number): Promise<boolean> | boolean;
  /** Passes the turn on. */
  give(): void;
}

/** Creates turns; nobody has one. */
export function createTurns(): Turns {
  let isTaken = false;
  const waiting = new Set<() => void>();
  return {
    take(patienceMs) {
      if (!isTaken && waiting.size === 0) {
        isTaken = true;
        return true;
      }
      if (patienceMs === 0) return false;
      return new Promise((resolve) => {
        const mine = () => {
          clearTimeout(timer);
          resolve(true);
        };
        const timer = setTimeout(() => {
          waiting.delete(mine);
          resolve(false);
        }, patienceMs);
        waiting.add(mine);
      });
    },
    give() {
      const [next] = waiting;
      isTaken = next !== undefined;
      if (!next) return;
      waiting.delete(next);
      next();
    },
  };
}
