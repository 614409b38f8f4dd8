import { Type } from 'typebox';
import { created, ok, writeRoute } from '../../http/route.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { commission } from '../commissions/schema.ts';
import { amount, nullable, strict, text, timestamp } from '../schemas.ts';
import { type RefundAnswer, refundCommission, refundOrder } from './service.ts';

const input = {
  external_id: { ...text(255), description: 'yours: the same refund again changes nothing' },
  amount: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_AMOUNT, description: 'minor units of commission to take back' }),
  ),
  sale_amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_AMOUNT,
      description: 'minor units of the sale; the commission is pro rata',
    }),
  ),
  reason: Type.Optional(nullable(text(500))),
  occurred_at: Type.Optional(Type.String({ description: 'RFC 3339; default now' })),
};

const head = {
  object: Type.Literal('affiliate_refund'),
  external_id: Type.String(),
  reason: nullable(Type.String()),
  occurred_at: timestamp,
  created_at: timestamp,
};
const item = {
  amount: { ...amount, description: 'minor units of commission that were taken back' },
  commission,
  clawback: nullable(commission),
};
const refund = strict({ ...head, ...item }, { title: 'Refund' });
const orderRefund = strict(
  { ...head, order_id: Type.String(), refunds: Type.Array(strict(item)) },
  { title: 'OrderRefund' },
);

const errors = [
  'resource_missing',
  'duplicate_external_id',
  'wrong_commission_type',
  'commission_is_voided',
  'refund_exceeds_rest',
  'invalid_amount',
] as const;

const reply = ({ json, isNew }: RefundAnswer) => (isNew ? created(json) : ok(json));

export const refundOne = writeRoute({
  operation: 'refundCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions/{commission_id}/refund',
  access: 'affiliates',
  summary: 'Refund a commission',
  description:
    'In part, or the rest. Unpaid: reduced, or voided when nothing is left; in the unpaid payout too, whose revision ' +
    'rises. Paid: what was paid stays and a negative clawback joins the next payout. Idempotent by `external_id`.',
  body: strict(input),
  returns: { 201: refund, 200: refund },
  errors,
  handle: async ({ tx, account, params, body }) =>
    reply(await refundCommission(tx, account, params.commission_id, body)),
});

export const refundByOrder = writeRoute({
  operation: 'refundOrder',
  method: 'POST',
  path: '/v2/affiliates/refunds',
  access: 'affiliates',
  summary: 'Refund the commissions of an order',
  description:
    "For a shop's hook, which knows orders and no commissions: all commissions of `order_id`, or of `product_id` in " +
    'it, all or none. Without an amount the rest of each; an amount needs commissions that leave no doubt.',
  body: strict({ order_id: text(255), product_id: Type.Optional(nullable(text(255))), ...input }),
  returns: { 201: orderRefund, 200: orderRefund },
  errors,
  handle: async ({ tx, account, body }) => reply(await refundOrder(tx, account, body)),
});
