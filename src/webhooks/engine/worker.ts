import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/connect.ts';
import type { AddressRules } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import { endDeleted, giveBack } from '../../outbox/queue.ts';
import { createAttempts } from './attempt.ts';
import { type Claim, type Claimed, type Cursor, claim } from './claim.ts';
import { noteClaim } from './idle.ts';
import { createPump, type Look } from './pump.ts';
import { startRecovering } from './recover.ts';
import { createSettler } from './settler.ts';
import { CHANNEL } from './wake.ts';

export interface WorkerOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly vault: Vault;
  readonly addresses: AddressRules;
  /** For endpoints that the operator of this machine allowed on its loopback. */
  readonly localAddresses: AddressRules;
  readonly config: DeliveryConfig;
  /** Disables an endpoint and tells the account's other endpoints of it; false when it is disabled already. */
  disableEndpoint(
    tx: Tx,
    endpoint: { account: AccountId; endpoint: EndpointId; reason: 'failing' | 'gone' },
  ): Promise<boolean>;
}

/** Delivers what is due until it is closed. Any number of them share the work of one database. */
export interface Worker {
  /** Looks for work now. */
  wake(): void;
  /** Claims nothing more, waits for what is under way (10 s at most, then it is released), writes what came of it. */
  close(): Promise<void>;
}

const CLAIM_AT_ONCE = 200;
/** Results that wait to be written at most; more of them stop the claims. */
const UNWRITTEN = 400;
/** Correctness rests on this poll; waking only makes it quicker. */
const POLL_MS = 500;
const SWEEP_MS = 5000;
/** After an attempt that this machine lacked something for; doubled while it goes on. */
const SHORTEST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;
const CLAIMS_TOLD_MS = 10_000;
const DRAIN_MS = 10_000;
const LEASES_PER_TIMEOUT = 2;

/** Starts a worker. */
export function createWorker(options: WorkerOptions): Worker {
  const { db, log, config } = options;
  /** What to add to performance.now() for the database's clock. */
  let clockOffset = performance.timeOrigin;
  const leaseMs = config.timeoutMs * LEASES_PER_TIMEOUT;
  const attempts = createAttempts({ ...options, now: () => performance.now() + clockOffset });
  const pump = createPump({ log, look });
  const settler = createSettler({ ...options, leaseMs, onSettled: pump.wake });
  const rest = createRest(log);
  const tellOfClaim = createTelling(db);
  const underWay = new Set<Promise<void>>();
  let cursor: Cursor | null = null;

  /** Claims until nothing is due or nothing more fits; returns the milliseconds until it is worth to look again. */
  async function look({ begin, isOver }: Look): Promise<number> {
    let pauseMs = POLL_MS;
    // from the cursor to the end, then once from the start: every endpoint was looked at
    for (let rounds = cursor === null ? 1 : 2; rounds > 0 && !isOver(); ) {
      begin();
      const restMs = rest.leftMs();
      if (restMs > 0) return restMs;
      const slots = Math.min(
        config.concurrency - underWay.size,
        UNWRITTEN - settler.waiting(),
        CLAIM_AT_ONCE,
      );
      if (slots < 1) return POLL_MS; // an attempt that ends wakes us
      const claimed = await db.engine((tx) => claim(tx, { slots, leaseMs, from: cursor }));
      clockOffset = claimed.now - performance.now();
      for (const delivery of claimed.deliveries) start(delivery, claimed);
      if (claimed.deliveries.length > 0) tellOfClaim();
      if (claimed.waitMs !== null) pauseMs = Math.min(pauseMs, Math.max(1, claimed.waitMs));
      cursor = claimed.next;
      if (cursor === null) rounds -= 1;
    }
    return pauseMs;
  }

  function start(delivery: Claimed, { token }: Claim): void {
    const attempt = attemptOne(delivery, token)
      .catch((error: unknown) => {
        // the lease ends and the row is due again
        log.error({ err: error, endpoint: delivery.endpoint, event: delivery.event }, 'an attempt broke');
      })
      .then(() => {
        underWay.delete(attempt);
      });
    underWay.add(attempt);
  }

  async function attemptOne(delivery: Claimed, token: string): Promise<void> {
    const finished = await attempts.make(delivery, token);
    const { lack } = finished.outcome;
    if (lack === null) {
      rest.end();
      settler.add(finished);
      return;
    }
    // no fault of the receiver: the delivery goes back as it came, and this process takes no more for a while
    rest.begin(lack);
    await db.engine((tx) => giveBack(tx, { ...delivery, token }));
  }

  const stopListening = db.listen(CHANNEL, pump.wake);
  const stopHearing = db.onAnnounced(pump.wake);
  const stopSweeping = startSweeping(db, log);
  const recoverer = startRecovering(options);
  pump.wake();

  return {
    wake: pump.wake,
    async close() {
      const lastLook = pump.close();
      stopSweeping();
      stopHearing();
      await stopListening();
      await recoverer.close();
      await lastLook;
      const cut = setTimeout(attempts.abortAll, DRAIN_MS);
      await Promise.all(underWay);
      clearTimeout(cut);
      await settler.close();
      await attempts.close();
    },
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

/** Makes what notes now and then that something was claimed, for `/readyz` of all servers. */
function createTelling(db: Database): () => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - toldAt < CLAIMS_TOLD_MS) return;
    toldAt = performance.now();
    db.engine(noteClaim).catch(() => {
      toldAt = Number.NEGATIVE_INFINITY;
    });
  };
}

/** Ends what waits at deleted endpoints, until it is stopped. */
function startSweeping(db: Database, log: Logger): () => void {
  let isOver = false;
  const sweep = async () => {
    while (!isOver && (await db.engine(endDeleted)) > 0);
  };
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => {
      if (!isOver)
        log.warn({ err: error }, 'ending deliveries of deleted endpoints failed; it will be tried again');
    });
  }, SWEEP_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
