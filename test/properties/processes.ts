import type { DataFolder } from '../faults/support-server.ts';

export const SERVER = 0;
export type Who = 0 | 1 | 2;

interface Process {
  readonly pid: number;
  kill(): Promise<void>;
}

/** The three processes of a database: 0 is the server, which delivers too. */
export function processesOf(folder: DataFolder) {
  /** Promises, so that two who want the same process at once get one. */
  const all: (Promise<Process> | undefined)[] = [undefined, undefined, undefined];
  const stopped = new Set<Who>();
  const goOn = async (who: Who) => {
    const { pid } = (await all[who]) ?? {};
    if (stopped.delete(who) && pid !== undefined) process.kill(pid, 'SIGCONT');
  };
  return {
    /** Starts it if it was killed, continues it if it was stopped. */
    async start(who: Who): Promise<Process> {
      await goOn(who);
      all[who] ??= who === SERVER ? folder.start() : folder.startWorker();
      return all[who];
    },
    async kill(who: Who) {
      stopped.delete(who);
      const killed = await all[who];
      all[who] = undefined;
      await killed?.kill();
    },
    async stop(who: Who) {
      const { pid } = (await all[who]) ?? {};
      if (pid === undefined) return;
      process.kill(pid, 'SIGSTOP');
      stopped.add(who);
    },
    goOnAll: () => Promise.all(([0, 1, 2] as const).map(goOn)),
  };
}
