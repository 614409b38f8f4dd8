import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/connect.ts';
import type { AddressRules } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import { type AccountId, type EndpointId, idOf } from '../../kernel/ids.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { Vault } from '../../kernel/vault.ts';
import { endDeleted, giveBack } from '../../outbox/queue.ts';
import { type Claim, type Claimed, type Cursor, claim } from './claim.ts';
import { noteClaim } from './idle.ts';
import { createKeyring } from './keyring.ts';
import type { Outcome } from './outcome.ts';
import { startRecovering } from './recover.ts';
import { nextDelay } from './schedule.ts';
import { createSender } from './send.ts';
import { createSettler, type Finished } from './settler.ts';
import { sign } from './sign.ts';
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
const AFTER_ERROR_MS = 1000;
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
  const now = () => performance.now() + clockOffset;
  const senderFor = (addresses: AddressRules) =>
    createSender({
      addresses,
      timeoutMs: config.timeoutMs,
      // what limits an endpoint is its lane; endpoints of many merchants may share an origin
      connectionsPerOrigin: config.concurrency,
      clock: now,
    });
  const sender = senderFor(options.addresses);
  // a sender of its own: a connection to the loopback that is kept is of use to nobody else
  const localSender = senderFor(options.localAddresses);
  const keyring = createKeyring(options.vault);
  const leaseMs = config.timeoutMs * LEASES_PER_TIMEOUT;
  const settler = createSettler({ ...options, leaseMs, onSettled: wake });
  const underWay = new Set<Promise<void>>();
  let inFlight = 0;
  let closing = false;
  let cursor: Cursor | null = null;
  let pumping: Promise<void> | undefined;
  /** Somebody asked to look again since the last look began. */
  let wanted = false;
  let timer: NodeJS.Timeout | undefined;
  let toldOfClaim = Number.NEGATIVE_INFINITY;
  let restMs = 0;
  /** Nothing is claimed before. */
  let restsUntil = 0;

  function wake(): void {
    wanted = true;
    if (closing || pumping) return;
    clearTimeout(timer);
    pumping = pump().then((pauseMs) => {
      pumping = undefined;
      if (closing) return;
      if (wanted && pauseMs !== AFTER_ERROR_MS) wake();
      else timer = setTimeout(wake, pauseMs);
    });
  }

  /** Claims until nothing is due or nothing more fits; returns the milliseconds until it is worth to look again. */
  async function pump(): Promise<number> {
    let pauseMs = POLL_MS;
    try {
      // from the cursor to the end, then once from the start: every endpoint was looked at
      for (let rounds = cursor === null ? 1 : 2; rounds > 0 && !closing; ) {
        wanted = false;
        const rest = restsUntil - performance.now();
        if (rest > 0) return rest;
        const slots = Math.min(config.concurrency - inFlight, UNWRITTEN - settler.waiting(), CLAIM_AT_ONCE);
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
    } catch (error) {
      if (!closing) log.warn({ err: error }, 'looking for deliveries failed; it is tried again');
      return AFTER_ERROR_MS;
    }
  }

  /** Now and then, for `/readyz` of all servers. */
  function tellOfClaim(): void {
    if (performance.now() - toldOfClaim < CLAIMS_TOLD_MS) return;
    toldOfClaim = performance.now();
    db.engine(noteClaim).catch(() => {
      toldOfClaim = Number.NEGATIVE_INFINITY;
    });
  }

  function start(delivery: Claimed, { token }: Claim): void {
    inFlight += 1;
    const attempt = attemptOne(delivery, token)
      .catch((error: unknown) => {
        // the lease ends and the row is due again
        log.error({ err: error, endpoint: delivery.endpoint, event: delivery.event }, 'an attempt broke');
      })
      .then(() => {
        inFlight -= 1;
        underWay.delete(attempt);
      });
    underWay.add(attempt);
  }

  async function attemptOne(delivery: Claimed, token: string): Promise<void> {
    const at = now();
    const id = idOf('evt', delivery.event);
    const timestamp = Math.floor(at / 1000);
    const { keys, headers, shown } = keyring.open(delivery);
    const own = {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Payhook/2.0 (webhooks)',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign(keys, id, timestamp, delivery.payload),
    };
    // the loopback of another machine is another computer
    const isLocal = delivery.localMachine !== null && delivery.localMachine === hostname();
    const outcome = await (isLocal ? localSender : sender).send({
      url: delivery.url,
      headers: headers ? { ...headers, ...own } : own,
      body: delivery.payload,
    });
    if (outcome.lack !== null) return returnUnsent(delivery, token, outcome.lack);
    restMs = 0;
    settler.add(finishedOf(delivery, token, { at, headers: shown ? { ...shown, ...own } : own, outcome }));
  }

  /** No fault of the receiver: the delivery goes back as it came, and this process takes no more for a while. */
  async function returnUnsent({ endpoint, event }: Claimed, token: string, lack: string): Promise<void> {
    if (restsUntil < performance.now()) {
      restMs = Math.min(Math.max(SHORTEST_REST_MS, restMs * 2), LONGEST_REST_MS);
      restsUntil = performance.now() + restMs;
      log.warn({ lack, rest_ms: restMs }, 'this machine has no room for more connections: fewer are made');
    }
    await db.engine((tx) => giveBack(tx, { endpoint, event, token }));
  }

  function finishedOf(
    delivery: Claimed,
    token: string,
    { at, headers, outcome }: { at: number; headers: Readonly<Record<string, string>>; outcome: Outcome },
  ): Finished {
    const { retryAfterSeconds, errorCode } = outcome;
    const succeeded = errorCode === null;
    const retryAfterMs =
      retryAfterSeconds === null ? null : Math.min(retryAfterSeconds * 1000, LONGEST_WAIT_MS);
    const isGone = outcome.responseStatus === 410;
    const step = delivery.step + 1;
    return {
      delivery,
      outcome,
      retryAfterMs,
      isGone,
      // named one by one: to spread `outcome` costs as much as to sign
      result: {
        delivery,
        token,
        succeeded,
        released: errorCode === 'lost',
        retryMs:
          succeeded || isGone
            ? null
            : nextDelay(config.scheduleMs, { step, retryAfterMs, random: Math.random() }),
        startedAt: formatInstant(at),
        durationMs: outcome.durationMs,
        url: delivery.url,
        requestHeaders: headers,
        responseStatus: outcome.responseStatus,
        responseHeaders: outcome.responseHeaders,
        responseBody: outcome.responseBody,
        responseTruncated: outcome.responseTruncated,
        errorCode,
        errorMessage: outcome.errorMessage,
      },
    };
  }

  async function sweep(): Promise<void> {
    while (!closing && (await db.engine(endDeleted)) > 0);
  }

  const stopListening = db.listen(CHANNEL, wake);
  const stopHearing = db.onAnnounced(wake);
  const sweeping = setInterval(() => {
    sweep().catch((error: unknown) => {
      if (!closing)
        log.warn({ err: error }, 'ending deliveries of deleted endpoints failed; it is tried again');
    });
  }, SWEEP_MS);
  const recoverer = startRecovering(options);
  wake();

  return {
    wake,
    async close() {
      closing = true;
      clearTimeout(timer);
      clearInterval(sweeping);
      stopHearing();
      await stopListening();
      await recoverer.close();
      await pumping;
      const senders = [sender, localSender];
      const cut = setTimeout(() => {
        for (const each of senders) each.abortAll();
      }, DRAIN_MS);
      await Promise.all(underWay);
      clearTimeout(cut);
      await settler.close();
      await Promise.all(senders.map((each) => each.close()));
    },
  };
}

const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;
