import type { ClaimedEvent, PayhookEvent } from './api.ts';
import { ApiError } from './errors.ts';
import type { resourcesOf } from './resources.ts';

/** How `consumeEvents` claims. */
export interface ConsumeOptions {
  /** Ends the loop, after the events in progress have been acknowledged. */
  readonly signal?: AbortSignal | undefined;
  /** The most events that are handled at once, from 1 to 100; by default 10. */
  readonly limit?: number | undefined;
  /** The seconds of a lease, from 1 to 3600, which is extended while the handler works; by default 60. */
  readonly leaseSeconds?: number | undefined;
  /** A name of yours for who claims, shown in the log. */
  readonly consumer?: string | undefined;
  /** Called when a request failed that the loop survives: the server is away or fails, or a result was lost. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

const WAIT_S = 20;
/** How long the server may be silent: longer than it waits for an event. */
const SILENCE_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const MOST_ERROR_TEXT = 1000;
const TOO_MANY_REQUESTS = 429;

/**
 * Claims the events of a pull endpoint and calls `handle` for each, with the parsed body and the claim, until `signal` is aborted. An
 * event whose handler returns is acknowledged as delivered. If it throws, the attempt has failed with the message of the error, and the event comes
 * again by the schedule. Events are handled at least once: a handler must recognise an id that it has had.
 *
 * `payhook` is a client with a key of the account or the token of the endpoint. Throws ApiError if the API refuses, such as `resource_missing`
 * or `endpoint_disabled`; while the server is away, stops or fails, it tries again. `Body` is the type of the bodies, as for `verifyWebhook`.
 */
export async function consumeEvents<Body = PayhookEvent>(
  { webhookEndpoints }: Pick<ReturnType<typeof resourcesOf>, 'webhookEndpoints'>,
  endpoint: string,
  handle: (event: Body, claimed: ClaimedEvent) => unknown,
  { signal, limit = 10, leaseSeconds = 60, consumer, onTrouble }: ConsumeOptions = {},
): Promise<void> {
  const body = { limit, lease_seconds: leaseSeconds, wait_seconds: WAIT_S, ...(consumer && { consumer }) };
  // a claim whose answer is lost comes again by the schedule, so it is not repeated
  const options = { signal, retries: 0, timeoutMs: SILENCE_MS };

  async function work(event: ClaimedEvent): Promise<void> {
    const named = { id: event.id, lease_id: event.lease_id };
    const extend = () =>
      webhookEndpoints
        .extend(endpoint, { items: [named], lease_seconds: leaseSeconds })
        .catch((error: unknown) => onTrouble?.(error));
    const extending = setInterval(extend, leaseSeconds * 500);
    const result = await Promise.resolve()
      .then(() => handle(JSON.parse(event.body), event))
      .then(() => ({ status: 'delivered' as const }), failureOf)
      .finally(() => clearInterval(extending));
    // without the signal: what was done is acknowledged
    await webhookEndpoints.acknowledge(endpoint, { items: [{ ...named, ...result }] });
  }

  let pauseMs = FIRST_PAUSE_MS;
  while (!signal?.aborted) {
    try {
      const { items } = await webhookEndpoints.claim(endpoint, body, options);
      const ended = await Promise.allSettled(items.map(work));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
      pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof ApiError && isLasting(error)) throw error;
      onTrouble?.(error);
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}

/** Whether another request would be refused as well. A server that stops, or whose disk is full, recovers. */
const isLasting = ({ status }: ApiError) => status < 500 && status !== TOO_MANY_REQUESTS;

function failureOf(error: unknown): { status: 'failed'; error: string } {
  const text = String((error as Error | null | undefined)?.message ?? error);
  return { status: 'failed', error: text.slice(0, MOST_ERROR_TEXT).trim() || 'the handler failed' };
}

/** Waits, or until the signal is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
