import { hostname } from 'node:os';
import { type AddressRules, PUBLIC_ONLY } from '../../kernel/addresses.ts';
import type { DeliveryConfig } from '../../kernel/config.ts';
import { idOf } from '../../kernel/ids.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { TraceContext } from '../../kernel/trace.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { formHeaders } from '../forms/forms.ts';
import { sendAuthorized } from './authorized.ts';
import { createKeyring } from './keyring.ts';
import type { Outcome } from './outcome.ts';
import { nextDelay } from './schedule.ts';
import { createSender } from './send.ts';
import type { Result } from './settle.ts';
import { createTokens } from './tokens.ts';
import { serverProxy } from './ways.ts';

/** An attempt that has ended: the result to write, and what it says about its endpoint. */
export interface Finished {
  readonly delivery: Leased;
  readonly outcome: Outcome;
  readonly result: Result;
  readonly retryAfterMs: number | null;
  /** The receiver answered 410. */
  readonly isGone: boolean;
}

export interface AttemptsOptions {
  readonly vault: Vault;
  readonly addresses: AddressRules;
  /** For endpoints that the operator of this machine allowed on its loopback. */
  readonly localAddresses: AddressRules;
  readonly config: DeliveryConfig;
  /** Milliseconds since 1970 by the database's clock. */
  now(): number;
}

/** Makes attempts: signs, sends, and returns the result. */
export interface Attempts {
  /** `trace` is sent along. Never rejects because of a receiver. The outcome has a `lack` when nothing could be sent. */
  make(delivery: Leased, token: string, trace: TraceContext | null): Promise<Finished>;
  /** Aborts what is in flight; it ends as `lost`. */
  abortAll(): void;
  close(): Promise<void>;
}

const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/** Creates what a worker sends with. */
export function createAttempts({ vault, addresses, localAddresses, config, now }: AttemptsOptions): Attempts {
  const { timeoutMs } = config;
  const senderFor = (rules: AddressRules, ofServer = serverProxy(config), limitMs = timeoutMs) =>
    createSender({
      proxies: { addresses, ofServer },
      addresses: rules,
      timeoutMs: limitMs,
      // the lane limits an endpoint; endpoints of many merchants may share an origin
      connectionsPerOrigin: config.concurrency,
      clock: now,
    });
  const sender = senderFor(addresses);
  // a sender of its own, so that no other endpoint reuses a kept connection to the loopback
  const localSender = senderFor(localAddresses, null);
  // likewise none to a network that the operator allowed
  const publicSender = senderFor(PUBLIC_ONLY);
  // to token endpoints: their proxies have less time too
  const tokenSender = senderFor(addresses, undefined, timeoutMs / 2);
  const senders = [sender, localSender, publicSender, tokenSender];
  const getToken = createTokens(tokenSender);
  const keyring = createKeyring(vault);

  return {
    async make(delivery, token, trace) {
      const at = now();
      const id = idOf('evt', delivery.event);
      const timestamp = Math.floor(at / 1000);
      const { signers, companions, headers, shown, way, credentials } = keyring.open(delivery);
      const own: Record<string, string> = {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Payhook/2.0 (webhooks)',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
      };
      if (delivery.payloadForm !== null) Object.assign(own, formHeaders(delivery.payloadForm));
      if (headers?.traceparent === undefined) Object.assign(own, traceHeaders(trace, headers));
      const message = { id, timestamp, body: delivery.payload, url: delivery.url };
      for (const signer of signers) own[signer.header] = signer.valueOf(message);
      const further = companions?.(message);
      // the loopback of another machine is a different computer
      const isLocal = delivery.localMachine !== null && delivery.localMachine === hostname() && !way?.proxy;
      const chosen = isLocal ? localSender : delivery.isPublicOnly ? publicSender : sender;
      const request = {
        url: delivery.url,
        headers: further || headers ? { ...further, ...headers, ...own } : own,
        body: delivery.payload,
        way,
      };
      const outcome = credentials
        ? await sendAuthorized(request, { sender: chosen, getToken, credentials, timeoutMs })
        : await chosen.send(request);
      const requestHeaders = further || shown ? { ...further, ...shown, ...own } : own;
      return finishedOf(delivery, { token, at, requestHeaders, outcome, scheduleMs: config.scheduleMs });
    },
    abortAll() {
      for (const each of senders) each.abortAll();
    },
    async close() {
      await Promise.all(senders.map((each) => each.close()));
    },
  };
}

/** The headers of a trace; a `tracestate` of the endpoint's own stays. */
function traceHeaders(
  trace: TraceContext | null,
  headers: Readonly<Record<string, string>> | null | undefined,
): Record<string, string> {
  if (trace === null) return {};
  const { parent: traceparent, state } = trace;
  return state === null || headers?.tracestate !== undefined
    ? { traceparent }
    : { traceparent, tracestate: state };
}

function finishedOf(
  delivery: Leased,
  {
    token,
    at,
    requestHeaders,
    outcome,
    scheduleMs,
  }: {
    token: string;
    at: number;
    requestHeaders: Readonly<Record<string, string>>;
    outcome: Outcome;
    scheduleMs: readonly number[];
  },
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
    // listed one by one: spreading `outcome` costs as much as signing
    result: {
      delivery,
      token,
      succeeded,
      released: errorCode === 'lost',
      retryMs:
        succeeded || isGone ? null : nextDelay(scheduleMs, { step, retryAfterMs, random: Math.random() }),
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
