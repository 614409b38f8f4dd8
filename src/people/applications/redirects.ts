import { isIP } from 'node:net';

const URI = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/; // RFC 3986 section 2, without the fragment

export type ApplicationKind = 'confidential' | 'public';

/**
 * Why a text cannot be a redirect URI of an application of this kind, in words that follow "must", or null (RFC 6749
 * section 3.1.2, RFC 8252 sections 7.1 and 7.3).
 */
export function refusalOfRedirect(uri: string, kind: ApplicationKind): string | null {
  if (uri.includes('#')) return 'not have a fragment';
  if (!URI.test(uri)) return 'contain only characters of a URI; others must be percent-encoded';
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

/** What decides which redirect URIs an application may use. */
export interface Registration {
  readonly kind: ApplicationKind;
  readonly redirect_uris: readonly string[];
}

/**
 * Whether an application may be answered at `uri`: it must be one of its own, character by character (RFC 9700
 * section 4.1.3). For public applications on 127.0.0.1 or [::1] the port may differ, because a program on a device
 * takes any free port (RFC 8252 section 7.3). That does not hold for `localhost`, which may name another machine
 * (section 8.3).
 */
export function mayRedirectTo({ kind, redirect_uris }: Registration, uri: string): boolean {
  if (redirect_uris.includes(uri)) return true;
  const asked = kind === 'public' ? withoutLoopbackPort(uri) : null;
  return asked !== null && redirect_uris.some((own) => withoutLoopbackPort(own) === asked);
}

/** Whether the page at `uri` has this origin, as browsers write it; on the loopback with any port. */
export function isPageOf(uri: string, origin: string): boolean {
  const own = new URL(uri).origin;
  const bare = withoutLoopbackPort(origin);
  return own === origin || (bare !== null && withoutLoopbackPort(own) === bare);
}

const LOOPBACK_ADDRESS = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?(?=[/?]|$)/;

/** The URI without its port when its host is a loopback address, else null. */
function withoutLoopbackPort(uri: string): string | null {
  const [whole = '', host, port = '80'] = LOOPBACK_ADDRESS.exec(uri) ?? [];
  return host === undefined || Number(port) > 65_535 ? null : host + uri.slice(whole.length);
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'))
  );
}
