import type {
  ChangedWebhookEndpoint,
  WebhookAttempt,
  WebhookEndpoint,
  WebhookEvent,
  WebhookEventWithAttempts,
} from '../../client/client.ts';
import { ENDPOINT_FIELDS } from '../../client/fields.ts';
import { describeFields } from '../command/record-fields.ts';
import { placeOf } from '../finders/endpoint.ts';
import { count } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Paint, Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';
import { contactState } from './contact.ts';
import { egressFacts } from './egress.ts';

const PAYLOAD_LINES = 40;
const BODY_LINES = 12;
const LINE_LENGTH = 1000;
const SHOWN_TYPES = 3;

const orEmpty = (instant: string | null) => (instant === null ? '' : shortTime(instant));

/** A page of endpoints, one line each. The URL is last, because it may be long. */
export function endpointTable(endpoints: readonly WebhookEndpoint[], { paint }: Terminal): string {
  return table(
    ['ID', 'STATUS', 'EVENTS', 'FAILING SINCE (UTC)', 'LAST SUCCESS', 'URL'].map((heading) => ({ heading })),
    endpoints.map((endpoint) => [
      endpoint.id,
      statusOf(endpoint),
      typesOf(endpoint, SHOWN_TYPES),
      orEmpty(endpoint.first_failure_at),
      orEmpty(endpoint.last_success_at),
      placeOf(endpoint),
    ]),
    paint.faint,
  );
}

function statusOf({ status, disabled_reason }: WebhookEndpoint): string {
  return disabled_reason === null ? status : `${status} (${disabled_reason})`;
}

function typesOf({ event_types }: WebhookEndpoint, most: number): string {
  if (event_types === null) return 'all';
  const rest = event_types.length - most;
  return event_types.slice(0, most).join(', ') + (rest > 0 ? `, ${rest} more` : '');
}

/** One endpoint as text; after a change, with the secret it created. */
export function describeEndpoint(endpoint: ChangedWebhookEndpoint, terminal: Terminal): string {
  const { paint } = terminal;
  const status = statusOf(endpoint);
  const painted = endpoint.status === 'enabled' ? paint.good(status) : paint.bad(status);
  const facts: (readonly [string, string | null])[] = [
    ['URL', endpoint.url],
    ['Delivery', endpoint.url === null ? 'pull: consumers claim its events' : null],
    ['Last claim', endpoint.last_claimed_at && exactTime(endpoint.last_claimed_at)],
    ['Events', typesOf(endpoint, Number.POSITIVE_INFINITY)],
    ['Filter', endpoint.filter && JSON.stringify(endpoint.filter)],
    ['Disabled', endpoint.disabled_at && exactTime(endpoint.disabled_at)],
    ['Paused until', endpoint.paused_until && exactTime(endpoint.paused_until)],
    ['Next attempt', endpoint.next_attempt_at && exactTime(endpoint.next_attempt_at)],
    ['Failing since', endpoint.first_failure_at && exactTime(endpoint.first_failure_at)],
    ['Last success', endpoint.last_success_at ? exactTime(endpoint.last_success_at) : 'never'],
    ['Batches', endpoint.batch && batchOf(endpoint.batch)],
    ['Custom headers', endpoint.headers.join(', ') || null],
    ['Signed as', signingOf(endpoint)],
    ['New secret', endpoint.secret ?? null],
    ...egressFacts(endpoint),
    ...describeFields(ENDPOINT_FIELDS, endpoint),
    ['Contact state', contactState(endpoint)],
    ['Created', `${exactTime(endpoint.created_at)} (UTC)`],
  ];
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return `${paint.strong(endpoint.id)}  ${painted}\n${table([{ heading: '' }, { heading: '' }], rows)}`;
}

const batchOf = ({ max_events, max_bytes, max_wait_ms }: NonNullable<WebhookEndpoint['batch']>) =>
  `up to ${max_events} events and ${max_bytes} bytes per request, after at most ${max_wait_ms} ms`;

function signingOf({ signing, custom_signing: custom, second_signature: second }: WebhookEndpoint): string {
  const also = second === null ? '' : `, and ${second.signing} until ${exactTime(second.expires_at)}`;
  return `${signing}${custom === null ? '' : ` (${custom.header})`}${also}`;
}

/** A page of the delivery log, one line per record. */
export function deliveryTable(events: readonly WebhookEvent[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'CREATED (UTC)' },
      { heading: 'STATUS' },
      { heading: 'ATTEMPTS', right: true },
      { heading: 'LAST ANSWER' },
      { heading: 'NEXT ATTEMPT' },
      { heading: 'TYPE' },
      { heading: 'ID' },
    ],
    events.map((event) => [
      exactTime(event.created_at),
      event.status,
      String(event.attempt_count),
      answerOf(event.last_response_status, event.last_error_code),
      event.next_attempt_at === null ? '' : exactTime(event.next_attempt_at),
      event.type,
      event.id,
    ]),
    paint.faint,
  );
}

/** The answer in short: `HTTP 200`, `HTTP 200 body_too_slow`, `connection_refused`. */
function answerOf(status: number | null, error: string | null): string {
  const words = [status === null ? '' : `HTTP ${status}`];
  // for a 500 or 302 the status is enough
  if (error !== null && (status === null || !/^(response_error|redirect)$/.test(error))) words.push(error);
  return words.filter((word) => word !== '').join(' ');
}

function paintStatus(status: WebhookEvent['status'], text: string, paint: Paint): string {
  if (status === 'delivered') return paint.good(text);
  return status === 'failed' ? paint.bad(text) : paint.warning(text);
}

/** A record of the log as a line of `tail`, with the long ids last. */
export function deliveryLine(event: WebhookEvent, { paint }: Terminal): string {
  const cells = [
    exactTime(event.last_attempt_at ?? event.created_at),
    paintStatus(event.status, event.status.padEnd(9), paint),
    (event.attempt_count === 0 ? 'no attempt' : `attempt ${event.attempt_count}`).padEnd(10),
    answerOf(event.last_response_status, event.last_error_code).padEnd(18),
    printable(event.type).padEnd(18),
    event.id,
    event.webhook_endpoint_id,
  ];
  return `${cells.join('  ')}\n`;
}

/** One record with its payload and every attempt as text; the newest attempt is last. */
export function describeDelivery(event: WebhookEventWithAttempts, terminal: Terminal): string {
  const { paint } = terminal;
  const { waits_for: waitsFor, next_attempt_at: nextAt } = event;
  const next = waitsFor
    ? `, waits for ${waitsFor} of the same ordering key`
    : nextAt === null
      ? ''
      : `, next attempt ${exactTime(nextAt)}`;
  const head = [
    `${paint.strong(event.id)}  ${printable(event.type)}  ${paintStatus(event.status, event.status, paint)}`,
    `Endpoint ${event.webhook_endpoint_id}`,
    `Created ${exactTime(event.created_at)}, ${count(event.attempt_count, 'attempt')}${next} (UTC)`,
  ];
  const payload = block(JSON.stringify(event.payload, null, 2), PAYLOAD_LINES);
  const attempts = event.attempts.map((attempt) => describeAttempt(attempt, terminal));
  return [`${head.join('\n')}\n`, `${paint.strong('Payload')}\n${payload}`, ...attempts].join('\n');
}

function outcomeOf({ response_status: code, claim, status }: WebhookAttempt): string {
  if (claim !== null) return status === 'succeeded' ? 'acknowledged' : 'not acknowledged';
  return code === null ? 'no answer' : `HTTP ${code}`;
}

function describeAttempt(attempt: WebhookAttempt, { paint }: Terminal): string {
  const outcome = outcomeOf(attempt);
  const [good, bad] = [paint.good, paint.bad];
  const how = attempt.status === 'succeeded' ? good(`succeeded: ${outcome}`) : bad(`failed: ${outcome}`);
  const heading = paint.strong(`Attempt ${attempt.number}`);
  const error = attempt.error_code === null ? [] : [`${attempt.error_code}: ${attempt.error_message ?? ''}`];
  const lines = [
    `${heading}  ${exactTime(attempt.started_at)}  ${attempt.trigger}  ${how} after ${attempt.duration_ms} ms`,
    ...error.map((text) => `  ${printable(text)}`),
    `  ${paint.faint('→')} ${attempt.url === null ? claimedBy(attempt) : `POST ${printable(attempt.url)}`}`,
    ...(attempt.batch === null ? [] : [`  in a batch of ${count(attempt.batch.event_count, 'event')}`]),
    ...headersOf(attempt.request_headers, `  ${paint.faint('→')} `),
    ...(attempt.request_body === null ? [] : [block(attempt.request_body, BODY_LINES).trimEnd()]),
    ...headersOf(attempt.response_headers, `  ${paint.faint('←')} `),
  ];
  const body = attempt.response_body
    ? block(attempt.response_body, BODY_LINES, attempt.response_truncated)
    : '';
  return `${lines.join('\n')}\n${body}`;
}

const claimedBy = ({ claim }: WebhookAttempt) =>
  `claimed by ${printable(claim?.consumer ? `${claim.consumer} (${claim.claimed_by})` : (claim?.claimed_by ?? ''))}`;

function headersOf(headers: Readonly<Record<string, string>> | null, indent: string): string[] {
  return Object.entries(headers ?? {}).map(([name, value]) => `${indent}${printable(`${name}: ${value}`)}`);
}

/** A text of several lines, made safe to print, indented and truncated. */
export function block(text: string, most: number, goesOn = false): string {
  const lines = text.trimEnd().split(/\r?\n/);
  const shown = lines.slice(0, most).map((line) => `  ${cut(printable(line), LINE_LENGTH)}`);
  const rest = lines.length - shown.length;
  if (rest > 0) shown.push(`  … ${count(rest, 'more line')}: --json shows all`);
  else if (goesOn) shown.push('  … truncated; only this part is stored');
  return `${shown.join('\n')}\n`;
}

/** The text, truncated to a length. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${[...text.slice(0, length)].slice(0, -1).join('')}…`;
}
