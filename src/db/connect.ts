import type { Readable, Writable } from 'node:stream';
import copyFrom from 'pg-copy-streams';
import type { Sql } from 'sql-template-tag';
import type { Author } from '../kernel/author.ts';
import type { TraceContext } from '../kernel/trace.ts';
import { withLocksFirst, withPartitions } from './again.ts';
import { hostsOf } from './hosts.ts';
import { listen, type SignOfLife } from './listen.ts';
import { LONGEST_OF_ALL, LONGEST_STATEMENT, openPool, type Pool, type PoolUse } from './pool.ts';
import type { Replica } from './replica.ts';
import type { Settings } from './session.ts';
import { inTransaction, readerOn, rowsOn, snapshotOn, using } from './statements.ts';
import { createTransactionEvents } from './transaction-events.ts';
import { startWatch } from './watch.ts';

/** Runs single statements. GET handlers get one: its connections refuse every write in PostgreSQL itself. */
export interface Reader {
  /**
   * Rows of a statement: bigint for int8 and whole numerics, RFC 3339 text for instants, text for JSON. A `name`
   * keeps it prepared on the connection, which pays for statements that run in every request and always read the
   * same; one name is one text.
   */
  rows<Row>(query: Sql, name?: string): Promise<Row[]>;
}

/** One open transaction (READ COMMITTED). Functions that write require it, so nothing is written outside one. */
export interface Tx extends Reader {
  readonly writes: true;
  /** As `Database.scopeKey`. */
  readonly scopeKey: object;
  /** As in the shape of the transaction. */
  readonly trace: TraceContext | null;
  /** Who asked for what the transaction does; null = nobody, or several at once. */
  readonly by: Author | null;
  /** A stream into `COPY … FROM STDIN`; wait for its end before the next statement. */
  copyIn(statement: string): Writable;
  /** Notifies the listeners of `onAnnounced` once, if this transaction commits. */
  announce(): void;
  /** Calls `listener` when the transaction is over; false = it may not be stored. */
  onEnd(listener: (isCommitted: boolean) => void): void;
}

/** Statements on one snapshot (REPEATABLE READ, read only). */
export interface Snapshot extends Reader {
  /**
   * The bytes of `COPY (…) TO STDOUT`: the last statement of the snapshot, which then lasts as long as the stream.
   * Destroying the stream early destroys its connection too.
   */
  copyOut(statement: string): Readable;
  /** As `copyOut`, but the snapshot goes on when `work` has read the stream to its end. Returns how many rows it had. */
  copyThrough(statement: string, work: (stream: Readable) => Promise<void>): Promise<number>;
}

/**
 * The shape of a transaction. A `single` one consists of one statement, which takes one round trip instead of
 * three. `work` must not run a second one, and an error it throws afterwards does not undo the first.
 */
export interface Shape {
  readonly single?: boolean;
  /** Its statements may last 24 hours instead of 5 minutes; not with `single`. */
  readonly takesLong?: boolean;
  /** The trace that it belongs to. */
  readonly trace?: TraceContext | null;
  /** Who asked for it. */
  readonly by?: Author;
}

/** What one request reads from. */
export interface Reads extends Pick<Database, 'reader' | 'snapshot'> {
  /** Who answered what was read last. */
  from(): 'primary' | 'replica';
}

export interface Database {
  readonly reader: Reader;
  /** The same object for all transactions of this database in this process: the key of what belongs to it (couriers, instruments). */
  readonly scopeKey: object;
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it throws. It runs again after a
   * NeedsLocksFirst, and when an event found no partition of its week, which is made then.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>, shape?: Shape): Promise<Result>;
  /** Runs statements that must agree with each other: all see one snapshot, and none can write. */
  snapshot<Result>(work: (db: Snapshot) => Promise<Result>): Promise<Result>;
  /**
   * For one request: reads that a replica may answer. They see everything that was committed before the first of them;
   * where the replica does not, or not in time, the primary answers.
   */
  reads(): Reads;
  /** null = all reads go to the primary. */
  readonly replica: Pick<Replica, 'state' | 'look'> | null;
  /**
   * The same database on a few connections of its own, for requests that have no identity (yet). They wait for each other,
   * and nobody else waits for them.
   */
  readonly anonymous: Database;
  /**
   * As `transaction`, on the few connections of the delivery engine. It does not wait for requests, and its plans
   * use indexes even if the queue's statistics say that the table is empty.
   */
  engine<Result>(work: (tx: Tx) => Promise<Result>, shape?: Shape): Promise<Result>;
  /**
   * Runs a statement outside any transaction, which some require (DETACH … CONCURRENTLY). It waits a few seconds at
   * most for locks. Throws PoolerError when a pooler is in the way.
   */
  outsideTransaction(statement: Sql): Promise<void>;
  /**
   * Calls `listener` after each commit of a transaction that announced, with the milliseconds since its beginning; returns
   * what ends it.
   */
  onAnnounced(listener: (ageMs: number) => void): () => void;
  /**
   * Calls `listener` with the payload of each NOTIFY of a channel, from any process, and with null whenever a connection is
   * made; returns what ends it. Notifications are hints: some may be missed.
   */
  listen(channel: string, listener: (payload: string | null) => void, sign?: SignOfLife): () => Promise<void>;
  /** How the pools are used at the moment, each by what it is for. */
  pools(): readonly PoolUse[];
  /** Replaces every connection before it is used again. */
  renew(): void;
  /** Waits for the connections in use, then closes all. */
  close(): Promise<void>;
}

export type ConnectionTarget =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password?: string | undefined;
      readonly database: string;
    };

export interface ConnectOptions {
  /** PostgreSQL, or a pooler in front of it. Of several addresses the one is used that takes writes. */
  readonly target: ConnectionTarget | readonly ConnectionTarget[];
  /** PostgreSQL itself, for what needs a session of its own; default: the target. */
  readonly direct?: ConnectionTarget | readonly ConnectionTarget[] | undefined;
  /** Connections for reading, as many for writing and as many for downloads. */
  readonly poolSize: number;
  /** What the connections are called in pg_stat_activity. */
  readonly name: string;
  readonly onIdleError: (error: Error) => void;
  /** Makes the partitions of now, when an event found none of its week. */
  readonly makePartitions?: (tx: Tx) => Promise<void>;
}

const ENGINE_CONNECTIONS = 4;
const ANONYMOUS_CONNECTIONS = 2;

/** How many connections a process opens at most, with pools of this size: one listens, and one runs what no transaction may. */
export const mostConnections = (poolSize: number): number =>
  3 * poolSize + 2 * ANONYMOUS_CONNECTIONS + ENGINE_CONNECTIONS + 2;

const ENGINE_PLANS: Settings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Opens the pools (lazily: the first query connects). The caller closes the returned database. */
export function connect(options: ConnectOptions): Database {
  const { name, onIdleError, poolSize: max, makePartitions } = options;
  const hosts = hostsOf([options.target].flat());
  const direct = options.direct === undefined ? hosts : hostsOf([options.direct].flat());
  let renewals = 0;
  const watch = startWatch(hosts, (count) => {
    renewals += 1; // idle connections have probably gone silent too
    onIdleError(new Error(`${count} connections went silent and are replaced`));
  });
  const common = { watch, name, renewals: () => renewals, onIdleError };
  const readers = openPool(hosts, { readOnly: true, max, settings: LONGEST_STATEMENT }, common);
  const writers = openPool(hosts, { max, settings: LONGEST_STATEMENT }, common);
  const ofAnonymous = { max: Math.min(ANONYMOUS_CONNECTIONS, max), settings: LONGEST_STATEMENT };
  const anonymousReaders = openPool(hosts, { readOnly: true, ...ofAnonymous }, common);
  const anonymousWriters = openPool(hosts, ofAnonymous, common);
  // A pool apart from the readers, which authenticate every request: a download lasts as long as its client reads.
  const snapshots = openPool(hosts, { readOnly: true, max, settings: LONGEST_OF_ALL }, common);
  const ofEngine = { max: ENGINE_CONNECTIONS, settings: { ...LONGEST_STATEMENT, ...ENGINE_PLANS } };
  const engine = openPool(hosts, ofEngine, common);
  const loner = openPool(
    direct,
    { max: 1, settings: { ...LONGEST_OF_ALL, lock_timeout: '10s' }, alone: true },
    common,
  );
  const listeners = new Set<(ageMs: number) => void>();
  const scopeKey = {};
  const aboutOf = (shape?: Shape): About => ({
    scopeKey,
    trace: shape?.trace ?? null,
    by: shape?.by ?? null,
    settings: shape?.takesLong ? LONGEST_OF_ALL : undefined,
    announced,
  });
  const announced = (ageMs: number) => {
    for (const listener of listeners) listener(ageMs);
  };
  /** How transactions of a shape run on a pool, each as a whole. */
  const runOn =
    (pool: Pool, shape?: Shape) =>
    <Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> => {
      const run = () => (shape?.single ? single : several)(pool, work, aboutOf(shape));
      return makePartitions === undefined
        ? run()
        : withPartitions(run, () => several(writers, makePartitions, aboutOf()));
    };
  const reader = readerOn(readers);
  const onPrimary = { reader, snapshot: (work) => snapshotOn(snapshots, work) } satisfies Partial<Reads>;

  const database: Omit<Database, 'anonymous'> = {
    ...onPrimary,
    scopeKey,
    transaction: (work, shape) => withLocksFirst(runOn(writers, shape), work),
    reads: () => ({ ...onPrimary, from: () => 'primary' }),
    replica: null,
    engine: (work, shape) => runOn(engine, shape)(work),
    outsideTransaction: ({ text, values }) =>
      using(loner, async (client) => void (await watch.during(client, client.query(text, values)))),
    onAnnounced(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    listen: (channel, listener, sign) =>
      listen({ hosts: direct, onIdleError }, watch, { channel, listener, sign }),
    pools: () => [
      readers.use('reading'),
      writers.use('writing'),
      anonymousReaders.use('anonymous_reading'),
      anonymousWriters.use('anonymous_writing'),
      snapshots.use('downloads'),
      engine.use('delivery'),
    ],
    renew() {
      renewals += 1;
    },
    async close() {
      const pools = [readers, writers, anonymousReaders, anonymousWriters, snapshots, engine, loner];
      await Promise.all(pools.map((pool) => pool.end()));
      watch.close();
    },
  };
  const anonymous: Database = {
    ...database,
    reader: readerOn(anonymousReaders),
    transaction: (work, shape) => runOn(anonymousWriters, shape)(work),
    get anonymous() {
      return anonymous;
    },
  };
  return { ...database, anonymous };
}

/** What a transaction knows of its database and its request. */
type About = Pick<Tx, 'scopeKey' | 'trace' | 'by'> & {
  readonly settings: Settings | undefined;
  announced(ageMs: number): void;
};

async function several<Result>(
  pool: Pool,
  work: (tx: Tx) => Promise<Result>,
  { announced, settings, ...about }: About,
): Promise<Result> {
  const client = await pool.take();
  const { end, ...events } = createTransactionEvents(announced);
  let copied = () => {};
  const tx: Tx = {
    writes: true,
    ...about,
    ...events,
    rows: rowsOn(pool, client),
    copyIn(statement) {
      const stream = client.query(copyFrom.from(statement));
      copied = pool.watch.begin(client);
      stream.once('close', copied);
      return stream;
    },
  };
  try {
    const result = await inTransaction(pool, client, () => work(tx), settings);
    end(true);
    return result;
  } catch (error) {
    end(false);
    throw error;
  } finally {
    copied(); // a stream that PostgreSQL refused may never close
  }
}

async function single<Result>(
  pool: Pool,
  work: (tx: Tx) => Promise<Result>,
  { announced, settings: _, ...about }: About,
): Promise<Result> {
  const { end, ...events } = createTransactionEvents(announced);
  let isAsked = false;
  let isStored = false;
  try {
    return await work({
      writes: true,
      ...about,
      ...events,
      async rows<Row>(query: Sql, name?: string): Promise<Row[]> {
        if (isAsked) throw new Error('a transaction of one statement was given another');
        isAsked = true;
        const found = await using(pool, (client) => rowsOn(pool, client)<Row>(query, name));
        isStored = true;
        return found;
      },
      copyIn() {
        throw new Error('a transaction of one statement cannot copy');
      },
    });
  } finally {
    end(isStored);
  }
}

/** Rows of a statement. */
export function rows<Row>(db: Reader, query: Sql, name?: string): Promise<Row[]> {
  return db.rows<Row>(query, name);
}

/** The first row of a statement, or null. */
export async function maybeRow<Row>(db: Reader, query: Sql, name?: string): Promise<Row | null> {
  return (await db.rows<Row>(query, name))[0] ?? null;
}

/** The one row of a statement that always returns one. */
export async function oneRow<Row>(db: Reader, query: Sql, name?: string): Promise<Row> {
  const row = await maybeRow<Row>(db, query, name);
  if (row === null) throw new Error('a statement that always gives a row gave none');
  return row;
}
