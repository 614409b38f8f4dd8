import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import {
  amount,
  amountInput,
  badLine,
  currencyCode,
  currencyInput,
  email,
  identifier,
  metadata,
  nullable,
  numberId,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import type { CommissionId, PayoutId } from '../../kernel/ids.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';

export const COMMISSION_TYPES = ['sale', 'recurring', 'bonus', 'adjustment', 'clawback'] as const;
export const COMMISSION_STATUSES = ['pending', 'unpaid', 'paid', 'voided'] as const;

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
    type: Type.Enum([...COMMISSION_TYPES], {
      title: 'CommissionType',
      description: 'a clawback is negative: it takes back what was paid before a refund',
    }),
    status: Type.Enum([...COMMISSION_STATUSES], {
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
export type Commission = Static<typeof commission>;

/** Its columns, over `commissions c` and `payoutJoin`. */
export const record = columnsOf(commission, {
  id: "public_id('com', c.id)",
  object: "'affiliate_commission'",
  external_id: 'c.external_id',
  affiliate_id: 'c.affiliate_id',
  program_id: 'c.program_id',
  type: 'c.type',
  status: `case when c.voided_at is not null then 'voided' when p.status = 'paid' then 'paid'
    when c.payout_id is null and c.available_at > statement_timestamp() then 'pending' else 'unpaid' end`,
  is_paid: "coalesce(p.status = 'paid', false)",
  amount: 'c.amount',
  original_amount: 'c.original_amount',
  refunded_amount: 'c.refunded_amount',
  currency: 'c.currency',
  sale_amount: 'c.sale_amount',
  rate_bps: 'c.rate_bps',
  order_id: 'c.order_id',
  order_line_id: 'c.order_line_id',
  customer_email: 'c.customer_email',
  product_id: 'c.product_id',
  product_name: 'c.product_name',
  description: 'c.description',
  occurred_at: 'iso(c.occurred_at)',
  available_at: 'case when isfinite(c.available_at) then iso(c.available_at) end',
  payout_id: "public_id('po', c.payout_id)",
  paid_at: 'iso(p.paid_at)',
  voided_at: 'iso(c.voided_at)',
  void_reason: 'c.void_reason',
  reverses_commission_id: "public_id('com', c.reverses_commission_id)",
  metadata: 'c.metadata',
  created_at: 'iso(id_time(c.id))',
  updated_at: 'iso(greatest(c.updated_at, id_time(c.id)))',
});
export const payoutJoin = sql`left join payouts p on p.account_id = c.account_id and p.id = c.payout_id`;

/** The input for a new commission. */
export const newCommission = strict(
  {
    external_id: { ...identifier, description: 'your id, unique forever; must not begin with `payhook:`' },
    affiliate_id: Type.Optional({
      ...numberId,
      description: 'who earned it: exactly one of `affiliate_id`, `affiliate_external_id`, `affiliate_email`',
    }),
    affiliate_external_id: Type.Optional({ ...text(255), description: 'who earned it, by your own id' }),
    affiliate_email: Type.Optional({
      ...text(320),
      description: 'who earned it, by e-mail address, in any case',
    }),
    program_id: Type.Optional(nullable({ ...numberId, description: 'the program whose hold applies' })),
    type: Type.Optional(
      Type.Enum(['sale', 'recurring', 'bonus'], {
        title: 'NewCommissionType',
        description: 'default sale',
      }),
    ),
    amount: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_AMOUNT,
        description: 'what the affiliate gets, in minor units',
      }),
    ),
    currency: Type.Optional({
      ...currencyInput,
      description: 'ISO 4217, any case; default the account currency',
    }),
    sale_amount: Type.Optional(
      nullable(Type.Integer({ minimum: 0, maximum: MAX_AMOUNT, description: 'minor units of the sale' })),
    ),
    rate_bps: Type.Optional(
      nullable(
        Type.Integer({ minimum: 0, maximum: 10_000, description: 'basis points of the sale: 2000 is 20 %' }),
      ),
    ),
    order_id: Type.Optional(
      nullable({ ...identifier, description: 'the order in the shop, by which refunds find it' }),
    ),
    order_line_id: Type.Optional(
      nullable({
        ...identifier,
        description: 'the line of the order: commissions with the same line share a sale',
      }),
    ),
    customer_email: Type.Optional(nullable(email)),
    product_id: Type.Optional(nullable(identifier)),
    product_name: Type.Optional(nullable(text(500))),
    description: Type.Optional(nullable(text(1000))),
    occurred_at: Type.Optional(Type.String({ description: 'RFC 3339; default now' })),
    metadata: Type.Optional(nullable(metadata)),
  },
  { title: 'CommissionInput' },
);
export type NewCommission = Static<typeof newCommission>;

/** The input for an adjustment. */
export const newAdjustment = strict({
  external_id: identifier,
  amount: amountInput,
  currency: Type.Optional(currencyInput),
  program_id: Type.Optional(nullable(numberId)),
  description: Type.Optional(nullable(text(1000))),
  occurred_at: Type.Optional(Type.String({ description: 'RFC 3339; default now' })),
  metadata: Type.Optional(nullable(metadata)),
});
export type NewAdjustment = Static<typeof newAdjustment>;

const batchItem = strict({
  index: Type.Integer(),
  status: Type.Integer({ description: '201 new, 200 stored before, 400 or 409 refused' }),
  commission: Type.Optional(commission),
  error: Type.Optional(strict({ code: Type.String(), reason: Type.String(), message: Type.String() })),
});
export type BatchItem = Static<typeof batchItem>;

/** The result of each commission of a batch. */
export const commissionBatch = strict(
  {
    object: Type.Literal('commission_batch'),
    items: Type.Array(batchItem),
  },
  { title: 'CommissionBatch' },
);
export type CommissionBatch = Static<typeof commissionBatch>;

/** The result of an import, or of its dry run. */
export const commissionImport = strict(
  {
    object: Type.Literal('commission_import'),
    dry_run: Type.Boolean(),
    lines: Type.Integer(),
    created: Type.Integer(),
    unchanged: Type.Integer({ description: 'already stored with the same content' }),
    failed: Type.Integer(),
    totals: Type.Array(strict({ currency: currencyCode, amount, count: Type.Integer() }), {
      description: 'sums of the good lines',
    }),
    errors: Type.Array(badLine, {
      description: 'the first 1,000 bad lines',
    }),
  },
  { title: 'CommissionImport' },
);

/** The data of the event for commissions that were created together. */
export const importedCommissions = strict({
  object: Type.Literal('commission_import'),
  source: Type.Enum(['batch', 'file', 'payout'], {
    description: 'payout: the parts of lines that a completed payout did not pay and owes again',
  }),
  created: Type.Integer(),
  unchanged: Type.Optional(Type.Integer()),
  failed: Type.Optional(Type.Integer()),
  totals: Type.Array(strict({ currency: currencyCode, amount, count: Type.Integer() })),
});
export type ImportedCommissions = Static<typeof importedCommissions>;

/** A commission locked for a change; the books were locked before it. */
export interface LockedCommission {
  readonly id: CommissionId;
  readonly affiliate_id: bigint;
  readonly program_id: bigint | null;
  readonly type: Commission['type'];
  readonly currency: string;
  readonly amount: bigint;
  readonly original_amount: bigint;
  readonly refunded_amount: bigint;
  readonly sale_amount: bigint | null;
  readonly voided: boolean;
  readonly held: boolean;
  /** The payout it is in. */
  readonly payout_id: PayoutId | null;
  readonly paid: boolean;
  /** The payout whose payment it owes again, because it was returned or only partly made. */
  readonly returns_payout_id: PayoutId | null;
}
