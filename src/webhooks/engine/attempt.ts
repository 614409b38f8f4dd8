import { hostname } from 'node:os';
import { type AddressRules, PUBLIC_ONLY } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import { idOf, timeIn } from '../../kernel/ids.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { TraceContext } from '../../kernel/trace.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { batchHeaders, formHeaders } from '../forms/forms.ts';
import { sendAuthorized } from './authorized.ts';
import { serverProxy } from './egress-routes.ts';
import { createKeyring } from './keyring.ts';
import { signed, type Unsigned } from './message.ts';
import { type Failure, NO_RESULT, NOTHING, type Outcome, shortened, UNSENT } from './outcome.ts';
import type { Lease, Permits } from './permits.ts';
import { nextDelay } from './schedule.ts';
import { createSender, type Sender, type SenderOptions } from './send.ts';
import type { Result } from './settle.ts';
import { createTokens } from './tokens.ts';

/** A finished attempt: the result to write, and what it shows about its endpoint. */
export interface Finished {
  readonly delivery: Leased;
  readonly outcome: Outcome;
  readonly result: Result;
  readonly retryAfterMs: number | null;
  /** Why its endpoint is to be disabled: the receiver answered 410, or asked for it; null = it is not. */
  readonly disables: 'gone' | 'requested' | null;
  /** Another delivery of the same request already counts for the endpoint. */
  readonly isFurther: boolean;
}

/** Deliveries in one request. */
export type Several = readonly [Leased, ...Leased[]];

export interface AttemptsOptions {
  readonly vault: Vault;
  readonly addresses: AddressRules;
  /** For endpoints on the loopback that the operator of this machine allowed. */
  readonly localAddresses: AddressRules;
  readonly config: DeliveryConfig;
  /** Milliseconds since 1970 by the database's clock. */
  now(): number;
  readonly permits: Permits;
  /** Called before anything is signed. Resolves once the clock and the worker's leases are as certain as possible. */
  makeSure(): Promise<void>;
}

/** Makes attempts: signs, sends, and returns the results. */
export interface Attempts {
  /**
   * Sends `trace` along. Never rejects because of a receiver. The outcome has a `lack` if this machine could not send,
   * and is `isUnsent` if sending was no longer permitted.
   */
  make(delivery: Leased, lease: Lease, trace: TraceContext | null): Promise<Finished>;
  /** The same for several deliveries of an endpoint in one request, as an array. Returns a result for each. */
  makeBatch(deliveries: Several, lease: Lease, trace: TraceContext | null): Promise<Finished[]>;
  /** The attempt of an earlier lease whose result will never arrive. */
  findLost(delivery: Leased, lease: Lease): Finished;
  /** Aborts the attempts in flight, which end as `lost`. */
  abortAll(): void;
  close(): Promise<void>;
}

const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/** Signs and sends requests. */
interface Post {
  /** Sends to the endpoint of a delivery. `added` are further headers, or replacements. */
  send(delivery: Leased, posted: Posted): Promise<Exchanged>;
  readonly senders: readonly Sender[];
}

function createPost(options: AttemptsOptions): Post {
  const { vault, addresses, localAddresses, config, now } = options;
  const { timeoutMs } = config;
  const senderFor = (rules: AddressRules, more: Partial<SenderOptions> = {}) =>
    createSender({
      proxies: { addresses, ofServer: serverProxy(config) },
      addresses: rules,
      timeoutMs,
      // the lane limits an endpoint, but endpoints of many merchants may share an origin
      connectionsPerOrigin: config.concurrency,
      clock: now,
      ...more,
    });
  const sender = senderFor(addresses);
  // a separate sender, so that no other endpoint reuses a connection to the loopback
  const localSender = senderFor(localAddresses, { proxies: { addresses, ofServer: null } });
  // the same for connections to networks that the operator allowed
  const publicSender = senderFor(PUBLIC_ONLY);
  // for token endpoints, whose proxies also have less time
  const tokenSender = senderFor(addresses, { timeoutMs: timeoutMs / 2, needsBody: true });
  const senders = [sender, localSender, publicSender, tokenSender];
  const getToken = createTokens(tokenSender);
  const keyring = createKeyring(vault);

  async function send(
    delivery: Leased,
    { id, body, added, trace, lease, isBatch = false }: Posted,
  ): Promise<Exchanged> {
    await options.makeSure();
    const permit = options.permits.of(lease, delivery.endpoint);
    const at = now();
    if (!permit.isGood()) return { at, requestHeaders: null, outcome: lostBefore(UNSENT) };
    const opened = keyring.open(delivery);
    const { route, credentials } = opened;
    const message = { id, body, added, trace, timestamp: Math.floor(at / 1000), isBatch };
    const { headers, shown: requestHeaders } = signed(delivery, message, opened);
    // the loopback of another machine is another computer
    const isLocal = delivery.localMachine !== null && delivery.localMachine === hostname() && !route?.proxy;
    const chosen = isLocal ? localSender : delivery.isPublicOnly ? publicSender : sender;
    const request = {
      url: delivery.url,
      headers,
      body,
      route,
      permit,
    };
    const outcome = credentials
      ? await sendAuthorized(request, { sender: chosen, getToken, credentials, timeoutMs })
      : await chosen.send(request);
    return { at, requestHeaders, outcome };
  }

  return { send, senders };
}

/** Creates the senders of a worker. */
export function createAttempts(options: AttemptsOptions): Attempts {
  const { scheduleMs } = options.config;
  const post = createPost(options);

  return {
    async make(delivery, lease, trace) {
      const id = idOf('evt', delivery.event);
      const added = formHeaders(delivery);
      const sent = await post.send(delivery, { id, body: delivery.payload, added, trace, lease });
      return finishedOf(delivery, { ...sent, token: lease.token, scheduleMs });
    },
    async makeBatch(deliveries, lease, trace) {
      const [first] = deliveries;
      const { token } = lease;
      const id = `batch_${token.replaceAll('-', '')}`;
      const body = `[${deliveries.map(({ payload }) => payload).join(',')}]`;
      const added = batchHeaders(first, deliveries.length);
      const { outcome, ...sent } = await post.send(first, {
        id,
        body,
        added,
        trace,
        lease,
        isBatch: true,
      });
      // each delivery has its own attempt in the log
      const kept = deliveries.length === 1 ? outcome : shortened(outcome);
      const common = { ...sent, outcome: kept, token, scheduleMs };
      return deliveries.map((delivery) => finishedOf(delivery, { ...common, isFurther: delivery !== first }));
    },
    findLost(delivery, { token }) {
      const at = timeIn(delivery.lost ?? token);
      const durationMs = Math.round(Math.min(Math.max(options.now() - at, 0), LONGEST_WAIT_MS));
      const outcome = { ...lostBefore(NO_RESULT), durationMs };
      return finishedOf(delivery, { at, requestHeaders: null, outcome, token, scheduleMs });
    },
    abortAll() {
      for (const each of post.senders) each.abortAll();
    },
    async close() {
      await Promise.all(post.senders.map((each) => each.close()));
    },
  };
}

/** The outcome if nothing was sent, or nothing is known. */
const lostBefore = ({ code, message, isUnsent = false }: Failure): Outcome => ({
  ...NOTHING,
  errorCode: code,
  errorMessage: message,
  isUnsent,
});

/** A request to the endpoint of a delivery. */
type Posted = Omit<Unsigned, 'timestamp'> & { readonly lease: Lease };

/** The result of a request. */
interface Exchanged {
  readonly at: number;
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly outcome: Outcome;
}

interface Ending extends Exchanged {
  readonly token: string;
  readonly scheduleMs: readonly number[];
  readonly isFurther?: boolean;
}

function finishedOf(
  delivery: Leased,
  { token, at, requestHeaders, outcome, scheduleMs, isFurther = false }: Ending,
): Finished {
  const { retryAfterSeconds, errorCode } = outcome;
  const succeeded = errorCode === null;
  const retryAfterMs =
    retryAfterSeconds === null ? null : Math.min(retryAfterSeconds * 1000, LONGEST_WAIT_MS);
  const isGone = outcome.responseStatus === 410;
  const isRequested = outcome.instructions.has('disable');
  const lost = errorCode === 'lost';
  const cancelled = !succeeded && !lost && outcome.instructions.has('abort-message');
  const step = delivery.step + 1;
  return {
    delivery,
    outcome,
    retryAfterMs,
    disables: isGone ? 'gone' : isRequested ? 'requested' : null,
    isFurther,
    // listed one by one: spreading `outcome` costs as much as signing
    result: {
      delivery,
      token,
      succeeded,
      lost,
      cancelled,
      retryMs:
        succeeded || isGone || cancelled
          ? null
          : nextDelay(scheduleMs, { step, retryAfterMs, random: Math.random() }),
      startedAt: formatInstant(at),
      durationMs: outcome.durationMs,
      url: delivery.url,
      requestHeaders,
      responseStatus: outcome.responseStatus,
      responseHeaders: outcome.responseHeaders,
      responseBody: outcome.responseBody,
      responseTruncated: outcome.responseTruncated,
      errorCode,
      errorMessage: outcome.errorMessage,
    },
  };
}
