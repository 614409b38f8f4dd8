import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Agent, request } from 'undici';
import { openEmbedded } from '../src/db/embedded/open.ts';
import type { AccountId } from '../src/kernel/ids.ts';

/** The build that is measured; `BENCH_MAIN` names another one, to compare two commits in turn. */
export const MAIN = process.env.BENCH_MAIN ?? fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const START_LIMIT_MS = 60_000;
const REQUEST_LIMIT_MS = 600_000;
const POLL_MS = 5;

/** No time limit but REQUEST_LIMIT_MS. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** The built server as a separate process, on the embedded PostgreSQL with its usual settings (fsync on). */
export interface Program {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to the first 200 of /readyz, in seconds. */
  readonly startSeconds: number;
  stop(): Promise<void>;
  /** Kills the process (SIGKILL). */
  kill(): Promise<void>;
}

/** A program, its first key, and a connection of its own to its database. */
export interface Bench extends Program {
  readonly key: string;
  /** UUID of the account the key belongs to. */
  readonly account: AccountId;
  /** Where PostgreSQL, the first key and the secret key are. */
  readonly dataDir: string;
  /** As superuser: seeding skips triggers and forces checkpoints. */
  readonly pg: pg.Client;
  /** Another connection like `pg`; the caller ends it. */
  connect(): Promise<pg.Client>;
  /** Options for another connection, as the program's role. */
  readonly connection: { host: string; port: number; user: string; database: string };
  /** Moves the key to another account; the account of the key is looked up in each request. */
  actAs(account: string): Promise<void>;
  /** A JSON request with the first key; the body of a 2xx is returned, anything else throws. */
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    idempotencyKey?: string,
  ): Promise<string>;
  upload(path: string, file: Readable): Promise<string>;
  /** Reads a body and discards it; returns the number of bytes. */
  drain(path: string): Promise<number>;
}

let postgresql: string | null = null;

/** The version of PostgreSQL that was measured; null before the first. */
export const postgresqlVersion = (): string | null => postgresql;

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** A folder under the system's temporary one, removed by `cleanUp`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-bench-'));
  folders.add(folder);
  return folder;
}

/** Stops the processes still running and removes the folders: at the end, and when the run is interrupted. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...running].map(stop));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

/** Starts a Node process that `cleanUp` knows; what it prints goes to `log`. */
export function start(argv: readonly string[], env: Record<string, string>, log: string): ChildProcess {
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const cut = setTimeout(() => child.kill('SIGKILL'), 30_000);
  await exit;
  clearTimeout(cut);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** Waits until an address answers 200. Throws when the process ends first or the limit is over. */
export async function untilReady(child: ChildProcess, url: string, log: string): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`the server did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    }
    try {
      const { statusCode, body } = await request(url, { dispatcher });
      await body.dump();
      if (statusCode === 200) return;
    } catch {
      // nothing is listening yet
    }
    await delay(POLL_MS);
  }
}

type Environment = Readonly<Record<string, string>>;

/** Runs a script of this folder as a separate process that listens on PORT, until `ready` answers 200 there. */
export async function startScript(
  script: string,
  { env = {}, ready = '/readyz' }: { env?: Environment; ready?: string } = {},
): Promise<{ url: string; pid: number }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = join(temporaryFolder(), `${basename(script)}.log`);
  const child = start(['--import', 'tsx', script], { ...env, PORT: String(port) }, log);
  await untilReady(child, url + ready, log);
  return { url, pid: child.pid ?? 0 };
}

/** Starts the built server on a data folder. */
export async function startProgram(dataDir: string, env: Environment = {}): Promise<Program> {
  const port = await freePort();
  const log = join(dataDir, '..', 'server.log');
  const url = `http://127.0.0.1:${port}`;
  const begin = process.hrtime.bigint();
  // one process, also on machines with more cores, unless a measurement is about several
  const own = {
    DATA_DIR: dataDir,
    PORT: String(port),
    HOST: '127.0.0.1',
    SHUTDOWN_DELAY_MS: '0',
    PROCESSES: '1',
  };
  const child = start([MAIN, 'serve'], { ...own, ...env }, log);
  await untilReady(child, `${url}/readyz`, log);
  const startSeconds = Number(process.hrtime.bigint() - begin) / 1e9;
  const kill = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return { url, pid: child.pid ?? 0, startSeconds, stop: () => stop(child), kill };
}

/** Starts `payhook worker`, built, on the database of a running server. */
export function startWorker(dataDir: string, env: Environment): { pid: number; stop(): Promise<void> } {
  const child = start([MAIN, 'worker'], { DATA_DIR: dataDir, ...env }, join(dataDir, '..', 'worker.log'));
  return { pid: child.pid ?? 0, stop: () => stop(child) };
}

/** Starts the built server on an empty folder and opens its database; `preload` names an extension to load with it. */
export async function startBench(
  env: Environment = {},
  { preload }: { preload?: string } = {},
): Promise<Bench> {
  const dataDir = join(temporaryFolder(), 'data');
  if (preload !== undefined) await preloadInto(dataDir, preload);
  const program = await startProgram(dataDir, env);
  const key = readFileSync(join(dataDir, 'first-api-key'), 'utf8').trim();
  const embedded = await openEmbedded({ dataDir, purpose: 'command' });
  const connect = async () => {
    const client = new pg.Client({ ...embedded.superuser, database: embedded.connection.database });
    // When a measurement fails the server stops under this connection; the first error is the one to report.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const client = await connect();
  const { rows } = await client.query<{ id: string; version: string }>(
    `select id, current_setting('server_version') as version from accounts`,
  );
  postgresql = rows[0]?.version ?? null;
  const headers = { authorization: `Bearer ${key}` };
  const call = async (path: string, options: Parameters<typeof request>[1]) => {
    const answer = await request(program.url + path, {
      ...options,
      dispatcher,
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    if (answer.statusCode >= 300) {
      throw new Error(
        `${options?.method ?? 'GET'} ${path}: ${answer.statusCode} ${await answer.body.text()}`,
      );
    }
    return answer.body;
  };
  return {
    ...program,
    dataDir,
    key,
    account: (rows[0]?.id ?? '') as AccountId,
    pg: client,
    connect,
    connection: embedded.connection,
    async actAs(account) {
      await client.query('update api_keys set account_id = $1', [account]);
    },
    async send(method, path, body, idempotencyKey) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const key = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
      return (await call(path, { method, headers: { ...headers, ...type, ...key }, ...json })).text();
    },
    async upload(path, file) {
      const type = { 'content-type': 'text/csv' };
      return (await call(path, { method: 'POST', headers: { ...headers, ...type }, body: file })).text();
    },
    async drain(path) {
      let bytes = 0;
      for await (const chunk of await call(path, { method: 'GET', headers }))
        bytes += (chunk as Buffer).length;
      return bytes;
    },
    async stop() {
      await client.end();
      await embedded.close();
      await program.stop();
    },
  };
}

/** Makes the database and has its PostgreSQL load an extension from the next start on. */
async function preloadInto(dataDir: string, extension: string): Promise<void> {
  const first = await startProgram(dataDir);
  const embedded = await openEmbedded({ dataDir, purpose: 'command' });
  const client = new pg.Client({ ...embedded.superuser, database: embedded.connection.database });
  await client.connect();
  await client.query(`alter system set shared_preload_libraries = ${pg.escapeLiteral(extension)}`);
  await client.query(`create extension ${pg.escapeIdentifier(extension)}`);
  await client.end();
  await embedded.close();
  await first.stop();
}

/** Resident bytes of a process (Linux), or NaN. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

const TICKS_A_SECOND = 100; // USER_HZ, which /proc counts in, is 100 on every Linux

/** Processor time of a process so far, in seconds (Linux), or NaN; with `children`, of those that ended too. */
export function processorSeconds(pid: number, children = false): number {
  const fields = statOf(pid);
  if (!fields) return Number.NaN;
  const ticks = fields.slice(11, children ? 15 : 13);
  return ticks.reduce((sum, text) => sum + Number(text), 0) / TICKS_A_SECOND;
}

/** The processes that this one has started. */
export const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => statOf(name)?.[1] === String(pid))
    .map(Number);

/** The same of the embedded PostgreSQL, all its processes. */
export function postgresSeconds(dataDir: string): number {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const living = childrenOf(pid).map((child) => processorSeconds(child) || 0);
    return processorSeconds(pid, true) + living.reduce((sum, value) => sum + value, 0);
  } catch {
    return Number.NaN;
  }
}

/** The fields of /proc/<pid>/stat after the name of the process: state, parent, … */
function statOf(pid: number | string): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return null;
  }
}
