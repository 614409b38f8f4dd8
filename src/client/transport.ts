import { randomUUID } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { ApiError, ConnectionError } from './errors.ts';

/** Where a server is: at an address, or behind a unix socket of this machine. */
export type Target = ({ readonly url: string } | { readonly socketPath: string }) & {
  readonly apiKey: string;
};

/** A file to send. */
export interface UploadSource {
  /** Its size; undefined when it is not known before the end. */
  readonly bytes: number | undefined;
  /** Whether `open` gives the same bytes again, so that a failed attempt can be repeated. */
  readonly repeatable: boolean;
  open(): Readable;
  /** Told the bytes sent so far; starts at 0 again when an attempt is repeated. */
  onProgress?(sent: number): void;
}

export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly json?: unknown;
  /** JSON text, sent as it stands: numbers that JavaScript would round arrive unchanged. */
  readonly jsonText?: string;
  readonly file?: UploadSource;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A successful answer: its headers, and its body to be read to the end. */
export interface Answer {
  header(name: string): string | null;
  readonly body: Dispatcher.ResponseData['body'];
}

export interface Transport {
  /** Sends a request; repeats it where that is safe. Throws ApiError or ConnectionError. */
  send(spec: RequestSpec): Promise<Answer>;
  /** Cuts the connections. */
  close(): Promise<void>;
}

// A payout of a million commissions or a large import answers after minutes, not seconds.
const ANSWER_MS = 10 * 60_000;
const CONNECT_MS = 10_000;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** Opens a transport to one server. Nothing is connected before the first request. */
export function openTransport(target: Target): Transport {
  const timeouts = { headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS };
  const connect = {
    timeout: CONNECT_MS,
    ...('socketPath' in target ? { socketPath: target.socketPath } : {}),
  };
  const agent = new Agent({ ...timeouts, connect });
  const base = 'url' in target ? target.url : 'http://localhost';
  return {
    send: (spec) => sendRepeating(agent, base, target.apiKey, spec),
    close: () => agent.destroy(),
  };
}

async function sendRepeating(agent: Agent, base: string, apiKey: string, spec: RequestSpec) {
  const isKeyed = spec.method === 'POST' || spec.method === 'PUT';
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(isKeyed ? { 'idempotency-key': randomUUID() } : {}),
    ...spec.headers,
  };
  // With its key a repeated write has one effect; DELETE and PATCH have no key and are sent once.
  const isSafe = (isKeyed || spec.method === 'GET') && (spec.file?.repeatable ?? true);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce(agent, base, headers, spec);
    } catch (error) {
      const pause = pauseAfter(error, attempt);
      if (!isSafe || attempt === ATTEMPTS || pause === null) throw asClientError(error, base);
      await delay(pause);
    }
  }
}

/** A refusal with the pause the server asked for, in seconds. */
class Refused extends Error {
  readonly refusal: ApiError;
  readonly retryAfter: number | null;

  constructor(refusal: ApiError, retryAfter: number | null) {
    super(refusal.message);
    this.refusal = refusal;
    this.retryAfter = retryAfter;
  }
}

function pauseAfter(error: unknown, attempt: number): number | null {
  const backoff = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  if (!(error instanceof Refused)) return backoff;
  if (error.refusal.status < 500 || error.retryAfter === null) return null;
  return Math.min(error.retryAfter * 1000, LONGEST_PAUSE_MS);
}

async function sendOnce(agent: Agent, base: string, headers: Record<string, string>, spec: RequestSpec) {
  const { body, contentHeaders } = contentOf(spec);
  const response = await agent.request({
    origin: new URL(base).origin,
    path: pathOf(base, spec),
    method: spec.method,
    headers: { ...headers, ...contentHeaders },
    body,
  });
  const header = (name: string) => {
    const value = response.headers[name];
    return (Array.isArray(value) ? value[0] : value) ?? null;
  };
  if (response.statusCode < 400) return { header, body: response.body };
  const refusal = refusalOf(response.statusCode, header, await response.body.text());
  throw new Refused(refusal, secondsOf(header('retry-after')));
}

function pathOf(base: string, { path, query }: RequestSpec): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, value);
  const prefix = new URL(base).pathname.replace(/\/$/, '');
  return prefix + path + (search.size > 0 ? `?${search}` : '');
}

function contentOf({ json, jsonText, file }: RequestSpec) {
  if (file) {
    const length = file.bytes === undefined ? {} : { 'content-length': String(file.bytes) };
    return { body: counted(file), contentHeaders: { 'content-type': 'text/csv', ...length } };
  }
  const body = jsonText ?? (json === undefined ? null : JSON.stringify(json));
  return { body, contentHeaders: body === null ? {} : { 'content-type': 'application/json' } };
}

function counted(file: UploadSource): Readable {
  let sent = 0;
  file.onProgress?.(0);
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      file.onProgress?.(sent);
      done(null, chunk);
    },
  });
  const source = file.open();
  source.once('error', (error) => counter.destroy(error));
  counter.once('close', () => source.destroy());
  return source.pipe(counter);
}

function refusalOf(status: number, header: (name: string) => string | null, text: string): ApiError {
  const about = { status, reason: header('payhook-reason'), requestId: header('payhook-request-id') };
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new ApiError({ ...about, code: error.code, message: error.message });
  } catch {
    // Not our envelope: something between us and the server has answered.
    const message = `the server answered HTTP ${status} without an error of the API: is the address right?`;
    return new ApiError({ ...about, code: 'internal_error', message });
  }
}

function secondsOf(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;
}

function asClientError(error: unknown, base: string): Error {
  if (error instanceof Refused) return error.refusal;
  const cause = error as Error & { code?: string; errors?: Error[] };
  const what = cause.message || cause.errors?.[0]?.message || cause.code || 'unknown cause';
  return new ConnectionError(`no answer from ${base}: ${what}`, { cause: error });
}
