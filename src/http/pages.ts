import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findSession } from '../features/sessions/service.ts';
import { hashSecret, isSecret } from '../kernel/secrets.ts';
import { OAUTH_ROUTES } from '../oauth/routes.ts';
import { errorPage } from '../pages/html.ts';
import { PAGE_ROUTES } from '../pages/routes.ts';
import { sessionCookie } from './cookies.ts';
import { describe } from './openapi.ts';
import { json, type PageInput, type PageReply, type PageRoute, type SignedIn } from './page.ts';
import { toFailure } from './respond.ts';
import { ROUTES as OPERATIONS } from './routes.ts';
import type { ServerOptions } from './server.ts';

const FORM_LIMIT = 1 << 16;

/** Adds the pages for people and the OAuth endpoints: a plugin of its own, whose errors are not those of `/v2`. */
export function addPages(app: FastifyInstance, options: ServerOptions): void {
  app.register(async (pages) => {
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer', bodyLimit: FORM_LIMIT },
      (_request, body, done) => done(null, body),
    );
    for (const route of ROUTES) addPage(pages, route, options);
    for (const path of new Set(ROUTES.map((route) => route.path))) addOtherMethods(pages, path);
  });
}

const ROUTES: readonly PageRoute[] = [...OAUTH_ROUTES, ...PAGE_ROUTES];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** What a path does not know is refused in the words of the others there. */
function addOtherMethods(app: FastifyInstance, path: string): void {
  const known = ROUTES.filter((route) => route.path === path);
  const allow = known.map(({ method }) => method);
  const message = `only ${allow.join(' and ')} is possible here`;
  const answer =
    known[0]?.errors === 'oauth'
      ? json(405, { error: 'invalid_request', error_description: message }, { allow: allow.join(', ') })
      : errorPage(405, message);
  app.route({
    method: METHODS.filter((method) => !(allow as readonly string[]).includes(method)),
    url: path,
    handler: async (_, reply) =>
      sendPage(reply, { ...answer, headers: { ...answer.headers, allow: allow.join(', ') } }),
    errorHandler: (_error, _request, reply) => sendPage(reply, answer),
  });
}

function addPage(app: FastifyInstance, route: PageRoute, options: ServerOptions): void {
  app.route({
    method: route.method,
    url: route.path,
    bodyLimit: FORM_LIMIT,
    errorHandler: (error, request, reply) => sendPage(reply, unforeseen(route, error as Error, request)),
    handler: async (request, reply) => {
      const answer = await route.handle(await inputOf(request, options));
      return sendPage(reply, answer);
    },
  });
}

async function inputOf(request: FastifyRequest, options: ServerOptions): Promise<PageInput> {
  const start = request.url.indexOf('?');
  const { body } = request;
  return {
    db: options.db,
    log: request.log as PageInput['log'],
    method: request.method,
    headers: request.headers,
    query: new URLSearchParams(start === -1 ? '' : request.url.slice(start + 1)),
    form: new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : ''),
    signedIn: await signedInOf(request, options),
    address: request.ip,
    requestId: request.id,
    baseUrl: options.baseUrl(),
    authorizeUrl: options.authorizeUrl(),
    description: () => describe(OPERATIONS),
  };
}

async function signedInOf(request: FastifyRequest, { db }: ServerOptions): Promise<SignedIn | null> {
  const cookie = sessionCookie(request.headers.cookie);
  return cookie !== undefined && isSecret('phi_', cookie) ? findSession(db, hashSecret(cookie)) : null;
}

/** What nobody foresaw is told without saying what it was; what the framework refuses is the caller's mistake. */
function unforeseen(route: PageRoute, error: Error, request: FastifyRequest): PageReply {
  const { status, message } = toFailure(error, request);
  if (route.errors === 'page') return errorPage(status, message);
  const word = status === 500 ? 'server_error' : 'invalid_request';
  return json(status, {
    error: word,
    error_description: message.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'"),
  });
}

function sendPage(reply: FastifyReply, { status, body, type, headers, formTargets = [] }: PageReply) {
  const forms = ["'self'", ...formTargets].join(' ');
  // RFC 6749 section 5.1 wants both; a page that is the same for everybody says otherwise
  if (!('cache-control' in headers)) reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
  reply
    .code(status)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('x-frame-options', 'DENY')
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action ${forms}; base-uri 'none'; frame-ancestors 'none'`,
    );
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  if (type) reply.type(type);
  return reply.send(body);
}
