import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { networkTest, subscriberOf } from '../kernel/addresses.ts';
import { instrumentsOf } from '../metrics/instruments.ts';

/** The connection limits of a server. */
export interface AdmissionLimits {
  /** In total; Infinity = unlimited. */
  readonly connections: number;
  /** From one address, or from one network of 64 bits in IPv6; undefined = half of all. */
  readonly perAddress: number | undefined;
  /** Networks of proxies, in CIDR notation. They carry many clients' connections and have no limit of their own. */
  readonly trustedProxies: readonly string[];
}

/** A limit that was reached. */
export interface Reached {
  /** `full`: the total; `address`: that of one address. */
  readonly reason: 'full' | 'address';
  /** The address of the closed connection. */
  readonly address: string;
}

const WARN_AGAIN_MS = 60_000;

const WARNINGS: Readonly<Record<Reached['reason'], string>> = {
  full: 'all connections are in use (MAX_CONNECTIONS): connections are closed to make room',
  address:
    'an address has reached its maximum of connections (MAX_CONNECTIONS_PER_ADDRESS): more of its connections are closed. ' +
    'If it is a proxy, add it to TRUSTED_PROXIES',
};

/** Counts connections closed because of a limit, and warns about each limit at most once a minute. */
export function reportReached({
  db,
  log,
}: {
  readonly db: Database;
  readonly log: Logger;
}): (reached: Reached) => void {
  const warnedAt = new Map<Reached['reason'], number>();
  return ({ reason, address }) => {
    instrumentsOf(db)?.count('connectionsClosed', 1, { reason });
    const now = performance.now();
    if (now - (warnedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < WARN_AGAIN_MS) return;
    warnedAt.set(reason, now);
    log.warn({ address }, WARNINGS[reason]);
  };
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** The key it is counted under; null = no limit of its own. */
  readonly subscriber: string | null;
  /** Requests whose response was not sent yet. */
  requests: number;
}

/**
 * Decides which connections a server keeps. Beyond a limit, a new connection replaces the one that has waited longest for
 * its client: one without a request in progress, whether it sent nothing, half a head, or is kept for another request. If
 * there is none, the new one is closed. Beyond the limit of an address, only connections of that address are replaced.
 */
export function limitAdmission(
  server: Server,
  { connections: most, perAddress, trustedProxies }: AdmissionLimits,
  onReached: (reached: Reached) => void,
): void {
  if (!Number.isFinite(most)) return;
  const share = perAddress ?? Math.ceil(most / 2);
  const isProxy = networkTest(trustedProxies);
  const connections = new Map<Socket, Connection>();
  const counts = new Map<string, number>();
  // those without a request in progress, longest waiting first
  const waiting = new Set<Connection>();

  const countOf = (subscriber: string) => counts.get(subscriber) ?? 0;

  function forget(connection: Connection): void {
    const { socket, subscriber } = connection;
    if (!connections.delete(socket)) return;
    waiting.delete(connection);
    if (subscriber === null) return;
    const left = countOf(subscriber) - 1;
    if (left > 0) counts.set(subscriber, left);
    else counts.delete(subscriber);
  }

  function close(connection: Connection, reason: Reached['reason']): void {
    // its events arrive later, but its slot is free now
    forget(connection);
    connection.socket.destroy();
    onReached({ reason, address: connection.address });
  }

  /** Closes the longest waiting connection, of one subscriber or of all; false = none is waiting. */
  function makeRoom(reason: Reached['reason'], subscriber?: string): boolean {
    for (const connection of waiting) {
      if (subscriber !== undefined && connection.subscriber !== subscriber) continue;
      close(connection, reason);
      return true;
    }
    return false;
  }

  server.on('connection', (socket: Socket) => {
    // a unix socket has no address
    const address = socket.remoteAddress ?? '';
    const subscriber = address === '' || isProxy(address) ? null : subscriberOf(address);
    const connection: Connection = { socket, address, subscriber, requests: 0 };
    connections.set(socket, connection);
    if (subscriber !== null) counts.set(subscriber, countOf(subscriber) + 1);
    socket.once('close', () => forget(connection));
    const isOverShare = subscriber !== null && countOf(subscriber) > share;
    const hasRoom =
      (!isOverShare || makeRoom('address', subscriber)) && (connections.size <= most || makeRoom('full'));
    if (hasRoom) waiting.add(connection);
    else close(connection, isOverShare ? 'address' : 'full');
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    waiting.delete(connection);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests === 0 && connections.has(socket)) waiting.add(connection);
    });
  });
}
