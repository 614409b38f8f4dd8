import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict } from '../../contract/schemas.ts';
import { destinationTypes } from '../ledger/destinations.ts';

/** What an affiliate was paid in a period, in one currency and by one method. */
export const paidRow = strict(
  {
    affiliate_id: Type.Integer(),
    external_id: nullable(Type.String()),
    name_first: nullable(Type.String()),
    name_last: nullable(Type.String()),
    email: Type.String(),
    paypal_email: nullable(Type.String()),
    currency: currencyCode,
    payout_count: Type.Integer(),
    commission_count: Type.Integer(),
    paid_amount: { ...amount, description: 'minor units paid' },
    returned_amount: {
      ...amount,
      description: 'minor units returned in the period, whenever they were paid',
    },
    net_amount: { ...amount, description: 'the difference; below zero if more was returned' },
    payout_method: nullable({
      ...destinationTypes,
      description: 'how it was paid, as `paid_through` of the line',
    }),
    country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2' })),
  },
  { title: 'PaidRow' },
);
export type PaidRow = Static<typeof paidRow>;

/** The columns of a row, over the summed rows `s` and `affiliates a`. */
export const record = columnsOf(paidRow, {
  affiliate_id: 's.affiliate_id',
  external_id: 'a.external_id',
  name_first: 'a.name_first',
  name_last: 'a.name_last',
  email: 'a.email',
  paypal_email: 'a.paypal_email',
  currency: 's.currency',
  payout_count: 's.payout_count',
  commission_count: 's.commission_count',
  paid_amount: 's.paid',
  returned_amount: 's.returned',
  net_amount: 's.paid - s.returned',
  payout_method: 's.payout_method',
  country: 'a.country',
});
