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
   * The Payhook-Reason header: a stable name of the precise cause (docs/errors.md). null if something between client and
   * server responded instead. A newer server may return reasons that are not in the type.
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

/** The details of a call without a complete response. */
interface Lost {
  readonly cause?: unknown;
  readonly outcome?: ConnectionError['outcome'];
  readonly idempotencyKey?: string | null;
}

/**
 * The API sent no complete response: the server is unreachable, the connection was lost, something in between responded in
 * its place, or the server failed when the write may already have been done.
 */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
  /**
   * `unknown`: the write may have been done. Send it again with the same `idempotencyKey`, or read the record. `not_done`:
   * nothing reached the server, or there was nothing to change.
   */
  readonly outcome: 'unknown' | 'not_done';
  /** The idempotency key of the request; null if it had none. Repeating the request with it has no second effect. */
  readonly idempotencyKey: string | null;
  /** The status of the incomplete or foreign response, and its request id. */
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
 * Reasons of Payhook that leave the outcome open: the server failed or lost its database, perhaps during the commit.
 */
const UNSURE: ReadonlySet<string> = new Set(['internal_error', 'database_unavailable']);
/** Responses that the server can send before it looks up the stored response of an idempotency key. */
const UNREAD: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * The error that a call throws after its last attempt: ApiError only if nothing was changed for certain. `mayBeDone`: an
 * earlier attempt may have been carried out.
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
