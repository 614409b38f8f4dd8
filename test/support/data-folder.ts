import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { plainEnvironment } from './environment.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const run = promisify(execFile);
let made: Promise<string> | undefined;

/**
 * Copies what `payhook init` creates into the folder. One process creates it once, because creating takes seconds of
 * processor time and many syncs of the disk.
 */
export async function putDataFolder(dataDir: string): Promise<void> {
  made ??= makeDataFolder();
  const original = await made;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // with its owners: root gives PostgreSQL's files to another user
  await run('cp', ['-a', `${original}/.`, dataDir]);
}

async function makeDataFolder(): Promise<string> {
  const dataDir = join(inject('postgres').folder, `data-${process.pid}`);
  await run(process.execPath, [PROGRAM, 'init'], { env: { ...plainEnvironment(), DATA_DIR: dataDir } });
  return dataDir;
}
