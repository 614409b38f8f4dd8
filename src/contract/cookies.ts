/** The name of the session's cookie. */
export const SESSION_COOKIE = 'payhook_session';

/**
 * The name of the session's cookie for this sign-in address. With https it has the prefix `__Host-`: browsers accept it
 * from this host only, so no other host of the domain can set it (RFC 6265bis section 4.1.3.2).
 */
export const sessionCookieName = (authorizeUrl: string) =>
  authorizeUrl.startsWith('https:') ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE;

/** The value of the session's cookie in a Cookie header (RFC 6265 section 5.4), or undefined. */
export function sessionCookie(header: string | undefined, authorizeUrl: string): string | undefined {
  const wanted = sessionCookieName(authorizeUrl);
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.split('=', 2);
    if (name?.trim() === wanted) return value?.trim();
  }
  return undefined;
}
