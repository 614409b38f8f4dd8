import { type Static, Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

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
};
const egressInput = strict(egressFields);
export type EgressInput = Static<typeof egressInput>;

/** What is stored of it, with its secrets, as one sealed JSON. */
export interface Egress {
  /** A URL, with its password. */
  readonly proxy?: string;
  readonly certificate?: ClientCertificateInput;
}
