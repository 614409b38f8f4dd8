import { type AddressRules, refusalOfUrl } from '../../kernel/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import { PROXY_RULE, proxyOf, shownProxy } from '../../kernel/proxies.ts';

/**
 * The URL of an endpoint's proxy. If the shown form of the current URL is sent back, the current one is kept with its
 * password. Throws `invalid_proxy` unless webhooks could be sent to its address.
 */
export function checkedProxy(url: string, before: string | undefined, addresses: AddressRules): string {
  if (before !== undefined && isSameProxy(url, before)) return before;
  if (proxyOf(url) === null) throw fail('invalid_proxy', `proxy must be ${PROXY_RULE}`);
  const { protocol, host } = new URL(url);
  const problem = refusalOfUrl(`${protocol}//${host}`, addresses);
  if (problem !== null) throw fail('invalid_proxy', `proxy must ${problem}`);
  return url;
}

/** Whether a URL is that of the current proxy, either as stored or as shown. */
export const isSameProxy = (url: string, before: string | undefined): boolean =>
  before !== undefined && (url === before || url === shownProxy(before));
