import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import { CSV_SEPARATORS, type CsvEncoding, type CsvSeparator } from '../../kernel/csv-dialect.ts';
import { CsvError, quote } from '../../kernel/csv-refusal.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { readAmount } from './amounts.ts';
import {
  type Answer,
  type Answers,
  mentionIn,
  type Outcome,
  type Reference,
  ResultFileError,
  readReference,
} from './answers.ts';

/** The first line of a CSV file. */
export interface Header {
  /** As written. */
  readonly names: readonly string[];
  /** The index of each name, in lower case and without other characters than letters; the first of equal names. */
  readonly at: ReadonlyMap<string, number>;
}

/** Reads the lines of one file. */
export interface LineReader {
  /** Reads a line. Throws ResultFileError. */
  line(line: CsvLine): void;
  /** Called after the last line. */
  end(): void;
}

export const folded = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');

/** A provider's word in lower case, without whitespace: `On hold` equals `ONHOLD`. */
export const wordIn = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '');

export const headerOf = (names: readonly string[]): Header => {
  const at = new Map<string, number>();
  names.forEach((name, index) => {
    const key = folded(name);
    if (!at.has(key)) at.set(key, index);
  });
  return { names, at };
};

/** The index of the first of these columns (folded names) that the file has, or undefined. */
export function placeOf({ at }: Header, names: readonly string[]): number | undefined {
  const name = names.find((known) => at.has(known));
  return name === undefined ? undefined : at.get(name);
}

export const has = (header: Header, names: readonly string[]): boolean =>
  placeOf(header, names) !== undefined;

/** Names of columns that probably contain a missing column under another name. */
const LIKELY: readonly { readonly like: RegExp; readonly name: 'amount' | 'currency' }[] = [
  { like: /amount|gross|^(net|total|sum|value)$/, name: 'amount' },
  { like: /currency|^ccy$/, name: 'currency' },
];

/** Throws ResultFileError for a column that seems to be the missing amount or currency. */
export function refuseLikely({ names }: Header, missing: readonly ('amount' | 'currency')[]): void {
  for (const { like, name } of LIKELY) {
    if (!missing.includes(name)) continue;
    const index = names.findIndex((column) => like.test(folded(column)));
    if (index >= 0)
      throw new ResultFileError(
        `line 1, column ${index + 1}: there is no column ${quote(names[index] ?? '')}: is it ${name}? Name it so, or leave it out`,
      );
  }
}

/** Finds the columns of a provider's file. */
interface Columns {
  /** The first of these columns, or undefined. */
  may(names: readonly string[]): number | undefined;
  /** The same for a required column. `title` is the provider's name for it. Throws ResultFileError. */
  must(names: readonly string[], title: string): number;
  /** The same for a column of the payment. A column that seems to be it is named in the error. Throws ResultFileError. */
  mustPay(name: 'amount' | 'currency', names: readonly string[], title: string): number;
}

/** The columns of a file by their folded names. `file` is its name in error messages. */
export function columnsIn(header: Header, file: string): Columns {
  const must: Columns['must'] = (names, title) => {
    const place = placeOf(header, names);
    if (place !== undefined) return place;
    throw new ResultFileError(
      `line 1: ${file} without the column ${title} does not contain the results of payments: download it with that column`,
    );
  };
  return {
    may: (names) => placeOf(header, names),
    must,
    mustPay(name, names, title) {
      if (!has(header, names)) refuseLikely(header, [name]);
      return must(names, title);
    },
  };
}

export const cellOf = ({ cells }: CsvLine, place: number | undefined): string =>
  (place === undefined ? undefined : cells[place])?.trim() ?? '';

/** The currency in a cell, in lower case; null for an empty cell, undefined for an invalid one. */
export function currencyIn(cell: string): string | null | undefined {
  return cell === '' ? null : (normalizeCurrency(cell) ?? undefined);
}

/**
 * The payment that a provider's line names: the only reference in any of these columns. Several references, or one within
 * another text, make the line a doubt. Null if the line names none.
 */
export function namedBy(line: CsvLine, places: readonly number[], found: Answers): Reference | null {
  const place = `line ${line.line}`;
  const cells = places.map((index) => cellOf(line, index));
  const all = new Map(
    cells.flatMap((cell) => {
      const reference = readReference(cell);
      return reference === null ? [] : [[`${reference.payout} ${reference.affiliate}`, reference] as const];
    }),
  );
  const [only] = all.values();
  if (all.size === 1 && only !== undefined) return only;
  for (const reference of all.values()) {
    const message = `it has ${all.size} references of payments, so it is not clear which one it is about`;
    found.doubt({ kind: 'unclear', of: reference, place, message, isAboutLine: true });
  }
  if (all.size > 0) return null;
  found.others += 1;
  for (const cell of cells) {
    const mentioned = mentionIn(cell);
    if (mentioned === null) continue;
    const message = `${quote(cell)} is not exactly the reference of a payment, so it is ignored`;
    found.doubt({ kind: 'inexact_reference', of: mentioned, place, message, isAboutLine: false });
    break;
  }
  return null;
}

/** The outcome that a line states, or why it states none. */
export type Stated = Outcome | { readonly why: string };

/** A transaction as written in its line. */
interface Transaction {
  /** The cells. */
  readonly amount: string;
  readonly currency: string;
  /** The outcome it states, given the sign of its amount. */
  readonly outcome: (sign: -1 | 1) => Stated;
  /** The provider's word for its status. */
  readonly code: string;
  readonly words?: string;
  readonly bankReference: string;
}

/** The answer of a provider's transaction; null if it is a doubt, which is recorded. */
export function answerOf(line: CsvLine, of: Reference, given: Transaction, found: Answers): Answer | null {
  const place = `line ${line.line}`;
  const amount = readAmount(given.amount);
  const currency = currencyIn(given.currency);
  const doubt = (message: string) => {
    found.doubt({ kind: 'unclear', of, place, message, isAboutLine: true });
    return null;
  };
  if (amount === null) return doubt(`${quote(given.amount)} is not an amount`);
  if (typeof currency !== 'string') return doubt(`${quote(given.currency)} is not a currency`);
  if (amount.sign === 0) return doubt('its amount is zero');
  const outcome = given.outcome(amount.sign);
  if (typeof outcome !== 'string') return doubt(outcome.why);
  return {
    of,
    outcome,
    amount: amount.readings,
    currency,
    code: outcome === 'paid' ? null : given.code.toUpperCase().replaceAll(/[^A-Z]+/g, '_') || null,
    words: given.words || null,
    on: null,
    bankReference: given.bankReference.slice(0, 255) || null,
    file: null,
    place,
  };
}

/** The separator that splits the first line into most cells. */
function separatorOf(line: string): CsvSeparator {
  const names = Object.keys(CSV_SEPARATORS) as CsvSeparator[];
  const cells = (name: CsvSeparator) => line.split(CSV_SEPARATORS[name]).length;
  return names.reduce((best, name) => (cells(name) > cells(best) ? name : best), 'comma' as CsvSeparator);
}

const PIECE = 1 << 16;

/**
 * Reads a CSV file line by line with the reader that `start` chooses from the header. Returns false if it chooses none.
 * Takes the whole file, its encoding and its beginning as text. Throws ResultFileError.
 */
export function readTable(
  bytes: Buffer,
  { text, encoding }: { text: string; encoding: CsvEncoding },
  start: (header: Header) => LineReader | null,
): boolean {
  const [first = ''] = text.split(/\r\n|\r|\n/, 1);
  const reader = csvReader(null, { encoding, separator: separatorOf(first), isWhole: false });
  let lines: LineReader | null = null;
  const take = (found: readonly CsvLine[]): boolean => {
    if (lines === null && reader.header.length > 0) lines = start(headerOf(reader.header));
    if (lines !== null) for (const line of found) lines.line(line);
    return lines !== null || reader.header.length === 0;
  };
  try {
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (!take(reader.read(bytes.subarray(at, at + PIECE)))) return false;
    }
    if (!take(reader.end())) return false;
    (lines as LineReader | null)?.end();
    return true;
  } catch (error) {
    throw error instanceof CsvError ? new ResultFileError(error.message) : error;
  }
}
