import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { expect } from 'vitest';
import { type ErrorReport, reportOf, textOf } from '../../src/cli/command/errors.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { createTerminal } from '../../src/cli/terminal/terminal.ts';
import { type Json, nothingChanges } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { plainEnvironment } from '../support/environment.ts';
import type { World } from '../support/world.ts';
import type { Machine, Ran } from './support.ts';

/** The result of a command that ran inside the test. */
export interface RanHere extends Ran {
  readonly code: number;
  /** The error that main would print to standard error. */
  readonly error: ErrorReport | null;
}

const never = (): never => {
  throw new Error('a test does not end its process');
};

/** The table of commands, for inspection. */
export const programHere = () =>
  buildProgram({ terminal: createTerminal(false), exit: never, finish: () => undefined });

/** What `--help` prints about a command of that table. */
export function helpOf(command: Command): string {
  let printed = '';
  command.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
  });
  command.outputHelp();
  return printed;
}

/** Catches what is written to a stream until `release`, which returns it. */
function capture(stream: NodeJS.WriteStream): { release(): string } {
  const chunks: Buffer[] = [];
  const { write } = stream;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  return {
    release() {
      stream.write = write;
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

interface HereOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Standard input. */
  readonly input?: string;
}

/**
 * Runs a command inside this process, as `main` does, without a terminal; in a folder, if one is given. PAYHOOK_URL and
 * PAYHOOK_API_KEY name its server.
 */
export async function runHere(
  args: readonly string[],
  { env = {}, cwd, input = '' }: HereOptions = {},
): Promise<RanHere> {
  const json = args.includes('--json');
  const before = {
    env: process.env,
    cwd: process.cwd(),
    stdin: Object.getOwnPropertyDescriptor(process, 'stdin'),
  };
  process.env = { ...plainEnvironment(), ...env };
  if (cwd) process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  const [out, err] = [capture(process.stdout), capture(process.stderr)];
  let code = 0;
  let error: ErrorReport | null = null;
  try {
    const terminal = { ...createTerminal(json), interactive: false };
    const finish = (given: number) => {
      code = given;
    };
    const program = await buildProgram({ terminal, exit: never, finish, args });
    await program.parseAsync([...args], { from: 'user' });
  } catch (thrown) {
    error = reportOf(thrown);
    code = error.exitCode;
    process.stderr.write(textOf(error, thrown, json));
  }
  const [stdout, stderr] = [out.release(), err.release()];
  process.env = before.env;
  process.chdir(before.cwd);
  if (before.stdin) Object.defineProperty(process, 'stdin', before.stdin);
  return { code, stdout, stderr, error, json: () => JSON.parse(stdout) };
}

/**
 * Runs commands on the data folder of a machine inside this process, which spares the start of the program: for tests
 * that are not about the process.
 */
export const runOn =
  (machine: Machine) =>
  (
    args: readonly string[],
    { env = {}, ...rest }: Pick<HereOptions, 'env' | 'input'> = {},
  ): Promise<RanHere> =>
    runHere(args, { ...rest, env: { ...machine.environment, ...env }, cwd: machine.folder });

/** Commands with an API key, run inside this process, in the folder of a machine if one is given. */
export function commandsAt(
  at: () => { readonly url: string; readonly key: string },
  machine?: { readonly folder: string },
) {
  const run = (...args: string[]) => {
    const { url, key } = at();
    return runHere(args, {
      env: { PAYHOOK_URL: url, PAYHOOK_API_KEY: key },
      ...(machine && { cwd: machine.folder }),
    });
  };
  const runText = async (...args: string[]): Promise<string> => {
    const ran = await run(...args);
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
    return ran.stdout;
  };
  return {
    run,
    /** A command that must succeed; returns what it printed for people. */
    runText,
    /** A command that must succeed; returns its JSON. */
    runJson: async (...args: string[]): Promise<Json> => JSON.parse(await runText(...args, '--json')),
  };
}

/** `commandsAt` for an account of a world. */
export function commandsOf(world: World, api: Api, machine?: { readonly folder: string }) {
  const commands = commandsAt(() => ({ url: world.url, key: api.key }), machine);
  return {
    ...commands,
    /** A command that is refused and changes nothing. */
    refuse: (code: number, message: string, ...args: string[]): Promise<void> =>
      nothingChanges(world, async () => {
        const ran = await commands.run(...args);
        expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
      }),
  };
}
