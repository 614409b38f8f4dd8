import type { Logger } from 'pino';
import type { Reloads } from '../../app/address.ts';
import type { Platform } from '../../app/platform.ts';
import type { Announcement, Processes, startProcesses as StartProcesses } from '../../app/processes.ts';
import { type Config, readConfig } from '../../kernel/config.ts';
import { type Exit, ended, listenError, opened } from './running.ts';

/**
 * `payhook serve` with several processes: this one owns the embedded PostgreSQL and starts the others, which serve. Runs until a
 * signal, or until PostgreSQL exits by itself. Returns the exit code.
 */
export async function serveWithProcesses(
  config: Config,
  { count, exit, announces }: { count: number; exit: Exit; announces: Announcement },
): Promise<number> {
  const { signalled, onReload } = parentSignals(exit);
  const [{ createLog }, { makeDataFolder, openEmbeddedOf }] = await Promise.all([
    import('../../app/log.ts'),
    import('../../app/embedded.ts'),
  ]);
  const log = createLog(config);
  makeDataFolder(config);
  const opening = openEmbeddedOf(config, 'serve', log).then((embedded) => ({ embedded }));
  const platform = { config, log, ...(await opened(opening, signalled, exit)) };
  const started = await start(platform, { count, announces, signalled });
  if (typeof started === 'number') return started;
  const { processes, record } = started;
  process.once('exit', processes.kill);
  onReload(reloading(processes, log, (reloads) => record.note({ reloads })));
  const end = await Promise.race([signalled, ended(platform)]);
  record.forget();
  if ('signal' in end) {
    log.info(end, 'stopping');
    await processes.stop(end.signal);
    await platform.embedded?.close();
    return 0;
  }
  log.fatal(end, 'PostgreSQL stopped unexpectedly; its log is postgres.log in the data folder');
  processes.kill();
  return 1;
}

/** Starts the processes. Returns the exit code if the first one ended, which has written the reason. */
async function start(
  { config, log, embedded }: Pick<Platform, 'config' | 'log' | 'embedded'>,
  given: Pick<Parameters<typeof StartProcesses>[0], 'count' | 'announces' | 'signalled'>,
) {
  const [{ FirstProcessError, startProcesses }, { recordAddress }] = await Promise.all([
    import('../../app/processes.ts'),
    import('../../app/address.ts'),
  ]);
  let record: ReturnType<typeof recordAddress> | undefined;
  const onAddress = (address: string) => {
    if (record) record.note({ address });
    else record = recordAddress(config, address);
  };
  try {
    const processes = await startProcesses({ config, log, ...given, onAddress });
    return { processes, record: record as unknown as ReturnType<typeof recordAddress> };
  } catch (error) {
    await embedded?.close();
    if (error instanceof FirstProcessError) return error.exitCode;
    throw listenError(error as NodeJS.ErrnoException, config);
  }
}

/** Creates what replaces the processes one by one. What is asked for meanwhile is done afterwards, once. */
function reloading(processes: Processes, log: Logger, note: (reloads: Reloads) => void): () => void {
  let begun = 0;
  let done = 0;
  let isWanted = false;
  note({ begun, done, problem: null });
  const reload = async () => {
    isWanted = false;
    begun += 1;
    note({ begun, done, problem: null });
    const problem = settingsProblem() ?? (await processes.reload());
    done = begun;
    if (problem === null) log.info('all processes were replaced');
    else log.error({ problem }, 'the processes were not replaced');
    note({ begun, done, problem });
  };
  let running = Promise.resolve();
  return () => {
    if (isWanted) return;
    isWanted = true;
    running = running.then(reload);
  };
}

/** Files of settings may have changed since the start. */
function settingsProblem(): string | null {
  try {
    readConfig();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * SIGINT and SIGTERM stop the server; the second one at once. SIGUSR2 and SIGHUP replace its processes; SIGHUP at a terminal, which is
 * being closed, stops it too.
 */
function parentSignals(exit: Exit) {
  let reload: () => void = () => undefined;
  const signalled = new Promise<{ signal: NodeJS.Signals }>((resolve) => {
    let count = 0;
    const stop = (signal: NodeJS.Signals) => {
      count += 1;
      if (count > 1) exit(1);
      resolve({ signal });
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    process.on('SIGHUP', (signal) => (process.stdin.isTTY ? stop(signal) : reload()));
    process.on('SIGUSR2', () => reload());
  });
  return {
    signalled,
    onReload(listener: () => void) {
      reload = listener;
    },
  };
}
