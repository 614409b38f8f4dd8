import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PORT } from './connect.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Host } from './host.ts';
import { readJson, writeJson } from './owner.ts';
import { NOBODY } from './privileges.ts';
import { requireTrusted } from './trust.ts';

/** The longest path of a unix socket that every system accepts: 107 bytes on Linux, 103 on macOS. */
const SOCKET_PATH_LIMIT = process.platform === 'linux' ? 107 : 103;

/** The names of folders outside DATA_DIR, as mkdtemp makes them. */
const SOCKET_FOLDER = /^payhook-\w{6}$/;
const STAGE = /^payhook-postgres-\w{6}$/;

/** The folders and files of one data folder. */
export interface DataFolder {
  readonly dataDir: string;
  readonly pgdata: string;
  readonly runDir: string;
  readonly logPath: string;
}

/**
 * Makes DATA_DIR and DATA_DIR/run (0700) where they are missing.
 * In: the data folder, relative or absolute. Out: its places, absolute and without symbolic links.
 * Errors: EmbeddedDatabaseError when it cannot be made or written, or when `requireTrusted` refuses it.
 */
export function openDataFolder(dataDir: string): DataFolder {
  requireTrusted(dataDir);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const real = realpathSync(resolve(dataDir));
    const runDir = join(real, 'run');
    mkdirSync(runDir, { recursive: true, mode: 0o700 });
    // Again, and without links: somebody else may have been quicker to make them.
    requireTrusted(real);
    accessSync(runDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return { dataDir: real, pgdata: join(real, 'postgres'), runDir, logPath: join(real, 'postgres.log') };
  } catch (error) {
    throw error instanceof EmbeddedDatabaseError ? error : unusableFolder(dataDir, error);
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

/**
 * Removes what an earlier launch left outside DATA_DIR, and the note about it. Only folders with the names that we give
 * them are removed, and only while they belong to us, or the folder of a socket to nobody, whom it was given to.
 */
export function removeOutside(folder: DataFolder, { uid }: Host): void {
  const { socketDir, stage } = readJson(noteOf(folder)) ?? {};
  if (isMade(stage, STAGE, [uid])) rmSync(stage, { recursive: true, force: true });
  if (isSocketFolder(socketDir, uid)) removeSocketFolder(socketDir);
  rmSync(noteOf(folder), { force: true });
}

/** The folders in which sockets of a data folder may be, also one outside of it. */
export function socketDirs(folder: DataFolder, { uid }: Host): string[] {
  const outside = readJson(noteOf(folder))?.socketDir;
  return [folder.runDir, folder.pgdata, ...(isSocketFolder(outside, uid) ? [outside] : [])];
}

const noteOf = ({ runDir }: DataFolder) => join(runDir, 'outside.json');

const isSocketFolder = (path: unknown, uid: number | null): path is string =>
  isMade(path, SOCKET_FOLDER, uid === 0 ? [uid, NOBODY] : [uid]);

function isMade(path: unknown, name: RegExp, owners: readonly (number | null)[]): path is string {
  if (typeof path !== 'string' || !name.test(basename(path))) return false;
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isDirectory() === true && (owners.includes(null) || owners.includes(entry.uid));
}

/** Not recursively: processes of nobody may write there, and could put something else into its place meanwhile. */
function removeSocketFolder(folder: string): void {
  const socket = join(folder, `.s.PGSQL.${PORT}`);
  for (const path of [socket, `${socket}.lock`]) rmSync(path, { force: true });
  try {
    rmdirSync(folder);
  } catch {
    // Something of somebody else is in it.
  }
}

/** Notes what lies outside DATA_DIR, before it is used. */
export function noteOutside(folder: DataFolder, outside: Outside): void {
  if (outside.socketDir || outside.stage) writeJson(noteOf(folder), outside);
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
