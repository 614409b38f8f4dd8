import { checkedAddress, checkedCountry } from '../../contract/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import { nameFrom } from '../../kernel/names.ts';
import { parseDay } from '../../kernel/time.ts';
import { readTaxId } from '../../terms/tax-ids.ts';
import type { NewTaxProfile, TaxProfile } from './record.ts';

/** A profile that keeps every rule, before its tax id is sealed. */
export interface CheckedTaxProfile
  extends Pick<TaxProfile, 'legal_type' | 'legal_name' | 'country' | 'address' | 'form' | 'self_billing'> {
  /** undefined = the one there is stays. */
  readonly tax_id: NewTaxProfile['tax_id'];
}

const refuse = (field: string, rule: string) => fail('invalid_body', `${field} ${rule}`);

/** The input as it is stored. Throws `invalid_body` with the field and its rule, never with the tax id. */
export function checkTaxProfile(input: NewTaxProfile): CheckedTaxProfile {
  const { legal_type, form, tax_id, self_billing } = input;
  const misfit = form ? formRule(legal_type, form.type) : null;
  if (misfit !== null) throw refuse('form.type', misfit);
  return {
    legal_type,
    legal_name: nameFrom(input.legal_name.normalize('NFC'), 'legal_name'),
    country: checkedCountry('country', input.country),
    address: checkedAddress('address', input.address),
    tax_id: tax_id ? { type: tax_id.type, number: taxNumber(tax_id) } : tax_id,
    form: form
      ? {
          type: form.type,
          signed_on: dayFrom(form.signed_on, 'form.signed_on'),
          document: textOf('form.document', form.document),
        }
      : null,
    self_billing: self_billing
      ? {
          agreed_on: dayFrom(self_billing.agreed_on, 'self_billing.agreed_on'),
          agreed_by: nameFrom(self_billing.agreed_by, 'self_billing.agreed_by'),
          document: textOf('self_billing.document', self_billing.document),
        }
      : null,
  };
}

function taxNumber({ type, number }: NonNullable<NewTaxProfile['tax_id']>): string {
  const read = readTaxId(type, number);
  if ('rule' in read) throw refuse('tax_id.number', read.rule);
  return read.value;
}

/** Why somebody of a legal type cannot have signed a form; null when they can. */
export function formRule(legalType: string, form: string): string | null {
  if (form === 'w8ben' && legalType !== 'person') return 'w8ben is for persons: a business signs w8bene';
  if (form === 'w8bene' && legalType !== 'business') return 'w8bene is for businesses: a person signs w8ben';
  return null;
}

/** A day `YYYY-MM-DD`. Throws `invalid_body` naming the field. */
export function dayFrom(text: string, field: string): string {
  if (parseDay(text) === null) throw refuse(field, 'must be a day YYYY-MM-DD, from 1970 to 2999');
  return text;
}

const textOf = (field: string, text: string | null | undefined) =>
  text == null ? null : nameFrom(text, field);
