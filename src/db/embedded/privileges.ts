import { execFile, type SpawnOptions } from 'node:child_process';
import { join } from 'node:path';
import { type Binaries, libraryEnvironment } from './binaries.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Host } from './host.ts';

/*
 * PostgreSQL refuses to run as root. As root it is therefore started
 * - `mapped`: as nobody inside a user namespace of its own. Outside it is root without capabilities, so files stay
 * root's and closed folders work. Or, where namespaces are refused (Docker's default seccomp rules):
 * - `switched`: as the user nobody. That user cannot reach the data folder, so it is started inside it (the folder
 * is changed before the user is) and finds it as /proc/self/cwd.
 * In both cases, and in a plain start, `setpriv --pdeathsig INT` runs first: the kernel then stops PostgreSQL when
 * this process dies, kill -9 included. It comes last in the chain because a change of user would clear it.
 */

/** `nobody`: the one unprivileged user that exists everywhere; initdb insists on a passwd entry. */
export const NOBODY = 65534;

const MAP = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--'];
const END_WITH_PARENT = ['setpriv', '--pdeathsig', 'INT', '--'];

/** As whom, and behind which commands, PostgreSQL is run. */
export interface RunAs {
  readonly mode: 'plain' | 'mapped' | 'switched';
  readonly prefix: readonly string[];
}

/** A child process to be: arguments of child_process.spawn. */
export interface Command {
  readonly file: string;
  readonly args: string[];
  readonly options: SpawnOptions;
}

/**
 * Finds out by trying how PostgreSQL can be run here: the whole chain of commands, its libraries and the way to
 * the run folder at once. In: the host; the binaries; DATA_DIR/run. Out: the first way that works.
 * Errors: EmbeddedDatabaseError with the reason of the last refusal.
 */
export async function chooseRunAs(host: Host, binaries: Binaries, runDir: string): Promise<RunAs> {
  const inPlace: RunAs[] =
    host.uid === 0
      ? [
          { mode: 'mapped', prefix: [...MAP, ...END_WITH_PARENT] },
          { mode: 'mapped', prefix: MAP },
        ]
      : [
          { mode: 'plain', prefix: END_WITH_PARENT },
          { mode: 'plain', prefix: [] },
        ];
  let refusal = '';
  for (const candidate of inPlace) {
    const tried = await runs(host, candidate, binaries, [
      'sh',
      '-c',
      'test -w "$1" && exec "$2" --version',
      'sh',
      runDir,
      join(binaries.native, 'bin', 'postgres'),
    ]);
    if (tried === null) return candidate;
    refusal = tried;
  }
  if (host.uid !== 0) throw cannotRun(refusal);
  return chooseSwitched(host, refusal);
}

async function chooseSwitched(host: Host, mapRefusal: string): Promise<RunAs> {
  // Without /proc there is no name for a working folder that cannot be reached by path.
  if (process.platform !== 'linux') throw rootRefused(mapRefusal);
  for (const prefix of [END_WITH_PARENT, []]) {
    const candidate: RunAs = { mode: 'switched', prefix };
    if ((await runs(host, candidate, null, ['sh', '-c', 'exit 0'])) === null) return candidate;
  }
  throw rootRefused(mapRefusal);
}

/** Takes the user to run as and the data folder; returns how PostgreSQL is given the path of its data. */
export function dataArgument(runAs: RunAs, pgdata: string): string {
  return runAs.mode === 'switched' ? '/proc/self/cwd' : pgdata;
}

/** In: the way to run. Out: the user id the data folder must belong to; null where that plays no part. */
export function dataOwner(runAs: RunAs, host: Host): number | null {
  return runAs.mode === 'switched' ? NOBODY : host.uid;
}

/** In: the way to run, the host, the binaries, the data folder (it becomes the working folder), program and arguments. */
export function commandFor(
  runAs: RunAs,
  host: Host,
  binaries: Binaries | null,
  cwd: string,
  words: readonly string[],
): Command {
  const [file = '', ...args] = [...runAs.prefix, ...words];
  return {
    file,
    args,
    options: {
      cwd,
      // Nothing else from the caller's environment: LC_*, PG* and TZ would change what initdb makes.
      env: {
        PATH: host.searchPath,
        TZ: 'UTC',
        LC_ALL: 'C',
        ...host.preloads,
        ...(binaries ? libraryEnvironment(binaries) : {}),
      },
      ...(runAs.mode === 'switched' ? { uid: NOBODY, gid: NOBODY } : {}),
    },
  };
}

/** Out: null when the command ended well, else why not. */
function runs(host: Host, runAs: RunAs, binaries: Binaries | null, words: string[]): Promise<string | null> {
  const { file, args, options } = commandFor(runAs, host, binaries, '/', words);
  const { cwd, env, uid, gid } = options;
  return new Promise((resolve) => {
    const limits = {
      cwd,
      env,
      timeout: 10_000,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    };
    execFile(file, args, limits, (error, _stdout, stderr) => {
      resolve(error ? stderr.trim() || error.message : null);
    });
  });
}

function cannotRun(refusal: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The bundled PostgreSQL does not run on this machine (${refusal}). ` +
      'It needs a 64-bit Linux with glibc, or macOS. Else set DATABASE_URL to your own PostgreSQL.',
  );
}

function rootRefused(refusal: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `PostgreSQL does not run as root, and no way around it works on this machine (${refusal}). ` +
      'Run Payhook as another user, or set DATABASE_URL to your own PostgreSQL.',
  );
}
