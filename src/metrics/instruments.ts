/**
 * The histogram buckets in seconds: from the duration of a local PostgreSQL query to the longest timeout of a delivery.
 */
const SPANS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Everything that is measured, by the name that the code uses. No label names an account, an endpoint or an address, so
 * the number of series does not grow with customers.
 */
export const INSTRUMENTS = {
  request: {
    kind: 'histogram',
    name: 'http_server_request_duration_seconds',
    help: 'From the head of a request to the end of its response. Paths without a route count as "unknown".',
    labels: ['method', 'route', 'status'],
    buckets: SPANS,
  },
  published: {
    kind: 'counter',
    name: 'payhook_events_published_total',
    help: 'Events stored by this process.',
    labels: [],
  },
  delivery: {
    kind: 'counter',
    name: 'payhook_deliveries_total',
    help: 'Attempts that ended: delivered; retrying = failed, and retried later; failed = failed, and not retried; cancelled = failed, and given up by the receiver; lost = interrupted here.',
    labels: ['outcome'],
  },
  attempt: {
    kind: 'histogram',
    name: 'payhook_delivery_attempt_duration_seconds',
    help: 'The exchange with the receiver, from its first to its last byte.',
    labels: [],
    buckets: SPANS,
  },
  latency: {
    kind: 'histogram',
    name: 'payhook_delivery_latency_seconds',
    help: 'From the time in the id of an event to the first byte of its first attempt.',
    labels: [],
    buckets: SPANS,
  },
  claim: {
    kind: 'counter',
    name: 'payhook_claims_total',
    help: 'Deliveries that this process claimed.',
    labels: [],
  },
  reads: {
    kind: 'counter',
    name: 'payhook_reads_total',
    help: 'Read requests, by who answered last: primary or replica.',
    labels: ['from'],
  },
  threadTasks: {
    kind: 'counter',
    name: 'payhook_thread_tasks_total',
    help: 'Files read and documents made in threads: done; refused = the request was refused; ended = the thread took too much time or memory.',
    labels: ['task', 'outcome'],
  },

  connectionsClosed: {
    kind: 'counter',
    name: 'payhook_connections_closed_total',
    help: 'Client connections that were closed because of a limit: full = MAX_CONNECTIONS, address = MAX_CONNECTIONS_PER_ADDRESS.',
    labels: ['reason'],
  },

  build: {
    kind: 'gauge',
    name: 'payhook_build_info',
    help: 'Always 1; the label is the running version.',
    labels: ['version'],
  },
  database: {
    kind: 'gauge',
    name: 'payhook_database_up',
    help: '1 if PostgreSQL answered the last query for the backlog; otherwise its figures are from the last answer.',
    labels: [],
  },
  due: {
    kind: 'gauge',
    name: 'payhook_queue_due',
    help: 'Deliveries that are due at enabled endpoints and not in flight, in the whole database. Counted up to 50,000.',
    labels: [],
  },
  oldestDue: {
    kind: 'gauge',
    name: 'payhook_queue_oldest_due_age_seconds',
    help: 'How long the oldest of them has been due; 0 if none is.',
    labels: [],
  },
  endpoints: {
    kind: 'gauge',
    name: 'payhook_endpoints',
    help: 'Webhook endpoints: enabled; failing = enabled, and its last attempt failed; disabled. Counted up to 20,000.',
    labels: ['status'],
  },
  workers: {
    kind: 'gauge',
    name: 'payhook_workers',
    help: 'Processes of the database that deliver.',
    labels: [],
  },
  partitions: {
    kind: 'gauge',
    name: 'payhook_partitions_ahead',
    help: 'Future weeks whose tables exist, up to 8.',
    labels: [],
  },
  horizonSeconds: {
    kind: 'gauge',
    name: 'payhook_oldest_snapshot_age_seconds',
    help: 'Age of the transaction that keeps dead rows longest; 0 if there is none, absent if PostgreSQL hides it.',
    labels: [],
  },
  horizonTransactions: {
    kind: 'gauge',
    name: 'payhook_oldest_snapshot_age_transactions',
    help: 'Transactions of the database server that began since the oldest snapshot.',
    labels: [],
  },
  queueRows: {
    kind: 'gauge',
    name: 'payhook_queue_rows',
    help: 'Rows of the queue, as estimated by PostgreSQL: live, or dead = deleted and not removed yet.',
    labels: ['state'],
  },
  chore: {
    kind: 'gauge',
    name: 'payhook_chore_last_success_timestamp_seconds',
    help: 'When any process last ran a chore; recorded at most once a minute.',
    labels: ['chore'],
  },
  choreFailing: {
    kind: 'gauge',
    name: 'payhook_chore_failing_since_timestamp_seconds',
    help: 'When a chore began to fail at every process that tried; absent while it does not.',
    labels: ['chore'],
  },
  backup: {
    kind: 'gauge',
    name: 'payhook_backup_last_success_timestamp_seconds',
    help: 'The instant of the last backup.',
    labels: [],
  },
  backupFailed: {
    kind: 'gauge',
    name: 'payhook_backup_failed',
    help: 'Whether a backup failed since the last successful one.',
    labels: [],
  },
  backupInterval: {
    kind: 'gauge',
    name: 'payhook_backup_interval_seconds',
    help: 'The interval set by BACKUP_EVERY.',
    labels: [],
  },
  connections: {
    kind: 'gauge',
    name: 'payhook_database_connections',
    help: 'Connections of this process to PostgreSQL: used or idle.',
    labels: ['pool', 'state'],
  },
  poolSize: {
    kind: 'gauge',
    name: 'payhook_database_pool_size',
    help: 'The maximum number of connections in a pool of this process.',
    labels: ['pool'],
  },
  poolWaiting: {
    kind: 'gauge',
    name: 'payhook_database_pool_waiting',
    help: 'Work of this process that waits for a connection.',
    labels: ['pool'],
  },
  poolWaits: {
    kind: 'counter',
    name: 'payhook_database_pool_waits_total',
    help: 'How often work of this process had to wait for a connection, because the pool was exhausted.',
    labels: ['pool'],
  },
  replicaUsed: {
    kind: 'gauge',
    name: 'payhook_replica_used',
    help: 'Whether this server reads from the replica; absent without a replica.',
    labels: [],
  },
  replicaLag: {
    kind: 'gauge',
    name: 'payhook_replica_lag_seconds',
    help: 'How far the replica is behind the primary; absent if unknown.',
    labels: [],
  },
  replicaLagBytes: {
    kind: 'gauge',
    name: 'payhook_replica_lag_bytes',
    help: 'WAL of the primary that the replica has not replayed; absent if unknown.',
    labels: [],
  },
  disk: {
    kind: 'gauge',
    name: 'payhook_disk_free_bytes',
    help: 'Space on the disk of the data folder; absent if the database is elsewhere.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Instrument>>;

interface Instrument {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

type Table = typeof INSTRUMENTS;
type NameOf<Kind extends Instrument['kind']> = {
  [Name in keyof Table]: Table[Name]['kind'] extends Kind ? Name : never;
}[keyof Table];

export type CounterName = NameOf<'counter'>;
export type HistogramName = NameOf<'histogram'>;
export type GaugeName = NameOf<'gauge'>;
/** A value for each label of an instrument. */
export type LabelsOf<Name extends keyof Table> = {
  readonly [Label in Table[Name]['labels'][number]]: string | number;
};

/** Records the measurements of a process. */
export interface Instruments {
  count<Name extends CounterName>(name: Name, by: number, labels?: LabelsOf<Name>): void;
  observe<Name extends HistogramName>(name: Name, seconds: number, labels?: LabelsOf<Name>): void;
}

const measured = new WeakMap<object, Instruments>();

/** Records what this process does with the database on `instruments` from now on. Returns a function that stops it. */
export function measure(db: { readonly scopeKey: object }, instruments: Instruments): () => void {
  measured.set(db.scopeKey, instruments);
  return () => void measured.delete(db.scopeKey);
}

/** The instruments of a database or transaction; undefined if nothing is measured. */
export function instrumentsOf({ scopeKey }: { readonly scopeKey: object }): Instruments | undefined {
  return measured.get(scopeKey);
}
