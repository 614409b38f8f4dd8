import { readFileSync } from 'node:fs';
import { ROOT } from './installation.ts';

/** The version of the program, as its package says. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string }).version;
}
