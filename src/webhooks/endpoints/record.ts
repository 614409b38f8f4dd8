import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { identifier, metadata, nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { BEHIND } from '../../outbox/order.ts';
import { egressFields, egressShown } from '../egress/record.ts';
import { filter } from '../filters/record.ts';
import { batch, batchColumn, batchInput } from '../forms/batch.ts';
import { formColumn, payloadForm } from '../forms/record.ts';
import {
  customSigning,
  secondSignature,
  secondSignatureInput,
  signing,
  signingFields,
} from '../signing/record.ts';

const fields = {
  id: Type.String({ examples: ['we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('webhook_endpoint'),
  url: Type.String({ description: 'where events are sent to' }),
  description: nullable(Type.String({ description: 'a note of yours' })),
  owner: nullable(
    Type.String({ description: 'who receives there, as you call them; null = nobody in particular' }),
  ),
  event_types: nullable(Type.Array(Type.String(), { description: 'null = all' })),
  filter: nullable({ ...filter, description: 'conditions on the payload; null = none' }),
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
  next_attempt_at: nullable({
    ...timestamp,
    description: 'when the first of what waits is due; null when nothing waits, or it is disabled',
  }),
  ordered: Type.Boolean({
    description: 'events of one ordering key are sent one after the other, as they were published',
  }),
  batch: nullable(batch),
  rate_limit: nullable(Type.Integer({ description: 'requests per second; null = no limit' })),
  headers: Type.Array(Type.String(), {
    description: 'names of your own headers; their values are never shown',
  }),
  payload: payloadForm,
  signing,
  custom_signing: nullable(customSigning),
  second_signature: nullable(secondSignature),
  ...egressShown,
  metadata,
  first_failure_at: nullable(timestamp),
  last_success_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};

/** The webhook endpoint record. */
export const webhookEndpoint = strict(fields, { title: 'WebhookEndpoint' });
export type WebhookEndpoint = Static<typeof webhookEndpoint>;

const signingOf = (column: string) => `case when ${column} is null then 'standard'
    when json_typeof(${column}) = 'string' then ${column} #>> '{}' else 'custom' end`;
// what an earlier version stored has no further headers
const customOf = (column: string) => `case when json_typeof(${column}) = 'object' then
  (jsonb_build_object('headers', '{}'::jsonb) || ${column}::jsonb)::json end`;

// less than a second ahead is only the rate limit
const pausedUntil = `case when s.may_start_at > now() + interval '1 second' then s.may_start_at end`;
// rows of an earlier generation are due at once (see queue.generation)
const nextAttempt = `(select greatest(least(q.due_at, case when q.generation < e.resumptions then now() end), ${pausedUntil})
  from queue q where q.account_id = e.account_id and q.endpoint_id = e.id and q.lease_token is null and q.generation < ${BEHIND.sql}
  order by q.generation, q.due_at limit 1)`;

const columns = {
  id: "public_id('we', e.id)",
  object: "'webhook_endpoint'",
  url: 'e.url',
  description: 'e.description',
  owner: 'e.owner',
  event_types: 'e.event_types',
  filter: 'e.filter',
  status: "case when e.disabled_at is null then 'enabled' else 'disabled' end",
  disabled_reason: 'e.disabled_reason',
  disabled_at: 'iso(e.disabled_at)',
  ordered: 'e.ordered',
  batch: batchColumn,
  rate_limit: 'e.rate_limit',
  headers: 'e.header_names',
  payload: formColumn,
  signing: signingOf('e.signing'),
  custom_signing: customOf('e.signing'),
  second_signature: `case when e.previous_secret_until > now() then json_build_object(
    'signing', ${signingOf('e.previous_signing')}, 'custom_signing', ${customOf('e.previous_signing')},
    'expires_at', iso(e.previous_secret_until)) end`,
  proxy: "e.egress ->> 'proxy'",
  client_certificate: "e.egress -> 'client_certificate'",
  client_credentials: "e.egress -> 'client_credentials'",
  metadata: 'e.metadata',
  paused_until: `case when e.disabled_at is null then iso(${pausedUntil}) end`,
  next_attempt_at: `case when e.disabled_at is null then iso(${nextAttempt}) end`,
  first_failure_at: 'iso(s.failing_since)',
  last_success_at: 'iso(s.last_success_at)',
  created_at: 'iso(id_time(e.id))',
  updated_at: 'iso(greatest(e.updated_at, id_time(e.id)))',
};
/** Its columns, over `webhook_endpoints e` and `stateJoin`. */
export const record = columnsOf(webhookEndpoint, columns);
/** The same as a portal shows them: without what the account notes for itself, and how its server connects. */
export const portalRecord = columnsOf(webhookEndpoint, {
  ...columns,
  metadata: "'{}'::json",
  proxy: 'null',
  client_certificate: 'null::json',
  client_credentials: 'null::json',
});
export const stateJoin = sql`join endpoint_state s on s.account_id = e.account_id and s.endpoint_id = e.id`;

const secret = nullable(
  Type.String({
    description: 'signs what is sent; null when a stored answer is replayed',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }),
);

/** The record as the response of its creation. */
export const newWebhookEndpoint = strict({ ...fields, secret }, { title: 'NewWebhookEndpoint' });
export type NewWebhookEndpoint = Static<typeof newWebhookEndpoint>;

/** The record as the response of a change. */
export const changedWebhookEndpoint = strict(
  {
    ...fields,
    secret: Type.Optional({
      ...secret,
      description:
        'only if this change made a new one, because the scheme cannot use the one before; null when a stored answer is replayed',
    }),
  },
  { title: 'ChangedWebhookEndpoint' },
);
export type ChangedWebhookEndpoint = Static<typeof changedWebhookEndpoint>;

/** The record after a change, with the secret that the change made; null = it made none. */
export const withNewSecret = (
  json: Json<WebhookEndpoint>,
  made: string | null,
): Json<ChangedWebhookEndpoint> =>
  extended<WebhookEndpoint, ChangedWebhookEndpoint>(json, made === null ? {} : { secret: toJson(made) });

/** The record with the secret that was just generated. */
export const withSecret = (json: Json<WebhookEndpoint>, made: string): Json<NewWebhookEndpoint> =>
  extended(json, { secret: toJson(made) });

/** The secret alone. */
export const endpointSecret = strict(
  {
    object: Type.Literal('webhook_endpoint_secret'),
    secret,
    previous_secret_expires_at: nullable({
      ...timestamp,
      description:
        'until then the second signature is sent: that of the secret before this one, or one that was given',
    }),
  },
  { title: 'WebhookEndpointSecret' },
);
export type EndpointSecret = Static<typeof endpointSecret>;

const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'http or https, without credentials and fragment, at a public address',
});
const optional = {
  description: Type.Optional(nullable(text(500))),
  owner: Type.Optional(
    nullable({
      ...identifier,
      description: 'who receives there, as you call them, for lists and portals; null = nobody in particular',
    }),
  ),
  event_types: Type.Optional(
    nullable(
      Type.Array(text(100), {
        minItems: 1,
        maxItems: 100,
        description: 'which events it gets: names such as payout.paid or payout.*; null = all',
      }),
    ),
  ),
  filter: Type.Optional(nullable(filter)),
  headers: Type.Optional(
    Type.Record(Type.String(), nullable(Type.String()), {
      description: 'your own headers, sent with every delivery; null removes one, others stay',
    }),
  ),
  ordered: Type.Optional(
    Type.Boolean({
      description:
        'true: events published from now on with one ordering key are sent one after the other; false: what waits is ' +
        'released',
    }),
  ),
  batch: Type.Optional(nullable(batchInput)),
  rate_limit: Type.Optional(
    nullable(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'requests per second; null = no limit' }),
    ),
  ),
  payload: Type.Optional(payloadForm),
  ...signingFields,
  second_signature: Type.Optional(
    nullable({
      ...secondSignatureInput,
      description:
        'sent beside the first until `expires_at`; what it leaves out is that of the signature before the change. Left out in ' +
        'a change of scheme or secret: the one before, for a day. null = none',
    }),
  ),
  ...egressFields,
  metadata: Type.Optional(metadata),
  status: Type.Optional(Type.Enum(['enabled', 'disabled'], { title: 'EndpointStatus' })),
};

/** The fields of a test event. */
export const testEvent = strict({
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'its type, one of the catalogue or your own; webhook_endpoint.test if left out',
      examples: ['payout.paid'],
    }),
  ),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'passed on unchanged; that of webhook_endpoint.test if left out',
    }),
  ),
});
export type TestEvent = Static<typeof testEvent>;

/** The fields of a new endpoint. */
export const newEndpoint = strict({ url, ...optional });
export type NewEndpoint = Static<typeof newEndpoint>;
/** The fields that may be changed. */
export const endpointChange = strict({ url: Type.Optional(url), ...optional });
export type EndpointChange = Static<typeof endpointChange>;
