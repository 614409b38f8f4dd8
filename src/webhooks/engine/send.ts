import { begin, closeAll, createConnections, type Exchange, giveUp, originOf } from './connections.ts';
import { type Timed, watchDeadlines } from './deadlines.ts';
import { type DialOptions, sharedResolver } from './dial.ts';
import { createEgressRoutes, type EgressRoute, explained, type ProxyOptions } from './egress-routes.ts';
import { type AttemptError, NOTHING, type Outcome, outcomeOf } from './outcome.ts';
import { nothingReceived } from './received.ts';
import { rememberedTargets } from './targets.ts';

/** A POST to send. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The route of the endpoint; undefined = the server's. */
  readonly route?: EgressRoute | undefined;
  /** Its time limit in milliseconds, if shorter than the usual one. */
  readonly limitMs?: number | undefined;
  /** Without one it may be sent at any time. */
  readonly permit?: Permit | undefined;
}

/** How long a request may be sent. */
export interface Permit {
  /** Called directly before the first byte is written. If false, nothing is sent, and the outcome is `isUnsent`. */
  isGood(): boolean;
  /** By `performance.now()`: an exchange that has not ended by then ends as `lost`. */
  readonly endsAt: number;
}

const STOPPED = 'this process stopped before the response was complete';

export interface Sender {
  /** Sends a POST over HTTP/1.1 and waits for the outcome. Never rejects. */
  send(request: SentRequest): Promise<Outcome>;
  /** Aborts every exchange in flight: each ends with `lost`. */
  abortAll(): void;
  /** Aborts exchanges in flight and closes all connections. Resolves when they are closed. */
  close(): Promise<void>;
}

export interface SenderOptions extends DialOptions {
  /** Milliseconds for the whole exchange, from `send` to the last byte of the body. */
  readonly timeoutMs: number;
  /** Further exchanges with an origin wait for a connection, and the wait counts towards the time limit. */
  readonly connectionsPerOrigin: number;
  /** The defaults: no proxy of the server, endpoint proxies where receivers may be, half of the time limit. */
  readonly proxies?: Partial<ProxyOptions>;
  /**
   * Milliseconds since 1970, to evaluate a date in `Retry-After` without a `Date` header, and the expiry of a client
   * certificate. Without it both are ignored.
   */
  readonly clock?: () => number;
  /** A 2xx counts only if its body is complete, because the caller needs the body. */
  readonly needsBody?: boolean;
}

/** Creates a sender. Errors of receivers, networks and requests are reported in the outcome. */
export function createSender(options: SenderOptions): Sender {
  const dialing = { ...options, resolve: sharedResolver(options.resolve) };
  const connections = createConnections(dialing, options.connectionsPerOrigin);
  const connectionsOf = createEgressRoutes(connections, dialing, {
    ofServer: null,
    addresses: options.addresses,
    limitMs: options.timeoutMs / 2,
    ...options.proxies,
  });
  const readTarget = rememberedTargets();
  const judging = { clock: options.clock, needsBody: options.needsBody ?? false };
  const deadlines = watchDeadlines<Exchange & Timed>(options.timeoutMs, (exchange, why) => {
    const late = exchange.received.status === null ? 'timeout' : 'body_too_slow';
    if (why === 'lost') giveUp(exchange, 'lost', 'this process was blocked until the lease was about to end');
    else giveUp(exchange, late);
  });
  let isClosed = false;

  function abortAll() {
    for (const exchange of deadlines.underWay) giveUp(exchange, 'lost', STOPPED);
  }

  return {
    send({ url, headers, body, route, limitMs, permit }) {
      const target = readTarget(url);
      if (isClosed) return Promise.resolve(unsent('lost', STOPPED));
      if (!target) return Promise.resolve(unsent('network_error', 'the URL is not valid'));
      return new Promise((resolve) => {
        const received = nothingReceived();
        const exchange: Exchange & Timed = {
          origin: originOf(connectionsOf(route, target.hostname), target.origin),
          request: { path: target.path, method: 'POST', headers, body },
          received,
          startedAt: received.startedAt,
          stalledBefore: deadlines.stalledMs(),
          limitMs,
          endsAt: permit?.endsAt,
          isGood: permit?.isGood,
          settle(failure) {
            deadlines.delete(exchange);
            const isUnanswered = failure !== null && received.status === null;
            const explainedFailure = isUnanswered ? explained(failure, route, options.clock) : failure;
            resolve(outcomeOf(received, explainedFailure, judging));
          },
          connection: null,
          isRepeated: false,
          isAnswered: false,
        };
        deadlines.add(exchange);
        begin(exchange);
      });
    },
    abortAll,
    async close() {
      isClosed = true;
      abortAll();
      deadlines.stop();
      await closeAll(connections);
    },
  };
}

function unsent(errorCode: AttemptError, errorMessage: string): Outcome {
  return { ...NOTHING, errorCode, errorMessage };
}
