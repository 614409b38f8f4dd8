import type { AccountId, TaxProfileId } from '../../kernel/ids.ts';
import type { AccountVault, SealedIn } from '../../kernel/vault.ts';
import { endingOf } from '../../terms/tax-ids.ts';
import { markedText, sealedNumbers } from '../ledger/sealed-numbers.ts';

/** Where the tax id of a profile is sealed. */
const placeOf = (account: AccountId, profile: TaxProfileId): SealedIn => ({
  account,
  place: `affiliate tax profile ${profile}`,
});

/** The context of marks: equal tax ids are found within an account, not across accounts. */
export const markContext = (account: AccountId): string => `tax id in ${account}`;

/** A tax id as it is stored. */
export interface SealedTaxId {
  readonly type: string;
  readonly number: Buffer;
  readonly mark: Buffer;
  readonly ending: string;
}

/** What seals the tax ids of an account; `key` is the fingerprint of the key. */
export interface Sealer extends AccountVault {
  readonly key: string;
}

/** A tax id sealed for the profile that it belongs to. */
export const sealTaxId = (
  { account, vault, key }: Sealer,
  id: TaxProfileId,
  { type, number }: { readonly type: string; readonly number: string },
): SealedTaxId => ({
  type,
  number: vault.seal(number, placeOf(account, id), key),
  mark: vault.mark(markedText(type, number), markContext(account), key),
  ending: endingOf(number),
});

/** The tax ids in affiliate_tax_profiles. */
export const taxIds = sealedNumbers<TaxProfileId>({
  table: 'affiliate_tax_profiles',
  qualifier: 'tax_id_type',
  placeOf,
  markContext,
  unreadable: { what: 'the tax id', remedy: 'set its tax profile again or remove it' },
});

/** The tax id of a profile, whole; null when it has none, or lost it with the secret key. */
export function openTaxId(
  { account, vault }: AccountVault,
  { profile_id, number }: { readonly profile_id: TaxProfileId | null; readonly number: Buffer | null },
): string | null {
  return profile_id === null || number === null ? null : vault.open(number, placeOf(account, profile_id));
}
