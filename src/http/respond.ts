import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../db/connect.ts';
import { type Failure, Failure as FailureClass, fail } from '../kernel/errors.ts';
import { toJson } from '../kernel/json.ts';
import { type ListQuery, linkHeader } from './lists.ts';
import type { Reply } from './route.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends what a handler returned. `list` and `base` give a list its Link header. */
export function sendReply(
  request: FastifyRequest,
  reply: FastifyReply,
  result: Reply,
  base: string,
  list?: ListQuery,
) {
  reply.code(result.status).headers(result.headers);
  if (result.kind === 'empty') return reply.send();
  if (result.kind === 'file') {
    // A failure midway cuts the connection: a file that ends short must never look whole.
    result.stream.once('error', (error) => {
      request.log.error({ err: error }, 'a download was cut off');
      reply.raw.destroy();
    });
    return reply.send(result.stream);
  }
  if (list && result.total !== undefined) {
    reply.header('link', linkHeader(new URL(request.url, base), list, result.total));
  }
  return reply.type(JSON_TYPE).send(result.json);
}

/** Sends an error in the envelope of the interface (section 7), with its reason in `Payhook-Reason`. */
export function sendFailure(reply: FastifyReply, failure: Failure) {
  return reply
    .code(failure.status)
    .headers({ ...failure.headers, 'payhook-reason': failure.reason })
    .type(JSON_TYPE)
    .send(envelope(failure));
}

/** The body of an error. */
export function envelope(failure: Failure): string {
  return toJson({ error: { code: failure.code, message: failure.message } });
}

interface FrameworkError extends Error {
  code?: string;
  statusCode?: number;
}

/** Makes a Failure of whatever was thrown; what nobody foresaw is logged and told as `internal_error`. */
export function toFailure(error: FrameworkError, request: Pick<FastifyRequest, 'log' | 'id'>): Failure {
  if (error instanceof FailureClass) return error;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail('body_too_large', 'the body is too large');
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return fail('unsupported_media_type', 'send the body as Content-Type: application/json');
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return fail('malformed_request', error.message);
  }
  // Node's word for a caller who left before the body was complete: nobody hears the answer
  if (error.code === 'ECONNRESET' && error.message === 'aborted') {
    return fail('malformed_request', 'the connection was closed before the body was complete');
  }
  if (isUnavailable(error)) {
    request.log.error({ err: error }, 'PostgreSQL cannot be reached');
    return fail('database_unavailable', 'the database cannot be reached; try again', { 'retry-after': '2' });
  }
  request.log.error({ err: error }, 'unexpected error');
  return fail('internal_error', `unexpected error; the log has it under request ${request.id}`);
}
