import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Keeps secrets that must be shown or used again, which a hash could not: the database holds them encrypted
 * (AES-256-GCM under a key derived from SECRET_KEY, NIST SP 800-38D).
 */
export interface Vault {
  /** Encrypts a text. `context` names the place it belongs to: opened anywhere else it is refused. */
  seal(text: string, context: string): Buffer;
  /** Throws when the bytes were changed, belong to another place or were sealed with another key. */
  open(sealed: Buffer, context: string): string;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** The vault of an installation, from its SECRET_KEY. */
export function vaultOf(secretKey: string): Vault {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'payhook vault 1', 32));
  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      if (sealed.length < HEAD_BYTES || sealed[0] !== VERSION) throw new Error('not a sealed secret');
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const tag = sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(context))
        .setAuthTag(tag);
      return decipher.update(sealed.subarray(HEAD_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}
