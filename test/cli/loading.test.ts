import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { createTerminal } from '../../src/cli/terminal/terminal.ts';
import { useMachine } from './support.ts';

// Prints each loaded file as a line on standard error.
const PRINTING =
  "import { writeSync } from 'node:fs'; import Module from 'node:module';" +
  "process.on('exit', () => { for (const path of Object.keys(Module._cache)) writeSync(2, 'loaded ' + path + '\\n'); });";
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(PRINTING)}`;

const machine = useMachine();

const packageOf = (path: string) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

/**
 * The sources of a loaded file, by its source map: our files below src, packages by their names. A file without a map
 * only re-exports.
 */
function partsOf(path: string): string[] {
  const name = packageOf(path);
  if (name !== undefined) return [name];
  if (!existsSync(`${path}.map`)) return [];
  const { sources } = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as { sources: string[] };
  return sources.map((source) => packageOf(source) ?? source.replace(/^.*\/src\//, ''));
}

/** The modules that a command loads: our files below src, packages by their names. */
async function loadedBy(args: readonly string[], env: Record<string, string> = {}): Promise<Set<string>> {
  const { code, stderr } = await machine.run(args, { env: { ...env, NODE_OPTIONS } });
  expect(code, stderr).toBe(0);
  const paths = [...stderr.matchAll(/^loaded (\S+)$/gm)].map(([, path = '']) => path);
  return new Set(paths.flatMap(partsOf));
}

const ofNouns = (loaded: Set<string>) =>
  [...loaded].filter((name) => /^cli\/(?!command\/|terminal\/|[^/]+$)/.test(name));

test('--version loads no command', async () => {
  const loaded = await loadedBy(['--version']);
  expect(loaded).toContain('cli/main.ts');
  expect(loaded).toContain('commander');
  expect(ofNouns(loaded)).toEqual([]);
  expect([...loaded].filter((name) => !name.startsWith('cli/')).toSorted()).toEqual([
    'commander',
    'kernel/installation.ts',
    'kernel/version.ts',
  ]);
});

test('payouts list on a remote server loads the commands of payouts, and nothing of a server', async () => {
  const page = { data: [], pagination: { total: 0, page: 1, pages: 0, limit: 25 } };
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const loaded = await loadedBy(['payouts', 'list'], {
    PAYHOOK_URL: `http://127.0.0.1:${port}`,
    PAYHOOK_API_KEY: 'ph_x',
  });
  server.closeAllConnections();
  server.close();
  expect(loaded).toContain('client/connections-node.ts');
  const commands = ofNouns(loaded).filter((name) => name.endsWith('/commands.ts'));
  expect(commands).toEqual(['cli/payouts/commands.ts']);
  const ofServer = [...loaded].filter((name) =>
    /^(app|http|money|webhooks|people|outbox|catalogue|contract|db|screens|oauth)\/|^(fastify|undici|pg|pino|typebox|@node-rs.*)$/.test(
      name,
    ),
  );
  expect(ofServer).toEqual([]);
});

describe('a program that loads only what the command line needs', async () => {
  const options = {
    terminal: createTerminal(false),
    exit: (): never => {
      throw new Error('a test does not end its process');
    },
    finish: () => undefined,
  };
  const whole = await buildProgram(options);
  const named = (program: Command, name: string) =>
    program.commands.find((command) => command.name() === name) ?? program;

  test('has the same help', async () => {
    const program = await buildProgram({ ...options, args: ['--help'] });
    expect(program.helpInformation()).toBe(whole.helpInformation());
  });

  test.each(whole.commands.map((command) => command.name()))('has all of %s', async (name) => {
    for (const args of [[name], ['--json', name, 'x'], ['help', name]]) {
      const program = await buildProgram({ ...options, args });
      expect(helps(named(program, name))).toEqual(helps(named(whole, name)));
    }
  });
});

/** The help of a command and all its subcommands. */
function helps(command: Command): string[] {
  return [command.helpInformation(), ...command.commands.flatMap(helps)];
}
