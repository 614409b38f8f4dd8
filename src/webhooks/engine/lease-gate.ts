/**
 * Lets a claim lease deliveries only while no publish of this process does. A claim counts what is in flight from
 * committed data, and a publish from what the process knows, so a claim must neither begin nor end during a publish.
 * Publishes run concurrently: each leaves room for what the others may lease.
 */
export interface LeaseGate {
  /**
   * Enters, waiting at most `patienceMs`, or not at all if 0. Returns whether it entered. A waiting caller of the other
   * kind is not overtaken.
   */
  enter(kind: LeaseKind, patienceMs: number): Promise<boolean> | boolean;
  /** Leaves. Waiting callers enter in order. */
  leave(): void;
}

export type LeaseKind = 'claim' | 'publish';

interface Waiting {
  readonly kind: LeaseKind;
  readonly go: () => void;
}

/** Creates an empty gate. */
export function createLeaseGate(): LeaseGate {
  let kindInside: LeaseKind = 'publish';
  let inside = 0;
  const waiting = new Set<Waiting>();

  const isFree = (kind: LeaseKind) => inside === 0 || (kind === 'publish' && kindInside === 'publish');

  function begin(kind: LeaseKind): void {
    kindInside = kind;
    inside += 1;
  }

  return {
    enter(kind, patienceMs) {
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
    leave() {
      inside -= 1;
      for (const next of waiting) {
        if (!isFree(next.kind)) return;
        waiting.delete(next);
        begin(next.kind);
        next.go();
      }
    },
  };
}
