import { type Told, tell } from '../../src/cli/command/errors.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { createTerminal } from '../../src/cli/terminal/terminal.ts';

/** How a command that ran inside the test ended. */
export interface RanHere {
  readonly code: number;
  readonly stdout: string;
  /** What main would tell on standard error. */
  readonly error: Told | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape
  json(): any;
}

const never = (): never => {
  throw new Error('a test does not end its process');
};

/** The table of commands, for looking at it. */
export const programHere = () =>
  buildProgram({ terminal: createTerminal(false), exit: never, finish: () => undefined });

/**
 * Runs a command inside this process, as `main` does, with nobody to ask. It finds its server by PAYHOOK_URL and
 * PAYHOOK_API_KEY.
 */
export async function runHere(args: readonly string[]): Promise<RanHere> {
  let stdout = '';
  let code = 0;
  const json = args.includes('--json');
  const terminal = {
    ...createTerminal(json),
    interactive: false,
    result(value: unknown, text: () => string) {
      stdout += json ? `${JSON.stringify(value)}\n` : text();
    },
    note: () => undefined,
  };
  const finish = (given: number) => {
    code = given;
  };
  const error = await buildProgram({ terminal, exit: never, finish, args })
    .then((program) => program.parseAsync([...args], { from: 'user' }))
    .then(
      () => null,
      (thrown: unknown) => tell(thrown),
    );
  return { code: error?.exitCode ?? code, stdout, error, json: () => JSON.parse(stdout) };
}
