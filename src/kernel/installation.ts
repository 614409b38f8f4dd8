import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the program. This file is two folders below it in src/, and so is every built file in dist/. */
export const ROOT = new URL('../../', import.meta.url);

/** The path of the program that Node runs: its source while it runs from there, else what was built. */
export function programPath(): string {
  const ending = extname(import.meta.url);
  return fileURLToPath(new URL(`${ending === '.ts' ? 'src' : 'dist'}/cli/main${ending}`, ROOT));
}
