import type { ErrorCode, ReasonName } from '../kernel/errors.ts';

/** What a response says of a refusal. */
interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly reason: ReasonName | null;
  readonly message: string;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
}

/** The API answered and refused: nothing was changed. Branch on `reason`, show `message` to people. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  /** One of the six codes of the interface. */
  readonly code: ErrorCode;
  /**
   * The Payhook-Reason header: a stable word for the precise cause (docs/errors.md). null when something between here
   * and the server has answered; a newer server may know words that are not in the type.
   */
  readonly reason: ReasonName | null;
  /** Finds the request in the log of the server. */
  readonly requestId: string | null;
  /** Seconds after which the server asked to be tried again. */
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
 * No whole answer came: the server is not there, or the connection was lost on the way. Whether a write was done is not
 * known: send it again with the same `idempotencyKey`, or read the record.
 */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

/** An id that is none, such as an empty text: it would lead to another operation, so nothing is sent. */
export class InvalidIdError extends TypeError {
  override name = 'InvalidIdError';
}
