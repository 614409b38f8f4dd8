/**
 * Lets a claim lease deliveries only while no publish of this process does. A claim counts what is in flight by what is
 * committed, and a publish by what the process knows, so a claim must neither begin nor end while a publish is under way.
 * Publishes go side by side: each leaves room for what the others may lease.
 */
export interface Turns {
  /**
   * Takes a turn, waiting at most `patienceMs`, or not at all if 0. Returns whether it did. Nobody overtakes who waits
   * for a turn of the other kind.
   */
  take(kind: Turn, patienceMs: number): Promise<boolean> | boolean;
  /** Gives a turn back. */
  give(): void;
}

export type Turn = 'claim' | 'publish';

interface Waiting {
  readonly kind: Turn;
  readonly go: () => void;
}

/** Creates turns; nobody has one. */
export function createTurns(): Turns {
  let kindNow: Turn = 'publish';
  let taken = 0;
  const waiting = new Set<Waiting>();

  const isFree = (kind: Turn) => taken === 0 || (kind === 'publish' && kindNow === 'publish');

  function begin(kind: Turn): void {
    kindNow = kind;
    taken += 1;
  }

  return {
    take(kind, patienceMs) {
      if (isFree(kind) && waiting.size === 0) {
        begin(kind);
        return true;
      }
      if (patienceMs === 0) return false;
      return new Promise((resolve) => {
        const mine = {
          kind,
          go() {
            clearTimeout(timer);
            resolve(true);
          },
        };
        const timer = setTimeout(() => {
          waiting.delete(mine);
          resolve(false);
        }, patienceMs);
        waiting.add(mine);
      });
    },
    give() {
      taken -= 1;
      for (const next of waiting) {
        if (!isFree(next.kind)) return;
        waiting.delete(next);
        begin(next.kind);
        next.go();
      }
    },
  };
}
