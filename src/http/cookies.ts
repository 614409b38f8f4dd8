/** The name of the session's cookie. */
export const SESSION_COOKIE = 'payhook_session';

/** The value of the session's cookie in a Cookie header (RFC 6265 section 5.4), or undefined. */
export function sessionCookie(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.split('=', 2);
    if (name?.trim() === SESSION_COOKIE) return value?.trim();
  }
  return undefined;
}
