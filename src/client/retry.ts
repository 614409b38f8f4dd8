import { isKeyed } from '../kernel/keyed-methods.ts';
import { ApiError } from './errors.ts';

/** The properties that decide whether a request may be repeated. */
export interface Repeatable {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** false: the body can be read only once. */
  readonly repeatable: boolean;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;
// For a longer Retry-After the call fails, and the caller decides.
const LONGEST_WAIT_S = 60;

// A gateway's responses when it got none from the server.
const GATEWAY_FAILURES = new Set([502, 503, 504]);
const TOO_MANY_REQUESTS = 429;

/**
 * How long to wait before retrying after this failure, in milliseconds; null if the request must not be retried, because
 * it could be done twice:
 * - If nothing reached the server (no connection was made), or it rejected the request unread (429 with Retry-After),
 *   every request is retried.
 * - If the request may have been done (connection lost, timeout, 5xx with Retry-After, a gateway's 502, 503 or 504),
 *   GET is retried, which changes nothing, and so are POST, PUT and PATCH: with their Idempotency-Key the server does
 *   them once and returns the stored response.
 * - DELETE has no such key: a second one would report that the record does not exist. The caller decides.
 */
export function pauseBefore(failure: unknown, attempt: number, request: Repeatable): number | null {
  if (!request.repeatable || !(isUnread(failure) || (isSafe(request) && isPassing(failure)))) return null;
  const backoff = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_BACKOFF_MS);
  // jitter, so that clients that failed together do not retry together
  const pause = backoff * (0.5 + Math.random() / 2);
  const requested = failure instanceof ApiError ? (failure.retryAfter ?? 0) : 0;
  return requested > LONGEST_WAIT_S ? null : Math.max(pause, requested * 1000);
}

const isSafe = ({ method }: Repeatable) => method === 'GET' || isKeyed(method);

/** Whether no server has processed the request. */
export function isUnread(failure: unknown): boolean {
  if (failure instanceof ApiError) {
    return failure.status === TOO_MANY_REQUESTS && failure.retryAfter !== null;
  }
  return hasNotConnected((failure as Error).cause);
}

/** Whether a retry may succeed. */
function isPassing(failure: unknown): boolean {
  // an invalid JSON response would be invalid again
  if (!(failure instanceof ApiError)) return !((failure as Error).cause instanceof SyntaxError);
  return failure.status >= 500 && (failure.retryAfter !== null || GATEWAY_FAILURES.has(failure.status));
}

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: readonly unknown[];
}

/** Whether an error of the network says that no connection was made. */
export function hasNotConnected(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return false;
  const { code, syscall, errors } = cause as SystemError;
  // a name with several addresses: all of them failed
  if (errors) return errors.length > 0 && errors.every(hasNotConnected);
  // the last is the error of `fetch` in Node
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
}

/** Seconds of a Retry-After header (RFC 9110 section 10.2.3), which is a number of seconds or a date. */
export function retryAfterSeconds(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
