import { type Static, type TObject, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { KNOWN_SCHEME_NAMES, type KnownScheme } from './known-schemes.ts';

const services = KNOWN_SCHEME_NAMES.filter((name) => !['standard', 'ed25519'].includes(name)).join(', ');
/** How requests are signed. */
export const signing = Type.Enum([...KNOWN_SCHEME_NAMES, 'custom'], {
  title: 'SigningScheme',
  description:
    `standard: Standard Webhooks. ed25519: the same with a key pair, whose public key the receiver gets. ${services}: as these services sign, so that receivers written for them need no ` +
    'change. custom: as `custom_signing` says',
});

const header = text(100);
const content = text(200);
const value = text(200);
const encoding = Type.Enum(['hex', 'base64'], { title: 'SignatureEncoding' });
const algorithm = Type.Enum(['sha256', 'sha512', 'sha1'], {
  title: 'SignatureAlgorithm',
  description: 'the hash function of the HMAC',
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

/** A custom scheme in responses. */
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

const customSigningInput = strict(
  {
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
  },
  { title: 'CustomSigningInput' },
);

/** The secret of a signature in requests. */
export const signingSecret = Type.String({
  minLength: 16,
  maxLength: 255,
  description:
    'a secret that the receiver already has, or with `ed25519` your private key; by default the current one stays if the scheme can use it, else a new one is created',
});

/** A custom scheme in requests; null without `signing: custom`. */
export const customSigningOrNull = nullable({
  ...customSigningInput,
  description: 'with `signing: custom`, and only then',
});

const signingInput = {
  signing: Type.Optional(signing),
  custom_signing: Type.Optional(customSigningOrNull),
  secret: Type.Optional(signingSecret),
};
/** The scheme of a signature in requests. */
export type SigningInput = Static<TObject<typeof signingInput>>;

/** A second signature in requests. */
export const secondSignatureInput = strict(
  {
    ...signingInput,
    expires_at: Type.String({ description: 'an RFC 3339 instant, at most 90 days ahead' }),
  },
  { title: 'SecondSignatureInput' },
);
export type SecondSignatureInput = Static<typeof secondSignatureInput>;

/** A second signature in responses. */
export const secondSignature = strict(
  { signing, custom_signing: nullable(customSigning), expires_at: timestamp },
  { title: 'SecondSignature', description: 'also sent until `expires_at`' },
);

/** A scheme as it is stored: JSON, null = standard. */
export type Signing = KnownScheme | CustomSigning;
