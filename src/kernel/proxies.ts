/** An HTTP proxy that connections are made through by its CONNECT method. */
export interface HttpProxy {
  /** `http:` or `https:`: how the proxy itself is reached. */
  readonly protocol: string;
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: string;
  /** The value of `Proxy-Authorization`; null = none. */
  readonly authorization: string | null;
}

const LONGEST_URL = 2048;

/** The rule that a URL must keep to name a proxy. */
export const PROXY_RULE =
  'an http or https URL of a host and port alone, such as http://user:password@proxy:3128';

/** The proxy that a URL names; null when it names none. */
export function proxyOf(text: string): HttpProxy | null {
  if (text.length > LONGEST_URL || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  const isPlain = /^https?:$/.test(protocol) && hostname !== '' && port !== '0';
  if (!isPlain || pathname !== '/' || search !== '' || hash !== '' || text.includes('#')) return null;
  const credentials = decoded(`${username}:${password}`);
  if (credentials === null) return null;
  return {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port || (protocol === 'https:' ? '443' : '80'),
    authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/** The URL of a proxy as it may be shown: with the user, without the password. */
export function shownProxy(url: string): string {
  const shown = new URL(url);
  shown.password = '';
  return shown.href.replace(/\/$/, '');
}

/** Whether a host is one of `names`, or below one of them. */
export function isBelow(hostname: string, names: readonly string[]): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  return names.some((name) => host === name || host.endsWith(`.${name}`));
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
