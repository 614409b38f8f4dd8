import { type Static, Type } from 'typebox';
import { identifier, momentInQuery, nullable, strict, timestamp } from '../../contract/schemas.ts';

export const INTERVALS = ['minute', 'hour', 'day'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The parameters of a series. */
export const deliveryAnalyticsQuery = strict({
  interval: Type.Optional(
    Type.Enum([...INTERVALS], {
      description:
        'of a bucket; minutes and hours are in UTC, days in the time zone of the account. Default hour',
    }),
  ),
  from: momentInQuery(
    'the series begins with the interval that contains this. Default: 60 minutes, 24 hours or 30 days',
  ),
  to: momentInQuery('the series ends with the interval that contains this. Default now'),
  webhook_endpoint_id: Type.Optional(
    Type.String({
      description: 'only deliveries to this endpoint, which may be deleted',
      examples: ['we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
    }),
  ),
  owner: Type.Optional({
    ...identifier,
    description: 'only deliveries to the endpoints of this owner, including deleted ones',
    examples: ['customer-7'],
  }),
});

const count = Type.Integer({ minimum: 0 });
const percentile = (description: string) =>
  nullable(Type.Integer({ minimum: 0, description: `milliseconds, off by at most 9 %: ${description}` }));
const counts = {
  published: {
    ...count,
    description: 'deliveries of events published in the bucket: one for each endpoint of an event',
  },
  delivered: { ...count, description: 'those of them that are delivered by now' },
  failed: { ...count, description: 'those of them that have failed by now' },
  cancelled: {
    ...count,
    description: 'those of them that are cancelled by now; the rest is pending or held',
  },
  attempts: { ...count, description: 'attempts that began in the bucket, of any event' },
  p50_ms: percentile('half of the attempts took at most this long; null without attempts'),
  p95_ms: percentile('95 % of the attempts took at most this long'),
  p99_ms: percentile('99 % of the attempts took at most this long'),
  answers: strict(
    { '2xx': count, '3xx': count, '4xx': count, '5xx': count, none: count },
    {
      title: 'AnswerCounts',
      description: 'the attempts by the class of the answer; none: no answer arrived',
    },
  ),
};
const bucket = strict({ starts_at: timestamp, ...counts }, { title: 'DeliveryBucket' });
const sums = strict(counts, { title: 'DeliverySums', description: 'the same over all buckets' });

/** Delivery counts over time. */
export const deliveryAnalytics = strict(
  {
    object: Type.Literal('delivery_analytics'),
    interval: Type.Enum([...INTERVALS]),
    time_zone: Type.String({ description: 'of the account, for days', examples: ['Europe/Berlin'] }),
    from: { ...timestamp, description: 'the beginning of the first bucket' },
    to: { ...timestamp, description: 'the end of the last bucket, exclusive' },
    webhook_endpoint_id: nullable(Type.String({ description: 'as requested; null = all endpoints' })),
    owner: nullable(Type.String({ description: 'as requested; null = all owners' })),
    buckets: Type.Array(bucket, { description: 'every interval, including empty ones' }),
    totals: sums,
  },
  { title: 'DeliveryAnalytics' },
);
export type DeliveryAnalytics = Static<typeof deliveryAnalytics>;
export type DeliverySums = Static<typeof sums>;
