import { readdirSync, readFileSync } from 'node:fs';
import { afterAll } from 'vitest';
import { worldsStarted } from './pool.ts';

/** The cost of a test file: processor time of its process and of all its child processes, and new worlds. */
export interface Cost {
  readonly cpuSeconds: number;
  readonly worlds: number;
}

declare module 'vitest' {
  interface TaskMeta {
    cost?: Cost;
  }
}

const TICKS_PER_SECOND = 100;

/** The processor time of this process and its descendants, including ended ones, in seconds. */
function cpuSeconds(): number {
  const spent = new Map<number, { parent: number; ticks: number }>();
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  for (const name of names) {
    try {
      // proc(5): field 4 is the parent, 14 to 17 are ticks of the process and of its children that have ended
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      spent.set(Number(name), { parent: Number(fields[1]), ticks });
    } catch {
      // it has ended
    }
  }
  const isOurs = (pid: number): boolean =>
    pid === process.pid || (spent.has(pid) && isOurs(spent.get(pid)?.parent ?? 0));
  let ticks = 0;
  for (const [pid, each] of spent) if (isOurs(pid)) ticks += each.ticks;
  return ticks / TICKS_PER_SECOND;
}

const before = { cpu: cpuSeconds(), worlds: worldsStarted() };

// hooks run in reverse order, so this one sees what the last world cost
// biome-ignore lint/correctness/noEmptyPattern: the runner reads from the pattern that no fixture is wanted
afterAll(({}, suite) => {
  suite.file.meta.cost = {
    cpuSeconds: Math.max(0, cpuSeconds() - before.cpu),
    worlds: worldsStarted() - before.worlds,
  };
});
