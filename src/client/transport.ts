import { connectionsTo } from '#connections';
import type { ErrorCode, ReasonName } from '../kernel/errors.ts';
import { isKeyed } from '../kernel/keyed-methods.ts';
import { type Connections, type Target, textOf, type WireResponse } from './connections.ts';
import { ApiError, ConnectionError, finalFailure } from './errors.ts';
import type { OAuth } from './oauth.ts';
import { isUnread, pauseBefore, type Repeatable, retryAfterSeconds } from './retry.ts';
import { bodyOf, isRepeatable, type Upload } from './upload.ts';

/** An API key, or an OAuth access token, within its scopes; or the tokens of an application, which are refreshed (oauth.ts). */
export type Credentials =
  | { readonly apiKey: string; readonly oauth?: undefined }
  | { readonly oauth: Pick<OAuth, 'accessToken'>; readonly apiKey?: undefined };

/** The server of a client and how to use it. */
export type ClientOptions = Target &
  Credentials & {
    /** How many times a request is retried where that is safe. Default 3; 0 = never. */
    readonly retries?: number | undefined;
    /**
     * How long an attempt may go without data from the server, in milliseconds. Default 10 minutes: a payout of a million
     * commissions or a large import takes minutes.
     */
    readonly timeoutMs?: number | undefined;
    /** Identifies the caller, such as `my-shop/1.4`; shown in logs. Leave it out in a browser, which sends its own. */
    readonly userAgent?: string | undefined;
    /** Called before each attempt. It must not throw. */
    readonly onRequest?: ((request: RequestInfo) => void) | undefined;
    /** Called after each attempt, with its response or its failure. It must not throw. */
    readonly onResponse?: ((response: ResponseInfo) => void) | undefined;
  };

/** An attempt, for logs and metrics. */
export interface RequestInfo {
  readonly method: Repeatable['method'];
  /** The path without the query, which may name people. */
  readonly path: string;
  /** 1, and more for retries. */
  readonly attempt: number;
  /** The same in every attempt; null for GET and DELETE. */
  readonly idempotencyKey: string | null;
  /** Resolves when the call is over, after its last attempt. It never rejects. */
  readonly over: Promise<void>;
}

/** How the server answered a call. */
export interface ResponseDetails {
  readonly status: number;
  /** Identifies the request in the log of the server. */
  readonly requestId: string | null;
  /** The server returned the stored response of an earlier request with this idempotency key. */
  readonly replayed: boolean;
}

/** The end of an attempt. */
export interface ResponseInfo extends Omit<RequestInfo, 'over'> {
  /** null if no response arrived. */
  readonly status: number | null;
  readonly requestId: string | null;
  readonly replayed: boolean;
  /** From sending the request to reading the response, in milliseconds. Of a download, to its first byte. */
  readonly durationMs: number;
  /** Why the attempt failed; null if it did not. */
  readonly error: ApiError | ConnectionError | null;
}

/** The result of a call, and how the server answered. */
export interface WithResponse<Result> {
  readonly data: Result;
  readonly response: ResponseDetails;
}

/** Options of a single call. */
export interface CallOptions {
  /**
   * Aborts the call, also between attempts; it throws the signal's reason. The server may still have done the request.
   */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's option. */
  readonly retries?: number | undefined;
  /** Overrides the client's option. */
  readonly timeoutMs?: number | undefined;
}

export interface RequestSpec {
  readonly method: Repeatable['method'];
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** JSON text. */
  readonly json?: string | undefined;
  readonly file?: Upload | undefined;
  /** The media type of the file. */
  readonly fileType?: string | undefined;
  /** For POST, PUT and PATCH; random by default. */
  readonly idempotencyKey?: string | undefined;
  /** The revision that the caller has seen. */
  readonly ifMatch?: number | undefined;
  readonly options: CallOptions;
}

/** A successful response: its headers, and its body, which must be read to the end. */
export type Answer = Omit<WireResponse, 'status'>;

/** Sends requests to one server. */
export interface Transport {
  /** Sends a request and reads the response with `read`; retries both where that is safe (see retry.ts). */
  send<Result>(
    request: RequestSpec,
    read: (answer: Answer) => Result | Promise<Result>,
  ): Promise<WithResponse<Result>>;
  /** Closes the connections. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10 * 60_000;
const RETRIES = 3;

/** Opens a transport; it connects on the first request. Throws TypeError if the URL is invalid. */
export function openTransport(options: ClientOptions): Transport {
  const connections = connectionsTo(options);
  const send: Transport['send'] = (request, read) => {
    const { promise: over, resolve } = deferred();
    return sendRepeating({ connections, options }, { ...request, over }, read).finally(resolve);
  };
  return { send, close: async () => connections.close() };
}

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

interface Server {
  readonly connections: Connections;
  readonly options: ClientOptions;
}

async function sendRepeating<Result>(
  server: Server,
  request: RequestSpec & Pick<RequestInfo, 'over'>,
  read: (answer: Answer) => Result | Promise<Result>,
): Promise<WithResponse<Result>> {
  const { signal, retries = server.options.retries ?? RETRIES } = request.options;
  const headers = headersOf(server.options, request);
  const repeatable = { method: request.method, repeatable: isRepeatable(request.file) };
  const isWrite = request.method !== 'GET';
  let mayBeDone = false;
  let refusedToken: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const token = server.options.apiKey ?? (await server.options.oauth.accessToken(refusedToken));
    const observed = observedAttempt(server.options, { ...request, attempt, headers });
    try {
      const result = await sendOnce(server, request, { ...headers, authorization: `Bearer ${token}` }, read);
      observed(result.response, null);
      return result;
    } catch (error) {
      const failure = failureOf(error, server.connections.base);
      observed({ status: failure.status, requestId: failure.requestId }, failure);
      signal?.throwIfAborted();
      if (server.options.oauth && refusedToken === undefined && isExpired(failure) && repeatable.repeatable) {
        refusedToken = token;
        continue;
      }
      const isOver = attempt > retries + (refusedToken === undefined ? 0 : 1) || server.connections.isClosed;
      const pause = isOver ? null : pauseBefore(failure, attempt, repeatable);
      if (failure instanceof ConnectionError) mayBeDone ||= isWrite && !isUnread(failure);
      if (pause === null) {
        throw finalFailure(failure, {
          isWrite,
          mayBeDone,
          idempotencyKey: headers['idempotency-key'] ?? null,
        });
      }
      // the response of a gateway or a failing server does not show whether the write was done
      mayBeDone ||= isWrite && !isUnread(failure);
      await pauseFor(pause, signal);
    }
  }
}

/** Whether the access token was refused: it has expired earlier than it should, or its grant has ended. */
const isExpired = (failure: Error) => failure instanceof ApiError && failure.status === 401;

/** Reports an attempt to `onRequest`; the returned function reports its end to `onResponse`. */
function observedAttempt(
  { onRequest, onResponse }: ClientOptions,
  about: Pick<RequestInfo, 'method' | 'path' | 'attempt' | 'over'> & {
    readonly headers: Record<string, string>;
  },
) {
  const { method, path, attempt, over, headers } = about;
  const info = { method, path, attempt, idempotencyKey: headers['idempotency-key'] ?? null };
  const startedAt = performance.now();
  onRequest?.({ ...info, over });
  return (
    answer: Pick<ResponseInfo, 'status' | 'requestId'> & { readonly replayed?: boolean },
    error: ResponseInfo['error'],
  ) => {
    const { status, requestId, replayed = false } = answer;
    onResponse?.({
      ...info,
      status,
      requestId,
      replayed,
      durationMs: performance.now() - startedAt,
      error,
    });
  };
}

async function pauseFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = deferred();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener('abort', resolve);
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', resolve);
  signal?.throwIfAborted();
}

/** The headers of every attempt; the idempotency key gives repeated POST, PUT or PATCH requests a single effect. */
function headersOf({ userAgent }: ClientOptions, request: RequestSpec): Record<string, string> {
  const { method, idempotencyKey, ifMatch, json, file, fileType } = request;
  return {
    ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    ...(isKeyed(method) ? { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() } : {}),
    ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(file === undefined || fileType === undefined ? {} : { 'content-type': fileType }),
  };
}

async function sendOnce<Result>(
  { connections, options }: Server,
  request: RequestSpec,
  headers: Record<string, string>,
  read: (answer: Answer) => Result | Promise<Result>,
): Promise<WithResponse<Result>> {
  const { signal, timeoutMs = options.timeoutMs ?? TIMEOUT_MS } = request.options;
  signal?.throwIfAborted();
  const { status, header, body } = await connections.exchange({
    method: request.method,
    path: pathOf(connections.base, request),
    headers,
    body: request.file === undefined ? (request.json ?? null) : bodyOf(request.file),
    timeoutMs,
    signal,
  });
  // the API sends no redirects either
  if (status >= 200 && status < 300) {
    const replayed = header('idempotent-replayed') === 'true';
    const details = { status, requestId: header('payhook-request-id'), replayed };
    return { data: await read({ header, body }), response: details };
  }
  throw refusalOf(status, header, await textOf(body));
}

function pathOf(base: URL, { path, query }: RequestSpec): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) search.set(name, String(value));
  }
  return base.pathname.replace(/\/$/, '') + path + (search.size > 0 ? `?${search}` : '');
}

function refusalOf(status: number, header: (name: string) => string | null, text: string): ApiError {
  const about = {
    status,
    reason: header('payhook-reason') as ReasonName | null,
    requestId: header('payhook-request-id'),
    retryAfter: retryAfterSeconds(header('retry-after')),
  };
  try {
    const { error } = JSON.parse(text) as { error: { code: ErrorCode; message: string } };
    return new ApiError({ ...about, code: error.code, message: error.message });
  } catch {
    // not an error of the API: something between client and server has responded
    const message = `the server answered HTTP ${status} without an error of the API: is the address right?`;
    return new ApiError({ ...about, code: 'internal_error', message });
  }
}

function failureOf(error: unknown, base: URL): ApiError | ConnectionError {
  if (error instanceof ApiError || error instanceof ConnectionError) return error;
  const cause = error as Error & { code?: string; errors?: Error[] };
  const what = cause.message || cause.errors?.[0]?.message || cause.code || 'unknown cause';
  return new ConnectionError(`no answer from ${base.href.replace(/\/$/, '')}: ${what}`, { cause: error });
}
