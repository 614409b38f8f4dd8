import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { newSchema, recordColumns, recordProperties } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { amount, badLine, currencyCode, eitherOf, strict } from '../../contract/schemas.ts';
import type { CommissionId, PayoutId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { ADJUSTMENT_FIELDS, COMMISSION_FIELDS } from './fields.ts';

/** The commission record. */
export const commission = strict(recordProperties(COMMISSION_FIELDS), { title: 'Commission' });
export type Commission = Static<typeof commission>;

/** Its columns, over `commissions c` and `payoutJoin`. */
export const record = columnsOf(commission, recordColumns(COMMISSION_FIELDS, 'c'));
export const payoutJoin = sql`left join payouts p on p.account_id = c.account_id and p.id = c.payout_id`;

/** The input for a new commission. */
export const newCommission = eitherOf(newSchema(COMMISSION_FIELDS, { title: 'CommissionInput' }), {
  alternatives: [
    { title: 'CommissionByAffiliateId', needs: ['affiliate_id'] },
    { title: 'CommissionByAffiliateExternalId', needs: ['affiliate_external_id'] },
    { title: 'CommissionByAffiliateEmail', needs: ['affiliate_email'] },
  ],
});
export type NewCommission = Static<typeof newCommission>;

/** The input for an adjustment. */
export const newAdjustment = newSchema(ADJUSTMENT_FIELDS);
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
  /** The whole record when it was locked. */
  readonly json: Json<Commission>;
}
