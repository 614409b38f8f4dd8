import { type Static, Type } from 'typebox';
import { amount, currencyCode, nullable, strict } from '../../contract/schemas.ts';

/** What can change what an affiliate is owed, and whether it adds or takes. */
export const ENTRY_KINDS = {
  earned: 'commissions as they came in, by when the sale was',
  adjusted: 'credits and debits by hand',
  refunded: 'below zero: what refunds took, by when they were; reversed ones do not count',
  voided: 'below zero: what was left of commissions that were voided by hand',
  paid: 'below zero: what left, by when it did',
  returned: 'what came back of what was paid, less what turned out not to have',
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
    to: nullable(Type.String({ description: 'the last day; null = until now, and what is dated later' })),
    time_zone: Type.String({
      description: 'of the account: its days are meant',
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
            description: 'owed after the last day: the opening amount and all others added up',
          },
        },
        { title: 'StatementBalance' },
      ),
    ),
  },
  { title: 'AffiliateStatement' },
);
export type Statement = Static<typeof statement>;
