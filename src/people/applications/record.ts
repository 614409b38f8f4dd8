import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { ALL_SCOPES } from '../../contract/scopes.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';

const kind = Type.Enum(['confidential', 'public'], {
  title: 'ApplicationKind',
  description: 'confidential: runs on a server that keeps a secret; public: runs on a device, and uses PKCE',
});
const scopes = Type.Array(Type.Enum([...ALL_SCOPES], { title: 'Scope' }), {
  minItems: 1,
  maxItems: ALL_SCOPES.size,
  description: 'the scopes that merchants can grant it at most',
});

const input = {
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

/** The fields of a new application. */
export const applicationInput = strict(input);
export type ApplicationInput = Static<typeof applicationInput>;
/** The fields that may be changed. */
export const applicationChange = strict({
  name: Type.Optional(input.name),
  redirect_uris: Type.Optional(input.redirect_uris),
  scopes: Type.Optional(input.scopes),
});
export type ApplicationChange = Static<typeof applicationChange>;

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
export type OAuthApplication = Static<typeof application>;

/** Its columns, over `oauth_applications p`. */
export const record = columnsOf(application, {
  id: "public_id('app', p.id)",
  object: "'oauth_application'",
  name: 'p.name',
  kind: 'p.kind',
  redirect_uris: 'p.redirect_uris',
  scopes: 'p.scopes',
  client_secret_hint: 'p.secret_hint',
  created_at: 'iso(id_time(p.id))',
  updated_at: 'iso(greatest(p.updated_at, id_time(p.id)))',
});

/** The record with its secret, as the response of creation and rotation. */
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
export type NewOAuthApplication = Static<typeof newApplication>;

/** The record with the secret that was just generated; null for a public application. */
export const withSecret = (json: Json<OAuthApplication>, secret: string | null): Json<NewOAuthApplication> =>
  extended(json, { client_secret: toJson(secret) });
