import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Reader } from '../db/database.ts';
import { isPageOf, isPublicOrigin } from '../people/applications/service.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match';
const EXPOSED =
  'ETag, Link, Location, Retry-After, WWW-Authenticate, Content-Disposition, Idempotent-Replayed, ' +
  'Payhook-Reason, Payhook-Request-Id, Payhook-Dropped-Headers, RateLimit, RateLimit-Policy';
const PREFLIGHT_SECONDS = '600';

/** Who may read what is at a path from a page of another origin. */
type Readers = 'anybody' | 'applications' | 'tokens';

/**
 * Lets the pages of public OAuth applications call us (the Fetch standard, section "CORS protocol"): the metadata is
 * anybody's; the token and revocation endpoints answer the origins that public applications registered; `/v2` answers
 * these when the request carries an access token. Once it is known whose token it is, only the pages of that application
 * may read the answer; a confidential one has none. Cookies are never part of it: no answer has
 * `Access-Control-Allow-Credentials`, so no page can read what a session would show.
 */
export function allowPublicApplications(app: FastifyInstance, db: Reader): void {
  app.addHook('onRequest', async (request, reply) => {
    const readers = readersOf(request.url);
    const { origin } = request.headers;
    if (readers === null || origin === undefined) return undefined;
    reply.header('vary', 'Origin');
    const isAsking = isPreflight(request);
    // without a token the response holds nothing of an application's; a preflight never shows its token
    if (readers === 'tokens' && !isAsking && !hasAccessToken(request)) return undefined;
    if (readers !== 'anybody' && !(await isPublicOrigin(db, origin))) return undefined;
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
    // a refused token has no principal: the page that holds it must be able to read that it has expired
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

function readersOf(url: string): Readers | null {
  const path = url.split('?', 1)[0]?.replace(/\/$/, '') ?? '';
  if (path === '/.well-known/oauth-authorization-server') return 'anybody';
  if (path === '/oauth/token' || path === '/oauth/revoke') return 'applications';
  return path.startsWith('/v2/') ? 'tokens' : null;
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const hasAccessToken = ({ headers }: FastifyRequest) => /^bearer +pha_/i.test(headers.authorization ?? '');
