import { Agent, type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overTls, Agent as TlsAgent } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';

/** The address of a server, or its unix socket on this machine. */
export type Target = { readonly url: string } | { readonly socketPath: string };

/** A request on the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | null;
  /** The longest time without data in either direction, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The connections to one server. They stay open between requests, and do not keep the process alive. */
export interface Connections {
  readonly base: URL;
  /** Sends a request and returns the response, whose body must be read to the end. Throws connection errors. */
  exchange(request: WireRequest): Promise<IncomingMessage>;
  /** Closes them. Exchanges in progress and later ones fail. */
  close(): void;
  readonly isClosed: boolean;
}

const CONNECT_MS = 10_000;

/** Prepares connections; the first exchange opens one. Throws TypeError if the URL is invalid. */
export function connectionsTo(target: Target): Connections {
  const base = new URL('url' in target ? target.url : 'http://localhost');
  const isTls = base.protocol === 'https:';
  const options = {
    ...urlToHttpOptions(base),
    auth: null,
    agent: new (isTls ? TlsAgent : Agent)({ keepAlive: true }),
    ...('socketPath' in target ? { socketPath: target.socketPath } : {}),
  };
  let isClosed = false;
  return {
    base,
    get isClosed() {
      return isClosed;
    },
    async exchange({ method, path, headers, body, timeoutMs: timeout, signal }) {
      if (isClosed) throw new Error('the client is closed');
      const about = { ...options, method, path, headers, timeout, ...(signal ? { signal } : {}) };
      const request = (isTls ? overTls : overHttp)(about);
      limitConnecting(request, isTls ? 'secureConnect' : 'connect');
      return answerTo(request, body, timeout);
    },
    close() {
      isClosed = true;
      options.agent.destroy();
    },
  };
}

/** Aborts a connection that takes too long to establish. Like a system error, its error shows that nothing was sent. */
function limitConnecting(request: ClientRequest, connected: 'connect' | 'secureConnect'): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      const error = new Error(`not connected after ${CONNECT_MS / 1000} seconds`);
      request.destroy(Object.assign(error, { code: 'ETIMEDOUT', syscall: 'connect' }));
    }, CONNECT_MS);
    socket.once(connected, () => clearTimeout(timer));
    request.once('close', () => clearTimeout(timer));
  });
}

function answerTo(
  request: ClientRequest,
  body: WireRequest['body'],
  timeoutMs: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    // stays for the whole request: an upload may fail after the server has answered
    request.on('error', reject);
    request.once('response', (answer) => {
      response = answer;
      // the server may refuse an upload without reading it
      answer.once('end', () => {
        if (!request.writableFinished) request.destroy();
      });
      resolve(answer);
    });
    request.on('timeout', () => {
      // a paused reader does not mean that the server is silent
      if (response?.readableLength) return;
      (response ?? request).destroy(new Error(`the server sent nothing for ${timeoutMs / 1000} seconds`));
    });
    if (body === null || typeof body === 'string') request.end(body ?? undefined);
    else pipeline(body, request, (error) => error && reject(error));
  });
}
