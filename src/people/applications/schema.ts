import { Type } from 'typebox';
import { ALL_SCOPES } from '../../contract/route.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

const kind = Type.Enum(['confidential', 'public'], {
  title: 'ApplicationKind',
  description: 'confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE',
});
const scopes = Type.Array(Type.Enum([...ALL_SCOPES], { title: 'Scope' }), {
  minItems: 1,
  maxItems: ALL_SCOPES.size,
  description: 'the scopes that merchants can grant it at most',
});

/** What a new application is made from, and what of it can be changed. */
export const input = {
  name: Type.String({ minLength: 1, maxLength: 100, description: 'what merchants see when they are asked' }),
  kind,
  redirect_uris: Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
    minItems: 1,
    maxItems: 20,
    description:
      'where merchants return to, compared character by character: https, or http on a loopback host; for public ' +
      'applications also private-use schemes such as com.example.app:/callback',
  }),
  scopes,
};

const fields = {
  id: Type.String({ description: 'the client_id', examples: ['app_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('oauth_application'),
  name: Type.String(),
  kind,
  redirect_uris: Type.Array(Type.String()),
  scopes,
  client_secret_hint: nullable(
    Type.String({ description: 'the first and last characters of the secret; null for public applications' }),
  ),
  created_at: timestamp,
  updated_at: timestamp,
};

/** The application record. */
export const application = strict(fields, { title: 'OAuthApplication' });

/** The record with its secret, as creation and rotation answer it. */
export const newApplication = strict(
  {
    ...fields,
    client_secret: nullable(
      Type.String({
        description: 'shown once; null for public applications, and when a stored answer is replayed',
      }),
    ),
  },
  { title: 'NewOAuthApplication' },
);
