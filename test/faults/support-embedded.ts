import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { Client, type QueryResult } from 'pg';
import { type Host, thisHost } from '../../src/db/embedded/host.ts';
import type { EmbeddedConnection, EmbeddedOptions } from '../../src/db/embedded/open.ts';
import { putDataFolder } from '../support/data-folder.ts';
import { plainEnvironment } from '../support/environment.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const POLL_MS = 5;

/** The output of embedded-child.ts. */
interface ChildReport {
  event: 'starting' | 'opened' | 'failed' | 'closed' | 'interrupted';
  launched?: boolean;
  connection?: EmbeddedConnection;
  name?: string;
  message?: string;
}

export interface Child {
  pid: number;
  /** Waits for one of these events; any other end of the process fails. */
  hears(...events: ChildReport['event'][]): Promise<ChildReport>;
  /** Makes it close its database. */
  close(): void;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
  exited: Promise<void>;
}

const folders: string[] = [];
const children: ChildProcess[] = [];

/** A new folder under the system's temporary one; removed by cleanUp. */
export function temporaryFolder(mode = 0o700): string {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-test-'));
  folders.push(folder);
  chmodSync(folder, mode);
  return folder;
}

/** Ends the child processes of this file and removes its folders. */
export async function cleanUp(): Promise<void> {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  idle.length = 0;
  for (const folder of folders.splice(0)) {
    await eventually(() => {
      rmSync(folder, { recursive: true, force: true });
      return true;
    });
  }
}

const idle: string[] = [];
const lent: string[] = [];

/**
 * A data folder (DATA_DIR) with an existing database that no process runs. Creating one takes longer than most of these
 * tests, so a folder is lent to one test after the other: see reclaimFolders.
 */
export async function existingData(): Promise<string> {
  const dataDir = idle.pop() ?? join(temporaryFolder(), 'data');
  if (!existsSync(dataDir)) await putDataFolder(dataDir);
  lent.push(dataDir);
  return dataDir;
}

/** The same in a folder of the caller's choice, which is not lent again. */
export async function existingDataAt(dataDir: string): Promise<string> {
  const made = await existingData();
  lent.pop();
  mkdirSync(dirname(dataDir), { recursive: true });
  renameSync(made, dataDir);
  return dataDir;
}

/** After a test: its data folders may be lent again if it passed. */
export function reclaimFolders(passed: boolean): void {
  const folders = lent.splice(0);
  if (passed) idle.push(...folders);
}

let built: string | undefined;

/** The path of embedded-child.ts, bundled once: a start takes a third of the processor time of one that reads every source file. */
function childProgram(): string {
  if (built !== undefined) return built;
  // below the root, because the program finds its files and packages from there; for another user too
  const outfile = fileURLToPath(new URL('../../dist/testing/embedded-child.mjs', import.meta.url));
  buildSync({
    entryPoints: [fileURLToPath(new URL('embedded-child.ts', import.meta.url))],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
  });
  built = outfile;
  return outfile;
}

/** Starts embedded-child.ts with these options; `as` = another user id. */
export function startChild(options: EmbeddedOptions & { host?: Partial<Host> }, as?: number): Child {
  const child = spawn(process.execPath, [childProgram(), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // A process group of its own, as a terminal gives one to each job.
    detached: true,
    env: { ...plainEnvironment(), PATH: '/usr/bin:/bin', HOME: tmpdir(), TMPDIR: tmpdir() },
    ...(as === undefined ? {} : { uid: as, gid: as }),
  });
  children.push(child);
  const reports: ChildReport[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => reports.push(JSON.parse(line)));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let over = false;
  void exited.then(() => {
    over = true;
  });
  return {
    pid: child.pid ?? 0,
    exited,
    close: () => child.stdin.write('close\n'),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    hears: (...events) =>
      eventually(() => {
        const found = reports.find((one) => events.includes(one.event));
        if (!found && over) throw new Error(`the child ended; it said ${JSON.stringify(reports)}`);
        return found;
      }, false),
  };
}

/** Runs one statement on a connection of its own. */
export async function query(connection: EmbeddedConnection, text: string): Promise<QueryResult['rows']> {
  const client = new Client({ ...connection, ssl: false });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Asks until the answer is truthy. `forgiving`: an error counts as not yet. Throws after a long while. */
export async function eventually<T>(ask: () => T | Promise<T>, forgiving = true): Promise<NonNullable<T>> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      const answer = await ask();
      if (answer) return answer;
      if (Date.now() > deadline) throw new Error(`waited too long for: ${ask}`);
    } catch (error) {
      if (!forgiving || Date.now() > deadline) throw error;
    }
    await delay(POLL_MS);
  }
}

/** The pid in DATA_DIR/postgres/postmaster.pid. Throws when there is none. */
export function postmasterPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** A machine on which only these programs are found. */
export function hostWith(...programs: string[]): Host {
  const folder = temporaryFolder(0o755);
  for (const program of ['sh', ...programs]) {
    const found = ['/usr/bin', '/bin'].map((place) => join(place, program)).find(existsSync);
    if (found) symlinkSync(realpathSync(found), join(folder, program));
  }
  return { ...thisHost(), searchPath: folder };
}
