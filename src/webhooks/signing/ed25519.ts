import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/*
 * Key pairs of Standard Webhooks ("Signature scheme", asymmetric): `whsk_` and the 64 bytes of the private key, which are
 * its seed and the public key; `whpk_` and the 32 bytes of the public key; both in base64.
 */

/** How private keys begin. */
export const PRIVATE_KEY_PREFIX = 'whsk_';
const SEED_BYTES = 32;
const PRIVATE_KEY = /^whsk_[A-Za-z0-9+/]{86}==$/;

/** A JSON Web Key of Ed25519 (RFC 8037). */
export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
}

const bytesOf = (secret: string) => Buffer.from(secret.slice(PRIVATE_KEY_PREFIX.length), 'base64');
const publicBytesOf = (secret: string) => bytesOf(secret).subarray(SEED_BYTES);

/** The public key of a private key as a JSON Web Key. */
export const publicJwkOf = (secret: string): PublicJwk => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: publicBytesOf(secret).toString('base64url'),
});

/** The public key of a private key: `whpk_…`. */
export const publicKeyOf = (secret: string): string => `whpk_${publicBytesOf(secret).toString('base64')}`;

/** The key that signs. */
export const privateKeyOf = (secret: string): KeyObject =>
  createPrivateKey({
    format: 'jwk',
    key: { ...publicJwkOf(secret), d: bytesOf(secret).subarray(0, SEED_BYTES).toString('base64url') },
  });

/** A new private key. */
export function newPrivateKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const bytes = Buffer.concat([d, x].map((part) => Buffer.from(part, 'base64url')));
  return PRIVATE_KEY_PREFIX + bytes.toString('base64');
}

/** The rule that a private key breaks, to follow the name of the field; null if it breaks none. */
export function privateKeyProblem(secret: string): string | null {
  const belongs = () =>
    createPublicKey(privateKeyOf(secret)).export({ format: 'jwk' }).x === publicJwkOf(secret).x;
  return PRIVATE_KEY.test(secret) && belongs()
    ? null
    : 'must be whsk_ and 64 bytes in base64, the seed and its public key, for signing: ed25519';
}
