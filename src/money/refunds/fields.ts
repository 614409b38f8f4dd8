import { Type } from 'typebox';
import { type Fields, instantText, type TextErasure, type WritableField } from '../../contract/fields.ts';
import { currencyInput, identifier, nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { knownCurrency } from '../../people/accounts/service.ts';

interface RefundField extends WritableField {
  readonly erasure: TextErasure;
}

const saleAmount = Type.Integer({
  minimum: 1,
  maximum: MAX_AMOUNT,
  description: 'minor units of the sale; the commission is reduced pro rata',
});

/** The line of a refund by order. */
export const refundLine = strict({
  order_line_id: Type.Optional(text(255)),
  external_id: Type.Optional({ ...text(255), description: 'of one commission' }),
  sale_amount: Type.Optional(saleAmount),
});

/**
 * The fields of a refund, over `refunds r`: the only list of them. Those that its record shows are stored; the others say
 * what it takes of which commission (`refund_lines`, `refund_items`).
 */
export const REFUND_FIELDS = {
  id: {
    schema: Type.String({ examples: ['ref_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    column: "public_id('ref', r.id)",
  },
  object: { schema: Type.Literal('affiliate_refund'), column: "'affiliate_refund'" },
  external_id: {
    schema: Type.String(),
    input: { ...identifier, description: 'sending the same refund again changes nothing' },
    type: 'id',
    isRequired: true,
    label: 'Your id',
    help: 'your own id of the refund, unique forever',
    example: 'refund-77',
    option: '--external-id <id>',
    erasure: 'id',
  },
  status: {
    schema: Type.Enum(['waiting', 'applied', 'reversed'], {
      description: 'waiting: a line of it has no commission yet, or is in doubt',
    }),
  },
  order_id: {
    schema: nullable(Type.String({ description: 'null for a refund of one commission by its id' })),
    input: text(255),
    type: 'id',
    isRequired: true,
    label: 'Order',
    example: 'order-1042',
    option: '--order <order>',
    erasure: 'id',
  },
  product_id: {
    schema: nullable(Type.String()),
    input: nullable(text(255)),
    type: 'id',
    label: 'Product',
    example: 'engine-yearly',
    option: '--product <product>',
    erasure: 'id',
  },
  currency: {
    input: { ...currencyInput, description: 'the currency of the amounts; a different one is refused' },
    type: 'currency',
    normalise: (code: string, field: string) => knownCurrency(field, code),
    label: 'Currency',
    example: 'usd',
    option: '--currency <currency>',
    erasure: 'kept',
  },
  lines: {
    input: Type.Array(refundLine, {
      minItems: 1,
      maxItems: 100,
      description: 'each with either order_line_id or external_id',
    }),
    type: 'other',
    label: 'Lines',
    example: [{ order_line_id: 'order-1042-1', sale_amount: 12_500 }],
    option: '--line <line[=amount]>',
    erasure: 'kept',
  },
  amount: {
    input: Type.Integer({
      minimum: 1,
      maximum: MAX_AMOUNT,
      description: 'minor units of commission to take back',
    }),
    type: 'money',
    label: 'Commission',
    example: 2500,
    option: '--amount <amount>',
    erasure: 'kept',
  },
  sale_amount: {
    input: saleAmount,
    type: 'money',
    label: 'Sale',
    example: 12_500,
    option: '--sale-amount <amount>',
    erasure: 'kept',
  },
  reason: {
    schema: nullable(Type.String()),
    input: nullable(text(500)),
    type: 'text',
    label: 'Reason',
    help: 'why',
    example: 'one of two returned',
    option: '--reason <text>',
    erasure: 'text',
  },
  occurred_at: {
    schema: timestamp,
    column: 'iso(r.occurred_at)',
    input: Type.String({ description: 'RFC 3339; default now' }),
    type: 'time',
    normalise: instantText,
    label: 'Refunded',
    help: 'when the customer was refunded',
    example: '2026-08-20T11:30:05.000Z',
    option: '--occurred-at <when>',
    erasure: 'kept',
  },
  reversed_at: { schema: nullable(timestamp), column: 'iso(r.reversed_at)' },
  created_at: { schema: timestamp, column: 'iso(id_time(r.id))' },
  updated_at: { schema: timestamp, column: 'iso(greatest(r.updated_at, id_time(r.id)))' },
} as const satisfies Fields<RefundField>;
