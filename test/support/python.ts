import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../cli/support.ts';

const run = promisify(execFile);
const PACKAGE = join(ROOT, 'packages/python/src');

/** A Python that has httpx: that of `.ci/run`, or of this machine; undefined without one. */
export const python = [join(ROOT, 'test/tools/python/bin/python'), 'python3'].find(
  (program) => spawnSync(program, ['-c', 'import httpx']).status === 0,
);

/** Whether its type checker is installed. */
export const hasMypy = python !== undefined && spawnSync(python, ['-m', 'mypy', '--version']).status === 0;

/** Whether the package that its client needs for public keys is installed. */
export const hasCryptography =
  python !== undefined && spawnSync(python, ['-c', 'import cryptography']).status === 0;

/** The end of a title of a test that needs it. */
export const withoutPython = python === undefined ? ' (skipped: no Python with httpx on this machine)' : '';
export const withoutMypy = hasMypy ? '' : ' (skipped: no mypy on this machine)';

export const pythonEnvironment = {
  ...process.env,
  PYTHONPATH: PACKAGE,
  PYTHONDONTWRITEBYTECODE: '1',
  MYPYPATH: PACKAGE,
};

/** Runs Python with the client of this checkout. Returns how it ended and what it printed. */
export function runPython(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  return run(python ?? '', args, { cwd: ROOT, env: { ...pythonEnvironment, ...environment } }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout = '', stderr = '' }) => ({ code: Number(code), output: stdout + stderr }),
  );
}
