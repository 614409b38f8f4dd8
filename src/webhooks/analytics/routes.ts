import { ok, readRoute } from '../../contract/route.ts';
import { deliveryAnalytics, deliveryAnalyticsQuery } from './record.ts';
import { getDeliveryAnalytics } from './service.ts';

export const deliveries = readRoute({
  operation: 'getDeliveryAnalytics',
  path: '/v2/analytics/deliveries',
  scope: 'analytics',
  needs: 'read',
  portal: 'query',
  summary: 'Get webhook deliveries over time',
  description:
    'By minute, hour or day: published events and the status of their deliveries, attempts by answer, and percentiles of their ' +
    'durations. At most 1500 minutes, 750 hours or 400 days. A delivery counts when its event was published, an attempt ' +
    'when it began. Counts are deleted with the log, after `WEBHOOK_RETENTION_DAYS`.',
  query: deliveryAnalyticsQuery,
  replicable: true,
  returns: { 200: deliveryAnalytics },
  errors: ['invalid_query'],
  handle: async ({ db, account, query }) => ok(await getDeliveryAnalytics(db, account, query)),
});
