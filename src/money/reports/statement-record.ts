import { type Static, Type } from 'typebox';
import { amount, currencyCode, nullable, strict } from '../../contract/schemas.ts';

/** The kinds of entries that change what an affiliate is owed, and whether they add or subtract. */
export const ENTRY_KINDS = {
  earned: 'commissions, dated by the sale',
  adjusted: 'manual credits and debits',
  refunded: 'below zero: amounts taken by refunds, dated by the refund; reversed refunds do not count',
  voided: 'below zero: the remaining amounts of commissions that were voided manually',
  paid: 'below zero: payments, dated by the payment',
  returned: 'returned payments, less returns that were undone',
} as const;
export type EntryKind = keyof typeof ENTRY_KINDS;

const sum = (kind: EntryKind) => ({ ...amount, description: ENTRY_KINDS[kind] });

/** What an affiliate was owed, earned and was paid in a period. */
export const statement = strict(
  {
    object: Type.Literal('affiliate_statement'),
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    email: Type.String(),
    from: nullable(Type.String({ description: 'the first day; null = from the beginning' })),
    to: nullable(
      Type.String({ description: 'the last day; null = until now, including later-dated entries' }),
    ),
    time_zone: Type.String({
      description: 'of the account: the days are in it',
      examples: ['Europe/Berlin'],
    }),
    currencies: Type.Array(
      strict(
        {
          currency: currencyCode,
          opening_amount: { ...amount, description: 'owed before the first day' },
          earned_amount: sum('earned'),
          adjusted_amount: sum('adjusted'),
          refunded_amount: sum('refunded'),
          voided_amount: sum('voided'),
          paid_amount: sum('paid'),
          returned_amount: sum('returned'),
          closing_amount: {
            ...amount,
            description: 'owed after the last day: the opening amount plus all others',
          },
        },
        { title: 'StatementBalance' },
      ),
    ),
  },
  { title: 'AffiliateStatement' },
);
export type Statement = Static<typeof statement>;
