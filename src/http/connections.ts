import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../kernel/errors.ts';

/** The time limits for clients. */
export interface ConnectionLimits {
  /** Milliseconds for the head of a request. Bodies and responses are checked at this interval. */
  readonly requestTimeoutMs: number;
  /** The slowest body or response that is accepted. */
  readonly bytesPerSecond: number;
}

const MOST_TICK_MS = 1000;
// Data in transit when the connection ends is read for this long, so that the sender gets the response instead of a
// reset. A client that never closes cannot hold the connection longer.
const LINGER_MS = 1000;
const LINGER_BYTES = 1 << 18;

/** The options of Node's HTTP server for these limits. */
export function connectionOptions({ requestTimeoutMs }: ConnectionLimits) {
  return { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: tickOf(requestTimeoutMs) };
}

const tickOf = (requestTimeoutMs: number) => Math.min(MOST_TICK_MS, Math.ceil(requestTimeoutMs / 10));

/** A request, from its head until its body has arrived and its response was sent. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly socket: Socket;
  /** Whether its body is being read. */
  isRead: boolean;
  /** Ends its body if it arrives too slowly; undefined = Fastify reads the whole body. */
  refuse: ((error: Error) => void) | undefined;
  /** Ticks spent waiting for the client, and the bytes transferred when they began. */
  ticks: number;
  bytes: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange?: Exchange;
  }
}

/**
 * Keeps slow and idle connections from blocking others. A body or response that transfers less than `bytesPerSecond`
 * during `requestTimeoutMs` is cut off; for a body the response is `request_timeout` if it can still be sent. Time in
 * which the server is slow does not count: time is measured in ticks, so clients are not blamed when the process was
 * blocked.
 */
export function limitConnections(app: FastifyInstance, limits: ConnectionLimits): void {
  const tickMs = tickOf(limits.requestTimeoutMs);
  const span = Math.ceil(limits.requestTimeoutMs / tickMs);
  const least = (limits.bytesPerSecond * span * tickMs) / 1000;
  // The latest exchange of each connection. With a set of exchanges, the old tables that V8 leaves behind would keep each
  // request alive until a full garbage collection, which was nearly a third of the cost of publishing.
  const exchanges = new Map<Socket, Exchange | null>();

  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const exchange: Exchange = {
      request,
      reply,
      socket,
      isRead: false,
      refuse: undefined,
      ticks: 0,
      bytes: 0,
    };
    request.exchange = exchange;
    restart(exchange);
    if (!exchanges.has(socket)) socket.once('close', () => exchanges.delete(socket));
    exchanges.set(socket, exchange);
    reply.raw.once('close', () => {
      forget(exchange);
      if (!request.raw.complete) linger(socket, () => request.raw.complete);
    });
    done();
  });
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (request.exchange) request.exchange.isRead = true;
    done();
  });
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (!raw.complete) takeRest(raw, reply);
    done();
  });
  const timer = setInterval(() => {
    for (const exchange of exchanges.values()) {
      if (exchange !== null && isWaitedFor(exchange)) judge(exchange);
    }
  }, tickMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));

  function judge(exchange: Exchange): void {
    exchange.ticks += 1;
    if (exchange.ticks < span) return;
    if (bytesOf(exchange) - exchange.bytes < least) cutOff(exchange);
    else restart(exchange);
  }

  // a pipelined request may have replaced it
  function forget(exchange: Exchange): void {
    const { socket } = exchange;
    if (exchanges.get(socket) !== exchange) return;
    if (socket.destroyed) exchanges.delete(socket);
    else exchanges.set(socket, null);
  }
}

/** Destroys a socket shortly after its response was sent, unless it turns out to be in order. */
export function linger(socket: Socket, isInOrder: () => boolean = () => false): void {
  setTimeout(() => {
    if (!isInOrder()) socket.destroy();
  }, LINGER_MS).unref();
}

/** Reads a body with a custom function. `refuse` ends it if the body arrives too slowly. */
export function onSlowBody(request: FastifyRequest, refuse: (error: Error) => void): void {
  if (request.exchange) request.exchange.refuse = refuse;
}

const bytesOf = ({ socket }: Exchange) => socket.bytesRead + socket.bytesWritten;

function restart(exchange: Exchange): void {
  exchange.ticks = 0;
  exchange.bytes = bytesOf(exchange);
}

/** Whether the server is waiting for the client to send more of its body or to read more of the response. */
function isWaitedFor({ request: { raw }, isRead, socket }: Exchange): boolean {
  const sends = isRead && !raw.complete && raw.readableLength < raw.readableHighWaterMark;
  return sends || socket.writableLength > 0;
}

function cutOff({ request, reply, socket, isRead, refuse }: Exchange): void {
  if (!request.raw.complete && isRead && !reply.raw.headersSent) {
    const slow = fail('request_timeout', 'the body arrived too slowly');
    if (refuse) refuse(slow);
    else breakBody(request, slow);
  } else {
    request.log.warn('a response was read too slowly and was cut off');
    socket.destroy();
  }
}

/** Ends a body that Fastify reads whole. It may have just ended, and then nothing listens. */
function breakBody({ raw }: FastifyRequest, error: Error): void {
  if (raw.listenerCount('error') > 0) raw.emit('error', error);
  else raw.socket.destroy();
}

/** For a response before the end of the body: reads a little of the rest, so that the response arrives. */
function takeRest(raw: IncomingMessage, reply: FastifyReply): void {
  drain(raw);
  if (Number(raw.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= LINGER_BYTES) {
    // the whole body was read, so another request can follow; Fastify would close the connection here
    reply.removeHeader('connection');
  } else {
    // no request may follow: the socket is only ended, because data in transit would reset a closed one before the
    // response is read
    reply.header('connection', 'close');
    raw.socket.destroySoon = () => raw.socket.end();
  }
}

/** Reads a little of an unwanted body. Otherwise Node would read all of it. */
function drain(raw: IncomingMessage): void {
  let bytes = 0;
  raw.on('error', () => undefined);
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) raw.pause();
  });
}
