import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the program. This file is two folders below it in src/, and so is every built file in dist/. */
export const ROOT = new URL('../../', import.meta.url);

/** The path of a program that Node runs: its source while this file runs from there, else what was built. */
export function programPath(name: 'cli/main' | 'app/thread' = 'cli/main'): string {
  const ending = extname(import.meta.url);
  return fileURLToPath(new URL(`${ending === '.ts' ? 'src' : 'dist'}/${name}${ending}`, ROOT));
}
