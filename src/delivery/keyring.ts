import type { Vault } from '../kernel/vault.ts';
import type { Claimed } from './claim.ts';
import { placeOf, signingKey } from './secrets.ts';

/** What stands in the log for the value of a merchant's own header: it may be a password. */
const HIDDEN = '(hidden)';
const KEPT = 10_000;

interface Opened {
  readonly keys: readonly Buffer[];
  /** The endpoint's own headers, as sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same as the log may show them. */
  readonly shown: Readonly<Record<string, string>>;
}

/** Opens the sealed values of endpoints, and keeps them open until they change. */
export function createKeyring(vault: Vault): { open(delivery: Claimed): Opened } {
  const kept = new Map<string, { sealed: Buffer; opened: Opened }>();
  return {
    open(delivery) {
      const { endpoint, secrets, headerNames, headerValues } = delivery;
      const sealed = Buffer.concat([...secrets, ...(headerValues ? [headerValues] : [])]);
      const known = kept.get(endpoint);
      if (known?.sealed.equals(sealed)) return known.opened;
      const values = headerValues
        ? (JSON.parse(vault.open(headerValues, placeOf(endpoint, 'headers'))) as string[])
        : [];
      const opened = {
        keys: secrets.map((secret) => signingKey(vault.open(secret, placeOf(endpoint, 'secret')))),
        headers: Object.fromEntries(headerNames.map((name, index) => [name, values[index] ?? ''])),
        shown: Object.fromEntries(headerNames.map((name) => [name, HIDDEN])),
      };
      if (kept.size >= KEPT) kept.clear();
      kept.set(endpoint, { sealed, opened });
      return opened;
    },
  };
}
