import type { Readable, Writable } from 'node:stream';
import pg from 'pg';
import copyFrom from 'pg-copy-streams';
import type { Sql } from 'sql-template-tag';
import { CONNECT_MS, KEEP_ALIVE_S, listen, type SignOfLife } from './listen.ts';
import { types } from './values.ts';
import { startWatch, type Watch } from './watch.ts';

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
  /** As `Database.home`. */
  readonly home: object;
  /** As in the shape of the transaction. */
  readonly trace: string | null;
  /** A stream into `COPY … FROM STDIN`; wait for its end before the next statement. */
  copyIn(statement: string): Writable;
  /** Tells the listeners of `onAnnounced` that there is work, once and only if this transaction commits. */
  announce(): void;
  /** Calls `listener` when the transaction is over; false = nothing of it is certain to be stored. */
  onEnd(listener: (isCommitted: boolean) => void): void;
}

/** Statements on one snapshot (REPEATABLE READ, read only). */
export interface Snapshot extends Reader {
  /**
   * The bytes of `COPY (…) TO STDOUT`: the last statement of the snapshot, which then lasts as long as the stream.
   * Destroying the stream early destroys its connection too.
   */
  copyOut(statement: string): Readable;
}

/**
 * The shape of a transaction. A `single` one consists of one statement, which takes one round trip instead of
 * three. `work` must not run a second one, and an error it throws afterwards does not undo the first.
 */
export interface Shape {
  readonly single?: boolean;
  /** The `traceparent` of the trace that it belongs to. */
  readonly trace?: string | null;
}

export interface Database {
  readonly reader: Reader;
  /** The same object for all transactions of this database in this process, as a key for what belongs to it. */
  readonly home: object;
  /** Runs `work` in one transaction: commits when it resolves, rolls back when it throws. */
  transaction<Result>(work: (tx: Tx) => Promise<Result>, shape?: Shape): Promise<Result>;
  /** Runs statements that must agree with each other: all see one snapshot, and none can write. */
  snapshot<Result>(work: (db: Snapshot) => Promise<Result>): Promise<Result>;
  /**
   * As `transaction`, on the few connections of the delivery engine. It does not wait for requests, and its plans
   * use indexes even if the queue's statistics say that the table is empty.
   */
  engine<Result>(work: (tx: Tx) => Promise<Result>, shape?: Shape): Promise<Result>;
  /**
   * Runs a statement outside any transaction, which some require (DETACH … CONCURRENTLY). It waits a few seconds at
   * most for locks.
   */
  alone(statement: Sql): Promise<void>;
  /** Calls `listener` after each commit of a transaction that announced; returns what ends it. */
  onAnnounced(listener: () => void): () => void;
  /**
   * Calls `listener` at each NOTIFY of a channel, from any process, and whenever a lost connection is back; returns
   * what ends it. Notifications are hints: some may be missed.
   */
  listen(channel: string, listener: () => void, sign?: SignOfLife): () => Promise<void>;
  /** How the pools are used at the moment, each by what it is for. */
  pools(): readonly PoolUse[];
  /** Replaces every connection before it is used again. */
  renew(): void;
  /** Waits for the connections in use, then closes all. */
  close(): Promise<void>;
}

/** How a pool of connections is used. */
export interface PoolUse {
  readonly name: 'reading' | 'writing' | 'downloads' | 'delivery';
  /** The most connections it may have. */
  readonly size: number;
  readonly open: number;
  /** Of those that are open. */
  readonly idle: number;
  /** How many wait for a connection. */
  readonly waiting: number;
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

interface ConnectOptions {
  readonly target: ConnectionTarget;
  /** Connections for reading, as many for writing and as many for downloads. */
  readonly poolSize: number;
  /** What the connections are called in pg_stat_activity. */
  readonly name: string;
  readonly onIdleError: (error: Error) => void;
}

const ENGINE_CONNECTIONS = 4;
const ENGINE_PLANS = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'plan_cache_mode=force_generic_plan',
]
  .map((setting) => ` -c ${setting}`)
  .join('');

const KEEP_ALIVES = `-c tcp_keepalives_idle=${KEEP_ALIVE_S} -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4`;
/** No statement of a GET or of the engine may take longer. Writes and downloads take as long as they are large. */
const LONGEST_STATEMENT = ' -c statement_timeout=5min';

/** Opens the pools (lazily: the first query connects). The caller closes the returned database. */
export function connect(options: ConnectOptions): Database {
  let renewals = 0;
  const watch = startWatch(options.target, (count) => {
    renewals += 1; // idle connections have probably gone silent too
    options.onIdleError(new Error(`${count} connections went silent and are replaced`));
  });
  const open = (readOnly: boolean, max = options.poolSize, settings = ''): Pool => {
    const pool = new pg.Pool({
      ...options.target,
      types,
      max,
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_S * 1000,
      application_name: options.name,
      options: `-c TimeZone=UTC -c client_encoding=UTF8 -c default_transaction_read_only=${readOnly ? 'on' : 'off'} ${KEEP_ALIVES}${settings}`,
    });
    const born = new WeakMap<pg.PoolClient, number>();
    pool.on('error', options.onIdleError);
    pool.on('connect', (client) => {
      born.set(client, renewals);
      // A connection lost while it is in use fails its query; without a listener the event would end the process.
      client.on('error', () => undefined);
    });
    return {
      watch,
      async take() {
        for (;;) {
          const client = await pool.connect();
          if (born.get(client) === renewals) return client;
          client.release(true);
        }
      },
      end: () => pool.end(),
      use: (name) => ({
        name,
        size: max,
        open: pool.totalCount,
        idle: pool.idleCount,
        waiting: pool.waitingCount,
      }),
    };
  };
  const readers = open(true, undefined, LONGEST_STATEMENT);
  const writers = open(false);
  // A pool apart from the readers, which authenticate every request: a download lasts as long as its client reads.
  const snapshots = open(true);
  const engine = open(false, ENGINE_CONNECTIONS, LONGEST_STATEMENT + ENGINE_PLANS);
  const loner = open(false, 1, ' -c lock_timeout=10s');
  const listeners = new Set<() => void>();
  const home = {};
  const aboutOf = (shape?: Shape): About => ({ home, trace: shape?.trace ?? null, announced });
  const announced = () => {
    for (const listener of listeners) listener();
  };

  return {
    reader: {
      rows: (query, name) => using(readers, (client) => rowsOn(client, watch)(query, name)),
    },
    home,
    transaction: (work, shape) => begin(shape)(writers, work, aboutOf(shape)),
    snapshot: (work) => snapshot(snapshots, work),
    engine: (work, shape) => begin(shape)(engine, work, aboutOf(shape)),
    alone: ({ text, values }) =>
      using(loner, async (client) => void (await watch.during(client, client.query(text, values)))),
    onAnnounced(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    listen: (channel, listener, sign) => listen(options, watch, { channel, listener, sign }),
    pools: () => [
      readers.use('reading'),
      writers.use('writing'),
      snapshots.use('downloads'),
      engine.use('delivery'),
    ],
    renew() {
      renewals += 1;
    },
    async close() {
      await Promise.all([readers, writers, snapshots, engine, loner].map((pool) => pool.end()));
      watch.close();
    },
  };
}

/** Connections for one purpose. */
interface Pool {
  readonly watch: Watch;
  /** A connection made since the last renewal; waits 10 s at most for one. */
  take(): Promise<pg.PoolClient>;
  end(): Promise<void>;
  use(name: PoolUse['name']): PoolUse;
}

/**
 * Does something with a connection. After an error that PostgreSQL did not report, the connection is not used
 * again.
 */
async function using<Result>(pool: Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.take();
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    broken = !(error instanceof pg.DatabaseError);
    throw error;
  } finally {
    client.release(broken);
  }
}

const begin = (shape: Shape | undefined) => (shape?.single ? single : transaction);

/** What a transaction knows of its database and its request. */
type About = Pick<Tx, 'home' | 'trace'> & { announced(): void };

async function transaction<Result>(
  pool: Pool,
  work: (tx: Tx) => Promise<Result>,
  { announced, ...about }: About,
): Promise<Result> {
  const { watch } = pool;
  const client = await pool.take();
  const run = (statement: string) => watch.during(client, client.query(statement));
  const { end, ...telling } = createTelling(announced);
  let copied = () => {};
  const tx: Tx = {
    writes: true,
    ...about,
    ...telling,
    rows: rowsOn(client, watch),
    copyIn(statement) {
      const stream = client.query(copyFrom.from(statement));
      copied = watch.begin(client);
      stream.once('close', copied);
      return stream;
    },
  };
  let broken = false;
  try {
    await run('begin');
    const result = await work(tx);
    // COMMIT of an aborted transaction answers ROLLBACK without an error, which must not be taken for success.
    const { command } = await run('commit');
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
    end(true);
    return result;
  } catch (error) {
    await run('rollback').catch(() => {
      broken = true;
    });
    end(false);
    throw error;
  } finally {
    copied(); // a stream that PostgreSQL refused may never close
    client.release(broken);
  }
}

async function single<Result>(
  pool: Pool,
  work: (tx: Tx) => Promise<Result>,
  { announced, ...about }: About,
): Promise<Result> {
  const { end, ...telling } = createTelling(announced);
  let isAsked = false;
  let isStored = false;
  try {
    return await work({
      writes: true,
      ...about,
      ...telling,
      async rows<Row>(query: Sql, name?: string): Promise<Row[]> {
        if (isAsked) throw new Error('a transaction of one statement was given another');
        isAsked = true;
        const found = await using(pool, (client) => rowsOn(client, pool.watch)<Row>(query, name));
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

/** The end of a transaction, as its listeners are told. */
function createTelling(announced: () => void) {
  const listeners: ((isCommitted: boolean) => void)[] = [];
  let hasAnnounced = false;
  return {
    announce(): void {
      hasAnnounced = true;
    },
    onEnd(listener: (isCommitted: boolean) => void): void {
      listeners.push(listener);
    },
    end(isCommitted: boolean): void {
      for (const listener of listeners.splice(0)) listener(isCommitted);
      if (isCommitted && hasAnnounced) announced();
      hasAnnounced = false;
    },
  };
}

async function snapshot<Result>(pool: Pool, work: (db: Snapshot) => Promise<Result>): Promise<Result> {
  const { watch } = pool;
  const client = await pool.take();
  let streaming = false;
  let broken = false;
  const end = () =>
    watch.during(client, client.query('commit')).catch(() => {
      broken = true;
    });
  const db: Snapshot = {
    rows: rowsOn(client, watch),
    // not watched: PostgreSQL finishes long before a slow reader does
    copyOut(statement) {
      streaming = true;
      const stream = client.query(copyFrom.to(statement));
      let ended = false;
      stream.once('end', () => {
        ended = true;
      });
      // A reader that leaves early leaves the connection inside COPY, so it is thrown away.
      stream.once('close', () => (ended ? end().then(() => client.release(broken)) : client.release(true)));
      return stream;
    },
  };
  try {
    await watch.during(client, client.query('begin isolation level repeatable read'));
    return await work(db);
  } finally {
    if (!streaming) {
      await end();
      client.release(broken);
    }
  }
}

function rowsOn(client: pg.ClientBase, watch: Watch): Reader['rows'] {
  return async <Row>({ text, values }: Sql, name?: string) => {
    const query = name === undefined ? { text, values } : { name, text, values };
    return (await watch.during(client, client.query(query))).rows as Row[];
  };
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
