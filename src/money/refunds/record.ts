import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { newSchema, recordColumns, recordProperties } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { amount, nullable, strict } from '../../contract/schemas.ts';
import { commission, record as commissionRecord, payoutJoin } from '../commissions/record.ts';
import { REFUND_FIELDS, type refundLine } from './fields.ts';

const head = recordProperties(REFUND_FIELDS);

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
const headColumns = recordColumns(REFUND_FIELDS, 'r');

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

const { order_id: _order, product_id: _product, currency: _currency, lines: _lines, ...ONE } = REFUND_FIELDS;

/** The input for the refund of one commission. */
export const refundOfOne = newSchema(ONE);
export type RefundOfOne = Static<typeof refundOfOne>;

export type NewRefundLine = Static<typeof refundLine>;

/** The input for a refund by order. */
export const orderRefund = newSchema(REFUND_FIELDS);
export type OrderRefund = Static<typeof orderRefund>;
