import { UsageError } from './errors.ts';
import { readText } from './source-file.ts';

/** How secrets are given, for the help of commands. */
export const SECRET_HELP = `
A secret on the command line is seen by every user of the machine and kept in the history of the shell: give it as @file, or as - to read it
from standard input.`;

/** Reads the secrets of one command. */
export interface SecretReader {
  /**
   * A secret as it was typed: `@file` is the one line of a file, `-` that of standard input, which one option may
   * name; anything else is the secret itself. Throws UsageError or CommandError, which name the option or the file.
   */
  one(option: string, typed: string): Promise<string>;
  /** The lines of `@file` or `-`, without empty ones; anything else as one line. Throws as `one`. */
  lines(option: string, typed: string): Promise<string[]>;
}

/** Makes one. */
export function secretReader(): SecretReader {
  let reads: string | null = null;
  const content = async (option: string, typed: string): Promise<string | null> => {
    if (typed === '-') {
      if (reads !== null) throw new UsageError(`${option}: standard input is read for ${reads} already`);
      reads = option;
      return readText('-');
    }
    if (!typed.startsWith('@')) return null;
    if (typed === '@') throw new UsageError(`${option}: name a file after @`);
    return readText(typed.slice(1));
  };
  const lines = async (option: string, typed: string): Promise<string[]> => {
    const text = await content(option, typed);
    if (text === null) return [typed];
    const found = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    if (found.length > 0) return found;
    throw new UsageError(`${option}: ${typed === '-' ? 'standard input' : typed.slice(1)} is empty`);
  };
  return {
    lines,
    async one(option, typed) {
      const [line = '', ...more] = await lines(option, typed);
      if (more.length === 0) return line;
      throw new UsageError(
        `${option}: ${typed === '-' ? 'standard input' : typed.slice(1)} must be one line`,
      );
    },
  };
}
