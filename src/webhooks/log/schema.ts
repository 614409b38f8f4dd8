import { Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

const fields = {
  id: Type.String({
    description: "the event's id: `webhook-id` for the receiver",
    examples: ['evt_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
  }),
  object: Type.Literal('webhook_event'),
  webhook_endpoint_id: Type.String({ description: 'where it is sent to' }),
  type: Type.String({ examples: ['payout.paid'] }),
  status: Type.Enum(['pending', 'delivered', 'failed', 'held'], {
    title: 'DeliveryStatus',
    description: 'held: the endpoint is disabled; it goes on when the endpoint is enabled',
  }),
  attempt_count: Type.Integer({ description: 'attempts made so far' }),
  next_attempt_at: nullable({ ...timestamp, description: 'null when none is planned' }),
  last_attempt_at: nullable(timestamp),
  last_response_status: nullable(
    Type.Integer({ description: 'of the last attempt; null when nothing came back' }),
  ),
  last_error_code: nullable(Type.String({ description: 'why the last attempt failed' })),
  delivered_at: nullable(timestamp),
  created_at: timestamp,
};

/** The delivery log record: one event at one endpoint. */
export const webhookEvent = strict(fields, { title: 'WebhookEvent' });

const sent = Type.Record(Type.String(), Type.String());

const attempt = strict(
  {
    number: Type.Integer({ description: 'from 1' }),
    trigger: Type.Enum(['scheduled', 'manual', 'recovery'], {
      title: 'AttemptTrigger',
      description: 'manual: a retry by hand',
    }),
    status: Type.Enum(['succeeded', 'failed'], { title: 'AttemptStatus' }),
    url: Type.String(),
    started_at: timestamp,
    duration_ms: Type.Integer(),
    request_headers: nullable({ ...sent, description: 'as they were sent; values of your own are hidden' }),
    response_status: nullable(Type.Integer({ description: 'null when nothing came back' })),
    response_headers: nullable({ ...sent, description: 'as they came back' }),
    response_body: nullable(Type.String({ description: 'its first 16 KiB' })),
    response_truncated: Type.Boolean({ description: 'the body goes on after what is kept' }),
    error_code: nullable(Type.String({ description: 'why it failed, in a word; null when it succeeded' })),
    error_message: nullable(Type.String({ description: 'the same for people' })),
  },
  { title: 'WebhookAttempt' },
);

/** The record with what was sent and what came back. */
export const webhookEventWithAttempts = strict(
  {
    ...fields,
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'the event as it is sent' }),
    attempts: Type.Array(attempt),
  },
  { title: 'WebhookEventWithAttempts' },
);
