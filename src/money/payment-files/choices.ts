import { type Static, Type } from 'typebox';
import { currencyInput, strict } from '../../contract/schemas.ts';

/** What a request may choose about a file. */
export const choices = strict({
  currency: Type.Optional(currencyInput),
  part: Type.Optional(
    Type.Integer({ minimum: 1, description: 'the part, if there are more rows than a file may have' }),
  ),
  rows_per_file: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 100_000,
      description:
        'payments in one part; default as many as the provider takes, for bank files the setting of `debtor` or `originator`. ' +
        'Another number makes another file set',
    }),
  ),
  allow_skipped: Type.Optional(
    Type.Boolean({ description: 'leaves out affiliates the file cannot pay, instead of refusing' }),
  ),
  source_currency: Type.Optional({
    ...currencyInput,
    description: 'ISO 4217, any case: the currency the transfers are paid from; default the payout currency',
  }),
  execution_date: Type.Optional(
    Type.String({
      format: 'date',
      description:
        'bank files: the day the bank is to pay, `YYYY-MM-DD`; default today in your time zone for `sepa`, the next banking day for `nacha`',
      examples: ['2026-10-01'],
    }),
  ),
  whole_units: Type.Optional(
    Type.Enum(['down'], {
      description:
        'pays the whole part of amounts in currencies of which the provider takes no fractions; completing with that amount ' +
        'owes the rest again',
    }),
  ),
});
export type Choices = Static<typeof choices>;
