import type { Platform } from '../../app/platform.ts';
import type { Siblings } from '../../app/processes.ts';
import type { RunningServer } from '../../app/serve.ts';
import type { Config } from '../../kernel/config.ts';
import { CommandError } from '../command/errors.ts';

/** Ends the process at once, with this code. */
export type Exit = (code: number) => never;

// A supervisor kills after 20 to 30 s: by then requests are answered or cut off, and PostgreSQL is stopping.
const CUT_AFTER_MS = 16_000;
const GIVE_UP_AFTER_MS = 19_000;
// Without PostgreSQL no request in progress can finish.
export const CRASHED_MS = 1000;

/** A program that runs until it is stopped. */
export interface Running {
  close(): Promise<void>;
}

/** What is being opened, once it is open. While it opens there is nothing to drain, so a signal ends the process. */
export async function opened<Opened extends object>(
  opening: Promise<Opened>,
  signalled: Promise<{ signal: string }>,
  exit: Exit,
): Promise<Opened> {
  const first = await Promise.race([opening, signalled]);
  return 'signal' in first ? exit(0) : (first as Opened);
}

/** Resolves when the embedded PostgreSQL exits or, for a worker, its server. */
export function ended({ embedded }: Pick<Platform, 'embedded'>): Promise<{ how: string }> {
  if (embedded === undefined) return new Promise(() => undefined);
  return embedded.exited.then(({ code, signal }) => ({ how: signal ?? `code ${code}` }));
}

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP; the second ends the process at once. Without `exit`, for a child of a server: it
 * leaves SIGHUP and every repetition to its parent, because a terminal and a supervisor send signals to all processes.
 */
export function stopSignal(exit?: Exit): Promise<{ signal: string }> {
  return new Promise((resolve) => {
    let count = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (exit === undefined && signal === 'SIGHUP') return;
        count += 1;
        if (count > 1) exit?.(1);
        resolve({ signal });
      });
    }
  });
}

/**
 * How long requests are still accepted, in milliseconds: a load balancer needs a moment to notice that the server is
 * stopping. Only for SIGTERM, which supervisors send, and not for Ctrl-C at a terminal.
 */
export function shutdownDelay(signal: string, { shutdownDelayMs }: Config): number {
  return signal === 'SIGTERM' && !process.stdin.isTTY ? shutdownDelayMs : 0;
}

/** Serves at the address of the settings. Throws with what to do if it cannot be listened on. */
export async function listen(
  platform: Platform,
  serve: typeof import('../../app/serve.ts').serve,
  others: Siblings | null,
): Promise<RunningServer> {
  const { host, port, delivery } = platform.config;
  try {
    return await serve(platform, {
      listen: { host, port },
      delivers: delivery.inServer,
      ...others?.shared,
      fillDemo: async (...given) => (await import('../demo/fill.ts')).fillQuietly(...given),
    });
  } catch (error) {
    await platform.close();
    throw listenError(error as NodeJS.ErrnoException, platform.config);
  }
}

/** Explains an error in listening on the address of the server or its metrics. */
export function listenError(error: NodeJS.ErrnoException & { port?: number }, config: Config): Error {
  const isOfMetrics = error.port !== config.port && error.port === config.metrics.port;
  const prefix = isOfMetrics ? 'METRICS_' : '';
  const { host, port } = isOfMetrics ? config.metrics : config;
  switch (error.code) {
    case 'EADDRINUSE':
      return new CommandError(
        `port ${port} on ${host} is in use: stop the program that listens there, or set ${prefix}PORT`,
      );
    case 'EACCES':
      return new CommandError(
        `no permission to listen on port ${port}: choose one above 1023 with ${prefix}PORT`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandError(`${prefix}HOST=${host} is not an address of this machine`);
    default:
      return error;
  }
}

/** Ends what runs, then the platform; after a while by force. */
export async function stop(platform: Platform, running: Running, exit: Exit, code: number): Promise<void> {
  const cut = setTimeout(() => {
    platform.log.warn('some requests took too long and were cut off and rolled back');
    void platform.embedded?.close();
  }, CUT_AFTER_MS);
  const giveUp = setTimeout(() => exit(code), GIVE_UP_AFTER_MS);
  await running.close();
  await platform.close();
  clearTimeout(cut);
  clearTimeout(giveUp);
}
