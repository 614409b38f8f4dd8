import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/database.ts';
import type { AddressRules } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import { signal } from '../../kernel/signals.ts';
import type { Vault } from '../../kernel/vault.ts';
import { cancelOld } from '../../outbox/cutoffs.ts';
import { endDeleted } from '../../outbox/ending.ts';
import { deliverHere } from '../../outbox/hand-over.ts';
import { type Key, releaseUnordered, tendKeys } from '../../outbox/keys.ts';
import type { Finished } from './attempt.ts';
import { noteWork } from './awaited.ts';
import type { Cursor } from './claim.ts';
import { createDatabaseClock } from './database-clock.ts';
import { createDispatch } from './dispatch.ts';
import { noteClaim } from './idle.ts';
import { createLeasing } from './leasing.ts';
import { createPermits } from './permits.ts';
import { tendClaims } from './pulled.ts';
import { createPump, type PumpControl } from './pump.ts';
import { startRecovering } from './recover.ts';
import { register } from './registry.ts';
import { createSettler } from './settler.ts';
import { CHANNEL } from './wake.ts';

export interface WorkerOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly vault: Vault;
  readonly addresses: AddressRules;
  /** For endpoints on the loopback that the operator of this machine allowed. */
  readonly localAddresses: AddressRules;
  readonly config: DeliveryConfig;
  /** Disables an endpoint and notifies the account's other endpoints. Returns false if it is disabled already. */
  disableEndpoint(
    tx: Tx,
    endpoint: { account: AccountId; endpoint: EndpointId; reason: 'failing' | 'gone' | 'requested' },
  ): Promise<boolean>;
}

/** Delivers events until closed. Any number of workers share the work of one database. */
export interface Worker {
  /** Looks for work now. */
  wake(): void;
  /** Claims nothing more, waits for attempts in flight (10 s at most, then releases them) and writes the results. */
  close(): Promise<void>;
}

const CLAIM_AT_ONCE = 200;
/** The maximum number of results not yet written; beyond it claims stop. */
const UNWRITTEN = 400;
/** The maximum bytes of batches in flight, as counted by a claim. */
const BATCH_BYTES = 64 * 1024 * 1024;
/** Correctness depends on this poll; waking only makes it faster. */
const POLL_MS = 500;
const SWEEP_MS = 5000;
const CLAIM_REPORTS_MS = 10_000;
const TIMEOUTS_PER_LEASE = 2;
/** The minimum lease, however short attempts are: a busy machine must get from a claim to a request in half of it. */
const SHORTEST_LEASE_MS = 4000;

/** Listens to a NOTIFY, which has the age of its transaction. A server of the previous version sends none. */
const fromOthers = (db: Database, hear: (ageMs: number | null) => void) => (payload: string | null) => {
  hear(payload === null ? null : Number(payload));
  noteWork(db);
};

/** Starts a worker. */
export function createWorker(options: WorkerOptions): Worker {
  const { db, log, config } = options;
  const leaseMs = Math.max(config.timeoutMs * TIMEOUTS_PER_LEASE, SHORTEST_LEASE_MS);
  const clock = createDatabaseClock();
  const pump = createPump({ log, look });
  const hear = (ageMs: number | null) => {
    leasing.noteLate(ageMs);
    pump.wake();
  };
  const registration = register({
    db,
    log,
    leaseMs,
    clock,
    onChange: pump.wake,
    listen: (sign) => db.listen(CHANNEL, fromOthers(db, hear), sign),
  });
  const permits = createPermits(leaseMs, registration);
  const settler = createSettler({
    ...options,
    leaseMs,
    // with several workers, others may wait
    isAwaited: () => leasing.isLeftBehind() || !registration.isAlone(),
    onSettled,
  });
  const dispatch = createDispatch({
    ...options,
    now: clock.now,
    permits,
    makeSure: registration.makeSure,
    settle: settler.add,
    unwritten: settler.waiting,
    onUnsent: (delivery) => leasing.end([delivery]),
  });
  const reportClaim = createClaimReports(db);
  let cursor: Cursor | null = null;
  let isClosing = false;
  const leasing = createLeasing({
    db,
    registration,
    clock,
    leaseMs,
    batchBytes: () => BATCH_BYTES - dispatch.batchBytes(),
    slots: () => Math.min(config.concurrency - dispatch.size(), UNWRITTEN - settler.waiting(), CLAIM_AT_ONCE),
    isOpen: () => !isClosing && dispatch.restMs() <= 0,
    start(deliveries, lease) {
      dispatch.start(deliveries, lease);
      if (deliveries.length > 0) reportClaim();
    },
    startBatch(batch, lease) {
      dispatch.startBatch(batch, lease);
      reportClaim();
    },
  });

  /** Claims until nothing is due or nothing more fits. Returns the milliseconds until the next useful search. */
  async function look({ begin, isOver }: PumpControl): Promise<number> {
    if (!registration.isReady()) return POLL_MS;
    let pauseMs = POLL_MS;
    leasing.beginLook();
    // from the cursor to the end, then once from the start, so that every endpoint is visited
    for (let rounds = cursor === null ? 1 : 2; rounds > 0 && !isOver(); ) {
      begin();
      if (dispatch.restMs() > 0) return dispatch.restMs();
      const claimed = await leasing.claim(cursor);
      if (leasing.isLeftBehind()) settler.hurry();
      if (claimed === null) return POLL_MS; // the end of an attempt wakes us
      if (claimed.waitMs !== null) pauseMs = Math.min(pauseMs, Math.max(1, claimed.waitMs));
      cursor = claimed.next;
      if (cursor === null) rounds -= 1;
    }
    return pauseMs;
  }

  function onSettled(batch: readonly Finished[]): void {
    leasing.end(batch.map(({ delivery }) => delivery));
    for (const { disables, delivery } of batch) if (disables !== null) permits.forget(delivery.endpoint);
    signal('settled', batch.length);
    if (leasing.isLeftBehind() || pump.isLooking()) pump.wake();
  }

  const stopHearing = db.onAnnounced(hear);
  const stopOffering = deliverHere(db, { offer: leasing.offer, pauseMs: dispatch.pauseMs });
  const tending = startTending(options);

  return {
    wake: pump.wake,
    async close() {
      isClosing = true;
      stopOffering();
      const lastLook = pump.close();
      stopHearing();
      await tending.close();
      await lastLook;
      await dispatch.drain();
      await settler.close();
      await registration.close();
      await dispatch.close();
    },
  };
}

/** Reports at intervals that deliveries were claimed, for `/readyz` of all servers. */
function createClaimReports(db: Database): () => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - reportedAt < CLAIM_REPORTS_MS) return;
    reportedAt = performance.now();
    db.engine(noteClaim).catch(() => {
      reportedAt = Number.NEGATIVE_INFINITY;
    });
  };
}

/** Cleans up the queue and runs recoveries, until closed. */
function startTending(options: WorkerOptions): { close(): Promise<void> } {
  const stopSweeping = startSweeping(options);
  const recoverer = startRecovering(options);
  return {
    async close() {
      stopSweeping();
      await recoverer.close();
    },
  };
}

/**
 * Ends deliveries of deleted endpoints and those behind cutoffs, and the leases of consumers that ended, releases deliveries of endpoints
 * that are no longer ordered, and checks ordering keys, until stopped.
 */
function startSweeping(options: WorkerOptions): () => void {
  const { db, log } = options;
  let isOver = false;
  let lastKey: Key | null = null;
  const sweep = async () => {
    while (!isOver && (await db.engine(endDeleted)) > 0);
    while (!isOver && (await cancelOld(db)));
    if (!isOver) await tendClaims(options);
    while (!isOver && (await db.engine(releaseUnordered)) > 0);
    if (!isOver) lastKey = await db.engine((tx) => tendKeys(tx, lastKey));
    signal('swept', 0);
  };
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => {
      if (!isOver) log.warn({ err: error }, 'cleaning up the queue failed; it will be retried');
    });
  }, SWEEP_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
