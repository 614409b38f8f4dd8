import { readlinkSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { readOwner } from './owner.ts';
import { isOurs, postgresFolders } from './processes.ts';
import { isTrusted } from './trust.ts';

/**
 * Data folders of the running servers that this user started from `folder` or from a folder above it;
 * of several only the nearest. Processes and folders of other users do not count.
 * In: an absolute folder. Linux only; elsewhere always none.
 */
export function serversStartedAbove(folder: string): string[] {
  const found = new Map<string, string>();
  for (const pgdata of postgresFolders()) {
    if (basename(pgdata) !== 'postgres') continue;
    const dataDir = dirname(pgdata);
    if (!isTrusted(dataDir)) continue;
    const owner = readOwner(join(dataDir, 'run'));
    const startedIn = owner?.purpose === 'serve' && isOurs(owner.pid) ? workingFolder(owner.pid) : null;
    // A server started from / could belong to any folder.
    if (startedIn === null || startedIn === sep) continue;
    if (folder === startedIn || folder.startsWith(startedIn + sep)) found.set(dataDir, startedIn);
  }
  const nearest = Math.max(0, ...[...found.values()].map((path) => path.length));
  return [...found].filter(([, path]) => path.length === nearest).map(([dataDir]) => dataDir);
}

function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}
