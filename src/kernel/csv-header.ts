import { CsvError, quote, whyUnreadable } from './csv-refusal.ts';
import { nameSome } from './errors.ts';

/** The columns of one kind of file. */
export interface CsvColumns {
  /** Every column the file may have. */
  readonly columns: readonly string[];
  /** Required columns; a nested list means exactly one of them. */
  readonly required: readonly (string | readonly string[])[];
  /** Columns whose values come from a fixed set, such as `true` and `false`: a truncated one cannot pass as valid. */
  readonly fixedWords: readonly string[];
  /** Lines may have what no message repeats: one in the place of the header is not quoted. */
  readonly isPrivate?: true;
}

export interface CsvHeader {
  /** The columns of the file, in order and in lower case. */
  readonly names: readonly string[];
  /**
   * The number of cells in the header line, including trailing columns without a name, which spreadsheets leave behind.
   */
  readonly width: number;
}

/** The most columns that a file may have. */
const MOST_COLUMNS = 500;

const SEPARATORS: Readonly<Record<string, string>> = {
  ';': 'semicolons between the cells: save it with commas, and with points in decimal numbers',
  '\t': 'tabs between the cells: save it with commas',
  '|': 'bars between the cells: save it with commas',
  ',': 'quotes around the whole line: only single cells may be quoted',
};

/** Reads the header line. Throws CsvError when it is not a header of this format. */
export function readHeader(cells: readonly string[], line: number, format: CsvColumns): CsvHeader {
  const refuse = (what: string) => new CsvError(`line ${line}${what}`);
  const all = cells.map((name) => name.trim().toLowerCase());
  const names = all.slice(0, all.findLastIndex((name) => name !== '') + 1);
  const separator = otherSeparator(names, format);
  if (separator) throw refuse(`: the file has ${SEPARATORS[separator]}`);
  const unknown = names.findIndex((name) => !format.columns.includes(name));
  if (unknown !== -1) throw refuse(unknownColumn(names, unknown, format));
  const twice = firstTwice(names);
  if (twice !== null)
    throw refuse(`, column ${twice.at}: ${names[twice.at - 1]} is column ${twice.before} already`);
  for (const need of format.required) {
    const choices = typeof need === 'string' ? [need] : need;
    const present = choices.filter((name) => names.includes(name));
    if (present.length === 0) throw refuse(`: column ${choices.join(' or ')} is missing`);
    if (present.length > 1) throw refuse(`: only one of ${present.join(', ')} may be there`);
  }
  return { names, width: all.length };
}

/**
 * Reads a header line whose columns may have any name, kept as written. A column without a name is named by its position,
 * and a name that occurs again gets a number: `Status (2)`. A sheet has at least `width` columns. Throws CsvError when there
 * are more than 500.
 */
export function readAnyHeader(cells: readonly string[], line: number, width = 0): CsvHeader {
  const last = Math.max(
    cells.findLastIndex((name) => name.trim() !== ''),
    width - 1,
  );
  if (last >= MOST_COLUMNS) {
    throw new CsvError(
      `line ${line}: names ${last + 1} columns, and a file has ${MOST_COLUMNS} at most: remove those that are not imported`,
    );
  }
  const taken = new Set(cells.map((name) => name.trim().toLowerCase()));
  const seen = new Set<string>();
  const uniqueName = (name: string) => {
    for (let number = 1; ; number += 1) {
      const unique = number === 1 ? name : `${name} (${number})`;
      const key = unique.toLowerCase();
      if (seen.has(key) || (number > 1 && taken.has(key))) continue;
      seen.add(key);
      return unique;
    }
  };
  const names = Array.from({ length: last + 1 }, (_, index) => {
    const name = cells[index]?.trim() || `column ${index + 1}`;
    const why = whyUnreadable(name);
    if (why !== null) throw new CsvError(`line ${line}: ${why}`);
    return uniqueName(name);
  });
  return { names, width: Math.max(cells.length, last + 1) };
}

/** The first column whose name an earlier one has, both counted from 1; null when all differ. */
function firstTwice(names: readonly string[]): { readonly at: number; readonly before: number } | null {
  const seen = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const before = seen.get(name);
    if (before !== undefined) return { at: index + 1, before };
    seen.set(name, index + 1);
  }
  return null;
}

function otherSeparator(names: readonly string[], { columns }: CsvColumns): string | undefined {
  const [only = ''] = names;
  if (names.length !== 1) return undefined;
  return Object.keys(SEPARATORS).find((separator) =>
    only.split(separator, 20).some((name) => name !== only && columns.includes(name.trim())),
  );
}

function unknownColumn(names: readonly string[], index: number, { columns, isPrivate }: CsvColumns): string {
  const name = names[index] ?? '';
  const place = `, column ${index + 1}`;
  if (name === '') return `${place}: has no name`;
  const near = nearest(name, columns);
  if (near !== null) return `${place}: there is no column ${quote(name)}: is it ${near}?`;
  const known = `the columns are ${nameSome(columns)}`;
  const isData = !names.some((other) => columns.includes(other));
  if (isData && isPrivate) return `: must name the columns, and does not; ${known}`;
  if (isData) return `: must name the columns, and ${quote(names.slice(0, 10).join())} does not; ${known}`;
  return `${place}: there is no column ${quote(name)}; ${known}`;
}

/** The known name that a misspelt one probably means, or null. */
function nearest(name: string, known: readonly string[]): string | null {
  const plain = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const given = plain(name.slice(0, 64));
  const [best] = known
    .map((candidate) => ({ candidate, edits: editDistance(given, plain(candidate)) }))
    .sort((a, b) => a.edits - b.edits);
  return best && best.edits <= Math.max(given.length, plain(best.candidate).length) / 3
    ? best.candidate
    : null;
}

/** The Levenshtein distance: how many letters to insert, delete or replace to turn one word into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
