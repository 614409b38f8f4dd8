import { Type } from 'typebox';
import { ok, page, readRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { PAPER_TYPES, paperReply } from '../../papers/reply.ts';
import { PAPER_FORMATS } from '../../papers/tasks.ts';
import { csvReply } from '../files/csv-export.ts';
import { period } from './period.ts';
import { paidRow } from './record.ts';
import { downloadPaidReport, listPaidReport } from './service.ts';
import { downloadStatement, getStatement } from './statement.ts';
import { draftStatement } from './statement-paper.ts';
import { statement as record } from './statement-record.ts';
import { paidList } from './store.ts';
import { MAKE_STATEMENT } from './tasks.ts';

const path = '/v2/affiliates/reports/paid';
const WHAT =
  'One row per affiliate, currency and payout method, on a cash basis: what was paid in the period, what was returned in it, and ' +
  "the difference. A period is a `year`, or the days `from` and `to`, both included, in the account's time zone; a missing bound is open. Names, " +
  'addresses and countries are current, `payout_method` is that of the payment.';

export const paid = readRoute({
  operation: 'downloadPaidReport',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Download the payments of a period',
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
  scope: 'affiliates',
  needs: 'read',
  summary: 'List the payments of a period',
  description: WHAT,
  list: paidList,
  returns: { 200: listOf(paidRow) },
  errors: ['amount_too_large'],
  handle: async ({ snapshot, account, list }) =>
    page(await snapshot((db) => listPaidReport(db, account, list))),
});

const STATEMENT =
  'By currency: what was owed before the period, what was earned, adjusted, refunded, voided, paid and returned in it, and what ' +
  'was owed after it. Consecutive statements join without a gap. A refund that is entered late ' +
  'still belongs to the day on which it happened.';

export const statement = readRoute({
  operation: 'getAffiliateStatement',
  path: '/v2/affiliates/{affiliate_id}/statement',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get the statement of an affiliate',
  description: STATEMENT,
  query: period,
  returns: { 200: record },
  errors: ['resource_missing', 'amount_too_large'],
  handle: async ({ snapshot, account, params, query }) =>
    ok(await snapshot((db) => getStatement(db, account, params.affiliate_id, query))),
});

export const statementFile = readRoute({
  operation: 'downloadAffiliateStatement',
  path: '/v2/affiliates/{affiliate_id}/statement/download',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Download the statement of an affiliate',
  description:
    `${STATEMENT} The file has every entry between the balances of a currency. \`pdf\` is an A4 document and \`html\` a page ` +
    'to print; both show the names of the account and of the affiliate, and at most 5,000 entries.',
  query: strict({
    ...period.properties,
    format: Type.Optional(
      Type.Enum(['csv', ...PAPER_FORMATS], { description: 'csv (default), pdf or html', examples: ['pdf'] }),
    ),
  }),
  returns: { 200: 'text/csv' },
  alsoSends: Object.values(PAPER_TYPES),
  sends: ['Content-Security-Policy'],
  errors: ['resource_missing', 'too_much_work'],
  handle: async ({ snapshot, account, env: { threads }, params, query: { format = 'csv', ...days } }) => {
    const { affiliate_id: id } = params;
    if (format === 'csv') {
      return csvReply(snapshot, (db) => downloadStatement(db, account, id, days));
    }
    const { draft, name } = await snapshot((db) => draftStatement(db, account, id, days));
    return paperReply({ threads, account }, MAKE_STATEMENT, { draft, format }, name);
  },
});
