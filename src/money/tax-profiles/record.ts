import { type Static, Type } from 'typebox';
import { address, addressInput, country, countryInput } from '../../contract/addresses.ts';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { TAX_FORMS, TAX_ID_TYPES } from '../../terms/taxes.ts';
import { LEGAL_TYPES } from '../affiliates/fields.ts';

const day = (description: string) => Type.String({ description, examples: ['2026-01-15'] });
const document = { description: 'where you keep it: a name, a number or a link of your own' };

const legalType = Type.Enum([...LEGAL_TYPES], { title: 'TaxLegalType', description: 'what signed' });
const taxIdType = Type.Enum([...TAX_ID_TYPES], {
  title: 'TaxIdType',
  description:
    'us_ssn, us_itin, us_ein: of the United States; vat: a VAT id with its country in front; other: a number that is ' +
    'not checked',
});
const formType = Type.Enum([...TAX_FORMS], {
  title: 'TaxForm',
  description: 'the form that was signed; w8ben is for persons and w8bene for businesses',
});

/** Who an affiliate is to a tax office. The tax id is shown by its end only. */
export const taxProfile = strict(
  {
    object: Type.Literal('affiliate_tax_profile'),
    affiliate_id: Type.Integer(),
    legal_type: legalType,
    legal_name: Type.String(),
    country: { ...country, description: 'ISO 3166-1 alpha-2: where taxes are paid' },
    address,
    tax_id: nullable(
      strict(
        {
          type: taxIdType,
          ending: Type.String({ description: 'the last four characters, of a short one fewer' }),
          is_lost: Type.Boolean({ description: 'it was lost with the secret key: set it again' }),
          shared_with: Type.Array(Type.Integer(), {
            description: 'other affiliates with the same tax id, the first 20 ids',
          }),
        },
        { title: 'TaxId' },
      ),
    ),
    form: nullable(
      strict(
        { type: formType, signed_on: day('YYYY-MM-DD'), document: nullable(Type.String(document)) },
        { title: 'SignedTaxForm' },
      ),
    ),
    self_billing: nullable(
      strict(
        { agreed_on: day('YYYY-MM-DD'), agreed_by: Type.String(), document: nullable(Type.String(document)) },
        {
          title: 'SelfBillingAgreement',
          description: 'the affiliate agreed that you write their invoices; null = they did not',
        },
      ),
    ),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'AffiliateTaxProfile' },
);
export type TaxProfile = Static<typeof taxProfile>;

/** The columns of the record, over `affiliate_tax_profiles x`. */
export const record = columnsOf(taxProfile, {
  object: "'affiliate_tax_profile'",
  affiliate_id: 'x.affiliate_id',
  legal_type: 'x.legal_type',
  legal_name: 'x.legal_name',
  country: 'x.country',
  address: 'x.address',
  tax_id: `case when x.tax_id_type is not null then json_build_object('type', x.tax_id_type, 'ending', x.ending,
    'is_lost', x.number is null, 'shared_with', (
      select coalesce(json_agg(y.affiliate_id order by y.affiliate_id), '[]') from (
        select affiliate_id from affiliate_tax_profiles
        where account_id = x.account_id and number_mark = x.number_mark and affiliate_id <> x.affiliate_id
        order by affiliate_id limit 20) y)) end`,
  form: `case when x.form is not null then json_build_object('type', x.form, 'signed_on', x.signed_on,
    'document', x.form_document) end`,
  self_billing: 'x.self_billing',
  created_at: 'iso(x.created_at)',
  updated_at: 'iso(x.updated_at)',
});

const dayInput = Type.String({ description: 'YYYY-MM-DD', minLength: 10, maxLength: 10 });
const documentInput = Type.Optional(nullable({ ...text(500), ...document }));

/** The input of a tax profile. It replaces the one there is, but for a tax id that is left out. */
export const newTaxProfile = strict({
  legal_type: legalType,
  legal_name: text(200),
  country: countryInput,
  address: addressInput,
  tax_id: Type.Optional(
    nullable(
      strict(
        {
          type: taxIdType,
          number: Type.String({
            minLength: 1,
            maxLength: 60,
            description: 'with or without blanks and hyphens',
          }),
        },
        { description: 'absent: the one there is stays, because it cannot be read back; null: none' },
      ),
    ),
  ),
  form: Type.Optional(nullable(strict({ type: formType, signed_on: dayInput, document: documentInput }))),
  self_billing: Type.Optional(
    nullable(strict({ agreed_on: dayInput, agreed_by: text(200), document: documentInput })),
  ),
});
export type NewTaxProfile = Static<typeof newTaxProfile>;
