import { type AddressRules, refusalOfUrl } from '../../kernel/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import { PROXY_RULE, proxyOf, shownProxy } from '../../kernel/proxies.ts';

/**
 * The URL of an endpoint's proxy. The one before is kept, with its password, when it is sent back as it is shown. Throws
 * `invalid_proxy` unless webhooks might be sent to its address.
 */
export function checkedProxy(url: string, before: string | undefined, addresses: AddressRules): string {
  if (before !== undefined && isSameProxy(url, before)) return before;
  if (proxyOf(url) === null) throw fail('invalid_proxy', `proxy must be ${PROXY_RULE}`);
  const { protocol, host } = new URL(url);
  const problem = refusalOfUrl(`${protocol}//${host}`, addresses);
  if (problem !== null) throw fail('invalid_proxy', `proxy must ${problem}`);
  return url;
}

/** Whether a URL names the proxy there is: as it is stored, or as it is shown. */
export const isSameProxy = (url: string, before: string | undefined): boolean =>
  before !== undefined && (url === before || url === shownProxy(before));
