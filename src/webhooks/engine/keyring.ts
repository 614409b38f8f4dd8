import type { Vault } from '../../kernel/vault.ts';
import type { Leased, SealedSignature } from '../../outbox/hand-over.ts';
import { placeOf } from '../../outbox/secrets.ts';
import type { ClientCredentials, Egress } from '../egress/record.ts';
import { type Signers, signersOf } from '../signing/schemes.ts';
import { type EgressRoute, egressRouteOf } from './egress-routes.ts';

/** Logged instead of the value of a merchant's own header, which may be a password. */
const HIDDEN = '(hidden)';
const KEPT = 10_000;

/** The sealed values of an endpoint, opened. */
export interface Opened extends Signers {
  /** The endpoint's own headers as sent; null = none. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** The same as shown in the log. */
  readonly shown: Readonly<Record<string, string>> | null;
  /** The egress route of its requests; undefined = the server's. */
  readonly route: EgressRoute | undefined;
  /** The credentials for access tokens; a new object after each change. */
  readonly credentials: ClientCredentials | undefined;
}

type Sealed = Pick<Leased, 'signature' | 'secondSignature' | 'headerValues' | 'egress'>;

/** Opens the sealed values of endpoints, and caches them until they change. */
export function createKeyring(vault: Vault): { open(delivery: Leased): Opened } {
  const kept = new Map<string, { sealed: Sealed; opened: Opened }>();
  return {
    open(delivery) {
      const { account, endpoint, signature, secondSignature, headerNames, headerValues, egress } = delivery;
      const whose = `${account} ${endpoint}`;
      const known = kept.get(whose);
      if (known && areSame(known.sealed, delivery)) return known.opened;
      const values = headerValues
        ? (JSON.parse(vault.open(headerValues, placeOf(account, endpoint, 'headers'))) as string[])
        : null;
      const openOf = ({ signing, secret }: SealedSignature) => ({
        signing,
        secret: vault.open(secret, placeOf(account, endpoint, 'secret')),
      });
      const { credentials, ...route } = (
        egress ? JSON.parse(vault.open(egress, placeOf(account, endpoint, 'egress'))) : {}
      ) as Egress;
      const hidden = credentials ? [...headerNames, 'authorization'] : headerNames;
      const opened = {
        ...signersOf(openOf(signature), secondSignature ? openOf(secondSignature) : undefined),
        headers: values && Object.fromEntries(headerNames.map((name, index) => [name, values[index] ?? ''])),
        shown: values || credentials ? Object.fromEntries(hidden.map((name) => [name, HIDDEN])) : null,
        route: egressRouteOf(route),
        credentials,
      };
      if (kept.size >= KEPT) kept.clear();
      kept.set(whose, { sealed: { signature, secondSignature, headerValues, egress }, opened });
      return opened;
    },
  };
}

function areSame(one: Sealed, other: Sealed): boolean {
  return (
    isSameSignature(one.signature, other.signature) &&
    isSameSignature(one.secondSignature, other.secondSignature) &&
    isSameValue(one.headerValues, other.headerValues) &&
    isSameValue(one.egress, other.egress)
  );
}

const isSameSignature = (one: SealedSignature | null, other: SealedSignature | null) =>
  one?.signing === other?.signing && isSameValue(one?.secret ?? null, other?.secret ?? null);

// every sealing has its own nonce: a resealed value has other bytes
const isSameValue = (one: Buffer | null, other: Buffer | null) =>
  one === null || other === null ? one === other : one.equals(other);
