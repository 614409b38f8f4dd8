import { Type } from 'typebox';
import { amount, currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';

/** Money of a line that came back, in part or whole. */
export const payoutReturn = strict(
  {
    id: Type.String({ examples: ['ret_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('payout_return'),
    payout_id: Type.String(),
    affiliate_id: Type.Integer(),
    currency: currencyCode,
    amount,
    reason: Type.String(),
    reference: nullable(Type.String({ description: 'how you find it in your books' })),
    commission_id: Type.String({ description: 'the adjustment that owes the money again' }),
    returned_at: timestamp,
    undone_at: nullable({ ...timestamp, description: 'when it was undone; null = in force' }),
  },
  { title: 'PayoutReturn' },
);
