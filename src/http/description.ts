import type { FastifyInstance } from 'fastify';
import { toJson } from '../kernel/json.ts';
import { etagOf, isKnown } from './etags.ts';
import { READING } from './methods.ts';
import { describe } from './openapi.ts';
import { ROUTES } from './routes.ts';

/** Where the server and its pages are, as the world knows them. */
interface Addresses {
  readonly baseUrl: () => string;
  readonly authorizeUrl: () => string;
}

const CACHING = 'public, max-age=0, must-revalidate';

/** The description of `/v2` of a server at these addresses, its own name in it. */
export function descriptionOf({ baseUrl, authorizeUrl }: Addresses): Readonly<Record<string, unknown>> {
  return describe(ROUTES, { baseUrl: baseUrl(), authorizeUrl: authorizeUrl() });
}

/** Serves the description. It is made at the first request; after that the same bytes are sent, or 304. */
export function addDescription(app: FastifyInstance, addresses: Addresses): void {
  let printed: { readonly bytes: Buffer; readonly etag: string } | undefined;
  app.route({
    method: [...READING],
    url: '/v2/openapi.json',
    handler: (request, reply) => {
      printed ??= print(descriptionOf(addresses));
      const { bytes, etag } = printed;
      reply.headers({ etag, 'cache-control': CACHING });
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
      return reply.type('application/json').send(bytes);
    },
  });
}

function print(description: object): { bytes: Buffer; etag: string } {
  const bytes = Buffer.from(toJson(description));
  return { bytes, etag: etagOf(bytes) };
}
