import { type Static, Type } from 'typebox';
import { alternativesByType, newSchema, recordColumns, recordProperties } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { currencyInput, eitherOf, strict, text } from '../../contract/schemas.ts';
import { DESTINATION_TYPES } from '../../terms/payments.ts';
import { DESTINATION_FIELDS } from './fields.ts';

/** Where an affiliate is paid. The number of a bank account is shown by its last four characters only. */
export const destination = strict(recordProperties(DESTINATION_FIELDS), { title: 'AffiliateDestination' });
export type Destination = Static<typeof destination>;

/** The columns of the record, over `affiliate_destinations x`. */
export const record = columnsOf(destination, recordColumns(DESTINATION_FIELDS, 'x'));

/** All destinations of an affiliate. */
export const destinations = strict(
  {
    object: Type.Literal('affiliate_destinations'),
    affiliate_id: Type.Integer(),
    destinations: Type.Array(destination, {
      description:
        'the one for all currencies first; empty: paid as `payout_method` and `paypal_email` of the affiliate say',
    }),
  },
  { title: 'AffiliateDestinations' },
);
export type Destinations = Static<typeof destinations>;

/** The input of a destination. `check.ts` says which fields each type takes. */
export const newDestination = eitherOf(
  newSchema(DESTINATION_FIELDS),
  alternativesByType(
    DESTINATION_FIELDS,
    DESTINATION_TYPES,
    (type) => `${type[0]?.toUpperCase()}${type.slice(1)}Destination`,
  ),
);
export type NewDestination = Static<typeof newDestination>;

/** The name that the bank of the payee has, as the caller saw it, and which of the destinations it is about. */
export const verifiedName = strict({
  name: { ...text(140), description: '`verification.bank_name` of the destination' },
  currency: Type.Optional({ ...currencyInput, description: 'absent: the destination for all currencies' }),
});
export type VerifiedName = Static<typeof verifiedName>;

/** Which of an affiliate's destinations. */
export const ofCurrency = strict({
  currency: Type.Optional({
    ...currencyInput,
    description: 'absent: the one for all currencies',
  }),
});
