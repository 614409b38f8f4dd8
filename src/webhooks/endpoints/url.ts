import { hostname } from 'node:os';
import type { Env } from '../../contract/env.ts';
import type { Principal } from '../../contract/route.ts';
import { namesLoopback, PUBLIC_ONLY, refusalOfUrl } from '../../kernel/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import type { Columns } from './columns.ts';

const LOOPBACK_HINT = '; only `payhook webhooks create` on the machine of the server may name its loopback';

/**
 * The columns of a URL. Throws `invalid_url`.
 *
 * Only the operator of this machine may allow a URL on the loopback, and only for this machine. The networks that the
 * operator allowed are for the account, not for who it opens a portal to.
 */
export function urlColumns(
  url: string,
  { principal, addresses }: Pick<Env, 'addresses'> & { readonly principal: Principal },
): Columns {
  const isOfPortal = principal.portal !== undefined;
  const isLoopback = namesLoopback(url);
  const isLocal = isLoopback && principal.kind === 'operator';
  const problem = isLocal ? null : refusalOfUrl(url, isOfPortal ? PUBLIC_ONLY : addresses);
  if (problem !== null) {
    throw fail('invalid_url', `url must ${problem}${isLoopback && !isOfPortal ? LOOPBACK_HINT : ''}`);
  }
  return {
    url,
    local_url: isLocal ? url : null,
    local_machine: isLocal ? hostname() : null,
    public_only: isOfPortal,
  };
}
