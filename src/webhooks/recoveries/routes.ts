import { created, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { loggedEndpoint } from '../log/service.ts';
import {
  discardRequest,
  recoveryPreview,
  recoveryPreviewRequest,
  recoveryRequest,
  webhookRecovery,
} from './record.ts';
import { cancelRecovery, createRecovery, getRecovery, previewRecovery } from './service.ts';
import { listRecoveries, recoveryList } from './store.ts';

export const recover = writeRoute({
  operation: 'recoverWebhookEndpoint',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/recover',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Send the events of a period again',
  description:
    'Stores a job for the workers: every event of the log that matches when the job reaches it is sent ' +
    'again, as by a retry, oldest first and a few at a time, so that new events do not wait. An endpoint has one ' +
    'at a time. A token without the scope affiliates must list `types` without those of payouts, commissions, affiliates and imports.',
  body: recoveryRequest,
  returns: { 201: webhookRecovery },
  creates: '/v2/webhook-endpoints/{id}/recoveries/{recovery_id}',
  errors: [
    'resource_missing',
    'endpoint_disabled',
    'endpoint_deleted',
    'recovery_in_progress',
    'invalid_event_type',
  ],
  handle: async ({ tx, principal, params, body }) =>
    created(await createRecovery(tx, principal, params.id, { ...body, action: 'recover' })),
});

export const discard = writeRoute({
  operation: 'discardEventsOfWebhookEndpoint',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/discard',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Discard the waiting events of a period',
  description:
    'Stores a job for the workers: every pending or held event that matches when the job reaches it is `cancelled`. An attempt ' +
    'in flight is the last. A recovery can send cancelled events. Limits as for a recovery.',
  body: discardRequest,
  returns: { 201: webhookRecovery },
  creates: '/v2/webhook-endpoints/{id}/recoveries/{recovery_id}',
  errors: ['resource_missing', 'endpoint_deleted', 'recovery_in_progress', 'invalid_event_type'],
  handle: async ({ tx, principal, params, body }) =>
    created(await createRecovery(tx, principal, params.id, { ...body, action: 'discard' })),
});

export const preview = writeRoute({
  operation: 'previewRecoveryOfWebhookEndpoint',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/preview-recovery',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  unaudited: true,
  summary: 'Count what a recovery or discard would take',
  description: 'Counts the events of the log that match now. Stores nothing.',
  body: recoveryPreviewRequest,
  returns: { 200: recoveryPreview },
  errors: ['resource_missing', 'invalid_event_type'],
  handle: async ({ tx, principal, params, body }) =>
    ok(await previewRecovery(tx, principal, params.id, body)),
});

export const list = readRoute({
  operation: 'listRecoveriesOfWebhookEndpoint',
  path: '/v2/webhook-endpoints/{id}/recoveries',
  scope: 'webhooks',
  needs: 'read',
  portal: 'path',
  summary: 'List the recoveries and discards of a webhook endpoint',
  list: recoveryList,
  returns: { 200: listOf(webhookRecovery) },
  errors: ['resource_missing'],
  handle: async ({ db, account, params, list }) =>
    page(await listRecoveries(db, account, await loggedEndpoint(db, account, params.id), list)),
});

export const get = readRoute({
  operation: 'getRecoveryOfWebhookEndpoint',
  path: '/v2/webhook-endpoints/{id}/recoveries/{recovery_id}',
  scope: 'webhooks',
  needs: 'read',
  portal: 'path',
  summary: 'Get a recovery or discard',
  description: 'Shows its progress and the number of queued or cancelled events.',
  returns: { 200: webhookRecovery },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getRecovery(db, account, params)),
});

export const cancel = writeRoute({
  operation: 'deleteRecoveryOfWebhookEndpoint',
  method: 'DELETE',
  path: '/v2/webhook-endpoints/{id}/recoveries/{recovery_id}',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Delete a recovery or discard',
  description: 'Ends it: events that are queued already are still sent. The record stays.',
  returns: { 204: null },
  errors: ['resource_missing', 'recovery_ended'],
  handle: async ({ tx, account, params }) => {
    await cancelRecovery(tx, account, params);
    return noContent();
  },
});
