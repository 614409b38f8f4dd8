import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A command block of a page, and the output that the page shows. */
export interface Block {
  /** The heading above it. */
  readonly heading: string;
  readonly commands: string;
  /** The `text` block after it; undefined when the page shows none. */
  readonly output: string | undefined;
}

/** The `sh` blocks of a page of this project, each with the `text` block that follows it. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  const parts = /^#+ (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm;
  for (const [, title, language, content = ''] of readFileSync(join(ROOT, page), 'utf8').matchAll(parts)) {
    if (title !== undefined) heading = title;
    else if (language === 'sh') blocks.push({ heading, commands: content, output: undefined });
    else if (language === 'text') {
      const last = blocks.pop();
      if (!last) throw new Error(`${page}: output without a command under "${heading}"`);
      blocks.push({ ...last, output: content });
    }
  }
  return blocks;
}

/**
 * Whether a program printed what a page shows: `…` matches anything within a line, a line of only `…` any number of
 * lines.
 */
export function isAsShown(printed: string, shown: string): boolean {
  const lines = shown.trimEnd().split('\n');
  const pattern = lines.map((line) =>
    line.trim() === '…' ? '(?:.*\n)*?' : `${line.split('…').map(literally).join('.*')} *\n`,
  );
  // characters that a terminal does not show
  const seen = printed.replaceAll('\r\n', '\n').trimEnd();
  return new RegExp(`^${pattern.join('')}$`).test(`${seen}\n`);
}

const literally = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Shell code that makes `npx` start a program without the work of npx, which takes as long as the commands that it starts. */
export const QUICK_NPX = 'npx() { PATH=node_modules/.bin:$PATH "$@"; }\n';

export interface Clone {
  readonly folder: string;
  remove(): void;
}

/**
 * A copy of the project as a newcomer gets it, in a path with a space: without stored files, and without installed or
 * built ones unless it shares those of this project.
 */
export function freshClone(installs = true): Clone {
  const parent = mkdtempSync(join(tmpdir(), 'payhook first hour '));
  const folder = join(parent, 'payhook');
  const tools = ['test/tools/python', 'test/tools/java/lib', 'test/tools/sepa/vendor', 'test/tools/out'];
  const made = new Set([
    ...['dist', 'dist.next', 'data', 'screenshots', '.git', 'bench/results.json', 'packages/client/dist'],
    ...tools,
  ]);
  const isMade = (path: string) => basename(path) === 'node_modules' || made.has(relative(ROOT, path));
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !isMade(path) });
  if (!installs)
    for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true }) };
}

/** The ports of a page and the free ones that replace them here. */
export type Ports = ReadonlyMap<number, number>;

/** Free ports in place of those a page names, which may be in use. */
export async function freePorts(named: readonly number[]): Promise<Ports> {
  const servers = await Promise.all(
    named.map(async (port) => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return { port, server };
    }),
  );
  const ports = new Map(servers.map(({ port, server }) => [port, (server.address() as AddressInfo).port]));
  await Promise.all(servers.map(({ server }) => once(server.close(), 'close')));
  return ports;
}

/** A text of the page with its ports replaced. */
export function withPorts(text: string, ports: Ports): string {
  return text.replaceAll(/(?<=127\.0\.0\.1:|--port )\d+/g, (port) => String(ports.get(Number(port)) ?? port));
}

/** The environment of a newcomer's shell: none of our settings, nothing of the test runner. */
export function newcomer(extra: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|USER|LANG|LD_PRELOAD|FAKETIME\w*|npm_config_\w+)$/.test(name),
  );
  // the packages were fetched a moment ago: npm may take them from its cache; its notices are not on the page
  return {
    ...Object.fromEntries(kept),
    npm_config_prefer_offline: 'true',
    npm_config_loglevel: 'error',
    ...extra,
  } as Record<string, string>;
}

/** A program in its own process group, with all it printed. */
export interface Running {
  readonly child: ChildProcess;
  printed(): string;
  /** Resolves when the output matches; throws when the program ends before. */
  until(pattern: RegExp): Promise<void>;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  /** Interrupts it as Ctrl-C does, and waits for its end; returns the exit code. */
  interrupt(): Promise<number | null>;
}

/** Starts commands in a shell. */
export function startShell(commands: string, cwd: string, env: Readonly<Record<string, string>>): Running {
  const child = spawn('bash', ['-c', commands], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    ended,
    printed: () => output,
    async until(pattern) {
      while (!pattern.test(output)) {
        const isOver = await Promise.race([
          ended.then(() => true),
          once(child.stdout, 'data').then(() => false),
          once(child.stderr, 'data').then(() => false),
        ]);
        if (isOver && !pattern.test(output))
          throw new Error(`ended before it printed ${pattern}:\n${output}`);
      }
    },
    async interrupt() {
      process.kill(-(child.pid ?? 0), 'SIGINT');
      return ended;
    },
  };
}

const MARK = '\u001E';
/** What the shell prints when a job ends: of one that a block kills, at any moment, also between the lines of the next block. */
const JOB_ENDED = /^\[\d+\][-+]? +(?:Terminated|Done|Exit \d+) .*\n(?:\(wd now: .*\)\n)?/gm;

/** Runs blocks one after the other in one shell, as a reader types them; returns the output and exit code of each. */
export async function typeBlocks(
  blocks: readonly Block[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ output: string; code: number }[]> {
  // every failure counts, not only that of the last command
  const script = blocks
    .map(({ commands }) => `failed=0\n${commands}\nprintf '${MARK}%s${MARK}' $failed\n`)
    .join('');
  // job control, as in an interactive shell; jobs that the page left running end with it
  const shell = startShell(
    `set -m; exec 2>&1; trap 'kill $(jobs -p) 2>/dev/null' EXIT; trap 'failed=$?' ERR\n${script}`,
    cwd,
    env,
  );
  await once(shell.child, 'close');
  const parts = shell.printed().split(MARK);
  return blocks.map((_, index) => ({
    output: (parts[2 * index] ?? '').replaceAll(JOB_ENDED, ''),
    code: Number(parts[2 * index + 1] ?? -1),
  }));
}
