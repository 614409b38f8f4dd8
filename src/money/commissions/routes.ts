import { Type } from 'typebox';
import { created, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import {
  amount,
  amountInput,
  badLine,
  currencyCode,
  currencyInput,
  email,
  identifier,
  listOf,
  metadata,
  nullable,
  numberId,
  strict,
  text,
} from '../../contract/schemas.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { importCommissions } from './import.ts';
import { commissionList, listCommissions } from './list.ts';
import { commission } from './schema.ts';
import { createAdjustment, createBatch, createCommission, getCommission } from './service.ts';
import { holdCommission, unholdCommission, voidCommission } from './state.ts';

const BATCH_LIMIT = 16 << 20;

const input = strict(
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

const inputErrors = ['invalid_amount', 'unknown_affiliate', 'unknown_program'] as const;
const amountHelp =
  'Without `amount` it is computed from `sale_amount` and `rate_bps`, rounded half up, so a small sale may give 0.';

export const list = readRoute({
  operation: 'listCommissions',
  path: '/v2/affiliates/commissions',
  access: 'affiliates',
  summary: 'List commissions',
  list: commissionList,
  returns: { 200: listOf(commission) },
  handle: async ({ db, account, list }) => page(await listCommissions(db, account, list)),
});

export const create = writeRoute({
  operation: 'createCommission',
  method: 'POST',
  path: '/v2/affiliates/commissions',
  access: 'affiliates',
  summary: 'Create a commission',
  description: `\`external_id\` is unique: sending the same content again answers 200 with the stored record. ${amountHelp}`,
  body: input,
  returns: { 201: commission, 200: commission },
  errors: [...inputErrors, 'duplicate_external_id'],
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
  access: 'affiliates',
  summary: 'Create up to 1,000 commissions',
  description: `All or nothing; with \`partial\` each item separately. ${amountHelp}`,
  body: strict({
    commissions: Type.Array(input, { minItems: 1, maxItems: 1000 }),
    partial: Type.Optional(Type.Boolean({ description: 'creates the good items and reports the bad ones' })),
  }),
  bodyLimit: BATCH_LIMIT,
  returns: {
    200: strict(
      {
        object: Type.Literal('commission_batch'),
        items: Type.Array(
          strict({
            index: Type.Integer(),
            status: Type.Integer({ description: '201 new, 200 stored before, 400 or 409 refused' }),
            commission: Type.Optional(commission),
            error: Type.Optional(
              strict({ code: Type.String(), reason: Type.String(), message: Type.String() }),
            ),
          }),
        ),
      },
      { title: 'CommissionBatch' },
    ),
  },
  errors: ['invalid_items'],
  unaudited: true,
  handle: async ({ tx, account, body }) =>
    ok(await createBatch(tx, account, body.commissions, body.partial ?? false)),
});

export const importFile = writeRoute({
  operation: 'importCommissions',
  method: 'POST',
  path: '/v2/affiliates/commissions/import',
  access: 'affiliates',
  summary: 'Import commissions from CSV',
  description:
    'Columns: external_id; one of affiliate_id, affiliate_email, affiliate_external_id; program_id, type, currency, ' +
    'amount, sale_amount, rate_bps, order_id, order_line_id, customer_email, product_id, product_name, description, ' +
    'occurred_at. ' +
    'Amounts are decimal (`31.90`). Any size, one transaction: a bad line stops the import with nothing written, ' +
    'unless `partial`; `dry_run` reports every bad line and the sums and writes nothing.',
  query: strict({ dry_run: Type.Optional(Type.Boolean()), partial: Type.Optional(Type.Boolean()) }),
  upload: 'text/csv',
  returns: {
    200: strict(
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
    ),
  },
  errors: ['invalid_file', 'invalid_lines', 'amount_too_large'],
  handle: async ({ tx, account, upload, query }) =>
    ok(
      await importCommissions(tx, account, upload, {
        dryRun: query.dry_run ?? false,
        partial: query.partial ?? false,
      }),
    ),
});

export const adjust = writeRoute({
  operation: 'createAdjustment',
  method: 'POST',
  path: '/v2/affiliates/{affiliate_id}/adjustments',
  access: 'affiliates',
  summary: 'Credit or debit an affiliate',
  description:
    'A commission of type adjustment, exempt from the hold; a negative one is taken from the next payout.',
  body: strict({
    external_id: identifier,
    amount: amountInput,
    currency: Type.Optional(currencyInput),
    program_id: Type.Optional(nullable(numberId)),
    description: Type.Optional(nullable(text(1000))),
    occurred_at: Type.Optional(Type.String({ description: 'RFC 3339; default now' })),
    metadata: Type.Optional(nullable(metadata)),
  }),
  returns: { 201: commission, 200: commission },
  errors: ['resource_missing', 'invalid_amount', 'unknown_program', 'duplicate_external_id'],
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
  access: 'affiliates',
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
  access: 'affiliates',
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
  access: 'affiliates',
  summary: 'End the review of a commission',
  returns: { 200: commission },
  errors: ['resource_missing', 'commission_not_held'],
  handle: async ({ tx, account, params }) => ok(await unholdCommission(tx, account, params.commission_id)),
});

export const get = readRoute({
  operation: 'getCommission',
  path: '/v2/affiliates/commissions/{commission_id}',
  access: 'affiliates',
  summary: 'Get a commission',
  returns: { 200: commission },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getCommission(db, account, params.commission_id)),
});
