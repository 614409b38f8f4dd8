import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { destinationTypes } from '../ledger/destinations.ts';
import { ENTRY_KINDS, type EntryKind } from './statement-record.ts';

export const KINDS = Object.keys(ENTRY_KINDS) as EntryKind[];

/** One change of what an affiliate is owed: a commission, an adjustment, a refund, a void, a payment or a return. */
export const reportEntry = strict(
  {
    kind: Type.Enum(KINDS, { description: 'the column of the report' }),
    occurred_at: { ...timestamp, description: 'the instant whose day counts' },
    amount: {
      ...amount,
      description: 'the change of what is owed: below zero for refunds, voids and payments',
    },
    currency: currencyCode,
    affiliate_id: Type.Integer(),
    country: nullable(Type.String({ description: 'the current one of the affiliate' })),
    program_id: nullable(Type.Integer()),
    paid_through: nullable({ ...destinationTypes, description: 'the method of a payment or return' }),
    commission_id: nullable(Type.String()),
    refund_id: nullable(Type.String()),
    payout_id: nullable(Type.String()),
    what: Type.String({ description: 'the `external_id` of the commission or refund, or the payout' }),
    reference: nullable(Type.String({ description: 'the order, or the reference of the payment' })),
  },
  { title: 'ReportEntry' },
);
export type ReportEntry = Static<typeof reportEntry>;

/** The columns of an entry, over the movements `e` and `affiliates a`. */
export const record = columnsOf(reportEntry, {
  kind: 'e.kind',
  occurred_at: 'iso(e.at)',
  amount: 'e.amount',
  currency: 'e.currency',
  affiliate_id: 'e.affiliate_id',
  country: 'a.country',
  program_id: 'e.program_id',
  paid_through: 'e.method',
  commission_id: "public_id('com', e.commission_id)",
  refund_id: "public_id('ref', e.refund_id)",
  payout_id: "public_id('po', e.payout_id)",
  what: 'e.what',
  reference: 'e.reference',
});
