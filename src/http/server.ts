import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import type { Database } from '../db/connect.ts';
import { hasPartitionsAhead } from '../db/partitions.ts';
import type { AddressRules } from '../kernel/addresses.ts';
import { fail } from '../kernel/errors.ts';
import { toJson } from '../kernel/json.ts';
import type { Vault } from '../kernel/vault.ts';
import { authenticator, authorize, type OperatorCredential } from './auth.ts';
import { checkBody, checkQuery, readQuery } from './check.ts';
import { checkKey, requestDigest } from './idempotency.ts';
import { type ListQuery, parseList } from './lists.ts';
import { describe } from './openapi.ts';
import { addPages } from './pages.ts';
import { envelope, sendFailure, sendReply, toFailure } from './respond.ts';
import type { Principal, Route, Upload } from './route.ts';
import { ROUTES } from './routes.ts';
import { transactions } from './transactions.ts';
import { type SpooledUpload, spool } from './upload.ts';

export interface ServerOptions {
  readonly db: Database;
  readonly log: Logger;
  /** The public address, for Link headers: read when asked, since an ephemeral port is known only then. */
  readonly baseUrl: () => string;
  /** The public address of the pages people see. */
  readonly authorizeUrl: () => string;
  /** Proxies whose word on where a request came from is believed. */
  readonly trustedProxies: readonly string[];
  readonly operator?: OperatorCredential;
  readonly vault: Vault;
  readonly addresses: AddressRules;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
  }
}

const BODY_LIMIT = 1 << 20;
const UPLOAD_LIMIT = 2 ** 31;

/** The HTTP server with every route of the list, ready to listen. */
export function createServer(options: ServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    requestIdHeader: false,
    exposeHeadRoutes: false,
    bodyLimit: BODY_LIMIT,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    return503OnClosing: false,
    // ids of any length reach the handler, which finds no such row
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1 << 16 },
    rewriteUrl: (request) => decodable(request.url ?? '/'),
    clientErrorHandler,
    // Node would refuse a request without Host by itself, and not in the envelope
    http: { requireHostHeader: false },
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance;

  // the same: an expectation nobody knows is ignored (RFC 9110 section 10.1.1 allows it) instead of a bare 417
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  readBodies(app);
  logRequests(app);
  closeWhenStopping(app);
  app.setErrorHandler((error: Error, request, reply) => sendFailure(reply, toFailure(error, request)));
  app.setNotFoundHandler((request, reply) => sendFailure(reply, noSuchRoute(request)));
  addHealth(app, options.db);
  const authenticate = authenticator(options.db, options.operator);
  for (const route of ROUTES) addRoute(app, route, options, authenticate);
  addPages(app, options);
  app.get('/v2/openapi.json', (_, reply) => reply.type('application/json').send(toJson(describe(ROUTES))));
  return app;
}

function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '').slice(8)}`;
}

/** A path whose percent escapes are no UTF-8 is still a path: its id is one nobody has, not a malformed request. */
function decodable(url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + (end === -1 ? '' : url.slice(end));
  }
}

// Fastify parses no body by itself here: bytes are kept whole for the idempotency digest and checked as UTF-8.
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.addContentTypeParser('text/csv', (_request, payload, done) => done(null, payload));
}

const parseJson = (app: FastifyInstance) => {
  const parse = app.getDefaultJsonParser('error', 'error');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (request: FastifyRequest, bytes: Buffer): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const refuse = (error: Error) =>
        reject(fail('invalid_json', `the body is not valid JSON: ${error.message}`));
      try {
        const text = decoder.decode(bytes);
        parse(request, text, (error, value) => (error ? refuse(error) : resolve(value)));
      } catch (error) {
        refuse(error as Error);
      }
    });
};

function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('payhook-request-id', request.id).header('cache-control', 'no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    const { principal } = request;
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        reason: reply.getHeader('payhook-reason'),
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        principal: principal?.id,
        account: principal?.account,
      },
      'request',
    );
  });
}

/** A connection that was busy when the server began to stop ends with its answer instead of being kept alive. */
function closeWhenStopping(app: FastifyInstance): void {
  let stopping = false;
  app.addHook('preClose', async () => {
    stopping = true;
  });
  app.addHook('onSend', async (_, reply) => {
    if (stopping) reply.header('connection', 'close');
  });
}

function addHealth(app: FastifyInstance, db: Database): void {
  app.get('/healthz', (_, reply) => reply.type('application/json').send('{"status":"ok"}'));
  app.get('/readyz', async (request, reply) => {
    try {
      if (await hasPartitionsAhead(db.reader)) {
        return reply.type('application/json').send('{"status":"ready"}');
      }
      return reply.code(503).type('application/json').send('{"status":"unavailable","reason":"partitions"}');
    } catch (error) {
      request.log.warn({ err: error }, 'not ready');
      return reply.code(503).type('application/json').send('{"status":"unavailable","reason":"database"}');
    }
  });
}

/** `/v2/affiliates/{affiliate_id}` as Fastify spells it. */
function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  options: ServerOptions,
  authenticate: ReturnType<typeof authenticator>,
): void {
  app.route({
    method: route.method,
    url: fastifyPath(route.path),
    ...(route.kind === 'write' && route.bodyLimit ? { bodyLimit: route.bodyLimit } : {}),
    // Before the body is read: a caller without a key learns nothing about bodies.
    onRequest: async (request) => {
      request.principal = await authenticate(request);
      authorize(request.principal, route);
    },
    handler: route.kind === 'read' ? reading(route, options) : writing(route, options, parseJson(app)),
  });
}

function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('a route without authentication');
  return request.principal;
}

function searchOf(request: FastifyRequest): string {
  const start = request.url.indexOf('?');
  return start === -1 ? '' : request.url.slice(start + 1);
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function reading(route: Route & { kind: 'read' }, { db, vault, baseUrl }: ServerOptions): Handler {
  return async (request, reply) => {
    const principal = principalOf(request);
    const given = readQuery(searchOf(request));
    const list = route.list ? parseList(route.list, given, principal.account) : undefined;
    const result = await route.handle({
      db: db.reader,
      vault,
      snapshot: db.snapshot,
      account: principal.account,
      principal,
      params: request.params as Record<string, string>,
      query: list ? {} : await checkQuery(route.query, given),
      list: list as ListQuery,
    });
    return sendReply(request, reply, result, baseUrl(), list);
  };
}

function writing(
  route: Route & { kind: 'write' },
  { db, vault, addresses, baseUrl, authorizeUrl }: ServerOptions,
  parse: (request: FastifyRequest, bytes: Buffer) => Promise<unknown>,
): Handler {
  const answer = transactions(db, route);
  return async (request, reply) => {
    const principal = principalOf(request);
    const key = idempotencyKey(request);
    const query = await checkQuery(route.query, readQuery(searchOf(request)));
    const upload = route.upload ? await readUpload(request) : undefined;
    try {
      const bytes = upload ? upload.digest : bytesOf(request);
      const body = upload ? {} : await readJson(route, bytes, (raw) => parse(request, raw));
      const result = await answer({
        id: request.id,
        idempotent:
          key === undefined
            ? undefined
            : { principal, key, digest: requestDigest(request.method, request.url, bytes) },
        input: {
          vault,
          addresses,
          baseUrl: baseUrl(),
          authorizeUrl: authorizeUrl(),
          account: principal.account,
          principal,
          params: request.params as Record<string, string>,
          query,
          body,
          rawBody: upload ? '' : bytes.toString(),
          upload: upload as Upload,
          ifMatch: route.ifMatch ? request.headers['if-match'] : undefined,
        },
      });
      return sendReply(request, reply, result, baseUrl());
    } finally {
      await upload?.close();
    }
  };
}

function idempotencyKey(request: FastifyRequest): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined || (request.method !== 'POST' && request.method !== 'PUT')) return undefined;
  return checkKey(String(header));
}

function bytesOf(request: FastifyRequest): Buffer {
  if (request.body === undefined || request.body === null) return Buffer.alloc(0);
  if (Buffer.isBuffer(request.body)) return request.body;
  throw fail('unsupported_media_type', 'send the body as Content-Type: application/json');
}

/** The checked JSON body; zero bytes are no body, which an operation without one takes and so does `{}`. */
async function readJson(
  route: Route & { kind: 'write' },
  bytes: Buffer,
  parse: (bytes: Buffer) => Promise<unknown>,
): Promise<unknown> {
  const empty = bytes.length === 0;
  if (!route.body) {
    const value = empty ? {} : await parse(bytes);
    if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return {};
    throw fail('unknown_field', 'this operation takes no body');
  }
  if (empty && !route.bodyOptional) throw fail('invalid_body', 'the body is missing: send a JSON object');
  const value = empty ? {} : await parse(bytes);
  await checkBody(route.body, value);
  return value;
}

async function readUpload(request: FastifyRequest): Promise<SpooledUpload> {
  const payload = request.body;
  if (payload === undefined && /^text\/csv\b/.test(request.headers['content-type'] ?? '')) {
    throw fail('invalid_file', 'the file is empty: its first line must name the columns');
  }
  if (payload === undefined || payload === null || Buffer.isBuffer(payload)) {
    throw fail('unsupported_media_type', 'send the file as Content-Type: text/csv');
  }
  return spool(payload as Parameters<typeof spool>[0], UPLOAD_LIMIT, request.id);
}

const PATTERNS = ROUTES.map((route) => ({
  method: route.method,
  pattern: new RegExp(`^${route.path.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}));

function noSuchRoute(request: FastifyRequest) {
  const path = request.url.split('?', 1)[0] ?? '';
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  if (methods.length > 0) {
    const allow = [...new Set(methods)].join(', ');
    return fail('method_not_allowed', `${request.method} is not possible here; possible: ${allow}`, {
      allow,
    });
  }
  return fail('unknown_route', `there is no operation ${request.method} ${path.slice(0, 200)}`);
}

/** What the HTTP parser itself refuses, in the envelope too. */
function clientErrorHandler(this: unknown, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const failure = fail('malformed_request', 'the HTTP request could not be read');
  const body = envelope(failure);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\npayhook-reason: ${failure.reason}\r\n` +
      `payhook-request-id: ${newRequestId()}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
