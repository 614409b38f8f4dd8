import pg from 'pg';
import type { ConnectionLimit, LimitedPool } from './connection-limit.ts';
import { isUnavailable } from './faults.ts';
import type { Hosts } from './hosts.ts';
import { CONNECT_MS, KEEP_ALIVE_S } from './listen.ts';
import { openSession, PoolerError, ReplicaError, type Session, type Settings } from './session.ts';
import { types } from './values.ts';
import { closeConnection, cutOff, type Watch } from './watch.ts';

/** What the connections of a pool are for. */
export interface Purpose {
  readonly readOnly?: boolean;
  /** How many there are at most. */
  readonly max: number;
  /** Settings of PostgreSQL besides those of every connection. */
  readonly settings?: Settings;
  /** Every connection must have a session of its own; a pooler in the way is a PoolerError. */
  readonly alone?: boolean;
  /** How long to wait for a connection; default: as all pools of the database. */
  readonly patienceMs?: number;
  /** Throws when a new connection is not one for the purpose; default: it must take writes, if another address could. */
  accept?(session: Session): void;
}

/** A cell, and the schema that holds it; null = that of the login. */
export interface CellPlace {
  readonly number: number;
  readonly schema: string | null;
}

/** What all pools of a database have in common. */
export interface Pooling {
  readonly cell: CellPlace;
  readonly watch: Watch;
  /** What the connections are called in pg_stat_activity. */
  readonly name: string;
  /** How long to wait for PostgreSQL to accept a connection; default: 10 s. */
  readonly patienceMs?: number | undefined;
  /** Counts up whenever all connections must be replaced. */
  readonly renewals: () => number;
  onIdleError(error: Error): void;
  /** The limit on all connections of the process; default: none. */
  readonly limit?: ConnectionLimit | undefined;
}

/** How a transaction begins: its isolation level, and its settings. */
export interface Beginning {
  readonly level?: string;
  readonly settings?: Settings | undefined;
}

/** Connections for one purpose. */
export interface Pool {
  /** The number of the cell. */
  readonly cell: number;
  readonly watch: Watch;
  /** A connection made since the last renewal; waits for one as long as the purpose allows. */
  take(): Promise<pg.PoolClient>;
  /** Whether the settings of the purpose are those of the connection's session, which no pooler shares with others. */
  hasSession(client: pg.PoolClient): boolean;
  /** What begins a transaction on the connection, with the settings of the purpose, and with its own. */
  beginning(client: pg.PoolClient, own?: Beginning): string;
  end(): Promise<void>;
  /** Ends it at once: what waits on a connection fails. */
  cut(): void;
  use(name: PoolUse['name']): PoolUse;
}

/** How a pool of connections is used. */
export interface PoolUse {
  readonly name:
    | 'reading'
    | 'writing'
    | 'anonymous_reading'
    | 'anonymous_writing'
    | 'downloads'
    | 'delivery'
    | 'replica'
    | 'replica_downloads';
  /** The most connections it may have. */
  readonly size: number;
  readonly open: number;
  /** Of those that are open. */
  readonly idle: number;
  /** How many wait for a connection. */
  readonly waiting: number;
  /** How many had to wait for one so far, because all were in use. */
  readonly waits: number;
}

/**
 * No statement lasts longer than five minutes. PostgreSQL ends the session of a process that sends nothing in a transaction
 * for a minute: one that is stopped, as in a paused virtual machine, must not keep its locks. A transaction may ask for more
 * (`Shape.takesLong`).
 */
export const LONGEST_STATEMENT: Settings = {
  statement_timeout: '5min',
  idle_in_transaction_session_timeout: '1min',
};
/** For what takes as long as it is large or its client is slow: downloads, migrations, files, payouts. */
export const LONGEST_OF_ALL: Settings = {
  statement_timeout: '24h',
  idle_in_transaction_session_timeout: '0',
};
/**
 * Compiling a plan pays for statements that run for seconds. By its default setting PostgreSQL compiles those of payment files,
 * whose costs it estimates far too high, and takes a hundred times as long.
 */
const NEVER_COMPILED: Settings = { jit: 'off' };
const KEEP_ALIVES: Settings = {
  tcp_keepalives_idle: String(KEEP_ALIVE_S),
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '4',
};

const local = (settings: Settings) =>
  Object.entries(settings).map(([name, value]) => `; set local ${name} to '${value}'`);

/** A pool that connects lazily: the first `take` does. The caller ends it. */
export function openPool(hosts: Hosts, purpose: Purpose, common: Pooling): Pool {
  const { readOnly = false, max, alone = false, patienceMs = CONNECT_MS } = purpose;
  const settings: Settings = {
    TimeZone: 'UTC',
    ...NEVER_COMPILED,
    ...(common.cell.schema === null ? {} : { search_path: pg.escapeIdentifier(common.cell.schema) }),
    ...purpose.settings,
  };
  const ofSession: Settings = {
    ...settings,
    ...KEEP_ALIVES,
    default_transaction_read_only: readOnly ? 'on' : 'off',
  };
  const sessions = new WeakSet<pg.ClientBase>();
  const born = new WeakMap<pg.ClientBase, number>();
  const clients = new Set<pg.ClientBase>();
  const pool = new pg.Pool({
    // what pg takes for a class; each new connection goes to the address of the moment
    Client: function Client(config: pg.ClientConfig) {
      return new pg.Client({ ...config, ...hosts.current() });
    } as never,
    types,
    max,
    connectionTimeoutMillis: purpose.patienceMs ?? common.patienceMs ?? CONNECT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_S * 1000,
    application_name: common.name,
    async onConnect(client) {
      born.set(client, common.renewals());
      // A connection lost while it is in use fails its query; without a listener the event would end the process.
      client.on('error', () => undefined);
      clients.add(client);
      common.limit?.count(1);
      client.once('end', () => {
        clients.delete(client);
        common.limit?.count(-1);
      });
      const session = await openSession(client, ofSession, common.watch);
      if (purpose.accept) purpose.accept(session);
      else if (session.isReplica && hosts.count > 1) throw new ReplicaError();
      if (session.isOwn) sessions.add(client);
      else if (alone) throw new PoolerError();
    },
  });
  let waits = 0;
  let ended: Promise<void> | undefined;
  const end = () => {
    if (ended === undefined) leaveLimit();
    ended ??= pool.end();
    return ended;
  };
  pool.on('error', (error) => {
    // an ended pool closes its idle connections, and PostgreSQL may stop before it has read that
    if (ended === undefined) common.onIdleError(error);
  });
  const { limited, leave: leaveLimit } = joinLimit(pool, common.limit);
  return {
    cell: common.cell.number,
    watch: common.watch,
    async take() {
      if (pool.idleCount === 0 && pool.totalCount >= max) waits += 1;
      const end = performance.now() + patienceMs;
      for (;;) {
        // those that wait get the idle ones
        const mayOpen = () => pool.idleCount <= pool.waitingCount && pool.totalCount < max;
        const admission = mayOpen() ? common.limit?.admit(limited, end - performance.now()) : undefined;
        // without waiting the pool counts the connection before the next caller looks
        const opened = admission instanceof Promise ? await admission : admission;
        // another caller took the idle one
        if (admission !== undefined && opened === undefined && mayOpen()) continue;
        const client = await connectTo(hosts, () => pool.connect()).finally(opened);
        if (born.get(client) === common.renewals()) return client;
        client.release(true);
      }
    },
    hasSession: (client) => sessions.has(client),
    beginning(client, { level, settings: own = {} } = {}) {
      const isolation = level === undefined ? '' : ` isolation level ${level}`;
      if (sessions.has(client)) return [`begin${isolation}`, ...local(own)].join('');
      const access = readOnly ? 'read only' : 'read write';
      return [`begin${isolation} ${access}`, ...local({ ...settings, ...own })].join('');
    },
    end,
    cut() {
      void end();
      for (const client of clients) cutOff(client);
    },
    use: (name) => ({
      name,
      size: max,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      waits,
    }),
  };
}

/** Lets the limit close the idle connections of a pool, until `leave` is called. */
function joinLimit(
  pool: pg.Pool,
  limit: ConnectionLimit | undefined,
): { readonly limited: LimitedPool; leave(): void } {
  const limited = {
    // those that wait get the others: to close one of them would be to wait for the work of its caller
    idle: () => Math.max(0, pool.idleCount - pool.waitingCount),
    closeIdle: () =>
      pool.connect().then(
        async (client) => {
          await closeConnection(client);
          client.release(true);
        },
        () => undefined,
      ),
  };
  const remove = limit?.add(limited);
  // pg reports a release before the connection is idle
  if (limit) pool.on('release', () => queueMicrotask(() => limit.onIdle(limited)));
  return { limited, leave: () => remove?.() };
}

/** Connects; if the address of the moment does not answer or takes no writes, tries each of the others once. */
async function connectTo(hosts: Hosts, connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
  for (let left = hosts.count - 1; ; left--) {
    const address = hosts.current();
    try {
      return await connect();
    } catch (error) {
      if (hosts.count > 1 && isUnavailable(error)) hosts.moveOn(address);
      if (left === 0 || !isUnavailable(error)) throw error;
    }
  }
}
