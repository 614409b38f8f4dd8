import type { Database } from '../../db/connect.ts';
import type { EndpointId } from '../../kernel/ids.ts';
import { instrumentsOf } from '../../metrics/instruments.ts';
import type { Leased, Offer } from '../../outbox/hand-over.ts';
import { type Claim, type Cursor, claim } from './claim.ts';
import type { Registration } from './registry.ts';
import { createTurns } from './turns.ts';

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
}

interface LeasingOptions {
  readonly db: Database;
  readonly registration: Registration;
  readonly leaseMs: number;
  /** How many attempts this process can begin now. */
  slots(): number;
  /** Whether this process may take over what it publishes. */
  isOpen(): boolean;
  /** Begins the attempts. */
  start(deliveries: readonly Leased[], token: string): void;
}

/** A publish waits this long for a claim. After that its deliveries wait for the next claim. */
const OFFER_PATIENCE_MS = 20;
const CLAIM_PATIENCE_MS = 60_000;

/** Makes what leases deliveries to this process. */
export function createLeasing({ db, registration, leaseMs, slots, isOpen, start }: LeasingOptions): Leasing {
  const worker = registration.number;
  const turns = createTurns();
  const underWay = new Map<EndpointId, number>();
  /** What publishes under way may lease: at one endpoint, and in all. */
  const promised = { each: 0, all: 0 };
  let isLeftBehind = false;

  /** How many deliveries a publish may begin. It leaves half of the room to another one that comes meanwhile. */
  function slotsOfOffer(): number {
    if (!isOpen() || !registration.isReady() || !registration.isAlone()) return 0;
    return Math.ceil((slots() - promised.all) / 2);
  }

  function begin(deliveries: readonly Leased[], token: string): void {
    for (const { endpoint } of deliveries) underWay.set(endpoint, (underWay.get(endpoint) ?? 0) + 1);
    start(deliveries, token);
    instrumentsOf(db)?.count('claim', deliveries.length);
  }

  return {
    beginLook() {
      isLeftBehind = false;
    },
    async claim(from) {
      while (!(await turns.take('claim', CLAIM_PATIENCE_MS)));
      try {
        const free = slots();
        isLeftBehind ||= free < 1;
        if (free < 1) return null;
        const claimed = await db.engine((tx) => claim(tx, { worker, slots: free, leaseMs, from }));
        isLeftBehind ||= claimed.isCrowded;
        begin(claimed.deliveries, claimed.token);
        return claimed;
      } finally {
        turns.give();
      }
    },
    async offer(events) {
      if (slotsOfOffer() < 1) return null;
      // if nothing was left behind, waiting for this claim saves the next one
      const patienceMs = isLeftBehind ? 0 : OFFER_PATIENCE_MS;
      if (!(await turns.take('publish', patienceMs))) return null;
      const offered = slotsOfOffer();
      if (offered < 1) {
        turns.give();
        return null;
      }
      // an endpoint gets each event once
      const each = Math.min(events, offered);
      const reserved = promised.each;
      promised.each += each;
      promised.all += offered;
      const close = (leased: readonly Leased[], token: string) => {
        promised.each -= each;
        promised.all -= offered;
        begin(leased, token);
        turns.give();
      };
      return { worker, leaseMs, slots: offered, underWay, reserved, close };
    },
    end(deliveries) {
      for (const { endpoint } of deliveries) {
        const left = (underWay.get(endpoint) ?? 1) - 1;
        if (left > 0) underWay.set(endpoint, left);
        else underWay.delete(endpoint);
      }
    },
    isLeftBehind: () => isLeftBehind,
  };
}
