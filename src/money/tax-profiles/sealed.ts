import type { AccountId, TaxProfileId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import { sealedNumbers } from '../ledger/sealed-numbers.ts';

/** The context under which the tax id of a profile (UUID) is sealed. */
export const placeOf = (profile: TaxProfileId): string => `affiliate tax profile ${profile}`;

/** The context of marks: equal tax ids are found within an account, not across accounts. */
export const markContext = (account: AccountId): string => `tax id in ${account}`;

/** The tax ids in affiliate_tax_profiles. */
export const taxIds = sealedNumbers<TaxProfileId>({
  table: 'affiliate_tax_profiles',
  beside: 'tax_id_type',
  placeOf,
  markContext,
  unreadable: { what: 'the tax id', remedy: 'set its tax profile again or remove it' },
});

/** The tax id of a profile, whole; null when it has none, or lost it with the secret key. */
export function openTaxId(
  vault: Vault,
  { profile_id, number }: { readonly profile_id: TaxProfileId | null; readonly number: Buffer | null },
): string | null {
  return profile_id === null || number === null ? null : vault.open(number, placeOf(profile_id));
}
