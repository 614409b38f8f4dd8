import { CsvError, quote, whyUnreadable } from '../../kernel/csv-refusal.ts';
import { isEmail } from '../../kernel/email.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { readIban } from '../../terms/bank-accounts.ts';
import type { SharedFile } from '../../threads/file-pieces.ts';
import type { ReaderSettings } from '../files/csv-stage.ts';
import { shown } from '../files/sealed-columns.ts';
import type { Workbook } from '../workbooks/workbook.ts';
import { type FileShape, shapeOf } from './dialect.ts';
import { proofIn } from './evidence.ts';
import { FIELDS, type ImportKind, namedCurrency } from './fields.ts';
import {
  checkMapping,
  IGNORE,
  type Mapping,
  missingFields,
  type PlannedColumn,
  parseMapping,
  planColumns,
  type Question,
  type Seen,
} from './mapping.ts';
import { type ColumnValues, guessedValues, mergedValues, parseValues } from './meanings.ts';
import {
  askDateColumn,
  askOtherKind,
  askPaidAt,
  askRepeated,
  askStatusColumns,
  askTotals,
  askValues,
  isOwnShape,
} from './questions.ts';
import { type Rules, readingOf } from './reading.ts';
import type { ImportSettings } from './settings.ts';
import type { SavedMapping } from './store.ts';

/** What a plan has to know of the account. */
export interface Facts {
  settings(): Promise<ReaderSettings>;
  /** The mapping that was saved under a name. */
  named(name: string): Promise<SavedMapping | null>;
  /** The mapping that was saved for files with these columns. */
  saved(header: readonly string[]): Promise<SavedMapping | null>;
  affiliatesAmong: Seen['affiliatesAmong'];
}

/** How a file will be read, and what of it was guessed. */
export interface ImportPlan {
  readonly shape: Pick<FileShape, 'lineEnd' | 'header' | 'headerLine'>;
  /** The workbook that the file is a sheet of. */
  readonly workbook: Workbook | null;
  /** The first values of each column, and the first lines as they are read. Of what is sealed the end only. */
  readonly samples: readonly string[][];
  readonly rows: { line: number; fields: Record<string, string | null> }[];
  readonly rules: Rules;
  /** The field of every column, and constant values of fields. */
  readonly mapping: Mapping;
  /** The saved mapping that was used. */
  readonly mappingName: string | null;
  /** The columns of words, and what each word means. */
  readonly values: readonly ColumnValues[];
  readonly guessed: string[];
  /** What was chosen and which questions were answered, by the request or a saved mapping. */
  readonly settled: Pick<ImportSettings, 'sheet' | 'header_row' | 'status_columns' | 'totals'>;
  readonly questions: Question[];
}

/**
 * Plans an import from the settings, then a saved mapping, then guesses; reads the file up to three times. Throws
 * `invalid_file`, `invalid_mapping`.
 */
export async function planImport(
  file: SharedFile,
  workbook: Workbook | null,
  settings: ImportSettings,
  facts: Facts,
): Promise<ImportPlan> {
  try {
    return await plan(file, workbook, settings, facts);
  } catch (error) {
    throw error instanceof CsvError ? fail('invalid_file', error.message) : error;
  }
}

async function plan(
  file: SharedFile,
  workbook: Workbook | null,
  given: ImportSettings,
  facts: Facts,
): Promise<ImportPlan> {
  const { kind } = given;
  const named = await namedMapping(facts, given);
  const settings = { ...named?.dialect, ...defined(given), kind };
  if (workbook === null && given.sheet !== undefined)
    throw new CsvError('the file is no workbook and has no sheets: leave out the parameter sheet');
  const shape =
    workbook === null
      ? shapeOf(file, settings, kind)
      : shapeOf(file, { ...settings, ...SHEET }, kind, workbook.width);
  refuseData(shape.header);
  const saved = named ?? (given.mapping === undefined ? await facts.saved(headerKey(shape.header)) : null);
  const said = saved?.mapping ?? (given.mapping === undefined ? {} : parseMapping(given.mapping));
  if (named) checkColumns(named, shape.header);
  checkMapping(kind, shape.header, said);
  const seen = seenIn(facts, kind, shape);
  const { columns, questions } = await planColumns(seen, said, saved === null ? 'given' : 'saved');
  const ofNames = currencyOfNames(kind, columns, said);
  const constants = Object.entries({ ...ofNames?.mapping, ...said }).filter(
    ([, value]) => typeof value !== 'string',
  );
  const mapping = {
    ...Object.fromEntries(columns.map(({ column, field }) => [column, field ?? IGNORE])),
    ...Object.fromEntries(constants),
  };
  const has = new Set([...columns.flatMap(({ field }) => field ?? []), ...constants.map(([name]) => name)]);
  const asked = { ...saved?.dialect, ...settings };
  const values = mergedValues(
    saved?.dialect.values === undefined ? {} : parseValues(kind, saved.dialect.values),
    given.values === undefined ? {} : parseValues(kind, given.values),
  );
  const proof = proofIn(file, shape, { columns, kind, has, asked, values, workbook });
  const rules: Rules = {
    kind,
    dialect: shape.dialect,
    columns,
    mapping,
    decimal: asked.decimal ?? proof.decimal ?? 'point',
    dates: asked.dates ?? proof.dates ?? 'iso',
    ...(await facts.settings()),
    paid: asked.paid ?? 'import',
    values,
    totals: asked.totals ?? 'import',
  };
  const [open = []] = [questions, askOtherKind(seen, has), missingFields(kind, has)].filter(
    ({ length }) => length > 0,
  );
  const dates = askDateColumn(seen, columns, has);
  const undated = kind === 'commissions' && !has.has('occurred_at') && !isOwnShape(columns);
  return {
    shape: { lineEnd: shape.lineEnd, header: shape.header, headerLine: shape.headerLine },
    workbook,
    samples: columns.map(({ field }, index) => samplesOf(shape, index).map((text) => shown(field, text))),
    rows: firstRows(rules, shape),
    rules,
    mapping,
    mappingName: saved?.name ?? null,
    values: proof.values,
    settled: { ...asked, sheet: settings.sheet, header_row: settings.header_row },
    guessed: [
      ...(workbook === null ? [] : sheetNotes(workbook, settings)),
      ...shape.guessed,
      ...guessedOf(columns, has, rules, asked),
      ...(ofNames === null ? [] : [ofNames.note]),
      ...(undated && dates.length === 0 ? [UNDATED] : []),
      ...guessedValues(proof.values),
    ],
    questions: [
      ...open,
      ...askRepeated(seen, columns),
      ...dates,
      ...(kind === 'commissions' ? askPaidAt(columns, has) : []),
      ...(asked.status_columns === undefined ? askStatusColumns(seen, columns, has) : []),
      ...proof.questions,
      // what a column is comes before what its words mean
      ...(open.length === 0 ? askValues(proof.values) : []),
      ...askTotals(proof.totals),
    ],
  };
}

/** The currency of all lines, if only the name of a column of amounts says it: `Commission (EUR)`. */
function currencyOfNames(
  kind: ImportKind,
  columns: readonly PlannedColumn[],
  said: Mapping,
): { readonly mapping: Mapping; readonly note: string } | null {
  if (Object.hasOwn(said, 'currency') || columns.some(({ field }) => field === 'currency')) return null;
  for (const { column, field } of columns) {
    const { currency } = namedCurrency(column);
    if (currency !== null && field !== null && FIELDS[kind][field]?.type === 'money')
      return {
        mapping: { currency: { constant: currency } },
        note: `all amounts are in ${currency.toUpperCase()}, as ${JSON.stringify(column)} says`,
      };
  }
  return null;
}

/** How the sheet of a workbook was written. */
const SHEET = { encoding: 'utf-8', separator: 'comma' } as const;

/** What a person has to know about the sheet that is read, and those that are not. */
function sheetNotes({ sheet, sheets, notes }: Workbook, given: ImportSettings): string[] {
  const others = sheets.filter(({ name }) => name !== sheet);
  const listed = nameSome(others.map(({ name, isHidden }) => quote(name) + (isHidden ? ' (hidden)' : '')));
  const isOpen = given.sheet === undefined && others.length > 0;
  return [...(isOpen ? [`the sheet ${quote(sheet)} is read, and not ${listed}`] : []), ...notes];
}

/** The names of columns are kept in the clear: a first line of data would keep what others seal. */
function refuseData(header: readonly string[]): void {
  const at = header.findIndex((name) => isEmail(name) || 'value' in readIban(name));
  if (at === -1) return;
  throw new CsvError(
    `the first line must name the columns, and column ${at + 1} is an e-mail address or IBAN: add a line with their names`,
  );
}

const defined = (settings: ImportSettings) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

/** The key of files with the same columns. */
export const headerKey = (header: readonly string[]) => header.map((name) => name.toLowerCase()).sort();

/** The name of a saved mapping in the setting `mapping`; null when it is JSON or nothing. */
export const mappingName = (mapping: string | undefined): string | null =>
  mapping === undefined || mapping.trimStart().startsWith('{') ? null : mapping;

/** The mapping named in the settings; null when they contain JSON or nothing. */
async function namedMapping(facts: Facts, { kind, mapping }: ImportSettings) {
  const name = mappingName(mapping);
  if (name === null) return null;
  const found = await facts.named(name);
  if (found === null)
    throw fail('invalid_mapping', `no mapping of ${kind} was saved under ${JSON.stringify(name)}`);
  return found;
}

/** Refuses a file that has other columns than those that a mapping was saved for. */
function checkColumns({ name, mapping }: SavedMapping, header: readonly string[]): void {
  const has = new Set(header.map((column) => column.toLowerCase()));
  const missing = Object.entries(mapping).flatMap(([column, value]) =>
    typeof value === 'string' && !has.has(column.toLowerCase()) ? [quote(column)] : [],
  );
  if (missing.length > 0)
    throw fail(
      'invalid_mapping',
      `mapping ${JSON.stringify(name)} was saved for files of another product or layout: this file has no ${nameSome(missing)}`,
    );
}

const valuesOf = ({ sample }: FileShape, index: number) =>
  sample.flatMap(({ cells }) => cells[index] || []).filter((cell) => whyUnreadable(cell) === null);

function seenIn(facts: Facts, kind: ImportKind, shape: FileShape): Seen {
  return {
    kind,
    header: shape.header,
    valuesOf: (index) => valuesOf(shape, index),
    affiliatesAmong: (texts) => facts.affiliatesAmong([...new Set(texts)]),
  };
}

const UNDATED = 'no column says when commissions were earned: all get the time of the import (occurred_at)';

const SAMPLES = 3;
const ROWS = 10;

const samplesOf = (shape: FileShape, index: number) => valuesOf(shape, index).slice(0, SAMPLES);

/** The first lines of a file as parsed: the fields of each. Of those that are sealed the end only. */
function firstRows(rules: Rules, { header, sample }: FileShape): ImportPlan['rows'] {
  const read = readingOf(rules).under(header);
  return sample.slice(0, ROWS).map(({ line, cells }) => {
    const fields = Object.entries(read(cells, []) ?? {});
    return {
      line,
      fields: Object.fromEntries(fields.map(([name, text]) => [name, text && shown(name, text)])),
    };
  });
}

/** What was guessed about columns and values, in words. */
function guessedOf(
  columns: readonly PlannedColumn[],
  has: ReadonlySet<string>,
  rules: Rules,
  asked: Partial<ImportSettings>,
): string[] {
  const guesses: string[] = [];
  for (const { column, field, source } of columns) {
    if (field !== null && (source === 'synonym' || source === 'values'))
      guesses.push(`${JSON.stringify(column)} is ${field}`);
  }
  const ignored = columns
    .filter(({ source }) => source === 'none')
    .map(({ column }) => JSON.stringify(column));
  if (ignored.length > 0) guesses.push(`ignored: ${ignored.join(', ')}`);
  if (rules.kind === 'commissions' && !has.has('external_id') && has.has('order_id'))
    guesses.push('the order_id is also the external_id of the commission');
  if (rules.kind === 'affiliates' && has.has('paypal_email') && !has.has('payout_method'))
    guesses.push('affiliates with a PayPal address and no payout_method get the payout_method paypal');
  if (asked.decimal === undefined && rules.decimal === 'comma') guesses.push('amounts have a decimal comma');
  if (asked.dates === undefined && rules.dates !== 'iso') {
    guesses.push(`dates are ${rules.dates === 'dmy' ? 'day' : 'month'} first`);
  }
  return guesses;
}
