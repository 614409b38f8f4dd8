import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict } from '../../contract/schemas.ts';
import { DESTINATION_TYPES } from '../../terms/payments.ts';
import { TAX_FORMS, TAX_ID_TYPES } from '../../terms/taxes.ts';
import { LEGAL_TYPES } from '../affiliates/fields.ts';

/** Where an affiliate pays taxes, if known. */
export const RESIDENCES = ['us', 'foreign', 'unknown'] as const;
/** The form that an affiliate has not signed. */
export const MISSING_FORMS = ['w9', 'w8'] as const;

const usd = (description: string) => ({ ...amount, description: `cents: ${description}` });
const count = (description: string) => Type.Integer({ description });

/** An affiliate's figures for US tax forms in a calendar year. */
export const usTaxRow = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    email: Type.String(),
    legal_name: nullable(Type.String({ description: 'of the tax profile' })),
    legal_type: nullable(Type.Enum([...LEGAL_TYPES], { title: 'TaxLegalType' })),
    country: nullable(Type.String({ description: 'of the tax profile, or of the affiliate' })),
    residence: Type.Enum([...RESIDENCES], {
      title: 'UsTaxResidence',
      description: 'by the signed form unless it has lapsed, else by the country',
    }),
    form: nullable(Type.Enum([...TAX_FORMS], { title: 'TaxForm' })),
    form_valid_until: nullable(
      Type.String({ description: 'the day; null: it does not lapse, or there is none' }),
    ),
    tax_id_type: nullable(Type.Enum([...TAX_ID_TYPES], { title: 'TaxIdType' })),
    tax_id_ending: nullable(Type.String()),
    missing_form: nullable(
      Type.Enum([...MISSING_FORMS], {
        title: 'MissingTaxForm',
        description:
          'w9: in the United States, or country unknown and paid the threshold or more; w8: elsewhere without a W-8, or with one ' +
          'that had lapsed before the year',
      }),
    ),
    reportable_amount: usd('paid by methods that you report, less returns'),
    processor_amount: usd('paid by PayPal, which reports it itself (Form 1099-K), less returns'),
    withheld_amount: usd(
      'withheld from them (backup withholding, box 4 of Form 1099-NEC), less what returns reversed',
    ),
    is_above_threshold: Type.Boolean({ description: '`reportable_amount` is the threshold or more' }),
    state: nullable(
      Type.String({
        description:
          'the `region` of a tax profile in the United States, if it has the two letters of a state, in capitals',
      }),
    ),
    state_threshold_amount: nullable(
      Type.Integer({
        description:
          'cents: the sum from which the state is reported to; null: not at all, or the state is not known',
      }),
    ),
    is_above_state_threshold: Type.Boolean({
      description: '`reportable_amount` is above zero, and `state_threshold_amount` or more',
    }),
    payments: Type.Array(
      strict(
        {
          method: Type.Enum([...DESTINATION_TYPES], { title: 'PaidMethod' }),
          currency: currencyCode,
          paid_amount: amount,
          returned_amount: amount,
          net_amount: amount,
        },
        { title: 'UsTaxPayment' },
      ),
      {
        description: 'every method and currency, in minor units; other currencies than USD are not converted',
      },
    ),
  },
  { title: 'UsTaxRow' },
);
export type UsTaxRow = Static<typeof usTaxRow>;

/** Its columns, over the rows `s` of `usTaxRows`. */
export const rowRecord = columnsOf(usTaxRow, {
  affiliate_id: 's.affiliate_id',
  name: 's.name',
  email: 's.email',
  legal_name: 's.legal_name',
  legal_type: 's.legal_type',
  country: 's.country',
  residence: 's.residence',
  form: 's.form',
  form_valid_until: 's.form_valid_until',
  tax_id_type: 's.tax_id_type',
  tax_id_ending: 's.ending',
  missing_form: 's.missing_form',
  reportable_amount: 's.reportable_amount',
  processor_amount: 's.processor_amount',
  withheld_amount: 's.withheld_amount',
  is_above_threshold: 's.is_above_threshold',
  state: 's.state',
  state_threshold_amount: 's.state_threshold_amount',
  is_above_state_threshold: 's.is_above_state_threshold',
  payments: 's.payments',
});

/** The sums of a year. */
export const usTaxReport = strict(
  {
    object: Type.Literal('us_tax_report'),
    year: Type.Integer(),
    time_zone: Type.String({ description: 'of the account: the year begins and ends at its midnights' }),
    threshold_amount: usd('the sum from which a Form 1099-NEC is due'),
    is_threshold_known: Type.Boolean({
      description: 'false: the threshold of that year was not yet published when this version was released',
    }),
    reportable: strict({
      affiliate_count: count(
        'in the United States, with the threshold or more, or something was withheld: they are in the export',
      ),
      amount: usd('the sum paid to them'),
    }),
    processor_amount: usd('the sum paid by PayPal to anyone'),
    withheld_amount: usd('the sum withheld, which you owe to the IRS'),
    missing_w9_count: count('affiliates who need a W-9 and have none'),
    missing_w8_count: count('affiliates elsewhere without a W-8'),
    missing_tax_id_count: count('affiliates in the export without a US tax id'),
    other_currency_count: count('affiliates who were also paid in other currencies, which are not converted'),
    states: Type.Array(
      strict(
        {
          state: Type.String({ description: 'the two letters of the state' }),
          threshold_amount: usd('the sum from which the state is reported to'),
          affiliate_count: count('with that sum or more'),
          amount: usd('the sum paid to them'),
        },
        { title: 'UsTaxState' },
      ),
      {
        description:
          'the states with affiliates to report there; `state_thresholds` of the account replaces the built-in table',
      },
    ),
    remark: Type.String(),
  },
  { title: 'UsTaxReport' },
);
export type UsTaxReport = Static<typeof usTaxReport>;
