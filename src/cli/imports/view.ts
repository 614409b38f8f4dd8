import type { Import, ImportPreview, ImportProgress, ImportReport } from '../../client/client.ts';
import type { Names } from '../finders/actors.ts';
import { factLines } from '../terminal/facts.ts';
import { count, decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';

type Counts = Pick<
  ImportReport,
  'lines' | 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed' | 'payouts' | 'totals'
>;

/** `2 created, 1 unchanged, 0 bad`. */
function summary(counts: Counts, kind: Import['kind']): string {
  const parts = [
    `${counts.created} created`,
    ...(kind === 'affiliates' ? [`${counts.updated} updated`] : []),
    `${counts.unchanged} unchanged`,
    ...(counts.skipped > 0 ? [`${counts.skipped} left out`] : []),
    `${counts.failed} bad`,
    ...(counts.payouts > 0 ? [count(counts.payouts, 'past payout')] : []),
  ];
  return parts.join(', ');
}

/** The current stage of a file on the server as text; null if there is none. */
export function stageText({ stage, lines_read }: ImportProgress): string | null {
  if (stage === 'looking') return 'detecting the format';
  if (stage === 'writing') return 'comparing and writing';
  if (stage === null) return null;
  return lines_read === null ? 'reading' : `reading, ${count(lines_read, 'line')}`;
}

/** The report of an import as text. */
export function describeReport(report: ImportReport, { paint }: Terminal): string {
  const head = `${paint.strong(count(report.lines, 'line'))}: ${summary(report, report.kind)}\n`;
  const made =
    report.import_id === null ? '' : `${paint.faint(`payhook imports show ${report.import_id}`)}\n`;
  const tail = report.dry_run ? 'Dry run: nothing was written.\n' : made;
  return head + totalsTable(report.totals, paint.faint) + describeBad(report, paint.bad) + tail;
}

function totalsTable(totals: Counts['totals'], paintHeading: (text: string) => string): string {
  if (totals.length === 0) return '';
  return table(
    [{ heading: 'CURRENCY' }, { heading: 'AMOUNT', right: true }, { heading: 'COMMISSIONS', right: true }],
    totals.map((total) => [total.currency.toUpperCase(), decimal(total), String(total.count)]),
    paintHeading,
  );
}

/** The bad lines: each with its error, or those with the same error together. */
function describeBad(
  { errors, groups, failed }: Pick<ImportReport, 'errors' | 'groups' | 'failed'>,
  paint: (text: string) => string,
): string {
  const lines = groups.map(({ message, count: number, first }) => {
    const [one] = first;
    if (number === 1 && one) return `${paint(`line ${one.line}:`)} ${printable(message)}\n`;
    const shown = first.map((error) => `  line ${error.line}: ${printable(error.message)}\n`).join('');
    return `${paint(count(number, 'line'))}: ${printable(message)}\n${shown}`;
  });
  const rest = failed - new Set(errors.map(({ line }) => line)).size;
  return lines.join('') + (rest > 0 ? `and ${rest} more bad lines\n` : '');
}

const NOT_KNOWN = 'not known';
const DATES = { iso: 'year first', dmy: 'day first', mdy: 'month first' };

/** The sheet of a workbook, or how a CSV file is written; and the line that names the columns, if it is not the first. */
function formatFacts({ sheet, header_row, encoding, separator }: Import['dialect']) {
  const file =
    sheet === undefined
      ? [['Encoding', encoding.toUpperCase()] as const, ['Separator', separator] as const]
      : [['Sheet', printable(sheet)] as const];
  const header = header_row === undefined || header_row === 1 ? null : `line ${header_row}`;
  return [...file, ['Header', header] as const];
}

/** How a file would be read, as text. */
export function describePreview(preview: ImportPreview, { paint }: Terminal): string {
  const { dialect, columns, guessed, questions, report } = preview;
  const isOpen = (about: 'dates' | 'decimal') => questions.some((question) => question.about === about);
  const facts = factLines([
    ...formatFacts(dialect),
    ['Decimal sign', isOpen('decimal') ? NOT_KNOWN : dialect.decimal],
    ['Dates', isOpen('dates') ? NOT_KNOWN : DATES[dialect.dates]],
    ['Saved mapping', preview.mapping_name],
    ['Lines', report === null ? null : `${report.lines}: ${summary(report, preview.kind)}`],
  ]);
  const list = table(
    [
      { heading: 'COLUMN', most: 40 },
      { heading: 'IS' },
      { heading: 'RECOGNISED BY' },
      { heading: 'SUCH AS', most: 40 },
    ],
    columns.map(({ column, field, source, samples }) => [
      printable(column),
      field ?? '-',
      source === 'none' ? 'ignored' : source,
      printable(samples[0] ?? ''),
    ]),
    paint.faint,
  );
  const notes = guessed.map((text) => `${paint.warning('guessed:')} ${printable(text)}\n`).join('');
  return `${facts}${list}${valuesTable(preview, paint.faint)}${notes}${report === null ? '' : describeBad(report, paint.bad)}`;
}

/** The words of the file that the API does not know, and their meanings. */
function valuesTable({ values }: ImportPreview, paintHeading: (text: string) => string): string {
  const rows = values.flatMap(({ column, values: words }) =>
    words
      .filter(({ source }) => source !== 'exact')
      .map(({ value, lines, means, source }) => [
        printable(column),
        printable(value),
        String(lines),
        means ?? (source === 'given' ? 'refused' : NOT_KNOWN),
      ]),
  );
  if (rows.length === 0) return '';
  return table(
    [
      { heading: 'COLUMN', most: 40 },
      { heading: 'WORD', most: 40 },
      { heading: 'LINES', right: true },
      { heading: 'MEANS' },
    ],
    rows,
    paintHeading,
  );
}

/** A page of imports, one line each. */
export function importTable(imports: readonly Import[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'IMPORTED (UTC)' },
      { heading: 'KIND' },
      { heading: 'STATUS' },
      { heading: 'LINES', right: true },
      { heading: 'CREATED', right: true },
      { heading: 'BAD', right: true },
      { heading: 'FILE', most: 30 },
      { heading: 'ID' },
    ],
    imports.map((one) => [
      shortTime(one.created_at),
      one.kind,
      one.status,
      String(one.lines),
      String(one.created),
      String(one.failed),
      printable(one.file.name ?? '-'),
      one.id,
    ]),
    paint.faint,
  );
}

/** One import as text. */
export function describeImport(one: Import, names: Names, { paint }: Terminal): string {
  const status = one.status === 'undone' ? paint.bad(one.status) : paint.good(one.status);
  const mapped = Object.entries(one.mapping).map(([name, value]) =>
    typeof value === 'string' ? `${name} = ${value}` : `${name} := ${value.constant}`,
  );
  const facts = factLines([
    ['Kind', one.kind],
    ['File', one.file.name],
    ['Digest', one.file.digest ?? '-'],
    ['Lines', `${one.lines}: ${summary(one, one.kind)}`],
    ...formatFacts(one.dialect),
    ['Mapping', mapped.length === 0 ? null : mapped.join(', ')],
    ['Guessed', one.guessed.length === 0 ? null : one.guessed.join('; ')],
    ['By', names(one.created_by)],
    ['Created', `${exactTime(one.created_at)} (UTC)`],
    ['Undo ended', one.undo_ended_at && `${exactTime(one.undo_ended_at)} (UTC)`],
    ['Undone', one.undone_at && `${exactTime(one.undone_at)} (UTC) by ${names(one.undone_by ?? '')}`],
  ]);
  return `${paint.strong(one.id)}  ${status}\n${facts}${totalsTable(one.totals, paint.faint)}`;
}
