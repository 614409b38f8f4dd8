import { type Static, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

/** A client certificate, as it is shown. */
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

const clientCertificateInput = strict({
  certificate: Type.String({
    minLength: 1,
    maxLength: 65_536,
    description: 'PEM: the certificate, then those that issued it, without the root',
  }),
  key: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description: 'PEM: its private key, without a passphrase; never shown',
  }),
});
export type ClientCertificateInput = Static<typeof clientCertificateInput>;

const credentialsShown = {
  token_url: Type.String({ examples: ['https://id.example.com/oauth/token'] }),
  client_id: Type.String({ examples: ['payhook'] }),
  scope: nullable(Type.String({ examples: ['events:write'] })),
  audience: nullable(Type.String({ examples: ['https://shop.example.com/'] })),
  authentication: Type.Enum(['basic', 'body'], {
    title: 'ClientAuthentication',
    description:
      'how the client id and secret are sent to the token endpoint: basic, which is the usual way, in the header ' +
      'Authorization; body, in the body',
  }),
};
/** The client that gets access tokens for an endpoint, as it is shown. */
const clientCredentials = strict(credentialsShown, { title: 'ClientCredentials' });

const clientCredentialsInput = strict({
  token_url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'the token endpoint: http or https, without credentials and fragment, at a public address',
  }),
  client_id: text(500),
  client_secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'never shown; left out, the one before stays, if `token_url` and `client_id` stay and nobody else could read it',
    }),
  ),
  scope: Type.Optional(nullable({ ...text(1000), description: 'names, separated by spaces; null = none' })),
  audience: Type.Optional(
    nullable({ ...text(1000), description: 'for servers that ask for one; null = none' }),
  ),
  authentication: Type.Optional(credentialsShown.authentication),
});
export type ClientCredentialsInput = Static<typeof clientCredentialsInput>;

/** The same with its secret, as it is stored. */
export type ClientCredentials = Static<typeof clientCredentials> & { readonly client_secret: string };

/** How requests leave for an endpoint, as the record shows it. */
export const egressShown = {
  proxy: nullable(
    Type.String({
      description:
        'the HTTP proxy that requests go through, without its password; null = that of the server, if any',
      examples: ['http://payhook@proxy.example.com:3128'],
    }),
  ),
  client_certificate: nullable({
    ...clientCertificate,
    description: 'shown to the receiver when it asks for one (mTLS); null = none',
  }),
  client_credentials: nullable({
    ...clientCredentials,
    description:
      'where access tokens are got that are sent along in the header Authorization (OAuth 2); null = none',
  }),
};

/** The same, as a request names it. */
export const egressFields = {
  proxy: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          'an HTTP proxy that requests go through, with user and password if it asks for them: http://user:password@proxy:3128; ' +
          'null = that of the server, if any',
      }),
    ),
  ),
  client_certificate: Type.Optional(
    nullable({
      ...clientCertificateInput,
      description: 'shown to the receiver when it asks for one (mTLS); null = none',
    }),
  ),
  client_credentials: Type.Optional(
    nullable({
      ...clientCredentialsInput,
      description:
        'where access tokens are got that are sent along in the header Authorization (OAuth 2); null = none',
    }),
  ),
};
const egressInput = strict(egressFields);
export type EgressInput = Static<typeof egressInput>;

/** What is stored of it, with its secrets, as one sealed JSON. */
export interface Egress {
  /** A URL, with its password. */
  readonly proxy?: string;
  readonly certificate?: ClientCertificateInput;
  readonly credentials?: ClientCredentials;
}
