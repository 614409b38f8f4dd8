import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import type { CsvDialect } from '../../kernel/csv-dialect.ts';
import type { CsvColumns } from '../../kernel/csv-header.ts';
import { CsvError, guardRule, quote, whyUnreadable } from '../../kernel/csv-refusal.ts';
import { EMAIL_RULE, isEmail } from '../../kernel/email.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { numberIdOf } from '../../kernel/ids.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../../kernel/names.ts';
import { isSealed } from './sealed-columns.ts';
import { isTotalsLine } from './totals-line.ts';

const MAX_REPORTED = 1000;

/** A line of a file that breaks a rule: its number (the header is line 1) and the rule, which names the column. */
export interface BadLine {
  readonly line: number;
  readonly message: string;
}

/** Bad lines as they leave a thread: how many there are, and the first of them, each with its errors. */
export interface FoundBad {
  readonly count: number;
  readonly lines: readonly (readonly [line: number, messages: readonly string[]])[];
}

/** Counts all bad lines and keeps the errors of the first ones, by default 1,000, by line number. */
export class BadLines {
  readonly #lines: Map<number, readonly string[]>;
  readonly #most: number;
  #count: number;

  constructor(most = MAX_REPORTED, found: FoundBad = { count: 0, lines: [] }) {
    this.#most = most;
    this.#count = found.count;
    this.#lines = new Map(found.lines);
  }

  /** Adds a line that is not listed yet, with all its errors. */
  add(line: number, ...messages: string[]): void {
    this.#count += 1;
    if (this.#lines.size < this.#most) this.#lines.set(line, messages);
  }

  /** Counts lines that are not listed. */
  addUnlisted(count: number): void {
    this.#count += count;
  }

  get count(): number {
    return this.#count;
  }

  /** How many more are listed. */
  get room(): number {
    return Math.max(0, this.#most - this.#lines.size);
  }

  get found(): FoundBad {
    return { count: this.#count, lines: [...this.#lines] };
  }

  /** The lines by number, each with its messages joined. */
  first(): BadLine[] {
    return this.each().map(([line, messages]) => ({ line, message: messages.join('; ') }));
  }

  /** The same, with separate messages. */
  each(): (readonly [line: number, messages: readonly string[]])[] {
    return [...this.#lines].sort(([a], [b]) => a - b);
  }
}

/** Thrown by a column's reader: each message starts with the name of a column. */
export class CellError extends Error {
  readonly messages: readonly string[];

  constructor(...messages: readonly string[]) {
    super(messages.join('; '));
    this.messages = messages;
  }
}

export type Cell = string | number | bigint | boolean | null;

export interface CsvFormat extends CsvColumns {
  /** The columns that say whom or what a line is about. */
  readonly identifying: readonly string[];
  /** The columns of the temporary table `staged (line int, …)`, in order, with their SQL types. */
  readonly staged: readonly (readonly [column: string, type: string])[];
  /** The readers of the staged columns, in the same order. A reader throws CellError for an invalid cell. */
  readonly readers: readonly ((cells: Cells) => Cell)[];
}

/** The cells of a line by column; null when empty. */
export type Cells = Readonly<Record<string, string | null>>;

/** Converts the cells of a file with another dialect or header to those of a format. */
export interface Reading {
  readonly dialect: CsvDialect;
  /** The columns of the format that the file provides. */
  readonly columns: readonly string[];
  /**
   * Given the header of the file, returns the converter of its lines, or null for a line to skip. Errors are added to
   * `wrong`.
   */
  under(header: readonly string[]): (values: readonly string[], wrong: string[]) => Cells | null;
}

/** The contents of a file: its columns, and how many lines were read, good and bad, and how many were skipped. */
export interface ReadFile {
  readonly columns: readonly string[];
  readonly lines: number;
  readonly skipped: number;
}

/** How the lines of a file are read: with the readers of a format, and in its own layout or in that of `reading`. */
export interface LineFormat {
  readonly format: CsvFormat;
  readonly reading: Reading | null;
}

/**
 * Reads a CSV file (see csvReader) line by line with the readers of a format, in constant memory. `take` gets the good lines as
 * rows in the text format of COPY, piece by piece, also empty ones; the next piece is read while it works. Bad lines go to
 * `bad`, with all their errors. Without a `reading` the header must be the format's. Throws `invalid_file` when the file as a
 * whole cannot be read or its header is wrong.
 */
export async function readLines(
  pieces: Iterable<Buffer>,
  { format, reading }: LineFormat,
  bad: BadLines,
  take: (rows: string) => Promise<void>,
): Promise<ReadFile> {
  const reader = reading === null ? csvReader(format) : csvReader(null, reading.dialect);
  const cellsOf = lazily(() => reading?.under(reader.header) ?? cellsUnder(reader.header));
  let lines = 0;
  let skipped = 0;

  function rowsOf(found: readonly CsvLine[]): string {
    lines += found.length;
    let text = '';
    for (const { line, cells: values } of found) {
      const wrong: string[] = [];
      const cells = cellsOf()(values, wrong);
      if (cells === null) {
        skipped += 1;
        continue;
      }
      let row = String(line);
      for (const read of format.readers) row += `\t${readCell(read, cells, wrong)}`;
      if (wrong.length === 0) text += `${row}\n`;
      else if (isTotals(cells, format.identifying))
        bad.add(line, 'looks like a total of the other lines: remove it');
      else bad.add(line, ...firstOfEach(wrong));
    }
    return text;
  }

  let taken: Promise<void> = Promise.resolve();
  const give = async (rows: string) => {
    await taken;
    taken = take(rows);
    taken.catch(() => undefined); // the next one that waits for it learns
  };
  try {
    for (const piece of pieces) await give(rowsOf(reader.read(piece)));
    await give(rowsOf(reader.end()));
    await taken;
  } catch (error) {
    throw error instanceof CsvError ? fail('invalid_file', error.message) : error;
  }
  return { columns: reading?.columns ?? reader.header, lines, skipped };
}

/** The first error of each field: later ones follow from it, because a cell that is wrong is read again as it is, or as empty. */
function firstOfEach(wrong: readonly string[]): readonly string[] {
  const fields = wrong.map(fieldIn);
  return wrong.filter((_, index) => fields.indexOf(fields[index] ?? '') === index);
}

/** The field of a message, its first word. */
const fieldIn = (message: string) => message.slice(0, message.indexOf(' '));

const isTotals = (cells: Cells, identifying: readonly string[]): boolean => {
  const names = Object.keys(cells);
  const values = names.map((name) => cells[name] ?? '');
  return isTotalsLine(
    values,
    names.flatMap((name, index) => (identifying.includes(name) ? [index] : [])),
  );
};

function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Reads a cell for COPY; errors are added to `wrong`. */
function readCell(read: (cells: Cells) => Cell, cells: Cells, wrong: string[]): string {
  try {
    return copyCell(read(cells));
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    wrong.push(...error.messages);
    return '';
  }
}

/** The cells by column name, for a file with the format's own columns. */
function cellsUnder(names: readonly string[]): (values: readonly string[], wrong: string[]) => Cells {
  return (values, wrong) => {
    const cells: Record<string, string | null> = {};
    for (const [index, name] of names.entries()) {
      const value = values[index] ?? '';
      cells[name] = guardedCell(name, value, wrong) || null;
    }
    return cells;
  };
}

/** A cell of a file; one that could not be read is reported as an error, and so is one that carries the apostrophe of our own files. */
export function guardedCell(name: string, value: string, wrong: string[]): string {
  const why = whyUnreadable(value);
  if (why !== null) {
    wrong.push(`${name} cannot be read: ${why}`);
    return '';
  }
  const broken = guardRule(value);
  if (broken !== null) wrong.push(`${name} ${broken}${isSealed(name) ? '' : `: ${quote(value)}`}`);
  return value;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// In the text format of COPY, \N is null, and backslashes and line ends are escaped.
function copyCell(value: Cell): string {
  if (value === null) return '\\N';
  const text = String(value);
  return /[\\\n\r\t]/.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char) : text;
}

/**
 * Reads several cells: their values, null for one that is wrong, and everything that is wrong with them. A reader may also
 * be a check of the API that is given the name of the column and throws `invalid_body`.
 */
export function readEach<Readers extends Readonly<Record<string, () => unknown>>>(
  readers: Readers,
): {
  readonly read: { readonly [Name in keyof Readers]: ReturnType<Readers[Name]> | null };
  readonly wrong: readonly string[];
} {
  const wrong: string[] = [];
  const read = Object.entries(readers).map(([name, reader]) => {
    try {
      return [name, reader()];
    } catch (error) {
      if (error instanceof CellError) wrong.push(...error.messages);
      else if (error instanceof Failure && error.reason === 'invalid_body') wrong.push(error.message);
      else throw error;
      return [name, null];
    }
  });
  return { read: Object.fromEntries(read), wrong };
}

/** Readers of cells; each error names the rule. */
export const cell = {
  required(name: string, value: string | null | undefined): string {
    if (value === null || value === undefined) throw new CellError(`${name} is empty`);
    return value;
  },
  text(name: string, value: string | null | undefined, maxLength: number): string | null {
    if (value === null || value === undefined) return null;
    if (value.length > maxLength)
      throw new CellError(`${name} has more than ${maxLength} characters: ${quote(value)}`);
    return value;
  },
  /** A text whose rule is the API's, and which no message repeats. */
  limited(name: string, value: string | null | undefined, maxLength: number): string | undefined {
    if (value === null || value === undefined) return undefined;
    if ([...value].length > maxLength)
      throw new CellError(`${name} must have at most ${maxLength} characters`);
    return value;
  },
  oneOf(name: string, value: string | null | undefined, allowed: readonly string[]): string | null {
    if (value === null || value === undefined) return null;
    if (!allowed.includes(value))
      throw new CellError(`${name} must be one of ${allowed.join(', ')}, not ${quote(value)}`);
    return value;
  },
  email(name: string, value: string | null | undefined): string | null {
    if (value === null || value === undefined) return null;
    if (!isEmail(value)) throw new CellError(`${name} must be ${EMAIL_RULE}: ${quote(value)}`);
    return value;
  },
  /** The two letters of a country, in upper case (ISO 3166-1). */
  country(name: string, value: string | null | undefined): string | null {
    if (value === null || value === undefined) return null;
    if (!/^[A-Za-z]{2}$/.test(value))
      throw new CellError(`${name} must be two letters such as DE (ISO 3166-1), not ${quote(value)}`);
    return value.toUpperCase();
  },
  /** The id of a record in the merchant's own system. */
  identifier(name: string, value: string | null | undefined): string | null {
    const id = cell.text(name, value, 255);
    if (id !== null && !isIdentifier(id)) throw new CellError(`${name} ${IDENTIFIER_RULE}: ${quote(id)}`);
    return id;
  },
  boolean(name: string, value: string | null | undefined): boolean | null {
    if (value === null || value === undefined) return null;
    const lower = value.toLowerCase();
    if (lower !== 'true' && lower !== 'false')
      throw new CellError(`${name} must be true or false, not ${quote(value)}`);
    return lower === 'true';
  },
  id(name: string, value: string | null | undefined): string | null {
    if (value === null || value === undefined) return null;
    if (numberIdOf(value) === null)
      throw new CellError(`${name} must be a positive integer such as 17, not ${quote(value)}`);
    return value;
  },
};
