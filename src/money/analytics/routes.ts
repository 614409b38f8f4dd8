import { ok, readRoute } from '../../contract/route.ts';
import { commissionAnalytics, commissionAnalyticsQuery } from './record.ts';
import { getCommissionAnalytics } from './service.ts';

export const commissions = readRoute({
  operation: 'getCommissionAnalytics',
  path: '/v2/analytics/commissions',
  scope: 'analytics',
  needs: 'read',
  summary: 'Get what was earned, refunded and paid over time',
  description:
    "Amounts and counts by currency and by day, week or month in the account's time zone, at most 400 intervals. " +
    'Over all time, earned plus adjusted plus returned, less refunded, voided and paid, is what is owed.',
  query: commissionAnalyticsQuery,
  replicable: true,
  returns: { 200: commissionAnalytics },
  errors: ['invalid_query', 'amount_too_large'],
  handle: async ({ db, account, query }) => ok(await getCommissionAnalytics(db, account, query)),
});
