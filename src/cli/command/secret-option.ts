import { UsageError } from './errors.ts';
import { readText } from './source-file.ts';

/** Help text: how to pass secrets. */
export const SECRET_HELP = `
Every user of the machine can see a secret on the command line, and the shell keeps it in its history. Pass it as @file, or as - to
read it from standard input.`;

/** Reads the secrets of a command. */
export interface SecretReader {
  /**
   * Resolves a typed secret: `@file` is the single line of a file, `-` the line of standard input, which only one option
   * may use, and anything else is the secret itself. Throws UsageError or CommandError that names the option or the file.
   */
  one(option: string, typed: string): Promise<string>;
  /** The non-empty lines of `@file` or `-`; anything else as one line. Throws like `one`. */
  lines(option: string, typed: string): Promise<string[]>;
}

/** Creates a reader. */
export function secretReader(): SecretReader {
  let reads: string | null = null;
  const content = async (option: string, typed: string): Promise<string | null> => {
    if (typed === '-') {
      if (reads !== null) throw new UsageError(`${option}: standard input is already used for ${reads}`);
      reads = option;
      return readText('-');
    }
    if (!typed.startsWith('@')) return null;
    if (typed === '@') throw new UsageError(`${option}: give a file name after @`);
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
