import { type Static, Type } from 'typebox';
import { currencyInput, strict } from '../../contract/schemas.ts';

/** The choices a request may make about a file. */
export const choices = strict({
  currency: Type.Optional(currencyInput),
  part: Type.Optional(
    Type.Integer({ minimum: 1, description: 'the part, if there are more rows than fit into one file' }),
  ),
  rows_per_file: Type.Optional(
    Type.Integer({
      minimum: 2,
      maximum: 100_000,
      description:
        'payments in one part; defaults to the maximum of the provider, or for bank files the setting of `debtor` or `originator`. ' +
        'Another number makes another file set',
    }),
  ),
  allow_skipped: Type.Optional(
    Type.Boolean({ description: 'leaves out affiliates the file cannot pay, instead of refusing' }),
  ),
  source_currency: Type.Optional({
    ...currencyInput,
    description: 'the currency the transfers are paid from; default the payout currency',
  }),
  execution_date: Type.Optional(
    Type.String({
      format: 'date',
      description:
        'bank files: the day on which the bank should pay, `YYYY-MM-DD`; defaults to today in your time zone for `sepa`, the next banking day for `nacha`',
      examples: ['2026-10-01'],
    }),
  ),
  instant: Type.Optional(
    Type.Boolean({
      description:
        'sepa: whether the transfers are instant (SCT Inst); defaults to `is_instant` of the `debtor`',
    }),
  ),
  whole_units: Type.Optional(
    Type.Enum(['down'], {
      description:
        'pays only the whole units of amounts in currencies for which the provider takes no fractions; completing with that amount ' +
        'makes the rest owed again',
    }),
  ),
});
export type Choices = Static<typeof choices>;
