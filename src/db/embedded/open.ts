import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fillStage, linkLibraries, locateNative, makeStage } from './binaries.ts';
import { adoptCluster, clusterExists, createCluster, type Runtime, securePassword } from './cluster.ts';
import { appConnection, type EmbeddedConnection, PORT, superuserConnection, untilReady } from './connect.ts';
import {
  chooseSocketDir,
  type DataFolder,
  noteOutside,
  openDataFolder,
  removeOutside,
  socketDirs,
  unusableFolder,
} from './data-folder.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import { type Host, type Log, thisHost } from './host.ts';
import { type Exit, type Launch, launchPostgres, type Postmaster } from './launch.ts';
import { clearLeftovers } from './leftovers.ts';
import { withStartLock } from './lock.ts';
import {
  announceServer,
  liveUsers,
  type Owner,
  readOwner,
  registerUser,
  removeOwner,
  waitingServer,
  withdrawServer,
  writeOwner,
} from './owner.ts';
import { readPassword } from './password.ts';
import { chooseRunAs, NOBODY } from './privileges.ts';
import { postgresProcessesIn } from './processes.ts';
import { serverSettings } from './settings.ts';

/*
 * Who owns PostgreSQL. All of this happens under one start lock (lock.ts), so that there is one order of events.
 * 1. The process that launched PostgreSQL stops it. run/owner.json names that process. A dead owner counts as none,
 * and a PostgreSQL it left behind is stopped before a new one is launched (setpriv usually had the kernel do so).
 * 2. A command joins the PostgreSQL of a running server or command and notes itself in run/users. Otherwise it
 * launches one.
 * 3. A command that launched PostgreSQL waits at close until no living process is noted there: those are other
 * commands at work, and PostgreSQL cannot outlive the process that launched it. Then it stops PostgreSQL.
 * 4. A server refuses to start while another server runs. While only commands own PostgreSQL it waits for them
 * (takeoverTimeoutMs) and announces itself in run/next.json: new commands then wait for it instead of joining.
 * 5. A worker runs for long, so it never launches: it joins only a server's PostgreSQL, and waits while there is
 * none. It leaves when the owner is marked as stopping, or has died, and waits for the next one.
 * 6. A server that stops gives commands that joined a few seconds, then stops PostgreSQL: it has a deadline of its
 * own.
 */

const TAKEOVER_MS = 30_000;
const SERVER_CLOSE_MS = 5_000;
const LOCK_MS = 30_000;
const POLL_MS = 20;
const WATCH_MS = 200;

export type { EmbeddedConnection } from './connect.ts';

/**
 * What a process wants from the embedded PostgreSQL: `serve` owns it; a `command` joins a running one, or owns it
 * for a while; a `worker` only joins a server's, and waits for one.
 */
export type Purpose = 'serve' | 'command' | 'worker';

export interface EmbeddedOptions {
  /** The data folder (DATA_DIR); made with mode 0700 if missing. */
  dataDir: string;
  purpose: Purpose;
  log?: Log;
  /** More settings of PostgreSQL, as for `-c`; they override ours. */
  settings?: Record<string, string>;
  /** How long, in ms, to wait for other processes that start, stop or use the database; 30,000. A worker waits for ever. */
  takeoverTimeoutMs?: number;
}

export interface EmbeddedDatabase {
  /** As the program's role: owner of its database, no superuser. */
  connection: EmbeddedConnection;
  /** As superuser, for `doctor` and tests. */
  superuser: EmbeddedConnection;
  /** Whether this process launched PostgreSQL, and not another one it joined. */
  launched: boolean;
  /**
   * Resolves when a PostgreSQL we launched ends, by itself or stopped; for a worker when the
   * server it joined stops or has died; never for a command that joined.
   */
  exited: Promise<{ code: number | null; signal: string | null }>;
  /** Stops PostgreSQL if we launched it (see the rules above), else only leaves it. May be called again. */
  close(): Promise<void>;
}

interface Request {
  readonly host: Host;
  readonly folder: DataFolder;
  readonly purpose: Purpose;
  readonly log: Log;
  readonly settings: Record<string, string>;
  readonly deadline: number;
}

type Decision =
  | { readonly kind: 'wait'; readonly forPid: number }
  | { readonly kind: 'join'; readonly owner: Owner; readonly leave: () => void }
  | {
      readonly kind: 'launched';
      readonly postmaster: Postmaster;
      readonly socketDir: string;
      readonly password: string;
    };

/**
 * Opens the embedded PostgreSQL of a data folder: creates it on first use, launches it or joins a running one.
 * In: see EmbeddedOptions. Out: see EmbeddedDatabase; close() must be called.
 * Errors: EmbeddedDatabaseError, whose message says what to do.
 */
export function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  return openEmbeddedOn(thisHost(), options);
}

/** openEmbedded on a machine described by the caller; for tests of machines that lack something. */
export async function openEmbeddedOn(host: Host, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const request: Request = {
    host,
    folder: openDataFolder(options.dataDir),
    purpose: options.purpose,
    log: options.log ?? (() => undefined),
    settings: options.settings ?? {},
    deadline:
      options.purpose === 'worker'
        ? Number.POSITIVE_INFINITY
        : Date.now() + (options.takeoverTimeoutMs ?? TAKEOVER_MS),
  };
  const { runDir } = request.folder;
  try {
    for (;;) {
      if (request.purpose === 'worker') await untilServed(request);
      const decision = await withStartLock(runDir, request.deadline, () => decide(request));
      if (decision.kind === 'launched') return launchedDatabase(request, decision);
      if (decision.kind === 'join' && (await untilJoined(request, decision))) {
        return joinedDatabase(request, decision);
      }
      if (Date.now() > request.deadline) throw stillInUse(request, decision);
      await delay(request.purpose === 'worker' ? WATCH_MS : POLL_MS);
    }
  } catch (error) {
    throw error instanceof Error && 'syscall' in error ? unusableFolder(options.dataDir, error) : error;
  } finally {
    if (request.purpose === 'serve') withdrawServer(runDir);
  }
}

async function decide(request: Request): Promise<Decision> {
  const { folder, purpose } = request;
  const owner = readOwner(folder.runDir);
  if (purpose === 'serve') {
    if (!owner) return launch(request);
    if (owner.purpose === 'serve') throw serverRuns(folder, owner);
    announceServer(folder.runDir);
    return { kind: 'wait', forPid: owner.pid };
  }
  if (purpose === 'worker' && !isServing(owner)) return { kind: 'wait', forPid: owner?.pid ?? 0 };
  const server = owner?.purpose === 'serve' ? null : waitingServer(folder.runDir);
  if (server !== null) return { kind: 'wait', forPid: server };
  return owner ? { kind: 'join', owner, leave: registerUser(folder.runDir) } : launch(request);
}

const isServing = (owner: Owner | null) => owner?.purpose === 'serve' && owner.stopping !== true;

/** Without the lock, because a worker may wait for days. */
async function untilServed({ folder, log }: Request): Promise<void> {
  if (isServing(readOwner(folder.runDir))) return;
  log('info', 'waiting for the server of this data folder: payhook serve starts it', {
    dataDir: folder.dataDir,
  });
  while (!isServing(readOwner(folder.runDir))) await delay(WATCH_MS);
}

async function launch(request: Request): Promise<Decision> {
  const { host, folder, log } = request;
  const existing = clusterExists(folder.pgdata);
  await clearLeftovers(folder.pgdata, socketDirs(folder, host), log);
  removeOwner(folder.runDir);
  removeOutside(folder, host);
  const { runtime, socketDir } = await prepareRuntime(host, folder);
  if (existing) adoptCluster(runtime, folder.pgdata);
  else {
    log('info', 'creating the database, once', { dataDir: folder.dataDir });
    await createCluster(runtime, folder.dataDir, folder.pgdata);
  }
  const settings = { ...serverSettings(folder.dataDir), ...request.settings };
  const password = await securePassword(runtime, folder, settings);
  const postmaster = await launchAlone(request, runtime, { socketDir, password, settings });
  const purpose = request.purpose === 'serve' ? 'serve' : 'command';
  writeOwner(folder.runDir, { purpose, socketDir, port: PORT });
  return { kind: 'launched', postmaster, socketDir, password };
}

async function launchAlone(
  { host, folder, log }: Request,
  runtime: Runtime,
  how: Pick<Launch, 'socketDir' | 'password' | 'settings'>,
): Promise<Postmaster> {
  const start = () => launchPostgres(runtime, { pgdata: folder.pgdata, logPath: folder.logPath, ...how });
  try {
    return await start();
  } catch (error) {
    // A launcher killed within the first milliseconds leaves a PostgreSQL that becomes visible only now.
    if (postgresProcessesIn(folder.pgdata).length === 0) throw error;
    await clearLeftovers(folder.pgdata, socketDirs(folder, host), log);
    return start();
  }
}

async function prepareRuntime(
  host: Host,
  folder: DataFolder,
): Promise<{ runtime: Runtime; socketDir: string }> {
  const native = locateNative(host);
  const linked = linkLibraries(native, join(folder.runDir, 'lib'));
  const runAs = await chooseRunAs(host, linked, folder.runDir);
  const switched = runAs.mode === 'switched';
  const stage = switched ? makeStage(host.tempDir) : null;
  noteOutside(folder, { socketDir: null, stage });
  const binaries = stage === null ? linked : fillStage(native, stage);
  const socket = chooseSocketDir(switched ? folder.pgdata : folder.runDir, host, switched ? NOBODY : null);
  noteOutside(folder, { socketDir: socket.outside ? socket.path : null, stage });
  return { runtime: { host, runAs, binaries }, socketDir: socket.path };
}

async function untilJoined(request: Request, joined: { owner: Owner; leave: () => void }): Promise<boolean> {
  const { folder, deadline } = request;
  const gone = new Error('the owner has gone');
  const giveUp = () => (readOwner(folder.runDir) === null || Date.now() > deadline ? gone : null);
  try {
    const connection = appConnection(joined.owner.socketDir, readPassword(folder.dataDir));
    const state = await untilReady(connection, giveUp);
    if (state === 'ready') return true;
  } catch (error) {
    if (error !== gone) {
      joined.leave();
      throw error;
    }
  }
  joined.leave();
  return false;
}

function joinedDatabase(
  { folder, purpose }: Request,
  { owner, leave }: { owner: Owner; leave: () => void },
): EmbeddedDatabase {
  let watch: NodeJS.Timeout | undefined;
  const exited = new Promise<Exit>((resolve) => {
    if (purpose !== 'worker') return;
    watch = setInterval(() => {
      const now = readOwner(folder.runDir);
      if (!isServing(now) || now?.pid !== owner.pid) resolve({ code: null, signal: null });
    }, WATCH_MS);
  });
  return {
    ...connections(owner.socketDir, readPassword(folder.dataDir)),
    launched: false,
    exited,
    async close() {
      clearInterval(watch);
      leave();
    },
  };
}

function launchedDatabase(
  request: Request,
  launched: { postmaster: Postmaster; socketDir: string; password: string },
): EmbeddedDatabase {
  const { postmaster, socketDir, password } = launched;
  let closing: Promise<void> | null = null;
  return {
    ...connections(socketDir, password),
    launched: true,
    exited: postmaster.exited,
    close() {
      closing ??= closeLaunched(request, launched);
      return closing;
    },
  };
}

async function closeLaunched(
  { host, folder, purpose, log }: Request,
  { postmaster, socketDir }: { postmaster: Postmaster; socketDir: string },
): Promise<void> {
  const patience = purpose === 'serve' ? Date.now() + SERVER_CLOSE_MS : Number.POSITIVE_INFINITY;
  let isLogged = false;
  const stopUnlessUsed = async () => {
    const users = liveUsers(folder.runDir);
    if (users.length > 0 && Date.now() < patience && postmaster.isRunning()) {
      if (!isLogged) log('info', 'waiting for other commands that use the database', { pids: users });
      isLogged = true;
      return false;
    }
    removeOwner(folder.runDir);
    await postmaster.stop();
    removeOutside(folder, host);
    return true;
  };
  try {
    if (purpose === 'serve') {
      writeOwner(folder.runDir, { purpose, socketDir, port: PORT, stopping: true });
    }
    while (!(await withStartLock(folder.runDir, Date.now() + LOCK_MS, stopUnlessUsed))) await delay(POLL_MS);
  } catch (error) {
    // The run folder is gone or full: what matters is that PostgreSQL stops.
    log('warn', 'the database was closed without its lock', { reason: (error as Error).message });
    await postmaster.stop();
  }
}

function connections(
  socketDir: string,
  password: string | undefined,
): { connection: EmbeddedConnection; superuser: EmbeddedConnection } {
  return {
    connection: appConnection(socketDir, password),
    superuser: superuserConnection(socketDir, password),
  };
}

function serverRuns(folder: DataFolder, owner: Owner): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `A Payhook server (process ${owner.pid}) already runs on ${folder.dataDir}. ` +
      `Stop it first (kill ${owner.pid}), or give this one another data folder.`,
  );
}

function stillInUse(request: Request, decision: Decision): EmbeddedDatabaseError {
  const pid = decision.kind === 'wait' ? decision.forPid : decision.kind === 'join' ? decision.owner.pid : 0;
  return new EmbeddedDatabaseError(
    `The database in ${request.folder.dataDir} is still held by a payhook command (process ${pid}). ` +
      'Wait until it is done and try again, or end it.',
  );
}
