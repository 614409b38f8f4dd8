import { readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedDatabaseError } from './errors.ts';
import { formatIdentity, isAlive, ownIdentity, parseIdentity } from './processes.ts';

/*
 * The start lock: a mutex between processes over one folder, which survives kill -9 of its holder. Locks are
 * symbolic links lock.1, lock.2, …; the highest number counts, and its target names the holder. To take the lock is
 * to create the next number, which the file system allows only one process to do, once the highest is released or
 * its holder is dead. The highest is never removed, so a live lock cannot be removed by mistake, and two processes
 * that both take over a stale lock cannot both succeed. A process that slept and created a number below the highest
 * sees that on its second look and starts again.
 */

const POLL_MS = 10;
const RELEASED = 'released';

/**
 * Runs `work` while no other process (and nobody else in this one) holds the lock of the folder.
 * In: the folder; the time in ms since the epoch until which to wait; `work`. Out: what `work` returns.
 * Errors: EmbeddedDatabaseError when the lock stays held; whatever `work` throws, after the release.
 */
export async function withStartLock<T>(folder: string, deadline: number, work: () => Promise<T>): Promise<T> {
  const mine = await acquire(folder, deadline);
  try {
    return await work();
  } finally {
    release(mine);
  }
}

async function acquire(folder: string, deadline: number): Promise<string> {
  for (;;) {
    const attempt = tryAcquire(folder);
    if (typeof attempt === 'string') return attempt;
    if (attempt === null) continue;
    if (Date.now() > deadline) {
      throw new EmbeddedDatabaseError(
        `Process ${attempt.holder} is still starting or stopping the database in ${folder}. ` +
          'Wait until it is done and try again, or end that process.',
      );
    }
    await delay(POLL_MS);
  }
}

/** Out: the path of the lock taken; who holds it; null when another process was quicker. */
function tryAcquire(folder: string): string | { holder: number } | null {
  const highest = generations(folder).at(-1) ?? 0;
  const holder = highest > 0 ? parseIdentity(readTarget(lockPath(folder, highest))) : null;
  if (holder && isAlive(holder)) return { holder: holder.pid };
  const next = highest + 1;
  const mine = lockPath(folder, next);
  if (!makeLink(formatIdentity(ownIdentity()), mine)) return null;
  const all = generations(folder);
  if ((all.at(-1) ?? 0) > next) {
    rmSync(mine, { force: true });
    return null;
  }
  for (const older of all.filter((number) => number < next)) {
    rmSync(lockPath(folder, older), { force: true });
    rmSync(`${lockPath(folder, older)}.${RELEASED}`, { force: true });
  }
  return mine;
}

function release(mine: string): void {
  const replacement = `${mine}.${RELEASED}`;
  rmSync(replacement, { force: true });
  symlinkSync(RELEASED, replacement);
  renameSync(replacement, mine);
}

function generations(folder: string): number[] {
  return readdirSync(folder)
    .map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0))
    .filter((number) => number > 0)
    .sort((a, b) => a - b);
}

function makeLink(target: string, path: string): boolean {
  try {
    symlinkSync(target, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function lockPath(folder: string, number: number): string {
  return join(folder, `lock.${number}`);
}
