import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HEADER_COMPONENTS } from '../contract/headers.ts';
import type { Cells } from '../db/cells.ts';
import { isPageOf, isPublicOrigin } from '../people/applications/service.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match';
const EXPOSED = ['Payhook-Reason', ...Object.keys(HEADER_COMPONENTS)].join(', ');
const PREFLIGHT_SECONDS = '600';

/** Who may read a path from a page of another origin. */
type Readers = 'anybody' | 'applications' | 'tokens';

/**
 * Allows cross-origin requests from the pages of public OAuth applications (the Fetch standard, section "CORS protocol").
 * The metadata is open to all; the token and revocation endpoints allow the origins that public applications registered;
 * `/v2` allows these if the request carries an access token. Once the token is known, only pages of its application may
 * read the response; a confidential application has none. Cookies are never allowed: no response has
 * `Access-Control-Allow-Credentials`, so no page can read what a session would show.
 */
export function allowPublicApplications(app: FastifyInstance, cells: Cells): void {
  app.addHook('onRequest', async (request, reply) => {
    const readers = readersOf(request.url);
    const { origin } = request.headers;
    if (readers === null || origin === undefined) return undefined;
    reply.header('vary', 'Origin');
    const isAsking = isPreflight(request);
    // without a token the response contains nothing of an application; a preflight never carries its token
    if (readers === 'tokens' && !isAsking && !hasAccessToken(request)) return undefined;
    if (readers !== 'anybody' && !(await isKnown(cells, origin))) return undefined;
    reply
      .header('access-control-allow-origin', readers === 'anybody' ? '*' : origin)
      .header('access-control-expose-headers', EXPOSED);
    if (!isAsking) return undefined;
    return reply
      .code(204)
      .header('access-control-allow-methods', METHODS)
      .header('access-control-allow-headers', REQUEST_HEADERS)
      .header('access-control-max-age', PREFLIGHT_SECONDS)
      .send();
  });
  app.addHook('onSend', ({ principal, headers: { origin } }, reply, _payload, done) => {
    // a refused token has no principal: the page that has it must be able to read that it expired
    const mayRead =
      principal === undefined ||
      origin === undefined ||
      principal.redirectUris?.some((uri) => isPageOf(uri, origin));
    if (!mayRead) {
      reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
    }
    done();
  });
}

/** Whether an application of any cell has the origin: a preflight names neither application nor token. */
async function isKnown(cells: Cells, origin: string): Promise<boolean> {
  const asked = cells.list().flatMap(({ db }) => db ?? []);
  if (asked.length === 1) return isPublicOrigin(cells.first.reader, origin);
  // a cell that does not answer has no application that could be used
  const known = await Promise.all(asked.map((db) => isPublicOrigin(db.reader, origin).catch(() => false)));
  return known.includes(true);
}

function readersOf(url: string): Readers | null {
  const path = url.split('?', 1)[0]?.replace(/\/$/, '') ?? '';
  if (path === '/.well-known/oauth-authorization-server') return 'anybody';
  if (path === '/oauth/token' || path === '/oauth/revoke') return 'applications';
  return path.startsWith('/v2/') ? 'tokens' : null;
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const hasAccessToken = ({ headers }: FastifyRequest) => /^bearer +pha_/i.test(headers.authorization ?? '');
