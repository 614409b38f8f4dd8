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

/** The same as a setting. */
export const processesOfTests = (): { PROCESSES?: string } =>
  countOfProcesses() === 1 ? {} : { PROCESSES: String(countOfProcesses()) };

/** Returns when a process is gone. */
export async function untilGone(pid: number): Promise<void> {
  await until(`the end of process ${pid}`, () => !isRunning(pid));
}
