import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../kernel/errors.ts';
import { clip } from '../kernel/strict-json.ts';

/** The methods of a read route: HEAD is GET without the body (RFC 9110 section 9.3.2). */
export const READING = ['GET', 'HEAD'] as const;

/** The methods of a server's paths. */
interface Methods {
  /** The methods of a path for `Allow` (RFC 9110 section 10.2.1); null = there is no such path. */
  at(path: string): string | null;
  /** Whether a request matched the route `url` although its path has a more specific route, which lacks the method. */
  belongsToAnother(url: string | undefined, path: string): boolean;
}

interface Template {
  readonly url: string;
  /** Sorts literals before parameters before wildcards. */
  readonly rank: string;
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** `current` has its own path for reading, but it names a payout, so other methods belong to the payout's operations. */
const ALIASES: ReadonlySet<string> = new Set(['/v2/affiliates/payouts/current']);

/** Records the routes added to a server from now on. */
function methodsOf(app: FastifyInstance): Methods {
  const templates = new Map<string, Template>();
  let sorted: Template[] | undefined;
  app.addHook('onRoute', ({ url, method }) => {
    const path = plain(url);
    const template = templates.get(path) ?? templateOf(path);
    for (const each of [method].flat()) template.methods.add(each);
    templates.set(path, template);
    sorted = undefined;
  });
  const find = (path: string) => {
    sorted ??= [...templates.values()].sort((a, b) => (a.rank < b.rank ? -1 : 1));
    return sorted.find(({ pattern }) => pattern.test(path));
  };
  return {
    at(path) {
      const everywhere = path === '*' ? [...templates.values()] : [find(path) ?? []].flat();
      if (everywhere.length === 0) return null;
      return [...new Set(everywhere.flatMap(({ methods }) => [...methods]).concat('OPTIONS'))].join(', ');
    },
    belongsToAnother(url, path) {
      // a path without parameters has only one route
      if (url === undefined || !url.includes(':')) return false;
      const found = find(path);
      return found !== undefined && found.url !== plain(url) && !ALIASES.has(found.url);
    },
  };
}

const plain = (url: string) => (url.length > 1 ? url.replace(/\/$/, '') : url);

function templateOf(url: string): Template {
  const segments = url.split('/').slice(1);
  const isParameter = (segment: string) => segment.startsWith(':');
  const pattern = segments.map((segment) =>
    segment === '*'
      ? '.*'
      : isParameter(segment)
        ? '[^/]+'
        : segment.replaceAll(/[.+?^$()[\]{}|\\]/g, '\\$&'),
  );
  const rank = segments.map((segment) => (segment === '*' ? '2' : isParameter(segment) ? '1' : '0')).join('');
  return { url, rank, pattern: new RegExp(`^/${pattern.join('/')}/?$`), methods: new Set() };
}

/** The path of a request, without the origin that a proxy puts in front (RFC 9112 section 3.2.2). */
export function pathOf({ url }: FastifyRequest): string {
  return (url.split('?', 1)[0] ?? '').replace(/^https?:\/\/[^/]*/i, '') || '/';
}

/**
 * Refuses, before anything is read: requests with two hosts, without a route, or with a method that the route lacks. Also
 * answers OPTIONS. `refusePage` handles a wrong method at a page for people, `missingPage` a browser without a route;
 * both return null to use the API's response.
 */
export function refuseUnrouted(
  app: FastifyInstance,
  refusePage: (path: string, message: string) => ((reply: FastifyReply) => FastifyReply) | null,
  missingPage: (request: FastifyRequest) => ((reply: FastifyReply) => Promise<FastifyReply>) | null,
): void {
  const methods = methodsOf(app);
  app.addHook('onRequest', async (request, reply) => {
    if (hosts(request.raw.rawHeaders) > 1)
      throw fail('malformed_request', 'the request has two Host headers');
    const path = pathOf(request);
    if (!request.is404 && !methods.belongsToAnother(request.routeOptions.url, path)) return;
    const allow = methods.at(path);
    const page = allow === null ? missingPage(request) : null;
    if (page) return page(reply);
    if (allow === null) throw fail('unknown_route', `there is no operation ${request.method} ${clip(path)}`);
    if (request.method === 'OPTIONS') return reply.code(204).header('allow', allow).send();
    const message = `${request.method} is not possible here; use ${allow}`;
    const asPage = refusePage(path, message);
    if (asPage) return asPage(reply.header('allow', allow));
    throw fail('method_not_allowed', message, { allow });
  });
}

/** RFC 9112 section 3.2: a request with two Host headers is ambiguous. Node would take the first. */
function hosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
