import { isOnNode } from '../../db/citus.ts';
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

/** A worker's two ways to lease deliveries: it claims waiting ones, and takes over those that this process publishes. */
export interface Leasing {
  /** Clears what was left behind, because a new search will find it again. */
  beginLook(): void;
  /** Leases due deliveries, starting at the cursor; null if nothing more fits. */
  claim(from: Cursor | null): Promise<Claim | null>;
  /** What a publish of a number of events may lease to this process, or null. */
  offer(events: number): Promise<Offer | null>;
  /** Called when the leases of these deliveries have ended. */
  end(deliveries: readonly Leased[]): void;
  /** Whether deliveries were left behind that may start when leases end, because the lane or this process was full. */
  isLeftBehind(): boolean;
  /**
   * A transaction that had begun `ageMs` milliseconds earlier announced work; null = announcements may have been missed.
   */
  noteLate(ageMs: number | null): void;
}

interface LeasingOptions {
  readonly db: Database;
  readonly registration: Registration;
  /** Each claim sets it. */
  readonly clock: DatabaseClock;
  readonly leaseMs: number;
  /** The number of attempts this process can begin now. */
  slots(): number;
  /** The bytes of batches it has room for. */
  batchBytes(): number;
  /** Whether this process may take over what it publishes. */
  isOpen(): boolean;
  /** Begins the attempts. */
  start(deliveries: readonly Leased[], lease: Lease): void;
  /** Begins one attempt for all deliveries of a batch, in one request. */
  startBatch(batch: LeasedBatch, lease: Lease): void;
}

/** How long a publish waits for a claim. After that its deliveries wait for the next claim. */
const OFFER_PATIENCE_MS = 20;
const CLAIM_PATIENCE_MS = 60_000;
/**
 * While deliveries wait for their batch, each published event wakes the worker. This is the minimum pause between reads
 * of batches.
 */
const BATCH_PAUSE_MS = 20;

/** Creates the leasing of a worker. */
export function createLeasing(options: LeasingOptions): Leasing {
  const { db, registration, clock, leaseMs, slots, isOpen, start } = options;
  const gate = createLeaseGate();
  const underWay = createCounts();
  /** What running publishes may lease: at one endpoint, and in total. */
  const promised = { each: 0, all: 0 };
  let isLeftBehind = false;

  /** How many deliveries a publish may begin. Half of the room is left for another publish. */
  function slotsOfOffer(): number {
    if (!isOpen() || !registration.isReady()) return 0;
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

  const canLockLanes = laneLocking(db);
  const positions = startPositioning(db);
  /** The properties of a lease that is requested now. */
  const leaseRequest = () => ({ worker: registration.number(), requestedAt: thisMoment() });

  const claimBatchesAt = createBatchClaims(options, leaseRequest, {
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
        const { worker, requestedAt } = leaseRequest();
        const claimed = await db.engine((tx) =>
          claim(tx, { worker, slots: free, leaseMs, from, positions: positions.json() }),
        );
        clock.note(claimed.now, requestedAt);
        isLeftBehind ||= claimed.isCrowded;
        begin(claimed.deliveries, { token: claimed.token, worker, requestedAt });
        signal('claimed', claimed.deliveries.length);
        await positions.note(claimed, requestedAt.steady);
        if (claimed.batching === null) return claimed;
        const waitMs = await claimBatchesAt(claimed.batching);
        return { ...claimed, waitMs: soonest(claimed.waitMs, waitMs) };
      } finally {
        gate.leave();
      }
    },
    async offer(events) {
      const isShared = !registration.isAlone();
      if (slotsOfOffer() < 1 || (isShared && !(await canLockLanes()))) return null;
      // if nothing was left behind, waiting for the running claim saves the next one
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
      const { worker, requestedAt } = leaseRequest();
      const close = (leased: readonly Leased[], token: string) => {
        promised.each -= each;
        promised.all -= offered;
        begin(leased, { token, worker, requestedAt });
        signal('leased', leased.length);
        gate.leave();
      };
      return {
        worker,
        leaseMs,
        isShared,
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

/** Leases batches of the endpoints that a claim listed. Returns the milliseconds until the next useful claim. */
function createBatchClaims(
  { db, leaseMs, slots, batchBytes, startBatch }: LeasingOptions,
  leaseRequest: () => Pick<Lease, 'worker' | 'requestedAt'>,
  { note, leaveBehind }: { note(deliveries: readonly Leased[]): void; leaveBehind(): void },
): (endpoints: string) => Promise<number | null> {
  let nextAt = 0;
  return async (endpoints) => {
    const pauseMs = nextAt - performance.now();
    const free = slots();
    if (free < 1) leaveBehind();
    if (pauseMs > 0 || free < 1) return free < 1 ? null : pauseMs;
    const bytes = batchBytes();
    const { worker, requestedAt } = leaseRequest();
    const { batches, waitMs, isCrowded }: BatchClaim = await db.engine((tx) =>
      claimBatches(tx, endpoints, { worker, slots: free, bytes, leaseMs }),
    );
    if (isCrowded) leaveBehind();
    for (const batch of batches) {
      note(batch.deliveries);
      startBatch(batch, { token: batch.token, worker, requestedAt });
      signal('claimed', batch.deliveries.length);
    }
    if (batches.length === 0) nextAt = performance.now() + Math.min(waitMs ?? 0, BATCH_PAUSE_MS);
    return waitMs;
  };
}

/**
 * Whether a publish can lock lanes. It calls a function that changes rows, which Citus refuses on its nodes: there the claim
 * leases everything while several workers deliver.
 */
function laneLocking(db: Database): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= isOnNode(db.reader).then(
      (isOn) => !isOn,
      () => {
        asked = undefined;
        return false;
      },
    );
    return asked;
  };
}

/** The number of deliveries in flight at each endpoint. */
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
