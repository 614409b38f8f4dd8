import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import {
  amount,
  currencyCode,
  currencyInput,
  metadata,
  nullable,
  numberId,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { payoutFields, exclusionReason as reason } from '../ledger/payout-record.ts';
import { filtersSchema } from './filters.ts';

const leftOut = { currency: currencyCode, reason, amount, commission_count: Type.Integer() };
/** An affiliate left out in one currency, for one reason. */
export const exclusion = strict({ affiliate_id: Type.Integer(), ...leftOut }, { title: 'PayoutExclusion' });
export type Exclusion = Static<typeof exclusion>;

/** The columns of an exclusion, over `payout_exclusions x`. */
export const exclusionRecord = columnsOf(exclusion, {
  affiliate_id: 'x.affiliate_id',
  currency: 'x.currency',
  reason: 'x.reason',
  amount: 'x.amount',
  commission_count: 'x.commission_count',
});
/** An affiliate who would be left out, and what would change that. */
export const previewExclusion = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(Type.String()),
    email: Type.String(),
    ...leftOut,
    minimum_payout: nullable(
      Type.Integer({ description: 'minor units: the minimum that a sum `below_minimum` does not reach' }),
    ),
    available_at: nullable({
      ...timestamp,
      description: 'when the first commission `on_hold` becomes available; null when all are held for review',
    }),
  },
  { title: 'PayoutPreviewExclusion' },
);
export type PreviewExclusion = Static<typeof previewExclusion>;

/** The response of Complete. */
export const completed = strict(
  {
    ...payoutFields,
    unlisted_affiliate_count: Type.Integer({
      description: 'affiliates without any listed line: all their lines were released',
    }),
    unlisted_line_count: Type.Integer({
      description: 'lines (one per affiliate and currency) that were not listed and were released',
    }),
  },
  { title: 'CompletedPayout' },
);
export type CompletedPayout = Static<typeof completed>;

/** The payout that create would make now. */
export const preview = strict(
  {
    ...payoutFields,
    id: Type.Null(),
    number: Type.Null(),
    revision: Type.Null(),
    created_by: Type.Null(),
    schedule_id: Type.Null(),
    created_at: Type.Null(),
    updated_at: Type.Null(),
    approval: Type.Null(),
    current_payout_id: nullable(
      Type.String({ description: 'the unpaid payout that prevents creating this one' }),
    ),
  },
  { title: 'PayoutPreview' },
);
export type PayoutPreview = Static<typeof preview>;

/** The input of create and preview. */
export const selection = strict(
  {
    filters: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'the filters of the report; null = none',
        examples: [null, { currency: 'usd', occurred_at: { lt: '2026-10-01' } }],
        'x-shown': { anyOf: [filtersSchema, { type: 'null' }] },
      }),
    ),
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'every word must occur in the name, e-mail address or slug of the affiliate',
      }),
    ),
    ignore_minimum: Type.Optional(Type.Boolean({ description: 'also pays amounts below the minimum' })),
    metadata: Type.Optional(metadata),
  },
  { title: 'PayoutSelection' },
);
export type SelectionInput = Static<typeof selection>;

/** The body of approve and reject. */
export const decision = strict({
  revision: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'the revision you reviewed: if the payout has another one by now, the decision is refused',
  }),
  note: Type.Optional(nullable({ ...text(1000), description: 'shown with the payout' })),
});

const commissionEntry = strict({
  // the interface calls it a number
  affiliate_id: { ...numberId, 'x-shown': undefined, description: 'an affiliate of the payout' },
  is_paid: Type.Boolean({ description: 'whether it was paid; false releases the line, which is owed again' }),
  currency: Type.Optional({
    ...currencyInput,
    description: 'the line that the entry covers; without it, all lines of the affiliate',
  }),
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_AMOUNT,
      description:
        'the amount paid in minor units of `currency`, at most the amount of the line, with the tax on top of it if its commissions ' +
        'are net; the rest is owed again',
    }),
  ),
  payment_reference: Type.Optional(
    nullable({ ...text(255), description: 'identifies the transfer, stored with the line' }),
  ),
});
export type CommissionEntry = Static<typeof commissionEntry>;

/** The body of Complete: who was paid. */
export const completion = strict({
  commissions: Type.Array(commissionEntry, { minItems: 1 }),
  require_all: Type.Optional(Type.Boolean({ description: 'refuse the request unless every line is listed' })),
  paid_at: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "when the money left: a day YYYY-MM-DD of the account's time zone, or an RFC 3339 instant; not before the " +
        'payout was created, not in the future; default now',
      examples: ['2026-09-30'],
    }),
  ),
  metadata: Type.Optional(metadata),
});
