import { type AccountId, type EndpointId, idOf, numberIdOf, uuidOf } from '../kernel/ids.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Language } from './affiliate-kinds.ts';

/** The page that ends the notices to an affiliate, or to the contact of a webhook endpoint. */
export const STOP_PATH = '/notices/stop';

/** Whose notices a link ends: an affiliate's, or those about an endpoint to an address (its hash). */
export type Stopped =
  | { readonly account: AccountId; readonly affiliate: number }
  | { readonly account: AccountId; readonly endpoint: EndpointId; readonly to: string };

const CONTEXTS = {
  affiliate: 'link that ends notices to an affiliate',
  endpoint: 'link that ends notices to the contact of an endpoint',
};

/** What is signed, and for what. */
const signed = (stopped: Stopped): readonly [bytes: Buffer, context: string] =>
  'affiliate' in stopped
    ? [Buffer.from(`${stopped.account} ${stopped.affiliate}`), CONTEXTS.affiliate]
    : [Buffer.from(`${stopped.account} ${stopped.endpoint} ${stopped.to}`), CONTEXTS.endpoint];

/**
 * The address that ends notices: signed under the secret key with this fingerprint, and without a secret or an address of the reader.
 * `base` is the public address of the server.
 */
export function stopLink(
  stopped: Stopped,
  {
    base,
    vault,
    fingerprint,
    language,
  }: { base: string; vault: Vault; fingerprint: string; language: Language },
): string {
  const sign = vault.digest(...signed(stopped), fingerprint).toString('base64url');
  const query = new URLSearchParams({
    link: idOf('acc', stopped.account),
    ...('affiliate' in stopped
      ? { affiliate: String(stopped.affiliate) }
      : { endpoint: idOf('we', stopped.endpoint), to: stopped.to }),
    language,
    sign,
  });
  return `${base}${STOP_PATH}?${query}`;
}

/** Whose notices a link ends; null if it was not signed under a key that this process has. */
export function stoppedBy(query: URLSearchParams, vault: Vault): Stopped | null {
  const stopped = namedIn(query);
  const sign = Buffer.from(query.get('sign') ?? '', 'base64url');
  return stopped !== null && vault.isDigestOf(sign, ...signed(stopped)) === true ? stopped : null;
}

function namedIn(query: URLSearchParams): Stopped | null {
  const account = uuidOf('acc', query.get('link') ?? '');
  const affiliate = numberIdOf(query.get('affiliate') ?? '');
  const endpoint = uuidOf('we', query.get('endpoint') ?? '');
  if (account === null) return null;
  if (endpoint !== null) return { account, endpoint, to: query.get('to') ?? '' };
  return affiliate === null ? null : { account, affiliate };
}
