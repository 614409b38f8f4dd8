import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;

/** Ends each run with the files that took longest, so that growth is seen in review. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
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
