import { type Static, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

/** How requests are signed. */
export const signing = Type.Enum(['standard', 'stripe', 'github', 'shopify', 'slack', 'custom'], {
  title: 'SigningScheme',
  description:
    'standard: Standard Webhooks. stripe, github, shopify, slack: as these sign theirs, so that receivers written for them ' +
    'verify with what they have. custom: as `custom_signing` says',
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
  content: 'what is signed: {body}, and {id}, {timestamp} and {url} where they belong',
  value: 'what the header says: {signature}, and {timestamp} and {id} where they belong',
  secret_prefix: 'what new secrets begin with; it is part of the key',
  headers:
    'further headers that a receiver reads to verify, by name: {timestamp} or {id}, with what stands around it',
};

/** The most further headers of a scheme. */
export const MOST_SIGNED_HEADERS = 5;
const headers = Type.Record(Type.String(), value, { maxProperties: MOST_SIGNED_HEADERS });
const headersExample = { 'x-signature-timestamp': '{timestamp}' };

/** A scheme of one's own, as it is shown. */
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
    'one that a receiver has already; left out, the one there is stays if the scheme can use it, or a new one is made',
});

/** The scheme of a signature, as a request names it. */
export const signingFields = {
  signing: Type.Optional(signing),
  custom_signing: Type.Optional(
    nullable({ ...customSigningInput, description: 'with `signing: custom`, and only then' }),
  ),
  secret: Type.Optional(secret),
};
const signingInput = strict(signingFields);
export type SigningInput = Static<typeof signingInput>;

/** A second signature, as a request names it. */
export const secondSignatureInput = strict({
  ...signingFields,
  expires_at: Type.String({ description: 'an RFC 3339 instant, at most 90 days ahead' }),
});
export type SecondSignatureInput = Static<typeof secondSignatureInput>;

/** A second signature, as it is shown. */
export const secondSignature = strict(
  { signing, custom_signing: nullable(customSigning), expires_at: timestamp },
  { title: 'SecondSignature', description: 'sent beside the first until then' },
);

/** A scheme as it is stored: JSON, null = standard. */
export type Signing = Exclude<SchemeName, 'custom'> | CustomSigning;
