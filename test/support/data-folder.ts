import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { addCells } from '../../src/cells/manage.ts';
import { readConfig } from '../../src/kernel/config.ts';
import type { TestCell } from './cell-of-file.ts';
import { firstKeyIn } from './postgres.ts';
import { until } from './wire.ts';

const run = promisify(execFile);

/**
 * Copies what `payhook init` creates into the folder; for cell 1 it has that cell too, and the first key is of an account there. It
 * is created once in a run, because creating takes seconds of processor time and many syncs of the disk.
 */
export async function putDataFolder(dataDir: string, cell: TestCell = 0): Promise<void> {
  const original = join(inject('postgres').folder, `data-${cell}`);
  if (!existsSync(original)) await makeOnce(original, cell);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // with its owners: root gives PostgreSQL's files to another user
  await run('cp', ['-a', `${original}/.`, dataDir]);
}

/** Creates the original, or waits until another process of the run has done so. */
async function makeOnce(original: string, cell: TestCell): Promise<void> {
  const unfinished = `${original}-unfinished`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await until('the data folder of the run', () => existsSync(original));
    return;
  }
  try {
    if (existsSync(original)) return;
    await make(unfinished, cell);
    renameSync(unfinished, original);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function make(dataDir: string, cell: TestCell): Promise<void> {
  if (cell === 1) await putDataFolder(dataDir);
  const platform = await openPlatform(readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'error' }), {
    purpose: 'command',
  });
  try {
    if (cell === 0) return;
    await addCells(platform, { url: null, listenUrl: null, schema: 'cell_', count: 1 });
    writeFileSync(join(dataDir, 'first-api-key'), `${await firstKeyIn(platform, 1)}\n`, { mode: 0o600 });
  } finally {
    await platform.close();
  }
}
