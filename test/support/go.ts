import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether Go is on this machine. */
export const hasGo = spawnSync('go', ['version']).status === 0;

/** The end of a title of a test that needs it. */
export const withoutGo = hasGo ? '' : ' (skipped: no Go on this machine)';

/** Runs a program of Go in a folder, without downloading anything. Returns how it ended and what it printed. */
export function runGo(
  [file = 'go', ...args]: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number; output: string }> {
  const env = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod', ...environment };
  return run(file, args, { cwd: folder, env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout = '', stderr = '' }) => ({ code: Number(code), output: stdout + stderr }),
  );
}
