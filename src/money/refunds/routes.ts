import { created, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { listRefunds, refundList } from './list.ts';
import { commissionRefund, orderRefund, refund, refundOfOne } from './record.ts';
import { reverseRefund } from './reverse.ts';
import { getRefund, type RefundAnswer, refundCommission, refundOrder } from './service.ts';

const errors = [
  'resource_missing',
  'duplicate_external_id',
  'wrong_commission_type',
  'commission_is_voided',
  'refund_exceeds_rest',
  'invalid_amount',
  'amount_too_large',
] as const;

const reply = <T>({ json, isNew }: RefundAnswer<T>) => (isNew ? created(json) : ok(json));

export const refundOne = writeRoute({
  operation: 'refundCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions/{commission_id}/refund',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Refund a commission',
  description:
    'Refunds part of a commission, or the rest. An unpaid one is reduced, or voided when nothing is left, also in the unpaid payout, whose revision ' +
    'rises. For a paid one, what was paid stays paid and a negative clawback joins the next payout. Refunds by `sale_amount` are ' +
    'cumulative: together they take the commission on the total refunded, to the minor unit; beyond the sale they ' +
    'take the rest and say `capped`. Idempotent by `external_id`.',
  body: refundOfOne,
  returns: { 201: commissionRefund, 200: commissionRefund },
  creates: '/v2/affiliates/refunds/{refund_id}',
  errors,
  handle: async ({ tx, account, params, body }) =>
    reply(await refundCommission(tx, account, params.commission_id, body)),
});

export const refundByOrder = writeRoute({
  operation: 'refundOrder',
  method: 'POST',
  path: '/v2/affiliates/refunds',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Refund an order',
  description:
    "For a shop's hook, which knows orders but not commissions. Without an amount it takes all that is left of `order_id`, or of " +
    '`product_id` in it. `sale_amount` and `amount` need an order with one sale; `lines` say what was refunded of each. ' +
    'Commissions with the same `order_line_id` are shares of one sale; any other is a sale of its own. If a ' +
    'refund could belong to several sales, a 400 lists them. A commission that comes in later is refunded then: until then the ' +
    'refund, or a line of it, is `waiting`.',
  body: orderRefund,
  returns: { 201: refund, 200: refund },
  creates: '/v2/affiliates/refunds/{refund_id}',
  errors: [
    'duplicate_external_id',
    'refund_exceeds_rest',
    'invalid_amount',
    'duplicate_entry',
    'amount_too_large',
  ],
  handle: async ({ tx, account, body }) => reply(await refundOrder(tx, account, body)),
});

export const list = readRoute({
  operation: 'listRefunds',
  path: '/v2/affiliates/refunds',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List refunds',
  list: refundList,
  returns: { 200: listOf(refund) },
  handle: async ({ db, account, list }) => page(await listRefunds(db, account, list)),
});

export const get = readRoute({
  operation: 'getRefund',
  path: '/v2/affiliates/refunds/{refund_id}',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get a refund',
  description: 'By its id or its `external_id`.',
  returns: { 200: refund },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getRefund(db, account, params.refund_id)),
});

export const reverse = writeRoute({
  operation: 'reverseRefund',
  method: 'POST',
  path: '/v2/affiliates/refunds/{refund_id}/reverse',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Reverse a refund',
  description:
    'For a refund made by mistake, named by its id or its `external_id`. What it took is owed again, its clawbacks are ' +
    'voided, and what still waits for a commission is withdrawn. Refused once a payout was paid less because of it.',
  returns: { 200: refund },
  errors: ['resource_missing', 'refund_is_reversed', 'refund_is_settled', 'amount_too_large'],
  handle: async ({ tx, account, params }) => ok(await reverseRefund(tx, account, params.refund_id)),
});
