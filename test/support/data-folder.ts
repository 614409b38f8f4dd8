import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { TestCell } from './cell-of-file.ts';
import { plainEnvironment } from './environment.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const run = promisify(execFile);
const made = new Map<TestCell, Promise<string>>();

/**
 * Copies what `payhook init` creates into the folder; for cell 1 it has that cell too, and the first key is of an account there. One
 * process creates it once, because creating takes seconds of processor time and many syncs of the disk.
 */
export async function putDataFolder(dataDir: string, cell: TestCell = 0): Promise<void> {
  const original = await (made.get(cell) ?? make(cell));
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // with its owners: root gives PostgreSQL's files to another user
  await run('cp', ['-a', `${original}/.`, dataDir]);
}

function make(cell: TestCell): Promise<string> {
  const making = makeDataFolder(cell);
  made.set(cell, making);
  return making;
}

async function makeDataFolder(cell: TestCell): Promise<string> {
  const dataDir = join(inject('postgres').folder, `data-${process.pid}-${cell}`);
  const payhook = (...args: string[]) =>
    run(process.execPath, [PROGRAM, ...args], { env: { ...plainEnvironment(), DATA_DIR: dataDir } });
  await payhook('init');
  if (cell === 0) return dataDir;
  await payhook('cells', 'add', '--schema', 'cell_', '--count', '1');
  await payhook('accounts', 'create', '--name', 'Shop', '--cell', '1');
  const { stdout } = await payhook('keys', 'create', '--account', 'Shop', '--name', 'first', '--json');
  writeFileSync(join(dataDir, 'first-api-key'), (JSON.parse(stdout) as { key: string }).key, { mode: 0o600 });
  return dataDir;
}
