import { ok, readRoute } from '../../contract/route.ts';
import { deliveryAnalytics, deliveryAnalyticsQuery } from './record.ts';
import { getDeliveryAnalytics } from './service.ts';

export const deliveries = readRoute({
  operation: 'getDeliveryAnalytics',
  path: '/v2/analytics/deliveries',
  access: 'analytics',
  portal: 'query',
  summary: 'Get how webhook deliveries went over time',
  description:
    'By minute, hour or day: what was published and what became of it, attempts with their answers, and percentiles of how ' +
    'long they took. 1500 minutes, 750 hours or 400 days at most. A delivery counts when its event was published, an attempt ' +
    'when it began. It all goes with the log, after `WEBHOOK_RETENTION_DAYS`.',
  query: deliveryAnalyticsQuery,
  replicable: true,
  returns: { 200: deliveryAnalytics },
  errors: ['invalid_query'],
  handle: async ({ db, account, query }) => ok(await getDeliveryAnalytics(db, account, query)),
});
