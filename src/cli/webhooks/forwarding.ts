import { hostname } from 'node:os';
import type {
  AcknowledgeWebhookEventsBody,
  ClaimedEvent,
  Client,
  NewWebhookEndpoint,
  WebhookEndpoint,
} from '../../client/client.ts';
import { setRemote } from '../../kernel/config.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { follow } from '../command/follow.ts';
import { secretReader } from '../command/secret-option.ts';
import { readRemoteFor, withClient } from '../command/session.ts';
import { aborted, untilStopped } from '../terminal/interrupt.ts';
import { printable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';
import { content, readObject } from './payload.ts';
import { cut } from './view.ts';

/** The options of `payhook listen --forward-to`, as typed. */
export interface ForwardOptions {
  readonly forwardTo: string;
  readonly server?: string;
  readonly types?: string;
  readonly owner?: string;
  readonly secret?: readonly string[];
  readonly payload?: boolean;
}

const AT_ONCE = 10;
const WAIT_S = 20;
// all events of a claim are sent at once, so the lease is longer than the longest answer
const ANSWER_MS = 30_000;
const LEASE_S = 60;
const SILENCE_MS = 60_000;
const DELETE_MS = 10_000;
const PAUSE_MS = 500;
const STALE_MS = 5 * 60_000;
const MOST_TEXT = 200;
const CONSUMER = 'payhook listen';
/** The metadata by which an endpoint of this command is recognised. */
const MARK = { temporary: 'payhook listen' };

/** `payhook listen --forward-to`: sends the events of a temporary pull endpoint to an address until it is stopped. */
export async function forward(cli: Cli, options: ForwardOptions): Promise<undefined> {
  const to = readAddress('--forward-to', options.forwardTo);
  if (options.server !== undefined) setRemote(readAddress('--server', options.server).href);
  if (readRemoteFor(cli.account()) === null) {
    throw new UsageError(
      `--forward-to needs --server or PAYHOOK_URL, and PAYHOOK_API_KEY. The server of this machine sends there itself: payhook webhooks create ${to.href}`,
    );
  }
  const { terminal } = cli;
  const body = await readEndpoint(to, options);
  const release = terminal.spinner.hold();
  const stopped = untilStopped();
  const { id, secret, created_at } = await withClient(cli, (client) => client.webhookEndpoints.create(body));
  try {
    await withClient(cli, async (client) => {
      await removeStale(client, { id, created_at }, terminal);
      // the replay of a response that was lost does not contain the secret
      announce(terminal, { id, to, secret: secret ?? (await client.webhookEndpoints.secret(id)).secret });
    });
    const poll = forwarder(terminal, { id, to, whole: options.payload ?? false });
    const trouble = (text: string) => terminal.note(text === '' ? 'The server answers again.' : text);
    if (!stopped.aborted) {
      await Promise.race([
        follow(cli, { everyMs: PAUSE_MS, poll, trouble, hasWorked: true }),
        aborted(stopped),
      ]);
    }
  } finally {
    await removeEndpoint(cli, id);
    release();
  }
}

function readAddress(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError(
    `${option} must be an http(s) URL without a user name, such as http://localhost:3000, not ${text}`,
  );
}

async function readSecret(typed: readonly string[]): Promise<string | undefined> {
  const [first, ...others] = typed;
  if (others.length > 0) throw new UsageError('--secret may be given once with --forward-to');
  return first === undefined ? undefined : secretReader().one('--secret', first);
}

async function readEndpoint(to: URL, { types, owner, secret = [] }: ForwardOptions) {
  return {
    delivery: 'pull',
    description: cut(`payhook listen on ${hostname()}, forwards to ${to.href}`, 500),
    event_types: types?.split(',').map((type) => type.trim()),
    owner,
    secret: await readSecret(secret),
    metadata: MARK,
  } as const;
}

/** Deletes the endpoints of earlier starts that were killed. Only times of the server are compared. */
async function removeStale(
  client: Client,
  { id, created_at: now }: Pick<NewWebhookEndpoint, 'id' | 'created_at'>,
  { note }: Terminal,
): Promise<void> {
  const stale: WebhookEndpoint[] = [];
  for await (const each of client.webhookEndpoints.list()) {
    const asked = each.last_claimed_at ?? each.created_at;
    const isOurs = each.delivery === 'pull' && each.metadata.temporary === MARK.temporary && each.id !== id;
    if (isOurs && Date.parse(now) - Date.parse(asked) > STALE_MS) stale.push(each);
  }
  for (const each of stale) {
    await client.webhookEndpoints.delete(each.id).catch(unlessDeleted);
    note(`Deleted ${each.id}, which an earlier listen left behind.`);
  }
}

/** Deletes the endpoint of this start. Says how to delete it if that fails. */
async function removeEndpoint(cli: Cli, id: string): Promise<void> {
  const options = { retries: 1, timeoutMs: DELETE_MS };
  try {
    await withClient(cli, (client) => client.webhookEndpoints.delete(id, options).catch(unlessDeleted));
  } catch (error) {
    const { message } = error as Error;
    cli.terminal.note(
      `The endpoint ${id} was not deleted: ${message}. The next listen --forward-to deletes it, or payhook webhooks delete ${id}.`,
    );
  }
}

function unlessDeleted(error: unknown): void {
  if ((error as { status?: number }).status !== 404) throw error;
}

function announce(
  { result, paint }: Terminal,
  { id, to, secret }: { id: string; to: URL; secret: string | null },
): void {
  result({ object: 'forwarder', webhook_endpoint_id: id, secret, forward_to: to.href }, () =>
    [
      `Forwarding events to ${paint.strong(to.href)}. Ctrl-C stops it.`,
      `  Endpoint    ${id}, deleted when it stops`,
      `  Secret      ${secret}`,
      '',
      '',
    ].join('\n'),
  );
}

type Acknowledgement = AcknowledgeWebhookEventsBody['items'][number];

/** Each call claims events, sends them to the address and acknowledges them; resolves to whether there were any. */
function forwarder(terminal: Terminal, { id, to, whole }: { id: string; to: URL; whole: boolean }) {
  const options = { retries: 0, timeoutMs: SILENCE_MS };
  const body = { limit: AT_ONCE, lease_seconds: LEASE_S, consumer: CONSUMER };
  let waitS = 0; // after an error too, so that it is known at once that the server answers
  let unsent: Acknowledgement[] = [];

  async function acknowledge(client: Client): Promise<void> {
    if (unsent.length === 0) return;
    const { items } = await client.webhookEndpoints.acknowledge(id, { items: unsent }, options);
    unsent = [];
    for (const lost of items.filter(({ result }) => result === 'lease_lost')) {
      terminal.note(`The result of ${lost.id} came too late for its lease: the event may come again.`);
    }
  }

  async function one(event: ClaimedEvent): Promise<Acknowledgement> {
    const outcome = await post(to, event);
    print(terminal, { event, outcome, whole });
    const named = { id: event.id, lease_id: event.lease_id };
    const { error } = outcome;
    return error === null ? { ...named, status: 'delivered' } : { ...named, status: 'failed', error };
  }

  return async (client: Client): Promise<boolean> => {
    try {
      await acknowledge(client);
      const { items } = await client.webhookEndpoints.claim(id, { ...body, wait_seconds: waitS }, options);
      waitS = WAIT_S;
      unsent = await Promise.all(items.map(one));
      await acknowledge(client);
      return items.length > 0;
    } catch (error) {
      waitS = 0;
      // acknowledging twice changes nothing, and what a lost answer had claimed comes again
      const { name, message } = error as Error;
      throw name === 'ConnectionError' ? new CommandError(message, { code: 'unreachable' }) : error;
    }
  };
}

/** The answer to an event. `error` says why it is no delivery; null = it is one. */
interface Outcome {
  readonly answer: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

async function post(to: URL, { headers, body }: ClaimedEvent): Promise<Outcome> {
  const begun = performance.now();
  const outcome = (answer: number | null, error: string | null): Outcome => ({
    answer,
    error,
    durationMs: Math.round(performance.now() - begun),
  });
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    const response = await fetch(to, { method: 'POST', headers, body, redirect: 'manual', signal });
    const text = await beginningOf(response);
    if (response.ok) return outcome(response.status, null);
    return outcome(response.status, `HTTP ${response.status}${text && `: ${text}`}`);
  } catch (error) {
    return outcome(
      null,
      signal.aborted ? `no complete answer within ${ANSWER_MS / 1000} s` : reasonOf(error),
    );
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MOST_TEXT) break;
  }
  return cut(printable(text.trim()), MOST_TEXT);
}

/** The cause of a failed fetch. A refused connection to "localhost" is an AggregateError without a message of its own. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { message, errors } = cause as { message?: string; errors?: readonly Error[] };
  return cut(printable(message || errors?.[0]?.message || String(cause)), MOST_TEXT);
}

function print(
  { result, paint, width }: Terminal,
  { event, outcome, whole }: { event: ClaimedEvent; outcome: Outcome; whole: boolean },
): void {
  const { id, type, attempt } = event;
  const { answer, error, durationMs } = outcome;
  const bytes = Buffer.from(event.body);
  const payload = readObject(bytes);
  const now = new Date().toISOString();
  const record = {
    object: 'forwarded_event',
    forwarded_at: now,
    status: error === null ? 'delivered' : 'failed',
    answer,
    error,
    duration_ms: durationMs,
    id,
    type,
    attempt,
    payload,
  };
  result(record, () => {
    const shown = error === null ? paint.good(`HTTP ${answer}`) : paint.bad(error);
    const head = [
      exactTime(now),
      paint.strong(printable(type)),
      id,
      `attempt ${attempt}`,
      `${shown} after ${durationMs} ms`,
    ];
    return `${head.join('  ')}\n${content(bytes, payload, { width, whole })}`;
  });
}
