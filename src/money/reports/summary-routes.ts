import { Type } from 'typebox';
import { ok, page, readRoute } from '../../contract/route.ts';
import { dayInQuery, listOf, strict } from '../../contract/schemas.ts';
import { PAPER_TYPES, paperReply } from '../../papers/reply.ts';
import { MAKE_PAPER, PAPER_FORMATS } from '../../papers/tasks.ts';
import { csvReply } from '../files/csv-export.ts';
import { entryList, listEntries } from './entries.ts';
import { reportEntry } from './entry-record.ts';
import { RELATIVE_PERIODS } from './period.ts';
import { downloadSummary, getSummary } from './summary.ts';
import { draftSummary } from './summary-paper.ts';
import { GROUPINGS, reportSummary } from './summary-record.ts';

const path = '/v2/reports/summary';
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }));

const query = {
  period: text(
    `a month, quarter or year such as 2026-07, 2026-Q3, 2026, or ${RELATIVE_PERIODS.join(', ')}. Default this_month`,
    '2026-Q3',
  ),
  from: dayInQuery('instead of a period: the first day'),
  to: dayInQuery('the last day'),
  by: Type.Optional(
    Type.Enum([...GROUPINGS], {
      description: 'what the rows are of. Default currency',
      examples: ['currency'],
    }),
  ),
  country: text(
    'by affiliate, only those of a country (ISO 3166-1 alpha-2), or none: whose country is not known; the totals are of all',
    'DE',
  ),
  currency: text('by affiliate, only the rows in a currency; the totals are of all', 'usd'),
};

const WHAT =
  "Amounts by currency and group, for a period in the account's time zone. Amounts of different currencies are never added. " +
  'In each row: opening + earned + adjusted - refunded - voided - paid + returned = closing. A refund or ' +
  'payment that is entered late still belongs to the day on which it happened. By `method`, only what was paid and returned is known, by the ' +
  'method of the payment; by `program`, everything else, because a payment belongs to an affiliate and a currency. These amounts ' +
  'are null. Countries are the current ones of the affiliates.';

export const summary = readRoute({
  operation: 'getReportSummary',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get what was earned, refunded and paid in a period',
  description: WHAT,
  query: strict({
    ...query,
    page: text('the page of rows; default 1', '1'),
    per_page: text('rows a page: default 100, at most 1000', '100'),
  }),
  replicable: true,
  returns: { 200: reportSummary },
  errors: ['invalid_query', 'amount_too_large'],
  handle: async ({ snapshot, account, query: input }) =>
    ok(await snapshot((db) => getSummary(db, account, input))),
});

export const summaryFile = readRoute({
  operation: 'downloadReportSummary',
  path: `${path}/download`,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Download what was earned, refunded and paid in a period',
  description: `${WHAT} \`csv\` has all rows, with decimal amounts; \`pdf\` is an A4 document and \`html\` a page to print, each of at most 1,000 rows.`,
  query: strict({
    ...query,
    format: Type.Optional(
      Type.Enum(['csv', ...PAPER_FORMATS], { description: 'csv (default), pdf or html', examples: ['pdf'] }),
    ),
  }),
  returns: { 200: 'text/csv' },
  alsoSends: Object.values(PAPER_TYPES),
  sends: ['Content-Security-Policy'],
  errors: ['invalid_query', 'amount_too_large', 'too_much_work'],
  handle: async ({ snapshot, account, env: { threads }, query: { format = 'csv', ...input } }) => {
    if (format === 'csv') return csvReply(snapshot, (db) => downloadSummary(db, account, input));
    const { paper, name } = await snapshot((db) => draftSummary(db, account, input));
    return paperReply({ threads, account }, MAKE_PAPER, { paper, format }, name);
  },
});

export const entries = readRoute({
  operation: 'listReportEntries',
  path: `${path}/entries`,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List the entries behind the amounts of a report',
  description:
    'One entry for each commission, adjustment, refund, void, payment and return. An amount of a report is the sum of the entries of its ' +
    'kind, days, currency and group, and what is owed after a day that of all entries up to it. Only payments and returns have a ' +
    '`payout_method`, and only the others a program.',
  list: entryList,
  returns: { 200: listOf(reportEntry) },
  handle: async ({ db, account, list }) => page(await listEntries(db, account, list)),
});
