import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { type Api, apiOf } from '../support/api.ts';
import { cellOfFile, isOnNode, type TestCell, tablesOf } from '../support/cell-of-file.ts';
import { putDataFolder } from '../support/data-folder.ts';
import { plainEnvironment } from '../support/environment.ts';
import { countOfProcesses, isRunning, killWithChildren } from '../support/processes.ts';
import { until } from '../support/wire.ts';
import { sharedDatabase } from './support-shared.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The built program, running as a separate process on the embedded PostgreSQL of a data folder. */
export interface ServerProcess {
  readonly api: Api;
  readonly url: string;
  readonly pid: number;
  readonly postmaster: number;
  /** kill -9 of the server, and of PostgreSQL when `andPostgres`; resolves when both are gone. */
  kill(andPostgres?: boolean): Promise<void>;
  /** Sends a signal; resolves with the exit code and how long it took. */
  signal(name: 'SIGTERM' | 'SIGINT'): Promise<{ code: number | null; ms: number }>;
  /** Its log so far. */
  log(): string;
}

/** `payhook worker`, running as a separate process. */
export interface WorkerProcess {
  readonly pid: number;
  /** Its log so far. */
  log(): string;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Sends a signal; resolves with the exit code and how long it took. */
  signal(name: 'SIGTERM' | 'SIGINT'): Promise<{ code: number | null; ms: number }>;
}

/** A PostgreSQL that the processes share instead of the embedded one. */
export interface SharedDatabase {
  readonly url: string;
  readonly secretKey: string;
  /** undefined = the one that the first server creates. */
  readonly apiKey?: string | undefined;
  /** A superuser's connection to it. */
  readonly superuser: pg.ClientConfig;
}

export interface FolderOptions {
  /** Settings of all processes, by their names in the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly database?: SharedDatabase;
  /**
   * Whether the first start creates a database on the PostgreSQL of the run instead of an embedded PostgreSQL, which `kill` leaves
   * running: a start takes less. For tests in which PostgreSQL does not end.
   */
  readonly isShared?: boolean;
  /** The cell of the account whose key is used, with the embedded PostgreSQL; default: that of the test file (cellOfFile). */
  readonly cell?: TestCell;
  /** Another program than the built one: the arguments of Node before the command. */
  readonly program?: readonly string[];
  /** How many files each process may have open (`ulimit -n`). */
  readonly openFiles?: number;
}

type Settings = Readonly<Record<string, string>>;

export interface DataFolder {
  readonly path: string;
  /** Starts the server, with settings besides those of the folder, on the data that `payhook init` creates. */
  start(settings?: Settings): Promise<ServerProcess>;
  startWorker(settings?: Settings): Promise<WorkerProcess>;
  /** Runs a command that ends by itself. */
  command(
    name: string,
    settings?: Settings,
  ): Promise<{ readonly code: number | null; readonly text: string; readonly error: string }>;
  /** Rows of a query as superuser, while a server runs. */
  query<Row>(text: string): Promise<Row[]>;
  /** A superuser connection to the server that holds the tables, for locks; ends with PostgreSQL. */
  superuser(): Promise<pg.Client>;
  /** Ends running processes and removes the folder. */
  remove(): Promise<void>;
}

/** Whether a process accepts connections there. */
export function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/**
 * A separate data folder (DATA_DIR) under the system's temporary one. On a Citus cluster its tables are on the node of the run, which
 * `kill` leaves running.
 */
export function dataFolder({
  settings = {},
  database: given,
  isShared = false,
  cell = cellOfFile(),
  program = [PROGRAM],
  openFiles,
}: FolderOptions = {}): DataFolder {
  const path = mkdtempSync(join(tmpdir(), 'payhook-server-'));
  const children: ChildProcess[] = [];
  const postmasters: number[] = [];
  let database = given;
  /** The database that the first start created. */
  let made: { drop(): Promise<void> } | undefined;
  /** Ends with the PostgreSQL it is connected to. */
  let inspector: pg.Client | undefined;
  const data = join(path, 'data');

  function spawnProgram(command: string, more: Settings) {
    const limited = openFiles === undefined ? '' : `ulimit -n ${openFiles} && `;
    const child = spawn('sh', ['-c', `${limited}exec "$@"`, 'sh', process.execPath, ...program, command], {
      cwd: path,
      env: {
        ...plainEnvironment(),
        HOME: tmpdir(),
        TMPDIR: tmpdir(),
        DATA_DIR: data,
        PORT: '0',
        LOG_LEVEL: 'info',
        SHUTDOWN_DELAY_MS: '0',
        PROCESSES: String(countOfProcesses()),
        ...(database ? { DATABASE_URL: database.url, SECRET_KEY: database.secretKey } : {}),
        ...settings,
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  }

  /** Runs a command until it prints this; the result includes the match. */
  async function run(command: string, ready: RegExp, more: Settings) {
    const child = spawnProgram(command, more);
    let output = '';
    let logged = '';
    child.stdout.on('data', (bytes) => {
      output += bytes;
    });
    child.stderr.on('data', (bytes) => {
      logged += bytes;
    });
    const exited = once(child, 'close');
    const match = await until(`payhook ${command} is running`, () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${output}${logged}`);
      return ready.exec(output);
    });
    return {
      child,
      match,
      exited,
      log: () => logged,
      async signal(name: NodeJS.Signals) {
        const from = performance.now();
        child.kill(name);
        const [code] = (await exited) as [number | null];
        return { code, ms: performance.now() - from };
      },
    };
  }

  async function start(more: Settings = {}): Promise<ServerProcess> {
    if (!database && (isShared || isOnNode())) {
      const shared = await sharedDatabase({ cell });
      [database, made] = [shared, shared];
    }
    if (!made) inspector = undefined;
    if (!database && !existsSync(join(data, 'postgres'))) await putDataFolder(data, cell);
    const { child, match, exited, log, signal } = await run(
      'serve',
      /running at (http:\/\/[\d.]+:\d+)/,
      more,
    );
    const url = match[1] ?? '';
    const file = (...names: string[]) => readFileSync(join(data, ...names), 'utf8').trim();
    const key = database?.apiKey ?? file('first-api-key');
    const postmaster = database ? undefined : Number.parseInt(file('postgres', 'postmaster.pid'), 10);
    if (postmaster) postmasters.push(postmaster);
    return {
      api: apiOf(url, key),
      url,
      pid: child.pid ?? 0,
      postmaster: postmaster ?? 0,
      log,
      signal,
      async kill(andPostgres = false) {
        if (countOfProcesses() === 1) child.kill('SIGKILL');
        else killWithChildren(child.pid ?? 0);
        if (andPostgres && postmaster) process.kill(postmaster, 'SIGKILL');
        await exited;
        await until('PostgreSQL is gone too', () => !postmaster || !isRunning(postmaster));
      },
    };
  }

  const login = async () => database?.superuser ?? (await embeddedSuperuser(data, cell));

  async function connected(to: pg.ClientConfig): Promise<pg.Client> {
    const client = new pg.Client(to);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  return {
    path,
    start,
    async superuser() {
      const node = made && isOnNode() ? inject('postgres').cluster?.[1] : undefined;
      return connected({ ...(await login()), ...(node ? { port: node } : {}) });
    },
    async startWorker(more = {}) {
      const { child, exited, log, signal } = await run('worker', /is delivering/, more);
      return {
        pid: child.pid ?? 0,
        log,
        signal,
        async kill() {
          child.kill('SIGKILL');
          await exited;
        },
      };
    },
    async command(name, more = {}) {
      const child = spawnProgram(name, more);
      const [text, error] = await Promise.all([
        textOf(child.stdout),
        textOf(child.stderr),
        once(child, 'close'),
      ]);
      return { code: child.exitCode, text, error };
    },
    async query<Row>(text: string) {
      inspector ??= await connected(await login());
      return (await inspector.query(text)).rows as Row[];
    },
    async remove() {
      if (database) await inspector?.end();
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      await until('PostgreSQL is gone', () => postmasters.every((pid) => !isRunning(pid)));
      await made?.drop();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

async function embeddedSuperuser(dataDir: string, cell: TestCell): Promise<pg.ClientConfig> {
  const database = await openEmbedded({ dataDir, purpose: 'command' });
  await database.close(); // without a process group: the server launched it
  // the superuser's own database has another name
  return { ...database.superuser, database: database.connection.database, ...tablesOf(cell) };
}
