import type { AccountId, AlertChannelId } from '../../kernel/ids.ts';
import type { AccountVault, SealedIn } from '../../kernel/vault.ts';

/** The URL of a channel, and the secret that signs its requests; null = they are not signed. */
export interface Target {
  readonly url: string;
  readonly secret: string | null;
}

/** What the target of a channel is sealed to. */
export const placeOfTarget = (account: AccountId, channel: AlertChannelId): SealedIn => ({
  account,
  place: `alert channel ${channel} target`,
});

/** The sealed target of a channel. */
export function sealTarget(
  { account, vault }: AccountVault,
  channel: AlertChannelId,
  target: Target,
  fingerprint: string,
): Buffer {
  return vault.seal(JSON.stringify(target), placeOfTarget(account, channel), fingerprint);
}

/** Throws SecretKeyError if it was sealed under a key that this process does not have. */
export function openTarget(
  { account, vault }: AccountVault,
  channel: AlertChannelId,
  sealed: Buffer,
): Target {
  return JSON.parse(vault.open(sealed, placeOfTarget(account, channel))) as Target;
}
