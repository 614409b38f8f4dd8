import { createInterface } from 'node:readline/promises';
import { CommandError, UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** What every command is given. */
export interface Cli {
  readonly terminal: Terminal;
  /** The --account option. */
  account(): string | undefined;
  /** Does a command's work; what it returns is the exit code, nothing is 0. */
  run(work: () => Promise<number | undefined>): Promise<void>;
}

/**
 * Asks before something that cannot be undone. Returns when the answer is yes or `yes` is set; throws when it is no,
 * and a UsageError when nobody is there to ask.
 */
export async function confirm(terminal: Terminal, question: string, yes = false): Promise<void> {
  if (yes) return;
  requireYes(terminal, yes);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question}\nGo on? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was done');
  } finally {
    lines.close();
  }
}

/** Throws a UsageError when --yes is missing and nobody can be asked. */
export function requireYes(terminal: Terminal, yes = false): void {
  if (yes || terminal.interactive) return;
  throw new UsageError('this cannot be undone, and there is no terminal to ask on: add --yes');
}
