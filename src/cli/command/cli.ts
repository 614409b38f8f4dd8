import { createInterface } from 'node:readline/promises';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError, UsageError } from './errors.ts';

/** What every command is given. */
export interface Cli {
  readonly terminal: Terminal;
  /** The --account option. */
  account(): string | undefined;
  /** Runs a command; what it returns is the exit code, nothing is 0. */
  run(work: () => Promise<number | undefined>): Promise<void>;
}

/**
 * Asks before something that cannot be undone. Returns when the answer is yes or `yes` is set; throws when it is
 * no, and a UsageError when there is no terminal to ask on.
 */
export async function confirm(terminal: Terminal, question: string, yes = false): Promise<void> {
  if (yes) return;
  requireYes(terminal, yes);
  const answer = await askLine(`${question}\nGo on? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was done');
}

/**
 * Asks for a name to be typed before its owner is deleted for good; `repeated` is the name given on the command
 * line, with --yes. Throws when it is another name, and a UsageError when it was not given and there is no terminal
 * to ask on.
 */
export async function confirmName(
  terminal: Terminal,
  { question, name, yes, repeated }: { question: string; name: string; yes?: boolean; repeated?: string },
): Promise<void> {
  const isRepeated = yes === true && repeated !== undefined;
  if (!isRepeated && !terminal.interactive) {
    throw new UsageError(
      'this cannot be undone, and there is no terminal for a question: add --yes and --name with its name',
    );
  }
  // with only one of the two, the question would come anyway
  if (!isRepeated && (yes === true || repeated !== undefined)) {
    throw new UsageError('--yes and --name go together: with both nothing is asked');
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
  throw new UsageError('this cannot be undone, and there is no terminal for a question: add --yes');
}
