import { Type } from 'typebox';
import { amount, currencyCode, metadata, nullable, strict, timestamp } from '../../contract/schemas.ts';

/** The commission record. */
export const commission = strict(
  {
    id: Type.String({ examples: ['com_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('affiliate_commission'),
    external_id: Type.String({
      description:
        'your id, unique forever; `payhook:…` names what Payhook created itself, such as a clawback',
    }),
    affiliate_id: Type.Integer({ description: 'who earned it' }),
    program_id: nullable(Type.Integer()),
    type: Type.Enum(['sale', 'recurring', 'bonus', 'adjustment', 'clawback'], {
      title: 'CommissionType',
      description: 'a clawback is negative: it takes back what was paid before a refund',
    }),
    status: Type.Enum(['pending', 'unpaid', 'paid', 'voided'], {
      title: 'CommissionStatus',
      description: 'pending = on hold: available_at is in the future',
    }),
    is_paid: Type.Boolean({ description: 'the status is paid' }),
    amount: { ...amount, description: 'minor units: what is owed or was paid, after refunds before payment' },
    original_amount: { ...amount, description: 'minor units: the original amount' },
    refunded_amount: { ...amount, description: 'minor units: what was taken back, before and after payment' },
    currency: currencyCode,
    sale_amount: nullable({ ...amount, description: 'minor units of the sale' }),
    rate_bps: nullable(Type.Integer({ description: 'basis points' })),
    order_id: nullable(Type.String({ description: 'the order in the shop: refunds by order find it' })),
    order_line_id: nullable(
      Type.String({
        description: 'the line of the order: commissions with the same one are shares of one sale',
      }),
    ),
    customer_email: nullable(Type.String()),
    product_id: nullable(Type.String()),
    product_name: nullable(Type.String()),
    description: nullable(Type.String()),
    occurred_at: timestamp,
    available_at: nullable({ ...timestamp, description: 'null while it is held for review' }),
    payout_id: nullable(Type.String({ description: 'the payout it is in or was paid in' })),
    paid_at: nullable(timestamp),
    voided_at: nullable(timestamp),
    void_reason: nullable(Type.String()),
    reverses_commission_id: nullable(
      Type.String({ description: 'of a clawback: the commission it takes back' }),
    ),
    metadata: nullable(metadata),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'Commission' },
);
