// The rows of the tables in behaviours.ts and behaviours-of-secrets.ts: a call, the answers of a server that fails on purpose, and the result.

/** A call that a driver makes (test/client/drivers). */
export interface Call {
  readonly verb: string;
  /** The idempotency key of the caller. */
  readonly key?: string;
  readonly ifMatch?: number;
  /** The number of events to publish, and the bytes of the data of each. */
  readonly count?: number;
  readonly bytes?: number;
  readonly retries?: number;
  readonly timeoutMs?: number;
  /** The application; without it, one that no server knows. */
  readonly application?: { readonly id: string; readonly secret: string };
  /** A code of the callback, and the verifier of its authorization request. */
  readonly code?: string;
  readonly verifier?: string;
  /** Seconds until the access token expires. */
  readonly expiresIn?: number;
  readonly body?: string;
  readonly id?: string;
  readonly timestamp?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
}

/** How a driver reports the result. */
export interface Result {
  readonly outcome: 'ok' | 'refused' | 'not_done' | 'unknown' | 'invalid_id' | 'oauth' | 'not_genuine';
  readonly [about: string]: unknown;
}

/** An answer of the server. `cut` closes the connection in the middle of the body, `slow` sends it in pieces. */
export type Answer =
  | 'reset'
  | 'silence'
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
      readonly how?: 'cut' | 'slow';
    };

/** A request as it arrived, in parts that all clients send alike. */
export interface Request {
  readonly method?: string;
  readonly url?: unknown;
  readonly token?: string;
  readonly key?: string;
  readonly ifMatch?: string;
  readonly body?: string;
  /** The number of events in the body. */
  readonly events?: number;
}

export interface Behaviour {
  readonly title: string;
  /** Its client needs Ed25519. */
  readonly needsEd25519?: true;
  /** A function makes the call when it runs, because its signature is of that moment. */
  readonly call: Call | (() => Call);
  /** The last answer repeats. `other` is the address of another host. */
  readonly answers?: readonly Answer[] | ((other: string) => readonly Answer[]);
  readonly result: object;
  /** The requests, in order; without it none arrived. */
  readonly requests?: readonly Request[];
  /** Whether all requests had the same idempotency key, which is not empty. */
  readonly isOneKey?: true;
}

export const json = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  body,
  headers: { 'content-type': 'application/json', ...headers },
});
export const refusal = (status: number, code: string, headers: Readonly<Record<string, string>> = {}) =>
  json(status, { error: { code, message: `it is ${code}` } }, headers);
export const html = (status: number, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  body: '<h1>Gateway</h1>',
  headers: { 'content-type': 'text/html', ...headers },
});
export const pageOf = (ids: readonly number[], next: string | null) =>
  json(200, {
    data: ids.map((id) => ({ id })),
    pagination: { page: 1, limit: 100, total: 3, pages: 2, next },
  });
