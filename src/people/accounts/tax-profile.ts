import { ADDRESS_FIELDS, type Address, checkedCountry } from '../../contract/addresses.ts';
import { normalObject } from '../../contract/fields.ts';
import { fail } from '../../kernel/errors.ts';
import { composedName } from '../../kernel/names.ts';
import type { Checked } from '../../terms/bank-accounts.ts';
import { readElectronicAddress } from '../../terms/electronic-addresses.ts';
import { readSiren, readTaxId } from '../../terms/tax-ids.ts';
import type { AccountTaxProfile, AccountTaxProfileInput } from './record.ts';

/** The merchant's tax profile as it is stored. Throws `invalid_body`. */
export function accountTaxProfileFrom(input: AccountTaxProfileInput): AccountTaxProfile {
  const { vat_id, tax_number, siren, electronic_address: electronic } = input;
  return {
    legal_name: composedName(input.legal_name, 'tax_profile.legal_name'),
    country: checkedCountry(input.country, 'tax_profile.country'),
    address: normalObject(ADDRESS_FIELDS, input.address, 'tax_profile.address') as Address,
    vat_id: vat_id ? numberOf('vat', 'tax_profile.vat_id', vat_id) : null,
    tax_number: tax_number ? numberOf('other', 'tax_profile.tax_number', tax_number) : null,
    siren: siren ? valid('tax_profile.siren', readSiren(siren)) : null,
    electronic_address: electronic
      ? valid('tax_profile.electronic_address', readElectronicAddress(electronic))
      : null,
  };
}

const numberOf = (type: 'vat' | 'other', field: string, text: string) => valid(field, readTaxId(type, text));

function valid(field: string, read: Checked<string>): string {
  if ('rule' in read) throw fail('invalid_body', `${field} ${read.rule}`);
  return read.value;
}
