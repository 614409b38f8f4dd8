import { Type } from 'typebox';
import { nullable, strict, timestamp } from '../schemas.ts';

const fields = {
  id: Type.String({
    description: "the event's id: `webhook-id` for the receiver",
    examples: ['evt_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
  }),
  object: Type.Literal('webhook_event'),
  webhook_endpoint_id: Type.String(),
  type: Type.String({ examples: ['payout.paid'] }),
  status: Type.Enum(['pending', 'delivered', 'failed', 'held'], {
    description: 'held: the endpoint is disabled; it goes on when the endpoint is enabled',
  }),
  attempt_count: Type.Integer(),
  next_attempt_at: nullable(timestamp),
  last_attempt_at: nullable(timestamp),
  last_response_status: nullable(Type.Integer()),
  last_error_code: nullable(Type.String()),
  delivered_at: nullable(timestamp),
  created_at: timestamp,
};

/** The delivery log record: one event at one endpoint. */
export const webhookEvent = strict(fields, { title: 'WebhookEvent' });

const headers = nullable(Type.Record(Type.String(), Type.String()));

const attempt = strict(
  {
    number: Type.Integer(),
    trigger: Type.Enum(['scheduled', 'manual', 'recovery']),
    status: Type.Enum(['succeeded', 'failed']),
    url: Type.String(),
    started_at: timestamp,
    duration_ms: Type.Integer(),
    request_headers: headers,
    response_status: nullable(Type.Integer()),
    response_headers: headers,
    response_body: nullable(Type.String({ description: 'its first 16 KiB' })),
    response_truncated: Type.Boolean(),
    error_code: nullable(Type.String()),
    error_message: nullable(Type.String()),
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
