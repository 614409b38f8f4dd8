import fc from 'fast-check';
import { afterAll, beforeAll } from 'vitest';
import { type DataFolder, dataFolder, type ServerProcess } from '../faults/support-server.ts';
import { sharedDatabase } from '../faults/support-shared.ts';

const SERVER = 0;
type Who = 0 | 1 | 2;

/** What may be done to one of the three processes. */
export interface ProcessAct {
  readonly kind: 'start' | 'kill' | 'stop';
  readonly who: Who;
}
export const processAct: fc.Arbitrary<ProcessAct> = fc.record({
  kind: fc.constantFrom('start', 'kill', 'stop'),
  who: fc.constantFrom<Who>(0, 1, 2),
});

interface Process {
  readonly pid: number;
  kill(): Promise<void>;
}

/** The three processes of a database: 0 is the server, which delivers too. */
function processesOf(folder: DataFolder) {
  /** Promises, so that two callers who want the same process at once get one. */
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

/**
 * A database with a server that delivers and two workers, for the tests of a file; the server is started before them.
 */
export function useProcesses(settings: Readonly<Record<string, string>>) {
  let folder: DataFolder;
  let processes: ReturnType<typeof processesOf>;
  const cleanups: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const database = await sharedDatabase();
    cleanups.push(database.drop);
    folder = dataFolder({ settings, database });
    cleanups.push(() => folder.remove());
    processes = processesOf(folder);
    await processes.start(SERVER);
  });
  afterAll(async () => {
    await processes?.goOnAll();
    for (const cleanup of cleanups.reverse()) await cleanup();
  });
  return {
    query: <Row>(statement: string) => folder.query<Row>(statement),
    /** The server, which runs from then on. */
    server: async () => (await processes.start(SERVER)) as ServerProcess,
    /** Starts, continues, kills or stops one. */
    act: ({ kind, who }: ProcessAct): Promise<unknown> => processes[kind](who),
    goOnAll: () => processes.goOnAll(),
    async killWorkers() {
      for (const who of [1, 2] as const) await processes.kill(who);
    },
    async startWorkers() {
      for (const who of [1, 2] as const) await processes.start(who);
    },
  };
}
