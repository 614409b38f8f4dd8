import { fail } from '../../kernel/errors.ts';
import { clip } from '../../kernel/strict-json.ts';

const RULE =
  'must be an origin such as https://shop.example.com: https, or http on localhost or 127.0.0.1, with a host and ' +
  'perhaps a port, and nothing behind them';
// What a browser reads in `frame-ancestors` as this host alone: no wildcard, and no IPv6 address, which it cannot name.
const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;

/** Origins as browsers write them, each once. Throws `invalid_body` naming the entry and the rule. */
export function originsFrom(texts: readonly string[]): string[] {
  return [...new Set(texts.map(originFrom))];
}

function originFrom(text: string, index: number): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  // the URL with nothing left out: a path, a query or a user name would be silently ignored
  const isBare = url !== null && url.href === `${url.origin}/` && /^https?:\/\/[^/\s\\]+\/?$/i.test(text);
  const isAllowed = url?.protocol === 'https:' || /^(localhost|127\.0\.0\.1)$/.test(url?.hostname ?? '');
  if (url === null || !isBare || !isAllowed || !HOST.test(url.hostname)) {
    throw fail('invalid_body', `portal_origins[${index}] ${RULE}, not ${clip(text)}`);
  }
  return url.origin;
}
