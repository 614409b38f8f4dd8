import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPlatform } from '../../src/app/platform.ts';
import { addCells } from '../../src/cells/manage.ts';
import { readConfig } from '../../src/kernel/config.ts';
import type { TestCell } from './cell-of-file.ts';
import { onceInRun } from './once-in-run.ts';
import { firstKeyIn } from './postgres.ts';

const run = promisify(execFile);

/**
 * Copies what `payhook init` creates into the folder; for cell 1 it has that cell too, and the first key is of an account there. It
 * is created once in a run, because creating takes seconds of processor time and many syncs of the disk.
 */
export async function putDataFolder(dataDir: string, cell: TestCell = 0): Promise<void> {
  const original = await onceInRun(`data-${cell}`, (folder) => make(folder, cell));
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // with its owners: root gives PostgreSQL's files to another user
  await run('cp', ['-a', `${original}/.`, dataDir]);
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
