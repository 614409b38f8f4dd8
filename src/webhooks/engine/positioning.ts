import type { Database } from '../../db/database.ts';
import { signal } from '../../kernel/signals.ts';
import { createPositions, findPositions } from '../../outbox/positions.ts';
import type { Claim } from './claim.ts';

/** The positions of a worker, which its claims move on. */
export interface Positioning {
  /** As claims and publishes take them. */
  json(): string;
  /**
   * Notes what a claim found that began at that time (of `performance.now`). Where it read very many entries of rows that are
   * gone, makes positions; and finds an old one again.
   */
  note(claim: Pick<Claim, 'positions' | 'leasePositions' | 'gaps'>, begunAt: number): Promise<void>;
  /** A transaction announced work that had begun so many milliseconds before; null = announcements may have been missed. */
  noteLate(ageMs: number | null): void;
}

/** Positions are made no more often than this. */
const PAUSE_MS = 5000;

/** Starts without any position. */
export function startPositioning(db: Database): Positioning {
  const positions = createPositions();
  let madeAt = Number.NEGATIVE_INFINITY;

  async function make(gaps: string | null): Promise<void> {
    const old = gaps === null ? positions.oldest() : null;
    if ((gaps === null && old === null) || performance.now() - madeAt < PAUSE_MS) return;
    const begunAt = performance.now();
    madeAt = begunAt;
    const asked = gaps ?? JSON.stringify([{ to_account: old?.account_id, to_endpoint: old?.endpoint_id }]);
    const made = await db.engine((tx) => findPositions(tx, asked), { single: true });
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
