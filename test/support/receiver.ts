import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket, type TlsOptions } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { PATIENCE_MS } from './patience.ts';

/** A request that arrived completely. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The common name in the client certificate; empty without a certificate. */
  readonly peer: string;
  /** `performance.now()` when its last byte arrived. */
  readonly at: number;
}

type Answer = (request: Received, response: ServerResponse, count: number) => void;

/** A receiver of webhooks on a real socket of 127.0.0.1, which answers 200 until `answer` changes that. */
export interface Receiver {
  /** `http://127.0.0.1:port/hook`, or `https://localhost:port/hook` with TLS. */
  readonly url: string;
  readonly received: Received[];
  /** Connections it has accepted. */
  connections(): number;
  /**
   * Sets the response: a status, or a function of the request and the number of requests so far, including this one.
   */
  respond(how: number | Answer): void;
  /**
   * Waits until that many requests have arrived, or the predicate holds; rejects after 30 s and names the awaited
   * event.
   */
  until(what: number | ((all: Received[]) => boolean)): Promise<Received[]>;
  /** Cuts all connections. */
  close(): Promise<void>;
}

const peerOf = ({ socket }: IncomingMessage): string =>
  String((socket instanceof TLSSocket && socket.getPeerCertificate().subject?.CN) || '');

/** Starts a receiver; with `tls` it serves HTTPS with that certificate. */
export async function startReceiver(options: { tls?: Certificate & TlsOptions } = {}): Promise<Receiver> {
  const { tls } = options;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let accepted = 0;
  let answer: Answer = (_request, response) => response.end();

  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // cut off: it did not arrive
    }
    const body = Buffer.concat(chunks).toString();
    const one = {
      path: request.url ?? '',
      headers: request.headers,
      body,
      peer: peerOf(request),
      at: performance.now(),
    };
    received.push(one);
    for (const check of waiting) check();
    answer(one, response, received.length);
  };
  const server = tls ? createTlsServer(tls, take) : createServer(take);
  server.on('connection', () => {
    accepted += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: tls ? `https://localhost:${port}/hook` : `http://127.0.0.1:${port}/hook`,
    received,
    connections: () => accepted,
    respond(how) {
      answer = typeof how === 'function' ? how : (_request, response) => response.writeHead(how).end();
    },
    until(what) {
      const holds = typeof what === 'function' ? what : (all: Received[]) => all.length >= what;
      const name = typeof what === 'function' ? String(what) : `${what} requests`;
      return new Promise((resolve, reject) => {
        const check = () => {
          if (!holds(received)) return;
          waiting.delete(check);
          clearTimeout(timer);
          resolve(received);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`waited ${PATIENCE_MS} ms for: ${name}; ${received.length} requests came`));
        }, PATIENCE_MS);
        waiting.add(check);
        check();
      });
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
