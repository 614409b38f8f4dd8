import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { Env } from '../../contract/env.ts';
import { type Fields, importFields } from '../../contract/fields.ts';
import { file, ok, type Principal, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import type { Upload } from '../../contract/uploads.ts';
import type { Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { toJson } from '../../kernel/json.ts';
import { AFFILIATE_FIELDS } from '../affiliates/fields.ts';
import { affiliateImport } from '../affiliates/record.ts';
import { COMMISSION_FIELDS } from '../commissions/fields.ts';
import { commissionImport } from '../commissions/record.ts';
import { DESTINATION_FIELDS } from '../destinations/fields.ts';
import type { ImportKind } from './fields.ts';
import { importProgress, progressKey, readProgress, stagesOf } from './progress.ts';
import { importPreview, importRecord, importReport, savedMapping, settings } from './record.ts';
import { reportOf, shownSheet, shownValues } from './report.ts';
import {
  badLinesOf,
  dialectOf,
  getImport,
  type ImportInput,
  importFile,
  importPlain,
  previewImport,
  publicId,
} from './service.ts';
import type { ImportSettings } from './settings.ts';
import { importList, listImports, listMappings, mappingList } from './store.ts';
import { undoImport } from './undo.ts';

/** The parts of a request besides the query. */
interface Request {
  readonly tx: Tx;
  readonly account: AccountId;
  readonly principal: Principal;
  readonly upload: Upload;
  readonly env: Pick<Env, 'vault' | 'threads'>;
}

interface Settings extends ImportSettings {
  readonly file_name?: string;
  readonly progress_key?: string;
}

const inputOf = (
  { tx, account, principal, upload, env: { vault, threads } }: Request,
  { file_name, progress_key, ...settings }: Settings,
): ImportInput => ({
  tx,
  account,
  actor: principal.id,
  upload,
  vault,
  threads,
  settings,
  fileName: file_name ?? null,
  enter: stagesOf(tx, account, progress_key),
});

const fileOf = ({ upload, fileName }: ImportInput) => ({
  name: fileName,
  bytes: upload.bytes,
});

const READS =
  'The file may be a workbook (.xlsx or .ods), or CSV in UTF-8, UTF-16 or Windows-1252, with commas, semicolons, tabs or bars, ' +
  'with columns of any name and order: ' +
  'what the request does not say is guessed from the bytes, the names of the columns and the values. ';

export const preview = writeRoute({
  operation: 'previewImport',
  method: 'POST',
  path: '/v2/imports/preview',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Look at a file before importing it',
  description:
    `${READS}The answer says how the file would be read, what of that was guessed, what must be asked, and what importing it ` +
    'would do. Nothing is changed.',
  query: strict(settings),
  upload: 'application/octet-stream',
  unaudited: true,
  returns: { 200: importPreview },
  errors: ['invalid_file', 'invalid_mapping', 'amount_too_large', 'too_much_work'],
  handle: async ({ query, ...request }) => {
    const input = inputOf(request, query);
    const { plan, imported } = await previewImport(input);
    return ok(
      toJson({
        object: 'import_preview',
        kind: query.kind,
        file: fileOf(input),
        dialect: dialectOf(plan),
        mapping: plan.mapping,
        workbook: plan.workbook && { sheets: plan.workbook.sheets.map(shownSheet) },
        mapping_name: plan.mappingName,
        columns: plan.rules.columns.map((column, index) => ({
          ...column,
          samples: plan.samples[index] ?? [],
        })),
        values: plan.values.map(shownValues),
        guessed: plan.guessed,
        questions: plan.questions,
        rows: plan.rows,
        report: imported === null ? null : reportOf(plan, imported),
      }),
    );
  },
});

export const create = writeRoute({
  operation: 'createImport',
  method: 'POST',
  path: '/v2/imports',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Import a file of any shape',
  description:
    `${READS}Guesses are taken with \`accept_guesses\` only, and what could be read in two ways and is about money is never ` +
    'guessed. One transaction: a bad line stops the import with nothing written, unless `partial`; `dry_run` reports and ' +
    'writes nothing. Commissions that were paid elsewhere (`paid_at`) come in as paid, in past payouts without events.',
  query: strict({
    ...settings,
    dry_run: Type.Optional(Type.Boolean()),
    partial: Type.Optional(Type.Boolean()),
    accept_guesses: Type.Optional(Type.Boolean()),
    save_as: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'saves the mapping for files with the same header',
      }),
    ),
  }),
  upload: 'application/octet-stream',
  returns: { 200: importReport },
  errors: [
    'invalid_file',
    'invalid_lines',
    'invalid_mapping',
    'import_not_confirmed',
    'import_unclear',
    'amount_too_large',
    'too_much_work',
  ],
  handle: async ({ query, ...request }) => {
    const { dry_run = false, partial = false, accept_guesses = false, save_as = null, ...rest } = query;
    const input = inputOf(request, rest);
    const options = { dryRun: dry_run, partial, acceptGuesses: accept_guesses, saveAs: save_as };
    const { plan, imported } = await importFile(input, options);
    return ok(
      toJson({
        object: 'import_report',
        import_id: publicId(imported.id),
        dry_run,
        kind: query.kind,
        file: fileOf(input),
        dialect: dialectOf(plan),
        mapping: plan.mapping,
        guessed: plan.guessed,
        ...reportOf(plan, imported),
      }),
    );
  },
});

export const badLines = writeRoute({
  operation: 'downloadBadLines',
  method: 'POST',
  path: '/v2/imports/bad-lines',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get the bad lines of a file',
  description:
    'As CSV: `line`, `error`, and the columns of the file; 100,000 lines at most. Correct them and import that file with the ' +
    'two columns ignored. Nothing is changed.',
  query: strict(settings),
  upload: 'application/octet-stream',
  unaudited: true,
  returns: { 200: 'text/csv' },
  errors: ['invalid_file', 'invalid_mapping', 'import_unclear', 'amount_too_large', 'too_much_work'],
  handle: async ({ query, ...request }) => {
    const text = await badLinesOf(inputOf(request, query));
    return file(Readable.from([text]), {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="bad-lines.csv"',
    });
  },
});

export const progress = readRoute({
  operation: 'getImportProgress',
  path: '/v2/imports/progress',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get how far a running import is',
  description:
    'Of an import, its preview or its bad lines, while the request is being worked on, at whichever server it is. ' +
    'Sending the file comes before, and who sends it knows how far that is.',
  query: strict({ key: progressKey }),
  returns: { 200: importProgress },
  handle: async ({ db, account, query }) =>
    ok(toJson({ object: 'import_progress', ...(await readProgress(db, account, query.key)) })),
});

export const list = readRoute({
  operation: 'listImports',
  path: '/v2/imports',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List imports',
  list: importList,
  returns: { 200: listOf(importRecord) },
  handle: async ({ db, account, list }) => page(await listImports(db, account, list)),
});

export const get = readRoute({
  operation: 'getImport',
  path: '/v2/imports/{import_id}',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get an import',
  returns: { 200: importRecord },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getImport(db, account, params.import_id)),
});

export const undo = writeRoute({
  operation: 'undoImport',
  method: 'POST',
  takesLong: true,
  path: '/v2/imports/{import_id}/undo',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Undo an import',
  description:
    'Whole, or not at all: while nothing of it was paid here, refunded, returned, put into a payout or changed since. What is ' +
    'in use is named with the reason. Commissions are voided, count in no sum, and their external_ids are free again; past ' +
    'payouts and affiliates it made are gone; affiliates it changed are as they were before, with their destinations and tax ' +
    'profiles. An import of affiliates can be undone for as long as IMPORT_UNDO_DAYS says, a year by default.',
  returns: { 200: importRecord },
  errors: [
    'resource_missing',
    'import_is_undone',
    'import_undo_ended',
    'import_is_used',
    'duplicate_email',
    'duplicate_external_id',
  ],
  handle: async ({ tx, account, principal, params }) =>
    ok(await undoImport(tx, account, principal.id, params.import_id)),
});

export const mappings = readRoute({
  operation: 'listImportMappings',
  path: '/v2/imports/mappings',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List saved mappings',
  description: 'A file with the header of one is read by it, unless the request says otherwise.',
  list: mappingList,
  returns: { 200: listOf(savedMapping) },
  handle: async ({ db, account, list }) => page(await listMappings(db, account, list)),
});

const plainQuery = strict({
  dry_run: Type.Optional(Type.Boolean()),
  partial: Type.Optional(Type.Boolean()),
  progress_key: Type.Optional(progressKey),
});

async function plainOf(
  kind: ImportKind,
  { tx, account, principal, upload, env: { vault, threads } }: Request,
  { dry_run = false, partial = false, progress_key }: Static<typeof plainQuery>,
) {
  const input = {
    tx,
    account,
    actor: principal.id,
    upload,
    vault,
    threads,
    fileName: null,
    kind,
    enter: stagesOf(tx, account, progress_key),
  };
  const { outcome } = await importPlain(input, { dryRun: dry_run, partial });
  const { lines, created, updated, unchanged, totals, bad, methodsSet = 0 } = outcome;
  return {
    report: { dry_run, lines, created, updated, unchanged, failed: bad.count, errors: bad.first() },
    totals,
    methodsSet,
  };
}

const columnsIn = (fields: Fields): string => Object.keys(importFields(fields)).join(', ');

export const importAffiliates = writeRoute({
  operation: 'importAffiliates',
  method: 'POST',
  path: '/v2/affiliates/import',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Import affiliates from CSV',
  description:
    `Creates or updates, by external_id, else by e-mail. Columns: ${columnsIn(AFFILIATE_FIELDS)}; ` +
    'email is required. A column that is not there is left unchanged, an empty cell clears; a PayPal address without a method sets `payout_method` to `paypal`. Where they are ' +
    `paid: ${columnsIn(DESTINATION_FIELDS)}. ` +
    'Their tax profile: legal_name, tax_country, address_line1, address_line2, ' +
    'address_postal_code, address_city, address_region, tax_id, tax_id_type, tax_form, tax_form_signed_on, tax_form_document, ' +
    'siren, electronic_address, self_billing_agreed_on, self_billing_expires_on, self_billing_agreed_by, self_billing_document. A line without any cell of these leaves them. One transaction: a bad line stops the import with nothing written, unless ' +
    '`partial`; `dry_run` reports and writes nothing. Files of another shape go to `/v2/imports`.',
  query: plainQuery,
  upload: 'text/csv',
  returns: { 200: affiliateImport },
  errors: ['invalid_file', 'invalid_lines', 'too_much_work'],
  handle: async ({ query, ...request }) => {
    const { report, methodsSet } = await plainOf('affiliates', request, query);
    return ok(toJson({ object: 'affiliate_import', ...report, methods_set: methodsSet }));
  },
});

export const importCommissions = writeRoute({
  operation: 'importCommissions',
  method: 'POST',
  path: '/v2/affiliates/commissions/import',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Import commissions from CSV',
  description:
    `Columns: ${columnsIn(COMMISSION_FIELDS)}; exactly one of those of the affiliate. ` +
    'Amounts are decimal (`31.90`). Any size, one transaction: a bad line stops the import with nothing written, ' +
    'unless `partial`; `dry_run` reports every bad line and the sums and writes nothing. Files of another shape go to ' +
    '`/v2/imports`.',
  query: plainQuery,
  upload: 'text/csv',
  returns: { 200: commissionImport },
  errors: ['invalid_file', 'invalid_lines', 'amount_too_large', 'too_much_work'],
  handle: async ({ query, ...request }) => {
    const { report, totals } = await plainOf('commissions', request, query);
    const { updated: _, ...counts } = report;
    return ok(toJson({ object: 'commission_import', ...counts, totals }));
  },
});
