/** What a response says of a refusal. */
interface Refusal {
  readonly status: number;
  /** One of the six codes of the interface. */
  readonly code: string;
  /** The Payhook-Reason header: a stable word for the precise cause. */
  readonly reason: string | null;
  readonly message: string;
  readonly requestId: string | null;
}

/** The API answered and refused. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly reason: string | null;
  readonly requestId: string | null;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.reason = refusal.reason;
    this.requestId = refusal.requestId;
  }
}

/** No whole answer came: the server is not there, or the connection was lost on the way. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}
