import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { AttemptError } from '../../src/webhooks/engine/outcome.ts';
import { certificateFor } from './certificate.ts';

/** A running hostile receiver. */
export interface Hostile {
  readonly url: string;
  /** Bytes it was able to send. */
  written(): number;
  /** Connections it has accepted. */
  connections(): number;
  close(): Promise<void>;
}

/** A hostile receiver of the table: what it does, and the expected `error_code` of an attempt (null = success). */
export interface HostileReceiver {
  readonly name: string;
  readonly expected: AttemptError | null;
  start(): Promise<Hostile>;
}

// Real slow receivers send a byte a second; a test cannot wait that long.
const DRIP_MS = 50;
const BLOCK = Buffer.alloc(64 * 1024, 'x');
const HEAD = 'HTTP/1.1 200 OK\r\n';

/** A server that hands over each connection once its request has begun to arrive. */
async function serve(meet: (socket: Socket) => void, certificate?: ReturnType<typeof certificateFor>) {
  const sockets = new Set<Socket>();
  let accepted = 0;
  let written = 0;
  const onConnection = (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      written += socket.bytesWritten;
      sockets.delete(socket);
    });
    socket.once('data', () => meet(socket));
  };
  const server = certificate ? createTlsServer(certificate, onConnection) : createServer(onConnection);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${certificate ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    written: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, written),
    connections: () => accepted,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Writes the parts for as long as the other side reads. */
function pour(socket: Socket, next: () => string | Buffer | null) {
  for (;;) {
    const part = next();
    if (part === null || socket.destroyed) return;
    if (!socket.write(part)) break;
  }
  socket.once('drain', () => pour(socket, next));
}

function drip(socket: Socket, text: string) {
  let place = 0;
  const timer = setInterval(() => {
    socket.write(text[place % text.length] ?? '');
    place += 1;
  }, DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

function blocks(head: string, count: number): () => string | Buffer | null {
  let sent = -1;
  return () => {
    sent += 1;
    if (sent === 0) return head;
    return sent <= count ? BLOCK : null;
  };
}

function raw(name: string, expected: AttemptError | null, meet: (socket: Socket) => void): HostileReceiver {
  return { name, expected, start: () => serve(meet) };
}

function unresolved(url: string): Hostile {
  return { url, written: () => 0, connections: () => 0, close: async () => {} };
}

/** A port with nothing listening. */
async function refuse(): Promise<Hostile> {
  const server = await serve(() => {});
  await server.close();
  return server;
}

/** A port with a full queue of connections that its owner never accepts. */
async function neverAccept(): Promise<Hostile> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  const [port] = (await once(worker, 'message')) as [number];
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')));
  return {
    ...unresolved(`http://127.0.0.1:${port}/hook`),
    async close() {
      for (const socket of fillers) socket.destroy();
      await worker.terminate();
    },
  };
}

/** All hostile receivers, with the expected result of an attempt at each. */
export const HOSTILE_RECEIVERS: readonly HostileReceiver[] = [
  { name: 'refuses the connection', expected: 'connection_refused', start: refuse },
  { name: 'never accepts the connection', expected: 'timeout', start: neverAccept },
  {
    name: 'has a name that does not exist',
    expected: 'dns_error',
    start: async () => unresolved('http://nothing.invalid/hook'),
  },
  raw('resets the connection', 'connection_reset', (socket) => socket.resetAndDestroy()),
  raw('closes the connection without a word', 'connection_reset', (socket) => socket.end()),
  raw('closes in the middle of the headers', 'connection_reset', (socket) => socket.end(`${HEAD}content-le`)),
  raw('resets in the middle of the body', null, (socket) =>
    socket.write(`${HEAD}content-length: 100\r\n\r\nten bytes.`, () => socket.resetAndDestroy()),
  ),
  raw('closes in the middle of the body', null, (socket) =>
    socket.end(`${HEAD}content-length: 100\r\n\r\nten bytes.`),
  ),
  raw('closes in the middle of a body it wanted to end with the connection', null, (socket) =>
    socket.end(`${HEAD}connection: close\r\ncontent-length: 100\r\n\r\nten bytes.`),
  ),
  raw('closes in the middle of a chunk', null, (socket) =>
    socket.end(`${HEAD}connection: close\r\ntransfer-encoding: chunked\r\n\r\n64\r\nten bytes.`),
  ),
  raw('never answers', 'timeout', () => {}),
  raw('drips its headers', 'timeout', (socket) => drip(socket, HEAD + 'a: b\r\n'.repeat(1000))),
  raw('drips its body', null, (socket) =>
    socket.write(`${HEAD}content-length: 1000\r\n\r\n`, () => drip(socket, 'x')),
  ),
  raw('closes in the middle of the body of an error', 'connection_reset', (socket) =>
    socket.end('HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\nten bytes.'),
  ),
  raw('has no content, and a body', null, (socket) =>
    socket.write('HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok'),
  ),
  raw('has no content, and a body in chunks', null, (socket) =>
    socket.write('HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
  ),
  raw('has no content, and the length of one that never comes', null, (socket) =>
    socket.write('HTTP/1.1 204 No Content\r\ncontent-length: 100\r\n\r\n'),
  ),
  raw('drips the body of an error', 'body_too_slow', (socket) =>
    socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n', () => drip(socket, '1\r\nx\r\n')),
  ),
  raw('has a body of 100 MB', null, (socket) =>
    pour(socket, blocks(`${HEAD}content-length: 104857600\r\n\r\n`, 1600)),
  ),
  raw('has an endless body and no length', null, (socket) =>
    pour(socket, blocks(`${HEAD}connection: close\r\n\r\n`, Number.POSITIVE_INFINITY)),
  ),
  raw('has an error page of 100 MB', 'response_error', (socket) =>
    pour(socket, blocks('HTTP/1.1 500 No\r\ncontent-length: 104857600\r\n\r\n', 1600)),
  ),
  raw('has endless headers', 'response_error', (socket) => pour(socket, headers())),
  raw('has one endless header', 'response_error', (socket) =>
    pour(socket, blocks(`${HEAD}x-long: `, Number.POSITIVE_INFINITY)),
  ),
  raw('has endless trailers', null, (socket) =>
    pour(socket, headers(`${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n`)),
  ),
  raw('has an endless reason phrase', 'response_error', (socket) =>
    pour(socket, blocks('HTTP/1.1 200 ', Number.POSITIVE_INFINITY)),
  ),
  raw('has an endless chunk extension', null, (socket) =>
    pour(socket, blocks(`${HEAD}transfer-encoding: chunked\r\n\r\n1;`, Number.POSITIVE_INFINITY)),
  ),
  raw('hints without end', 'response_error', (socket) =>
    pour(socket, () => 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1000)),
  ),
  raw('hints a hundred times before it answers', 'response_error', (socket) =>
    socket.write(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)}${HEAD}content-length: 0\r\n\r\n`),
  ),
  raw('says continue without end', 'response_error', (socket) =>
    pour(socket, () => 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)),
  ),
  raw('switches protocols', 'response_error', (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
  ),
  raw('redirects to a private address', 'redirect', (socket) =>
    socket.write(
      `HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:${socket.localPort}/\r\ncontent-length: 0\r\n\r\n`,
    ),
  ),
  raw('is not HTTP at all', 'response_error', (socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n')),
  raw('answers noise', 'response_error', (socket) =>
    socket.write(Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 37) % 256))),
  ),
  raw('has two lengths', 'response_error', (socket) =>
    socket.write(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`),
  ),
  raw('says more than it announced', null, (socket) =>
    socket.write(`${HEAD}content-length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n`),
  ),
  raw('has a gzip bomb', null, (socket) => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  }),
  {
    name: 'has an untrusted certificate',
    expected: 'tls_error',
    start: () =>
      serve((socket) => socket.end(`${HEAD}content-length: 0\r\n\r\n`), certificateFor('127.0.0.1')),
  },
  {
    name: 'speaks HTTP where TLS is expected',
    expected: 'tls_error',
    start: async () => {
      const server = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      return { ...server, url: server.url.replace('http:', 'https:') };
    },
  },
  {
    name: 'never finishes the TLS handshake',
    expected: 'timeout',
    start: async () => {
      const server = await serve(() => {});
      return { ...server, url: server.url.replace('http:', 'https:') };
    },
  },
];

/** Endless header lines. */
function headers(head = HEAD): () => string {
  const lines = Array.from({ length: 1000 }, (_, index) => `x-header-${index}: value\r\n`).join('');
  let isFirst = true;
  return () => {
    const part = isFirst ? head : lines;
    isFirst = false;
    return part;
  };
}
