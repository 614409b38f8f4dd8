import copyFrom from 'pg-copy-streams';
import type { Sql } from 'sql-template-tag';
import { withLocksFirst, withPartitions } from './again.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import type { Database, Reads, Shape, Tx } from './database.ts';
import { hostsOf } from './hosts.ts';
import { channelOf, listen } from './listen.ts';
import { type CellPlace, LONGEST_OF_ALL, LONGEST_STATEMENT, openPool, type Pool } from './pool.ts';
import type { Settings } from './session.ts';
import { inTransaction, readerOn, rowsOn, snapshotOn, using } from './statements.ts';
import { createTransactionEvents } from './transaction-events.ts';
import { startWatch } from './watch.ts';

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
  /** Default: cell 0, in the schema of the login. */
  readonly cell?: CellPlace | undefined;
  /** Connections for reading, as many for writing and as many for downloads. */
  readonly poolSize: number;
  /** What the connections are called in pg_stat_activity. */
  readonly name: string;
  readonly onIdleError: (error: Error) => void;
  /** How long to wait for PostgreSQL to accept a connection, in milliseconds; default: 10 s. */
  readonly patienceMs?: number | undefined;
  /** The limit on all connections of the process; default: none. */
  readonly limit?: ConnectionLimit | undefined;
  /** Makes the partitions of now, when an event found none of its week. */
  readonly makePartitions?: (tx: Tx) => Promise<void>;
}

export const FIRST_CELL: CellPlace = { number: 0, schema: null };
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
  const { name, onIdleError, poolSize: max, makePartitions, cell = FIRST_CELL } = options;
  const hosts = hostsOf([options.target].flat());
  const direct = options.direct === undefined ? hosts : hostsOf([options.direct].flat());
  let renewals = 0;
  const watch = startWatch(hosts, (count) => {
    renewals += 1; // idle connections have probably gone silent too
    onIdleError(new Error(`${count} connections went silent and are replaced`));
  });
  const { limit, patienceMs } = options;
  const common = { cell, watch, name, limit, patienceMs, renewals: () => renewals, onIdleError };
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
    cell: cell.number,
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
    cell: cell.number,
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
      listen({ hosts: direct, onIdleError }, watch, {
        channel: channelOf(channel, cell.number),
        listener,
        sign,
      }),
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
type About = Pick<Tx, 'cell' | 'scopeKey' | 'trace' | 'by'> & {
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
