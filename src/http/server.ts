import { Readable } from 'node:stream';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RouteHandlerMethod,
} from 'fastify';
import type { Logger } from 'pino';
import type { Env } from '../contract/env.ts';
import type { ListQuery } from '../contract/lists.ts';
import type { Principal, Route } from '../contract/route.ts';
import type { Upload, UploadType } from '../contract/uploads.ts';
import type { Demos } from '../contract/web-pages.ts';
import { type Cells, perDatabase } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { toJson } from '../kernel/json.ts';
import { canonicalWithPauses } from '../kernel/long-json.ts';
import { clip } from '../kernel/strict-json.ts';
import { instrumentsOf } from '../metrics/instruments.ts';
import { type AdmissionLimits, limitAdmission, reportReached } from './admission.ts';
import { authenticator, authorize, type Caller, type OperatorCredential } from './auth.ts';
import { answerUnreadable } from './client-errors.ts';
import { codingOf, isCompressible } from './compression.ts';
import { type ConnectionLimits, connectionOptions, limitConnections, onSlowBody } from './connections.ts';
import { allowPublicApplications } from './cors.ts';
import { addDescription } from './description.ts';
import { addPages, answering, missingPage, refusePage } from './documents.ts';
import { goneOf } from './gone.ts';
import { idempotencyKey, requestDigest } from './idempotency.ts';
import { NO_BODY, readJson } from './json-body.ts';
import { READING, refuseUnrouted } from './methods.ts';
import { newRequestId, observeRequests } from './observe.ts';
import { queryOf } from './query.ts';
import type { RateGate } from './rate-limits.ts';
import { noteFile, recorder, sendFailure, sendReply, toFailure } from './respond.ts';
import { ROUTES } from './routes.ts';
import { transactions } from './transactions.ts';
import { type SpooledUpload, spool, type UploadGate, uploadGate } from './upload.ts';

export interface ServerOptions {
  readonly cells: Cells;
  readonly log: Logger;
  /** The public address, for Link headers. It is a function, because an ephemeral port is known only later. */
  readonly baseUrl: () => string;
  /** Proxies whose information about a request's origin is trusted. */
  readonly trustedProxies: readonly string[];
  readonly operator?: OperatorCredential;
  readonly env: Env;
  readonly demos: Demos | null;
  readonly limits: ConnectionLimits &
    Pick<AdmissionLimits, 'connections' | 'perAddress'> & {
      /** The maximum number of concurrent file uploads. */
      readonly uploads: number;
    };
  /** Limits the requests per minute. */
  readonly rates: RateGate;
  /** Why no requests should be sent here; null = ready. */
  readonly readiness: () => Promise<{ readonly reason: string; readonly message: string } | null>;
  /** The cells other than 0 that cannot be used. */
  readonly unavailableCells: () => Promise<readonly { readonly cell: number; readonly problem: string }[]>;
  /** Whether the server is stopping: requests are still answered, but connections are not kept for more. */
  readonly isStopping: () => boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
    /** The database of the caller's cell. */
    db?: Database;
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
    clientErrorHandler: answerUnreadable,
    // our routes validate and write JSON themselves: Fastify's code for it is 5 MB, and is not loaded
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // Node itself would refuse a request without Host, without our error body
    http: { requireHostHeader: false, ...connectionOptions(options.limits) },
    forceCloseConnections: 'idle',
  }) as unknown as FastifyInstance;

  // likewise, an unknown expectation is ignored, as RFC 9110 section 10.1.1 allows, instead of a bare 417
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  readBodies(app);
  // Synchronous hooks take `done`: with async ones, each request would wait for promises.
  observeRequests(app, options.cells.first);
  const { limits, trustedProxies } = options;
  limitAdmission(
    app.server,
    { ...limits, trustedProxies },
    reportReached({ db: options.cells.first, log: options.log }),
  );
  limitConnections(app, options.limits);
  allowPublicApplications(app, options.cells);
  const answer = answering(options);
  refuseUnrouted(app, refusePage, (request) => missingPage(request, answer));
  closeWhenStopping(app, options.isStopping);
  app.setErrorHandler((error: Error, request, reply) => sendFailure(reply, toFailure(error, request)));
  // the hook of refuseUnrouted has already responded
  app.setNotFoundHandler(() => undefined);
  addHealth(app, options);
  const authenticate = authenticator(options.cells, options.env.authorizeUrl, options.operator);
  const gate = uploadGate(options.limits.uploads);
  for (const route of ROUTES) addRoute(app, route, { ...options, gate }, authenticate);
  addPages(app, answer);
  addDescription(app, options);
  return app;
}

function noSchemas(): never {
  throw new Error('a route has a Fastify schema: use the record of its noun instead');
}

/**
 * A path whose percent escapes are not UTF-8 is still a path: its id is unknown instead of the request being malformed.
 */
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

/** The media types of files. Those after the first are for operations that detect the kind of a file from its bytes. */
const FILES = [
  'text/csv',
  'application/octet-stream',
  'application/xml',
  'text/xml',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.spreadsheet',
];

/** A body of a type that no operation reads. */
const UNREAD = Symbol('unread');

// Fastify parses no body here: bytes are kept whole and checked as UTF-8.
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  app.addContentTypeParser(FILES, (_request, payload, done) => done(null, payload));
  // zero bytes mean no body, whatever the type
  app.addContentTypeParser('*', (request, _payload, done) =>
    done(null, request.headers['content-length'] === '0' ? undefined : UNREAD),
  );
}

/**
 * From the moment the server is stopping, each response ends its connection. So a proxy has moved to other servers before
 * connections are cut, and none of its requests is in transit to a connection that is being closed.
 */
function closeWhenStopping(app: FastifyInstance, isStopping: () => boolean): void {
  let closing = false;
  const ending = new AbortController();
  app.decorate('ending', ending.signal);
  app.addHook('preClose', async () => {
    closing = true;
    ending.abort();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isStopping()) reply.header('connection', 'close');
    done();
  });
}

function addHealth(app: FastifyInstance, { readiness, unavailableCells }: ServerOptions): void {
  const answer = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: [...READING], url, handler });
  answer('/healthz', (_, reply) => reply.type('application/json').send('{"status":"ok"}'));
  answer('/readyz', async (_, reply) => {
    const [problem, cells] = await Promise.all([readiness(), unavailableCells()]);
    const body = {
      ...(problem === null ? { status: 'ready' } : { status: 'unavailable', ...problem }),
      ...(cells.length === 0 ? {} : { unavailable_cells: cells }),
    };
    return reply
      .code(problem === null ? 200 : 503)
      .type('application/json')
      .send(toJson(body));
  });
}

/** `/v2/affiliates/{affiliate_id}` in Fastify's notation. */
function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

interface RouteOptions extends ServerOptions {
  readonly gate: UploadGate;
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  options: RouteOptions,
  authenticate: ReturnType<typeof authenticator>,
): void {
  app.route({
    method: route.kind === 'read' ? [...READING] : route.method,
    url: fastifyPath(route.path),
    ...(route.kind === 'write' && route.bodyLimit ? { bodyLimit: route.bodyLimit } : {}),
    // Before the body is read: a caller without a key learns nothing about bodies.
    onRequest: async (request, reply) => {
      const { principal, db } = await authenticate(request);
      request.principal = principal;
      request.db = db;
      const rates = options.rates(principal);
      reply.headers(rates instanceof Promise ? await rates : rates);
      authorize(principal, route, request.headers);
    },
    handler: route.kind === 'read' ? reading(route, options) : writing(route, options),
  });
}

function callerOf({ principal, db }: FastifyRequest): Caller {
  if (!principal || !db) throw new Error('a route without authentication');
  return { principal, db };
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function reading(route: Route & { kind: 'read' }, { env, baseUrl }: ServerOptions): Handler {
  return async (request, reply) => {
    const { principal, db } = callerOf(request);
    const { query, list } = await queryOf(route, request, db.reader, principal);
    const isReplicable = route.list !== undefined || route.replicable === true;
    const reads = isReplicable ? db.reads() : { ...db, from: () => 'primary' };
    const result = await route.handle({
      db: reads.reader,
      primary: db.reader,
      requestId: request.id,
      env,
      snapshot: reads.snapshot,
      record: recorder(db, route, request.method),
      account: principal.account,
      principal,
      params: request.params as Record<string, string>,
      query,
      list: list as ListQuery,
    });
    instrumentsOf(db)?.count('reads', 1, { from: reads.from() });
    return sendReply(request, reply, noteFile(db, result), {
      base: baseUrl(),
      list,
      isKept: !route.secret,
      coding: isCompressible(route) ? codingOf(request, reply) : null,
    });
  };
}

function writing(route: Route & { kind: 'write' }, { env, baseUrl, gate }: RouteOptions): Handler {
  const answerIn = perDatabase((db) => transactions({ db, vault: env.vault }, route));
  // answers to wait for are events; previewing a file changes nothing, and a file may contain data that is stored nowhere in clear
  const isUnstored =
    route.waits !== undefined ||
    (route.upload !== undefined && route.needs === 'read') ||
    route.returns[200] === 'text/csv';
  return async (request, reply) => {
    const { principal, db } = callerOf(request);
    const key = idempotencyKey(request);
    const { query, list } = await queryOf(route, request, db.reader, principal);
    refuseEncoded(request);
    const upload = route.upload ? await readUpload(request, route.upload, gate) : undefined;
    try {
      const json = upload ? NO_BODY : await readJson(route, bytesOf(request), principal);
      const idempotent =
        key === undefined || isUnstored
          ? undefined
          : {
              principal,
              key,
              digest: requestDigest(
                request.method,
                request.url,
                upload?.digest ?? (await canonicalWithPauses(json)),
              ),
            };
      const result = await answerIn(db)({
        id: request.id,
        trace: request.trace,
        idempotent,
        gone: goneOf(request, reply, route),
        input: {
          requestId: request.id,
          env,
          account: principal.account,
          principal,
          params: request.params as Record<string, string>,
          query,
          list: list as ListQuery,
          body: json.value,
          json,
          upload: upload as Upload,
          ifMatch: route.ifMatch ? request.headers['if-match'] : undefined,
        },
      });
      return sendReply(request, reply, result, { base: baseUrl(), list });
    } finally {
      await upload?.close();
    }
  };
}

function bytesOf(request: FastifyRequest): Buffer {
  if (request.body === undefined || request.body === null) return Buffer.alloc(0);
  if (Buffer.isBuffer(request.body)) return request.body;
  throw wrongType(request, 'the body as Content-Type: application/json');
}

function wrongType({ headers }: FastifyRequest, wanted: string) {
  const given = headers['content-type'];
  return fail('unsupported_media_type', `send ${wanted}${given === undefined ? '' : `, not ${clip(given)}`}`);
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** Throws `unsupported_media_type` for bodies declared as compressed or not UTF-8. */
function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw fail(
      'unsupported_media_type',
      `send the body uncompressed, without Content-Encoding: ${clip(encoding)}`,
    );
  }
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw fail('unsupported_media_type', `send the body in UTF-8, not with charset=${clip(charset)}`);
  }
}

async function readUpload(
  request: FastifyRequest,
  wanted: UploadType,
  gate: UploadGate,
): Promise<SpooledUpload> {
  const payload = request.body;
  const [given = ''] = (request.headers['content-type'] ?? '').split(/[\s;]/);
  const accepted = wanted === 'text/csv' ? FILES.slice(0, 1) : [...FILES, 'application/json'];
  const isAccepted = accepted.includes(given.toLowerCase());
  if (payload === undefined && isAccepted) {
    const what = wanted === 'text/csv' ? ': its first line must name the columns' : '';
    throw fail('invalid_file', `the file is empty${what}`);
  }
  if (!isAccepted || payload === undefined || payload === null || payload === UNREAD) {
    throw wrongType(request, `the file as Content-Type: ${accepted.join(' or ')}`);
  }
  const leave = gate(callerOf(request).principal.account);
  // JSON is read as a whole before
  const body = Buffer.isBuffer(payload) ? Readable.from([payload]) : (payload as Readable);
  const spooling = { body, limit: UPLOAD_LIMIT, name: request.id };
  return spool({ ...spooling, onSlow: (refuse) => onSlowBody(request, refuse) }).then(
    (upload) => ({ ...upload, close: () => upload.close().finally(leave) }),
    (error: unknown) => {
      leave();
      throw error;
    },
  );
}
