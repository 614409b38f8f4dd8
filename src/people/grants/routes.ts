import { Type } from 'typebox';
import { ALL_SCOPES, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { getGrant, revokeGrant } from './service.ts';
import { grantList, listGrants } from './store.ts';

const grant = strict(
  {
    id: Type.String({ examples: ['grant_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('oauth_grant'),
    application_id: Type.String(),
    application_name: Type.String(),
    user_id: Type.String({ description: 'who granted it' }),
    user_name: Type.String(),
    scopes: Type.Array(Type.Enum([...ALL_SCOPES], { title: 'Scope' })),
    status: Type.Enum(['active', 'revoked'], { title: 'GrantStatus' }),
    last_used_at: nullable(timestamp),
    revoked_at: nullable(timestamp),
    revoked_because: nullable(
      Type.Enum(['merchant', 'application', 'reuse', 'deleted', 'user_removed', 'user_not_owner'], {
        title: 'GrantEnd',
        description:
          'who ended it: this account, the application itself, a code or refresh token that was used twice, the ' +
          'deletion of the application, the removal of the user, or the user no longer being an owner',
      }),
    ),
    created_at: timestamp,
  },
  { title: 'OAuthGrant' },
);

export const list = readRoute({
  operation: 'listOAuthGrants',
  path: '/v2/oauth-grants',
  access: 'full',
  summary: 'List what was granted to applications',
  list: grantList,
  returns: { 200: listOf(grant) },
  handle: async ({ db, account, list }) => page(await listGrants(db, account, list)),
});

export const get = readRoute({
  operation: 'getOAuthGrant',
  path: '/v2/oauth-grants/{grant_id}',
  access: 'full',
  summary: 'Get a grant',
  returns: { 200: grant },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getGrant(db, account, params.grant_id)),
});

export const revoke = writeRoute({
  operation: 'revokeOAuthGrant',
  method: 'DELETE',
  path: '/v2/oauth-grants/{grant_id}',
  access: 'full',
  summary: 'Revoke a grant',
  description: 'Its tokens stop working at once, on every server process.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await revokeGrant(tx, account, params.grant_id);
    return noContent();
  },
});
