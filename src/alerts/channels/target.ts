import type { AlertChannelId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';

/** Where a channel is, and the secret that signs its requests; null = they are not signed. */
export interface Target {
  readonly url: string;
  readonly secret: string | null;
}

/** The context under which the target of a channel (UUID) is sealed. */
export const placeOfTarget = (channel: AlertChannelId): string => `alert channel ${channel} target`;

/** The sealed target of a channel. */
export function sealTarget(
  vault: Vault,
  channel: AlertChannelId,
  target: Target,
  fingerprint: string,
): Buffer {
  return vault.seal(JSON.stringify(target), placeOfTarget(channel), fingerprint);
}

/** Throws SecretKeyError when it was sealed under a key that this process does not hold. */
export function openTarget(vault: Vault, channel: AlertChannelId, sealed: Buffer): Target {
  return JSON.parse(vault.open(sealed, placeOfTarget(channel))) as Target;
}
