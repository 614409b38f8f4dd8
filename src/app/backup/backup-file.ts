import { createWriteStream } from 'node:fs';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BackupError } from './errors.ts';

/** `payhook-2026-11-22T200501Z.payhook`: sorts by time, and is a name on every system. */
const NAMED = /^payhook-\d{4}-\d\d-\d\dT\d{6}Z\.payhook$/;
const PARTIAL = /^\.payhook-\d{4}-\d\d-\d\dT\d{6}Z\.payhook\.\d+\.part$/;
const ABANDONED_MS = 24 * 3_600_000;

/** A file being written under a temporary name. */
export interface BackupFile {
  /** Absolute. */
  readonly file: string;
  /** Writes the bytes to the disk; returns how many there were. */
  write(bytes: Readable): Promise<number>;
  /** Gives the file its name. It appears whole, and is not undone by a power cut. Throws when the name is taken. */
  keep(): Promise<void>;
  /** Removes what was written under the temporary name. */
  discard(): Promise<void>;
  /** The temporary name. */
  readonly partial: string;
}

/**
 * The place of a backup. In: a file that does not exist, or a folder, in which it is called by the time; what ends with a slash must be a folder. Throws
 * BackupError when it cannot be there.
 */
export async function prepareBackupFile(target: string, nowMs: number): Promise<BackupFile> {
  const path = resolve(target);
  const there = await stat(path).catch(() => null);
  if (/[\\/]$/.test(target) && !there?.isDirectory()) throw noFolder(path);
  const stamp = new Date(nowMs).toISOString().replace(/:|\.\d+/g, '');
  const file = there?.isDirectory() ? join(path, `payhook-${stamp}.payhook`) : path;
  if (there && !there.isDirectory()) throw taken(file);
  if (await stat(file).catch(() => null)) throw taken(file);
  const folder = dirname(file);
  const partial = join(folder, `.${basename(file)}.${process.pid}.part`);
  return {
    file,
    partial,
    async write(bytes) {
      // everything about everybody: for its owner only
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

/** Gives a file another name that no file has. A link does not replace, but not every file system has links. */
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
  new BackupError(`${folder} is not a folder: make it, or choose another place`);

const taken = (file: string) =>
  new BackupError(`${file} exists: backups never overwrite a file, choose another name`);

function writeError(folder: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'connect') return error; // of PostgreSQL
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return noFolder(folder);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new BackupError(`no permission to write to ${folder}: choose another place`);
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new BackupError(`the disk of ${folder} is full: free some space, or choose another place`);
    default:
      return error;
  }
}

/**
 * Deletes the oldest backups of a folder that are named by their time, but `keep`, and what killed processes left of
 * others. Returns the names of deleted backups.
 */
export async function deleteOld(folder: string, keep: number, nowMs: number): Promise<string[]> {
  const names = await readdir(folder);
  const old = names
    .filter((name) => NAMED.test(name))
    .sort()
    .slice(0, -keep);
  for (const name of old) await rm(join(folder, name), { force: true });
  for (const name of names.filter((each) => PARTIAL.test(each))) {
    const about = await stat(join(folder, name)).catch(() => null);
    if (about && nowMs - about.mtimeMs > ABANDONED_MS) await rm(join(folder, name), { force: true });
  }
  return old;
}
