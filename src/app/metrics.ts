import type { Registry } from 'prom-client';
import type { ReplicaState } from '../db/database.ts';
import { programVersion } from '../kernel/version.ts';
import { type GaugeName, INSTRUMENTS, type Instruments, measure } from '../metrics/instruments.ts';
import { createBacklog } from './backlog.ts';
import { roomOf } from './checks.ts';
import { startMetricsServer } from './metrics-server.ts';
import type { Platform } from './platform.ts';

/** Scrapes within this time share one result. */
const FRESH_MS = 1000;
/** Metrics that prom-client creates with names against the conventions of Prometheus. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Serves the metrics of a process. */
export interface Metrics {
  /** For example http://127.0.0.1:9090/metrics. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Measures what this process does with the database, and serves the metrics to Prometheus at METRICS_PORT. Undefined
 * without that setting. Throws what `listen` throws.
 */
export async function startMetrics(platform: Platform): Promise<Metrics | undefined> {
  const { config, db, log } = platform;
  const { host, port } = config.metrics;
  if (port === undefined) return undefined;
  // loaded on demand
  const prometheus = await import('prom-client');
  const registry = new prometheus.Registry();
  const { instruments, set } = register(registry, prometheus);
  prometheus.collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const read = readingsOf(platform, { instruments, set });
  const print = shared(async () => {
    await read();
    return { type: registry.contentType, text: await registry.metrics() };
  });
  const server = await startMetricsServer({ host, port, log, print });
  log.info({ address: server.address }, 'metrics are served');
  const stopMeasuring = measure(db, instruments);
  return {
    address: server.address,
    async close() {
      stopMeasuring();
      await server.close();
      registry.clear();
    },
  };
}

/** Null = unknown, and absent from the output. */
type Set = (name: GaugeName, value: number | null, labels?: Readonly<Record<string, string>>) => void;

/** Creates the metrics of the table in a registry. */
function register(registry: Registry, { Counter, Gauge, Histogram }: typeof import('prom-client')) {
  const counters = new Map<string, InstanceType<typeof Counter>>();
  const histograms = new Map<string, InstanceType<typeof Histogram>>();
  const gauges = new Map<string, InstanceType<typeof Gauge>>();
  for (const [key, instrument] of Object.entries(INSTRUMENTS)) {
    const { kind, name, help, labels } = instrument;
    const about = { name, help, labelNames: [...labels], registers: [registry] };
    if (kind === 'counter') counters.set(key, new Counter(about));
    else if (kind === 'gauge') {
      const gauge = new Gauge(about);
      // absent until known, instead of 0
      if (labels.length === 0) gauge.remove();
      gauges.set(key, gauge);
    } else histograms.set(key, new Histogram({ ...about, buckets: [...instrument.buckets] }));
  }
  const instruments: Instruments = {
    count: (name, by, labels = {} as never) => counters.get(name)?.inc(labels, by),
    observe: (name, seconds, labels = {} as never) => histograms.get(name)?.observe(labels, seconds),
  };
  const set: Set = (name, value, labels = {}) =>
    value === null ? gauges.get(name)?.remove(labels) : gauges.get(name)?.set(labels, value);
  return { instruments, set };
}

/** Reads the gauges of a process. While the database does not answer, they show its last figures. */
function readingsOf(
  { config, db, embedded }: Platform,
  { instruments, set }: { instruments: Instruments; set: Set },
): () => Promise<void> {
  const waitsBefore = new Map<string, number>();
  let failingBefore: readonly string[] = [];
  const backlog = createBacklog(db);
  set('build', 1, { version: programVersion() });
  const { everyMs } = config.backup;
  if (everyMs !== undefined) set('backupInterval', everyMs / 1000);
  return async () => {
    for (const { name: pool, size, open, idle, waiting, waits } of db.pools()) {
      set('poolSize', size, { pool });
      set('poolWaiting', waiting, { pool });
      // a reconnected replica counts from 0 again
      instruments.count('poolWaits', Math.max(0, waits - (waitsBefore.get(pool) ?? 0)), { pool });
      waitsBefore.set(pool, waits);
      set('connections', open - idle, { pool, state: 'used' });
      set('connections', idle, { pool, state: 'idle' });
    }
    showReplica(db.replica?.state(), set);
    if (embedded) set('disk', (await roomOf(config.dataDir)).free_bytes);
    const { isUp, figures } = await backlog.latest();
    set('database', isUp ? 1 : 0);
    if (figures === null) return;
    set('due', figures.due);
    set('oldestDue', figures.oldest_due_age);
    for (const status of ['enabled', 'failing', 'disabled'] as const) {
      set('endpoints', figures[status], { status });
    }
    set('workers', figures.workers);
    set('partitions', figures.weeks_ahead);
    set('horizonSeconds', figures.horizon_seconds);
    set('horizonTransactions', figures.horizon_transactions);
    set('queueRows', figures.live_rows, { state: 'live' });
    set('queueRows', figures.dead_rows, { state: 'dead' });
    if (figures.backup_at !== null) set('backup', figures.backup_at);
    set('backupFailed', figures.backup_failed ? 1 : 0);
    for (const [chore, at] of Object.entries(figures.chores)) set('chore', at, { chore });
    for (const chore of failingBefore) set('choreFailing', null, { chore });
    failingBefore = Object.keys(figures.failing_chores);
    for (const [chore, since] of Object.entries(figures.failing_chores))
      set('choreFailing', since, { chore });
  };
}

function showReplica(state: ReplicaState | undefined, set: Set): void {
  if (state === undefined) return;
  set('replicaUsed', state.problem === null ? 1 : 0);
  set('replicaLag', state.lagMs === null ? null : state.lagMs / 1000);
  set('replicaLagBytes', state.lagBytes);
}

/** Concurrent calls share one result. */
function shared<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  let madeAt = 0;
  return () => {
    if (made === undefined || performance.now() - madeAt > FRESH_MS) {
      madeAt = performance.now();
      made = make();
      made.catch(() => {
        made = undefined;
      });
    }
    return made;
  };
}
