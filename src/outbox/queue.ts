import sql, { empty, raw, type Sql } from 'sql-template-tag';
import { CURRENT_VERSION } from '../db/api-versions.ts';
import { arrayText } from '../db/array-text.ts';
import { rows, type Tx } from '../db/database.ts';
import { LOCKS, limitsLockWaits, shareLock } from '../db/locks.ts';
import { type Failure, fail } from '../kernel/errors.ts';
import { type AccountId, type EndpointId, type EventId, nil } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { TraceContext } from '../kernel/trace.ts';
import { instrumentsOf } from '../metrics/instruments.ts';
import { inSpan, tracerOf } from '../metrics/traces.ts';
import { type Changes, changesBetween, changesMember } from './changes.ts';
import { noteChanges } from './counts.ts';
import { type Event, MAX_PAYLOAD_BYTES, type Update } from './event.ts';
import { type EventType, isUpdate } from './event-types.ts';
import { type Leased, type LeasedRow, leasedOf, type Offer, offerIn } from './hand-over.ts';
import { leasing, noLeases } from './lease.ts';
import { BY_KEY, NO_ORDER, type Ordering } from './order.ts';
import { type Addressing, aboutEndpoint, BY_OWNER, NO_OWNER, OUR_OWN } from './owners.ts';
import { newEventId } from './running.ts';
import { matches } from './searches.ts';
import { entriesFor } from './subscriptions.ts';
import { NO_TAGS, type Tagging, WITH_TAGS } from './tags.ts';

/**
 * Stores an event with a delivery for each subscribed endpoint, in the transaction of the change it reports. The payload
 * is fixed here: the same bytes are signed and sent. Returns the UUID of the event.
 */
export async function publish<Record>(tx: Tx, event: Event<Record>): Promise<EventId> {
  const { account, type, data, subject } = event;
  const records = sql`
    select ${account}::uuid as account_id, null::uuid as given_id, ${type}::text as type, ${entriesFor(type).join(' ')}::text as patterns,
           ${data}::text as data, false as is_test, null::uuid as only_endpoint`;
  const [stored] = await inSpan(tx, publishing(type, tx.trace), (trace) =>
    store<{ id: EventId }>(tx, records, sql`id`, {
      name: 'publish',
      trace,
      ...('before' in event && changesIn(event)),
      ...(subject && { to: aboutEndpoint(subject), name: 'publish_about_endpoint' }),
    }),
  );
  measurePublished(tx, stored ? 1 : 0);
  return stored?.id ?? nil();
}

/** The changes as SQL, and the name of the statement that stores them. */
function changesIn<Record>({ before, isErasure }: Update<Record>) {
  const changes = changesBetween(sql`${before}::text`, sql`data`);
  return isErasure
    ? { changes: sql`erased_changes(${changes})`, name: 'publish_erasure' }
    : { changes, name: 'publish_update' };
}

/** Stores one event for each row of `records`, a query of the text columns `data` and, of an update, `before`. */
export async function publishEach(
  tx: Tx,
  { account, type, records }: { account: AccountId; type: EventType; records: Sql },
): Promise<void> {
  const changes = isUpdate(type) ? changesBetween(sql`before`, sql`data`) : undefined;
  const all = sql`
    select ${account}::uuid as account_id, null::uuid as given_id, ${type}::text as type, ${entriesFor(type).join(' ')}::text as patterns,
           each_record.*, false as is_test, null::uuid as only_endpoint
    from (${records}) each_record`;
  const stored = await inSpan(tx, publishing(type, tx.trace), (trace) =>
    store(tx, all, sql`1 as stored`, { trace, changes }),
  );
  measurePublished(tx, stored.length);
}

const publishing = (type: string, parent: TraceContext | null) =>
  ({ kind: 'producer', name: `publish ${type}`, parent }) as const;

function measurePublished(tx: Tx, events: number): void {
  const instruments = instrumentsOf(tx);
  if (instruments) tx.onEnd((isCommitted) => isCommitted && instruments.count('published', events));
}

/** An event of a platform's own type. */
export interface ForeignEvent {
  readonly account: AccountId;
  readonly type: string;
  /** A UUID from `new_id()`, if the caller has one. */
  readonly id: string | null;
  /** JSON text. Its member `data` is published unchanged, including numbers that JavaScript would round. */
  readonly body: string;
  /** Ordered endpoints get the events of a key one at a time; null = unordered. */
  readonly orderingKey: string | null;
  /** Only endpoints of this owner get it; null = all. */
  readonly owner: string | null;
  /** By which it is found again. */
  readonly tags: readonly string[];
  /** The trace it continues; null = none. */
  readonly trace: TraceContext | null;
  /** The prefix of field names in messages, such as `events[3].`. */
  readonly at: string;
}

/** A complete event, as sent. */
export interface SentEvent {
  id: string;
  object: 'event';
  type: string;
  timestamp: string;
  account_id: string;
  api_version: typeof CURRENT_VERSION;
  is_test?: true;
  changes?: Changes;
  data: Record<string, unknown>;
}

/**
 * Stores events of platforms' own types in one statement. Returns, in order, how each will be sent, or why it was refused:
 * `event_owner_missing`, or `resource_missing` if its account no longer exists. Throws `payload_too_large`. A worker of this
 * process takes over as many deliveries as it has room for.
 */
export async function publishForeign(
  tx: Tx,
  events: readonly ForeignEvent[],
): Promise<(Json<SentEvent> | Failure)[]> {
  const spans = events.map(({ type, trace }) => tracerOf(tx)?.start(publishing(type, trace)));
  const traces = events.map(({ trace }, index) => spans[index]?.trace ?? trace);
  const hasKeys = events.some(({ orderingKey }) => orderingKey !== null);
  const hasOwners = events.some(({ owner }) => owner !== null);
  const hasTags = events.some(({ tags }) => tags.length > 0);
  const keys = optional(sql`, ordering_key`, hasKeys && events.map(({ orderingKey }) => orderingKey));
  const owners = optional(sql`, owner`, hasOwners && events.map(({ owner }) => owner));
  const tags = optional(sql`, tags`, hasTags && events.map((event) => JSON.stringify(event.tags)));
  const bodies = await arrayText(events.map(({ body }) => body));
  // ids are generated here, while the events are in order: a join may reorder them
  const records = sql`
    select account_id, coalesce(given_id, ${newEventId(tx)}) as given_id, type, patterns, (body::json -> 'data')::text as data, false as is_test, place,
           null::uuid as only_endpoint, traceparent, tracestate${keys.column}${owners.column}${tags.column}
    from unnest(${events.map(({ account }) => account)}::uuid[], ${events.map(({ id }) => id)}::uuid[],
      ${events.map(({ type }) => type)}::text[], ${events.map(({ type }) => entriesFor(type).join(' '))}::text[],
      ${bodies}::text[], ${traces.map((trace) => trace?.parent ?? null)}::text[],
      ${traces.map((trace) => trace?.state ?? null)}::text[]${keys.values}${owners.values}${tags.values})
      with ordinality as r (account_id, given_id, type, patterns, body, traceparent, tracestate${keys.column}${owners.column}${tags.column}, place)`;
  const payloads = new Map<number, Json<SentEvent>>();
  const refused = new Set<number>();
  const order = hasKeys ? BY_KEY : NO_ORDER;
  const to = hasOwners ? BY_OWNER : NO_OWNER;
  const tagging = hasTags ? WITH_TAGS : NO_TAGS;
  const stored = await storeForeign(tx, records, { traces, order, to, tagging }).finally(() => {
    for (const span of spans) span?.end();
  });
  for (const { place, is_refused: isRefused, bytes, payload } of stored) {
    const index = Number(place) - 1;
    if (isRefused) refused.add(index);
    if (isRefused || payload === null) continue; // another delivery of the same event has no payload
    checkSize(bytes, `${events[index]?.at}data`);
    payloads.set(index, payload);
  }
  measurePublished(tx, payloads.size);
  return events.map(
    ({ at }, index) =>
      payloads.get(index) ??
      (refused.has(index)
        ? fail(
            'event_owner_missing',
            `${at}owner is required by the account: name whose endpoints get the event`,
          )
        : fail('resource_missing', 'no such account')),
  );
}

/** A further column of the records; its values are false if no event has one. */
const optional = (column: Sql, values: readonly (string | null)[] | false) =>
  values === false ? { column: empty, values: empty } : { column, values: sql`, ${[...values]}::text[]` };

function checkSize(bytes: number, field = 'data'): void {
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw fail(
    'payload_too_large',
    `${field}: the payload would have ${bytes} bytes; the maximum is ${MAX_PAYLOAD_BYTES} (256 KiB)`,
  );
}

/** An event of any type that only one endpoint (UUID) gets, whatever it subscribes to. */
export interface TestEvent {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly type: string;
  /** JSON text whose member `data` is published unchanged. */
  readonly body: string;
  /** By default, an event of an update has empty ones. */
  readonly changes: Changes | undefined;
}

/** Stores a test event, marked as such. Returns the UUID of the event. Throws `payload_too_large`. */
export async function publishTest(
  tx: Tx,
  { account, endpoint, type, body, changes: given }: TestEvent,
): Promise<EventId> {
  const changes = given ?? (isUpdate(type) ? { added: {}, updated: {}, removed: {} } : null);
  const member = sql`${changes && JSON.stringify(changes)}::jsonb`;
  const records = sql`
    select ${account}::uuid as account_id, null::uuid as given_id, ${type}::text as type, ''::text as patterns,
           (${body}::json -> 'data')::text as data, true as is_test, ${endpoint}::uuid as only_endpoint`;
  const returned = sql`id, octet_length(payload) as bytes`;
  const [stored] = await inSpan(tx, publishing(type, tx.trace), (trace) =>
    store<{ id: EventId; bytes: number }>(tx, records, returned, {
      name: 'publish_test',
      trace,
      changes: member,
    }),
  );
  checkSize(stored?.bytes ?? 0);
  // a caller waits for the response
  if (stored) await rows(tx, sql`update queue set alone = true where event_id = ${stored.id}`, 'send_alone');
  measurePublished(tx, stored ? 1 : 0);
  return stored?.id ?? nil();
}

interface ForeignRow {
  place: bigint;
  is_refused: boolean;
  bytes: number;
  payload: Json<SentEvent> | null;
}

/** The parts of the publishing statement that depend on what the events have. */
interface Parts {
  readonly order: Ordering;
  readonly to: Addressing;
  readonly tagging: Tagging;
}

async function storeForeign(
  tx: Tx,
  records: Sql,
  { traces, ...parts }: { traces: readonly (TraceContext | null)[] } & Parts,
): Promise<ForeignRow[]> {
  const { order, to, tagging } = parts;
  // an open offer blocks the claims of this process, so the transaction must not wait for a key
  const offer = order === NO_ORDER || limitsLockWaits(tx) ? await offerIn(tx, traces.length) : null;
  const returned = sql`place, is_refused, octet_length(payload) as bytes`;
  const kind = `${order === BY_KEY ? '_by_key' : ''}${to === BY_OWNER ? '_by_owner' : ''}${tagging === WITH_TAGS ? '_tagged' : ''}`;
  if (offer === null) {
    return store(tx, records, sql`${returned}, payload`, { name: `publish_foreign${kind}`, ...parts });
  }
  let leased: Leased[] = [];
  let token = '';
  tx.onEnd((isCommitted) => offer.close(isCommitted ? leased : [], token));
  const stored = await store<ForeignRow & Partial<LeasedRow> & { token: string | null; body: string | null }>(
    tx,
    records,
    returned,
    { name: `publish_and_${offer.isShared ? 'share' : 'lease'}${kind}`, offer, ...parts },
  );
  let payload = '';
  leased = stored.flatMap((row) => {
    payload = row.payload ?? payload; // the rows of an event are adjacent, and the first has its payload
    if (row.token === null) return [];
    token = row.token;
    const trace = traces[Number(row.place) - 1] ?? null;
    return leasedOf(row as LeasedRow, {
      payload: row.body ?? payload,
      trace,
      trigger: 'scheduled',
      step: 0,
      lost: null,
    });
  });
  return stored;
}

const FILTER_OF_E = {
  path: sql`e.filter_path`,
  fast: sql`e.filter_fast`,
  contains: sql`e.filter_contains`,
};

/**
 * Stores events with their deliveries. `records` is a query of account_id, given_id (null = a new one), type, patterns,
 * data, is_test and only_endpoint. `returned` names columns of these and `payload`. A disabled endpoint
 * also gets deliveries, which are held until it is enabled. Filters are evaluated here, on a payload that is parsed only
 * if the account has filters. With an order, `records` also has an `ordering_key`; with owners, an `owner`; with tags, `tags`; `changes` reads them. With an offer,
 * there is a row for each leased delivery. Without `trace`, the events have their own traces in the columns `traceparent` and `tracestate` of
 * `records`.
 */
async function store<Row>(
  tx: Tx,
  records: Sql,
  returned: Sql,
  {
    name,
    offer,
    order = NO_ORDER,
    to = OUR_OWN,
    tagging = NO_TAGS,
    trace,
    changes,
  }: Partial<Parts> & {
    name?: string;
    offer?: Offer;
    trace?: TraceContext | null;
    changes?: Sql | undefined;
  } = {},
): Promise<Row[]> {
  const lease = offer ? leasing(offer, order) : noLeases(order);
  const traced =
    trace === undefined
      ? sql`traceparent, tracestate`
      : sql`${trace?.parent ?? null}::text, ${trace?.state ?? null}::text`;
  const stored = await rows<Row & { left: number }>(
    tx,
    sql`with event as materialized (
          select *,
                 case when exists (
                   select from webhook_endpoints f
                   where f.account_id = composed.account_id and f.filter_path is not null and f.deleted_at is null)
                 then filterable(payload) end as json
          from (select *, concat('{"id":"', public_id('evt', id), '","object":"event","type":"', type,
                           '","timestamp":"', iso(id_time(id)), '","account_id":"', public_id('acc', account_id),
                           '","api_version":"${raw(CURRENT_VERSION)}",', case when is_test then '"is_test":true,' end, ${changes ? changesMember(changes) : empty}'"data":', data, '}') as payload
          from (select r.*, coalesce(r.given_id, ${newEventId(tx)}) as id, ${to.isRefused} as is_refused from (${records}) r
                -- events do not reference their account, which may have been deleted since the request was
                -- authenticated
                join accounts a on a.id = r.account_id) numbered) composed),
        candidate as materialized (
          select v.account_id, e.id as endpoint_id, v.id as event_id, v.type, e.resumptions,
                 e.filter_path is not null and v.only_endpoint is null
                   and not ${matches(sql`v.json`, FILTER_OF_E)} as is_filtered${order.candidate}
          from event v ${to.endpoints}
          where not v.is_refused and case when v.only_endpoint is not null then e.id = v.only_endpoint
                     else e.event_types is null or e.event_types && string_to_array(v.patterns, ' ') end),
        ${order.ctes}
        wanted as materialized (${order.wanted}),
        made as (
          insert into events (account_id, id, type, payload, traceparent, tracestate, filtered${order.stored})
          select account_id, id, type, payload, ${traced},
                 case when json is not null then (
            select array_agg(c.endpoint_id) from candidate c where c.event_id = event.id and c.is_filtered) end${order.stored}
          from event where not is_refused),
        ${to.ctes}${tagging}${lease.ctes}
        logged as (
          insert into deliveries (account_id, endpoint_id, event_id, type, next_attempt_at)
          select account_id, endpoint_id, event_id, type, now_ms() from wanted),
        counted as (
          ${noteChanges(sql`select *, 1 as total, 0 as delivered, 0 as failed, 0 as cancelled from wanted`)}),
        queued as (
          insert into queue (account_id, endpoint_id, event_id, generation, due_at, lease_token${order.queued})
          ${lease.queued})
        select ${returned}, ${lease.left} as left ${lease.returned}`,
    name,
  );
  if ((stored[0]?.left ?? 0) > 0) tx.announce();
  return stored;
}

/**
 * Whether an event (its id) may be read. A week that is being dropped may not. There is rarely such a week, so the check
 * runs once for all rows.
 */
export const isKept = (event: Sql): Sql => sql`(not exists (select from dropped_weeks) or not exists (
  select from dropped_weeks w
  where ${event} >= id_floor(w.starts_at) and ${event} < id_floor(w.starts_at + interval '7 days')))`;

/**
 * Keeps retention out until the transaction ends. Call it before looking up an event of the log to send again: a dropped
 * event is then not found.
 */
export async function holdLog(tx: Tx): Promise<void> {
  await shareLock(tx, LOCKS.log);
}

/**
 * Makes a delivery due now, at a user's request: a new attempt of the same event, whatever the earlier results. If it is
 * in flight or due already, nothing changes. If it waits for a batch, it is sent alone instead. Lifts a pause of the
 * endpoint (Retry-After), but not its rate limit. The caller has called `holdLog`, and checked that the delivery exists
 * and its endpoint is enabled.
 */
export async function retryNow(
  tx: Tx,
  { account, endpoint, event }: { account: AccountId; endpoint: EndpointId; event: EventId },
): Promise<void> {
  await rows(
    tx,
    sql`with asked as materialized (
          select account_id, id, ${event}::uuid, 'manual', resumptions, now(), batch_events is not null from webhook_endpoints
          where account_id = ${account} and id = ${endpoint})
        insert into queue as q (account_id, endpoint_id, event_id, trigger, generation, due_at, alone)
        select * from asked
        on conflict (event_id, endpoint_id) do update
          set trigger = case when q.due_at > excluded.due_at and q.generation = excluded.generation then 'manual' else q.trigger end,
              due_at = least(q.due_at, excluded.due_at), alone = excluded.alone
          where q.lease_token is null
            and case when q.due_at > excluded.due_at then q.generation = excluded.generation
                     else q.generation <= excluded.generation and q.alone < excluded.alone end`,
  );
  await rows(
    tx,
    sql`update endpoint_state set may_start_at = now()
        where account_id = ${account} and endpoint_id = ${endpoint} and may_start_at > now() + interval '1 second'`,
  );
  tx.announce();
}
