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

// The maximum read for one response, more than any reasonable one takes, however it is split into chunks and records.
// Without a limit, an endless reason phrase or chunk extension would keep the parser busy until the deadline.
const READ_CAP = 1024 * 1024;
// Across all origins: a sender that visits thousands per second must not run out of file descriptors.
const IDLE_CAP = 1000;
const IDLE_MS = 4000;

const GIVEN_UP = new Error('given up');
const ignore = () => {};

/** A request in flight, and its result so far. */
export interface Exchange {
  readonly origin: Origin;
  readonly request: Dispatcher.DispatchOptions;
  readonly received: Received;
  /** Called once, when the exchange is over; null = the response is complete. */
  readonly settle: (failure: Failure | null) => void;
  /** Called before the first byte is written; undefined = no restriction. */
  readonly isGood: (() => boolean) | undefined;
  /** null = waiting for one. */
  connection: Connection | null;
  /** Sent again because the first connection turned out to be closed. */
  isRepeated: boolean;
  /** A byte of a response has arrived. */
  isAnswered: boolean;
}

/** A destination of requests: scheme, host and port, with its connections. */
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
  /**
   * The TLS alert with which the other side closed the connection. With TLS 1.3 it arrives when the handshake seems
   * complete.
   */
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
 * The connections of one sender. One undici Client is one connection, and they are pooled here instead of by undici's
 * Agent: a waiting exchange can be withdrawn, aborting one while connecting also closes its socket, it is known whether a
 * connection was used before, and an origin costs 2 KiB and 10 µs instead of 22 KiB and 73 µs.
 */
export interface Connections {
  readonly dial: Dial;
  readonly perOrigin: number;
  readonly origins: Map<string, Origin>;
  readonly idle: Set<Connection>;
  readonly sockets: Set<Socket>;
}

/**
 * Starts without connections. Beyond `perOrigin` exchanges with one origin, further ones wait for one of its connections.
 */
export function createConnections(dialing: Dialing, perOrigin: number): Connections {
  return {
    dial: guardedConnector(dialing),
    perOrigin,
    origins: new Map(),
    idle: new Set(),
    sockets: new Set(),
  };
}

/** Connections that are dialed differently and not shared with others. They count towards the same limits. */
export function branchOf(main: Connections, dialing: Dialing): Connections {
  return { ...main, dial: guardedConnector(dialing), origins: new Map() };
}

/** The origin with that name. It is removed with its last connection. */
export function originOf(pool: Connections, name: string): Origin {
  const known = pool.origins.get(name);
  if (known) return known;
  const origin = { pool, name, idle: [], waiting: new Set<Exchange>(), open: 0 };
  pool.origins.set(name, origin);
  return origin;
}

/** Sends the request of an exchange on an idle connection, a new one, or the next free one. */
export function begin(exchange: Exchange): void {
  const { origin } = exchange;
  const connection = origin.idle.pop();
  if (connection) transmit(connection, exchange);
  else if (origin.open < origin.pool.perOrigin) transmit(open(origin), exchange);
  else origin.waiting.add(exchange);
}

/** Aborts an exchange. Its connection cannot be used again. */
export function giveUp(exchange: Exchange, code: AttemptError, message = MEANINGS[code]): void {
  end(exchange, { code, message });
}

/** Closes all connections abruptly. Resolves when they are closed. */
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
    // One deadline covers the whole exchange; undici does not know about the time before the request.
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
        // undici handles the close that follows
        socket.on('error', (error) => {
          if (isAlert(error)) connection.alert ??= error;
        });
        // the exchange was aborted during the address lookup
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
 * One handler per connection: a body of a few bytes needs no stream, and `dispatch` costs a tenth less than `request`.
 */
function handlerOf(connectionOf: () => Connection): Dispatcher.DispatchHandler {
  return {
    // the last step before the bytes: the connection is established
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
  // a 304 may carry the length of the unchanged body (RFC 9110 section 8.6), for which undici would wait
  const isWhole = status === 304 && size === 0 && failure.code === 'connection_reset';
  // The receiver closed a kept connection just as the request was sent. Repeating it may deliver it twice, but not
  // repeating it might not deliver it at all.
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
  // Deferred, so that a series of failures does not recurse.
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
