import type { Vault } from '../../kernel/vault.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import { placeOf, signingKey } from '../../outbox/secrets.ts';

/** What the log shows instead of the value of a merchant's own header, which may be a password. */
const HIDDEN = '(hidden)';
const KEPT = 10_000;

interface Opened {
  readonly keys: readonly Buffer[];
  /** The endpoint's own headers, as sent; null = none. */
  readonly headers: Readonly<Record<string, string>> | null;
  /** The same, as the log may show them. */
  readonly shown: Readonly<Record<string, string>> | null;
}

/** Opens the sealed values of endpoints, and caches them until they change. */
export function createKeyring(vault: Vault): { open(delivery: Leased): Opened } {
  const kept = new Map<string, { sealed: readonly Buffer[]; opened: Opened }>();
  return {
    open(delivery) {
      const { endpoint, secrets, headerNames, headerValues } = delivery;
      const sealed = headerValues ? [...secrets, headerValues] : secrets;
      const known = kept.get(endpoint);
      if (known && areSame(known.sealed, sealed)) return known.opened;
      const values = headerValues
        ? (JSON.parse(vault.open(headerValues, placeOf(endpoint, 'headers'))) as string[])
        : null;
      const opened = {
        keys: secrets.map((secret) => signingKey(vault.open(secret, placeOf(endpoint, 'secret')))),
        headers: values && Object.fromEntries(headerNames.map((name, index) => [name, values[index] ?? ''])),
        shown: values && Object.fromEntries(headerNames.map((name) => [name, HIDDEN])),
      };
      if (kept.size >= KEPT) kept.clear();
      kept.set(endpoint, { sealed, opened });
      return opened;
    },
  };
}

function areSame(one: readonly Buffer[], other: readonly Buffer[]): boolean {
  return one.length === other.length && one.every((bytes, index) => other[index]?.equals(bytes));
}
