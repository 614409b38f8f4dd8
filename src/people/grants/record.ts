import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { ALL_SCOPES } from '../../contract/scopes.ts';

const GRANT_ENDS = ['merchant', 'application', 'reuse', 'deleted', 'user_removed', 'user_not_owner'] as const;
export type GrantEnd = (typeof GRANT_ENDS)[number];

/** What was granted to an application. */
export const grant = strict(
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
      Type.Enum([...GRANT_ENDS], {
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
export type Grant = Static<typeof grant>;

/** Its columns, over `oauth_grants g` and `names`. */
export const record = columnsOf(grant, {
  id: "public_id('grant', g.id)",
  object: "'oauth_grant'",
  application_id: "public_id('app', g.application_id)",
  application_name: 'p.name',
  user_id: "public_id('usr', g.user_id)",
  user_name: 'u.name',
  scopes: 'g.scopes',
  status: "case when g.revoked_at is null then 'active' else 'revoked' end",
  last_used_at: 'iso(g.last_used_at)',
  revoked_at: 'iso(g.revoked_at)',
  revoked_because: 'g.revoked_because',
  created_at: 'iso(id_time(g.id))',
});
export const names = sql`join oauth_applications p on p.id = g.application_id
  join users u on u.account_id = g.account_id and u.id = g.user_id`;
