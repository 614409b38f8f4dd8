import sql, { raw, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { identifier, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { CURRENT_VERSION } from '../../db/api-versions.ts';
import { IS_NOT_ADDRESSED } from '../../outbox/missing.ts';
import { endpointJoin, recordWithUrl, shownStatus, webhookEventAt } from '../log/record.ts';
import { changes } from '../types/changes.ts';

/** Marks a test event. Other events do not have it. */
export const isTest = Type.Literal(true, {
  description: 'sent to test the endpoint: nothing happened',
});

export const event = strict(
  {
    id: Type.String(),
    object: Type.Literal('event'),
    type: Type.String(),
    timestamp,
    account_id: Type.String(),
    api_version: Type.Literal(CURRENT_VERSION),
    is_test: Type.Optional(isTest),
    changes: Type.Optional(changes),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'Event', description: 'a whole event, as sent' },
);
export type Event = Static<typeof event>;

/** The maximum number of tags of an event. */
const MOST_TAGS = 10;

/** The body for publishing an event. */
export const newEvent = strict(
  {
    type: Type.String({ minLength: 1, maxLength: 100, examples: ['order.created'] }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'passed on unchanged; a number may have 131,072 digits before the decimal point and 16,383 after it, written without ' +
        'an exponent',
    }),
    external_id: Type.Optional(identifier),
    ordering_key: Type.Optional({
      ...identifier,
      description: 'ordered endpoints get the events of a key one at a time, in the order of publishing',
      examples: ['order:7'],
    }),
    owner: Type.Optional({
      ...identifier,
      description: 'only the endpoints of this owner get the event; without it all do',
      examples: ['customer-7'],
    }),
    tags: Type.Optional(
      Type.Array(Type.String({ ...identifier, maxLength: 100 }), {
        maxItems: MOST_TAGS,
        description: 'texts by which you find the event again; receivers do not get them',
        examples: [['order:7', 'web shop']],
      }),
    ),
  },
  { title: 'PublishEventBody' },
);
export type NewEvent = Static<typeof newEvent>;

/** The maximum number of events in a batch. */
export const MOST_EVENTS = 1000;

const eventBatchItem = strict({
  index: Type.Integer({ description: 'its index in the request' }),
  status: Type.Integer({ description: '201 new, 200 published before' }),
  event,
});
export type EventBatchItem = Static<typeof eventBatchItem>;

/** The result of each event of a batch. */
export const eventBatch = strict(
  { object: Type.Literal('event_batch'), items: Type.Array(eventBatchItem) },
  { title: 'EventBatch' },
);
export type EventBatch = Static<typeof eventBatch>;

const count = Type.Integer({ minimum: 0 });
const fields = {
  id: Type.String({
    description: '`webhook-id` for every receiver',
    examples: ['evt_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
  }),
  object: Type.Literal('published_event'),
  type: Type.String({ examples: ['payout.paid'] }),
  external_id: nullable(Type.String({ description: 'the id under which the platform published it' })),
  ordering_key: nullable(
    Type.String({ description: 'ordered endpoints get the events of a key one at a time' }),
  ),
  owner: nullable(Type.String({ description: 'only the endpoints of this owner get it; null = all' })),
  tags: Type.Array(Type.String(), { description: 'sorted; receivers do not get them' }),
  created_at: timestamp,
  deliveries: strict(
    {
      pending: count,
      held: count,
      delivered: count,
      failed: count,
      cancelled: count,
      filtered: Type.Integer({
        minimum: 0,
        description: 'endpoints whose filter excluded it when it was published',
      }),
    },
    {
      title: 'DeliveryCounts',
      description: 'the number of endpoints by delivery status; all 0: no endpoint gets it',
    },
  ),
};

/** A published event with its number of deliveries by status. */
export const publishedEvent = strict(fields, { title: 'PublishedEvent' });
export type PublishedEvent = Static<typeof publishedEvent>;

/** The maximum length of each list of endpoints. */
const MOST_LISTED = 100;

const REASONS = [
  'filtered',
  'made_later',
  'other_owner',
  'not_addressed',
  'not_subscribed',
  'subscribed_later',
] as const;
const notSent = strict(
  {
    webhook_endpoint_id: Type.String({ examples: ['we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    url: nullable(Type.String({ description: 'the current URL of the endpoint; null: it has none' })),
    reason: Type.Enum([...REASONS], {
      title: 'NotSentReason',
      description:
        'filtered: its filter did not match when the event was published. made_later: the endpoint was created after the ' +
        'event. other_owner: the event was for the endpoints of another owner. not_addressed: the event was for one endpoint only, or reports that this one, or one of another owner, was disabled. ' +
        'not_subscribed: it does not subscribe to the type. subscribed_later: it subscribes to the ' +
        'type now, but did not then, or its record was dropped with its week of the log',
    }),
  },
  { title: 'NotSent' },
);

/** The record with its payload, its deliveries, and why the other endpoints did not get it. */
export const publishedEventWhole = strict(
  {
    ...fields,
    payload: event,
    sent_to: Type.Array(webhookEventAt, {
      description: `its records in the log, at most ${MOST_LISTED}; \`event_id\` finds all of them there`,
    }),
    not_sent_to: Type.Array(notSent, {
      description: `the other current endpoints, at most ${MOST_LISTED}, oldest first`,
    }),
  },
  { title: 'PublishedEventWhole' },
);
export type PublishedEventWhole = Static<typeof publishedEventWhole>;

const counted = (status: string) => `count(*) filter (where status = '${status}') as ${status}`;
const deliveries = sql`(
  select row_to_json(n) from (
    select ${raw(['pending', 'held', 'delivered', 'failed', 'cancelled'].map(counted).join(', '))},
           coalesce(cardinality(v.filtered), 0) as filtered
    from (select ${raw(shownStatus)} as status from deliveries d ${endpointJoin}
          where d.account_id = v.account_id and d.event_id = v.id) fates) n)`;
const ownerOf =
  '(select o.owner from event_owners o where o.account_id = v.account_id and o.event_id = v.id)';
const columns = {
  id: "public_id('evt', v.id)",
  object: "'published_event'",
  type: 'v.type',
  external_id:
    '(select k.external_id from event_keys k where k.event_id = v.id and k.account_id = v.account_id)',
  ordering_key: 'v.ordering_key',
  owner: ownerOf,
  tags: `(select coalesce(json_agg(t.tag order by t.tag), '[]') from event_tags t
    where t.account_id = v.account_id and t.event_id = v.id)`,
  created_at: 'iso(id_time(v.id))',
  deliveries,
};
/** The columns of the record, over `events v`. */
export const publishedRecord = columnsOf(publishedEvent, columns);

const reason = `case
  when e.id = any(v.filtered) then 'filtered'
  when id_time(e.id) > id_time(v.id) then 'made_later'
  when e.owner is distinct from coalesce(${ownerOf}, e.owner) then 'other_owner'
  when ${IS_NOT_ADDRESSED} then 'not_addressed'
  when e.event_types is null or exists (
    select from unnest(e.event_types) wanted
    where wanted = v.type or (right(wanted, 1) = '*' and starts_with(v.type, left(wanted, -1)))) then 'subscribed_later'
  else 'not_subscribed' end`;
const list = (records: Sql, order: Sql) =>
  sql`(select coalesce(json_agg(row_to_json(r)), '[]') from (${records} order by ${order} limit ${raw(String(MOST_LISTED))}) r)`;

/** The record with payload and endpoints. */
export const publishedRecordWhole = columnsOf(publishedEventWhole, {
  ...columns,
  payload: 'v.payload::json',
  sent_to: list(
    sql`select ${recordWithUrl} from deliveries d ${endpointJoin} where d.account_id = v.account_id and d.event_id = v.id`,
    sql`d.endpoint_id`,
  ),
  not_sent_to: list(
    sql`select ${columnsOf(notSent, {
      webhook_endpoint_id: "public_id('we', e.id)",
      url: "nullif(e.url, '')",
      reason,
    })}
      from webhook_endpoints e
      where e.account_id = v.account_id and e.deleted_at is null and not exists (
        select from deliveries d
        where d.account_id = v.account_id and d.endpoint_id = e.id and d.event_id = v.id)`,
    sql`e.id`,
  ),
});
