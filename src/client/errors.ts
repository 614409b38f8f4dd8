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

/**
 * There was no complete response: the server is unreachable, or the connection was lost. It is not known whether a
 * write was done: send it again with the same `idempotencyKey`, or read the record.
 */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

/** An invalid id, such as an empty string: it would address another operation, so nothing is sent. */
export class InvalidIdError extends TypeError {
  override name = 'InvalidIdError';
}
