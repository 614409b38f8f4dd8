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
  const { form, tax_id } = input;
  const misfit = form ? formRule({ ...input, form: form.type }) : null;
  if (misfit !== null) throw fail('invalid_body', `form.type ${misfit}`);
  const checked = normalised(TAX_PROFILE_FIELDS, input);
  const ended = input.self_billing ? agreementRule(input.self_billing) : null;
  if (ended !== null) throw fail('invalid_body', `self_billing.expires_on ${ended}`);
  if (!tax_id) return checked;
  const read = readTaxId(tax_id.type, tax_id.number);
  if ('rule' in read) throw fail('invalid_body', `tax_id.number ${read.rule}`);
  return { ...checked, tax_id: { type: tax_id.type, number: read.value } };
}

/** Why somebody of a legal type and tax country cannot have signed a form; null when they can. */
export function formRule({
  legal_type: legalType,
  country,
  form,
}: {
  readonly legal_type: string;
  readonly country: string;
  readonly form: string;
}): string | null {
  if (form === 'w8ben' && legalType !== 'person') return 'w8ben is for persons: a business signs w8bene';
  if (form === 'w8bene' && legalType !== 'business') return 'w8bene is for businesses: a person signs w8ben';
  if (form.startsWith('w8') && country.trim().toUpperCase() === 'US')
    return `${form} is for those who are not of the United States: with the country US the form is w9`;
  return null;
}

/** Why an agreement cannot end on its last day; null when it can. Days are `YYYY-MM-DD`. */
export const agreementRule = ({
  agreed_on,
  expires_on,
}: {
  readonly agreed_on: string;
  readonly expires_on?: string | null | undefined;
}): string | null =>
  expires_on != null && expires_on < agreed_on
    ? `must not be before ${agreed_on}, when the agreement starts`
    : null;

/** The latest day that has begun somewhere on Earth: days begin up to 14 hours before those of UTC. Milliseconds since 1970. */
export const latestDay = (nowMs: number): string => new Date(nowMs + 14 * HOUR_MS).toISOString().slice(0, 10);

const HOUR_MS = 3_600_000;

/** The rule of `form.signed_on`. */
export const FUTURE_RULE = 'must not be in the future';
