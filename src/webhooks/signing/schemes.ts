import { createHmac, randomBytes } from 'node:crypto';
import { newSigningSecret, signingKey } from '../../outbox/secrets.ts';
import type { CustomSigning, Signing } from './record.ts';

/** An attempt, as input for signatures. */
export interface Message {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
  readonly url: string;
}

type Headers = Readonly<Record<string, string>>;

/** How requests are signed: an HMAC over `content`, in one header. Further headers may carry the signed values. */
interface Scheme {
  /** In lower case. */
  readonly header: string;
  readonly algorithm: CustomSigning['algorithm'];
  readonly encoding: CustomSigning['encoding'];
  /** Whether the header may contain several signatures. */
  readonly takesSeveral: boolean;
  content(message: Message): string;
  /** The header's value. */
  value(signatures: readonly string[], message: Message): string;
  keyOf(secret: string): Buffer;
  newSecret(): string;
  /** Headers that a receiver needs to verify, by names in lower case. The endpoint's own headers cannot replace them. */
  readonly proofs?: Readonly<Record<string, (message: Message) => string>>;
  /** Other headers that receivers of the scheme read. The endpoint's own headers take precedence. */
  companions?(message: Message): Headers;
}

const asText = (secret: string) => Buffer.from(secret);
const newHexSecret = () => randomBytes(32).toString('hex');
// the envelope begins with id, object and type
const typeOf = ({ body }: Message) => /"type":"([^"]*)"/.exec(body)?.[1] ?? '';

const KNOWN: Readonly<Record<Exclude<Signing, CustomSigning>, Scheme>> = {
  // github.com/standard-webhooks/standard-webhooks, specification, "Signature scheme"
  standard: {
    header: 'webhook-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    takesSeveral: true,
    content: ({ id, timestamp, body }) => `${id}.${timestamp}.${body}`,
    value: (signatures) => signatures.map((signature) => `v1,${signature}`).join(' '),
    keyOf: signingKey,
    newSecret: newSigningSecret,
  },
  // docs.stripe.com/webhooks/signature: `whsec_` is part of the key
  stripe: {
    header: 'stripe-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    takesSeveral: true,
    content: ({ timestamp, body }) => `${timestamp}.${body}`,
    value: (signatures, { timestamp }) =>
      [`t=${timestamp}`, ...signatures.map((signature) => `v1=${signature}`)].join(','),
    keyOf: asText,
    newSecret: newSigningSecret,
  },
  // docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    header: 'x-hub-signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    takesSeveral: false,
    content: ({ body }) => body,
    value: ([signature]) => `sha256=${signature}`,
    keyOf: asText,
    newSecret: newHexSecret,
    companions: (message) => ({ 'x-github-event': typeOf(message), 'x-github-delivery': message.id }),
  },
  // shopify.dev/docs/apps/build/webhooks/subscribe/https
  shopify: {
    header: 'x-shopify-hmac-sha256',
    algorithm: 'sha256',
    encoding: 'base64',
    takesSeveral: false,
    content: ({ body }) => body,
    value: ([signature = '']) => signature,
    keyOf: asText,
    newSecret: newHexSecret,
    companions: (message) => ({ 'x-shopify-topic': typeOf(message), 'x-shopify-webhook-id': message.id }),
  },
  // docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    header: 'x-slack-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    takesSeveral: false,
    content: ({ timestamp, body }) => `v0:${timestamp}:${body}`,
    value: ([signature]) => `v0=${signature}`,
    proofs: { 'x-slack-request-timestamp': ({ timestamp }) => String(timestamp) },
    keyOf: asText,
    newSecret: newHexSecret,
  },
};

function customScheme({
  header,
  content,
  value,
  encoding,
  algorithm,
  secret_prefix,
  headers,
}: CustomSigning): Scheme {
  const contentOf = compile(content);
  const headerValueOf = compile(value);
  return {
    header,
    algorithm,
    encoding,
    takesSeveral: false,
    content: (message) => contentOf(message, ''),
    value: ([signature = ''], message) => headerValueOf(message, signature),
    proofs: Object.fromEntries(
      Object.entries(headers).map(([name, template]) => {
        const proofOf = compile(template);
        return [name, (message: Message) => proofOf(message, '')];
      }),
    ),
    keyOf: asText,
    newSecret: () => secret_prefix + newHexSecret(),
  };
}

/** The variables of templates. */
export const VARIABLES = /\{(id|timestamp|body|url|signature)\}/;

function compile(template: string): (message: Message, signature: string) => string {
  // texts and variables alternate
  const parts = template.split(VARIABLES);
  return (message, signature) => {
    let text = '';
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) text += part;
      else text += part === 'signature' ? signature : message[part as keyof Message];
    }
    return text;
  };
}

/** The scheme of a stored text: JSON, null = standard. */
export function readSigning(stored: string | null): Signing {
  if (stored === null) return 'standard';
  const signing = JSON.parse(stored) as Signing;
  // schemes stored by an earlier version have no further headers
  return typeof signing === 'string' ? signing : { ...signing, headers: signing.headers ?? {} };
}

/** The stored text of a scheme. */
export const storedSigning = (signing: Signing): string | null =>
  signing === 'standard' ? null : JSON.stringify(signing);

function schemeOf(signing: Signing): Scheme {
  return typeof signing === 'string' ? KNOWN[signing] : customScheme(signing);
}

/** The headers that a receiver needs to verify, that of the signature first. */
export function headersOf(signing: Signing): string[] {
  const { header, proofs = {} } = schemeOf(signing);
  return [header, ...Object.keys(proofs)];
}

/** A new secret of a scheme, from 256 random bits. */
export const newSecretFor = (signing: Signing): string => schemeOf(signing).newSecret();

/** A signature on requests: its stored scheme, and its secret in clear. */
export interface Signature {
  readonly signing: string | null;
  readonly secret: string;
}

/** Makes one header of a request, which the endpoint's own headers cannot replace. */
export interface Signer {
  readonly header: string;
  valueOf(message: Message): string;
}

/** The signers of an endpoint's requests. */
export interface Signers {
  /** The signatures, and the headers that a receiver needs to verify them. */
  readonly signers: readonly Signer[];
  /** Further headers that receivers of the scheme read; null = none. */
  readonly companions: ((message: Message) => Headers) | null;
}

/**
 * Creates the headers of an endpoint's signature and of a second one. If both use a header that takes only one signature,
 * the second one is sent until it expires: receivers know it, and have until then to learn the other.
 */
export function signersOf(first: Signature, second?: Signature): Signers {
  const scheme = schemeOf(readSigning(first.signing));
  const keys = [scheme.keyOf(first.secret)];
  const { companions = null } = scheme;
  if (second === undefined) return { signers: [signer(scheme, keys), ...proofsOf(scheme)], companions };
  const other = schemeOf(readSigning(second.signing));
  const otherKey = other.keyOf(second.secret);
  if (first.signing === second.signing && scheme.takesSeveral) {
    return { signers: [signer(scheme, [...keys, otherKey]), ...proofsOf(scheme)], companions };
  }
  const signers = [signer(other, [otherKey]), ...proofsOf(other)];
  if (other.header !== scheme.header) signers.unshift(signer(scheme, keys), ...proofsOf(scheme));
  const [one, two] = [companions, other.companions ?? null];
  return {
    signers,
    companions: one && two ? (message) => ({ ...two(message), ...one(message) }) : (one ?? two),
  };
}

const proofsOf = ({ proofs = {} }: Scheme): Signer[] =>
  Object.entries(proofs).map(([header, proofOf]) => ({ header, valueOf: proofOf }));

function signer(scheme: Scheme, keys: readonly Buffer[]): Signer {
  const { header, algorithm, encoding } = scheme;
  return {
    header,
    valueOf(message) {
      const content = scheme.content(message);
      const signatures = keys.map((key) => createHmac(algorithm, key).update(content).digest(encoding));
      return scheme.value(signatures, message);
    },
  };
}
