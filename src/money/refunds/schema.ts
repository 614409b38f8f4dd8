import { Type } from 'typebox';
import { amount, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { commission } from '../commissions/schema.ts';

const head = {
  id: Type.String({ examples: ['ref_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('affiliate_refund'),
  external_id: Type.String({ description: 'your id, unique forever' }),
  status: Type.Enum(['waiting', 'applied', 'reversed'], {
    description: 'waiting: a line of it has no commission yet, or is in doubt',
  }),
  order_id: nullable(Type.String({ description: 'null for a refund of one commission by its id' })),
  product_id: nullable(Type.String()),
  reason: nullable(Type.String()),
  occurred_at: timestamp,
  reversed_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};

const item = {
  amount: { ...amount, description: 'minor units of commission that were taken back' },
  sale_amount: nullable({
    ...amount,
    description: 'minor units of the sale refunded; null when the refund was given as commission',
  }),
  capped: Type.Boolean({ description: 'the refund asked for more than was left and took the rest' }),
  commission,
  clawback: nullable(commission),
};

const line = strict(
  {
    order_line_id: nullable(Type.String()),
    external_id: nullable(Type.String({ description: 'of the one commission the line is' })),
    amount: nullable({ ...amount, description: 'minor units of commission' }),
    sale_amount: nullable({ ...amount, description: 'minor units of the sale' }),
    currency: nullable(Type.String({ description: 'of the amount, once it is known' })),
    status: Type.Enum(['waiting', 'in_doubt', 'applied'], {
      description: 'in_doubt: it could belong to several commissions that came in; reverse it and name lines',
    }),
  },
  { title: 'RefundLine' },
);

/** The answer of refunding one commission: the refund and what it took. */
export const commissionRefund = strict({ ...head, ...item }, { title: 'CommissionRefund' });

/** The refund record. */
export const refund = strict(
  {
    ...head,
    lines: Type.Array(line, { description: 'of a refund by order: what it covers' }),
    refunds: Type.Array(strict(item, { title: 'RefundItem' }), {
      description: 'what it took of each commission',
    }),
  },
  { title: 'Refund' },
);
