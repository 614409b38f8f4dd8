import { done, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { endpointEventList, listDeliveries, webhookEventList } from './list.ts';
import { webhookEvent, webhookEventWithAttempts } from './record.ts';
import { getDeliveryWhole, loggedEndpoint, retryDelivery } from './service.ts';

export const listOfEndpoint = readRoute({
  operation: 'listEventsOfWebhookEndpoint',
  path: '/v2/webhook-endpoints/{id}/events',
  scope: 'webhooks',
  needs: 'read',
  portal: 'path',
  summary: 'List the events of a webhook endpoint',
  description: 'The delivery log of one endpoint, which may be deleted.',
  list: endpointEventList,
  returns: { 200: listOf(webhookEvent) },
  errors: ['resource_missing'],
  handle: async ({ db, account, params, list }) =>
    page(await listDeliveries(db, account, list, await loggedEndpoint(db, account, params.id))),
});

export const get = readRoute({
  operation: 'getEventOfWebhookEndpoint',
  path: '/v2/webhook-endpoints/{id}/events/{event_id}',
  scope: 'webhooks',
  needs: 'read',
  portal: 'path',
  summary: 'Get an event of a webhook endpoint',
  description:
    'With the payload and every attempt: its request and response. A token also needs the scope affiliates ' +
    'for events of payouts, commissions, affiliates and imports.',
  returns: { 200: webhookEventWithAttempts },
  errors: ['resource_missing'],
  handle: async ({ db, principal, params }) => ok(await getDeliveryWhole(db, principal, params)),
});

export const retry = writeRoute({
  operation: 'retryEventOfWebhookEndpoint',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/events/{event_id}/retry',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Retry an event',
  description:
    'Sends the event again now, whatever its status, with the same `webhook-id`. If an attempt is already in progress or due, that ' +
    'attempt counts. A failure leaves the earlier status and the rest of the schedule unchanged.',
  returns: { 200: null },
  errors: ['resource_missing', 'endpoint_disabled', 'endpoint_deleted'],
  handle: async ({ tx, principal, params }) => {
    await retryDelivery(tx, principal, params);
    return done();
  },
});

export const listAll = readRoute({
  operation: 'listWebhookEvents',
  path: '/v2/webhook-events/',
  scope: 'webhooks',
  needs: 'read',
  summary: 'List all webhook events',
  description: 'The delivery log of the account: an event has a row for each endpoint it is sent to.',
  list: webhookEventList,
  returns: { 200: listOf(webhookEvent) },
  handle: async ({ db, account, list }) => page(await listDeliveries(db, account, list)),
});
