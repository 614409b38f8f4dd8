import type { Logger } from 'pino';
import type { Database } from '../../db/connect.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { giveBack } from '../../outbox/queue.ts';
import { type AttemptsOptions, createAttempts, type Finished } from './attempt.ts';

/** Attempts under way. */
export interface Dispatch {
  /** Begins an attempt of each; `token` is that of their lease. */
  start(deliveries: readonly Leased[], token: string): void;
  /** How many are under way. */
  size(): number;
  /** Milliseconds for which nothing is to be begun: this machine lacked something; not above 0 = no reason to wait. */
  restMs(): number;
  /** Waits for what is under way, 10 s at most, then gives it up. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface DispatchOptions extends AttemptsOptions {
  readonly db: Database;
  readonly log: Logger;
  /** Takes what came of an attempt, to be written. */
  settle(finished: Finished): void;
  /** Nothing is to be written of this one: it was given back, or its lease will end by itself. */
  onUnsent(delivery: Leased): void;
}

const DRAIN_MS = 10_000;
/** After an attempt that this machine lacked something for; doubled while it goes on. */
const SHORTEST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;

/** Makes what begins attempts and hands on what came of them. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { db, log, settle, onUnsent } = options;
  const attempts = createAttempts(options);
  const rest = createRest(log);
  const underWay = new Set<Promise<void>>();

  async function attemptOne(delivery: Leased, token: string): Promise<void> {
    try {
      const finished = await attempts.make(delivery, token);
      const { lack } = finished.outcome;
      if (lack === null) {
        rest.end();
        settle(finished);
        return;
      }
      // no fault of the receiver: the delivery goes back as it came, and this process takes no more for a while
      rest.begin(lack);
      await db.engine((tx) => giveBack(tx, { ...delivery, token }));
    } catch (error) {
      // the lease ends and the row is due again
      log.error({ err: error, endpoint: delivery.endpoint, event: delivery.event }, 'an attempt broke');
    }
    onUnsent(delivery);
  }

  return {
    start(deliveries, token) {
      for (const delivery of deliveries) {
        const attempt = attemptOne(delivery, token).then(() => {
          underWay.delete(attempt);
        });
        underWay.add(attempt);
      }
    },
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

/** The pause after an attempt that this machine lacked something for; doubled while it goes on. */
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
