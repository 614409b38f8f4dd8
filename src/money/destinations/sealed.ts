import type { AccountId, DestinationId } from '../../kernel/ids.ts';
import { sealedNumbers } from '../ledger/sealed-numbers.ts';

/** The context under which the number of a destination (UUID) is sealed. */
export const placeOf = (destination: DestinationId): string => `affiliate destination ${destination}`;

/** The context of marks: equal numbers are found within an account, not across accounts. */
export const markContext = (account: AccountId): string => `bank account in ${account}`;

/** The numbers of bank accounts in affiliate_destinations. Who loses one is refused by payment files. */
export const bankAccounts = sealedNumbers<DestinationId>({
  table: 'affiliate_destinations',
  beside: 'routing_number',
  placeOf,
  markContext,
  unreadable: { what: 'a bank account', remedy: 'set its destination again or remove it' },
});
