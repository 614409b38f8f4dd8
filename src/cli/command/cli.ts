import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError, UsageError } from './errors.ts';

/** The context of every command. */
export interface Cli {
  readonly terminal: Terminal;
  /** The --account option. */
  account(): string | undefined;
  /** Runs a command. It returns the exit code; undefined is 0. */
  run(work: () => Promise<number | undefined>): Promise<void>;
}

/**
 * Asks before an action that cannot be undone. Returns if the answer is yes or `yes` is set. Throws if it is no, and a
 * UsageError if there is no terminal to ask on.
 */
export async function confirm(terminal: Terminal, question: string, yes = false): Promise<void> {
  if (yes) return;
  requireYes(terminal, yes);
  const answer = await askLine(`${question}\nContinue? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was done');
}

/**
 * Asks the user to type a name before a permanent deletion; `repeated` is the name given on the command line, with --yes.
 * Throws if the name differs, and a UsageError if it was not given and there is no terminal to ask on.
 */
export async function confirmName(
  terminal: Terminal,
  { question, name, yes, repeated }: { question: string; name: string; yes?: boolean; repeated?: string },
): Promise<void> {
  const isRepeated = yes === true && repeated !== undefined;
  if (!isRepeated && !terminal.interactive) {
    throw new UsageError(
      'this cannot be undone, and there is no terminal to ask on: add --yes and --name with its name',
    );
  }
  // with only one of the two, the question would be asked anyway
  if (!isRepeated && (yes === true || repeated !== undefined)) {
    throw new UsageError('--yes and --name go together: with both, nothing is asked');
  }
  const given = isRepeated ? repeated : await askLine(`${question}\nType its name to continue: `);
  if (given.trim() !== name) throw new CommandError(`nothing was done: the name is ${name}`);
}

/** Asks on the terminal; returns the line that was typed. */
export async function askLine(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}

/** Throws a UsageError when --yes is missing and there is no terminal to ask on. */
export function requireYes(terminal: Terminal, yes = false): void {
  if (yes || terminal.interactive) return;
  throw new UsageError('this cannot be undone, and there is no terminal to ask on: add --yes');
}
