import type { CompletePayoutBody } from '../../client/client.ts';
import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import type { CsvColumns } from '../../kernel/csv-header.ts';
import { CsvError, guardRule, quote } from '../../kernel/csv-refusal.ts';
import { nameSome } from '../../kernel/errors.ts';
import { MAX_AMOUNT, normalizeCurrency, parseDecimal } from '../../kernel/money.ts';
import { CommandError } from '../command/errors.ts';

const FORMAT: CsvColumns = {
  columns: ['affiliate_id', 'currency', 'is_paid', 'amount', 'payment_reference'],
  required: ['affiliate_id', 'is_paid'],
  fixedWords: ['currency', 'is_paid'],
};
const LONGEST_REFERENCE = 255;

export type PaidEntry = CompletePayoutBody['commissions'][number];

/**
 * An entry of a list: a line of the payout or, without a currency, all lines of an affiliate. `where` is its position for
 * messages: `line 5` of a file, or the option.
 */
export interface ListedEntry extends PaidEntry {
  readonly where: string;
}

/**
 * Reads who was paid from a CSV file (see csvReader) with the columns `affiliate_id`, `is_paid` and, optionally, `currency`
 * (chooses the line), `amount` (the amount paid, in decimals) and `payment_reference`. Strict, because each line is money:
 * throws CommandError that names the first bad line and its column.
 */
export function readPaidFile(bytes: Buffer): ListedEntry[] {
  const { header, lines } = readLines(bytes);
  const firstLines = new Map<string, number>();
  const note = (key: string, line: number, entry: PaidEntry) => {
    const first = firstLines.get(key);
    if (first !== undefined) {
      throw refuse(line, 'affiliate_id', `${nameOf(entry)} is already in line ${first}`);
    }
    firstLines.set(key, line);
  };
  return lines.map(({ line, cells }) => {
    const cell = (column: string) => cells[header.indexOf(column)] ?? '';
    const entry = readEntry(cell, line);
    const { affiliate_id: id, currency } = entry;
    const other = firstLines.get(currency === undefined ? `${id} some` : `${id} all`);
    if (other !== undefined) {
      throw refuse(
        line,
        'affiliate_id',
        `affiliate ${id} is already in line ${other}, and a line without a currency covers all of them`,
      );
    }
    note(`${id} ${currency ?? 'all'}`, line, entry);
    if (currency !== undefined && !firstLines.has(`${id} some`)) firstLines.set(`${id} some`, line);
    return { ...entry, where: `line ${line}, column affiliate_id` };
  });
}

/** `affiliate 7`, or `affiliate 7 in USD`. */
export function nameOf({ affiliate_id: id, currency }: PaidEntry): string {
  return currency === undefined ? `affiliate ${id}` : `affiliate ${id} in ${currency.toUpperCase()}`;
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
  const [id, paid] = [cell('affiliate_id'), cell('is_paid')];
  if (!/^[1-9]\d{0,14}$/.test(id)) {
    throw refuse(line, 'affiliate_id', `must be a positive integer such as 17, not ${quote(id)}`);
  }
  if (!/^(true|false)$/i.test(paid)) {
    throw refuse(line, 'is_paid', `must be true or false, not ${quote(paid)}`);
  }
  const is_paid = paid.toLowerCase() === 'true';
  const reference = readReference(cell('payment_reference'), line);
  return {
    affiliate_id: Number(id),
    is_paid,
    ...readPart(cell('currency'), cell('amount'), { is_paid, line }),
    ...(reference === '' ? {} : { payment_reference: reference }),
  };
}

function readReference(reference: string, line: number): string {
  if (reference.length > LONGEST_REFERENCE) {
    const what = `has more than ${LONGEST_REFERENCE} characters: ${quote(reference)}`;
    throw refuse(line, 'payment_reference', what);
  }
  const broken = guardRule(reference);
  if (broken !== null) throw refuse(line, 'payment_reference', `${broken}: ${quote(reference)}`);
  return reference;
}

/** The currency of an entry and the amount paid. */
function readPart(
  code: string,
  amount: string,
  { is_paid, line }: { is_paid: boolean; line: number },
): { currency?: string; amount?: number } {
  const currency = code === '' ? undefined : normalizeCurrency(code);
  if (currency === null)
    throw refuse(line, 'currency', `must be an ISO 4217 code such as usd, not ${quote(code)}`);
  if (amount === '') return currency === undefined ? {} : { currency };
  if (currency === undefined) throw refuse(line, 'amount', 'needs a currency');
  if (!is_paid) throw refuse(line, 'amount', 'is the amount paid, but is_paid is false');
  const minor = parseDecimal(amount, currency);
  if (minor === null || minor < 1n || minor > BigInt(MAX_AMOUNT)) {
    throw refuse(
      line,
      'amount',
      `must be an amount in ${currency.toUpperCase()} above zero, not ${quote(amount)}`,
    );
  }
  return { currency, amount: Number(minor) };
}

const refuse = (line: number, column: string, what: string) =>
  refuseFile(`line ${line}, column ${column}: ${what}`);

const refuseFile = (what: string) =>
  new CommandError(`${what}; nothing was changed`, { code: 'bad_request', reason: 'invalid_file' });

/** Identifies a line of a payout. */
export interface LineName {
  readonly affiliate_id: number;
  readonly currency: string;
}

const keyOf = ({ affiliate_id, currency }: LineName) => `${affiliate_id} ${currency}`;

/** The entries, one per line: an entry without a currency becomes one for every line of its affiliate. */
export function ofLines(entries: readonly ListedEntry[], lines: readonly LineName[]): ListedEntry[] {
  const currencies = new Map<number, string[]>();
  for (const { affiliate_id, currency } of lines) {
    currencies.set(affiliate_id, [...(currencies.get(affiliate_id) ?? []), currency]);
  }
  return entries.flatMap((entry) => {
    const all = entry.currency === undefined ? currencies.get(entry.affiliate_id) : undefined;
    return all === undefined ? [entry] : all.map((currency) => ({ ...entry, currency }));
  });
}

/** Merges the lists of several files: a line paid in one is paid. Throws CommandError for a line that two of them pay. */
export function mergeLists(lists: readonly (readonly ListedEntry[])[]): ListedEntry[] {
  const merged = new Map<string, ListedEntry>();
  for (const entry of lists.flat()) {
    const key = keyOf({ ...entry, currency: entry.currency ?? '' });
    const before = merged.get(key);
    if (before?.is_paid && entry.is_paid) {
      throw new CommandError(
        `${entry.where}: ${nameOf(entry)} is also paid in another file (${before.where}); nothing was changed`,
        { code: 'bad_request', reason: 'duplicate_entry' },
      );
    }
    if (before === undefined || entry.is_paid) merged.set(key, entry);
  }
  return [...merged.values()];
}

/** Throws CommandError unless the entries name exactly the lines of the payout. */
export function checkComplete(entries: readonly ListedEntry[], lines: readonly LineName[]): void {
  const known = new Map(lines.map((line) => [keyOf(line), line]));
  const isKnown = (entry: ListedEntry) => known.has(keyOf({ ...entry, currency: entry.currency ?? '' }));
  const stranger = entries.find((entry) => !isKnown(entry));
  if (stranger) {
    throw new CommandError(
      `${stranger.where}: ${nameOf(stranger)} is not in the payout; nothing was changed`,
      { code: 'bad_request', reason: 'affiliate_not_in_payout' },
    );
  }
  for (const { affiliate_id, currency = '' } of entries) known.delete(keyOf({ affiliate_id, currency }));
  if (known.size === 0) return;
  const listed = new Set(entries.map(({ affiliate_id }) => affiliate_id));
  const missing = new Set(
    [...known.values()].map(({ affiliate_id: id, currency }) =>
      listed.has(id) ? `${id} in ${currency.toUpperCase()}` : `${id}`,
    ),
  );
  throw new CommandError(`the list does not name affiliates ${nameSome([...missing])}; nothing was changed`, {
    code: 'bad_request',
    reason: 'affiliates_missing',
  });
}
