import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { BEHIND } from '../../outbox/order.ts';
import { batchSent, bodySent } from '../forms/forms.ts';

const fields = {
  id: Type.String({
    description: "the event's id: `webhook-id` for the receiver",
    examples: ['evt_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
  }),
  object: Type.Literal('webhook_event'),
  webhook_endpoint_id: Type.String({ description: 'the endpoint it is sent to' }),
  type: Type.String({ examples: ['payout.paid'] }),
  status: Type.Enum(['pending', 'delivered', 'failed', 'cancelled', 'held'], {
    title: 'DeliveryStatus',
    description:
      'held: the endpoint is disabled; delivery continues when it is enabled. cancelled: discarded, too old, or given up by the receiver',
  }),
  attempt_count: Type.Integer({ description: 'attempts made so far' }),
  next_attempt_at: nullable({
    ...timestamp,
    description: 'null if none is planned, or it waits for another event',
  }),
  waits_for: nullable(
    Type.String({
      description:
        'the event of the same ordering key that must end first, at an ordered endpoint; null = none',
    }),
  ),
  last_attempt_at: nullable(timestamp),
  last_response_status: nullable(
    Type.Integer({ description: 'of the last attempt; null without a response' }),
  ),
  last_error_code: nullable(Type.String({ description: 'why the last attempt failed' })),
  delivered_at: nullable(timestamp),
  created_at: timestamp,
};

/** The record of the delivery log: one event at one endpoint. */
export const webhookEvent = strict(fields, { title: 'WebhookEvent' });
export type WebhookEvent = Static<typeof webhookEvent>;

const sent = Type.Record(Type.String(), Type.String());

const attempt = strict(
  {
    number: Type.Integer({ description: 'from 1' }),
    trigger: Type.Enum(['scheduled', 'manual', 'recovery'], {
      title: 'AttemptTrigger',
      description: 'manual: a manual retry',
    }),
    status: Type.Enum(['succeeded', 'failed'], { title: 'AttemptStatus' }),
    url: nullable(Type.String({ description: 'null: a consumer claimed it' })),
    started_at: timestamp,
    duration_ms: Type.Integer(),
    request_headers: nullable({
      ...sent,
      description: 'as sent; the values of your own headers are hidden',
    }),
    request_body: nullable(
      Type.String({
        description:
          'as sent, if it differs from `payload`: thin or a CloudEvent; in a batch its part of the array',
      }),
    ),
    batch: nullable(
      strict(
        {
          id: Type.String({ description: '`webhook-id` of the request' }),
          event_count: Type.Integer({ description: 'the number of events it carried' }),
        },
        {
          title: 'AttemptBatch',
          description: 'the request was an array of events; null = it carried only this event, or is lost',
        },
      ),
    ),
    claim: nullable(
      strict(
        {
          lease_id: Type.String({ description: 'as in the claim' }),
          claimed_by: Type.String({
            description: 'the id of the key, user or application; that of the endpoint with its token',
          }),
          consumer: nullable(Type.String({ description: 'the name that the consumer gave' })),
        },
        {
          title: 'AttemptClaim',
          description: 'who claimed it from a pull endpoint; null = it was sent to a URL',
        },
      ),
    ),
    response_status: nullable(Type.Integer({ description: 'null without a response' })),
    response_headers: nullable({ ...sent, description: 'as received' }),
    response_body: nullable(
      Type.String({ description: 'its first 16 KiB; in a batch of several events its first KiB' }),
    ),
    response_truncated: Type.Boolean({ description: 'the body is longer than the stored part' }),
    error_code: nullable(
      Type.String({ description: 'why it failed, as a stable code; null if it succeeded' }),
    ),
    error_message: nullable(Type.String({ description: 'the same as readable text' })),
  },
  { title: 'WebhookAttempt' },
);

/** The record with the requests and responses. */
export const webhookEventWithAttempts = strict(
  {
    ...fields,
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'the event as sent' }),
    attempts: Type.Array(attempt),
  },
  { title: 'WebhookEventWithAttempts' },
);
export type WebhookEventWithAttempts = Static<typeof webhookEventWithAttempts>;

// A disabled endpoint holds its waiting deliveries. A deleted one has ended them, although workers write that later.
const isHeld = '(e.disabled_at is not null and e.deleted_at is null)';
const isOver = "(d.status = 'pending' and e.deleted_at is not null)";
/** The joins that the columns need in addition to `deliveries d`. */
export const endpointJoin = sql`join webhook_endpoints e on e.account_id = d.account_id and e.id = d.endpoint_id
  left join endpoint_state s on s.account_id = d.account_id and s.endpoint_id = d.endpoint_id`;
// not before the endpoint may be sent to again
const nextAttempt =
  "greatest(d.next_attempt_at, case when s.may_start_at > now() + interval '1 second' then s.may_start_at end)";

/** The status of a delivery as shown, over `deliveries d` and its endpoint `e`. */
export const shownStatus = `case when ${isOver} then 'failed' when d.status = 'pending' and ${isHeld} then 'held' else d.status end`;

// looked up only for pending deliveries of ordered endpoints: by the primary key of the queue, then by its index of
// current rows
const mayWait = `d.status = 'pending' and e.ordered and e.deleted_at is null`;
const isBehind = `q.event_id = d.event_id and q.endpoint_id = d.endpoint_id and q.generation = ${BEHIND.sql}`;
const waitsFor = `case when ${mayWait} then (
  select public_id('evt', front.event_id)
  from queue q join queue front on front.endpoint_id = q.endpoint_id and front.ordering_key = q.ordering_key
  where ${isBehind} and front.generation < ${BEHIND.sql} limit 1) end`;

const columns = {
  id: "public_id('evt', d.event_id)",
  object: "'webhook_event'",
  webhook_endpoint_id: "public_id('we', d.endpoint_id)",
  type: 'd.type',
  status: shownStatus,
  attempt_count: 'd.attempt_count',
  next_attempt_at: `case when e.disabled_at is null and e.deleted_at is null and d.next_attempt_at is not null
    and not (${mayWait} and exists (select from queue q where ${isBehind}))
    then iso(${nextAttempt}) end`,
  waits_for: waitsFor,
  last_attempt_at: 'iso(d.last_attempt_at)',
  last_response_status: 'd.last_response_status',
  last_error_code: `case when ${isOver} then 'endpoint_deleted' else d.last_error_code end`,
  delivered_at: 'iso(d.delivered_at)',
  created_at: 'iso(id_time(d.event_id))',
};
/** The columns of the record, over `deliveries d` and `endpointJoin`. */
export const record = columnsOf(webhookEvent, columns);

const attemptColumns = columnsOf(attempt, {
  number: 'a.number',
  trigger: 'a.trigger',
  status: "case when a.error_code is null then 'succeeded' else 'failed' end",
  url: "nullif(a.url, '')",
  started_at: 'iso(a.started_at)',
  duration_ms: 'a.duration_ms',
  request_headers: 'a.request_headers',
  request_body: bodySent,
  batch: batchSent,
  claim: 'a.claim',
  response_status: 'a.response_status',
  response_headers: 'a.response_headers',
  response_body: 'a.response_body',
  response_truncated: 'a.response_truncated',
  error_code: 'a.error_code',
  error_message: 'a.error_message',
});

/** The attempts of a delivery `d`, as a JSON array. */
export const attemptsOfDelivery = sql`(
  select coalesce(json_agg(row_to_json(t) order by t.number), '[]') from (
    select ${attemptColumns} from attempts a
    where a.account_id = d.account_id and a.endpoint_id = d.endpoint_id and a.event_id = d.event_id) t)`;

/** The record with the current URL of the endpoint. */
export const webhookEventAt = strict(
  {
    url: nullable(Type.String({ description: 'the current URL of the endpoint; null: it has none' })),
    ...fields,
  },
  { title: 'WebhookEventAt' },
);
export const recordWithUrl = columnsOf(webhookEventAt, { url: "nullif(e.url, '')", ...columns });

/** The record with payload and attempts. */
export const recordWithAttempts = columnsOf(webhookEventWithAttempts, {
  ...columns,
  payload: '(select v.payload::json from events v where v.account_id = d.account_id and v.id = d.event_id)',
  attempts: attemptsOfDelivery,
});
