import { Type } from 'typebox';
import { created, ok, page, readRoute, writeRoute } from '../../http/route.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import {
  amount,
  currencyCode,
  currencyInput,
  email,
  listOf,
  metadata,
  nullable,
  numberId,
  strict,
  text,
} from '../schemas.ts';
import { importCommissions } from './import.ts';
import { commission } from './schema.ts';
import { createBatch, createCommission, getCommission } from './service.ts';
import { commissionList, listCommissions } from './store.ts';

const BATCH_LIMIT = 16 << 20;

const input = strict({
  external_id: text(255),
  affiliate_id: numberId,
  program_id: Type.Optional(nullable(numberId)),
  type: Type.Optional(Type.Enum(['sale', 'recurring', 'bonus'])),
  amount: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_AMOUNT, description: 'minor units' })),
  currency: Type.Optional(currencyInput),
  sale_amount: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: MAX_AMOUNT }))),
  rate_bps: Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: 10_000, description: 'basis points' })),
  ),
  order_id: Type.Optional(nullable(text(255))),
  customer_email: Type.Optional(nullable(email)),
  product_id: Type.Optional(nullable(text(255))),
  product_name: Type.Optional(nullable(text(500))),
  description: Type.Optional(nullable(text(1000))),
  occurred_at: Type.Optional(Type.String({ description: 'RFC 3339; default now' })),
  metadata: Type.Optional(nullable(metadata)),
});

const inputErrors = ['invalid_amount', 'unknown_affiliate', 'unknown_program'] as const;
const amountHelp = 'Without `amount` it is computed from `sale_amount` and `rate_bps`, rounded half up.';

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
  summary: 'Take a commission in',
  description: `\`external_id\` is unique: the same again with the same content answers 200 with the stored record. ${amountHelp}`,
  body: input,
  returns: { 201: commission, 200: commission },
  errors: [...inputErrors, 'duplicate_external_id'],
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
  summary: 'Take up to 1,000 commissions in',
  description: `All or nothing; with \`partial\` each item by itself. ${amountHelp}`,
  body: strict({
    commissions: Type.Array(input, { minItems: 1, maxItems: 1000 }),
    partial: Type.Optional(Type.Boolean()),
  }),
  bodyLimit: BATCH_LIMIT,
  returns: {
    200: strict({
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
    }),
  },
  errors: ['invalid_items'],
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
    'amount, sale_amount, rate_bps, order_id, customer_email, product_id, product_name, description, occurred_at. ' +
    'Amounts are decimal (`31.90`). Any size, one transaction: a bad line stops the import with nothing written, ' +
    'unless `partial`; `dry_run` reports every bad line and the sums and writes nothing.',
  query: strict({ dry_run: Type.Optional(Type.Boolean()), partial: Type.Optional(Type.Boolean()) }),
  upload: 'text/csv',
  returns: {
    200: strict({
      object: Type.Literal('commission_import'),
      dry_run: Type.Boolean(),
      lines: Type.Integer(),
      created: Type.Integer(),
      unchanged: Type.Integer({ description: 'stored before with the same content' }),
      failed: Type.Integer(),
      totals: Type.Array(strict({ currency: currencyCode, amount, count: Type.Integer() }), {
        description: 'sums of the good lines',
      }),
      errors: Type.Array(strict({ line: Type.Integer(), message: Type.String() }), {
        description: 'the first 1,000 bad lines',
      }),
    }),
  },
  errors: ['invalid_file', 'invalid_lines'],
  handle: async ({ tx, account, upload, query }) =>
    ok(
      await importCommissions(tx, account, upload, {
        dryRun: query.dry_run ?? false,
        partial: query.partial ?? false,
      }),
    ),
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
