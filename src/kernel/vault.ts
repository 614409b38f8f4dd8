import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { AccountId } from './ids.ts';

/** The process cannot work because of its secret key; the message says what to do. */
export class SecretKeyError extends Error {
  override name = 'SecretKeyError';
}

/** Where a sealed text belongs. It cannot be opened in another place, nor in the same place of another account. */
export interface SealedIn {
  readonly account: AccountId;
  /** The table, the row and the column, in words. */
  readonly place: string;
}

/**
 * Stores secrets that must be shown or used again, so that a hash is not enough: they are encrypted in the database
 * (AES-256-GCM under a key derived from SECRET_KEY, NIST SP 800-38D). Each names its key.
 */
export interface Vault {
  /** Encrypts a text under the key with this fingerprint. Throws SecretKeyError when the process does not have that key. */
  seal(text: string, where: SealedIn, fingerprint: string): Buffer;
  /** Throws SecretKeyError when the key is missing, another error when the bytes were altered or belong elsewhere. */
  open(sealed: Buffer, where: SealedIn): string;
  /**
   * A keyed hash of a text under the key with this fingerprint: equal texts of one context have equal marks, and nobody
   * without the key can find the text by trying. Throws SecretKeyError when the process does not have that key.
   */
  mark(text: string, context: string, fingerprint: string): Buffer;
  /** The secret key with this fingerprint, for a thread of this process. Throws SecretKeyError when it is not there. */
  secretOf(fingerprint: string): string;
  /**
   * A keyed digest of bytes (HMAC-SHA-256 under the key with this fingerprint), which names its key: 40 bytes. Nobody
   * without the key can find the bytes by trying. Throws SecretKeyError when the process does not have that key.
   */
  digest(bytes: Buffer, context: string, fingerprint: string): Buffer;
  /** Whether a keyed digest is that of these bytes; null = it was made under a key that this process does not have. */
  isDigestOf(digest: Buffer, bytes: Buffer, context: string): boolean | null;
}

/** What seals and opens the values of an account. */
export interface AccountVault {
  readonly account: AccountId;
  readonly vault: Vault;
}

/**
 * The current format: version, start of the key's fingerprint, nonce, tag, text. Version 2 did not bind the text to its
 * account, and version 1 did not name the key either. A rotation of the key brings what it finds to the current format.
 */
const VERSION = 3;
const OF_ANY_ACCOUNT = 2;
const UNNAMED = 1;
const NAME_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The public identifier of a secret key: 64 hexadecimal digits, from which the key cannot be derived. */
export function fingerprintOf(secretKey: string): string {
  return createHash('sha256').update(`payhook secret key ${secretKey}`).digest('hex');
}

/** The first bytes of every keyed digest under the key with this fingerprint. */
export function digestPrefix(fingerprint: string): Buffer {
  return Buffer.from(nameOf(fingerprint), 'hex');
}

/** The first bytes of everything that is sealed in the current format under the key with this fingerprint. */
export function sealPrefix(fingerprint: string): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(fingerprint, 'hex').subarray(0, NAME_BYTES)]);
}

/**
 * The vault of a process, from its secret keys. They are read again when one is missing: during a rotation another
 * process may have added a key.
 */
export function vaultOf(readKeys: () => readonly string[]): Vault {
  let held = new Map<string, Keys>();
  const read = () => {
    held = new Map([...held, ...readKeys().map((key) => [nameOf(fingerprintOf(key)), keysOf(key)] as const)]);
  };
  const look = (name: string): Keys | undefined => {
    if (!held.has(name)) read();
    return held.get(name);
  };
  const find = (name: string): Keys => {
    const key = look(name);
    if (key) return key;
    throw new SecretKeyError(
      `this process does not hold the secret key with the fingerprint ${name}…: set SECRET_KEY, and while it is ` +
        'rotated SECRET_KEY_PREVIOUS, and restart it',
    );
  };
  read();
  return {
    seal(text, where, fingerprint) {
      const nonce = randomBytes(NONCE_BYTES);
      const { sealing } = find(nameOf(fingerprint));
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(ofAccount(where)));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([sealPrefix(fingerprint), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, where) {
      if (sealed[0] === VERSION || sealed[0] === OF_ANY_ACCOUNT) {
        const { sealing } = find(sealed.subarray(1, 1 + NAME_BYTES).toString('hex'));
        const context = sealed[0] === VERSION ? ofAccount(where) : where.place;
        return decrypt(sealing, sealed.subarray(1 + NAME_BYTES), context);
      }
      if (sealed[0] !== UNNAMED) throw new Error('not a sealed secret');
      // The tag shows which key is the right one.
      for (const { sealing } of held.values()) {
        try {
          return decrypt(sealing, sealed.subarray(1), where.place);
        } catch {}
      }
      throw new SecretKeyError('sealed under a secret key that this process does not hold, or changed');
    },
    mark(text, context, fingerprint) {
      const { marking } = find(nameOf(fingerprint));
      return createHmac('sha256', marking).update(`${context}\0${text}`).digest();
    },
    secretOf: (fingerprint) => find(nameOf(fingerprint)).secret,
    digest(bytes, context, fingerprint) {
      const name = nameOf(fingerprint);
      return Buffer.concat([digestPrefix(fingerprint), hmac(find(name).digesting, context, bytes)]);
    },
    isDigestOf(digest, bytes, context) {
      const keys = look(digest.subarray(0, NAME_BYTES).toString('hex'));
      if (keys === undefined) return null;
      return hmac(keys.digesting, context, bytes).equals(digest.subarray(NAME_BYTES));
    },
  };
}

const ofAccount = ({ account, place }: SealedIn) => `account ${account} ${place}`;

const hmac = (key: Buffer, context: string, bytes: Buffer) =>
  createHmac('sha256', key).update(`${context}\0`).update(bytes).digest();

const nameOf = (fingerprint: string) => fingerprint.slice(0, 2 * NAME_BYTES);

/** What is derived from a secret key: one key for each use. */
interface Keys {
  readonly secret: string;
  readonly sealing: Buffer;
  readonly marking: Buffer;
  readonly digesting: Buffer;
}

function keysOf(secretKey: string): Keys {
  const derived = (use: string) => Buffer.from(hkdfSync('sha256', secretKey, '', use, 32));
  return {
    secret: secretKey,
    sealing: derived('payhook vault 1'),
    marking: derived('payhook marks 1'),
    digesting: derived('payhook digests 1'),
  };
}

function decrypt(key: Buffer, sealed: Buffer, context: string): string {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('not a sealed secret');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return (
    decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  );
}
