import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import {
  amount,
  currencyInput,
  identifier,
  nullable,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { commission, record as commissionRecord, payoutJoin } from '../commissions/record.ts';

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

/** The response to the refund of one commission: the refund and the amounts taken. */
export const commissionRefund = strict({ ...head, ...item }, { title: 'CommissionRefund' });
export type CommissionRefund = Static<typeof commissionRefund>;

const refundItem = strict(item, { title: 'RefundItem' });

/** The refund record. */
export const refund = strict(
  {
    ...head,
    lines: Type.Array(line, { description: 'of a refund by order: what it covers' }),
    refunds: Type.Array(refundItem, {
      description: 'what it took of each commission',
    }),
  },
  { title: 'Refund' },
);
export type Refund = Static<typeof refund>;

/** The columns of the refund itself, over `refunds r`. */
const headColumns = {
  id: "public_id('ref', r.id)",
  object: "'affiliate_refund'",
  external_id: 'r.external_id',
  status: 'r.status',
  order_id: 'r.order_id',
  product_id: 'r.product_id',
  reason: 'r.reason',
  occurred_at: 'iso(r.occurred_at)',
  reversed_at: 'iso(r.reversed_at)',
  created_at: 'iso(id_time(r.id))',
  updated_at: 'iso(greatest(r.updated_at, id_time(r.id)))',
};

const commissionAt = (id: 'commission_id' | 'clawback_id') => sql`(
  select row_to_json(o) from (
    select ${commissionRecord} from commissions c ${payoutJoin}
    where c.account_id = i.account_id and c.id = ${id === 'commission_id' ? sql`i.commission_id` : sql`i.clawback_id`}) o)`;

/** What a refund took from a commission, over `refund_items i`. */
const itemColumns = {
  amount: 'i.amount',
  sale_amount: 'i.sale_amount',
  capped: 'i.capped',
  commission: commissionAt('commission_id'),
  clawback: commissionAt('clawback_id'),
};

const lineRecord = columnsOf(line, {
  order_line_id: 'l.order_line_id',
  external_id: 'l.commission_external_id',
  amount: 'l.amount',
  sale_amount: 'l.sale_amount',
  currency: 'l.currency',
  status: 'l.status',
});

/** The columns of the record, over `refunds r`. */
export const record = columnsOf(refund, {
  ...headColumns,
  lines: sql`(select coalesce(json_agg((select o from (select ${lineRecord}) o) order by l.position), '[]')
    from refund_lines l where l.account_id = r.account_id and l.refund_id = r.id)`,
  refunds: sql`(
    select coalesce(json_agg((select o from (select ${columnsOf(refundItem, itemColumns)}) o)
      order by i.commission_id), '[]')
    from refund_items i where i.account_id = r.account_id and i.refund_id = r.id)`,
});

/** The columns of the refund of one commission, over `refunds r` and `refund_items i`. */
export const recordOfOne = columnsOf(commissionRefund, { ...headColumns, ...itemColumns });

const saleAmount = Type.Integer({
  minimum: 1,
  maximum: MAX_AMOUNT,
  description: 'minor units of the sale; the commission is reduced pro rata',
});

const input = {
  external_id: { ...identifier, description: 'your id: sending the same refund again changes nothing' },
  amount: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_AMOUNT, description: 'minor units of commission to take back' }),
  ),
  sale_amount: Type.Optional(saleAmount),
  reason: Type.Optional(nullable(text(500))),
  occurred_at: Type.Optional(Type.String({ description: 'RFC 3339; default now' })),
};

/** The input for the refund of one commission. */
export const refundOfOne = strict(input);
export type RefundOfOne = Static<typeof refundOfOne>;

const refundLine = strict({
  order_line_id: Type.Optional(text(255)),
  external_id: Type.Optional({ ...text(255), description: 'of one commission' }),
  sale_amount: Type.Optional(saleAmount),
});
export type NewRefundLine = Static<typeof refundLine>;

/** The input for a refund by order. */
export const orderRefund = strict({
  order_id: text(255),
  product_id: Type.Optional(nullable(text(255))),
  currency: Type.Optional({
    ...currencyInput,
    description: 'the currency of the amounts; a different one is refused',
  }),
  lines: Type.Optional(
    Type.Array(refundLine, {
      minItems: 1,
      maxItems: 100,
      description: 'each with either order_line_id or external_id',
    }),
  ),
  ...input,
});
export type OrderRefund = Static<typeof orderRefund>;
