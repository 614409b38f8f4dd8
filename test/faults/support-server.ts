import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { type Api, apiOf } from '../support/api.ts';
import { until } from '../support/wire.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The built program, running as a process of its own on the embedded PostgreSQL of a data folder. */
export interface ServerProcess {
  readonly api: Api;
  readonly url: string;
  readonly pid: number;
  readonly postmaster: number;
  /** kill -9 of the server, and of PostgreSQL when `andPostgres`; resolves when both are gone. */
  kill(andPostgres?: boolean): Promise<void>;
  /** Sends a signal; resolves with the exit code and how long it took. */
  signal(name: 'SIGTERM' | 'SIGINT'): Promise<{ code: number | null; ms: number }>;
  /** What it logged so far. */
  log(): string;
}

export interface DataFolder {
  readonly path: string;
  start(): Promise<ServerProcess>;
  /** Rows of a query as superuser, while a server runs. */
  query<Row>(text: string): Promise<Row[]>;
  /** A superuser connection, for locks; ends with PostgreSQL. */
  superuser(): Promise<pg.Client>;
  /** Ends what still runs and removes the folder. */
  remove(): Promise<void>;
}

/** Whether a process runs; a zombie does not. */
export function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    if (existsSync('/proc/self/stat')) return false;
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }
}

/** Whether somebody accepts connections there. */
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

/** A data folder (DATA_DIR) of its own under the system's temporary one. */
export function dataFolder(): DataFolder {
  const path = mkdtempSync(join(tmpdir(), 'payhook-server-'));
  const children: ChildProcess[] = [];
  const postmasters: number[] = [];
  /** Ends with the PostgreSQL it looks into. */
  let inspector: pg.Client | undefined;
  const secretKey = randomBytes(32).toString('base64');

  async function start(): Promise<ServerProcess> {
    const child = spawn(process.execPath, [PROGRAM, 'serve'], {
      cwd: path,
      env: {
        PATH: process.env.PATH,
        HOME: tmpdir(),
        TMPDIR: tmpdir(),
        DATA_DIR: join(path, 'data'),
        PORT: '0',
        SECRET_KEY: secretKey,
        LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    inspector = undefined;
    let said = '';
    let logged = '';
    child.stdout.on('data', (bytes) => {
      said += bytes;
    });
    child.stderr.on('data', (bytes) => {
      logged += bytes;
    });
    const exited = once(child, 'close');
    const url = await until(
      'the server is running',
      () => {
        if (child.exitCode !== null) throw new Error(`the server ended: ${said}${logged}`);
        return /running at (http:\/\/[\d.]+:\d+)/.exec(said)?.[1];
      },
      30_000,
    );
    const key = readFileSync(join(path, 'data', 'first-api-key'), 'utf8').trim();
    const postmaster = Number.parseInt(
      readFileSync(join(path, 'data', 'postgres', 'postmaster.pid'), 'utf8'),
      10,
    );
    postmasters.push(postmaster);
    return {
      api: apiOf(url, key),
      url,
      pid: child.pid ?? 0,
      postmaster,
      log: () => logged,
      async kill(andPostgres = false) {
        child.kill('SIGKILL');
        if (andPostgres) process.kill(postmaster, 'SIGKILL');
        await exited;
        await until('PostgreSQL is gone too', () => !runs(postmaster), 30_000);
      },
      async signal(name) {
        const from = performance.now();
        child.kill(name);
        const [code] = await exited;
        return { code, ms: performance.now() - from };
      },
    };
  }

  async function superuser(): Promise<pg.Client> {
    const database = await openEmbedded({ dataDir: join(path, 'data'), purpose: 'command' });
    await database.close(); // leaves it: the server launched it
    // the superuser's own database is another one
    const client = new pg.Client({ ...database.superuser, database: database.connection.database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  return {
    path,
    start,
    superuser,
    async query<Row>(text: string) {
      inspector ??= await superuser();
      return (await inspector.query(text)).rows as Row[];
    },
    async remove() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'close');
      }
      await until('PostgreSQL is gone', () => postmasters.every((pid) => !runs(pid)), 30_000);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
