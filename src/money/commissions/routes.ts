import { Type } from 'typebox';
import { created, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, nullable, strict, text } from '../../contract/schemas.ts';
import { commissionList, listCommissions } from './list.ts';
import { commission, commissionBatch, newAdjustment, newCommission } from './record.ts';
import { createAdjustment, createBatch, createCommission, getCommission } from './service.ts';
import { holdCommission, unholdCommission, voidCommission } from './state.ts';

const BATCH_LIMIT = 16 << 20;
const MOST_ITEMS = 1000;
/** Of one: its fields, and its metadata. */
const PARTS_OF_ITEM = 100;

const inputErrors = ['invalid_amount', 'unknown_affiliate', 'unknown_program'] as const;
const amountHelp =
  'Without `amount` it is computed from `sale_amount` and `rate_bps`, rounded half up, so a small sale may give 0.';

export const list = readRoute({
  operation: 'listCommissions',
  path: '/v2/affiliates/commissions',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List commissions',
  list: commissionList,
  returns: { 200: listOf(commission) },
  handle: async ({ db, account, list }) => page(await listCommissions(db, account, list)),
});

export const create = writeRoute({
  operation: 'createCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Create a commission',
  description: `\`external_id\` is unique: sending the same content again answers 200 with the stored record. ${amountHelp}`,
  body: newCommission,
  returns: { 201: commission, 200: commission },
  creates: '/v2/affiliates/commissions/{commission_id}',
  errors: [...inputErrors, 'duplicate_external_id', 'amount_too_large'],
  unaudited: true,
  handle: async ({ tx, account, body }) => {
    const { json, isNew } = await createCommission(tx, account, body);
    return isNew ? created(json) : ok(json);
  },
});

export const createMany = writeRoute({
  operation: 'createCommissionBatch',
  method: 'POST',
  path: '/v2/affiliates/commissions/batch',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Create up to 1,000 commissions',
  description: `All or nothing; with \`partial\` each item separately. An item that breaks the schema, as with a negative amount, refuses the whole batch. ${amountHelp}`,
  body: strict({
    commissions: Type.Array(newCommission, { minItems: 1, maxItems: MOST_ITEMS }),
    partial: Type.Optional(Type.Boolean({ description: 'creates the good items and reports the bad ones' })),
  }),
  bodyLimit: BATCH_LIMIT,
  mostParts: MOST_ITEMS * PARTS_OF_ITEM,
  returns: { 200: commissionBatch },
  errors: ['invalid_items'],
  unaudited: true,
  handle: async ({ tx, account, body }) =>
    ok(await createBatch(tx, account, body.commissions, body.partial ?? false)),
});

export const adjust = writeRoute({
  operation: 'createAdjustment',
  method: 'POST',
  path: '/v2/affiliates/{affiliate_id}/adjustments',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Credit or debit an affiliate',
  description:
    'A commission of type adjustment, exempt from the hold; a negative one is taken from the next payout.',
  body: newAdjustment,
  returns: { 201: commission, 200: commission },
  creates: '/v2/affiliates/commissions/{commission_id}',
  errors: [
    'resource_missing',
    'invalid_amount',
    'unknown_program',
    'duplicate_external_id',
    'amount_too_large',
  ],
  handle: async ({ tx, account, params, body }) => {
    const { json, isNew } = await createAdjustment(tx, account, params.affiliate_id, body);
    return isNew ? created(json) : ok(json);
  },
});

const stateErrors = [
  'resource_missing',
  'wrong_commission_type',
  'commission_is_voided',
  'commission_is_paid',
] as const;

export const voidOne = writeRoute({
  operation: 'voidCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions/{commission_id}/void',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Void a commission',
  description:
    'Only a commission that is not paid; it also leaves the unpaid payout. Its external_id stays taken.',
  body: strict({ reason: Type.Optional(nullable(text(500))) }),
  bodyOptional: true,
  returns: { 200: commission },
  errors: [...stateErrors, 'commission_is_bound'],
  handle: async ({ tx, account, params, body }) =>
    ok(await voidCommission(tx, account, params.commission_id, body.reason ?? null)),
});

export const hold = writeRoute({
  operation: 'holdCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions/{commission_id}/hold',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Hold a commission for review',
  description: 'The commission is pending until `unhold`, and leaves the unpaid payout.',
  returns: { 200: commission },
  errors: [...stateErrors, 'commission_is_held'],
  handle: async ({ tx, account, params }) => ok(await holdCommission(tx, account, params.commission_id)),
});

export const unhold = writeRoute({
  operation: 'unholdCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions/{commission_id}/unhold',
  scope: 'affiliates',
  needs: 'write',
  summary: 'End the review of a commission',
  returns: { 200: commission },
  errors: ['resource_missing', 'commission_not_held'],
  handle: async ({ tx, account, params }) => ok(await unholdCommission(tx, account, params.commission_id)),
});

export const get = readRoute({
  operation: 'getCommission',
  path: '/v2/affiliates/commissions/{commission_id}',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get a commission',
  returns: { 200: commission },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getCommission(db, account, params.commission_id)),
});
