import { createHmac, type KeyObject, sign } from 'node:crypto';
import { customScheme, KNOWN_SCHEMES, type Scheme } from './known-schemes.ts';
import type { Signing } from './record.ts';

/** An attempt, as input for signatures. */
export interface Message {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
  readonly url: string;
}

type Headers = Readonly<Record<string, string>>;
type Template = (message: Message, signature: string) => string;

/** The names in braces that a template may have. */
export const VARIABLES = /\{(id|timestamp|body|url|type|signature)\}/;
// the envelope begins with id, object and type
const typeOf = ({ body }: Message) => /"type":"([^"]*)"/.exec(body)?.[1] ?? '';

function compile(template: string): Template {
  // texts and names alternate
  const parts = template.split(VARIABLES);
  return (message, signature) => {
    let text = '';
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] ?? '';
      if (index % 2 === 0) text += part;
      else if (part === 'signature') text += signature;
      else text += part === 'type' ? typeOf(message) : message[part as keyof Message];
    }
    return text;
  };
}

const compileAll = (templates: Headers = {}): (readonly [name: string, valueOf: Template])[] =>
  Object.entries(templates).map(([name, template]) => [name, compile(template)]);

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

/** The definition of a scheme. */
export const schemeOf = (signing: Signing): Scheme =>
  typeof signing === 'string' ? KNOWN_SCHEMES[signing] : customScheme(signing);

/** The headers that a receiver needs to verify: the header of the signature first. */
export function headersOf(signing: Signing): string[] {
  const { header, proofs = {} } = schemeOf(signing);
  return [header, ...Object.keys(proofs)];
}

/** A new secret of a scheme, from 256 random bits. */
export const newSecretFor = (signing: Signing): string => schemeOf(signing).newSecret();

/** What a receiver verifies with: the secret, or the public key. A private key is never shown. */
export const shownSecret = (signing: Signing, secret: string): string =>
  schemeOf(signing).secret.publicKeyOf?.(secret) ?? secret;

/** A signature on requests: its stored scheme, and its secret in clear. */
export interface Signature {
  readonly signing: string | null;
  readonly secret: string;
}

/** Makes one header of a request. No header of the endpoint replaces it. */
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

interface Opened {
  readonly scheme: Scheme;
  readonly key: Buffer | KeyObject;
}

function openedOf({ signing, secret }: Signature): Opened {
  const scheme = schemeOf(readSigning(signing));
  return { scheme, key: scheme.secret.keyOf(secret) };
}

/**
 * What makes the headers of an endpoint's signature and of a second one. If both belong in one header that takes only
 * one, the second is sent until it ends: receivers know it, and have until then to learn the other.
 */
export function signersOf(first: Signature, second?: Signature): Signers {
  const one = openedOf(first);
  const companions = compileAll(one.scheme.companions);
  if (second === undefined) return together(signersFor([one]), companions);
  const other = openedOf(second);
  if (takesBoth(one.scheme, other.scheme)) return together(signersFor([one, other]), companions);
  const signers = signersFor([other]);
  if (other.scheme.header !== one.scheme.header) signers.unshift(...signersFor([one]));
  return together(signers, [...compileAll(other.scheme.companions), ...companions]);
}

/** Whether one header has the signatures of both schemes, over the same text. */
const takesBoth = (one: Scheme, other: Scheme) =>
  one.header === other.header &&
  one.content === other.content &&
  one.furtherValue !== undefined &&
  other.furtherValue !== undefined;

const together = (
  signers: readonly Signer[],
  companions: readonly (readonly [name: string, valueOf: Template])[],
): Signers => ({
  signers,
  companions:
    companions.length === 0
      ? null
      : (message) => Object.fromEntries(companions.map(([name, template]) => [name, template(message, '')])),
});

/** The header of these signatures, and those that a receiver needs to verify them. */
function signersFor(signatures: readonly [Opened, ...Opened[]]): Signer[] {
  const [{ scheme }] = signatures;
  const contentOf = compile(scheme.content);
  const parts = signatures.map((opened, index) => ({
    ...opened,
    write: compile((index === 0 ? opened.scheme.value : opened.scheme.furtherValue) ?? ''),
  }));
  const signatureOf = (message: Message) => {
    const content = contentOf(message, '');
    return parts.map(({ write, ...opened }) => write(message, signed(opened, content))).join('');
  };
  const proofs = compileAll(scheme.proofs).map(([name, proofOf]) => ({
    header: name,
    valueOf: (message: Message) => proofOf(message, ''),
  }));
  return [{ header: scheme.header, valueOf: signatureOf }, ...proofs];
}

const signed = ({ scheme: { algorithm, encoding }, key }: Opened, content: string): string =>
  algorithm === 'ed25519'
    ? sign(null, Buffer.from(content), key).toString(encoding)
    : createHmac(algorithm, key).update(content).digest(encoding);
