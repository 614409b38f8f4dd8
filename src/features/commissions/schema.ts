import { Type } from 'typebox';
import { amount, currencyCode, metadata, nullable, strict, timestamp } from '../schemas.ts';

/** The commission record. */
export const commission = strict(
  {
    id: Type.String({ examples: ['com_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('affiliate_commission'),
    external_id: Type.String(),
    affiliate_id: Type.Integer(),
    program_id: nullable(Type.Integer()),
    type: Type.Enum(['sale', 'recurring', 'bonus', 'adjustment', 'clawback']),
    status: Type.Enum(['pending', 'unpaid', 'paid', 'voided'], {
      description: 'pending = on hold: available_at lies in the future',
    }),
    is_paid: Type.Boolean(),
    amount,
    original_amount: amount,
    refunded_amount: amount,
    currency: currencyCode,
    sale_amount: nullable(amount),
    rate_bps: nullable(Type.Integer({ description: 'basis points' })),
    order_id: nullable(Type.String()),
    customer_email: nullable(Type.String()),
    product_id: nullable(Type.String()),
    product_name: nullable(Type.String()),
    description: nullable(Type.String()),
    occurred_at: timestamp,
    available_at: nullable({ ...timestamp, description: 'null while it is held for review' }),
    payout_id: nullable(Type.String()),
    paid_at: nullable(timestamp),
    voided_at: nullable(timestamp),
    void_reason: nullable(Type.String()),
    reverses_commission_id: nullable(Type.String()),
    metadata: nullable(metadata),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'Commission' },
);
