import { page, readRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { csvReply } from '../files/csv-export.ts';
import { paidRow, period } from './record.ts';
import { downloadPaidReport, listPaidReport } from './service.ts';
import { paidList } from './store.ts';

const path = '/v2/affiliates/reports/paid';
const WHAT =
  'One row per affiliate, currency and payout method, on a cash basis: what was paid in the period, what came back in it, and ' +
  "the difference. A period is a `year`, or the days `from` and `to`, both in it, of the account's time zone; an end that is left out is open. Names, " +
  'addresses and countries are those of today, `payout_method` is that of the payment.';

export const paid = readRoute({
  operation: 'downloadPaidReport',
  path,
  access: 'affiliates',
  summary: 'Download what was paid in a period',
  description: WHAT,
  query: period,
  replicable: true,
  returns: { 200: 'text/csv' },
  handle: ({ snapshot, account, query }) =>
    csvReply(snapshot, (db) => downloadPaidReport(db, account, query)),
});

export const paidRows = readRoute({
  operation: 'listPaidReport',
  path: `${path}/rows`,
  access: 'affiliates',
  summary: 'List what was paid in a period',
  description: WHAT,
  list: paidList,
  returns: { 200: listOf(paidRow) },
  errors: ['amount_too_large'],
  handle: async ({ snapshot, account, list }) =>
    page(await snapshot((db) => listPaidReport(db, account, list))),
});
