import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { BackupError } from './errors.ts';

/** How a backup is encrypted (age-encryption.org/v1, compatible with the `age` program). Empty = not encrypted. */
export interface Lock {
  readonly passphrase?: string | undefined;
  /** A public key, `age1…`. */
  readonly recipient?: string | undefined;
}

/** The key of an encrypted backup. */
export interface Key {
  readonly passphrase?: string | undefined;
  /** The output of `age-keygen`: a line `AGE-SECRET-KEY-1…`, and comments after `#`. */
  readonly identity?: string | undefined;
}

const MAGIC = 'age-encryption.org/v1\n';
export const MAGIC_BYTES = MAGIC.length;

/** Whether a file that begins with these bytes is encrypted. */
export const isLocked = (head: Buffer) => head.toString('latin1', 0, MAGIC_BYTES) === MAGIC;

/** Encrypts a stream; null = no encryption. Throws BackupError for an invalid passphrase or key. */
export async function lockOf({
  passphrase,
  recipient,
}: Lock): Promise<((plain: Readable) => Promise<Readable>) | null> {
  if (passphrase === undefined && recipient === undefined) return null;
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if (passphrase !== undefined) encrypter.setPassphrase(passphrase);
  else
    try {
      encrypter.addRecipient(recipient ?? '');
    } catch {
      throw new BackupError(
        `the recipient must be a public key of age (age1…), not ${JSON.stringify(recipient)}`,
      );
    }
  return async (plain) => fromWeb(await encrypter.encrypt(toWeb(plain)));
}

/** Decrypts a stream. Throws BackupError if the key does not open it. */
export async function unlock(file: string, sealed: Readable, key: Key): Promise<Readable> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  if (key.passphrase === undefined && key.identity === undefined) {
    sealed.destroy();
    throw new BackupError(`${file} is encrypted: name --passphrase-file or --identity-file`);
  }
  if (key.passphrase !== undefined) decrypter.addPassphrase(key.passphrase);
  if (key.identity !== undefined) addIdentities(decrypter, key.identity);
  try {
    return fromWeb(await decrypter.decrypt(toWeb(sealed)));
  } catch (error) {
    sealed.destroy();
    const isOther = /no identity matched/.test((error as Error).message);
    const what = key.passphrase === undefined ? 'identity' : 'passphrase';
    throw new BackupError(
      isOther
        ? `${file} is not encrypted for the given ${what}: use the one it was made with`
        : `${file} cannot be decrypted, because it was altered or cut off (${(error as Error).message}): use another backup`,
    );
  }
}

function addIdentities(decrypter: { addIdentity(identity: string): void }, text: string): void {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  try {
    for (const line of lines) decrypter.addIdentity(line);
  } catch {
    throw new BackupError(
      'the identity must be a line that begins with AGE-SECRET-KEY-1, as age-keygen writes it',
    );
  }
}

// The types of Node's web streams and of the standard library differ, but the objects are the same.
const toWeb = (stream: Readable) => Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>;
const fromWeb = (stream: ReadableStream<Uint8Array>) => Readable.fromWeb(stream as unknown as WebStream);
