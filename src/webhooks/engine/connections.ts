import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { Client, type Dial } from './client.ts';
import { type Dialing, guardedConnector } from './dial.ts';
import {
  type AttemptError,
  type Failure,
  failureOf,
  HEADERS_CAP,
  isAlert,
  MEANINGS,
  UNSENT,
} from './outcome.ts';
import { type Received, takeBody, takeHead } from './received.ts';

// More than any readable response takes, however it is split into chunks and records. Without a limit, an
// endless reason phrase or chunk extension would keep the parser busy until the deadline.
const READ_CAP = 1024 * 1024;
// Across all origins: a sender that visits thousands a second must not run out of file descriptors.
const IDLE_CAP = 1000;
const IDLE_MS = 4000;

const GIVEN_UP = new Error('given up');
const ignore = () => {};

/** A request in flight, and its result so far. */
export interface Exchange {
  readonly origin: Origin;
  readonly request: Dispatcher.DispatchOptions;
  readonly received: Received;
  /** Called once, when nothing more will come; null = the response is complete. */
  readonly settle: (failure: Failure | null) => void;
  /** Asked before its first byte is written; undefined = it may be sent at any time. */
  readonly isGood: (() => boolean) | undefined;
  /** null = it is waiting for one. */
  connection: Connection | null;
  /** It was sent again because the first connection turned out to be closed. */
  isRepeated: boolean;
  /** A byte of a response has arrived. */
  isAnswered: boolean;
}

/** Where requests go: scheme, host and port, with the connections to it. */
export interface Origin {
  readonly pool: Connections;
  readonly name: string;
  readonly idle: Connection[];
  readonly waiting: Set<Exchange>;
  open: number;
}

interface Connection {
  readonly origin: Origin;
  readonly client: Client;
  socket: Socket | null;
  /** Why the other side closed it, as TLS says. With TLS 1.3 it comes when the handshake seemed complete. */
  alert: Error | null;
  exchange: Exchange | null;
  /** No request was answered on it yet. */
  isFresh: boolean;
  /** Bytes the socket had received when the exchange began. */
  readBefore: number;
  isOver: boolean;
  readonly handler: Dispatcher.DispatchHandler;
}

/**
 * The connections of one sender. One undici Client is one connection, and they are kept here instead of by
 * undici's Agent: a waiting exchange can be withdrawn, one that is aborted while connecting takes its socket
 * along, it is known whether a connection was used before, and an origin costs 2 KiB and 10 µs instead of 22
 * KiB and 73 µs.
 */
export interface Connections {
  readonly dial: Dial;
  readonly perOrigin: number;
  readonly origins: Map<string, Origin>;
  readonly idle: Set<Connection>;
  readonly sockets: Set<Socket>;
}

/** Starts without any connection. More than `perOrigin` exchanges with one origin wait for one of its connections. */
export function createConnections(dialing: Dialing, perOrigin: number): Connections {
  return {
    dial: guardedConnector(dialing),
    perOrigin,
    origins: new Map(),
    idle: new Set(),
    sockets: new Set(),
  };
}

/** Connections that are made in another way and shared with no others; they count towards the same limits. */
export function branchOf(main: Connections, dialing: Dialing): Connections {
  return { ...main, dial: guardedConnector(dialing), origins: new Map() };
}

/** The origin with that name. It is forgotten with its last connection. */
export function originOf(pool: Connections, name: string): Origin {
  const known = pool.origins.get(name);
  if (known) return known;
  const origin = { pool, name, idle: [], waiting: new Set<Exchange>(), open: 0 };
  pool.origins.set(name, origin);
  return origin;
}

/** Sends the request of an exchange on an idle connection, a new one, or the next that becomes free. */
export function begin(exchange: Exchange): void {
  const { origin } = exchange;
  const connection = origin.idle.pop();
  if (connection) transmit(connection, exchange);
  else if (origin.open < origin.pool.perOrigin) transmit(open(origin), exchange);
  else origin.waiting.add(exchange);
}

/** Aborts an exchange; its connection cannot be used again. */
export function giveUp(exchange: Exchange, code: AttemptError, message = MEANINGS[code]): void {
  end(exchange, { code, message });
}

/** Closes all connections abruptly; resolves when they are gone. */
export async function closeAll({ idle, sockets }: Connections): Promise<void> {
  for (const connection of idle) drop(connection);
  await Promise.all([...sockets].map((socket) => new Promise((gone) => socket.once('close', gone))));
}

function end(exchange: Exchange, failure: Failure | null): void {
  const { connection } = exchange;
  exchange.origin.waiting.delete(exchange);
  exchange.settle(failure);
  if (!connection) return;
  connection.exchange = null;
  drop(connection);
}

function transmit(connection: Connection, exchange: Exchange): void {
  connection.origin.pool.idle.delete(connection);
  connection.exchange = exchange;
  connection.readBefore = connection.socket?.bytesRead ?? 0;
  exchange.connection = connection;
  connection.client.dispatch(exchange.request, connection.handler);
}

function open(origin: Origin): Connection {
  origin.open += 1;
  const { dial, sockets } = origin.pool;
  const client = new Client(origin.name, {
    pipelining: 1,
    // One deadline covers the whole exchange, and undici does not know about the time before the request.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADERS_CAP,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    connect(target, done) {
      connection.isFresh = true;
      connection.readBefore = 0;
      const connected: typeof done = (...result) => {
        const [, socket] = result;
        socket?.on('readable', () => limit(connection));
        done(...result);
      };
      dial(target, connected, (socket) => {
        connection.socket = socket;
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        // undici goes on with the end of the connection, which comes right after
        socket.on('error', (error) => {
          if (isAlert(error)) connection.alert ??= error;
        });
        // it was given up while the address was looked for
        if (connection.isOver) socket.destroy();
      });
    },
  });
  const connection: Connection = {
    origin,
    client,
    handler: handlerOf(() => connection),
    socket: null,
    alert: null,
    exchange: null,
    isFresh: true,
    readBefore: 0,
    isOver: false,
  };
  client.on('disconnect', () => {
    if (connection.exchange === null) drop(connection);
  });
  return connection;
}

function limit({ exchange, socket, readBefore }: Connection): void {
  if (exchange && socket && socket.bytesRead - readBefore > READ_CAP) {
    end(exchange, { code: 'response_error', message: 'the response is longer than 1 MiB' });
  }
}

/**
 * One handler per connection: a body of a few bytes needs no stream, and `dispatch` costs a tenth less than
 * `request`.
 */
function handlerOf(connectionOf: () => Connection): Dispatcher.DispatchHandler {
  return {
    // the last step before the bytes: the connection is made
    onRequestStart() {
      const connection = connectionOf();
      const { exchange } = connection;
      if (!exchange?.isGood || exchange.isGood()) return;
      connection.exchange = null;
      exchange.settle(UNSENT);
      queueMicrotask(() => drop(connection)); // undici is about to use it
      throw GIVEN_UP;
    },
    onResponseStarted() {
      const { exchange } = connectionOf();
      if (exchange) exchange.isAnswered = true;
    },
    onResponseStart(_controller, status, headers) {
      const { exchange } = connectionOf();
      if (exchange && !takeHead(exchange.received, status, headers)) giveUp(exchange, 'response_error');
    },
    onResponseData(_controller, chunk) {
      const { exchange } = connectionOf();
      if (exchange) takeBody(exchange.received, chunk);
    },
    onResponseEnd() {
      const connection = connectionOf();
      const { exchange } = connection;
      if (!exchange) return;
      connection.exchange = null;
      connection.isFresh = false;
      exchange.settle(null);
      release(connection);
    },
    onResponseError(_controller, error) {
      const connection = connectionOf();
      if (connection.exchange) fail(connection, connection.exchange, error);
    },
  };
}

function fail(connection: Connection, exchange: Exchange, error: Error): void {
  const { status, size } = exchange.received;
  const failure = failureOf(error, status !== null);
  // a 304 may carry the length of the unchanged body (RFC 9110 section 8.6), and undici would wait for it
  const isWhole = status === 304 && size === 0 && failure.code === 'connection_reset';
  // The receiver closed a kept connection just as the request went out. Sending it again may send it twice,
  // but not doing so might not send it at all.
  const isStale = failure.code === 'connection_reset' && !connection.isFresh && !exchange.isAnswered;
  if (isWhole || !isStale || exchange.isRepeated) {
    const { alert } = connection;
    const isExplained = alert !== null && status === null && failure.code === 'connection_reset';
    end(exchange, isWhole ? null : isExplained ? failureOf(alert, false) : failure);
    return;
  }
  exchange.isRepeated = true;
  connection.exchange = null;
  drop(connection);
  transmit(open(exchange.origin), exchange);
}

function release(connection: Connection): void {
  const { origin } = connection;
  const { idle } = origin.pool;
  const next = firstOf(origin.waiting);
  if (next) {
    origin.waiting.delete(next);
    transmit(connection, next);
    return;
  }
  origin.idle.push(connection);
  idle.add(connection);
  if (idle.size > IDLE_CAP) drop(firstOf(idle)!);
}

function drop(connection: Connection): void {
  if (connection.isOver) return;
  connection.isOver = true;
  const { origin } = connection;
  origin.open -= 1;
  if (origin.pool.idle.delete(connection)) {
    const place = origin.idle.indexOf(connection);
    if (place >= 0) origin.idle.splice(place, 1);
  }
  connection.client.destroy(GIVEN_UP, ignore);
  // undici does not know the socket before it is connected.
  connection.socket?.destroy();
  // Deferred, so that a series of failures does not nest.
  queueMicrotask(() => serveWaiting(origin));
}

function serveWaiting(origin: Origin): void {
  const { origins, perOrigin } = origin.pool;
  const next = firstOf(origin.waiting);
  if (next && origin.open < perOrigin) {
    origin.waiting.delete(next);
    transmit(open(origin), next);
  } else if (origin.open === 0 && origins.get(origin.name) === origin) {
    origins.delete(origin.name);
  }
}

function firstOf<Item>(set: Set<Item>): Item | undefined {
  return set.values().next().value;
}
