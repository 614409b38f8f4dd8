import { normalised } from '../../contract/fields.ts';
import { fail } from '../../kernel/errors.ts';
import { readTaxId } from '../../terms/tax-ids.ts';
import { TAX_PROFILE_FIELDS } from './fields.ts';
import type { NewTaxProfile } from './record.ts';

/**
 * The input as it is stored, before its tax id is sealed; `tax_id` undefined keeps the current one. Throws `invalid_body` with
 * the field and its rule, never with the tax id.
 */
export function checkTaxProfile(input: NewTaxProfile): NewTaxProfile {
  const { legal_type, form, tax_id } = input;
  const misfit = form ? formRule(legal_type, form.type) : null;
  if (misfit !== null) throw fail('invalid_body', `form.type ${misfit}`);
  const checked = normalised(TAX_PROFILE_FIELDS, input);
  if (!tax_id) return checked;
  const read = readTaxId(tax_id.type, tax_id.number);
  if ('rule' in read) throw fail('invalid_body', `tax_id.number ${read.rule}`);
  return { ...checked, tax_id: { type: tax_id.type, number: read.value } };
}

/** Why somebody of a legal type cannot have signed a form; null when they can. */
export function formRule(legalType: string, form: string): string | null {
  if (form === 'w8ben' && legalType !== 'person') return 'w8ben is for persons: a business signs w8bene';
  if (form === 'w8bene' && legalType !== 'business') return 'w8bene is for businesses: a person signs w8ben';
  return null;
}
