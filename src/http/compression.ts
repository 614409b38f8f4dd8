import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Coding, codingFor } from '../contract/codings.ts';
import type { Route } from '../contract/route.ts';

/** Below this size, headers and time cost more than the saved bytes. */
const LEAST_BYTES = 1024;
const FAST = { br: 4, gzip: 4 };
/** For content that is compressed once and sent often. */
const SMALL = { br: 11, gzip: 9 };

const brotliOf = (quality: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } });

const [brotli, gzipped] = [promisify(brotliCompress), promisify<Buffer, object, Buffer>(gzip)];

const compressed = (bytes: Buffer, coding: Coding, quality: typeof FAST): Promise<Buffer> =>
  coding === 'br' ? brotli(bytes, brotliOf(quality.br)) : gzipped(bytes, { level: quality.gzip });

/** Compresses bytes that are sent often, at the highest useful level. */
export const compressedOnce = (bytes: Buffer, coding: Coding) => compressed(bytes, coding, SMALL);

/**
 * Whether the responses of a route may be compressed: reads without secrets. The length of a compressed response reveals
 * its content to an attacker who can inject text and see the length (CVE-2013-3587).
 */
export const isCompressible = (route: Route): boolean => route.kind === 'read' && !route.secret;

/** The coding of a response; null = uncompressed. Records in the response that it depends on what the client accepts. */
export function codingOf({ headers }: FastifyRequest, reply: FastifyReply): Coding | null {
  const varies = reply.getHeader('vary');
  reply.header('vary', varies === undefined ? 'Accept-Encoding' : `${varies}, Accept-Encoding`);
  return codingFor(headers['accept-encoding'] as string | undefined);
}

/** Whether a body is long enough to compress. */
export const isWorthIt = (text: string): boolean => text.length >= LEAST_BYTES;

/** Compresses the body of a response. */
export const compress = (text: string, coding: Coding): Promise<Buffer> =>
  compressed(Buffer.from(text), coding, FAST);

/** Whether compression makes a file of this type smaller: PDF is already compressed. */
export const isText = (type = ''): boolean => /^(text\/|application\/(xml|json))/.test(type);

/** Compresses a file as a stream. If the file fails, the returned stream fails too. */
export function compressing(stream: Readable, coding: Coding): Readable {
  const target = coding === 'br' ? createBrotliCompress(brotliOf(FAST.br)) : createGzip({ level: FAST.gzip });
  return pipeline(stream, target, () => undefined); // the sender of the stream gets the errors
}
