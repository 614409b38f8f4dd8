import { Type } from 'typebox';
import { readRoute } from '../../http/route.ts';
import { csvReply } from '../csv-export.ts';
import { strict } from '../schemas.ts';
import { downloadPaidReport } from './service.ts';

export const paid = readRoute({
  operation: 'downloadPaidReport',
  path: '/v2/affiliates/reports/paid',
  access: 'affiliates',
  summary: 'Download what was paid in a year',
  description:
    'One row per affiliate and currency, cash basis: what was paid in payouts completed in that year (UTC), what came ' +
    'back in it, and the difference. Names and addresses are those of today.',
  query: strict({
    year: Type.String({ description: 'four digits, 1970 to 2999', examples: ['2026'] }),
  }),
  returns: { 200: 'text/csv' },
  handle: ({ snapshot, account, query }) =>
    csvReply(snapshot, (db) => downloadPaidReport(db, account, query.year)),
});
