import type { ErrorCode, ReasonName } from '../kernel/errors.ts';

/** The details of an error response. */
interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly reason: ReasonName | null;
  readonly message: string;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
}

/** The API refused the request, and nothing was changed. Branch on `reason`, show `message` to people. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  /** One of the six codes of the API. */
  readonly code: ErrorCode;
  /**
   * The Payhook-Reason header: a stable name of the precise cause (docs/errors.md). null when something between client
   * and server has responded. A newer server may return reasons that are not in the type.
   */
  readonly reason: ReasonName | null;
  /** Identifies the request in the server's log. */
  readonly requestId: string | null;
  /** Seconds after which the server asked to retry. */
  readonly retryAfter: number | null;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.reason = refusal.reason;
    this.requestId = refusal.requestId;
    this.retryAfter = refusal.retryAfter;
  }
}

/** What is known of a call without a complete response. */
interface Lost {
  readonly cause?: unknown;
  readonly outcome?: ConnectionError['outcome'];
  readonly idempotencyKey?: string | null;
}

/**
 * There was no complete response of the API: the server is unreachable, the connection was lost, something in between
 * responded in its place, or the server failed at a moment when the write may have been done.
 */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
  /**
   * `unknown`: a write may have been done: send it again with the same `idempotencyKey`, or read the record. `not_done`:
   * nothing reached the server, or there was nothing to change.
   */
  readonly outcome: 'unknown' | 'not_done';
  /** The key that the request was sent with; null when it had none. With it a repeated request is the same one. */
  readonly idempotencyKey: string | null;
  /** The status and the request id of what did respond. */
  readonly status: number | null;
  readonly requestId: string | null;

  constructor(message: string, { cause, outcome = 'unknown', idempotencyKey = null }: Lost = {}) {
    super(message, { cause });
    this.outcome = outcome;
    this.idempotencyKey = idempotencyKey;
    this.status = cause instanceof ApiError ? cause.status : null;
    this.requestId = cause instanceof ApiError ? cause.requestId : null;
  }
}

/**
 * Our own reasons that say nothing of the outcome: the server failed, or lost its database, perhaps while it committed.
 */
const UNSURE: ReadonlySet<string> = new Set(['internal_error', 'database_unavailable']);
/** Responses that can come before the server looks for what was stored for an idempotency key. */
const UNREAD: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * What a call throws that failed for good: ApiError only where it is known that nothing was changed. `mayBeDone` says
 * that an attempt before may have been carried out.
 */
export function finalFailure(
  failure: ApiError | ConnectionError,
  call: { readonly isWrite: boolean; readonly idempotencyKey: string | null; readonly mayBeDone: boolean },
): Error {
  const { isWrite, idempotencyKey, mayBeDone } = call;
  if (failure instanceof ApiError) {
    const { status, reason } = failure;
    const isOurs = reason !== null && !(isWrite && UNSURE.has(reason));
    const isRefusal = status < 500 ? !(mayBeDone && UNREAD.has(status)) : isOurs && !mayBeDone;
    if (isRefusal) return failure;
  }
  const isUnknown = isWrite && (failure instanceof ApiError || mayBeDone);
  return new ConnectionError(
    isUnknown ? `${failure.message}; it is not known whether the request was carried out` : failure.message,
    {
      cause: failure instanceof ApiError ? failure : failure.cause,
      outcome: isUnknown ? 'unknown' : 'not_done',
      idempotencyKey,
    },
  );
}

/** An invalid id, such as an empty string: it would address another operation, so nothing is sent. */
export class InvalidIdError extends TypeError {
  override name = 'InvalidIdError';
}
