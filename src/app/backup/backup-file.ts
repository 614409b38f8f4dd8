import { createWriteStream } from 'node:fs';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BackupError } from './errors.ts';

/** `payhook-2026-11-22T200501Z.payhook`: sorts by time, and is a valid name on every system. */
const NAMED = /^payhook-(?:cell-(?<cell>\d+)-)?\d{4}-\d\d-\d\dT\d{6}Z\.payhook$/;
const PARTIAL = /^\.payhook-(?:cell-\d+-)?\d{4}-\d\d-\d\dT\d{6}Z\.payhook\.\d+\.part$/;
const ABANDONED_MS = 24 * 3_600_000;

/** The cell of a backup that is named by time; null = it is not one. */
function cellOf(name: string): number | null {
  const found = NAMED.exec(name);
  return found && Number(found.groups?.cell ?? 0);
}

/** A backup file that is written under a temporary name. */
export interface BackupFile {
  /** Absolute. */
  readonly file: string;
  /** Writes the bytes to the disk. Returns their number. */
  write(bytes: Readable): Promise<number>;
  /** Gives the file its final name. It appears complete, and survives a power cut. Throws if the name is taken. */
  keep(): Promise<void>;
  /** Removes the temporary file. */
  discard(): Promise<void>;
  /** The temporary name. */
  readonly partial: string;
}

/**
 * Prepares the backup file of a cell. `target` is a new file, or an existing folder, in which the backup is named after the
 * current time, and after the cell unless it is 0. A trailing slash means a folder. Throws BackupError if the file cannot be there.
 */
export async function prepareBackupFile(target: string, nowMs: number, cell: number): Promise<BackupFile> {
  const path = resolve(target);
  const there = await stat(path).catch(() => null);
  if (/[\\/]$/.test(target) && !there?.isDirectory()) throw noFolder(path);
  const stamp = new Date(nowMs).toISOString().replace(/:|\.\d+/g, '');
  const file = there?.isDirectory()
    ? join(path, `payhook-${cell === 0 ? '' : `cell-${cell}-`}${stamp}.payhook`)
    : path;
  if (there && !there.isDirectory()) throw taken(file);
  if (await stat(file).catch(() => null)) throw taken(file);
  const folder = dirname(file);
  const partial = join(folder, `.${basename(file)}.${process.pid}.part`);
  return {
    file,
    partial,
    async write(bytes) {
      // contains everything, so only its owner may read it
      const sink = createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true });
      const closed = new Promise<void>((done) => sink.once('close', done));
      await pipeline(bytes, sink)
        .catch((error: unknown) => {
          throw writeError(folder, error);
        })
        .finally(() => closed);
      return sink.bytesWritten;
    },
    async keep() {
      await nameOnce(partial, file);
      const handle = await open(folder, 'r');
      await handle.sync().finally(() => handle.close());
    },
    discard: () => rm(partial, { force: true }),
  };
}

/** Renames a file to a name that is not taken. A link never replaces a file, but not every file system has links. */
async function nameOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || (await stat(to).catch(() => null))) throw taken(to);
    await rename(from, to);
  }
}

const noFolder = (folder: string) =>
  new BackupError(`${folder} is not a folder: create it, or choose another location`);

const taken = (file: string) =>
  new BackupError(`${file} exists: backups never overwrite a file, choose another name`);

function writeError(folder: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'connect') return error; // an error of PostgreSQL
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return noFolder(folder);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new BackupError(`no permission to write to ${folder}: choose another location`);
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new BackupError(`the disk of ${folder} is full: free some space, or choose another location`);
    default:
      return error;
  }
}

/**
 * Deletes the oldest backups of a cell in a folder that are named by time, except the last `keep`, and temporary files left by
 * killed processes. Returns the names of the deleted backups.
 */
export async function deleteOld(
  folder: string,
  { keep, nowMs, cell }: { keep: number; nowMs: number; cell: number },
): Promise<string[]> {
  const names = await readdir(folder);
  const surplus = names
    .filter((name) => cellOf(name) === cell)
    .sort()
    .slice(0, -keep);
  for (const name of surplus) await rm(join(folder, name), { force: true });
  for (const name of names.filter((each) => PARTIAL.test(each))) {
    const about = await stat(join(folder, name)).catch(() => null);
    if (about && nowMs - about.mtimeMs > ABANDONED_MS) await rm(join(folder, name), { force: true });
  }
  return surplus;
}
