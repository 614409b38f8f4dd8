import type { FastifyInstance } from 'fastify';
import type { Coding } from '../contract/codings.ts';
import type { Env } from '../contract/env.ts';
import { toJson } from '../kernel/json.ts';
import { codingOf, compressedOnce } from './compression.ts';
import { etagIn, etagOf, isKnown } from './etags.ts';
import { READING } from './methods.ts';
import { describe } from './openapi.ts';
import { ROUTES } from './routes.ts';

/** The public addresses of the server and its pages. */
export interface Addresses {
  readonly baseUrl: () => string;
  readonly env: Pick<Env, 'authorizeUrl'>;
}

const CACHING = 'public, max-age=0, must-revalidate';

const addressesOf = ({ baseUrl, env }: Addresses) => ({
  baseUrl: baseUrl(),
  authorizeUrl: env.authorizeUrl(),
});

/** Serves the description. It is built at the first request; after that the same bytes are sent, or 304. */
export function addDescription(app: FastifyInstance, addresses: Addresses): void {
  let printed: Printed | undefined;
  app.route({
    method: [...READING],
    url: '/v2/openapi.json',
    handler: async (request, reply) => {
      printed ??= print(describe(ROUTES, addressesOf(addresses)));
      const { bytes, etag, compressed } = printed;
      const coding = codingOf(request, reply);
      reply.headers({ etag: etagIn(etag, coding), 'cache-control': CACHING });
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
      reply.type('application/json');
      if (coding === null) return reply.send(bytes);
      compressed[coding] ??= compressedOnce(bytes, coding);
      return reply.header('content-encoding', coding).send(await compressed[coding]);
    },
  });
}

interface Printed {
  readonly bytes: Buffer;
  readonly etag: string;
  /** Compressed on first use. */
  readonly compressed: { [Name in Coding]?: Promise<Buffer> };
}

function print(description: object): Printed {
  const bytes = Buffer.from(toJson(description));
  return { bytes, etag: etagOf(bytes), compressed: {} };
}
