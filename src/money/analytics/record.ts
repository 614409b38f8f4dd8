import { type Static, Type } from 'typebox';
import { amount, currencyCode, currencyInput, nullable, strict, timestamp } from '../../contract/schemas.ts';

export const INTERVALS = ['day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

const day = (description: string) =>
  Type.Optional(Type.String({ description: `a day YYYY-MM-DD: ${description}`, examples: ['2026-01-01'] }));
/** The parameters of a series. */
export const commissionAnalyticsQuery = strict({
  interval: Type.Optional(
    Type.Enum([...INTERVALS], { description: 'of a bucket; a week begins on Monday. Default month' }),
  ),
  from: day('the series begins with the interval that holds it. Default: 30 days, 12 weeks or 12 months'),
  to: day('the series ends with the interval that holds it. Default today'),
  currency: Type.Optional(currencyInput),
  program_id: Type.Optional(Type.String({ description: 'of commissions of this program', examples: ['3'] })),
});

const count = Type.Integer();
const cash = (description: string) => nullable({ ...amount, description });
const bucket = strict(
  {
    starts_at: timestamp,
    day: Type.String({ description: 'the first day, in the zone of the account', examples: ['2026-01-01'] }),
    earned_amount: { ...amount, description: 'commissions as they came in, by when the sale was' },
    earned_count: count,
    refunded_amount: {
      ...amount,
      description: 'what refunds took, by when they were; reversed ones do not count',
    },
    refunded_count: count,
    voided_amount: { ...amount, description: 'what was left of commissions that were voided by hand' },
    voided_count: count,
    adjusted_amount: { ...amount, description: 'credits and debits by hand' },
    adjusted_count: count,
    paid_amount: cash('what left; null of a program, as a payment is of an affiliate and a currency'),
    paid_count: nullable(count),
    returned_amount: cash('what came back, less what turned out not to have'),
    returned_count: nullable(count),
  },
  { title: 'CommissionBucket' },
);

/** What happened to commissions over time. */
export const commissionAnalytics = strict(
  {
    object: Type.Literal('commission_analytics'),
    interval: Type.Enum([...INTERVALS]),
    time_zone: Type.String({
      description: 'of the account: its days are told of',
      examples: ['Europe/Berlin'],
    }),
    from: Type.String({ description: 'the first day', examples: ['2026-01-01'] }),
    to: Type.String({ description: 'the last day', examples: ['2026-12-31'] }),
    series: Type.Array(
      strict(
        {
          currency: currencyCode,
          buckets: Type.Array(bucket, { description: 'every interval from the first day to the last' }),
        },
        { title: 'CommissionSeries' },
      ),
    ),
  },
  { title: 'CommissionAnalytics' },
);
export type CommissionAnalytics = Static<typeof commissionAnalytics>;
export type CommissionBucket = Static<typeof bucket>;
