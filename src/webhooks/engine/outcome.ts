import { closeSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Why an attempt failed; stored with the attempt as `error_code`. */
export type AttemptError =
  | 'dns_error'
  | 'connection_refused'
  | 'connection_reset'
  | 'timeout'
  | 'tls_error'
  | 'certificate_refused'
  | 'redirect'
  | 'response_error'
  | 'address_blocked'
  | 'body_too_slow'
  | 'proxy_unreachable'
  | 'proxy_unauthorized'
  | 'proxy_refused'
  | 'proxy_timeout'
  | 'token_unreachable'
  | 'token_refused'
  | 'token_invalid'
  | 'token_timeout'
  | 'lost'
  | 'network_error';

/**
 * What a response may ask for in its header `webhook-delivery` (Svix, "Delivery control"): no further attempts of this
 * event, or nothing more at all.
 */
type Instruction = 'abort-message' | 'disable';

/** The result of one exchange with a receiver. A failure is data, never an exception. */
export interface Outcome {
  /** Whole milliseconds. */
  readonly durationMs: number;
  /** null = the response's headers never arrived; then `responseHeaders` and `responseBody` are null too. */
  readonly responseStatus: number | null;
  /** Lower-case names, repeated ones joined by `, `; the first 16 KiB. */
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The first 16 KiB, as UTF-8 without NUL; invalid bytes become U+FFFD. */
  readonly responseBody: string | null;
  /** The body is longer than `responseBody`, or incomplete. */
  readonly responseTruncated: boolean;
  /** null = success: the head of a 2xx arrived. */
  readonly errorCode: AttemptError | null;
  /** For people, without addresses; null exactly when `errorCode` is. */
  readonly errorMessage: string | null;
  /** Seconds that the receiver asks to wait (`Retry-After`), at most a year; null = none. */
  readonly retryAfterSeconds: number | null;
  /** What the receiver asks for in `webhook-delivery`. */
  readonly instructions: ReadonlySet<Instruction>;
  /** What this machine lacked to make the attempt, such as EMFILE, so that nothing was sent; null = nothing. */
  readonly lack: string | null;
  /** Sending was no longer permitted, so nothing was sent. */
  readonly isUnsent: boolean;
}

/** The part of a response that is kept. */
export const HEADERS_CAP = 16_384;
export const BODY_CAP = 16_384;
const LONGEST_PAUSE_S = 365 * 86_400;

/** The message of each error, without addresses. */
export const MEANINGS: Readonly<Record<AttemptError, string>> = {
  dns_error: 'the host name could not be resolved',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was closed before the response was complete',
  timeout: 'no response within the time limit',
  tls_error: 'a trusted TLS connection could not be made',
  certificate_refused: 'the receiver refused the client certificate',
  redirect: 'redirects are not followed',
  response_error: 'the response is not valid HTTP',
  address_blocked: 'the address of the receiver is not allowed',
  body_too_slow: 'the response was not complete within the time limit',
  proxy_unreachable: 'the proxy could not be reached',
  proxy_unauthorized: 'the proxy requires another user or password',
  proxy_refused: 'the proxy did not connect to the receiver',
  proxy_timeout: 'the proxy did not connect within its time limit',
  token_unreachable: 'the token endpoint could not be reached',
  token_refused: 'the token endpoint gave no access token',
  token_invalid: 'the response of the token endpoint has no usable access token',
  token_timeout: 'the token endpoint did not respond within its time limit',
  lost: 'the attempt was aborted',
  network_error: 'the receiver could not be reached',
};

/** Thrown for an address that must not be connected to. */
export class AddressBlocked extends Error {
  override name = 'AddressBlocked';
}

/** Thrown if the proxy failed: the receiver was not reached. */
export class ProxyFault extends Error {
  override name = 'ProxyFault';
  readonly fault: AttemptError;
  constructor(fault: AttemptError, detail = '') {
    super(`${MEANINGS[fault]}${detail}`);
    this.fault = fault;
  }
}

/** Whether a failure says nothing about the endpoint. */
export const isOfProxy = (code: AttemptError | null): boolean => code?.startsWith('proxy_') ?? false;

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The result of an exchange so far. */
export interface Heard {
  readonly startedAt: number;
  readonly status: number | null;
  readonly headers: ResponseHeaders | null;
  readonly chunks: readonly Buffer[];
  readonly size: number;
  readonly isTruncated: boolean;
}

/** The outcome without any response. */
export const NOTHING: Outcome = {
  durationMs: 0,
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  responseTruncated: false,
  errorCode: null,
  errorMessage: null,
  retryAfterSeconds: null,
  instructions: new Set(),
  lack: null,
  isUnsent: false,
};

/** Why an exchange failed: a code for programs, a sentence for people. */
export interface Failure {
  readonly code: AttemptError;
  readonly message: string;
  readonly lack?: string;
  readonly isUnsent?: boolean;
}

/** The lease ended before its worker wrote a result. */
export const NO_RESULT: Failure = {
  code: 'lost',
  message:
    'the lease ended before the worker reported a result: it is unknown whether the receiver has the event',
};

/** The lease may have ended, so nothing was sent. */
export const UNSENT: Failure = {
  code: 'lost',
  message: 'nothing was sent: the lease may have ended',
  isUnsent: true,
};

// From the system's lookup and from name servers. `ETIMEOUT` comes from a name server, `ETIMEDOUT` from a connection.
const DNS_CODES =
  /^(ENOTFOUND|ENODATA|ESERVFAIL|EFORMERR|ENOTIMP|EREFUSED|EBADQUERY|EBADNAME|EBADRESP|ETIMEOUT|EAI_\w+)$/;
// Lacking files, memory or buffers of this machine: not the receiver's fault.
const LACKS = /^(EMFILE|ENFILE|ENOMEM|ENOBUFS|EAI_MEMORY)$/;

/** Maps error codes of Node, its TLS and DNS, and undici to those of the log. The first matching pattern applies. */
const CODES: readonly (readonly [RegExp, AttemptError])[] = [
  [DNS_CODES, 'dns_error'],
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/, 'connection_reset'],
  [/^(ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/, 'timeout'],
  // alerts about a certificate (RFC 8446 section 6.2) can only concern ours
  [
    /^ERR_SSL_.*_ALERT_((BAD|UNSUPPORTED|NO)_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)$/,
    'certificate_refused',
  ],
  // undici asserts the format of a status
  [/^(UND_ERR_HEADERS_OVERFLOW|ERR_ASSERTION)$/, 'response_error'],
  [
    /^(ERR_(TLS|SSL|OSSL)_|EPROTO$)|CERT|SIGNATURE|ISSUER|CRL|HOSTNAME|PATH_LENGTH|INVALID_(CA|PURPOSE)/,
    'tls_error',
  ],
];

/** Alerts with more detail than that the certificate was refused. */
const ALERTS: readonly (readonly [RegExp, string])[] = [
  [/_ALERT_(CERTIFICATE_REQUIRED|NO_CERTIFICATE)$/, 'the receiver requires a client certificate'],
  [/_ALERT_UNKNOWN_CA$/, 'the receiver does not know the authority of the client certificate'],
  [/_ALERT_CERTIFICATE_EXPIRED$/, 'the receiver says that the client certificate has expired'],
  [/_ALERT_CERTIFICATE_REVOKED$/, 'the receiver says that the client certificate was revoked'],
];

/** Whether an error is a TLS alert, which the other side sent before it closed the connection. */
export const isAlert = (error: Error): boolean =>
  /^ERR_SSL_.*_ALERT_/.test((error as NodeJS.ErrnoException).code ?? '');

/** Maps an error of Node, undici or our own to a failure. */
export function failureOf(error: Error, hasHeaders: boolean): Failure {
  if (error instanceof AddressBlocked) return { code: 'address_blocked', message: MEANINGS.address_blocked };
  if (error instanceof ProxyFault) return { code: error.fault, message: error.message };
  if (error instanceof AggregateError) return failureOfAll(error);
  const found = (error as NodeJS.ErrnoException).code ?? '';
  if (LACKS.test(found)) return lackOf(found);
  const code =
    failureOfParser(error, found, hasHeaders) ??
    CODES.find(([pattern]) => pattern.test(found))?.[1] ??
    'network_error';
  // a resolver that cannot open files reports that the name does not exist
  const lack = code === 'dns_error' ? lackOfFiles() : null;
  if (lack !== null) return lackOf(lack);
  if (found === 'ERR_ASSERTION') return { code, message: MEANINGS[code] };
  const meaning = ALERTS.find(([pattern]) => pattern.test(found))?.[1] ?? MEANINGS[code];
  return { code, message: found === '' ? meaning : `${meaning} (${found})` };
}

function lackOf(lack: string): Failure {
  return { code: 'lost', message: `this server could not open a connection (${lack})`, lack };
}

/** EMFILE or ENFILE if no file can be opened now, or null. */
function lackOfFiles(): string | null {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return null;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return LACKS.test(code) ? code : null;
  }
}

/** undici uses one code both for a connection that ended early and for bytes that cannot be a response. */
function failureOfParser({ name, message }: Error, code: string, hasHeaders: boolean): AttemptError | null {
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH')
    return hasHeaders ? 'connection_reset' : 'response_error';
  if (name === 'HTTPParserError') return message.includes('EOF') ? 'connection_reset' : 'response_error';
  return code === 'UND_ERR_SOCKET' && message.startsWith('bad ') ? 'response_error' : null;
}

/** If several addresses failed, the most informative error: a response before a timeout, a timeout before no route. */
function failureOfAll(error: AggregateError): Failure {
  const failures = (error.errors as Error[]).map((each) => failureOf(each, false));
  const lacking = failures.find(({ lack }) => lack !== undefined);
  if (lacking) return lacking;
  const rank = ({ code }: Failure) => ['network_error', 'timeout'].indexOf(code);
  const [first] = failures.sort((one, other) => rank(one) - rank(other));
  return first ?? { code: 'network_error', message: MEANINGS.network_error };
}

/** How an outcome is evaluated. */
interface Judging {
  /** Milliseconds since 1970. */
  readonly clock: (() => number) | undefined;
  /** Treats a 2xx with an incomplete body as a failure. */
  readonly needsBody: boolean;
}

const isSuccess = (status: number) => status >= 200 && status < 300;
/** Statuses without a body, whatever length they state (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * The outcome of an exchange that ended by itself or by `failure`. The head of a 2xx acknowledges the event: whatever
 * happens to the body, sending the event again would only duplicate it.
 */
export function outcomeOf(exchange: Heard, failure: Failure | null, { clock, needsBody }: Judging): Outcome {
  const { startedAt, status, headers, isTruncated } = exchange;
  const durationMs = Math.round(performance.now() - startedAt);
  if (status === null || headers === null) {
    return {
      ...NOTHING,
      durationMs,
      errorCode: failure?.code ?? null,
      errorMessage: failure?.message ?? null,
      lack: failure?.lack ?? null,
      isUnsent: failure?.isUnsent ?? false,
    };
  }
  const isWhole = failure === null && !isTruncated;
  const { text, isCut } = bodyText(exchange, isWhole);
  const counted = isSuccess(status) && !needsBody ? null : failure;
  const { code, message } = counted ?? failureOfStatus(status) ?? { code: null, message: null };
  return {
    durationMs,
    responseStatus: status,
    responseHeaders: keptHeaders(headers),
    responseBody: text,
    responseTruncated: isTruncated || isCut || (failure !== null && !WITHOUT_BODY.has(status)),
    errorCode: code,
    errorMessage: message,
    retryAfterSeconds: secondsOf(headers['retry-after'], headers.date, clock),
    instructions: instructionsOf(headers['webhook-delivery']),
    lack: null,
    isUnsent: false,
  };
}

/** The known words of `webhook-delivery`, separated by commas. */
function instructionsOf(value: string | string[] | undefined): ReadonlySet<Instruction> {
  if (value === undefined) return NOTHING.instructions;
  const words = String(value)
    .split(',')
    .map((word) => word.trim().toLowerCase());
  return new Set((['abort-message', 'disable'] as const).filter((word) => words.includes(word)));
}

function failureOfStatus(status: number): Failure | null {
  if (isSuccess(status)) return null;
  if (status >= 300 && status < 400)
    return { code: 'redirect', message: `HTTP ${status}: ${MEANINGS.redirect}` };
  return { code: 'response_error', message: `HTTP ${status}` };
}

function bodyText({ chunks, size }: Heard, isWhole: boolean): { text: string; isCut: boolean } {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
  const text = withoutNul(isWhole ? bytes.toString() : wholeCharacters(bytes));
  // U+FFFD may be longer than the bytes it replaces
  if (size * 3 <= BODY_CAP || Buffer.byteLength(text) <= BODY_CAP) return { text, isCut: false };
  return { text: wholeCharacters(Buffer.from(text).subarray(0, BODY_CAP)), isCut: true };
}

/** UTF-8 without a truncated character at the end. */
function wholeCharacters(bytes: Buffer): string {
  return new StringDecoder('utf8').write(bytes);
}

// PostgreSQL text cannot contain NUL.
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u{FFFD}') : text;
}

function keptHeaders(headers: ResponseHeaders): Record<string, string> {
  // A receiver may name a header `__proto__`.
  const kept: Record<string, string> = Object.create(null);
  let room = HEADERS_CAP;
  for (const [name, values = ''] of Object.entries(headers)) {
    const value = headerText(typeof values === 'string' ? values : values.join(', '));
    room -= name.length + Buffer.byteLength(value);
    if (room < 0) break;
    kept[name] = value;
  }
  return kept;
}

/** undici returns each byte of a header as one character. */
function headerText(value: string): string {
  return withoutNul(/[^\t -~]/.test(value) ? Buffer.from(value, 'latin1').toString() : value);
}

const SHORT_DATE = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const LONG_DATE = /^\w{6,9}, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Milliseconds since 1970 of a date in one of the three forms of RFC 9110 section 5.6.7, or null. */
function httpDate(text: unknown): number | null {
  if (typeof text !== 'string') return null;
  const isGmt = SHORT_DATE.test(text) || LONG_DATE.test(text);
  if (!isGmt && !ASCTIME.test(text)) return null;
  const ms = Date.parse(isGmt ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : ms;
}

/** The seconds of a Retry-After (RFC 9110 section 10.2.3): a number, or a date compared with the receiver's clock. */
function secondsOf(value: unknown, date: unknown, clock: (() => number) | undefined): number | null {
  if (typeof value !== 'string') return null;
  if (/^\d+$/.test(value)) return Math.min(Number(value), LONGEST_PAUSE_S);
  const until = httpDate(value);
  const now = httpDate(date) ?? clock?.() ?? null;
  if (until === null || now === null) return null;
  return Math.min(Math.max(Math.ceil((until - now) / 1000), 0), LONGEST_PAUSE_S);
}

/** The part of a response that is kept when each delivery of a batch has a copy. */
const SHARED_CAP = 1024;

/** The outcome with a truncated response body. */
export function shortened(outcome: Outcome): Outcome {
  const { responseHeaders, responseBody, responseTruncated } = outcome;
  let left = SHARED_CAP;
  const headers = Object.entries(responseHeaders ?? {}).filter(([name, value]) => {
    left -= name.length + value.length;
    return left >= 0;
  });
  // the cut may split a surrogate pair
  const body = responseBody === null ? null : responseBody.slice(0, SHARED_CAP).toWellFormed();
  return {
    ...outcome,
    responseHeaders: responseHeaders && Object.fromEntries(headers),
    responseBody: body,
    responseTruncated: responseTruncated || (responseBody?.length ?? 0) > SHARED_CAP,
  };
}
