import { created, noContent, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { newPortalLink, portalLink, portalLinkRequest } from './record.ts';
import { createLink, revokeLink } from './service.ts';
import { linkList, listLinks } from './store.ts';

export const create = writeRoute({
  operation: 'createPortalLink',
  method: 'POST',
  path: '/v2/webhook-endpoints/{id}/portal-link',
  needs: 'own',
  summary: 'Create a link that opens a portal',
  description:
    'The portal is the webhooks part of the dashboard for the receiver of this endpoint, or of all endpoints of its ' +
    '`owner`: settings, secret, log, test events and retries, and nothing else of the account. The link opens it once, for ' +
    'an hour, in a tab of its own or in a frame of a page whose origin is among the `portal_origins` of the account.',
  body: portalLinkRequest,
  bodyOptional: true,
  returns: { 201: newPortalLink },
  errors: ['resource_missing', 'invalid_event_type'],
  secret: 'url',
  handle: async ({ tx, principal, env, params, body }) =>
    created(await createLink(tx, { principal, base: env.authorizeUrl() }, params.id, body)),
});

export const list = readRoute({
  operation: 'listPortalLinks',
  path: '/v2/portal-links',
  needs: 'own',
  summary: 'List portal links',
  description: 'Links that were used, revoked or not opened in time stay in the list for a month.',
  list: linkList,
  returns: { 200: listOf(portalLink) },
  handle: async ({ db, account, list }) => page(await listLinks(db, account, list)),
});

export const revoke = writeRoute({
  operation: 'deletePortalLink',
  method: 'DELETE',
  path: '/v2/portal-links/{link_id}',
  needs: 'own',
  summary: 'Delete a portal link',
  description:
    'Revokes it: the link can no longer be opened, and a portal that it opened ends at once, on every server process.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await revokeLink(tx, account, params.link_id);
    return noContent();
  },
});
