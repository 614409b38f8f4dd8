import type { Registry } from 'prom-client';
import type { Database, ReplicaState } from '../db/database.ts';
import { programVersion } from '../kernel/version.ts';
import { type GaugeName, INSTRUMENTS, type Instruments, measure } from '../metrics/instruments.ts';
import { createBacklog } from './backlog.ts';
import { roomOf } from './checks.ts';
import { type MetricsServerOptions, startMetricsServer } from './metrics-server.ts';
import type { Platform } from './platform.ts';
import { shared } from './shared.ts';

/** Scrapes within this time share one result. */
const FRESH_MS = 1000;
/** Metrics that prom-client creates with names against the conventions of Prometheus. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Offers the metrics to Prometheus. Resolves to their address. Throws what `listen` throws. */
export type ServeMetrics = (
  options: MetricsServerOptions,
) => Promise<{ readonly address: string; close(): Promise<void> }>;

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
export async function startMetrics(
  platform: Platform,
  serveMetrics: ServeMetrics = startMetricsServer,
): Promise<Metrics | undefined> {
  const { cells, config, log } = platform;
  const { host, port } = config.metrics;
  if (port === undefined) return undefined;
  // loaded on demand
  const prometheus = await import('prom-client');
  const registry = new prometheus.Registry();
  const recorderOf = register(registry, prometheus);
  prometheus.collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const readings: Readings = new Map();
  const read = readingOf(platform, recorderOf, readings);
  const print = shared(FRESH_MS, async () => {
    await read();
    return { type: registry.contentType, text: await registry.metrics() };
  });
  const server = await serveMetrics({ host, port, log, print });
  const stopMeasuring = cells.each((db) => {
    const recorder = recorderOf(db.cell);
    const stop = measure(db, recorder.instruments);
    readings.set(db.cell, readingOfCell(db, recorder));
    return async () => {
      stop();
      readings.delete(db.cell);
      recorder.forget();
    };
  });
  return {
    address: server.address,
    async close() {
      await stopMeasuring();
      await server.close();
      registry.clear();
    },
  };
}

/** Null = unknown, and absent from the output. */
type Set = (name: GaugeName, value: number | null, labels?: Readonly<Record<string, string>>) => void;

/** Records the measurements of a cell. */
interface Recorder {
  readonly instruments: Instruments;
  readonly set: Set;
  /** Removes the gauges of the cell. */
  forget(): void;
}

/**
 * Creates the metrics of the table in a registry. Returns the recorder of each cell: series of cells other than 0 have the
 * label `cell`.
 */
function register(
  registry: Registry,
  { Counter, Gauge, Histogram }: typeof import('prom-client'),
): (cell: number) => Recorder {
  const counters = new Map<string, InstanceType<typeof Counter>>();
  const histograms = new Map<string, InstanceType<typeof Histogram>>();
  const gauges = new Map<string, InstanceType<typeof Gauge>>();
  for (const [key, instrument] of Object.entries(INSTRUMENTS)) {
    const { kind, name, help, labels } = instrument;
    const about = { name, help, labelNames: [...labels, 'cell'], registers: [registry] };
    // without labels of its own, a counter shows 0 from the start; a gauge is absent until it is known
    const isPlain = labels.length === 0;
    if (kind === 'counter') {
      const counter = new Counter(about);
      if (isPlain) counter.inc(0);
      counters.set(key, counter);
    } else if (kind === 'gauge') gauges.set(key, new Gauge(about));
    else {
      const histogram = new Histogram({ ...about, buckets: [...instrument.buckets] });
      if (isPlain) histogram.zero({});
      histograms.set(key, histogram);
    }
  }
  return (cell) => {
    const labelled = (labels: object = {}) => (cell === 0 ? labels : { ...labels, cell: String(cell) });
    const shown = new Map<string, () => void>();
    return {
      instruments: {
        count: (name, by, labels) => counters.get(name)?.inc(labelled(labels), by),
        observe: (name, seconds, labels) => histograms.get(name)?.observe(labelled(labels), seconds),
      },
      set(name, value, labels) {
        const all = labelled(labels);
        if (value === null) gauges.get(name)?.remove(all);
        else gauges.get(name)?.set(all, value);
        if (cell !== 0) shown.set(JSON.stringify([name, labels]), () => gauges.get(name)?.remove(all));
      },
      forget() {
        for (const remove of shown.values()) remove();
        shown.clear();
      },
    };
  };
}

/** What reads the gauges of each open cell. */
type Readings = Map<number, () => Promise<void>>;

/** Reads the gauges of a process. While a database does not answer, they show its last figures. */
function readingOf(
  { cells, config, db, embedded }: Platform,
  recorderOf: (cell: number) => Recorder,
  readings: Readings,
): () => Promise<void> {
  const { set } = recorderOf(0);
  set('build', 1, { version: programVersion() });
  const { everyMs } = config.backup;
  if (everyMs !== undefined) set('backupInterval', everyMs / 1000);
  let closed: Recorder[] = [];
  return async () => {
    showReplica(db.replica?.state(), set);
    if (embedded) set('disk', (await roomOf(config.dataDir)).free_bytes);
    for (const recorder of closed) recorder.forget();
    closed = cells
      .list()
      .filter((cell) => cell.db === null && cell.isServed)
      .map(({ number }) => recorderOf(number));
    for (const recorder of closed) recorder.set('database', 0);
    await Promise.all([...readings.values()].map((read) => read()));
  };
}

/** Reads the gauges of a cell. */
function readingOfCell(db: Database, { instruments, set }: Recorder): () => Promise<void> {
  const waitsBefore = new Map<string, number>();
  let failingBefore: readonly string[] = [];
  const backlog = createBacklog(db);
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
