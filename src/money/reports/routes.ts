import { Type } from 'typebox';
import { page, readRoute } from '../../contract/route.ts';
import { amount, currencyCode, listOf, nullable, strict } from '../../contract/schemas.ts';
import { payoutMethod } from '../affiliates/record.ts';
import { csvReply } from '../files/csv-export.ts';
import { downloadPaidReport, listPaidReport } from './service.ts';
import { paidList } from './store.ts';

const path = '/v2/affiliates/reports/paid';
const WHAT =
  'One row per affiliate, currency and payout method, on a cash basis: what was paid in the period, what came back in it, and ' +
  "the difference. A period is a `year`, or the days `from` and `to`, both in it, of the account's time zone; an end that is left out is open. Names, " +
  'addresses and countries are those of today, `payout_method` is that of the payment.';

const day = (description: string) =>
  Type.Optional(Type.String({ description: `a day YYYY-MM-DD: ${description}`, examples: ['2026-01-01'] }));

export const paid = readRoute({
  operation: 'downloadPaidReport',
  path,
  access: 'affiliates',
  summary: 'Download what was paid in a period',
  description: WHAT,
  query: strict({
    year: Type.Optional(Type.String({ description: 'four digits, 1970 to 2999', examples: ['2026'] })),
    from: day('the first day'),
    to: day('the last day'),
  }),
  returns: { 200: 'text/csv' },
  handle: ({ snapshot, account, query }) =>
    csvReply(snapshot, (db) => downloadPaidReport(db, account, query)),
});

const paidRow = strict(
  {
    affiliate_id: Type.Integer(),
    external_id: nullable(Type.String()),
    name_first: nullable(Type.String()),
    name_last: nullable(Type.String()),
    email: Type.String(),
    paypal_email: nullable(Type.String()),
    currency: currencyCode,
    payout_count: Type.Integer(),
    commission_count: Type.Integer(),
    paid_amount: { ...amount, description: 'minor units that left' },
    returned_amount: {
      ...amount,
      description: 'minor units that came back in the period, whenever they were paid',
    },
    net_amount: { ...amount, description: 'the difference; below zero when more came back' },
    payout_method: payoutMethod,
    country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2' })),
  },
  { title: 'PaidRow' },
);

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
