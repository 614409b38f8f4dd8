import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PORT, somebodyAnswers } from './connect.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Log } from './host.ts';
import { postgresProcessesIn, postmasterState, signalProcess } from './processes.ts';

const POLL_MS = 10;
const FAST_LIMIT_MS = 30_000;
const HARD_LIMIT_MS = 10_000;

/**
 * Ends what a dead owner left in a data folder, so that a new PostgreSQL can start there. Called only under the
 * start lock and when there is no living owner. It stops a running PostgreSQL (the kernel has usually begun that),
 * ends backends that outlived their postmaster, and removes stale lock files: PostgreSQL would take a zombie, or
 * another process with that pid, for a running server.
 * In: the data folder; the folders in which its sockets may be. Errors: EmbeddedDatabaseError when the folder is in
 * use after all.
 */
export async function clearLeftovers(pgdata: string, socketDirs: readonly string[], log: Log): Promise<void> {
  const pid = readPostmaster(pgdata);
  const state = pid === null ? 'gone' : postmasterState(pid, pgdata);
  if (pid !== null && state === 'unknown') throw inUse(pgdata, `process ${pid}`);
  if (pid !== null && state === 'postgres') {
    log('info', 'stopping a PostgreSQL whose program has died', { pid, dataDir: pgdata });
    await endPostmaster(pid, pgdata);
  }
  if (existsSync(pgdata)) await endBackends(pgdata);
  await removeLockFiles(pgdata, socketDirs);
}

async function removeLockFiles(pgdata: string, socketDirs: readonly string[]): Promise<void> {
  const sockets = socketDirs.map((folder) => join(folder, `.s.PGSQL.${PORT}`));
  for (const socket of sockets.filter(existsSync)) {
    // The folder may be shared with another container, whose pids mean nothing here, but whose socket answers.
    if (await somebodyAnswers(dirname(socket)))
      throw inUse(pgdata, 'a server outside this system or container');
  }
  for (const socket of sockets) {
    rmSync(socket, { force: true });
    rmSync(`${socket}.lock`, { force: true });
  }
  rmSync(join(pgdata, 'postmaster.pid'), { force: true });
}

async function endPostmaster(pid: number, pgdata: string): Promise<void> {
  const runs = () => postmasterState(pid, pgdata) === 'postgres';
  signalProcess(pid, 'SIGINT');
  if (await waitWhile(runs, FAST_LIMIT_MS)) return;
  signalProcess(pid, 'SIGQUIT');
  if (await waitWhile(runs, HARD_LIMIT_MS)) return;
  throw new EmbeddedDatabaseError(
    `PostgreSQL (process ${pid}) still runs in ${pgdata} and does not stop. Wait or end that process, then try again.`,
  );
}

async function endBackends(pgdata: string): Promise<void> {
  const some = () => postgresProcessesIn(pgdata).length > 0;
  if (!some()) return;
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of postgresProcessesIn(pgdata)) signalProcess(pid, signal);
    if (await waitWhile(some, HARD_LIMIT_MS)) return;
  }
  throw inUse(pgdata, `processes ${postgresProcessesIn(pgdata).join(', ')}`);
}

/** Out: true as soon as the condition no longer holds, false when it still does at the limit (ms). */
async function waitWhile(condition: () => boolean, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs;
  while (condition()) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** Only the pid: the user nobody may have written the rest, and files would be removed where it says. */
function readPostmaster(pgdata: string): number | null {
  try {
    return Math.abs(Number.parseInt(readFileSync(join(pgdata, 'postmaster.pid'), 'utf8'), 10)) || 0;
  } catch {
    return null;
  }
}

function inUse(pgdata: string, by: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The database in ${pgdata} is in use by ${by}. Stop that one first, or use another data folder.`,
  );
}
