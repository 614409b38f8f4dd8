import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Coding, codingFor } from '../contract/codings.ts';
import type { Route } from '../contract/route.ts';

/** Below this, headers and the time it takes cost more than the bytes that are saved. */
const LEAST_BYTES = 1024;
const FAST = { br: 4, gzip: 4 };
/** What is compressed once and sent often. */
const SMALL = { br: 9, gzip: 9 };

const brotliOf = (quality: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } });

const [brotli, gzipped] = [promisify(brotliCompress), promisify<Buffer, object, Buffer>(gzip)];

const compressed = (bytes: Buffer, coding: Coding, quality: typeof FAST): Promise<Buffer> =>
  coding === 'br' ? brotli(bytes, brotliOf(quality.br)) : gzipped(bytes, { level: quality.gzip });

/** Bytes that are sent often, compressed as far as it goes. */
export const compressedOnce = (bytes: Buffer, coding: Coding) => compressed(bytes, coding, SMALL);

/**
 * Whether the answers of a route may be compressed: those of reads that show no secret. The length of a compressed answer says
 * something of what it holds to whoever can put text into it and see its length (CVE-2013-3587).
 */
export const isCompressible = (route: Route): boolean =>
  route.kind === 'read' && !route.confidential && !route.noStore;

/** The coding that a response goes out in; null = as it is. Notes that the response depends on what the client accepts. */
export function codingOf({ headers }: FastifyRequest, reply: FastifyReply): Coding | null {
  const varies = reply.getHeader('vary');
  reply.header('vary', varies === undefined ? 'Accept-Encoding' : `${varies}, Accept-Encoding`);
  return codingFor(headers['accept-encoding'] as string | undefined);
}

/** Whether a body is long enough to be compressed. */
export const isWorthIt = (text: string): boolean => text.length >= LEAST_BYTES;

/** The body of a response, compressed. */
export const compress = (text: string, coding: Coding): Promise<Buffer> =>
  compressed(Buffer.from(text), coding, FAST);

/** Whether a file of this type becomes smaller: PDF is compressed in itself. */
export const isText = (type = ''): boolean => /^(text\/|application\/(xml|json))/.test(type);

/** A file, compressed as it comes. When it fails, so does what is returned. */
export function compressing(stream: Readable, coding: Coding): Readable {
  const target = coding === 'br' ? createBrotliCompress(brotliOf(FAST.br)) : createGzip({ level: FAST.gzip });
  return pipeline(stream, target, () => undefined); // whoever sends it hears of errors
}
