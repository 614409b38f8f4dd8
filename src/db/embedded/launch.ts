import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Runtime } from './cluster.ts';
import { appConnection, createRoleAndDatabase, PORT, superuserConnection, untilReady } from './connect.ts';
import { EmbeddedDatabaseError } from './errors.ts';
import { type LogFile, openLogFile } from './logfile.ts';
import { commandFor, dataArgument } from './privileges.ts';

// Recovery after a crash replays up to max_wal_size; the start waits as long as PostgreSQL is working on it.
const START_LIMIT_MS = 15 * 60_000;
const FAST_STOP_MS = 30_000;

/** How a child process ended, as its `exit` event says. */
export interface Exit {
  code: number | null;
  signal: string | null;
}

/** A PostgreSQL this process launched, ready for connections of the program's role. */
export interface Postmaster {
  readonly exited: Promise<Exit>;
  isRunning(): boolean;
  /** Stops it: connections are cut, data are written. Returns when it is gone; may be called again. */
  stop(): Promise<void>;
}

/** Where one launch keeps its things. */
export interface Launch {
  readonly pgdata: string;
  readonly logPath: string;
  /** Folder of the socket as clients see it. */
  readonly socketDir: string;
  readonly password: string;
  readonly settings: Record<string, string>;
}

/**
 * Starts PostgreSQL and waits until role and database of the program answer; makes them on first use.
 * Errors: EmbeddedDatabaseError with the end of PostgreSQL's log when it does not come up; it is stopped then.
 */
export async function launchPostgres(runtime: Runtime, launch: Launch): Promise<Postmaster> {
  const log = openLogFile(launch.logPath);
  const child = spawnPostgres(runtime, launch, log);
  let failure: Error | null = null;
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => {
      failure = error;
      resolve({ code: null, signal: null });
    });
    child.once('exit', (code, signal) => {
      failure ??= new Error(code === null ? `it was ended by ${signal}` : `it ended with code ${code}`);
      resolve({ code, signal });
    });
  });
  const postmaster = controlOf(child, exited, log);
  try {
    await waitUntilUsable(launch, () => failure);
    return postmaster;
  } catch (error) {
    const details = log.tail();
    await postmaster.stop();
    throw new EmbeddedDatabaseError(
      `PostgreSQL did not start in ${launch.pgdata}: ${(error as Error).message}. ` +
        `Its log is ${launch.logPath}${details ? ` and ends with:\n${details}` : '.'}`,
      { cause: error },
    );
  }
}

function spawnPostgres(runtime: Runtime, launch: Launch, log: LogFile): ChildProcess {
  const { host, runAs, binaries } = runtime;
  // The user nobody cannot reach the data folder, so its socket folder is named relative to its working folder.
  const inData = runAs.mode === 'switched' && launch.socketDir === launch.pgdata;
  const settings = {
    ...launch.settings,
    port: String(PORT),
    unix_socket_directories: `"${(inData ? '.' : launch.socketDir).replaceAll('"', '""')}"`,
  };
  const { file, args, options } = commandFor(runAs, host, binaries, launch.pgdata, [
    join(binaries.native, 'bin', 'postgres'),
    ...['-D', dataArgument(runAs, launch.pgdata)],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  // A session of its own: Ctrl-C goes to the whole process group and would stop PostgreSQL before the program.
  return spawn(file, args, {
    ...options,
    detached: true,
    stdio: ['ignore', log.descriptor, log.descriptor],
  });
}

async function waitUntilUsable(launch: Launch, failure: () => Error | null): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  const giveUp = () => failure() ?? (Date.now() > deadline ? new Error('it took too long') : null);
  const connection = appConnection(launch.socketDir, launch.password);
  if ((await untilReady(connection, giveUp)) === 'ready') return;
  await createRoleAndDatabase(superuserConnection(launch.socketDir, launch.password));
  if ((await untilReady(connection, giveUp)) === 'incomplete') throw new Error('its database is incomplete');
}

function controlOf(child: ChildProcess, exited: Promise<Exit>, log: LogFile): Postmaster {
  // For ends without close() where setpriv is not available; harmless otherwise.
  const onExit = () => child.kill('SIGINT');
  process.once('exit', onExit);
  void exited.then(() => {
    process.off('exit', onExit);
    log.close();
  });
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    exited,
    isRunning,
    async stop() {
      if (!isRunning()) return void (await exited);
      child.kill('SIGINT');
      const tooSlow = AbortSignal.timeout(FAST_STOP_MS);
      await Promise.race([exited, once(tooSlow, 'abort')]);
      // Immediate shutdown loses nothing that was committed; the next start replays the log.
      if (isRunning()) child.kill('SIGQUIT');
      await exited;
    },
  };
}
