import { Type } from 'typebox';
import { metadata, nullable, strict, timestamp } from '../../contract/schemas.ts';

const fields = {
  id: Type.String({ examples: ['we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String({ description: 'where events are sent to' }),
  description: nullable(Type.String({ description: 'a note of yours' })),
  event_types: nullable(Type.Array(Type.String(), { description: 'null = all' })),
  status: Type.Enum(['enabled', 'disabled'], { title: 'EndpointStatus' }),
  disabled_reason: nullable(
    Type.Enum(['manual', 'failing', 'gone'], {
      title: 'DisabledReason',
      description: 'manual: by hand; failing: every attempt failed for five days; gone: it answered 410',
    }),
  ),
  disabled_at: nullable(timestamp),
  paused_until: nullable({
    ...timestamp,
    description:
      'nothing is sent before: it asked to be left alone (Retry-After), or was busy (429, 502, 503, 504)',
  }),
  rate_limit: nullable(Type.Integer({ description: 'attempts per second; null = no limit' })),
  headers: Type.Array(Type.String(), {
    description: 'names of your own headers; their values are never shown',
  }),
  metadata,
  first_failure_at: nullable(timestamp),
  last_success_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};

/** The webhook endpoint record. */
export const webhookEndpoint = strict(fields, { title: 'WebhookEndpoint' });

const secret = nullable(
  Type.String({
    description: 'signs what is sent (Standard Webhooks); null when a stored answer is replayed',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
);

/** The record as its creation answers it. */
export const newWebhookEndpoint = strict({ ...fields, secret }, { title: 'NewWebhookEndpoint' });

/** The secret by itself. */
export const endpointSecret = strict(
  {
    object: Type.Literal('webhook_endpoint_secret'),
    secret,
    previous_secret_expires_at: nullable({
      ...timestamp,
      description: 'until then deliveries carry the signature of the secret before this one too',
    }),
  },
  { title: 'WebhookEndpointSecret' },
);
