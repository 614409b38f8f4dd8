import type { AccountId, DestinationId } from '../../kernel/ids.ts';
import type { AccountVault, SealedIn } from '../../kernel/vault.ts';
import { markedText, sealedNumbers } from '../ledger/sealed-numbers.ts';
import type { CheckedDestination } from './check.ts';

/** Where the number of a destination is sealed. */
export const placeOf = (account: AccountId, destination: DestinationId): SealedIn => ({
  account,
  place: `affiliate destination ${destination}`,
});

/** The context of marks: equal numbers are found within an account, not across accounts. */
const markContext = (account: AccountId): string => `bank account in ${account}`;

/** A destination with its number sealed. */
export interface SealedDestination extends Omit<CheckedDestination, 'number'> {
  readonly number: Buffer | null;
  readonly number_mark: Buffer | null;
  readonly last_four: string | null;
}

/** What seals the numbers of an account; `key` is the fingerprint of the key. */
export interface Sealer extends AccountVault {
  readonly key: string;
}

/** A destination with its number sealed for the row that it will be. */
export function sealDestination(
  { account, vault, key }: Sealer,
  id: DestinationId,
  { number, ...rest }: CheckedDestination,
): SealedDestination {
  if (number === null) return { ...rest, number, number_mark: null, last_four: null };
  return {
    ...rest,
    number: vault.seal(number, placeOf(account, id), key),
    number_mark: vault.mark(markedText(rest.routing_number, number), markContext(account), key),
    last_four: number.slice(-4),
  };
}

/** The numbers of bank accounts in affiliate_destinations. Who loses one is refused by payment files. */
export const bankAccounts = sealedNumbers<DestinationId>({
  table: 'affiliate_destinations',
  qualifier: 'routing_number',
  placeOf,
  markContext,
  unreadable: { what: 'a bank account', remedy: 'set its destination again or remove it' },
});
