import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { TraceContext } from '../../kernel/trace.ts';
import { cancelUnwanted } from '../../outbox/cutoffs.ts';
import { giveBack } from '../../outbox/ending.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { type AttemptsOptions, createAttempts, type Finished, type Several } from './attempt.ts';
import type { LeasedBatch } from './claim-batches.ts';
import { beginAttempt, endAttempt, measureAttempt } from './measure.ts';
import { createPace } from './pace.ts';
import type { Lease } from './permits.ts';

/** The attempts in flight. */
export interface Dispatch {
  /**
   * Begins an attempt for each. Deliveries whose earlier lease ended without a result are settled as lost instead, and
   * unwanted ones are cancelled.
   */
  start(deliveries: readonly Leased[], lease: Lease): void;
  /** The same for a batch: begins one attempt for all its deliveries. */
  startBatch(batch: LeasedBatch, lease: Lease): void;
  /** The number in flight; a batch counts as one. */
  size(): number;
  /** The payload bytes of batches in flight. */
  batchBytes(): number;
  /** Milliseconds for which nothing should begin because this machine lacked a resource; 0 or less = no pause. */
  restMs(): number;
  /** See `Courier`. */
  pauseMs(account: AccountId): number;
  /** Waits for attempts in flight, at most 10 s, then aborts them. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface DispatchOptions extends AttemptsOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Receives the result of an attempt, to be written. */
  settle(finished: Finished): void;
  /** The number of results not written yet. */
  unwritten(): number;
  /** Nothing is written for this delivery: it was returned to the queue, or its lease will expire. */
  onUnsent(delivery: Leased): void;
}

const DRAIN_MS = 10_000;
/** The pause after an attempt for which this machine lacked a resource; doubled while that continues. */
const SHORTEST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;

/** Creates a `Dispatch`. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { db, log, settle, unwritten, onUnsent, permits } = options;
  const attempts = createAttempts(options);
  const rest = createRest(log);
  const underWay = new Set<Promise<void>>();
  const pace = createPace(unwritten);
  let batchBytes = 0;

  /** `first` and `others` are sent in one request by `make`. */
  async function attempt(
    [first, ...others]: Several,
    { token }: Lease,
    make: (trace: TraceContext | null) => Promise<readonly Finished[]>,
  ): Promise<void> {
    // events of several traces share none
    const parent = others.length === 0 ? first.trace : null;
    const span = beginAttempt(db, first, parent);
    try {
      const ended = await make(span?.trace ?? parent);
      for (const finished of ended.slice(0, 1)) endAttempt(span, finished);
      const { lack = null, isUnsent = false } = ended[0]?.outcome ?? {};
      if (lack === null && !isUnsent) {
        rest.end();
        if ((ended[0]?.disables ?? null) !== null) permits.refuse(first.endpoint);
        for (const finished of ended) {
          measureAttempt(db, finished);
          pace.note(finished);
          settle(finished);
        }
        return;
      }
      // not the receiver's fault: the delivery is returned unchanged, and this process takes no more for a while
      if (lack !== null) rest.begin(lack);
      const events = [first, ...others].map(({ event }) => event);
      await db.engine((tx) => giveBack(tx, { endpoint: first.endpoint, events, token }));
    } catch (error) {
      // the lease ends and the row is due again
      log.error(
        { err: error, endpoint: first.endpoint, event: first.event },
        'an attempt failed unexpectedly',
      );
    }
    for (const delivery of [first, ...others]) onUnsent(delivery);
  }

  function track(attempting: Promise<void>, bytes: number): void {
    const attempt = attempting.then(() => {
      underWay.delete(attempt);
      batchBytes -= bytes;
    });
    underWay.add(attempt);
    batchBytes += bytes;
  }

  /** Settles the lost ones. Returns the others. */
  function settleLost(deliveries: readonly Leased[], lease: Lease): readonly Leased[] {
    const lost = deliveries.filter((delivery) => delivery.lost !== null);
    for (const delivery of lost) settle(attempts.findLost(delivery, lease));
    return lost.length === 0 ? deliveries : deliveries.filter((delivery) => delivery.lost === null);
  }

  /** Cancels those that their endpoint no longer wants. Returns the others. */
  function cancelSome(deliveries: readonly Leased[], { token }: Lease): readonly Leased[] {
    const over = deliveries.filter(({ unwanted }) => unwanted !== null);
    if (over.length === 0) return deliveries;
    const cancelling = db
      .engine((tx) => cancelUnwanted(tx, over, token))
      .catch((error: unknown) => {
        // the leases end, and the rows are due again
        log.error({ err: error, deliveries: over.length }, 'cancelling deliveries failed');
      })
      .then(() => {
        for (const delivery of over) onUnsent(delivery);
      });
    track(cancelling, 0);
    return deliveries.filter(({ unwanted }) => unwanted === null);
  }

  const wantedOf = (deliveries: readonly Leased[], lease: Lease) =>
    cancelSome(settleLost(deliveries, lease), lease);

  return {
    start(deliveries, lease) {
      for (const delivery of wantedOf(deliveries, lease)) {
        track(
          attempt([delivery], lease, async (trace) => [await attempts.make(delivery, lease, trace)]),
          0,
        );
      }
    },
    startBatch(batch, lease) {
      const [first, ...others] = wantedOf(batch.deliveries, lease);
      if (first === undefined) return;
      const deliveries: Several = [first, ...others];
      const bytes = deliveries.reduce((sum, { payload }) => sum + payload.length, 0);
      track(
        attempt(deliveries, lease, (trace) => attempts.makeBatch(deliveries, lease, trace)),
        bytes,
      );
    },
    batchBytes: () => batchBytes,
    size: () => underWay.size,
    restMs: rest.leftMs,
    pauseMs: pace.pauseMs,
    async drain() {
      const cut = setTimeout(attempts.abortAll, DRAIN_MS);
      while (underWay.size > 0) await Promise.all(underWay);
      clearTimeout(cut);
    },
    close: attempts.close,
  };
}

/** The pause after an attempt for which this machine lacked a resource. It doubles while that continues. */
function createRest(log: Logger) {
  let restMs = 0;
  let until = 0;
  return {
    leftMs: () => until - performance.now(),
    begin(lack: string): void {
      if (until >= performance.now()) return;
      restMs = Math.min(Math.max(SHORTEST_REST_MS, restMs * 2), LONGEST_REST_MS);
      until = performance.now() + restMs;
      log.warn(
        { lack, rest_ms: restMs },
        'this machine has no room for more connections: the worker makes fewer',
      );
    },
    end(): void {
      restMs = 0;
    },
  };
}
