import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../db/database.ts';
import { type TraceContext, traceOf } from '../kernel/trace.ts';
import { instrumentsOf } from '../metrics/instruments.ts';
import { type Span, tracerOf } from '../metrics/traces.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace that the request's effects continue: that of its span, or of the caller. */
    trace: TraceContext | null;
    span: Span | undefined;
  }
}

/** The id of a request in responses, in the log and in the audit log. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '').slice(8)}`;
}

/** The caller's own request ids that are safe in a log and in a header. */
const OWN_ID = /^[\w.:/+=@-]{1,128}$/;

/** The caller's own id of a request (X-Request-Id); undefined if missing or malformed. */
function ownIdOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && OWN_ID.test(id) ? id : undefined;
}

/** Adds the common headers to every response, and records every request in the log and the metrics. */
export function observeRequests(app: FastifyInstance, db: Database): void {
  app.decorateRequest('trace', null);
  app.decorateRequest('span');
  app.addHook('onRequest', (request, reply, done) => {
    beginSpan(request, db);
    reply
      .header('payhook-request-id', request.id)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff');
    const ownId = ownIdOf(request);
    if (ownId !== undefined) reply.header('x-request-id', ownId);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { principal, method } = request;
    // the pattern of the route, never the path
    const route = request.routeOptions.url;
    const status = reply.statusCode;
    instrumentsOf(request.db ?? db)?.observe('request', reply.elapsedTime / 1000, {
      method,
      route: route ?? 'unknown',
      status,
    });
    request.span?.end({ 'http.response.status_code': status }, status >= 500);
    request.log.info(
      {
        method,
        route,
        status,
        reason: reply.getHeader('payhook-reason'),
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        principal: principal?.id,
        account: principal?.account,
        x_request_id: ownIdOf(request),
      },
      'request',
    );
    done();
  });
}

function beginSpan(request: FastifyRequest, db: Database): void {
  const parent = traceOf(request.headers);
  const { method } = request;
  const route = request.routeOptions.url;
  request.span = tracerOf(db)?.start({
    kind: 'server',
    name: route === undefined ? method : `${method} ${route}`,
    parent,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'payhook.request_id': request.id,
      'payhook.x_request_id': ownIdOf(request),
    },
  });
  request.trace = request.span?.trace ?? parent;
}
