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
 * In: the data folder; the run folder. Errors: EmbeddedDatabaseError when the folder is in use after all.
 */
export async function clearLeftovers(pgdata: string, runDir: string, log: Log): Promise<void> {
  const found = readPostmaster(pgdata);
  const state = found ? postmasterState(found.pid, pgdata) : 'gone';
  if (found && state === 'unknown') throw inUse(pgdata, `process ${found.pid}`);
  if (found && state === 'postgres') {
    log('info', 'stopping a PostgreSQL whose program has died', { pid: found.pid, dataDir: pgdata });
    await endPostmaster(found.pid, pgdata);
  }
  if (existsSync(pgdata)) await endBackends(pgdata);
  await removeLockFiles(pgdata, new Set([readPostmaster(pgdata)?.socketDir ?? runDir, runDir, pgdata]));
}

async function removeLockFiles(pgdata: string, socketDirs: Set<string>): Promise<void> {
  const sockets = [...socketDirs].map((folder) => join(folder, `.s.PGSQL.${PORT}`));
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

function readPostmaster(pgdata: string): { pid: number; socketDir: string | null } | null {
  try {
    const lines = readFileSync(join(pgdata, 'postmaster.pid'), 'utf8').split('\n');
    const socketDir = lines[4] || null;
    const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
    return { pid: pid || 0, socketDir: socketDir === '.' ? pgdata : socketDir };
  } catch {
    return null;
  }
}

function inUse(pgdata: string, by: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The database in ${pgdata} is in use by ${by}. Stop that one first, or use another data folder.`,
  );
}
