import pg from 'pg';
import { isUnavailable } from './faults.ts';
import type { Hosts } from './hosts.ts';
import { openSession, PoolerError, ReplicaError } from './session.ts';
import { closeConnection, type Watch } from './watch.ts';

/**
 * A shared advisory lock that a connection holds for as long as it lives, so that others see that its process
 * lives. PostgreSQL releases it when the process is gone.
 */
export interface SignOfLife {
  /** Two positive int4: what the sign is of, and whose it is. */
  readonly space: number;
  readonly number: number;
}

/** How connections that listen are made. */
interface ListenOptions {
  readonly hosts: Hosts;
  onIdleError(error: Error): void;
}

/** Milliseconds that making a connection may take. */
export const CONNECT_MS = 10_000;
/** After this many idle seconds a peer is probed, and given up when it does not answer; PostgreSQL does the same. */
export const KEEP_ALIVE_S = 20;
/** The channel that a cell uses for a purpose: cells may share a database, and channels belong to the database. */
export const channelOf = (purpose: string, cell: number) => (cell === 0 ? purpose : `${purpose}_${cell}`);

const LISTEN_AGAIN_MS = 1000;
/** A connection on which nothing arrives may be dead, so it is checked this often. */
const LISTEN_CHECK_MS = 15_000;

/** What `Database.listen` is. */
export function listen(
  { hosts, onIdleError }: ListenOptions,
  watch: Watch,
  {
    channel,
    listener,
    sign,
  }: {
    channel: string;
    listener: (payload: string | null) => void;
    sign: SignOfLife | undefined;
  },
): () => Promise<void> {
  let client: pg.Client | undefined;
  let again: NodeJS.Timeout | undefined;
  let closed = false;
  const lost = (error: Error) => {
    if (closed || again) return;
    onIdleError(error);
    if (client) void closeConnection(client);
    again = setTimeout(open, LISTEN_AGAIN_MS);
  };
  const open = () => {
    again = undefined;
    const address = hosts.current();
    const opened = new pg.Client({
      ...address,
      application_name: 'payhook listener',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_S * 1000,
    });
    client = opened;
    opened.on('notification', ({ payload }) => listener(payload ?? ''));
    opened.on('error', lost);
    opened.on('end', () => lost(new Error('the connection that listens was closed')));
    const ask = (text: string, values: readonly unknown[] = []) =>
      watch.during(opened, opened.query(text, [...values]));
    opened
      .connect()
      .then(() => openSession(opened, {}, watch))
      .then(({ isOwn, isReplica }) => {
        if (!isOwn) throw new PoolerError();
        if (isReplica) throw new ReplicaError();
      })
      .then(() => ask(`listen ${pg.escapeIdentifier(channel)}`))
      .then(() => sign && ask('select pg_advisory_lock_shared($1, $2)', [sign.space, sign.number]))
      .then(
        () => listener(null),
        (error: Error) => {
          if (isUnavailable(error)) hosts.moveOn(address);
          lost(error);
        },
      );
  };
  const checking = setInterval(() => {
    if (client && !again) watch.during(client, client.query('select 1')).catch(lost);
  }, LISTEN_CHECK_MS).unref();
  open();
  return async () => {
    closed = true;
    clearTimeout(again);
    clearInterval(checking);
    if (client) await closeConnection(client);
  };
}
