import { createHash } from 'node:crypto';
import { CODINGS, type Coding } from '../contract/codings.ts';

/** The caller may cache it, but must revalidate it each time. */
export const OWN_CACHE = 'private, no-cache';

const digestOf = (bytes: string | Buffer) =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 22);

/**
 * The ETag (RFC 9110 section 8.8.3) of a response: a digest of its bytes, so any change of them changes the ETag. For a
 * record with a revision the revision comes first: `"7-x8f…"`, which If-Match accepts like `"7"`.
 */
export function etagOf(bytes: string | Buffer, revision?: string): string {
  const number = /^"(\d+)"$/.exec(revision ?? '')?.[1];
  return number === undefined ? `"${digestOf(bytes)}"` : `"${number}-${digestOf(bytes)}"`;
}

/** The ETag of a response in a coding: different bytes have a different ETag (RFC 9110 section 8.8.3). */
export const etagIn = (etag: string, coding: Coding | null): string =>
  coding === null ? etag : etag.replace(/"$/, `-${coding}"`);

/**
 * Whether If-None-Match (RFC 9110 section 13.1.2) contains the ETag, in any coding, including weak ones, into which
 * compressing proxies turn them.
 */
export function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  const known = ['*', etag, ...CODINGS.map((coding) => etagIn(etag, coding))];
  return tags?.some((tag) => known.includes(tag)) ?? false;
}
