import { randomBytes } from 'node:crypto';
import type { AccountId, EndpointId } from '../kernel/ids.ts';
import type { SealedIn } from '../kernel/vault.ts';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;

/** A new signing secret: `whsec_` and 32 random bytes in base64 (Standard Webhooks, "Signature scheme"). */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString('base64');
}

/** The key bytes of a signing secret. */
export function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/** The sealed values of an endpoint. */
export type SealedPart = 'secret' | 'headers' | 'egress';

/** What a value of an endpoint is sealed to. */
export function placeOf(account: AccountId, endpoint: EndpointId, what: SealedPart): SealedIn {
  return { account, place: `webhook endpoint ${endpoint} ${what}` };
}
