import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { type RatedPrincipal, type RateGate, rateGate } from '../http/rate-limits.ts';
import { type Config, childEnvironment, takeChildPlace } from '../kernel/config.ts';
import { Failure, fail } from '../kernel/errors.ts';
import { inTime } from '../kernel/in-time.ts';
import { programPath } from '../kernel/installation.ts';
import { type Calls, openCalls } from './calls.ts';
import { mergeMetrics } from './merged-metrics.ts';
import type { ServeMetrics } from './metrics.ts';
import { startMetricsServer } from './metrics-server.ts';

/** A child that ended by itself is started again after a pause, which doubles while it does not run this long. */
const STEADY_MS = 30_000;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
const METRICS_MS = 5000;

/** The processes of a server, as their parent sees them. */
export interface Processes {
  /** Replaces them one by one. Resolves to null, or to why a new one did not start; then the old ones go on. */
  reload(): Promise<string | null>;
  /** Passes on a signal that stops them. Resolves when all are gone. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Ends them at once. */
  kill(): void;
}

/** The first process ended before it listened. It has written the reason to standard error. */
export class FirstProcessError extends Error {
  override name = 'FirstProcessError';
  readonly exitCode: number;

  constructor({ code }: Ended) {
    super('the first process did not start');
    this.exitCode = code ?? 1;
  }
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

interface Child {
  readonly pid: number;
  readonly calls: Calls;
  /** Resolves when it listens; never if it ends before. */
  readonly ready: Promise<void>;
  readonly ended: Promise<Ended>;
  isReady(): boolean;
  signal(name: NodeJS.Signals): void;
}

/** The place of one child, whose number stays while the process changes. */
interface Slot {
  readonly number: number;
  child: Child | null;
  /** How often it ended by itself without having been steady. */
  failures: number;
  timer?: NodeJS.Timeout;
}

interface ProcessesOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly count: number;
  /** How the first process announces that the server is running. */
  readonly announces: Announcement;
  /** Resolves when the server is to stop. While the first process starts it gets the signal, and ends. */
  readonly signalled: Promise<{ readonly signal: NodeJS.Signals }>;
  /** Called whenever a process listens, with the address of the server: with PORT=0 it changes if all were gone. */
  onAddress(address: string): void;
}

/** What a process that listens prints: a text for people, JSON, or nothing. */
export type Announcement = 'text' | 'json' | null;

/**
 * Starts `count` children that run `serve`: the first one alone, because it migrates the database, then the others. Throws
 * FirstProcessError, and what `listen` throws for the metrics.
 */
export async function startProcesses(options: ProcessesOptions): Promise<Processes> {
  const { config, log, count, announces } = options;
  cluster.setupPrimary({ exec: programPath('cli/main'), args: ['serve'] });
  const slots: Slot[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    child: null,
    failures: 0,
  }));
  const running = new Set<Child>();
  const rates = ratesOf(config);
  let isStopping = false;
  const metrics = await serveAllMetrics(config, log, slots);

  function launch({ number }: Slot, announces: Announcement = null): Child {
    const onReady = (address: string) => {
      options.onAddress(address);
      return announces;
    };
    const child = childOf(cluster.fork(childEnvironment(number, count)), { rates, onReady });
    running.add(child);
    void child.ended.then(() => running.delete(child));
    return child;
  }

  function occupy(slot: Slot, child: Child): void {
    const since = performance.now();
    slot.child = child;
    void child.ended.then((how) => {
      if (isStopping || slot.child !== child) return;
      slot.child = null;
      slot.failures = child.isReady() && performance.now() - since > STEADY_MS ? 0 : slot.failures + 1;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** slot.failures);
      log.error(
        { process: slot.number, pid: child.pid, ...how, pause_ms: pauseMs },
        'a process of the server ended by itself; it is started again',
      );
      slot.timer = setTimeout(() => occupy(slot, launch(slot)), pauseMs);
    });
  }

  async function replace(slot: Slot): Promise<string | null> {
    const next = launch(slot);
    const how = await Promise.race([next.ready.then(() => null), next.ended]);
    if (how !== null) return `process ${slot.number} did not start again: the log says why`;
    clearTimeout(slot.timer);
    const old = slot.child;
    occupy(slot, next);
    slot.failures = 0;
    log.info({ process: slot.number, pid: next.pid, instead_of: old?.pid }, 'a process was replaced');
    await old?.calls.call('leave').catch(() => undefined);
    await old?.ended;
    return null;
  }

  const [first, ...others] = slots as [Slot, ...Slot[]];
  const child = launch(first, announces);
  let isStarting = true;
  void options.signalled.then(({ signal }) => isStarting && child.signal(signal));
  const failure = await Promise.race([child.ready.then(() => null), child.ended]);
  isStarting = false;
  if (failure !== null) {
    await metrics?.close();
    throw new FirstProcessError(failure);
  }
  occupy(first, child);
  for (const slot of others) occupy(slot, launch(slot));

  return {
    async reload() {
      for (const slot of slots) {
        if (isStopping) return 'the server is stopping';
        const problem = await replace(slot);
        if (problem !== null) return problem;
      }
      return null;
    },
    async stop(signal) {
      isStopping = true;
      for (const { timer } of slots) clearTimeout(timer);
      for (const each of running) each.signal(signal);
      await Promise.all([...running].map(({ ended }) => ended));
      await metrics?.close();
    },
    kill() {
      isStopping = true;
      for (const each of running) each.signal('SIGKILL');
    },
  };
}

function childOf(
  worker: Worker,
  handlers: { rates: ReturnType<typeof ratesOf>; onReady(address: string): Announcement },
): Child {
  let isReady = false;
  let calls: Calls | undefined;
  const ready = new Promise<void>((resolve) => {
    calls = openCalls(worker, {
      rates: handlers.rates,
      ready(address: string) {
        isReady = true;
        resolve();
        return handlers.onReady(address);
      },
    });
  });
  const ended = new Promise<Ended>((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }));
  });
  return {
    pid: worker.process.pid ?? 0,
    calls: calls as unknown as Calls,
    ready,
    ended,
    isReady: () => isReady,
    signal: (name) => void worker.process.kill(name),
  };
}

/** The result of counting a request in the parent: headers, or the refusal. */
type Counted =
  | { readonly headers: Readonly<Record<string, string>> }
  | { readonly refusal: { readonly message: string; readonly headers: Record<string, string> } };

/** Counts the requests of all children. */
function ratesOf({ http }: Config): (principal: RatedPrincipal) => Counted {
  const gate = rateGate(http.rates);
  return (principal) => {
    try {
      return { headers: gate(principal) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { refusal: { message: error.message, headers: { ...error.headers } } };
    }
  };
}

/** Serves the metrics of all children at METRICS_PORT, if it is set. A child that does not answer is left out. */
async function serveAllMetrics(
  { metrics: { host, port } }: Config,
  log: Logger,
  slots: readonly Slot[],
): Promise<{ close(): Promise<void> } | undefined> {
  if (port === undefined) return undefined;
  return startMetricsServer({
    host,
    port,
    log,
    async print() {
      const found = await Promise.all(
        slots.map(async ({ number, child }) => {
          const asked = child?.isReady() ? child.calls.call<Printed>('metrics').catch(() => null) : null;
          return { number, printed: asked && (await inTime(METRICS_MS, asked, () => null)) };
        }),
      );
      const texts = found.flatMap(({ number, printed }) => (printed ? [{ number, ...printed }] : []));
      return {
        type: texts[0]?.type ?? 'text/plain; version=0.0.4; charset=utf-8',
        text: mergeMetrics(new Map(texts.map(({ number, text }) => [number, text]))),
      };
    },
  });
}

interface Printed {
  readonly type: string;
  readonly text: string;
}

/** What a child shares with the other processes of its server. */
export interface Siblings {
  /** Its number, from 1, and the number of all. */
  readonly number: number;
  readonly count: number;
  /** How this process serves: the parent counts requests per minute, and serves the metrics. */
  readonly shared: { readonly rates: RateGate; readonly serveMetrics: ServeMetrics };
  /** Reports that this process listens. Resolves to what it prints. */
  ready(address: string): Promise<Announcement>;
  /** Resolves when the parent has replaced this process, or is gone. */
  readonly end: Promise<'replaced' | 'the parent process is gone'>;
}

/** The siblings of this process; null = the server has no other processes. */
export function siblings(): Siblings | null {
  const place = takeChildPlace();
  const { worker } = cluster;
  if (place === null || worker === undefined) return null;
  let print: (() => Promise<Printed>) | undefined;
  let calls: Calls | undefined;
  const end = new Promise<'replaced' | 'the parent process is gone'>((resolve) => {
    calls = openCalls(worker, {
      metrics: () => print?.(),
      leave: () => resolve('replaced'),
    });
    process.once('disconnect', () => resolve('the parent process is gone'));
  });
  const call = <Answer>(name: string, input: unknown) =>
    (calls as unknown as Calls).call<Answer>(name, input);
  return {
    ...place,
    shared: {
      async rates({ kind, account, id }) {
        const counted = await call<Counted>('rates', { kind, account, id });
        if ('headers' in counted) return counted.headers;
        throw fail('rate_limited', counted.refusal.message, counted.refusal.headers);
      },
      async serveMetrics(options) {
        print = options.print;
        return { address: '', close: async () => undefined };
      },
    },
    async ready(address) {
      const announces = await call<Announcement>('ready', address);
      // until now Node ends this process at once when the parent is gone: without it, listening never ends
      worker.exitedAfterDisconnect = true;
      return announces;
    },
    end,
  };
}
