import type { Event, PayhookEvent } from './api.ts';
import { base64, bytesOf, utf8 } from './bytes.ts';

export type { PayhookEvent } from './api.ts';

/** An event that you publish yourself: `EventOf<'order.created', { order_id: string }>`. */
export interface EventOf<Type extends string, Data extends object> extends Omit<Event, 'type' | 'data'> {
  readonly type: Type;
  readonly data: Data;
}

/** A body that an endpoint can get. */
type WebhookBody = EventOf<string, object> | ThinEvent | CloudEvent;

/** The body at an endpoint with `payload: thin`: the event without its data and changes. */
export interface ThinEvent extends Omit<Event, 'changes' | 'data'> {
  /** The object of the event; missing if its data has no usable `id`. */
  readonly related_object?: { readonly id: string | number; readonly object?: string | number };
  /** The API path of the whole event. */
  readonly url: string;
}

/** The body at an endpoint with `payload: cloudevents`. */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  /** The account: `urn:uuid:` and the digits of `accountid`. */
  readonly source: string;
  readonly type: string;
  /** The `id` in the data, if any. */
  readonly subject?: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly accountid: string;
  readonly apiversion: Event['api_version'];
  /** A test event: nothing happened. */
  readonly istest?: true;
  /** The `changes` of the event as JSON text, because attributes of CloudEvents are no objects. */
  readonly changes?: string;
  readonly data: Event['data'];
}

/** Why verification failed. */
export type WebhookProblem =
  | 'missing_headers'
  | 'timestamp_out_of_range'
  | 'wrong_signature'
  | 'invalid_secret'
  | 'invalid_payload';

/** A webhook that must not be trusted. Respond with 400; `problem` is for machines, the message for people. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
  readonly problem: WebhookProblem;

  constructor(problem: WebhookProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** The headers of a request: from Node's `http`, a framework, or a `Headers` object of `fetch`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const TOLERANCE_SECONDS = 300;
const SECRET = /^wh(sec|pk|sk)_([A-Za-z0-9+/]{4,}={0,2})$/;
// what precedes the seed of an Ed25519 key in PKCS #8 (RFC 8410)
const BEFORE_SEED = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/**
 * Verifies a webhook (Standard Webhooks) and returns its event, in which `type` decides the type of `data`. Name the type of
 * other bodies: with events of your own `verifyWebhook<PayhookEvent | EventOf<'order.created', Order>>(…)`, and if the
 * `payload` of the endpoint is not `full`, `verifyWebhook<ThinEvent>(…)` or `verifyWebhook<CloudEvent>(…)`.
 *
 * `body` must be the raw body as received: parsing and serialising it again changes the bytes. `secrets` is the
 * endpoint's secret (`whsec_…`) or public key (`whpk_…`), or several, of which one must match, so that it can be rotated without downtime.
 * Every signature in the header is compared in constant time. A timestamp more than 5 minutes off is refused, to prevent
 * replays. The same event may still be delivered twice: remember its `id`.
 *
 * With `batch`, the body is an array: use `verifyWebhooks`.
 *
 * Throws WebhookVerificationError if the webhook is not genuine. Do not use any part of it then.
 *
 * @example
 * const event = await verifyWebhook(await request.text(), request.headers, process.env.PAYHOOK_WEBHOOK_SECRET);
 */
export async function verifyWebhook<Body extends WebhookBody = PayhookEvent>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): Promise<Body> {
  const keys = await Promise.all([secrets].flat().map((secret) => keyOf(secret, 'verify')));
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures) {
    throw new WebhookVerificationError(
      'missing_headers',
      'webhook-id, webhook-timestamp and webhook-signature must all be present',
    );
  }
  checkTimestamp(timestamp);
  const content = contentOf(id, timestamp, body);
  const given = signatures.split(' ');
  const checks = keys.flatMap(({ version, key }) =>
    given
      .flatMap((signature) => bytesIn(signature, version) ?? [])
      .map((bytes) => crypto.subtle.verify(key.algorithm.name, key, bytes, content)),
  );
  const isRight = (await Promise.all(checks)).includes(true);
  if (!isRight) throw new WebhookVerificationError('wrong_signature', 'no signature matches');
  return eventOf(body) as Body;
}

/**
 * Verifies a request of an endpoint with `batch`, and returns its events in order; without `batch`, the single event. Otherwise
 * like `verifyWebhook`. Respond with a 2xx only after you have accepted all events. Remember the `id` of each, because events
 * of a failed request are sent again one by one.
 *
 * @example
 * const events = await verifyWebhooks(await request.text(), request.headers, process.env.PAYHOOK_WEBHOOK_SECRET);
 */
export async function verifyWebhooks<Body extends WebhookBody = PayhookEvent>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
): Promise<Body[]> {
  const verified: Body | Body[] = await verifyWebhook<Body>(body, headers, secrets);
  return Array.isArray(verified) ? verified : [verified];
}

/** The headers of a signed webhook. */
export type SignedHeaders = Readonly<
  Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>
>;

/**
 * The headers with which Payhook would send a body (Standard Webhooks), to test a receiver; several secrets sign as during a
 * rotation, and a private key (`whsk_…`) as with `signing: ed25519`. `id` is the `webhook-id`, by default a new one; `at` the time of the attempt, by default now. Throws WebhookVerificationError for an invalid secret.
 *
 * @example
 * await fetch(receiver, { method: 'POST', body, headers: await signWebhook(body, secret) });
 */
export async function signWebhook(
  body: string | Uint8Array,
  secrets: string | readonly string[],
  { id = `evt_${crypto.randomUUID().replaceAll('-', '')}`, at = new Date() }: { id?: string; at?: Date } = {},
): Promise<SignedHeaders> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const content = contentOf(id, timestamp, body);
  const signatures = [secrets].flat().map(async (secret) => {
    const { version, key } = await keyOf(secret, 'sign');
    const bytes = await crypto.subtle.sign(key.algorithm.name, key, content);
    return `${version},${base64(new Uint8Array(bytes))}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  };
}

/** The bytes that a signature covers. */
function contentOf(id: string, timestamp: string, body: string | Uint8Array) {
  const [head, rest] = [utf8(`${id}.${timestamp}.`), typeof body === 'string' ? utf8(body) : body];
  const content = new Uint8Array(head.length + rest.length);
  content.set(head);
  content.set(rest, head.length);
  return content;
}

/** The bytes in a signature; null for another version, and for other base64 than the signer wrote. */
function bytesIn(signature: string, version: string) {
  const text = signature.startsWith(`${version},`) ? signature.slice(version.length + 1) : '';
  const bytes = bytesOf(text);
  return bytes !== null && base64(bytes) === text ? bytes : null;
}

/** Whether a text verifies webhooks: `whsec_` or, as a public key, `whpk_`, and base64. */
export function isWebhookSecret(text: string): boolean {
  return SECRET.test(text) && !text.startsWith('whsk_');
}

/** The key in a secret, and the version of its signatures. Throws WebhookVerificationError. */
async function keyOf(
  secret: string,
  use: 'sign' | 'verify',
): Promise<{ readonly version: 'v1' | 'v1a'; readonly key: Key }> {
  const [, kind, text = ''] = SECRET.exec(secret) ?? [];
  const bytes = bytesOf(text) ?? new Uint8Array();
  const { subtle } = crypto;
  if (kind === 'sec' && bytes.length > 0) {
    const key = await subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
    return { version: 'v1', key };
  }
  if (kind === 'pk' && use === 'verify' && bytes.length === 32)
    return { version: 'v1a', key: await subtle.importKey('raw', bytes, 'Ed25519', false, [use]) };
  if (kind === 'sk' && use === 'sign' && bytes.length === 64) {
    const pkcs8 = Uint8Array.from([...BEFORE_SEED, ...bytes.subarray(0, 32)]);
    return { version: 'v1a', key: await subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, [use]) };
  }
  const other = use === 'sign' ? 'a private key whsk_…' : 'a public key whpk_…';
  throw new WebhookVerificationError(
    'invalid_secret',
    `a secret must be whsec_ followed by a base64 key, or ${other}`,
  );
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}

function checkTimestamp(timestamp: string): void {
  const age = /^\d{1,12}$/.test(timestamp) ? Date.now() / 1000 - Number(timestamp) : Number.NaN;
  if (Math.abs(age) <= TOLERANCE_SECONDS) return;
  throw new WebhookVerificationError(
    'timestamp_out_of_range',
    Number.isNaN(age)
      ? 'webhook-timestamp is not a time in seconds since 1970'
      : `webhook-timestamp is ${duration(Math.abs(age))} ${age > 0 ? 'old' : 'ahead'}: at most 5 minutes are allowed`,
  );
}

function duration(seconds: number): string {
  const hours = Math.round(seconds / 3600);
  if (hours < 2) return `${Math.round(seconds / 60)} minutes`;
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

function eventOf(body: string | Uint8Array): object {
  const event = parsed(typeof body === 'string' ? body : new TextDecoder().decode(body));
  if (typeof event === 'object' && event !== null) return event;
  throw new WebhookVerificationError(
    'invalid_payload',
    'the signature matches, but the body is not a JSON object',
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
