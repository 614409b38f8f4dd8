import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../kernel/errors.ts';

/** How long others may take, and how many of them there may be at once. */
export interface ConnectionLimits {
  /** Milliseconds for the head of a request; bodies and answers are judged after each such span. */
  readonly requestTimeoutMs: number;
  /** The slowest body or answer that is waited for. */
  readonly bytesPerSecond: number;
  /** More connections than these are closed as they come. */
  readonly connections: number;
}

const MOST_TICK_MS = 1000;
// What was turned away unread is read on for so long, so that who sends it hears the answer instead of a reset.
const LINGER_TICKS = 5;
const LINGER_BYTES = 1 << 18;

/** The options of Node's HTTP server that belong to the limits. */
export function connectionOptions({ requestTimeoutMs }: ConnectionLimits) {
  return { headersTimeout: requestTimeoutMs, connectionsCheckingInterval: tickOf(requestTimeoutMs) };
}

const tickOf = (requestTimeoutMs: number) => Math.min(MOST_TICK_MS, Math.ceil(requestTimeoutMs / 10));

/** One request, from its head until its body has come and its answer has left. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly socket: Socket;
  /** How its body ends when it comes too slowly; undefined while nobody reads it. */
  refuse: ((error: Error) => void) | undefined;
  isAnswered: boolean;
  /** Ticks in which the other side was waited for, and the bytes there were when they began. */
  ticks: number;
  bytes: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    exchange?: Exchange;
  }
}

/**
 * Keeps slow and idle connections from taking the place of others. A body or an answer that moves less than
 * `bytesPerSecond` during `requestTimeoutMs` is cut off: a body with `request_timeout` where an answer can still be
 * given. Time in which we are the slow ones is not counted, and the clock is one of ticks: a process that stood still
 * holds nobody else to account.
 */
export function limitConnections(app: FastifyInstance, limits: ConnectionLimits): void {
  const tickMs = tickOf(limits.requestTimeoutMs);
  const span = Math.ceil(limits.requestTimeoutMs / tickMs);
  const least = (limits.bytesPerSecond * span * tickMs) / 1000;
  const exchanges = new Set<Exchange>();

  app.server.maxConnections = limits.connections;
  // kept alive for a next request is worth less than a request that comes
  app.server.on('drop', () => app.server.closeIdleConnections());
  app.addHook('onRequest', async (request, reply) => {
    const { socket } = request.raw;
    const exchange = { request, reply, socket, refuse: undefined, isAnswered: false, ticks: 0, bytes: 0 };
    request.exchange = exchange;
    restart(exchange);
    exchanges.add(exchange);
    reply.raw.once('close', () => {
      if (request.raw.complete || socket.destroyed) exchanges.delete(exchange);
      else Object.assign(exchange, { isAnswered: true, ticks: 0 });
    });
  });
  app.addHook('preParsing', async (request) => {
    if (request.exchange) request.exchange.refuse = (error) => breakBody(request, error);
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete) return;
    drain(raw);
    if (Number(raw.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= LINGER_BYTES) {
      // all of it is read, and a next request can follow; Fastify would close here
      reply.removeHeader('connection');
    } else {
      // nothing may follow: ended only, since what is still on its way would reset a closed one before the answer is read
      reply.header('connection', 'close');
      raw.socket.destroySoon = () => raw.socket.end();
    }
  });
  const timer = setInterval(() => {
    for (const exchange of exchanges) {
      if (exchange.isAnswered) endLingering(exchange);
      else if (isWaitedFor(exchange)) judge(exchange);
    }
  }, tickMs).unref();
  app.addHook('onClose', async () => clearInterval(timer));

  function judge(exchange: Exchange): void {
    exchange.ticks += 1;
    if (exchange.ticks < span) return;
    if (bytesOf(exchange) - exchange.bytes < least) cutOff(exchange);
    else restart(exchange);
  }

  function endLingering(exchange: Exchange): void {
    exchange.ticks += 1;
    const isOver = exchange.request.raw.complete || exchange.socket.destroyed;
    if (!isOver && exchange.ticks < LINGER_TICKS) return;
    exchanges.delete(exchange);
    if (!isOver) exchange.socket.destroy();
  }
}

/** Reads a body by a function of its own, which `refuse` ends when the body comes too slowly. */
export function onSlowBody(request: FastifyRequest, refuse: (error: Error) => void): void {
  if (request.exchange) request.exchange.refuse = refuse;
}

const bytesOf = ({ socket }: Exchange) => socket.bytesRead + socket.bytesWritten;

function restart(exchange: Exchange): void {
  exchange.ticks = 0;
  exchange.bytes = bytesOf(exchange);
}

/** Whether the other side is the one that must do something: send more of its body, or take more of the answer. */
function isWaitedFor({ request: { raw }, refuse, socket }: Exchange): boolean {
  const sends = refuse !== undefined && !raw.complete && raw.readableLength < raw.readableHighWaterMark;
  return sends || socket.writableLength > 0;
}

function cutOff({ request, reply, socket, refuse }: Exchange): void {
  if (!request.raw.complete && refuse && !reply.raw.headersSent) {
    refuse(fail('request_timeout', 'the body arrived too slowly'));
  } else {
    request.log.warn('an answer was read too slowly and was cut off');
    socket.destroy();
  }
}

/** Ends what Fastify reads whole; nobody listens when that has just happened. */
function breakBody({ raw }: FastifyRequest, error: Error): void {
  if (raw.listenerCount('error') > 0) raw.emit('error', error);
  else raw.socket.destroy();
}

/** Reads a little of a body that nobody wants. Node would read for as long as it comes, if nobody else did. */
function drain(raw: IncomingMessage): void {
  let bytes = 0;
  raw.on('error', () => undefined);
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) raw.pause();
  });
}
