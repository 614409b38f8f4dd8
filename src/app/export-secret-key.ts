import { writeFileSync } from 'node:fs';
import { readSecretKeyState } from '../db/secret-key.ts';
import { fingerprintOf, SecretKeyError } from '../kernel/vault.ts';
import type { Platform } from './platform.ts';
import { heldKeys } from './secret-keys.ts';

/** Writes the key in force to a new file that only its owner can read. Throws SecretKeyError with what to do. */
export async function exportSecretKey({ config, db }: Platform, path: string): Promise<void> {
  const { current, next } = await readSecretKeyState(db.reader);
  if (next !== null) {
    throw new SecretKeyError(
      'the secret key is being rotated: run payhook secret-key rotate, then this again',
    );
  }
  const key = heldKeys(config).find((held) => fingerprintOf(held) === current) ?? '';
  try {
    writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new SecretKeyError(`${path} exists: name another file for the secret key`);
    const why = code === 'ENOENT' ? 'there is no such folder' : message;
    throw new SecretKeyError(`the secret key cannot be written to ${path}: ${why}`);
  }
}
