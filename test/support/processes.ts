import { existsSync, readFileSync } from 'node:fs';
import { until } from './wire.ts';

/** Whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    if (existsSync('/proc/self/stat')) return false;
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }
}

/** How many processes deliver in a world, and serve in a data folder: TEST_PROCESSES, or one. */
export function countOfProcesses(): number {
  return Number(process.env.TEST_PROCESSES ?? '1');
}

/** `kill -9` of a process and of the children that serve for it, before any of them notices the end of another. */
export function killWithChildren(pid: number): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  const ofProgram = children.filter((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js'),
  );
  for (const each of [pid, ...ofProgram]) process.kill(each, 'SIGKILL');
}

/** Returns when a process is gone. */
export async function untilGone(pid: number): Promise<void> {
  await until(`the end of process ${pid}`, () => !isRunning(pid));
}
