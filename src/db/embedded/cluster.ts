import { execFile } from 'node:child_process';
import {
  chownSync,
  closeSync,
  fsyncSync,
  lchownSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Binaries, POSTGRES_MAJOR } from './binaries.ts';
import { SUPERUSER } from './connect.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Host } from './host.ts';
import { commandFor, dataArgument, dataOwner, NOBODY, type RunAs } from './privileges.ts';

const INITDB_LIMIT_MS = 120_000;
const UNFINISHED = 'postgres.new-';

/** How and with what the PostgreSQL of a data folder is run. */
export interface Runtime {
  readonly host: Host;
  readonly runAs: RunAs;
  readonly binaries: Binaries;
}

/** Whether a data folder holds a PostgreSQL already. */
export function clusterExists(pgdata: string): boolean {
  return postgresVersion(pgdata) !== null;
}

/**
 * Makes sure that the existing data can be run by this PostgreSQL and this user.
 * Errors: EmbeddedDatabaseError for data of another major version or of another user.
 */
export function adoptCluster(runtime: Runtime, pgdata: string): void {
  const version = postgresVersion(pgdata);
  if (version !== POSTGRES_MAJOR) {
    throw new EmbeddedDatabaseError(
      `The data in ${pgdata} were made by PostgreSQL ${version}; this Payhook brings PostgreSQL ${POSTGRES_MAJOR}. ` +
        'Run the Payhook version that made them, or dump them with that PostgreSQL and load them into a new one.',
    );
  }
  const wanted = dataOwner(runtime.runAs, runtime.host);
  const actual = statSync(pgdata).uid;
  if (wanted === null || wanted === actual) return;
  // As root both ways to run are ours, and the machine may have changed from one to the other.
  if (runtime.host.uid === 0 && (actual === 0 || actual === NOBODY)) {
    chownTree(pgdata, wanted);
    return;
  }
  throw new EmbeddedDatabaseError(
    `The data in ${pgdata} belong to the user with id ${actual}, and this process runs as ${runtime.host.uid}. ` +
      'Run Payhook as that user, or give it another data folder.',
  );
}

/**
 * Makes a new PostgreSQL data folder, complete or not at all: kill -9 or a power failure halfway leaves only a
 * temporary folder, which the next start removes. In: how to run; DATA_DIR; the data folder inside it.
 * Errors: EmbeddedDatabaseError with the output of initdb.
 */
export async function createCluster(runtime: Runtime, dataDir: string, pgdata: string): Promise<void> {
  removeUnfinished(dataDir);
  const temporary = mkdtempSync(join(dataDir, UNFINISHED));
  try {
    if (runtime.runAs.mode === 'switched') chownSync(temporary, NOBODY, NOBODY);
    await runInitdb(runtime, temporary);
    moveIntoPlace(temporary, pgdata);
    syncFolder(dataDir);
  } catch (error) {
    removeUnfinished(dataDir);
    throw error;
  }
}

function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // An initdb that lost its parent may still write there; it ends by itself, and the name is never reused.
    }
  }
}

function runInitdb(runtime: Runtime, folder: string): Promise<void> {
  const { host, runAs, binaries } = runtime;
  const { file, args, options } = commandFor(runAs, host, binaries, folder, [
    join(binaries.native, 'bin', 'initdb'),
    ...['-D', dataArgument(runAs, folder), '-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
  ]);
  const { cwd, env, uid, gid } = options;
  const limits = {
    cwd,
    env,
    timeout: INITDB_LIMIT_MS,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  };
  return new Promise((resolve, reject) => {
    execFile(file, args, limits, (error, stdout, stderr) => {
      if (!error) return resolve();
      const output = `${stdout}\n${stderr}`.trim().split('\n').slice(-8).join('\n');
      reject(
        new EmbeddedDatabaseError(
          `The database could not be created in ${folder}:\n${output || error.message}`,
        ),
      );
    });
  });
}

function moveIntoPlace(temporary: string, pgdata: string): void {
  try {
    renameSync(temporary, pgdata);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `${pgdata} exists and holds no PostgreSQL data (${(error as Error).message}). ` +
        'Move it away, or use another data folder.',
    );
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function chownTree(folder: string, uid: number): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) chownTree(path, uid);
    else lchownSync(path, uid, uid);
  }
  chownSync(folder, uid, uid);
}

function postgresVersion(pgdata: string): string | null {
  try {
    return readFileSync(join(pgdata, 'PG_VERSION'), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new EmbeddedDatabaseError(
      `The data in ${pgdata} cannot be read (${(error as Error).message}). Run Payhook as the user they belong to.`,
    );
  }
}
