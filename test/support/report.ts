import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

const SHOWN = 10;

/**
 * Ends each run with its slowest files, so that a review sees growth. FAILED_FILES names a file for the names of the
 * failed files, one a line; it stays empty when an error belongs to no file.
 */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], stray: readonly SerializedError[]): void {
    noteFailures(modules, stray);
    const costs = modules.map((module) => ({
      file: module.relativeModuleId,
      seconds: module.diagnostic().duration / 1000,
      ...(module.meta().cost ?? { cpuSeconds: 0, worlds: 0 }),
    }));
    const sum = (of: (cost: (typeof costs)[number]) => number) =>
      costs.reduce((total, cost) => total + of(cost), 0);
    const line = (seconds: number, cpu: number, worlds: number, file: string) =>
      `${seconds.toFixed(1).padStart(8)} s ${cpu.toFixed(1).padStart(8)} s ${String(worlds).padStart(6)}  ${file}\n`;
    const slowest = costs.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    process.stdout.write(
      `\nThe slowest files (PostgreSQL's processor time is not counted):\n      time        cpu worlds\n` +
        slowest.map((each) => line(each.seconds, each.cpuSeconds, each.worlds, each.file)).join('') +
        line(
          sum((each) => each.seconds),
          sum((each) => each.cpuSeconds),
          sum((each) => each.worlds),
          `all ${costs.length} files`,
        ),
    );
  }
}

function noteFailures(modules: readonly TestModule[], stray: readonly SerializedError[]): void {
  const list = process.env.FAILED_FILES;
  if (list === undefined) return;
  const failed = modules.filter((each) => !each.ok()).map(({ relativeModuleId }) => relativeModuleId);
  const places = stray.map(({ VITEST_TEST_PATH: path }) => path);
  const files = places.flatMap((path) => (typeof path === 'string' ? [relative('', path)] : []));
  const all = files.length < places.length ? [] : [...new Set([...failed, ...files])];
  writeFileSync(list, all.map((file) => `${file}\n`).join(''));
}
