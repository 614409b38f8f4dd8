import type { Logger } from 'pino';
import type { Database } from '../../db/connect.ts';
import type { TraceContext } from '../../kernel/trace.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { giveBack } from '../../outbox/queue.ts';
import { type AttemptsOptions, createAttempts, type Finished, type Several } from './attempt.ts';
import type { LeasedBatch } from './claim-batches.ts';
import { beginAttempt, endAttempt, measureAttempt } from './measure.ts';

/** The attempts in flight. */
export interface Dispatch {
  /** Begins an attempt of each; `token` is that of their lease. */
  start(deliveries: readonly Leased[], token: string): void;
  /** Begins one attempt of all deliveries of a batch. */
  startBatch(batch: LeasedBatch): void;
  /** How many are in flight; a batch is one. */
  size(): number;
  /** Bytes of the payloads of batches in flight. */
  batchBytes(): number;
  /**
   * Milliseconds for which nothing should begin because this machine lacked something; 0 or less = no reason
   * to wait.
   */
  restMs(): number;
  /** Waits for what is in flight, at most 10 s, then aborts it. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface DispatchOptions extends AttemptsOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Takes the result of an attempt, to be written. */
  settle(finished: Finished): void;
  /** Nothing is to be written for this one: it was given back, or its lease will expire. */
  onUnsent(delivery: Leased): void;
}

const DRAIN_MS = 10_000;
/** After an attempt that this machine lacked something for; doubled while it goes on. */
const SHORTEST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;

/** Creates what begins attempts and passes on their results. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { db, log, settle, onUnsent } = options;
  const attempts = createAttempts(options);
  const rest = createRest(log);
  const underWay = new Set<Promise<void>>();
  let batchBytes = 0;

  /** `first` and `others` go in one request; `make` sends it. */
  async function attempt(
    [first, ...others]: Several,
    token: string,
    make: (trace: TraceContext | null) => Promise<readonly Finished[]>,
  ): Promise<void> {
    // events of several traces belong to none of them
    const parent = others.length === 0 ? first.trace : null;
    const span = beginAttempt(db, first, parent);
    try {
      const ended = await make(span?.trace ?? parent);
      for (const finished of ended.slice(0, 1)) endAttempt(span, finished);
      const lack = ended[0]?.outcome.lack ?? null;
      if (lack === null) {
        rest.end();
        for (const finished of ended) {
          measureAttempt(db, finished);
          settle(finished);
        }
        return;
      }
      // not the receiver's fault: the delivery goes back unchanged, and this process takes no more for a
      // while
      rest.begin(lack);
      const events = [first, ...others].map(({ event }) => event);
      await db.engine((tx) => giveBack(tx, { endpoint: first.endpoint, events, token }));
    } catch (error) {
      // the lease ends and the row is due again
      log.error({ err: error, endpoint: first.endpoint, event: first.event }, 'an attempt broke');
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

  return {
    start(deliveries, token) {
      for (const delivery of deliveries) {
        track(
          attempt([delivery], token, async (trace) => [await attempts.make(delivery, token, trace)]),
          0,
        );
      }
    },
    startBatch({ deliveries, token }) {
      const bytes = deliveries.reduce((sum, { payload }) => sum + payload.length, 0);
      track(
        attempt(deliveries, token, (trace) => attempts.makeBatch(deliveries, token, trace)),
        bytes,
      );
    },
    batchBytes: () => batchBytes,
    size: () => underWay.size,
    restMs: rest.leftMs,
    async drain() {
      const cut = setTimeout(attempts.abortAll, DRAIN_MS);
      while (underWay.size > 0) await Promise.all(underWay);
      clearTimeout(cut);
    },
    close: attempts.close,
  };
}

/** The pause after an attempt for which this machine lacked something. It doubles while that goes on. */
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
