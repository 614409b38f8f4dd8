import { isIP } from 'node:net';

const URI = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/; // RFC 3986 section 2, without the fragment

export type ApplicationKind = 'confidential' | 'public';

/**
 * Why a text cannot be a redirect URI of an application of this kind, in words that follow "must", or null (RFC 6749
 * section 3.1.2, RFC 8252 sections 7.1 and 7.3).
 */
export function refusalOfRedirect(uri: string, kind: ApplicationKind): string | null {
  if (uri.includes('#')) return 'not have a fragment';
  if (!URI.test(uri)) return 'have the characters of a URI only; others are percent-encoded';
  if (!URL.canParse(uri)) return 'be an absolute URI';
  const { protocol, hostname, username, password } = new URL(uri);
  if (username !== '' || password !== '') return 'not contain a user name or password';
  if (protocol === 'https:' || protocol === 'http:') {
    if (!uri.toLowerCase().startsWith(`${protocol}//`)) return 'name a host';
    if (protocol === 'https:' || isLoopback(hostname)) return null;
    return 'begin with https://, or be http on a loopback host (localhost, 127.0.0.1, [::1])';
  }
  if (kind === 'confidential') return 'begin with https://, or with http:// on a loopback host';
  return protocol.includes('.') ? null : 'have a scheme with a dot, as com.example.app:/callback, or https';
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}
