import { Agent, type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overTls, Agent as TlsAgent } from 'node:https';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { urlToHttpOptions } from 'node:url';
import {
  type Chunks,
  type Connections,
  closed,
  silence,
  type Target,
  type WireRequest,
} from './connections.ts';

// Connections over node:http. `fetch` of Node gives up after five minutes without a response, and has no unix sockets.

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
    async exchange({ method, path, headers: given, body, timeoutMs: timeout, signal }) {
      if (isClosed) throw closed();
      const headers = { 'user-agent': 'payhook-client', ...given, ...lengthOf(body) };
      const about = { ...options, method, path, headers, timeout, ...(signal ? { signal } : {}) };
      const request = (isTls ? overTls : overHttp)(about);
      limitConnecting(request, isTls ? 'secureConnect' : 'connect');
      const response = await answerTo(request, body, timeout);
      return {
        status: response.statusCode ?? 0,
        header(name) {
          const value = response.headers[name];
          return (Array.isArray(value) ? value[0] : value) ?? null;
        },
        body: Readable.toWeb(response) as NodeStream<Uint8Array> as ReadableStream<Uint8Array>,
      };
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

/** The length of a body that is streamed; Node knows that of the others. */
function lengthOf(body: WireRequest['body']): Record<string, string> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return {};
  const bytes = 'chunks' in body ? body.bytes : body.size;
  return bytes === undefined ? {} : { 'content-length': String(bytes) };
}

function chunksOf(body: Blob | Chunks): AsyncIterable<Uint8Array> {
  return 'chunks' in body ? body.chunks : (body.stream() as NodeStream<Uint8Array>);
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
      (response ?? request).destroy(silence(timeoutMs));
    });
    if (body === null || typeof body === 'string' || body instanceof Uint8Array)
      request.end(body ?? undefined);
    else pipeline(Readable.from(chunksOf(body)), request, (error) => error && reject(error));
  });
}
