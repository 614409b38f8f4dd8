import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command/errors.ts';

/** A complete request. */
export interface Incoming {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** null = larger than 4 MiB, the largest batch of an endpoint. */
  readonly body: Buffer | null;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly afterMs: number;
  /** Called once the response is sent; not if the sender disconnects first. */
  sent?(): void;
}

/** A receiver on 127.0.0.1. */
export interface Receiver {
  /** For example http://127.0.0.1:9000. */
  readonly url: string;
  /** Closes all connections. */
  close(): void;
}

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_CONNECTIONS = 256;
// for the whole request: slower or endless requests are cut off
const REQUEST_MS = 30_000;

/** Listens on a port of 127.0.0.1; 0 = any free one. Throws CommandError when it cannot. */
export async function openReceiver(
  port: number,
  handle: (incoming: Incoming) => Promise<Reply>,
): Promise<Receiver> {
  const server = createServer({ requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1000 });
  server.maxConnections = MOST_CONNECTIONS;
  server.on('request', (request, response) => {
    // a request whose sender disconnects midway is ignored
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    void take(request, response, handle);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, port)));
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function take(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (incoming: Incoming) => Promise<Reply>,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) return;
  const { method = '', url: path = '', headers } = request;
  const { status, text, afterMs, sent } = await handle({ method, path, headers, body });
  if (afterMs > 0) await delay(afterMs);
  if (response.destroyed) return;
  const answer = status === 304 ? '' : `${text}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(answer),
  });
  response.end(answer, sent);
}

/** The body; null if it is too large, undefined if it was cut off. */
async function readBody(request: IncomingMessage): Promise<Buffer | null | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= MOST_BYTES) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return size <= MOST_BYTES ? Buffer.concat(chunks) : null;
}

function listenError(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new CommandError(
      `port ${port} is in use: stop the program that listens there, or choose another port with --port`,
    );
  }
  if (error.code === 'EACCES') {
    return new CommandError(`no permission to listen on port ${port}: choose one above 1023 with --port`);
  }
  return error;
}
