import { lstatSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedDatabaseError } from './errors.ts';
import { thisHost } from './host.ts';

/*
 * A data folder names processes to join, files to remove and libraries to load. So its content counts only if nobody
 * but the user of this process can have written it. Nothing in it is read before these checks.
 */

const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/**
 * Requires that a data folder and its `run` folder belong to the user of this process and that no other user can write
 * to them. A symbolic link to the data folder may belong to this user or to root; `run` must be a folder. What is
 * missing is in order. In: DATA_DIR; the effective user id, null where the system has none.
 * Errors: EmbeddedDatabaseError that names the folder, the rule and what to do.
 */
export function requireTrusted(dataDir: string, uid: number | null = thisHost().uid): void {
  const reason = uid === null ? null : (whyDataUntrusted(dataDir, uid) ?? whyRunUntrusted(dataDir, uid));
  if (reason !== null) throw new EmbeddedDatabaseError(reason);
}

/** Whether `requireTrusted` accepts a data folder. */
export function isTrusted(dataDir: string): boolean {
  try {
    requireTrusted(dataDir);
    return true;
  } catch {
    return false;
  }
}

function whyDataUntrusted(dataDir: string, uid: number): string | null {
  const entry = look(dataDir);
  if (entry === null) return null;
  const other = 'give it another data folder with --data-dir or DATA_DIR';
  if (entry.isSymbolicLink() && entry.uid !== uid && entry.uid !== ROOT) {
    return `The data folder ${dataDir} is a symbolic link of ${owner(entry)}, ${us(uid)}. Remove the link, or ${other}.`;
  }
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (!folder?.isDirectory()) return null; // whoever opens it says so
  if (folder.uid !== uid) {
    return `The data folder ${dataDir} belongs to ${owner(folder)}, ${us(uid)}. Run Payhook as that user, or ${other}.`;
  }
  if ((folder.mode & WRITABLE_BY_OTHERS) === 0) return null;
  return (
    `Other users can write to the data folder ${dataDir} (mode ${modeOf(folder)}). ` +
    `Check that its content is yours, then chmod 700 ${dataDir}, or ${other}.`
  );
}

function whyRunUntrusted(dataDir: string, uid: number): string | null {
  const runDir = join(dataDir, 'run');
  const entry = look(runDir);
  if (entry === null) return null;
  const remedy = `Stop Payhook, and remove ${runDir}: the next start makes it.`;
  if (!entry.isDirectory()) return `${runDir} must be a folder, and is none. ${remedy}`;
  if (entry.uid !== uid) return `The folder ${runDir} belongs to ${owner(entry)}, ${us(uid)}. ${remedy}`;
  if ((entry.mode & WRITABLE_BY_OTHERS) === 0) return null;
  return `Other users can write to the folder ${runDir} (mode ${modeOf(entry)}). ${remedy}`;
}

function look(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Whoever opens a folder that cannot be reached says so.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return null;
    throw error;
  }
}

const owner = ({ uid }: Stats) => `the user with id ${uid}`;
const us = (uid: number) => `and this process runs as ${uid}`;
const modeOf = ({ mode }: Stats) => `0${(mode & 0o7777).toString(8)}`;
