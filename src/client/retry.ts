import { isKeyed } from '../kernel/keyed-methods.ts';
import { ApiError } from './errors.ts';

/** What decides about a repeat. */
export interface Repeatable {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** false: the body can be read once only. */
  readonly repeatable: boolean;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;
// Who asks for more than this is not waited for: the caller decides.
const LONGEST_WAIT_S = 60;

// What a gateway answers when the server behind it gave none.
const GATEWAY_FAILURES = new Set([502, 503, 504]);
const TOO_MANY_REQUESTS = 429;

/**
 * How long to wait before the attempt after this failure, in milliseconds; null when it must not be repeated, so that
 * nothing is done twice:
 * - When nothing has reached the server (no connection was made), or it turned the request away unread (429 with
 *   Retry-After), every request is repeated.
 * - When it may have been done (the connection was lost, no answer came in time, 5xx with Retry-After, a gateway's 502,
 *   503 or 504), GET is repeated, which changes nothing, and so are POST, PUT and PATCH: under their Idempotency-Key the
 *   server does them once and gives the stored answer.
 * - DELETE has no such key. A DELETE again is told that there is no such record. The caller reads it and decides.
 */
export function pauseBefore(failure: unknown, attempt: number, request: Repeatable): number | null {
  if (!request.repeatable || !(isUnread(failure) || (isSafe(request) && isPassing(failure)))) return null;
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS);
  // with jitter, so that clients that failed together do not come back together
  const pause = backoff * (0.5 + Math.random() / 2);
  const asked = failure instanceof ApiError ? (failure.retryAfter ?? 0) : 0;
  return asked > LONGEST_WAIT_S ? null : Math.max(pause, asked * 1000);
}

const isSafe = ({ method }: Repeatable) => method === 'GET' || isKeyed(method);

/** Nothing was done: the request has not been read by a server. */
function isUnread(failure: unknown): boolean {
  if (failure instanceof ApiError) {
    return failure.status === TOO_MANY_REQUESTS && failure.retryAfter !== null;
  }
  return hasNotConnected((failure as Error).cause);
}

/** It may go better the next time. */
function isPassing(failure: unknown): boolean {
  // what is no JSON now will be none then
  if (!(failure instanceof ApiError)) return !((failure as Error).cause instanceof SyntaxError);
  return failure.status >= 500 && (failure.retryAfter !== null || GATEWAY_FAILURES.has(failure.status));
}

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: readonly unknown[];
}

function hasNotConnected(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return false;
  const { code, syscall, errors } = cause as SystemError;
  // of a name with several addresses, each has failed
  if (errors) return errors.length > 0 && errors.every(hasNotConnected);
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}

/** Seconds of a Retry-After header (RFC 9110 section 10.2.3): a number of them, or a date. */
export function retryAfterSeconds(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
