import { type Static, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

/** The signature scheme. */
export const signing = Type.Enum(['standard', 'stripe', 'github', 'shopify', 'slack', 'custom'], {
  title: 'SigningScheme',
  description:
    'standard: Standard Webhooks. stripe, github, shopify, slack: as these providers sign, so that receivers written for them ' +
    'can verify unchanged. custom: as defined by `custom_signing`',
});
export type SchemeName = Static<typeof signing>;

const header = text(100);
const content = text(200);
const value = text(200);
const encoding = Type.Enum(['hex', 'base64'], { title: 'SignatureEncoding' });
const algorithm = Type.Enum(['sha256', 'sha512', 'sha1'], {
  title: 'SignatureAlgorithm',
  description: 'of the HMAC',
});
const prefix = Type.String({ maxLength: 50 });

const about = {
  header: 'the header of the signature, in lower case',
  content: 'the signed text: {body}, and optionally {id}, {timestamp} and {url}',
  value: 'the value of the header: {signature}, and optionally {timestamp} and {id}',
  secret_prefix: 'the prefix of new secrets; it is part of the key',
  headers:
    'further headers that a receiver needs to verify, by name: {timestamp} or {id}, with optional text around it',
};

/** The maximum number of further headers of a scheme. */
export const MOST_SIGNED_HEADERS = 5;
const headers = Type.Record(Type.String(), value, { maxProperties: MOST_SIGNED_HEADERS });
const headersExample = { 'x-signature-timestamp': '{timestamp}' };

/** A custom scheme, as shown by the API. */
export const customSigning = strict(
  {
    header: { ...header, description: about.header, examples: ['x-signature'] },
    content: { ...content, description: about.content, examples: ['{timestamp}.{body}'] },
    value: { ...value, description: about.value, examples: ['t={timestamp},v0={signature}'] },
    encoding,
    algorithm,
    secret_prefix: { ...prefix, description: about.secret_prefix },
    headers: { ...headers, description: `${about.headers}; names in lower case`, examples: [headersExample] },
  },
  { title: 'CustomSigning' },
);
export type CustomSigning = Static<typeof customSigning>;

const customSigningInput = strict({
  header: { ...header, description: 'the header of the signature', examples: ['x-signature'] },
  content: { ...content, description: about.content, examples: ['{timestamp}.{body}'] },
  value: Type.Optional({ ...value, description: `${about.value}; default {signature}` }),
  encoding,
  algorithm: Type.Optional(algorithm),
  secret_prefix: Type.Optional({ ...prefix, description: about.secret_prefix }),
  headers: Type.Optional({
    ...headers,
    description: `${about.headers}; default none`,
    examples: [headersExample],
  }),
});

const secret = Type.String({
  minLength: 16,
  maxLength: 255,
  description:
    'a secret that the receiver already has; if omitted, the current one is kept if the scheme can use it, otherwise a new one is made',
});

/** The signature fields of a request. */
export const signingFields = {
  signing: Type.Optional(signing),
  custom_signing: Type.Optional(
    nullable({ ...customSigningInput, description: 'with `signing: custom`, and only then' }),
  ),
  secret: Type.Optional(secret),
};
const signingInput = strict(signingFields);
export type SigningInput = Static<typeof signingInput>;

/** A second signature in a request. */
export const secondSignatureInput = strict({
  ...signingFields,
  expires_at: Type.String({ description: 'an RFC 3339 instant, at most 90 days ahead' }),
});
export type SecondSignatureInput = Static<typeof secondSignatureInput>;

/** A second signature, as shown by the API. */
export const secondSignature = strict(
  { signing, custom_signing: nullable(customSigning), expires_at: timestamp },
  { title: 'SecondSignature', description: 'sent in addition to the first until then' },
);

/** A stored scheme: JSON, null = standard. */
export type Signing = Exclude<SchemeName, 'custom'> | CustomSigning;
