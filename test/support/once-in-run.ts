import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { until } from './wire.ts';

/**
 * The path of a folder that the tests of a run share. The first process that asks for it has `make` fill it; another one waits until
 * that is done. Nobody changes it afterwards. Throws what `make` throws.
 */
export async function onceInRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(inject('postgres').folder, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}-unfinished`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await until(`${name} of the run`, () => existsSync(folder));
    return folder;
  }
  try {
    if (existsSync(folder)) return folder;
    await make(unfinished);
    renameSync(unfinished, folder);
    return folder;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
