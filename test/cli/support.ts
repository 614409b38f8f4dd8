import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, inject } from 'vitest';
import { putDataFolder } from '../support/data-folder.ts';
import { plainEnvironment } from '../support/environment.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { standIn, type World } from '../support/world.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(ROOT, 'dist/cli/main.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output, which must be one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  json(): any;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; null keeps it open. */
  readonly input?: string | null;
}

/** A folder with its own data folder, and the built program run on it. */
export interface Machine {
  readonly folder: string;
  readonly dataDir: string;
  /** The settings of its commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Copies the data folder of `payhook init`, which is faster than running it. */
  init(): Promise<void>;
  /** The program as words of a shell. */
  readonly command: string;
  /** Runs a command in the folder to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts a command and returns at once. */
  start(args: readonly string[], options?: RunOptions): Started;
  /** Starts another program in `cwd`, with the data folder in its environment. */
  startOther(
    file: string,
    args: readonly string[],
    cwd: string,
    options?: Pick<RunOptions, 'input'>,
  ): Started;
  /** Writes a file into the folder; returns its path. */
  write(name: string, content: string): string;
  /** Files in the folder. */
  files(): string[];
  /** The files that commands left in their temporary folder. */
  leftovers(): string[];
  /** Ends running processes and removes the folder. */
  close(): Promise<void>;
}

/** A started process. */
export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Resolves with the match in standard output; throws when the process ends first or takes too long. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Creates a machine. Close it. */
export function startMachine(): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-cli-test-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const dataDir = join(folder, 'data folder');
  const running = new Set<Started>();
  const environment: Readonly<Record<string, string>> = {
    ...plainEnvironment(),
    TMPDIR: temporary,
    NODE_DISABLE_COMPILE_CACHE: '1', // npm on Node 22 and newer keeps one in TMPDIR
    DATA_DIR: dataDir,
    PORT: '0',
    SHUTDOWN_DELAY_MS: '0',
  };
  const track = (started: Started) => {
    running.add(started);
    void started.ended.finally(() => running.delete(started));
    return started;
  };
  const start = (args: readonly string[], { env = {}, input }: RunOptions = {}) =>
    track(
      startProcess(process.execPath, [CLI, ...args], { cwd: folder, env: { ...environment, ...env }, input }),
    );
  return {
    folder,
    dataDir,
    environment,
    init: () => putDataFolder(dataDir),
    command: `'${process.execPath}' '${CLI}'`,
    start,
    startOther: (file, args, cwd, { input } = {}) =>
      track(startProcess(file, args, { cwd, env: environment, input })),
    run: (args, options) => start(args, options).ended,
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    files: () => readdirSync(folder).filter((name) => name !== 'tmp'),
    leftovers: () => readdirSync(temporary),
    async close() {
      for (const { child } of running) if (child.pid) process.kill(-child.pid, 'SIGTERM');
      await Promise.all([...running].map(({ ended }) => ended));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A machine for the tests of a file. */
export function useMachine(): Machine {
  let machine: Machine;
  beforeAll(() => {
    machine = startMachine();
  });
  afterAll(() => machine.close());
  return standIn(() => machine);
}

/** Starts a process in its own process group. */
function startProcess(
  file: string,
  args: readonly string[],
  { input, ...options }: { cwd: string; env: Record<string, string>; input?: string | null | undefined },
): Started {
  const child = spawn(file, args, { ...options, detached: true, stdio: 'pipe' });
  child.stdin.on('error', () => undefined); // a command may exit before it has read everything
  if (input !== null) child.stdin.end(input ?? '');
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  const stderr = text(child.stderr);
  const ended = once(child, 'close').then(async ([code]): Promise<Ran> => {
    return { code: code as number | null, stdout, stderr: await stderr, json: () => JSON.parse(stdout) };
  });
  return {
    child,
    ended,
    async printed(pattern) {
      const deadline = AbortSignal.timeout(PATIENCE_MS);
      for (;;) {
        const match = pattern.exec(stdout);
        if (match) return match;
        const data = once(child.stdout, 'data', { signal: deadline });
        const early = ended.then((ran) => {
          throw new Error(`ended with ${ran.code} before it printed ${pattern}: ${ran.stdout}${ran.stderr}`);
        });
        await Promise.race([data, early]);
      }
    },
  };
}

/** A running server with its address. */
export async function startServer(
  machine: Machine,
  options?: RunOptions,
): Promise<Started & { url: string }> {
  const started = machine.start(['serve'], options);
  const [, url = ''] = await started.printed(/running at (\S+)[\s\S]*stops it/);
  return { ...started, url };
}

/** The pid of the PostgreSQL on a data folder. */
export function postgresPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0]);
}

export const AFFILIATES = `external_id,email,name_first,name_last,payout_method
a1,ada@example.com,Ada,Lovelace,paypal
a2,bob@example.com,Bob,Müller,wise
a3,yuki@example.com,由紀,田中,paypal
`;

export const COMMISSIONS = `external_id,affiliate_external_id,amount,currency,occurred_at
c1,a1,31.90,USD,2026-09-01
c2,a2,10.00,USD,2026-09-02
c3,a3,500,JPY,2026-09-02
c4,a1,5.5,EUR,2026-09-03
`;

/** The settings of a command that uses the database of a world. */
export async function settingsOf(world: World): Promise<Record<string, string>> {
  const { host, port, user, password, secretKey } = inject('postgres');
  const [{ name } = { name: '' }] = await world.query<{ name: string }>('select current_database() as name');
  const credentials = password ? `${user}:${encodeURIComponent(password)}` : user;
  return {
    DATABASE_URL: `postgres://${credentials}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    SECRET_KEY: secretKey,
  };
}
