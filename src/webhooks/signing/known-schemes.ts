import { type KeyObject, randomBytes } from 'node:crypto';
import { newSigningSecret, signingKey } from '../../outbox/secrets.ts';
import {
  newPrivateKey,
  PRIVATE_KEY_PREFIX,
  privateKeyOf,
  privateKeyProblem,
  publicKeyOf,
} from './ed25519.ts';

/** How secrets of a scheme are written. */
interface SecretForm {
  /** The part of a secret that signs, for people. */
  readonly key: string;
  keyOf(secret: string): Buffer | KeyObject;
  /** What a receiver verifies with, if it is not the secret. */
  readonly publicKeyOf?: (secret: string) => string;
  /** The rule that a secret breaks, to follow the name of the field; null if it breaks none. */
  problemOf(secret: string): string | null;
}

/**
 * How requests are signed: an HMAC or a signature in one header. `content`, `value` and the values of headers are templates: names in
 * braces stand for the id, timestamp (seconds since 1970), body, url and type of an event, and for its signature.
 */
export interface Scheme {
  /** The name for people. */
  readonly label: string;
  /** The header of the signature, in lower case. */
  readonly header: string;
  /** The hash function of the HMAC, or Ed25519 (RFC 8032). */
  readonly algorithm: 'sha256' | 'sha512' | 'sha1' | 'ed25519';
  readonly encoding: 'hex' | 'base64';
  /** The text that is signed. */
  readonly content: string;
  /** The value of the header. */
  readonly value: string;
  /** What follows the value for each further signature, also one of another scheme; without it the header has only one. */
  readonly furtherValue?: string;
  /** Its receivers read an array of events from one request. */
  readonly takesBatches: boolean;
  readonly secret: SecretForm;
  newSecret(): string;
  /** Other headers that a receiver needs to verify, by name in lower case. The endpoint cannot replace them. */
  readonly proofs?: Readonly<Record<string, string>>;
  /** Headers that receivers read for other reasons. Headers of the endpoint replace them. */
  readonly companions?: Readonly<Record<string, string>>;
}

const newHexSecret = () => randomBytes(32).toString('hex');

const TEXT_SECRET: SecretForm = {
  key: 'the whole secret',
  keyOf: (secret) => Buffer.from(secret),
  problemOf(secret) {
    // the receiver would get it to verify
    if (secret.startsWith(PRIVATE_KEY_PREFIX)) return 'must not be a private key unless signing is ed25519';
    return /^[\x21-\x7e]+$/.test(secret) ? null : 'must be printable ASCII without spaces';
  },
};

const ENCODED = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const ENCODED_SECRET: SecretForm = {
  key: 'what follows `whsec_`, from base64',
  keyOf: signingKey,
  problemOf(secret) {
    const bytes = ENCODED.test(secret) ? signingKey(secret).length : 0;
    return bytes >= 24 && bytes <= 64
      ? null
      : 'must be whsec_ and 24 to 64 bytes in base64 for signing: standard';
  },
};

const KEY_PAIR: SecretForm = {
  key: 'the private key; a receiver has the public key, `whpk_…`',
  keyOf: privateKeyOf,
  publicKeyOf,
  problemOf: privateKeyProblem,
};

/** The signature schemes of other products: the only list of them. */
export const KNOWN_SCHEMES = {
  // github.com/standard-webhooks/standard-webhooks, specification, "Signature scheme"
  standard: {
    label: 'Standard Webhooks',
    header: 'webhook-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    content: '{id}.{timestamp}.{body}',
    value: 'v1,{signature}',
    furtherValue: ' v1,{signature}',
    takesBatches: true,
    secret: ENCODED_SECRET,
    newSecret: newSigningSecret,
  },
  // the same section; asymmetric
  ed25519: {
    label: 'Standard Webhooks, Ed25519',
    header: 'webhook-signature',
    algorithm: 'ed25519',
    encoding: 'base64',
    content: '{id}.{timestamp}.{body}',
    value: 'v1a,{signature}',
    furtherValue: ' v1a,{signature}',
    takesBatches: true,
    secret: KEY_PAIR,
    newSecret: newPrivateKey,
  },
  // docs.stripe.com/webhooks/signature: `whsec_` is part of the key
  stripe: {
    label: 'Stripe',
    header: 'stripe-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    content: '{timestamp}.{body}',
    value: 't={timestamp},v1={signature}',
    furtherValue: ',v1={signature}',
    takesBatches: false,
    secret: TEXT_SECRET,
    newSecret: newSigningSecret,
  },
  // docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    label: 'GitHub',
    header: 'x-hub-signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    content: '{body}',
    value: 'sha256={signature}',
    takesBatches: false,
    secret: TEXT_SECRET,
    newSecret: newHexSecret,
    companions: { 'x-github-event': '{type}', 'x-github-delivery': '{id}' },
  },
  // shopify.dev/docs/apps/build/webhooks/subscribe/https
  shopify: {
    label: 'Shopify',
    header: 'x-shopify-hmac-sha256',
    algorithm: 'sha256',
    encoding: 'base64',
    content: '{body}',
    value: '{signature}',
    takesBatches: false,
    secret: TEXT_SECRET,
    newSecret: newHexSecret,
    companions: { 'x-shopify-topic': '{type}', 'x-shopify-webhook-id': '{id}' },
  },
  // docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    label: 'Slack',
    header: 'x-slack-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    content: 'v0:{timestamp}:{body}',
    value: 'v0={signature}',
    takesBatches: false,
    secret: TEXT_SECRET,
    newSecret: newHexSecret,
    proofs: { 'x-slack-request-timestamp': '{timestamp}' },
  },
} as const satisfies Readonly<Record<string, Scheme>>;

/** The name of a scheme in the table. */
export type KnownScheme = keyof typeof KNOWN_SCHEMES;
export const KNOWN_SCHEME_NAMES = Object.keys(KNOWN_SCHEMES) as KnownScheme[];

/** A scheme that an endpoint defines itself. */
export const customScheme = ({
  secret_prefix: prefix,
  headers,
  ...scheme
}: Pick<Scheme, 'header' | 'algorithm' | 'encoding' | 'content' | 'value'> & {
  readonly secret_prefix: string;
  readonly headers: Readonly<Record<string, string>>;
}): Scheme => ({
  ...scheme,
  label: 'Custom',
  takesBatches: true,
  secret: TEXT_SECRET,
  newSecret: () => prefix + newHexSecret(),
  proofs: headers,
});
