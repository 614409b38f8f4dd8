import { spawn } from 'node:child_process';
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
import type { DataFolder } from './data-folder.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Host } from './host.ts';
import {
  askForPassword,
  asksForPassword,
  forgetPassword,
  handOver,
  makePassword,
  readPassword,
} from './password.ts';
import { type Command, commandFor, dataArgument, dataOwner, NOBODY, type RunAs } from './privileges.ts';

const INITDB_LIMIT_MS = 120_000;
const UNFINISHED = 'postgres.new-';

/** How the PostgreSQL of a data folder is run. */
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
      `The data in ${pgdata} was made by PostgreSQL ${version}; this Payhook includes PostgreSQL ${POSTGRES_MAJOR}. ` +
        'Run the Payhook version that made it, or dump it with that PostgreSQL and load it into a new database.',
    );
  }
  const wanted = dataOwner(runtime.runAs, runtime.host);
  const actual = statSync(pgdata).uid;
  if (wanted === null || wanted === actual) return;
  // Root can run it in either of two ways, and the machine may have changed from one to the other.
  if (runtime.host.uid === 0 && (actual === 0 || actual === NOBODY)) {
    chownTree(pgdata, wanted);
    return;
  }
  throw new EmbeddedDatabaseError(
    `The data in ${pgdata} belongs to the user with id ${actual}, and this process runs as ${runtime.host.uid}. ` +
      'Run Payhook as that user, or give it another data folder.',
  );
}

/**
 * Makes a new PostgreSQL data folder, complete or not at all: kill -9 or a power failure leaves only a temporary
 * folder, which the next start removes. It requires the password of DATA_DIR, which is made too. In: how to run;
 * DATA_DIR; the data folder inside it. Errors: EmbeddedDatabaseError with the output of initdb.
 */
export async function createCluster(runtime: Runtime, dataDir: string, pgdata: string): Promise<void> {
  removeUnfinished(dataDir);
  const temporary = mkdtempSync(join(dataDir, UNFINISHED));
  try {
    const owner = otherOwner(runtime);
    if (owner !== null) chownSync(temporary, owner, owner);
    await runInitdb(runtime, temporary, makePassword(dataDir));
    askForPassword(temporary, owner);
    moveIntoPlace(temporary, pgdata);
    syncFolder(dataDir);
  } catch (error) {
    removeUnfinished(dataDir);
    forgetPassword(dataDir);
    throw error;
  }
}

function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // An initdb that lost its parent may still write there. It ends by itself, and the name is never reused.
    }
  }
}

/** The user id to give PostgreSQL's files to; null where they are created with it already. */
const otherOwner = ({ runAs }: Runtime) => (runAs.mode === 'switched' ? NOBODY : null);

async function runInitdb(runtime: Runtime, folder: string, password: string): Promise<void> {
  const { host, runAs, binaries } = runtime;
  // Handed over as an open file: the user nobody cannot reach one below the data folder.
  const passwordFile = handOver(folder, password, otherOwner(runtime));
  const command = commandFor(runAs, host, binaries, folder, [
    join(binaries.native, 'bin', 'initdb'),
    ...[
      '-D',
      dataArgument(runAs, folder),
      '-U',
      SUPERUSER,
      '--pwfile=/dev/fd/3',
      '-A',
      'reject',
      '-E',
      'UTF8',
    ],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
  ]);
  try {
    const failure = await failureOf(command, { file: passwordFile, timeout: INITDB_LIMIT_MS });
    if (failure === null) return;
    throw new EmbeddedDatabaseError(`The database could not be created in ${folder}:\n${failure}`);
  } finally {
    closeSync(passwordFile);
  }
}

/**
 * Runs a command. In: the command; a file it gets as descriptor 3, and its standard input. Out: null on success,
 * else the end of its output.
 */
function failureOf(
  { file, args, options }: Command,
  given: { file?: number; input?: string; timeout?: number },
): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      ...options,
      ...(given.timeout === undefined ? {} : { timeout: given.timeout }),
      stdio: ['pipe', 'pipe', 'pipe', given.file ?? 'ignore'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-2000);
      });
    }
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(
        code === 0 ? null : said.trim().split('\n').slice(-8).join('\n') || `it ended with ${code ?? signal}`,
      ),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(given.input ?? '');
  });
}

/**
 * Makes PostgreSQL require the password of the data folder from everybody, including data from before there was
 * one. In: how to run; the places; the settings it is started with. Out: the password. Errors:
 * EmbeddedDatabaseError with the output of PostgreSQL.
 */
export async function securePassword(
  runtime: Runtime,
  { dataDir, pgdata }: Pick<DataFolder, 'dataDir' | 'pgdata'>,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const known = readPassword(dataDir);
  if (known !== undefined && asksForPassword(pgdata)) return known;
  const password = makePassword(dataDir);
  await runAlone(runtime, pgdata, settings, `alter role ${SUPERUSER} password '${password}'\n`);
  // Last, so that a start that dies before this runs it again.
  askForPassword(pgdata, otherOwner(runtime));
  return password;
}

/** Runs statements, one per line, on a PostgreSQL that accepts no connections and ends with them. */
async function runAlone(
  { host, runAs, binaries }: Runtime,
  pgdata: string,
  settings: Readonly<Record<string, string>>,
  statements: string,
): Promise<void> {
  const all = Object.entries({ ...settings, exit_on_error: 'on' });
  const command = commandFor(runAs, host, binaries, pgdata, [
    join(binaries.native, 'bin', 'postgres'),
    ...['--single', '-D', dataArgument(runAs, pgdata)],
    ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    'postgres',
  ]);
  const failure = await failureOf(command, { input: statements });
  if (failure === null) return;
  throw new EmbeddedDatabaseError(`The database in ${pgdata} could not be given a password: ${failure}`);
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
      `The data in ${pgdata} cannot be read (${(error as Error).message}). Run Payhook as the user it belongs to.`,
    );
  }
}
