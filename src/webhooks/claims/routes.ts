import { Type } from 'typebox';
import { created, ok, writeRoute } from '../../contract/route.ts';
import { strict } from '../../contract/schemas.ts';
import { endpointUuid } from '../endpoints/service.ts';
import { untilClaimable } from '../engine/awaited.ts';
import {
  acknowledgements,
  acknowledgeRequest,
  type ClaimRequest,
  claimRequest,
  endpointToken,
  extendRequest,
  extensions,
  webhookClaim,
} from './record.ts';
import { acknowledgeEvents, claimEvents, createToken, extendLeases, NOTHING } from './service.ts';

const WEEK_SECONDS = 7 * 86_400;
const BODY_BYTES = 256 * 1024;

export const claim = writeRoute({
  operation: 'claimWebhookEvents',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/claims',
  scope: 'webhooks',
  needs: 'webhooks',
  consumers: true,
  summary: 'Claim events of a pull endpoint',
  description:
    'Takes the first events that wait there, at most 4 MiB of them, for the time of a lease. Acknowledge each before its lease ends: otherwise ' +
    'its attempt has failed (`lease_expired`), and it comes again by the schedule. A key or the `token` of the endpoint may claim. Idempotency-Key has no ' +
    'effect. A token of an application also needs the scope affiliates for events of payouts, commissions, affiliates and imports.',
  body: claimRequest,
  bodyOptional: true,
  unaudited: true,
  waits: {
    seconds: (body) => (body as ClaimRequest).wait_seconds ?? 0,
    isEmpty: (reply) => reply.kind === 'json' && reply.json === NOTHING,
    news: (db, { account, params }, signal) =>
      untilClaimable(db, { account, endpoint: endpointUuid(String(params.id)) }, signal),
  },
  returns: { 200: webhookClaim },
  errors: ['resource_missing', 'not_a_pull_endpoint', 'endpoint_disabled'],
  handle: async ({ tx, principal, params, body, env }) =>
    ok(await claimEvents(tx, { principal, ...env }, params.id, body)),
});

export const acknowledge = writeRoute({
  operation: 'acknowledgeWebhookEvents',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/acknowledgements',
  scope: 'webhooks',
  needs: 'webhooks',
  consumers: true,
  summary: 'Acknowledge claimed events',
  description:
    'Ends the attempts of events that were claimed. Each item has its own result. It may be sent again after a lost answer: ' +
    'acknowledging twice changes nothing.',
  body: acknowledgeRequest,
  bodyLimit: BODY_BYTES,
  unaudited: true,
  returns: { 200: acknowledgements },
  errors: ['resource_missing', 'not_a_pull_endpoint'],
  handle: async ({ tx, account, params, body, env }) =>
    ok(await acknowledgeEvents(tx, { account, ...env }, params.id, body)),
});

export const extend = writeRoute({
  operation: 'extendWebhookLeases',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/extensions',
  scope: 'webhooks',
  needs: 'webhooks',
  consumers: true,
  summary: 'Extend leases of claimed events',
  description: 'For a consumer that needs more time, or returns events that it will not process.',
  body: extendRequest,
  unaudited: true,
  returns: { 200: extensions },
  errors: ['resource_missing', 'not_a_pull_endpoint'],
  handle: async ({ tx, account, params, body }) => ok(await extendLeases(tx, account, params.id, body)),
});

export const makeToken = writeRoute({
  operation: 'createWebhookEndpointToken',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/token',
  scope: 'webhooks',
  needs: 'webhooks',
  portal: 'path',
  summary: 'Create the token of a pull endpoint',
  description:
    'A bearer token that claims, extends and acknowledges events of this endpoint, and nothing else. It replaces the previous one, ' +
    'which stops at once or after `overlap_seconds`.',
  body: strict({
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: WEEK_SECONDS, default: 0, examples: [3600] }),
    ),
  }),
  bodyOptional: true,
  returns: { 201: endpointToken },
  errors: ['resource_missing', 'not_a_pull_endpoint'],
  secret: 'token',
  handle: async ({ tx, principal, params, body }) =>
    created(await createToken(tx, principal, params.id, body.overlap_seconds ?? 0)),
});
