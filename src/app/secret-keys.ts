import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretKeyState } from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import { fingerprintOf } from '../kernel/vault.ts';

/*
 * The secret keys of this process: SECRET_KEY and SECRET_KEY_PREVIOUS, or the files of the data folder. There,
 * `secret-key` is the key, and `secret-key.new` is the target of a rotation until it replaces the other.
 */

const KEY_BYTES = 32;

const keyPath = ({ dataDir }: Config) => join(dataDir, 'secret-key');
const newKeyPath = ({ dataDir }: Config) => join(dataDir, 'secret-key.new');

/** Whether the key is a file of the data folder instead of the operator's setting. */
export const isInFolder = ({ secretKey }: Config) => secretKey === undefined;

/** The keys of this process, newest first. */
export function heldKeys(config: Config): string[] {
  // Reads the new one first: between the two reads it may replace the other, but not the other way round.
  const keys = isInFolder(config)
    ? [readKey(newKeyPath(config)), readKey(keyPath(config))]
    : [config.secretKey, config.secretKeyPrevious];
  return [...new Set(keys.filter((key) => key !== undefined))];
}

export const heldFingerprints = (config: Config) => heldKeys(config).map(fingerprintOf);

/** The key that a rotation in this data folder leads to, if one was created. */
export const newFolderKey = (config: Config) => readKey(newKeyPath(config));

/** Creates the key of a data folder that has none, and returns it. */
export const makeFolderKey = (config: Config) => makeKey(config, keyPath(config));

/** Creates the key that a rotation in this data folder leads to, and returns it. */
export const makeNewFolderKey = (config: Config) => makeKey(config, newKeyPath(config));

/** Replaces the old key of the data folder with the new one, if the new one is in force. Returns whether it did. */
export function adoptNewFolderKey(config: Config, current: string | null): boolean {
  if (!isInFolder(config)) return false;
  const key = newFolderKey(config);
  if (key === undefined || fingerprintOf(key) !== current) return false;
  replace(config, newKeyPath(config), keyPath(config));
  return true;
}

/** Why a process with these keys must not work on this database, or null. */
export function refusalOfKeys(config: Config, { current, next, retired }: SecretKeyState): string | null {
  if (current === null) return null;
  if (config.databaseUrl !== undefined && config.secretKey === undefined) {
    return `set SECRET_KEY to the key with the fingerprint ${short(next ?? current)}, as on the server that sealed it`;
  }
  const held = heldFingerprints(config);
  const missing = [current, next].filter((each) => each !== null && !held.includes(each));
  if (missing.length === 0) return null;
  const lost = 'if the key is lost, see payhook secret-key abandon --help';
  if (held.length === 0) {
    return `the file ${keyPath(config)} is missing: restore it from your backup, or set SECRET_KEY to its content; ${lost}`;
  }
  if (next !== null) {
    const keys = `SECRET_KEY to the new key (fingerprint ${short(next)}) and SECRET_KEY_PREVIOUS to the old one (${short(current)})`;
    return `the secret key is being rotated: set ${keys} until payhook secret-key rotate has ended; ${lost}`;
  }
  const isRetired = retired !== null && held.includes(retired);
  const place = isInFolder(config) ? keyPath(config) : 'SECRET_KEY';
  return isRetired
    ? `${place} is the key from before the last change: set the one with the fingerprint ${short(current)}; ${lost}`
    : `${place} is not the key this database was set up with (fingerprint ${short(current)}): set the same key on every ` +
        `server and command; ${lost}`;
}

/** What is left to do about the key, for the log and for `doctor`; null = nothing. */
export function unfinished(config: Config, { current, next }: SecretKeyState): string | null {
  if (next !== null) return 'a rotation is not finished: run payhook secret-key rotate';
  const left = isInFolder(config) ? newFolderKey(config) : undefined;
  if (left !== undefined) {
    return fingerprintOf(left) === current
      ? 'the new key is not in place yet: run payhook secret-key rotate'
      : 'secret-key.new exists, but the rotation did not begin: run payhook secret-key rotate, or delete the file';
  }
  if (
    config.secretKeyPrevious !== undefined &&
    config.secretKey &&
    fingerprintOf(config.secretKey) === current
  ) {
    return 'SECRET_KEY_PREVIOUS is no longer needed';
  }
  return null;
}

// Readable or writable by others, or writable by the group. The group may read it, so that a service can be given its
// key.
const EXPOSED = 0o027;

/** Who else can access the file of the secret key, and the remedy; null if nobody can, or there is no file. */
export function exposedSecretKey(config: Config): string | null {
  if (config.secretKey !== undefined && config.secretKeyFile === undefined) return null;
  const path = config.secretKeyFile ?? keyPath(config);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & EXPOSED) === 0) return null;
  return `${path} is open to other users (mode 0${(mode & 0o777).toString(8)}): chmod 600 ${path}`;
}

/** A fingerprint, shortened for people to compare. */
export const short = (fingerprint: string) => fingerprint.slice(0, 12);

function makeKey(config: Config, path: string): string {
  const key = randomBytes(KEY_BYTES).toString('base64');
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${key}\n`, { mode: 0o600, flush: true });
  replace(config, temporary, path);
  return key;
}

/** Renames a file, and returns once a power cut cannot undo it. */
function replace({ dataDir }: Config, from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    // another process has already done it
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const folder = openSync(dataDir, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

function readKey(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return undefined;
}
