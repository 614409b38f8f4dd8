import { type AccountId, idOf } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Language } from '../../notices/affiliate-kinds.ts';

/** The page that ends the notices to an affiliate. */
export const STOP_PATH = '/notices/stop';

interface Stopped {
  readonly account: AccountId;
  readonly affiliate: number;
}

const CONTEXT = 'link that ends notices to an affiliate';
const signed = ({ account, affiliate }: Stopped) => Buffer.from(`${account} ${affiliate}`);

/**
 * The address that ends the notices to an affiliate: signed under the secret key with this fingerprint, and without a secret of
 * the affiliate. `base` is the public address of the server.
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
  const sign = vault.digest(signed(stopped), CONTEXT, fingerprint).toString('base64url');
  const query = new URLSearchParams({
    link: idOf('acc', stopped.account),
    affiliate: String(stopped.affiliate),
    language,
    sign,
  });
  return `${base}${STOP_PATH}?${query}`;
}

/** Whether a link was signed for this affiliate, under a key that this process has. */
export const isSigned = (stopped: Stopped, sign: string, vault: Vault): boolean =>
  vault.isDigestOf(Buffer.from(sign, 'base64url'), signed(stopped), CONTEXT) === true;
