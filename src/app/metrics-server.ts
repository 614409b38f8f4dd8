import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { limitAdmission } from '../http/admission.ts';

const MOST_CONNECTIONS = 256;
const HEAD_MS = 10_000;
/** Longer than the usual pause between scrapes. */
const IDLE_MS = 75_000;
const PATH = '/metrics';
/** Also served here, because the other port may have no free connection. */
const HEALTH_PATH = '/healthz';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly log: Logger;
  /** The metrics in the format of Prometheus, and their media type. */
  print(): Promise<{ readonly type: string; readonly text: string }>;
}

/**
 * Serves GET /metrics and GET /healthz without credentials, and nothing else. Throws what `listen` throws, with the port
 * in the message.
 */
export async function startMetricsServer({ host, port, log, print }: MetricsServerOptions) {
  const limits = { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS, keepAliveTimeout: IDLE_MS };
  const server = createServer(limits, (request, response) => {
    answer(request, response, print).catch((error: unknown) => {
      log.error({ err: error }, 'the metrics could not be read');
      response.writeHead(500, { 'content-type': 'text/plain' }).end('the log says why\n');
    });
  });
  // all scrapers may share one address; an idle connection is closed for a new one
  const admission = { connections: MOST_CONNECTIONS, perAddress: MOST_CONNECTIONS, trustedProxies: [] };
  limitAdmission(server, admission, () => undefined);
  server.listen({ host, port });
  await once(server, 'listening');
  const at = server.address() as AddressInfo;
  const name = at.family === 'IPv6' ? `[${at.address}]` : at.address;
  const address = `http://${name}:${at.port}${PATH}`;
  log.info({ address }, 'metrics are served');
  return {
    address,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
  print: MetricsServerOptions['print'],
): Promise<void> {
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  const path = url.split('?', 1)[0];
  if (path !== PATH && path !== HEALTH_PATH) {
    return void response.writeHead(404, plain).end(`the metrics are at ${PATH}\n`);
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return void response.writeHead(405, { ...plain, allow: 'GET, HEAD' }).end();
  }
  const { type, text } =
    path === PATH ? await print() : { type: 'application/json', text: '{"status":"ok"}' };
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
}
