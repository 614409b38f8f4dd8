import type { Database } from '../../db/database.ts';
import type { EndpointId } from '../../kernel/ids.ts';
import { thisMoment } from '../../kernel/moments.ts';
import { signal } from '../../kernel/signals.ts';
import { instrumentsOf } from '../../metrics/instruments.ts';
import type { Leased, Offer } from '../../outbox/hand-over.ts';
import { type Claim, type Cursor, claim } from './claim.ts';
import { type BatchClaim, claimBatches, type LeasedBatch } from './claim-batches.ts';
import type { DatabaseClock } from './database-clock.ts';
import { createLeaseGate } from './lease-gate.ts';
import type { Lease } from './permits.ts';
import { startPositioning } from './positioning.ts';
import type { Registration } from './registry.ts';

/** A worker's two ways to deliveries: it claims what waits, and takes over what this process publishes. */
export interface Leasing {
  /** Forgets what was left behind, because a new look will see it again. */
  beginLook(): void;
  /** Leases what is due, starting at the cursor; null when nothing more fits. */
  claim(from: Cursor | null): Promise<Claim | null>;
  /** For a publish of so many events: what it may lease to this process, or null. */
  offer(events: number): Promise<Offer | null>;
  /** Called when the leases of these deliveries are over. */
  end(deliveries: readonly Leased[]): void;
  /**
   * Whether deliveries were left behind that may be due when leases end: the lane or this process was full.
   */
  isLeftBehind(): boolean;
  /** A transaction announced work that had begun so many milliseconds before; null = announcements may have been missed. */
  noteLate(ageMs: number | null): void;
}

interface LeasingOptions {
  readonly db: Database;
  readonly registration: Registration;
  /** Each claim sets it. */
  readonly clock: DatabaseClock;
  readonly leaseMs: number;
  /** How many attempts this process can begin now. */
  slots(): number;
  /** How many bytes of batches it has room for. */
  batchBytes(): number;
  /** Whether this process may take over what it publishes. */
  isOpen(): boolean;
  /** Begins the attempts. */
  start(deliveries: readonly Leased[], lease: Lease): void;
  /** Begins an attempt of all deliveries of a batch, in one request. */
  startBatch(batch: LeasedBatch, lease: Lease): void;
}

/** A publish waits this long for a claim. After that its deliveries wait for the next claim. */
const OFFER_PATIENCE_MS = 20;
const CLAIM_PATIENCE_MS = 60_000;
/** While deliveries wait for company, each event that is published wakes the worker. It looks at batches only so often. */
const BATCH_PAUSE_MS = 20;

/** Makes what leases deliveries to this process. */
export function createLeasing(options: LeasingOptions): Leasing {
  const { db, registration, clock, leaseMs, slots, isOpen, start } = options;
  const gate = createLeaseGate();
  const underWay = createCounts();
  /** What publishes under way may lease: at one endpoint, and in all. */
  const promised = { each: 0, all: 0 };
  let isLeftBehind = false;

  /** How many deliveries a publish may begin. It leaves half of the room to another one that comes meanwhile. */
  function slotsOfOffer(): number {
    if (!isOpen() || !registration.isReady() || !registration.isAlone()) return 0;
    return Math.ceil((slots() - promised.all) / 2);
  }

  function note(deliveries: readonly Leased[]): void {
    underWay.add(deliveries, 1);
    instrumentsOf(db)?.count('claim', deliveries.length);
  }

  function begin(deliveries: readonly Leased[], lease: Lease): void {
    note(deliveries);
    start(deliveries, lease);
  }

  const positions = startPositioning(db);
  /** What a lease has that is asked for now. */
  const asking = () => ({ worker: registration.number(), asked: thisMoment() });

  const claimBatchesAt = createBatchClaims(options, asking, {
    note,
    leaveBehind() {
      isLeftBehind = true;
    },
  });

  return {
    beginLook() {
      isLeftBehind = false;
    },
    async claim(from) {
      while (!(await gate.enter('claim', CLAIM_PATIENCE_MS)));
      try {
        const free = slots();
        isLeftBehind ||= free < 1;
        if (free < 1) return null;
        const { worker, asked } = asking();
        const claimed = await db.engine((tx) =>
          claim(tx, { worker, slots: free, leaseMs, from, positions: positions.json() }),
        );
        clock.note(claimed.now, asked);
        isLeftBehind ||= claimed.isCrowded;
        begin(claimed.deliveries, { token: claimed.token, worker, asked });
        signal('claimed', claimed.deliveries.length);
        await positions.note(claimed, asked.steady);
        if (claimed.batching === null) return claimed;
        const waitMs = await claimBatchesAt(claimed.batching);
        return { ...claimed, waitMs: soonest(claimed.waitMs, waitMs) };
      } finally {
        gate.leave();
      }
    },
    async offer(events) {
      if (slotsOfOffer() < 1) return null;
      // if nothing was left behind, waiting for this claim saves the next one
      const patienceMs = isLeftBehind ? 0 : OFFER_PATIENCE_MS;
      if (!(await gate.enter('publish', patienceMs))) return null;
      const offered = slotsOfOffer();
      if (offered < 1) {
        gate.leave();
        return null;
      }
      // an endpoint gets each event once
      const each = Math.min(events, offered);
      const reserved = promised.each;
      promised.each += each;
      promised.all += offered;
      const { worker, asked } = asking();
      const close = (leased: readonly Leased[], token: string) => {
        promised.each -= each;
        promised.all -= offered;
        begin(leased, { token, worker, asked });
        signal('leased', leased.length);
        gate.leave();
      };
      return {
        worker,
        leaseMs,
        slots: offered,
        underWay: underWay.counts,
        reserved,
        positions: positions.json(),
        close,
      };
    },
    end: (deliveries) => underWay.add(deliveries, -1),
    isLeftBehind: () => isLeftBehind,
    noteLate: positions.noteLate,
  };
}

/** Leases batches at the endpoints that a claim named; returns the milliseconds until it is worth looking again. */
function createBatchClaims(
  { db, leaseMs, slots, batchBytes, startBatch }: LeasingOptions,
  asking: () => Pick<Lease, 'worker' | 'asked'>,
  { note, leaveBehind }: { note(deliveries: readonly Leased[]): void; leaveBehind(): void },
): (endpoints: string) => Promise<number | null> {
  let nextAt = 0;
  return async (endpoints) => {
    const pauseMs = nextAt - performance.now();
    const free = slots();
    if (free < 1) leaveBehind();
    if (pauseMs > 0 || free < 1) return free < 1 ? null : pauseMs;
    const bytes = batchBytes();
    const { worker, asked } = asking();
    const { batches, waitMs, isCrowded }: BatchClaim = await db.engine((tx) =>
      claimBatches(tx, endpoints, { worker, slots: free, bytes, leaseMs }),
    );
    if (isCrowded) leaveBehind();
    for (const batch of batches) {
      note(batch.deliveries);
      startBatch(batch, { token: batch.token, worker, asked });
      signal('claimed', batch.deliveries.length);
    }
    if (batches.length === 0) nextAt = performance.now() + Math.min(waitMs ?? 0, BATCH_PAUSE_MS);
    return waitMs;
  };
}

/** How many deliveries are under way at each endpoint. */
function createCounts() {
  const counts = new Map<EndpointId, number>();
  return {
    counts,
    add(deliveries: readonly Leased[], each: 1 | -1): void {
      for (const { endpoint } of deliveries) {
        const count = (counts.get(endpoint) ?? 0) + each;
        if (count > 0) counts.set(endpoint, count);
        else counts.delete(endpoint);
      }
    },
  };
}

const soonest = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);
