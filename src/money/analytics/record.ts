import { type Static, Type } from 'typebox';
import {
  amount,
  currencyCode,
  currencyInput,
  dayInQuery,
  nullable,
  strict,
  timestamp,
} from '../../contract/schemas.ts';

export const INTERVALS = ['day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The parameters of a series. */
export const commissionAnalyticsQuery = strict({
  interval: Type.Optional(
    Type.Enum([...INTERVALS], {
      description: 'the length of a bucket; a week begins on Monday. Default month',
    }),
  ),
  from: dayInQuery(
    'the series begins with the interval that contains this day. Default: 30 days, 12 weeks or 12 months',
  ),
  to: dayInQuery('the series ends with the interval that contains this day. Default today'),
  currency: Type.Optional(currencyInput),
  program_id: Type.Optional(
    Type.String({ description: 'only commissions of this program', examples: ['3'] }),
  ),
});

const count = Type.Integer();
const cash = (description: string) => nullable({ ...amount, description });
const bucket = strict(
  {
    starts_at: timestamp,
    day: Type.String({ description: 'the first day, in the zone of the account', examples: ['2026-01-01'] }),
    earned_amount: { ...amount, description: 'commissions, dated by the sale' },
    earned_count: count,
    refunded_amount: {
      ...amount,
      description: 'amounts taken by refunds, dated by the refund; reversed refunds do not count',
    },
    refunded_count: count,
    voided_amount: {
      ...amount,
      description: 'the remaining amounts of commissions that were voided manually',
    },
    voided_count: count,
    adjusted_amount: { ...amount, description: 'manual credits and debits' },
    adjusted_count: count,
    paid_amount: cash(
      'payments; null with a program, because a payment belongs to an affiliate and a currency',
    ),
    paid_count: nullable(count),
    returned_amount: cash('returned payments, less returns that were undone'),
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
      description: 'of the account: the days are in it',
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
