import { noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { grant } from './record.ts';
import { getGrant, revokeGrant } from './service.ts';
import { grantList, listGrants } from './store.ts';

export const list = readRoute({
  operation: 'listOAuthGrants',
  path: '/v2/oauth-grants',
  needs: 'people',
  summary: 'List what was granted to applications',
  list: grantList,
  returns: { 200: listOf(grant) },
  handle: async ({ db, account, list }) => page(await listGrants(db, account, list)),
});

export const get = readRoute({
  operation: 'getOAuthGrant',
  path: '/v2/oauth-grants/{grant_id}',
  needs: 'people',
  summary: 'Get a grant',
  returns: { 200: grant },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getGrant(db, account, params.grant_id)),
});

export const revoke = writeRoute({
  operation: 'deleteOAuthGrant',
  method: 'DELETE',
  path: '/v2/oauth-grants/{grant_id}',
  needs: 'people',
  summary: 'Delete a grant',
  description: 'Revokes it: its tokens stop working at once, on every server process.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await revokeGrant(tx, account, params.grant_id);
    return noContent();
  },
});
