/**
 * The time spans of a histogram in seconds: from what a local PostgreSQL takes to the longest time limit of a delivery.
 */
const SPANS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Everything that is measured, by the name that the code uses. No label names an account, an endpoint or an address, so
 * that the number of series does not grow with the customers.
 */
export const INSTRUMENTS = {
  request: {
    kind: 'histogram',
    name: 'http_server_request_duration_seconds',
    help: 'From the head of a request to the end of its response. Addresses without a route count as "unknown".',
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
    help: 'Attempts that ended: delivered; retrying = failed, and tried again later; failed = failed, and not repeated by itself; lost = cut off here.',
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
    help: 'Deliveries that this process took to send.',
    labels: [],
  },
  reads: {
    kind: 'counter',
    name: 'payhook_reads_total',
    help: 'Requests that read, by who answered last: primary or replica.',
    labels: ['from'],
  },
  threadTasks: {
    kind: 'counter',
    name: 'payhook_thread_tasks_total',
    help: 'Files read and documents made in threads: done; refused = the request was; ended = the thread took too much time or memory.',
    labels: ['task', 'outcome'],
  },

  connectionsClosed: {
    kind: 'counter',
    name: 'payhook_connections_closed_total',
    help: 'Connections of clients that were closed because of a limit: full = MAX_CONNECTIONS, address = MAX_CONNECTIONS_PER_ADDRESS.',
    labels: ['reason'],
  },

  build: {
    kind: 'gauge',
    name: 'payhook_build_info',
    help: 'Always 1; the label says which version runs.',
    labels: ['version'],
  },
  database: {
    kind: 'gauge',
    name: 'payhook_database_up',
    help: '1 if PostgreSQL answered when it was last asked for the figures of the backlog; they are as old as that otherwise.',
    labels: [],
  },
  due: {
    kind: 'gauge',
    name: 'payhook_queue_due',
    help: 'Deliveries that are due at enabled endpoints and not under way, in the whole database. Counted up to 50,000.',
    labels: [],
  },
  oldestDue: {
    kind: 'gauge',
    name: 'payhook_queue_oldest_due_age_seconds',
    help: 'For how long the oldest of them has been due; 0 when nothing is.',
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
    help: 'Weeks to come whose tables have been made, up to 8.',
    labels: [],
  },
  horizonSeconds: {
    kind: 'gauge',
    name: 'payhook_oldest_snapshot_age_seconds',
    help: 'How long ago the transaction began that keeps dead rows longest; 0 when none does, absent when PostgreSQL hides it.',
    labels: [],
  },
  horizonTransactions: {
    kind: 'gauge',
    name: 'payhook_oldest_snapshot_age_transactions',
    help: 'How many transactions of the database server have begun since the oldest snapshot.',
    labels: [],
  },
  queueRows: {
    kind: 'gauge',
    name: 'payhook_queue_rows',
    help: 'Rows of the queue, as PostgreSQL estimates them: live, or dead = deleted and not removed yet.',
    labels: ['state'],
  },
  chore: {
    kind: 'gauge',
    name: 'payhook_chore_last_success_timestamp_seconds',
    help: 'When any process last did a chore; noted once a minute at most.',
    labels: ['chore'],
  },
  choreFailing: {
    kind: 'gauge',
    name: 'payhook_chore_failing_since_timestamp_seconds',
    help: 'Since when a chore has failed at every process that tried; absent while it does not.',
    labels: ['chore'],
  },
  backup: {
    kind: 'gauge',
    name: 'payhook_backup_last_success_timestamp_seconds',
    help: 'The instant that the last backup holds.',
    labels: [],
  },
  backupFailed: {
    kind: 'gauge',
    name: 'payhook_backup_failed',
    help: 'Whether a backup failed since the last one that was made.',
    labels: [],
  },
  backupInterval: {
    kind: 'gauge',
    name: 'payhook_backup_interval_seconds',
    help: 'How often BACKUP_EVERY asks for a backup.',
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
    help: 'The most connections that a pool of this process may have.',
    labels: ['pool'],
  },
  poolWaiting: {
    kind: 'gauge',
    name: 'payhook_database_pool_waiting',
    help: 'How much work of this process waits for a connection.',
    labels: ['pool'],
  },
  poolWaits: {
    kind: 'counter',
    name: 'payhook_database_pool_waits_total',
    help: 'How often work of this process had to wait for a connection, because all of the pool were in use.',
    labels: ['pool'],
  },
  replicaUsed: {
    kind: 'gauge',
    name: 'payhook_replica_used',
    help: 'Whether this server reads from the replica; absent when it has none.',
    labels: [],
  },
  replicaLag: {
    kind: 'gauge',
    name: 'payhook_replica_lag_seconds',
    help: 'For how long the replica has not had what the primary has; absent while that is not known.',
    labels: [],
  },
  replicaLagBytes: {
    kind: 'gauge',
    name: 'payhook_replica_lag_bytes',
    help: 'How much of the WAL of the primary the replica has not replayed; absent while that is not known.',
    labels: [],
  },
  disk: {
    kind: 'gauge',
    name: 'payhook_disk_free_bytes',
    help: 'Room on the disk of the data folder; absent when the database is elsewhere.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Instrument>>;

interface Instrument {
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in seconds, of a histogram. */
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

/** What a process notes its measurements on. */
export interface Instruments {
  count<Name extends CounterName>(name: Name, by: number, labels?: LabelsOf<Name>): void;
  observe<Name extends HistogramName>(name: Name, seconds: number, labels?: LabelsOf<Name>): void;
}

const measured = new WeakMap<object, Instruments>();

/** From now on, what this process does with the database is noted on `instruments`. Returns what ends it. */
export function measure(db: { readonly scopeKey: object }, instruments: Instruments): () => void {
  measured.set(db.scopeKey, instruments);
  return () => void measured.delete(db.scopeKey);
}

/** The instruments of a database or transaction; undefined while nothing is measured. */
export function instrumentsOf({ scopeKey }: { readonly scopeKey: object }): Instruments | undefined {
  return measured.get(scopeKey);
}
