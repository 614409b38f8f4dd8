import { Type } from 'typebox';
import {
  ADDRESS_FIELDS,
  address,
  addressInput,
  checkedCountry,
  country,
  countryInput,
} from '../../contract/addresses.ts';
import {
  type Fields,
  type ImportRule,
  newSchema,
  objectOf,
  recordProperties,
  type WritableField,
  words,
} from '../../contract/fields.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { composedName } from '../../kernel/names.ts';
import { parseDay } from '../../kernel/time.ts';
import type { Checked } from '../../terms/bank-accounts.ts';
import { readElectronicAddress } from '../../terms/electronic-addresses.ts';
import { readSiren } from '../../terms/tax-ids.ts';
import { TAX_FORMS, TAX_ID_TYPES } from '../../terms/taxes.ts';
import { LEGAL_TYPES } from '../affiliates/fields.ts';
import { VALID_UNTIL } from '../ledger/tax-forms.ts';

/** The value that was read. Throws `invalid_body`. */
function valid(field: string, read: Checked<string>): string {
  if ('rule' in read) throw fail('invalid_body', `${field} ${read.rule}`);
  return read.value;
}

interface TaxField extends WritableField {
  readonly import: ImportRule | null;
}

const goesWith = ['legal_name'];
const legalType = Type.Enum([...LEGAL_TYPES], { title: 'TaxLegalType' });
const taxIdType = Type.Enum([...TAX_ID_TYPES], {
  title: 'TaxIdType',
  description:
    'us_ssn, us_itin, us_ein: of the United States; vat: a VAT id with its country in front; other: a number that is ' +
    'not checked',
});
const formType = Type.Enum([...TAX_FORMS], {
  title: 'TaxForm',
  description: 'w8ben is for persons and w8bene for businesses',
});

const day = {
  schema: Type.String({ description: 'YYYY-MM-DD', examples: ['2026-01-15'] }),
  input: Type.String({ description: 'YYYY-MM-DD', minLength: 10, maxLength: 10 }),
  type: 'day',
  rule: (value: string) => (parseDay(value) === null ? 'must be a day YYYY-MM-DD, from 1970 to 2999' : null),
} as const;
const document = {
  schema: nullable(Type.String()),
  input: nullable(text(500)),
  type: 'text',
  default: null,
  normalise: composedName,
} as const;

const TAX_ID_FIELDS = {
  type: {
    schema: taxIdType,
    input: taxIdType,
    type: 'word',
    isRequired: true,
    label: 'Kind of tax id',
    example: 'us_ssn',
    option: '--tax-id-type <type>',
    import: {
      column: 'tax_id_type',
      goesWith,
      synonyms: words('taxidtype tintype'),
      words: {
        us_ssn: words('usssn ssn socialsecuritynumber'),
        us_itin: words('usitin itin'),
        us_ein: words('usein ein fein employeridentificationnumber'),
        vat: words('vat vatid vatnumber ustid ustidnr tva'),
        other: ['other'],
      },
    },
  },
  number: {
    input: Type.String({ minLength: 1, maxLength: 60 }),
    type: 'text',
    isRequired: true,
    label: 'Tax id',
    help: 'the tax id, with or without spaces and hyphens; it cannot be read back',
    example: '536-90-4399',
    option: '--tax-id <number>',
    clearWord: 'none',
    import: {
      column: 'tax_id',
      goesWith,
      synonyms: words(
        'taxid taxidnumber taxidentificationnumber taxnumber tin vatid vatnumber ustid ustidnr ssn ein',
      ),
    },
  },
  ending: { schema: Type.String({ description: 'the last four characters, of a short one fewer' }) },
  is_lost: { schema: Type.Boolean({ description: 'it was lost with the secret key: set it again' }) },
  shared_with: {
    schema: Type.Array(Type.Integer(), {
      description: 'other affiliates with the same tax id, the first 20 ids',
    }),
  },
} as const satisfies Fields<TaxField>;

const FORM_FIELDS = {
  type: {
    schema: formType,
    input: formType,
    type: 'word',
    isRequired: true,
    label: 'Signed form',
    help: 'the form that was signed',
    example: 'w9',
    option: '--form <form>',
    import: {
      column: 'tax_form',
      goesWith,
      synonyms: words('taxform taxformtype formtype'),
      words: {
        w9: words('w9 formw9'),
        w8ben: words('w8ben formw8ben'),
        w8bene: words('w8bene formw8bene'),
        w8eci: words('w8eci formw8eci'),
        w8exp: words('w8exp formw8exp'),
        w8imy: words('w8imy formw8imy'),
        vat_registration: ['vatregistration'],
        other: ['other'],
      },
    },
  },
  signed_on: {
    ...day,
    isRequired: true,
    label: 'Signed on',
    help: 'the day the form was signed',
    example: '2026-01-15',
    option: '--signed-on <day>',
    import: {
      column: 'tax_form_signed_on',
      goesWith,
      synonyms: words('taxformsignedon taxformdate formsignedon formdate datesigned'),
    },
  },
  valid_until: {
    schema: nullable(
      Type.String({
        description:
          'the last day of the third calendar year after the signature; null: a form of this type does not lapse',
        examples: ['2029-12-31'],
      }),
    ),
  },
  document: {
    ...document,
    label: 'Document of the form',
    help: 'where you keep the form: a name, number or link',
    example: 'scan-17',
    option: '--form-document <text>',
    import: { column: 'tax_form_document', goesWith, synonyms: ['taxformdocument'] },
  },
} as const satisfies Fields<TaxField>;

const AGREEMENT_FIELDS = {
  agreed_on: {
    ...day,
    isRequired: true,
    label: 'Self-billing agreed on',
    help: 'the day from which the agreement applies; empty if they write their own invoices',
    example: '2026-02-01',
    option: '--self-billing-on <day>',
    import: {
      column: 'self_billing_agreed_on',
      goesWith,
      synonyms: words('selfbillingagreedon selfbillingdate'),
    },
  },
  expires_on: {
    ...day,
    schema: nullable(day.schema),
    input: nullable(day.input),
    default: null,
    label: 'Agreement expires on',
    help: 'the last day of the agreement; empty if it has none',
    example: '2099-01-31',
    option: '--self-billing-until <day>',
    import: {
      column: 'self_billing_expires_on',
      goesWith,
      synonyms: words('selfbillingexpireson selfbillinguntil'),
    },
  },
  agreed_by: {
    schema: Type.String(),
    input: text(200),
    type: 'text',
    isRequired: true,
    normalise: composedName,
    label: 'Agreed by',
    help: 'the name of the person who agreed',
    example: 'Ada King',
    option: '--self-billing-by <name>',
    import: { column: 'self_billing_agreed_by', goesWith, synonyms: ['selfbillingagreedby'] },
  },
  document: {
    ...document,
    label: 'Document of the agreement',
    help: 'where you keep the agreement: a name, number or link',
    example: 'mail of 1 February',
    option: '--self-billing-document <text>',
    import: { column: 'self_billing_document', goesWith, synonyms: ['selfbillingdocument'] },
  },
} as const satisfies Fields<TaxField>;

/** The fields of a tax profile, over `affiliate_tax_profiles x`: the only list of them. */
export const TAX_PROFILE_FIELDS = {
  object: { schema: Type.Literal('affiliate_tax_profile'), column: "'affiliate_tax_profile'" },
  affiliate_id: { schema: Type.Integer() },
  legal_type: {
    schema: legalType,
    input: legalType,
    type: 'word',
    isRequired: true,
    label: 'Legal type',
    help: 'who signed',
    example: 'person',
    option: '--legal-type <type>',
    // a file gives it to the affiliate and to the tax profile with one column
    import: null,
  },
  legal_name: {
    schema: Type.String(),
    input: text(200),
    type: 'text',
    isRequired: true,
    normalise: composedName,
    label: 'Legal name',
    help: 'the name as signed',
    example: 'Ada Lovelace',
    option: '--legal-name <name>',
    import: { synonyms: words('legalname taxname legalentity legalentityname raisonsociale') },
  },
  country: {
    schema: country,
    input: countryInput,
    type: 'country',
    isRequired: true,
    normalise: checkedCountry,
    label: 'Tax country',
    help: 'the tax country, in two letters',
    example: 'US',
    option: '--country <country>',
    import: {
      column: 'tax_country',
      goesWith,
      synonyms: words('taxcountry countryoftax taxresidence countryoftaxresidence'),
    },
  },
  address: {
    ...objectOf(ADDRESS_FIELDS),
    schema: address,
    input: addressInput,
    isRequired: true,
    label: 'a tax profile',
  },
  tax_id: {
    ...objectOf(TAX_ID_FIELDS),
    schema: nullable(strict(recordProperties(TAX_ID_FIELDS), { title: 'TaxId' })),
    column: `case when x.tax_id_type is not null then json_build_object('type', x.tax_id_type, 'ending', x.ending,
    'is_lost', x.number is null, 'shared_with', (
      select coalesce(json_agg(y.affiliate_id order by y.affiliate_id), '[]') from (
        select affiliate_id from affiliate_tax_profiles
        where account_id = x.account_id and number_mark = x.number_mark and affiliate_id <> x.affiliate_id
        order by affiliate_id limit 20) y)) end`,
    input: {
      ...nullable(newSchema(TAX_ID_FIELDS)),
      description: 'without it the current one is kept, because it cannot be read back; null removes it',
    },
    label: 'a tax_id',
  },
  siren: {
    schema: nullable(Type.String()),
    input: nullable(Type.String({ minLength: 9, maxLength: 30 })),
    type: 'text',
    default: null,
    normalise: (text: string, field: string) => valid(field, readSiren(text)),
    label: 'SIREN or SIRET',
    help: 'the number of a French business, which its invoices show: SIREN (9 digits) or SIRET (14 digits)',
    example: '732829320',
    option: '--siren <number>',
    import: { goesWith, synonyms: words('siren siret sirennumber siretnumber numerosiret') },
  },
  electronic_address: {
    schema: nullable(Type.String()),
    input: nullable(Type.String({ minLength: 4, maxLength: 60 })),
    type: 'text',
    default: null,
    normalise: (text: string, field: string) => valid(field, readElectronicAddress(text)),
    label: 'Electronic address',
    help: 'where Peppol delivers their invoices: the code of the scheme, a colon and the id',
    example: '0208:0123456749',
    option: '--electronic-address <address>',
    import: {
      goesWith,
      synonyms: words('electronicaddress peppolid peppolparticipantid peppoladdress endpointid'),
    },
  },
  form: {
    ...objectOf(FORM_FIELDS),
    schema: nullable(strict(recordProperties(FORM_FIELDS), { title: 'SignedTaxForm' })),
    column: `case when x.form is not null then json_build_object('type', x.form, 'signed_on', x.signed_on,
    'valid_until', ${VALID_UNTIL}, 'document', x.form_document) end`,
    input: nullable(newSchema(FORM_FIELDS)),
    label: 'a tax form',
  },
  self_billing: {
    ...objectOf(AGREEMENT_FIELDS),
    schema: nullable(strict(recordProperties(AGREEMENT_FIELDS), { title: 'SelfBillingAgreement' })),
    // older agreements have no last day
    column: `case when x.self_billing is not null then '{"expires_on": null}' || x.self_billing end`,
    input: nullable(newSchema(AGREEMENT_FIELDS)),
    label: 'an agreement',
    help: 'the affiliate agreed that you write their invoices; null: they did not',
  },
  created_at: { schema: timestamp, column: 'iso(x.created_at)' },
  updated_at: { schema: timestamp, column: 'iso(x.updated_at)' },
} as const satisfies Fields<TaxField>;
