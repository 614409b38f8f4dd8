import type { CompletePayoutBody } from '../client/client.ts';
import { type CsvLine, csvReader } from '../kernel/csv.ts';
import type { CsvColumns } from '../kernel/csv-header.ts';
import { CsvError, guardRule, quote } from '../kernel/csv-refusal.ts';
import { CommandError, UsageError } from './errors.ts';

const FORMAT: CsvColumns = {
  columns: ['affiliate_id', 'is_paid', 'payment_reference'],
  required: ['affiliate_id', 'is_paid'],
  fixedWords: ['is_paid'],
};
const LONGEST_REFERENCE = 255;

type PaidEntry = CompletePayoutBody['commissions'][number];

/** One affiliate of the list; `where` names its place for messages: `line 5` of a file, or the option. */
export interface ListedEntry extends PaidEntry {
  readonly where: string;
}

/**
 * Reads who was paid from a CSV file (see csvReader) with the columns `affiliate_id`, `is_paid` and, if wanted,
 * `payment_reference`. Strict, because each line is money: throws CommandError naming the first bad line and its
 * column.
 */
export function readPaidFile(bytes: Buffer): ListedEntry[] {
  const { header, lines } = readLines(bytes);
  const firstLines = new Map<number, number>();
  return lines.map(({ line, cells }) => {
    const cell = (column: string) => cells[header.indexOf(column)] ?? '';
    const entry = readEntry(cell, line);
    const first = firstLines.get(entry.affiliate_id);
    if (first !== undefined) {
      throw refuse(line, 'affiliate_id', `affiliate ${entry.affiliate_id} is already in line ${first}`);
    }
    firstLines.set(entry.affiliate_id, line);
    return { ...entry, where: `line ${line}, column affiliate_id` };
  });
}

function readLines(bytes: Buffer): { header: readonly string[]; lines: CsvLine[] } {
  const reader = csvReader(FORMAT);
  try {
    const lines = [...reader.read(bytes), ...reader.end()];
    return { header: reader.header, lines };
  } catch (error) {
    throw error instanceof CsvError ? refuseFile(error.message) : error;
  }
}

function readEntry(cell: (column: string) => string, line: number): PaidEntry {
  const [id, paid, reference] = [cell('affiliate_id'), cell('is_paid'), cell('payment_reference')];
  if (!/^[1-9]\d{0,14}$/.test(id)) {
    throw refuse(line, 'affiliate_id', `must be a positive integer such as 17, not ${quote(id)}`);
  }
  if (!/^(true|false)$/i.test(paid)) {
    throw refuse(line, 'is_paid', `must be true or false, not ${quote(paid)}`);
  }
  if (reference.length > LONGEST_REFERENCE) {
    const what = `has more than ${LONGEST_REFERENCE} characters: ${quote(reference)}`;
    throw refuse(line, 'payment_reference', what);
  }
  const broken = guardRule(reference);
  if (broken !== null) throw refuse(line, 'payment_reference', `${broken}: ${quote(reference)}`);
  return {
    affiliate_id: Number(id),
    is_paid: paid.toLowerCase() === 'true',
    ...(reference === '' ? {} : { payment_reference: reference }),
  };
}

const refuse = (line: number, column: string, what: string) =>
  refuseFile(`line ${line}, column ${column}: ${what}`);

const refuseFile = (what: string) =>
  new CommandError(`${what}; nothing was changed`, { code: 'bad_request', reason: 'invalid_file' });

/** The lists of several files as one: who is paid in one is paid. Throws CommandError for whom two of them pay. */
export function mergeLists(lists: readonly (readonly ListedEntry[])[]): ListedEntry[] {
  const merged = new Map<number, ListedEntry>();
  for (const entry of lists.flat()) {
    const { affiliate_id: id, is_paid, where } = entry;
    const before = merged.get(id);
    if (before?.is_paid && is_paid) {
      throw new CommandError(
        `${where}: affiliate ${id} is paid in another file too (${before.where}); nothing was changed`,
        { code: 'bad_request', reason: 'duplicate_entry' },
      );
    }
    if (before === undefined || is_paid) merged.set(id, entry);
  }
  return [...merged.values()];
}

/** The affiliates of `--paid 1,2,3`. Throws UsageError when it is no list of positive integers. */
export function readIdList(option: string, text: string): number[] {
  return text.split(',').map((item) => {
    const id = item.trim();
    if (!/^[1-9]\d{0,14}$/.test(id)) {
      throw new UsageError(`${option} must be affiliate ids such as 1,2,3, not ${JSON.stringify(text)}`);
    }
    return Number(id);
  });
}

/** Throws CommandError unless the list names every affiliate of the payout and no other. */
export function checkComplete(entries: readonly ListedEntry[], affiliates: ReadonlySet<number>): void {
  const stranger = entries.find(({ affiliate_id }) => !affiliates.has(affiliate_id));
  if (stranger) {
    throw new CommandError(
      `${stranger.where}: affiliate ${stranger.affiliate_id} is not in the payout; nothing was changed`,
      { code: 'bad_request', reason: 'affiliate_not_in_payout' },
    );
  }
  const listed = new Set(entries.map(({ affiliate_id }) => affiliate_id));
  const missing = [...affiliates].filter((id) => !listed.has(id));
  if (missing.length === 0) return;
  const rest = missing.length > 20 ? ` and ${missing.length - 20} more` : '';
  throw new CommandError(
    `the list says nothing about affiliates ${missing.slice(0, 20).join(', ')}${rest}; nothing was changed`,
    { code: 'bad_request', reason: 'affiliates_missing' },
  );
}
