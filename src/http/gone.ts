import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SingleRoute } from '../contract/route.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server closes. */
    ending: AbortSignal;
  }
}

const NEVER = new AbortController().signal;

/** Says when the client of a request that may wait has gone, or the server ends. */
export function goneOf(
  { server }: FastifyRequest,
  { raw }: FastifyReply,
  { waits }: Pick<SingleRoute, 'waits'>,
): AbortSignal {
  if (waits === undefined) return NEVER;
  const gone = new AbortController();
  const end = () => gone.abort();
  server.ending.addEventListener('abort', end);
  raw.once('close', () => {
    server.ending.removeEventListener('abort', end);
    end();
  });
  return gone.signal;
}
