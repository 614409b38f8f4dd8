import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PORT } from './connect.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Host } from './host.ts';
import { readJson, writeJson } from './owner.ts';

/** The longest path of a unix socket that every system accepts: 107 bytes on Linux, 103 on macOS. */
const SOCKET_PATH_LIMIT = process.platform === 'linux' ? 107 : 103;

/** The folders and files of one data folder. */
export interface Place {
  readonly dataDir: string;
  readonly pgdata: string;
  readonly runDir: string;
  readonly logPath: string;
}

/**
 * Makes DATA_DIR and DATA_DIR/run (0700) where they are missing.
 * In: the data folder, relative or absolute. Out: its places, absolute and without symbolic links.
 * Errors: EmbeddedDatabaseError when it cannot be made or written.
 */
export function openPlace(dataDir: string): Place {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const real = realpathSync(resolve(dataDir));
    const runDir = join(real, 'run');
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
    accessSync(runDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return { dataDir: real, pgdata: join(real, 'postgres'), runDir, logPath: join(real, 'postgres.log') };
  } catch (error) {
    throw unusableFolder(dataDir, error);
  }
}

/** In: the data folder; an error of the file system. Out: the error to show. */
export function unusableFolder(dataDir: string, error: unknown): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The data folder ${dataDir} cannot be used (${(error as Error).message}). ` +
      'Make it writable for the user Payhook runs as and check that its disk has room, or use another folder.',
    { cause: error },
  );
}

/** Folders outside DATA_DIR that one launch uses; noted in DATA_DIR/run so that they can be removed later. */
export interface Outside {
  /** A socket folder of its own, where the path below DATA_DIR is too long. */
  readonly socketDir: string | null;
  /** Links or copies of the binaries for the user nobody. */
  readonly stage: string | null;
}

/** Removes what an earlier launch left outside DATA_DIR, and the note about it. */
export function removeOutside(place: Place): void {
  const note = join(place.runDir, 'outside.json');
  const left = readJson(note);
  for (const folder of [left?.socketDir, left?.stage]) {
    if (typeof folder === 'string') rmSync(folder, { recursive: true, force: true });
  }
  rmSync(note, { force: true });
}

/** Notes what lies outside DATA_DIR, before it is used. */
export function noteOutside(place: Place, outside: Outside): void {
  if (outside.socketDir || outside.stage) writeJson(join(place.runDir, 'outside.json'), outside);
}

/**
 * Chooses the folder of the socket. In: the wanted folder; the host; the user it must be writable for (null =
 * this one). Out: the folder, and whether it is a new one outside DATA_DIR.
 * Errors: EmbeddedDatabaseError when the temporary folder's path is too long as well.
 */
export function chooseSocketDir(
  wanted: string,
  host: Host,
  owner: number | null,
): { path: string; outside: boolean } {
  if (fits(wanted)) return { path: wanted, outside: false };
  const path = mkdtempSync(join(host.tempDir, 'payhook-'));
  if (!fits(path)) {
    rmSync(path, { recursive: true });
    throw new EmbeddedDatabaseError(
      `There is no room for a unix socket in ${dirname(path)}: the path is too long. Set TMPDIR to a shorter folder.`,
    );
  }
  chmodSync(path, 0o700);
  if (owner !== null) chownSync(path, owner, owner);
  return { path, outside: true };
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_LIMIT;
}
