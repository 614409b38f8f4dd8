import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sessionCookie } from '../contract/cookies.ts';
import type { Env } from '../contract/env.ts';
import {
  json,
  type PageInput,
  type PageReply,
  type PageRoute,
  type SignedIn,
} from '../contract/web-pages.ts';
import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import { subscriberOf } from '../kernel/addresses.ts';
import { type Failure, fail } from '../kernel/errors.ts';
import { cellOfId } from '../kernel/ids.ts';
import { createPlaces } from '../kernel/places.ts';
import { cellOf, hashSecret, isSecret } from '../kernel/secrets.ts';
import { OAUTH_ROUTES } from '../oauth/routes.ts';
import { findSession } from '../people/sessions/service.ts';
import { showDashboard } from '../screens/dashboard.ts';
import { nothingHere } from '../screens/guard.ts';
import { errorPage } from '../screens/html/html.ts';
import { PAGE_ROUTES } from '../screens/routes.ts';
import type { Addresses } from './description.ts';
import { pathOf, READING } from './methods.ts';
import { toFailure } from './respond.ts';

/**
 * The maximum number of concurrent requests without an identity, at most half of them from one address: two connections
 * serve them.
 */
const MOST_ANONYMOUS = 100;
const TRY_AGAIN_SECONDS = 2;
// A consent form carries the parameters of its request; the OAuth endpoints for programs take a few short values.
const FORM_LIMIT = 1 << 16;
const OAUTH_FORM_LIMIT = 1 << 14;
const MOST_PARAMETERS = 100;

/** What pages need of the server. */
interface PageOptions extends Addresses {
  readonly cells: Cells;
  readonly env: Pick<Env, 'authorizeUrl' | 'vault'>;
  readonly demos: PageInput['demos'];
}

/** Responds to a request at a page route. */
type Answering = (request: FastifyRequest, route: PageRoute) => Promise<PageReply>;

/**
 * Responds to page requests. Those without an identity have their own connections and slots; one without a free slot is
 * refused with 503 (RFC 9110 section 15.6.4), so that nobody waits long behind a flood.
 */
export function answering(options: PageOptions): Answering {
  const takePlace = createPlaces(MOST_ANONYMOUS);
  return async (request, route) => {
    const input = await inputOf(request, options, route);
    if (input.signedIn !== null || route.isStatic) return route.handle(input);
    const leave = takePlace(subscriberOf(request.ip));
    if (leave === null) return tooBusy(route);
    try {
      return await route.handle(input);
    } finally {
      leave();
    }
  };
}

function tooBusy({ errors }: PageRoute): PageReply {
  const message = 'too many requests of this kind are in progress: try again in a few seconds';
  const answer =
    errors === 'oauth'
      ? json(503, { error: 'temporarily_unavailable', error_description: message })
      : errorPage(503, message);
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(TRY_AGAIN_SECONDS) } };
}

/**
 * Adds the pages for people and the OAuth endpoints, as a separate plugin because its errors differ from those of `/v2`.
 */
export function addPages(app: FastifyInstance, answer: Answering): void {
  app.register(async (pages) => {
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'buffer', bodyLimit: FORM_LIMIT },
      (_request, body, done) => done(null, body),
    );
    for (const route of ROUTES) if (!route.ignoresBody) addPage(pages, route, answer);
    pages.register(async (others) => {
      others.addContentTypeParser(
        'multipart/form-data',
        { parseAs: 'buffer', bodyLimit: FORM_LIMIT },
        (_request, _body, done) => done(null, undefined),
      );
      for (const route of ROUTES) if (route.ignoresBody) addPage(others, route, answer);
    });
  });
}

/** `/` has no route: programs get the API's 404 there. */
const HOME_ROUTE: PageRoute = {
  method: 'GET',
  path: '/',
  errors: 'page',
  isStatic: true,
  handle: showDashboard,
};

const ROUTES: readonly PageRoute[] = [...OAUTH_ROUTES, ...PAGE_ROUTES];

/** How a page refuses a method it does not have, in its own format; null if there is no page. */
export function refusePage(path: string, message: string): ((reply: FastifyReply) => FastifyReply) | null {
  const plain = path.replace(/\/$/, '') || '/';
  const isHere = (at: string) => at === plain || (at.endsWith('*') && path.startsWith(at.slice(0, -1)));
  const known = ROUTES.find((route) => isHere(route.path));
  if (known === undefined) return null;
  const answer =
    known.errors === 'oauth'
      ? json(405, { error: 'invalid_request', error_description: message })
      : errorPage(405, `${message}. Open the page again, and use its links and buttons`);
  return (reply) => sendPage(reply, answer);
}

/**
 * The response to a browser where there is no route: the dashboard at `/`, elsewhere an error page. null for programs,
 * which do not accept HTML, and in the API, whose errors are always JSON.
 */
export function missingPage(
  request: FastifyRequest,
  answer: Answering,
): ((reply: FastifyReply) => Promise<FastifyReply>) | null {
  const path = pathOf(request);
  const isReading = READING.some((method) => method === request.method);
  if (!isReading || /^\/v2(\/|$)/i.test(path) || !wantsHtml(request.headers.accept)) return null;
  return async (reply) => {
    if (path !== '/') return sendPage(reply, nothingHere());
    try {
      return sendPage(reply, await answer(request, HOME_ROUTE));
    } catch (error) {
      return sendPage(reply, failurePage(toFailure(error as Error, request)));
    }
  };
}

/** Browsers accept HTML explicitly when they open an address; programs accept JSON, anything, or nothing. */
function wantsHtml(accept = ''): boolean {
  return /(^|,)\s*text\/html\s*(,|;|$)/i.test(accept);
}

function addPage(app: FastifyInstance, route: PageRoute, answer: Answering): void {
  app.route({
    method: route.method === 'GET' ? [...READING] : route.method,
    url: route.path,
    bodyLimit: route.errors === 'oauth' ? OAUTH_FORM_LIMIT : FORM_LIMIT,
    errorHandler: (error, request, reply) => sendPage(reply, unforeseen(route, error as Error, request)),
    handler: async (request, reply) => sendPage(reply, await answer(request, route)),
  });
}

async function inputOf(
  request: FastifyRequest,
  options: PageOptions,
  { isPublic = false, withoutCell = false }: PageRoute,
): Promise<PageInput> {
  const start = request.url.indexOf('?');
  const { body } = request;
  // both are checked before anything is looked up
  const query = parametersOf(start === -1 ? '' : request.url.slice(start + 1));
  const form = parametersOf(Buffer.isBuffer(body) ? body.toString() : '');
  const cookie = sessionCookie(request.headers.cookie, options.env.authorizeUrl());
  const named = cellNamedBy(request.headers.authorization, query, form);
  const visitorWith = (sent: string | undefined) => visitorOf(request, options.cells, sent, named);
  const visitor = await visitorWith(isPublic ? undefined : cookie).catch((error: Error) => {
    if (!withoutCell || toFailure(error, request).reason !== 'cell_unavailable') throw error;
    return visitorWith(undefined);
  });
  return {
    ...visitor,
    cells: options.cells,
    vault: options.env.vault,
    demos: options.demos,
    log: request.log as PageInput['log'],
    method: request.method === 'HEAD' ? 'GET' : request.method,
    path: pathOf(request),
    headers: request.headers,
    query,
    form,
    address: request.ip,
    requestId: request.id,
    baseUrl: options.baseUrl(),
    authorizeUrl: options.env.authorizeUrl(),
  };
}

/** The parameters of a query or a form. Throws `malformed_request` if there are more than any of our pages has. */
function parametersOf(text: string): URLSearchParams {
  const parameters = new URLSearchParams(text);
  if (parameters.size <= MOST_PARAMETERS) return parameters;
  throw fail('malformed_request', `the request has more than ${MOST_PARAMETERS} parameters`);
}

/** The user of a cookie, and the database of the cell that the request names; default: that of the cookie. */
async function visitorOf(
  request: FastifyRequest,
  cells: Cells,
  cookie: string | undefined,
  named: number | null,
): Promise<Pick<PageInput, 'db' | 'signedIn'>> {
  const db = cells.of(named ?? cellOf(cookie ?? '')) ?? cells.first;
  request.db = db;
  const signedIn = cookie === undefined ? null : await signedInOf(db, cookie);
  return { db: signedIn === null ? db.anonymous : db, signedIn };
}

/** The user whose session the cookie is, if the session is in this cell. */
async function signedInOf(db: Database, cookie: string): Promise<SignedIn | null> {
  return isSecret('phi_', cookie) && cellOf(cookie) === db.cell ? findSession(db, hashSecret(cookie)) : null;
}

/** The cell of the application, the link or the token in a request; null = it has none. */
function cellNamedBy(authorization: string | undefined, ...sent: URLSearchParams[]): number | null {
  const basic = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1];
  const client = basic && Buffer.from(basic, 'base64').toString().split(':')[0];
  if (client) return cellOfId(client);
  for (const parameters of sent) {
    for (const id of ['client_id', 'link']) if (parameters.has(id)) return cellOfId(parameters.get(id) ?? '');
    if (parameters.has('token')) return cellOf(parameters.get('token') ?? '');
  }
  return null;
}

/** An unexpected error is reported without details. What the framework refuses is the caller's mistake. */
function unforeseen(route: PageRoute, error: Error, request: FastifyRequest): PageReply {
  const failure = toFailure(error, request);
  if (route.errors === 'page') return failurePage(failure);
  const { status, message } = failure;
  const word = status === 500 ? 'server_error' : 'invalid_request';
  return json(status, {
    error: word,
    error_description: message.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "'"),
  });
}

/** Our own failures say whether to try again. A request that could not be read has to be started again. */
function failurePage({ status, message }: Failure): PageReply {
  return errorPage(status, status < 500 ? `${message}. Open the page again from the start page` : message);
}

/**
 * The pages on the way to a grant. Applications may open them in a window, and communicate with it when it returns to
 * them; other pages keep no reference to the page that opened them (Cross-Origin-Opener-Policy, HTML Standard section
 * 7.1.3).
 */
const KEEPS_OPENER = /^\/(sign-in|account\/switch|oauth\/)/;

function sendPage(
  reply: FastifyReply,
  { status, body, type, headers, formTargets = [], isFramed = false }: PageReply,
) {
  const forms = ["'self'", ...formTargets].join(' ');
  // RFC 6749 section 5.1 requires both; public pages set their own
  if (!('cache-control' in headers)) reply.header('cache-control', 'no-store').header('pragma', 'no-cache');
  reply
    .code(status)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header(
      'cross-origin-opener-policy',
      KEEPS_OPENER.test(pathOf(reply.request)) ? 'unsafe-none' : 'same-origin',
    )
    .header(
      'content-security-policy',
      `default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action ${forms}; base-uri 'none'; frame-ancestors 'none'`,
    );
  if (!isFramed) reply.header('x-frame-options', 'DENY');
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  if (type) reply.type(type);
  return reply.send(body);
}
