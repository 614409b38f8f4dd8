import { type Static, type TObject, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

/** A client certificate as shown by the API. */
export const clientCertificate = strict(
  {
    subject: Type.String({ examples: ['CN=payhook, O=Example Ltd'] }),
    issuer: Type.String({ examples: ['CN=Example CA'] }),
    fingerprint: Type.String({ description: 'SHA-256 of the certificate, hexadecimal' }),
    expires_at: timestamp,
  },
  { title: 'ClientCertificate' },
);
export type ClientCertificate = Static<typeof clientCertificate>;

const clientCertificateInput = strict(
  {
    certificate: Type.String({
      minLength: 1,
      maxLength: 65_536,
      description: 'PEM: the certificate, then the ones that issued it, without the root',
    }),
    key: Type.String({
      minLength: 1,
      maxLength: 16_384,
      description: 'PEM: its private key, without a passphrase; never shown',
    }),
  },
  { title: 'ClientCertificateInput' },
);
export type ClientCertificateInput = Static<typeof clientCertificateInput>;

const credentialsShown = {
  token_url: Type.String({ examples: ['https://id.example.com/oauth/token'] }),
  client_id: Type.String({ examples: ['payhook'] }),
  scope: nullable(Type.String({ examples: ['events:write'] })),
  audience: nullable(Type.String({ examples: ['https://shop.example.com/'] })),
  authentication: Type.Enum(['basic', 'body'], {
    title: 'ClientAuthentication',
    description:
      'how the client id and secret are sent to the token endpoint: basic, the usual way, in the header ' +
      'Authorization; body, in the body',
  }),
};
/** The client that gets access tokens for an endpoint, as shown by the API. */
const clientCredentials = strict(credentialsShown, { title: 'ClientCredentials' });

const clientCredentialsInput = strict(
  {
    token_url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'the token endpoint: http or https, without credentials or fragment, at a public address',
    }),
    client_id: text(500),
    client_secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description:
          'never shown; if omitted, the current one is kept, provided that `token_url` and `client_id` are unchanged and nobody else could read it',
      }),
    ),
    scope: Type.Optional(nullable({ ...text(1000), description: 'names, separated by spaces; null = none' })),
    audience: Type.Optional(
      nullable({ ...text(1000), description: 'for servers that require one; null = none' }),
    ),
    authentication: Type.Optional(credentialsShown.authentication),
  },
  { title: 'ClientCredentialsInput' },
);
export type ClientCredentialsInput = Static<typeof clientCredentialsInput>;

/** The same with its secret, as stored. */
export type ClientCredentials = Static<typeof clientCredentials> & { readonly client_secret: string };

/** The egress settings of an endpoint, as shown in its record. */
export const egressShown = {
  proxy: nullable(
    Type.String({
      description: 'the HTTP proxy of requests, without its password; null = that of the server, if any',
      examples: ['http://payhook@proxy.example.com:3128'],
    }),
  ),
  client_certificate: nullable({
    ...clientCertificate,
    description: 'sent to a receiver that requests one (mTLS); null = none',
  }),
  client_credentials: nullable({
    ...clientCredentials,
    description: 'for access tokens that are sent in the header Authorization (OAuth 2); null = none',
  }),
};

/** The same in requests. */
export const egressInputs = {
  proxy: nullable(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description:
        'an HTTP proxy that requests go through, with user and password if it needs them: http://user:password@proxy:3128; ' +
        'null = that of the server, if any',
    }),
  ),
  client_certificate: nullable({
    ...clientCertificateInput,
    description: 'shown to the receiver when it asks for one (mTLS); null = none',
  }),
  client_credentials: nullable({
    ...clientCredentialsInput,
    description: 'for access tokens that are sent in the header Authorization (OAuth 2); null = none',
  }),
};
export type EgressInput = Partial<Static<TObject<typeof egressInputs>>>;

/** The stored settings with their secrets, as one sealed JSON. */
export interface Egress {
  /** A URL, with its password. */
  readonly proxy?: string;
  readonly certificate?: ClientCertificateInput;
  readonly credentials?: ClientCredentials;
}
