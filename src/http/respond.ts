import { createHash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Coding } from '../contract/codings.ts';
import type { ListQuery } from '../contract/lists.ts';
import type { FileReply, Recorder, Reply, Route } from '../contract/route.ts';
import type { Database } from '../db/database.ts';
import { databaseFault } from '../db/faults.ts';
import { type Failure, Failure as FailureClass, fail } from '../kernel/errors.ts';
import { toJson } from '../kernel/json.ts';
import { compress, compressing, isText, isWorthIt } from './compression.ts';
import { etagIn, etagOf, isKnown, OWN_CACHE } from './etags.ts';
import { linkHeader } from './links.ts';
import { pathOf } from './methods.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Records what a read stores about itself: nothing for a HEAD, or if the route does not declare it. */
export function recorder(db: Database, { records }: Route & { kind: 'read' }, method: string): Recorder {
  return async (work) => {
    if (!records) throw new Error('a read recorded something without declaring it');
    return method === 'HEAD' ? null : db.transaction(work);
  };
}

/** A file whose digest is recorded after all of it was sent. */
export function noteFile<Result extends Reply>(db: Database, result: Result): Result {
  if (result.kind !== 'file' || result.noteDigest === undefined) return result;
  return { ...result, stream: digested(db, result.stream, result.noteDigest) };
}

/** Passes on the bytes of a file. After the last one, records their SHA-256, and only then ends the file. */
function digested(db: Database, stream: Readable, note: NonNullable<FileReply['noteDigest']>): Readable {
  const hash = createHash('sha256');
  return pipeline(
    stream,
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
      flush(done) {
        db.transaction((tx) => note(tx, hash.digest())).then(() => done(), done);
      },
    }),
    () => undefined, // the sender of the stream gets the errors
  );
}

interface Sent {
  /** Our public address, for a list's Link header. */
  readonly base: string;
  readonly list: ListQuery | undefined;
  /** Whether it was a read that the caller may cache. */
  readonly isKept?: boolean;
  /** Its compression, if worth it; null = none. */
  readonly coding?: Coding | null;
}

/** Sends what a handler returned. Responds 304 if the caller already has the record or list. */
export async function sendReply(
  request: FastifyRequest,
  reply: FastifyReply,
  result: Reply,
  { base, list, isKept = false, coding = null }: Sent,
): Promise<FastifyReply> {
  reply.code(result.status).headers(result.headers);
  if (result.kind === 'empty') return reply.send();
  if (result.kind === 'file') {
    // its ETag is the revision it was made from, and no cache keeps a copy
    const used = isText(result.headers['content-type']) ? coding : null;
    if (used !== null) reply.header('content-encoding', used);
    if (request.method === 'HEAD') {
      // destroyed at the first row, without waiting for the rest
      result.stream.once('error', () => undefined).destroy();
      return reply.send();
    }
    // If it fails midway, the connection is cut, so that a truncated file never looks complete.
    result.stream.once('error', (error) => {
      request.log.error({ err: error }, 'a download was cut off');
      reply.raw.destroy();
    });
    return reply.send(used === null ? result.stream : compressing(result.stream, used));
  }
  if (list && result.total !== undefined) {
    reply.header('link', linkHeader(addressOf(request, base), list, result.total));
  }
  const used = coding !== null && isWorthIt(result.json) ? coding : null;
  if (isKept) {
    const etag = etagOf(result.json, result.headers.etag);
    reply.headers({ etag: etagIn(etag, used), 'cache-control': OWN_CACHE });
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  }
  reply.type(JSON_TYPE);
  if (used === null) return reply.send(result.json);
  return reply.header('content-encoding', used).send(await compress(result.json, used));
}

/** The requested URL at our public address, whichever host the request names. */
function addressOf(request: FastifyRequest, base: string): URL {
  const [, query = ''] = request.url.split(/\?(.*)/s);
  return new URL(`${base}${pathOf(request)}${query === '' ? '' : `?${query}`}`);
}

/** Sends an error with the common error body, and its reason in `Payhook-Reason`. */
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

/** Converts anything thrown to a Failure. An unexpected error is logged and reported as `internal_error`. */
export function toFailure(
  error: FrameworkError,
  request: Pick<FastifyRequest, 'log' | 'id' | 'routeOptions' | 'db'>,
): Failure {
  if (error instanceof FailureClass) return error;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return fail('body_too_large', `the body may have at most ${request.routeOptions.bodyLimit} bytes here`);
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return fail('unsupported_media_type', 'send the body as Content-Type: application/json');
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return fail('malformed_request', error.message);
  }
  // Node's code for a caller that disconnected before the body was complete: the response reaches nobody
  if (error.code === 'ECONNRESET' && error.message === 'aborted') {
    return fail('malformed_request', 'the connection was closed before the body was complete');
  }
  const fault = databaseFault(error);
  if (fault === 'disk_full') {
    request.log.error({ err: error }, 'the disk is full');
    return fail('disk_full', 'the disk is full: nothing was written; free some space and try again', {
      'retry-after': '10',
    });
  }
  if (fault === 'too_long') {
    request.log.error({ err: error }, 'a statement took too long');
    return fail('took_too_long', 'a statement took longer than the server allows: nothing was written');
  }
  if (fault === 'unavailable') {
    request.log.error({ err: error }, 'PostgreSQL cannot be reached');
    const cell = request.db?.cell ?? 0;
    return cell === 0
      ? fail('database_unavailable', 'the database cannot be reached; try again', { 'retry-after': '2' })
      : fail('cell_unavailable', `cell ${cell} cannot be reached: try again`, { 'retry-after': '2' });
  }
  request.log.error({ err: error }, 'unexpected error');
  return fail('internal_error', `unexpected error; see request ${request.id} in the log of the server`);
}
