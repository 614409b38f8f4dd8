import type { Platform } from '../../app/platform.ts';
import type { CreateWebhookEndpointBody, WebhookEndpoint } from '../../client/client.ts';
import { type EndpointId, type EventId, uuidOf } from '../../kernel/ids.ts';
import type { Demo } from './books.ts';
import type { Dice } from './dice.ts';
import type { Sale } from './sales.ts';

type PastLog = Parameters<Platform['accounts']['writePast']>[1];
type PastDelivery = PastLog['deliveries'][number];
type PastState = PastLog['states'][number];
type PastAttempt = PastDelivery['attempts'][number];

/** The default address of `payhook listen`. */
export const LISTEN_URL = 'http://127.0.0.1:9000';

type Name = 'shop' | 'books' | 'crm' | 'warehouse';

const ENDPOINTS: Readonly<Record<Name, Omit<CreateWebhookEndpointBody, 'url'>>> = {
  shop: { description: 'Shop: works', event_types: ['order.*', 'subscription.*'] },
  books: {
    description: 'Bookkeeping: has been failing for three hours',
    event_types: ['payout.*', 'commission.*', 'commissions.imported', 'subscription.*'],
  },
  crm: { description: 'Old CRM: answered 410 Gone, and was disabled', event_types: ['affiliate.*'] },
  warehouse: {
    description: 'Warehouse: disabled, events are held',
    event_types: ['order.created', 'payout.paid'],
    status: 'disabled',
  },
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const FAILING_MS = 180 * MINUTE_MS;
/** The pauses before attempts, as in the default of DELIVERY_SCHEDULE. */
const PAUSES_MS = [0, 5000, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 300 * MINUTE_MS];
const PUBLISHED = 240;
const BATCH = 200;

/** Publishes the merchant's own events: the newest orders and renewals. */
export async function publishOrders({ client, stages }: Demo, sales: readonly Sale[]): Promise<void> {
  const newest = sales.filter(({ input }) => input.type !== 'bonus').slice(-PUBLISHED);
  const events = newest.map(({ input }) => ({
    type: input.type === 'recurring' ? 'subscription.renewed' : 'order.created',
    data: {
      order_id: input.order_id,
      customer_email: input.customer_email,
      product_id: input.product_id,
      total: input.sale_amount,
      currency: input.currency,
    },
  }));
  const batches = [events.slice(0, BATCH), events.slice(BATCH)];
  await stages.each('events', batches, (batch) => client.events.publishMany(batch));
}

/**
 * Creates the endpoints, after all events, so that nothing is sent. Returns the log that they would have: the events spread
 * over the last 24 hours, an endpoint that works, one that fails, one that is gone and one that is disabled.
 */
export async function createHooks({ client, dice }: Demo): Promise<PastLog> {
  const now = Date.now();
  const endpoints = new Map<Name, WebhookEndpoint>();
  for (const [name, fields] of Object.entries(ENDPOINTS) as [Name, (typeof ENDPOINTS)[Name]][])
    endpoints.set(name, await client.webhookEndpoints.create({ url: `${LISTEN_URL}/${name}`, ...fields }));
  const ids: { readonly id: string; readonly type: string }[] = [];
  for await (const { id, type } of client.events.list({ sort: 'id', per_page: 100 })) ids.push({ id, type });
  const times = timesFor(dice, ids.length, now);
  const events = ids.map(({ id, type }, index) => {
    const at = times[index] ?? now;
    const uuid = uuidOf('evt', id) as EventId;
    return { id: uuid, type, at, becomes: movedTo(uuid, at) };
  });
  const logs = [...endpoints].map(([name, { id, event_types }]) => {
    const endpoint = uuidOf('we', id) as EndpointId;
    const own = events.filter(({ type }) => event_types?.some((pattern) => isOf(type, pattern)));
    return logOf({ name, endpoint, now, dice }, own);
  });
  return {
    events: events.map(({ id, becomes }) => ({ id, becomes })),
    deliveries: logs.flatMap(({ deliveries }) => deliveries),
    states: logs.map(({ state }) => state),
  };
}

const isOf = (type: string, pattern: string) =>
  pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/** Instants of the last 24 hours, oldest first, with more of them in some hours than in others. */
function timesFor(dice: Dice, count: number, now: number): number[] {
  const hours = Array.from({ length: 23 }, (_, hour) => ({ hour, weight: dice.between(2, 10) }));
  const ago = Array.from({ length: count }, () => {
    const { hour } = dice.weighted(hours, ({ weight }) => weight);
    return (hour * 60 + dice.between(2, 59)) * MINUTE_MS + dice.between(0, 59_999);
  });
  return ago.map((ms) => now - ms).sort((one, other) => one - other);
}

/** The id with the time of its creation replaced (RFC 9562 section 5.7). */
function movedTo(id: EventId, at: number): EventId {
  const hex = at.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}` as EventId;
}

interface Receiver {
  readonly name: Name;
  readonly endpoint: EndpointId;
  readonly now: number;
  readonly dice: Dice;
}

/** The deliveries of an endpoint, and the state they leave. */
function logOf(
  receiver: Receiver,
  events: readonly { readonly at: number; readonly becomes: EventId }[],
): { readonly deliveries: readonly PastDelivery[]; readonly state: PastState } {
  const { name, endpoint, now } = receiver;
  const deliveries = events.map(({ at, becomes }, index) => {
    const attempts = attemptsOf(receiver, at, index);
    const last = attempts.at(-1);
    const isOpen = last === undefined || (last.responseStatus === 500 && name === 'books');
    const pause = PAUSES_MS[attempts.length] ?? DAY_MS;
    const nextAttemptAt = isOpen ? Math.max(now + 10 * MINUTE_MS, (last?.startedAt ?? at) + pause) : null;
    return { endpoint, event: becomes, attempts, nextAttemptAt };
  });
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  const startsOf = (isSuccess: boolean) =>
    attempts
      .filter(({ responseStatus }) => responseStatus < 300 === isSuccess)
      .map(({ startedAt }) => startedAt);
  const lastSuccessAt = startsOf(true).length === 0 ? null : Math.max(...startsOf(true));
  const failures = name === 'books' ? startsOf(false).filter((at) => at > (lastSuccessAt ?? 0)) : [];
  return {
    deliveries,
    state: {
      endpoint,
      failingSince: failures.length === 0 ? null : Math.min(...failures),
      failures: failures.length,
      lastSuccessAt,
      goneAt: name === 'crm' ? (attempts[0]?.startedAt ?? null) : null,
    },
  };
}

/** The attempts of a delivery so far. */
function attemptsOf({ name, now, dice }: Receiver, at: number, index: number): PastAttempt[] {
  const attempt = (startedAt: number, responseStatus: number, responseBody: string) => ({
    startedAt,
    durationMs: dice.between(40, 400),
    responseStatus,
    responseBody,
  });
  if (name === 'warehouse') return [];
  if (name === 'crm') return index === 0 ? [attempt(at, 410, 'this integration was removed')] : [];
  if (name === 'books' && at > now - FAILING_MS) {
    let startedAt = at;
    return PAUSES_MS.map((pause) => {
      startedAt += pause;
      return startedAt;
    })
      .filter((each) => each < now)
      .map((each) => attempt(each, 500, 'the database is locked'));
  }
  if (!dice.chance(0.05)) return [attempt(at, 200, 'received')];
  return [attempt(at, 503, 'try again'), attempt(Math.min(at + 5000, now), 200, 'received')];
}
