import { Type } from 'typebox';
import { amount, currencyCode, metadata, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';
import { EXCLUSION_REASONS } from './plan.ts';

const total = strict(
  {
    currency: currencyCode,
    amount,
    commission_count: Type.Integer(),
    affiliate_count: Type.Integer(),
    paid_amount: { ...amount, description: 'what was paid, in minor units' },
    paid_count: Type.Integer({ description: 'commissions of lines that were paid, also in part' }),
    carried_amount: { ...amount, description: 'what paid lines did not pay: owed again by an adjustment' },
    released_amount: amount,
    released_count: Type.Integer({ description: 'commissions that were released and are owed again' }),
  },
  { title: 'PayoutTotal' },
);

/** What one affiliate is paid in one currency. */
const lineTotal = strict(
  {
    currency: currencyCode,
    amount: { ...amount, description: 'minor units: the amount of the line' },
    commission_count: Type.Integer(),
    is_paid: nullable(
      Type.Boolean({ description: 'null until the payout is completed; true also for a part payment' }),
    ),
    paid_amount: {
      ...amount,
      description: 'what was paid; 0 until the payout is completed, and for released lines',
    },
    carried_amount: { ...amount, description: 'what a paid line did not pay: owed again by an adjustment' },
    returned_amount: { ...amount, description: 'what came back of what was paid' },
    payment_reference: nullable(Type.String({ description: 'how you find the transfer' })),
  },
  { title: 'PayoutLineTotal' },
);

/** One affiliate in a payout, with a line per currency. */
export const line = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(
      Type.String({
        description: 'name and destination follow the affiliate until the payout is paid, then stay',
      }),
    ),
    email: nullable(Type.String()),
    paypal_email: nullable(Type.String()),
    payout_method: nullable(Type.Enum(PAYOUT_METHODS, { title: 'PayoutMethod' })),
    is_ready_for_payout: Type.Boolean({ description: 'set by the merchant' }),
    is_paid: nullable(
      Type.Boolean({
        description:
          'null until the payout is completed; true when all currencies were paid, see totals for each',
      }),
    ),
    commission_count: Type.Integer(),
    totals: Type.Array(lineTotal, { description: 'one per currency' }),
    payment_reference: nullable(
      Type.String({
        description:
          'given at completion: how you find the transfer; null when it differs between currencies',
      }),
    ),
    returned_amount: nullable(
      Type.Integer({
        description:
          'what came back, minor units; null when the affiliate is paid in several currencies, see totals',
      }),
    ),
  },
  { title: 'PayoutLine' },
);

const reason = Type.Enum([...EXCLUSION_REASONS], {
  title: 'ExclusionReason',
  description: 'the first two are carried forward to the next payout',
});
const leftOut = { currency: currencyCode, reason, amount, commission_count: Type.Integer() };
/** Who was left out, in one currency, for one reason. */
export const exclusion = strict({ affiliate_id: Type.Integer(), ...leftOut }, { title: 'PayoutExclusion' });
/** Who would be left out, and what would let them in. */
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
const excluded = Type.Array(
  strict({
    reason,
    affiliate_count: Type.Integer(),
    totals: Type.Array(
      strict({
        currency: currencyCode,
        amount,
        commission_count: Type.Integer(),
        affiliate_count: Type.Integer(),
      }),
    ),
  }),
  { description: 'who was left out, a row per reason' },
);

const fields = {
  id: Type.String({ examples: ['po_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('affiliate_payout'),
  number: Type.Integer({ description: 'rises per account, with possible gaps' }),
  status: Type.Enum(['unpaid', 'paid'], { title: 'PayoutStatus', description: 'paid is final' }),
  filters: nullable(Type.Record(Type.String(), Type.Unknown(), { description: 'as normalised and applied' })),
  search: nullable(Type.String({ description: 'as applied; null = none' })),
  as_of: { ...timestamp, description: 'the moment it was created: it holds what was owed then' },
  currency: nullable({ ...currencyCode, description: 'null when there are several; amount is null too' }),
  amount: nullable(amount),
  totals: Type.Array(total, {
    description: 'one per currency; amount = paid + carried + released once completed',
  }),
  affiliate_count: Type.Integer(),
  commission_count: Type.Integer(),
  metadata,
  revision: Type.Integer({ description: 'the ETag; rises with every change' }),
  created_by: Type.String({ description: 'the id of the key, user or application' }),
  created_at: timestamp,
  updated_at: timestamp,
  paid_at: nullable({
    ...timestamp,
    description: 'when the money left, as given at completion; default the time of completion',
  }),
  paid_by: nullable(Type.String({ description: 'who completed it' })),
};
/** A payout in lists and events. */
export const payoutSummary = strict(fields, { title: 'PayoutSummary' });
const lists = {
  affiliates: nullable(
    Type.Array(line, { description: 'all lines, or null when there are more than 1,000' }),
  ),
  excluded,
};
/** A payout whole. */
export const payout = strict({ ...fields, ...lists }, { title: 'Payout' });
/** The answer of Complete. */
export const completed = strict(
  {
    ...fields,
    ...lists,
    unlisted_affiliate_count: Type.Integer({
      description: 'affiliates who were not listed at all, so all their lines were released',
    }),
    unlisted_line_count: Type.Integer({
      description: 'lines (one per affiliate and currency) that were not listed and were released',
    }),
  },
  { title: 'CompletedPayout' },
);
/** What a create would make now. */
export const preview = strict(
  {
    ...fields,
    ...lists,
    id: Type.Null(),
    number: Type.Null(),
    revision: Type.Null(),
    created_by: Type.Null(),
    created_at: Type.Null(),
    updated_at: Type.Null(),
    current_payout_id: nullable(
      Type.String({ description: 'the unpaid payout that prevents creating this one' }),
    ),
  },
  { title: 'PayoutPreview' },
);
