import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { changeSchema, newSchema, recordColumns, recordProperties, writable } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { changes } from '../types/changes.ts';
import { ENDPOINT_FIELDS } from './fields.ts';

const fields = recordProperties(ENDPOINT_FIELDS);
/** The webhook endpoint record. */
export const webhookEndpoint = strict(fields, { title: 'WebhookEndpoint' });
export type WebhookEndpoint = Static<typeof webhookEndpoint>;

const columns = recordColumns(ENDPOINT_FIELDS, 'e');
const hidden = writable(ENDPOINT_FIELDS).flatMap(([name, field]) =>
  'portalColumn' in field ? [[name, field.portalColumn]] : [],
);
/** Its columns, over `webhook_endpoints e` and `stateJoin`. */
export const record = columnsOf(webhookEndpoint, columns);
/** The same in events, which other endpoints get: without the address. */
export const eventRecord = columnsOf(webhookEndpoint, { ...columns, contact_email: 'null' });
/** The same in a portal, without the account's own notes and connection settings. */
export const portalRecord = columnsOf(webhookEndpoint, { ...columns, ...Object.fromEntries(hidden) });
export const stateJoin = sql`join endpoint_state s on s.account_id = e.account_id and s.endpoint_id = e.id`;

const secret = nullable(
  Type.String({
    description:
      'what the receiver verifies with; with `signing: ed25519` the public key; null when a stored answer is replayed',
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
        'only if this created a secret, with the endpoint or because the scheme cannot use the previous one; null when a stored answer is replayed',
    }),
  },
  { title: 'ChangedWebhookEndpoint' },
);
export type ChangedWebhookEndpoint = Static<typeof changedWebhookEndpoint>;

/** The record after a change, with the secret that the change created; null = none. */
export const withNewSecret = (
  json: Json<WebhookEndpoint>,
  made: string | null,
): Json<ChangedWebhookEndpoint> =>
  extended<WebhookEndpoint, ChangedWebhookEndpoint>(json, made === null ? {} : { secret: toJson(made) });

/** The record with the secret that was just generated. */
export const withSecret = (json: Json<WebhookEndpoint>, made: string): Json<NewWebhookEndpoint> =>
  extended(json, { secret: toJson(made) });

/** The response of a creation as one of a change, which may have a secret too. */
export const asChanged = (json: Json<NewWebhookEndpoint>): Json<ChangedWebhookEndpoint> =>
  json as string as Json<ChangedWebhookEndpoint>;

/** The response with only the secret. */
export const endpointSecret = strict(
  {
    object: Type.Literal('webhook_endpoint_secret'),
    secret,
    previous_secret_expires_at: nullable({
      ...timestamp,
      description: 'when the second signature ends: that of the previous secret, or one that was given',
    }),
    public_keys_url: nullable(
      Type.String({
        description: 'with `signing: ed25519`: where anyone can read the public keys, as a JSON Web Key Set',
        examples: [
          'https://pay.example.com/webhook-keys/acc_0192f8e5c7a7b3e9d0192f8e5c7a7b00/we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e',
        ],
      }),
    ),
  },
  { title: 'WebhookEndpointSecret' },
);
export type EndpointSecret = Static<typeof endpointSecret>;

/** The fields of a test event. */
export const testEvent = strict({
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'a type of the catalogue or your own; default webhook_endpoint.test',
      examples: ['payout.paid'],
    }),
  ),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'passed on unchanged; default: that of webhook_endpoint.test',
    }),
  ),
  changes: Type.Optional(changes),
});
export type TestEvent = Static<typeof testEvent>;

/** The fields of a new endpoint. */
export const newEndpoint = newSchema(ENDPOINT_FIELDS);
export type NewEndpoint = Static<typeof newEndpoint>;
const { external_id: _, ...configured } = newEndpoint.properties;
/** The same for an endpoint addressed by its external_id. */
export const endpointConfiguration = strict(configured);
export type EndpointConfiguration = Static<typeof endpointConfiguration>;
/** The fields that may be changed. */
export const endpointChange = strict({
  ...changeSchema(ENDPOINT_FIELDS).properties,
  held: Type.Optional(
    Type.Enum(['send', 'discard'], {
      title: 'HeldAction',
      description: 'with `status` enabled: what happens to the events that were held; discard cancels them',
      default: 'send',
      examples: ['discard'],
    }),
  ),
});
export type EndpointChange = Static<typeof endpointChange>;
