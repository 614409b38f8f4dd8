import { Type } from 'typebox';
import { file, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { exportUsTaxReport, getUsTaxReport, listUsTaxReport } from './us-tax.ts';
import { usTaxFormat } from './us-tax-files.ts';
import { usTaxReport, usTaxRow } from './us-tax-record.ts';
import { usTaxList } from './us-tax-store.ts';

const path = '/v2/affiliates/reports/us-tax';
const ofYear = strict({
  year: Type.Optional(
    Type.String({ description: 'four digits, from 2020; default this year', examples: ['2026'] }),
  ),
});
const WHAT =
  'The figures that a payer in the United States needs for a calendar year of the account’s time zone: who was paid by which method, ' +
  'net of returns, and who has not signed a form. PayPal reports its payments on Form 1099-K, so they are separate. It is a ' +
  'list, not advice.';

export const report = readRoute({
  operation: 'getUsTaxReport',
  path,
  scope: 'affiliates',
  needs: 'read',
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
  scope: 'affiliates',
  needs: 'read',
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
  needs: 'tax_ids',
  summary: 'Export the data of Form 1099-NEC for a filing service or the IRS',
  description:
    'A file with whole tax ids. By default one row for each affiliate in the United States who was paid the threshold or more by methods that ' +
    'you report, and the columns are the fields of the form as Avalara (formerly Track1099) names them; a service with other names lets ' +
    'you map them. The download is recorded in the audit log.',
  query: strict({ ...ofYear.properties, format: Type.Optional(usTaxFormat) }),
  secret: true,
  returns: { 200: 'text/csv' },
  handle: async ({ tx, account, env: { vault }, query }) => {
    const { stream, name, contentType } = await exportUsTaxReport(tx, { account, vault }, query);
    return file(stream, {
      'content-type': contentType ?? 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    });
  },
});
