import type { FastifyInstance } from 'fastify';
import { keepHouse } from '../db/chores.ts';
import type { Database } from '../db/database.ts';
import type { OperatorCredential } from '../http/auth.ts';
import { connectionsFor } from '../http/capacity.ts';
import { type RateGate, rateGate } from '../http/rate-limits.ts';
import { addressRules, LOOPBACK } from '../kernel/addresses.ts';
import { programPath } from '../kernel/installation.ts';
import { instrumentsOf } from '../metrics/instruments.ts';
import { createThreads, type Threads } from '../threads/pool.ts';
import { disableEndpoint } from '../webhooks/endpoints/service.ts';
import { createNotifier } from '../webhooks/engine/wake.ts';
import { createWorker, type Worker, type WorkerOptions } from '../webhooks/engine/worker.ts';
import { plainAddress } from './address.ts';
import { roomOf } from './checks.ts';
import { notifyOfFailingChore } from './chore-alerts.ts';
import { choresOf } from './chores.ts';
import { demosOf, type FillDemo } from './demos.ts';
import type { ServeMetrics } from './metrics.ts';
import type { Platform } from './platform.ts';
import { readinessOf } from './readiness.ts';
import { startTelemetry, type Telemetry } from './telemetry.ts';

const FIRST_HOUSEKEEPING_MS = 60_000;
const DRAIN_MS = 15_000;
const IDLE_CHECK_MS = 50;

/** A running server. */
export interface RunningServer {
  /** Where it listens, for example http://127.0.0.1:8080. */
  readonly address: string;
  /** The address of its metrics, for example http://127.0.0.1:9090/metrics; null = not served. */
  readonly metricsAddress: string | null;
  /** Makes `/readyz` report that the server is stopping. Requests are still served. */
  turnAway(): void;
  /** Each response ends its connection from now on, because another process replaces this one. */
  letGo(): void;
  /** Stops accepting connections, answers the requests in progress (15 s at most), then stops. */
  close(): Promise<void>;
}

/** Serves the platform over HTTP, on a port or on a unix socket. Closing the server leaves the platform open. */
export async function serve(
  platform: Platform,
  options: {
    listen: { host: string; port: number } | { path: string };
    operator?: OperatorCredential;
    /** How a demo account is filled; without it there are none. */
    fillDemo?: FillDemo;
    /** Whether to deliver webhooks too. */
    delivers?: boolean;
    /** Limits the requests per minute; default: RATE_LIMIT_ACCOUNT and RATE_LIMIT_KEY, counted here. */
    rates?: RateGate;
    /** Serves the metrics; default: an HTTP server at METRICS_PORT. */
    serveMetrics?: ServeMetrics;
    /** Whether to run the database's chores; true by default, and false only for servers under close examination. */
    keepsHouse?: boolean;
  },
): Promise<RunningServer> {
  const { cells, config, db, log } = platform;
  let address = '';
  const isPublic = 'port' in options.listen;
  const readiness = readinessOf(platform);
  // loaded only here: Fastify, the routes and the pages are a third of the program
  const { createServer } = await import('../http/server.ts');
  const threads = threadsOf(platform);
  const server = createServer({
    cells,
    log,
    baseUrl: () => config.baseUrl ?? address,
    trustedProxies: config.trustedProxies,
    env: {
      vault: platform.vault,
      threads,
      authorizeUrl: () => config.authorizeUrl ?? config.baseUrl ?? address,
      addresses: addressRules(config.delivery.allowedNetworks),
      scheduleMs: config.delivery.scheduleMs,
      mostEndpoints: config.http.webhookEndpoints,
      disk: async () => (platform.embedded ? roomOf(config.dataDir) : null),
      replica: db.replica,
      cells: cells.list,
    },
    demos: options.fillDemo ? demosOf(platform, options.fillDemo) : null,
    limits: {
      ...config.http,
      connections: connectionsFor(config, { isPublic, delivers: options.delivers ?? false, log }),
    },
    rates: options.rates ?? rateGate(config.http.rates),
    readiness: () => readiness.problem(),
    unavailableCells: () => readiness.unavailableCells(),
    isStopping: () => readiness.isStopping(),
    ...(options.operator ? { operator: options.operator } : {}),
  });
  const telemetry = isPublic ? await startTelemetry(platform, options.serveMetrics) : undefined;
  const listening = await listenOr(server, options.listen, telemetry);
  // a socket has no URL, but Link headers and links for people need one
  address = 'path' in options.listen ? plainAddress(config) : listening;
  const stopNotifying = cells.each(createNotifier);
  const endWork = cells.each((cell) => workIn(platform, cell, { ...options, threads }));
  return {
    address,
    metricsAddress: telemetry?.metricsAddress ?? null,
    turnAway: () => readiness.stop(),
    letGo: () => readiness.letGo(),
    async close() {
      readiness.stop();
      await Promise.all([drain(server), endWork()]);
      await threads.close();
      await stopNotifying();
      await telemetry?.close();
    },
  };
}

/** Delivers webhooks until closed, without a server. */
export function work(platform: Platform): Pick<Worker, 'close'> {
  const threads = threadsOf(platform);
  const endWork = platform.cells.each((cell) => workIn(platform, cell, { delivers: true, threads }));
  return {
    async close() {
      await endWork();
      await threads.close();
    },
  };
}

/** The threads of a process, which begin with their first task. */
const threadsOf = ({ config, db, log }: Platform): Threads =>
  createThreads({
    program: programPath('app/thread'),
    files: config.http.uploads,
    onTask: (task, outcome) => instrumentsOf(db)?.count('threadTasks', 1, { task, outcome }),
    onEnded: (task, why) => log.warn({ task, why }, 'a thread was ended'),
  });

/** Delivers webhooks of a cell, and runs its chores. Returns a function that ends both. */
function workIn(
  platform: Platform,
  db: Database,
  {
    delivers = false,
    keepsHouse = true,
    threads,
  }: { delivers?: boolean; keepsHouse?: boolean; threads: Threads },
): () => Promise<void> {
  const log = db.cell === 0 ? platform.log : platform.log.child({ cell: db.cell });
  const place = { ...platform, db, log, threads };
  const worker = delivers ? createWorker(workerOptions(place)) : undefined;
  const stopKeeping = keepHouse(keepsHouse ? choresOf(place) : [], {
    db,
    log,
    firstMs: FIRST_HOUSEKEEPING_MS,
    notify: (tx, failing) => notifyOfFailingChore(platform.db, tx, failing),
  });
  return async () => {
    stopKeeping();
    await worker?.close();
  };
}

/** Listens; if that fails, ends the process's telemetry. */
async function listenOr(
  server: FastifyInstance,
  where: { host: string; port: number } | { path: string },
  telemetry: Telemetry | undefined,
): Promise<string> {
  try {
    return await server.listen(where);
  } catch (error) {
    await telemetry?.close();
    throw error;
  }
}

function workerOptions({ config, db, log, vault }: Platform): WorkerOptions {
  const { allowedNetworks } = config.delivery;
  return {
    db,
    log,
    vault,
    addresses: addressRules(allowedNetworks),
    localAddresses: addressRules([...allowedNetworks, ...LOOPBACK]),
    config: config.delivery,
    disableEndpoint,
  };
}

async function drain(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS);
  // Closes kept-alive connections after their last response.
  const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
  await server.close();
  clearInterval(idle);
  clearTimeout(cut);
}
