import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { checkAgainstDescription } from './description.ts';

/** A response with its whole body. `body` is the parsed JSON, undefined for other types. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The Payhook-Reason of a refusal. */
  readonly reason: string | null;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface RequestOptions {
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client that uses only HTTP. Every response is checked against the OpenAPI description, unless `check` is false. */
export interface Api {
  readonly url: string;
  readonly key: string;
  get(path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a CSV file. */
  upload(path: string, csv: string | Uint8Array, headers?: Record<string, string>): Promise<Answer>;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

/**
 * Idle connections are closed long before the server would close them (72 s). Otherwise a process that was busy with
 * another file sends a request on a connection that the server has just closed.
 */
const agent = new Agent({ keepAlive: true, timeout: 10_000 });

/** Sends a request with node:http, which needs a third of the processor time of `fetch`. */
function exchange(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: string | Uint8Array,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    const sized =
      body === undefined && /^(GET|HEAD|DELETE)$/.test(method) ? {} : { 'content-length': length };
    sendRequest(url, { agent, method, headers: { ...sized, ...headers } }, resolve)
      .on('error', reject)
      .end(body);
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

export function apiOf(url: string, key: string, check = checkAgainstDescription): Api {
  const request = async (
    method: string,
    path: string,
    { body, headers = {} }: RequestOptions = {},
  ): Promise<Answer> => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const given = {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(body !== undefined && !raw ? { 'content-type': 'application/json' } : {}),
      ...headers,
    };
    const sent = body === undefined || raw ? body : JSON.stringify(body);
    const response = await exchange(method, new URL(url + path), given, sent);
    const text = await textOf(response);
    const received = headersOf(response);
    const isJson = received.get('content-type')?.startsWith('application/json') ?? false;
    const answer = {
      status: response.statusCode ?? 0,
      headers: received,
      reason: received.get('payhook-reason'),
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
    check(method, path, answer);
    return answer;
  };
  return {
    url,
    key,
    request,
    get: (path, options) => request('GET', path, options),
    post: (path, body, headers) => request('POST', path, { body, ...(headers ? { headers } : {}) }),
    put: (path, body, headers) => request('PUT', path, { body, ...(headers ? { headers } : {}) }),
    patch: (path, body, headers) => request('PATCH', path, { body, ...(headers ? { headers } : {}) }),
    delete: (path, headers) => request('DELETE', path, headers ? { headers } : {}),
    upload: (path, csv, headers) =>
      request('POST', path, { body: csv, headers: { 'content-type': 'text/csv', ...headers } }),
  };
}
