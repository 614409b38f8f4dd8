import { Type } from 'typebox';
import { file, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { exportUsTaxReport, getUsTaxReport, listUsTaxReport } from './us-tax.ts';
import { usTaxReport, usTaxRow } from './us-tax-record.ts';
import { usTaxList } from './us-tax-store.ts';

const path = '/v2/affiliates/reports/us-tax';
const ofYear = strict({
  year: Type.Optional(
    Type.String({ description: 'four digits, from 2020; default this year', examples: ['2026'] }),
  ),
});
const WHAT =
  'What a payer in the United States has to look at for a calendar year of the account’s time zone: who was paid by which way, ' +
  'net of what came back, and who has not signed a form. Payments by PayPal are on its own Form 1099-K and stand apart. It is a ' +
  'list, not advice.';

export const report = readRoute({
  operation: 'getUsTaxReport',
  path,
  access: 'affiliates',
  summary: 'Get the sums of a year for US tax forms',
  description: WHAT,
  query: ofYear,
  returns: { 200: usTaxReport },
  errors: ['amount_too_large'],
  handle: async ({ snapshot, account, query }) =>
    ok(await snapshot((db) => getUsTaxReport(db, account, query))),
});

export const reportRows = readRoute({
  operation: 'listUsTaxReport',
  path: `${path}/rows`,
  access: 'affiliates',
  summary: 'List affiliates for US tax forms',
  description: `${WHAT} One row per affiliate.`,
  list: usTaxList,
  returns: { 200: listOf(usTaxRow) },
  errors: ['amount_too_large'],
  handle: async ({ snapshot, account, list }) =>
    page(await snapshot((db) => listUsTaxReport(db, account, list))),
});

export const reportExport = writeRoute({
  operation: 'exportUsTaxReport',
  method: 'POST',
  path: `${path}/export`,
  access: 'full',
  summary: 'Export what a filing service needs for Form 1099-NEC',
  description:
    'As CSV, with whole tax ids: one row for each affiliate in the United States who was paid the threshold or more by ways that ' +
    'you report. The columns are the fields of a form as Avalara (formerly Track1099) names them; a service that names them otherwise asks which is ' +
    'which. The download is in the audit log.',
  query: ofYear,
  noStore: true,
  returns: { 200: 'text/csv' },
  handle: async ({ tx, account, vault, query }) => {
    const { stream, name } = await exportUsTaxReport(tx, { account, vault }, query);
    return file(stream, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    });
  },
});
