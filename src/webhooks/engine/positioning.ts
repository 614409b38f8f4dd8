import type { Database } from '../../db/database.ts';
import { signal } from '../../kernel/signals.ts';
import { createPositions, findPositions } from '../../outbox/positions.ts';
import type { Claim } from './claim.ts';

/** The positions of a worker, which its claims update. */
export interface Positioning {
  /** JSON for claims and publishes. */
  json(): string;
  /**
   * Records what a claim found that began at `begunAt` (of `performance.now`). Creates positions where it read very many
   * entries of deleted rows, and searches an old one again.
   */
  note(claim: Pick<Claim, 'positions' | 'leasePositions' | 'gaps'>, begunAt: number): Promise<void>;
  /**
   * A transaction that had begun `ageMs` milliseconds earlier announced work; null = announcements may have been missed.
   */
  noteLate(ageMs: number | null): void;
}

/** The minimum pause between creations of positions. */
const PAUSE_MS = 5000;

/** Starts without positions. */
export function startPositioning(db: Database): Positioning {
  const positions = createPositions();
  let madeAt = Number.NEGATIVE_INFINITY;

  async function make(gaps: string | null): Promise<void> {
    const old = gaps === null ? positions.oldest() : null;
    if ((gaps === null && old === null) || performance.now() - madeAt < PAUSE_MS) return;
    const begunAt = performance.now();
    madeAt = begunAt;
    const searched = gaps ?? JSON.stringify([{ to_account: old?.account_id, to_endpoint: old?.endpoint_id }]);
    const made = await db.engine((tx) => findPositions(tx, searched), { single: true });
    positions.make(made, begunAt, old?.endpoint_id);
    signal('positioned', made.length);
  }

  return {
    json: positions.json,
    note({ positions: found, leasePositions, gaps }, begunAt) {
      positions.advance(found, begunAt);
      positions.advanceLeases(leasePositions);
      return make(gaps);
    },
    noteLate(ageMs) {
      if (ageMs !== null) return positions.noteLate(ageMs);
      positions.forgetAll();
      madeAt = Number.NEGATIVE_INFINITY;
    },
  };
}
