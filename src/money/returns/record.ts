import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import {
  amount,
  currencyCode,
  currencyInput,
  identifier,
  nullable,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { onTop, withheld } from '../ledger/tax-on-top.ts';

/** Money of a line that was returned, in part or in full. */
export const payoutReturn = strict(
  {
    id: Type.String({ examples: ['ret_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('payout_return'),
    payout_id: Type.String(),
    affiliate_id: Type.Integer(),
    currency: currencyCode,
    amount: { ...amount, description: 'what is owed again, in minor units' },
    tax_amount: {
      ...amount,
      description:
        'the tax on top of it, which came back too and is not owed; 0 if the amount includes the tax',
    },
    withheld_amount: {
      ...amount,
      description: 'the part of it that had been withheld for the IRS, and did not come back to the bank',
    },
    external_id: nullable(Type.String({ description: 'your id of the request that booked it' })),
    reason: Type.String(),
    reference: nullable(Type.String({ description: 'identifies it in your books' })),
    commission_id: Type.String({ description: 'the adjustment that makes the money owed again' }),
    returned_at: timestamp,
    undone_at: nullable({ ...timestamp, description: 'when it was undone; null = in force' }),
  },
  { title: 'PayoutReturn' },
);
export type PayoutReturn = Static<typeof payoutReturn>;

/** Its columns, over `payout_returns r`. */
export const record = columnsOf(payoutReturn, {
  id: "public_id('ret', r.id)",
  object: "'payout_return'",
  payout_id: "public_id('po', r.payout_id)",
  affiliate_id: 'r.affiliate_id',
  currency: 'r.currency',
  amount: 'r.amount',
  tax_amount: onTop('r.tax_amount'),
  withheld_amount: withheld('r.tax_amount'),
  external_id: 'r.external_id',
  reason: 'r.reason',
  reference: 'r.reference',
  commission_id: "public_id('com', r.commission_id)",
  returned_at: 'iso(r.returned_at)',
  undone_at: 'iso(r.undone_at)',
});

/** The body of a return. */
export const newReturn = strict({
  external_id: Type.Optional(
    nullable({ ...identifier, description: 'your id: sending the same return again books nothing more' }),
  ),
  currency: Type.Optional({
    ...currencyInput,
    description: 'without it all currencies, or with an amount the only currency paid',
  }),
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_AMOUNT,
      description:
        'what came back to the bank in minor units, with the tax if it was paid on top, and without what was withheld; without it, everything not yet returned',
    }),
  ),
  reason: text(500),
  reference: Type.Optional(nullable(text(255))),
});
export type NewReturn = Static<typeof newReturn>;
