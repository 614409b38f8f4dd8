import { Type } from 'typebox';
import { created, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { MAX_PAYLOAD_BYTES } from '../../outbox/event.ts';
import { filterTest, filterTestInput } from '../filters/record.ts';
import { webhookEvent } from '../log/record.ts';
import { getDelivery } from '../log/service.ts';
import { signingSecret } from '../signing/record.ts';
import { sendContactLink } from './contact-link.ts';
import { getByExternalId, putEndpoint } from './external-id.ts';
import {
  changedWebhookEndpoint,
  endpointChange,
  endpointConfiguration,
  endpointSecret,
  newEndpoint,
  newWebhookEndpoint,
  testEvent,
  webhookEndpoint,
} from './record.ts';
import { getSecret, rotateSecret, showSecret } from './secrets.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  testEndpoint,
  testEndpointFilter,
} from './service.ts';
import { endpointList, listEndpoints } from './store.ts';

const DAY_SECONDS = 86_400;
const droppedHeaders = (names: readonly string[]): Readonly<Record<string, string>> =>
  names.length > 0 ? { 'payhook-dropped-headers': names.join(', ') } : {};
/** Why the settings of an endpoint are refused, when it is created and when it is changed. */
const REFUSED_SETTINGS = [
  'invalid_url',
  'invalid_event_type',
  'invalid_filter',
  'unknown_operator',
  'too_many_filters',
  'invalid_header',
  'invalid_signing',
  'invalid_secret',
  'invalid_proxy',
  'invalid_client_certificate',
  'invalid_client_credentials',
] as const;

export const list = readRoute({
  operation: 'listWebhookEndpoints',
  path: '/v2/webhook-endpoints',
  scope: 'webhooks',
  needs: 'read',
  portal: 'own',
  summary: 'List webhook endpoints',
  list: endpointList,
  returns: { 200: listOf(webhookEndpoint) },
  handle: async ({ db, principal, list }) => page(await listEndpoints(db, principal, list)),
});

export const create = writeRoute({
  operation: 'createWebhookEndpoint',
  method: 'POST',
  path: '/v2/webhook-endpoints',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'own',
  summary: 'Create a webhook endpoint',
  description: 'Events from now on are sent there. The answer shows the secret that signs them.',
  body: newEndpoint,
  returns: { 201: newWebhookEndpoint },
  creates: '/v2/webhook-endpoints/{id}',
  errors: [...REFUSED_SETTINGS, 'too_many_endpoints', 'duplicate_external_id'],
  secret: 'secret',
  handle: async ({ tx, body, env, ...caller }) =>
    created(await createEndpoint(tx, { ...caller, ...env }, body)),
});

export const get = readRoute({
  operation: 'getWebhookEndpoint',
  path: '/v2/webhook-endpoints/{id}',
  scope: 'webhooks',
  needs: 'read',
  portal: 'path',
  summary: 'Get a webhook endpoint',
  returns: { 200: webhookEndpoint },
  errors: ['resource_missing'],
  handle: async ({ db, principal, params }) => ok(await getEndpoint(db, principal, params.id)),
});

export const change = writeRoute({
  operation: 'changeWebhookEndpoint',
  method: 'PATCH',
  path: '/v2/webhook-endpoints/{id}',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  sends: ['Payhook-Dropped-Headers'],
  summary: 'Change, enable or disable a webhook endpoint',
  description:
    'Events are held while the endpoint is disabled. When it is enabled again, all held events are sent, with a new schedule, or ' +
    'cancelled, as `held` says. ' +
    'Header values stay with the origin they were given for. A URL with another scheme, host or port drops them ' +
    'unless the same request sends them again, and so does another `proxy` for an http URL; `Payhook-Dropped-Headers` names what was dropped. ' +
    '`client_credentials` stay in the same way, dropped as `authorization`. After a change of ' +
    '`signing` or `secret` the signature before is sent too, for a day or as `second_signature` says. If the new scheme cannot ' +
    'use the secret there is and the request names none, a new one is made, and the answer shows it.',
  body: endpointChange,
  returns: { 200: changedWebhookEndpoint },
  errors: [
    'resource_missing',
    'endpoint_owner_fixed',
    'too_many_endpoints',
    'duplicate_external_id',
    ...REFUSED_SETTINGS,
  ],
  secret: 'secret',
  handle: async ({ tx, body, params, env, ...caller }) => {
    const { json, dropped } = await changeEndpoint(tx, { ...caller, ...env }, params.id, body);
    return ok(json, droppedHeaders(dropped));
  },
});

const byExternalId = '/v2/webhook-endpoints/by-external-id/{external_id}';
const inPath = {
  external_id: {
    description: 'your own id of the endpoint, percent-encoded',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
};

export const getOwn = readRoute({
  operation: 'getWebhookEndpointByExternalId',
  path: byExternalId,
  inPath,
  scope: 'webhooks',
  needs: 'read',
  summary: 'Get a webhook endpoint by your own id',
  returns: { 200: webhookEndpoint },
  errors: ['resource_missing'],
  handle: async ({ db, principal, params }) => ok(await getByExternalId(db, principal, params.external_id)),
});

export const put = writeRoute({
  operation: 'putWebhookEndpointByExternalId',
  method: 'PUT',
  path: byExternalId,
  inPath,
  scope: 'webhooks',
  needs: 'webhooks',
  sends: ['Payhook-Dropped-Headers'],
  summary: 'Create or configure a webhook endpoint by your own id',
  description:
    'Creates the endpoint with this external_id (201, with the secret), or gives it exactly this configuration (200): absent fields ' +
    'get the value of a new endpoint, and headers that are not named are removed. `status`, `contact_email`, `secret` and `second_signature` stay ' +
    'unless they are sent. The same body again changes nothing. Two requests at once create one endpoint.',
  body: endpointConfiguration,
  returns: { 200: changedWebhookEndpoint, 201: changedWebhookEndpoint },
  creates: '/v2/webhook-endpoints/{id}',
  errors: ['endpoint_owner_fixed', 'too_many_endpoints', ...REFUSED_SETTINGS],
  secret: 'secret',
  handle: async ({ tx, body, params, env, ...caller }) => {
    const done = await putEndpoint(tx, { ...caller, ...env }, params.external_id, body);
    return done.isNew ? created(done.json) : ok(done.json, droppedHeaders(done.dropped));
  },
});

export const remove = writeRoute({
  operation: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/v2/webhook-endpoints/{id}',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Delete a webhook endpoint',
  description: 'What is still pending there ends as failed; its log stays readable until retention.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, principal, params }) => {
    await deleteEndpoint(tx, principal, params.id);
    return noContent();
  },
});

export const secret = readRoute({
  operation: 'getWebhookEndpointSecret',
  path: '/v2/webhook-endpoints/{id}/secret',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Get the secret that signs deliveries',
  description:
    'What the receiver verifies with: the secret, or with `signing: ed25519` the public key. A private key is never shown. Who ' +
    'got it is in the audit log.',
  secret: true,
  records: true,
  returns: { 200: endpointSecret },
  errors: ['resource_missing'],
  handle: async ({ db, record, params, env, ...caller }) => {
    const asking = { ...caller, ...env, base: env.authorizeUrl() };
    const shown = await record((tx) => showSecret(tx, asking, params.id));
    return ok(shown ?? (await getSecret(db, asking, params.id)));
  },
});

export const rotate = writeRoute({
  operation: 'rotateWebhookEndpointSecret',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/rotate-secret',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Make a new secret',
  description:
    'Deliveries carry signatures with both secrets for a day, or for `overlap_seconds`. If the header of the scheme takes ' +
    'only one signature, the previous secret makes it until then.',
  body: strict({
    overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 7 * DAY_SECONDS })),
    secret: Type.Optional(signingSecret),
  }),
  bodyOptional: true,
  returns: { 200: endpointSecret },
  errors: ['resource_missing', 'invalid_secret'],
  secret: 'secret',
  handle: async ({ tx, params, body, env, ...caller }) =>
    ok(
      await rotateSecret(tx, { ...caller, ...env, base: env.authorizeUrl() }, params.id, {
        overlapSeconds: body.overlap_seconds ?? DAY_SECONDS,
        secret: body.secret,
      }),
    ),
});

export const confirmContact = writeRoute({
  operation: 'confirmWebhookEndpointContact',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/confirm-contact',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Send the link that confirms the contact again',
  description:
    'E-mails a new link to `contact_email`; earlier links end. Creating and changing the endpoint sends one already. At most 3 are sent to ' +
    'one address within a day.',
  returns: { 200: webhookEndpoint },
  errors: ['resource_missing', 'nothing_to_confirm', 'email_not_sent'],
  handle: async ({ tx, params, env, ...caller }) =>
    ok(await sendContactLink(tx, { ...caller, ...env }, params.id)),
});

export const test = writeRoute({
  operation: 'testWebhookEndpoint',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/test',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Send a test event',
  description:
    'Sends `webhook_endpoint.test`, or an event of another type with data of yours, to this endpoint only, whatever it ' +
    'subscribed to. It is signed as any other and carries `"is_test": true`.',
  bodyLimit: 2 * MAX_PAYLOAD_BYTES,
  passesOn: 'data',
  body: testEvent,
  bodyOptional: true,
  returns: { 201: webhookEvent },
  creates: '/v2/webhook-endpoints/{id}/events/{event_id}',
  errors: ['resource_missing', 'endpoint_disabled', 'invalid_event_type', 'payload_too_large'],
  handle: async ({ tx, params, json, body, ...caller }) =>
    created(
      await getDelivery(tx, caller.account, await testEndpoint(tx, caller, params.id, { ...body, json })),
    ),
});

export const tryFilter = writeRoute({
  operation: 'testWebhookEndpointFilter',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/test-filter',
  scope: 'webhooks',
  needs: 'read',
  summary: 'Try a filter on a payload',
  description:
    'Says whether the filter matches, and of each condition what it found. Sends nothing and changes nothing.',
  body: filterTestInput,
  bodyLimit: 2 * MAX_PAYLOAD_BYTES,
  passesOn: 'payload',
  unaudited: true,
  returns: { 200: filterTest },
  errors: ['resource_missing', 'invalid_filter', 'unknown_operator', 'too_many_filters'],
  handle: async ({ tx, account, params, body, json }) =>
    ok(await testEndpointFilter(tx, account, params.id, { ...body, text: json.text })),
});
