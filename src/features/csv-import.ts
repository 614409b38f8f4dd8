import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { raw } from 'sql-template-tag';
import { rows, type Tx } from '../db/connect.ts';
import type { Upload } from '../http/route.ts';
import { fail } from '../kernel/errors.ts';

const MAX_REPORTED = 1000;
const MAX_LINE_BYTES = 1 << 20;

/** A line of a file that breaks a rule: its number (the header is line 1) and the rule, naming the column. */
export interface BadLine {
  readonly line: number;
  readonly message: string;
}

/** Counts all bad lines and keeps the first 1,000 by line number. */
export class BadLines {
  readonly #lines = new Map<number, string>();
  #count = 0;

  add(line: number, message: string): void {
    this.#count += 1;
    if (this.#lines.size < MAX_REPORTED) this.#lines.set(line, message);
  }

  get count(): number {
    return this.#count;
  }

  first(): BadLine[] {
    return [...this.#lines].map(([line, message]) => ({ line, message })).sort((a, b) => a.line - b.line);
  }
}

/** Thrown by a column's reader: the message follows the column's name. */
export class CellError extends Error {}

export type Cell = string | number | bigint | boolean | null;

export interface CsvFormat {
  /** Every column the file may have. */
  readonly columns: readonly string[];
  /** Columns it must have; a list in the list means exactly one of them. */
  readonly required: readonly (string | readonly string[])[];
  /** The temporary table `staged (line int, …)`: its columns in order, with their SQL types. */
  readonly staged: readonly (readonly [column: string, type: string])[];
  /**
   * The staged values of a line, after its number. `cells` holds the trimmed text of the columns in the file, null
   * where a cell is empty. Throws CellError for a bad line.
   */
  readLine(cells: Readonly<Record<string, string | null>>): readonly Cell[];
}

/** What a file held: its columns, and how many lines were read, good and bad. */
export interface StagedFile {
  readonly header: ReadonlySet<string>;
  readonly lines: number;
}

/**
 * Streams a CSV file (RFC 4180, UTF-8, with or without BOM, LF or CRLF) through `readLine` into the temporary table
 * `staged`; memory stays constant. Bad lines go to `bad`. Throws `invalid_file` when the file as a whole cannot be
 * read or its header is wrong.
 */
export async function stageCsv(
  tx: Tx,
  upload: Upload,
  format: CsvFormat,
  bad: BadLines,
): Promise<StagedFile> {
  const columns = format.staged.map(([name, type]) => `${name} ${type}`).join(', ');
  await rows(tx, raw(`create temporary table staged (line int not null, ${columns}) on commit drop`));
  const target = tx.copyIn('copy staged from stdin');
  const reader = lineReader(format, bad, target);
  try {
    await pipeline(upload.open(), strictUtf8, csvParser(reader.header), reader.write, target);
  } catch (error) {
    throw asFailure(error);
  }
  if (reader.columns.size === 0)
    throw fail('invalid_file', 'the file is empty: its first line must name the columns');
  await rows(tx, raw('analyze staged'));
  return { header: reader.columns, lines: reader.lines() };
}

function csvParser(header: (names: string[]) => string[]) {
  return parse({
    bom: true,
    columns: header,
    info: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: MAX_LINE_BYTES,
  });
}

async function* strictUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // ignoreBOM keeps the mark for the CSV parser, which knows it only at the very start
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    if (text.includes('\0'))
      throw fail('invalid_file', 'the file contains NUL characters: is it a text file?');
    yield text;
  }
  yield decoder.decode();
}

interface Parsed {
  readonly record: Record<string, string>;
  readonly info: { readonly lines: number };
}

function lineReader(format: CsvFormat, bad: BadLines, target: Writable) {
  const columns = new Set<string>();
  let lines = 0;
  return {
    columns,
    lines: () => lines,
    header(names: string[]): string[] {
      const known = names.map((name) => name.trim().toLowerCase());
      checkHeader(known, format);
      for (const name of known) columns.add(name);
      return known;
    },
    async *write(parsed: AsyncIterable<Parsed>): AsyncGenerator<string> {
      let batch = '';
      for await (const { record, info } of parsed) {
        lines += 1;
        try {
          const values = format.readLine(emptyToNull(record));
          batch += `${info.lines}\t${values.map(copyCell).join('\t')}\n`;
        } catch (error) {
          if (!(error instanceof CellError)) throw error;
          bad.add(info.lines, error.message);
        }
        if (batch.length > 1 << 16) {
          yield batch;
          batch = '';
        }
        if (target.destroyed) await once(target, 'close');
      }
      yield batch;
    },
  };
}

function emptyToNull(record: Record<string, string>): Record<string, string | null> {
  const cells: Record<string, string | null> = {};
  for (const name in record) cells[name] = record[name] || null;
  return cells;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// The text format of COPY: \N is null, backslash and line ends are escaped.
function copyCell(value: Cell): string {
  if (value === null) return '\\N';
  const text = String(value);
  return /[\\\n\r\t]/.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char) : text;
}

function checkHeader(names: readonly string[], format: CsvFormat): void {
  const refuse = (message: string) => fail('invalid_file', `line 1: ${message}`);
  const unknown = names.filter((name) => !format.columns.includes(name));
  if (unknown.length > 0) {
    throw refuse(`unknown column ${unknown.join(', ')}; known are ${format.columns.join(', ')}`);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refuse(`column ${twice} is there twice`);
  for (const need of format.required) {
    const choices = typeof need === 'string' ? [need] : need;
    const present = choices.filter((name) => names.includes(name));
    if (present.length === 0) throw refuse(`column ${choices.join(' or ')} is missing`);
    if (present.length > 1) throw refuse(`only one of ${choices.join(', ')} may be there`);
  }
}

function asFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return fail('invalid_file', 'the file is not UTF-8');
  }
  if (!(error instanceof CsvError)) return error;
  const rule = error.message.replace(/,? (on|at) line \d+\.?$/, '');
  return fail('invalid_file', `line ${String(error.lines)}: ${rule}`);
}

/** Throws `invalid_lines` naming the first bad lines. */
export function refuseBadLines(bad: BadLines, lines: number): never {
  const shown = bad.first().slice(0, 20);
  const rest = bad.count - shown.length;
  const list = shown.map(({ line, message }) => `line ${line}: ${message}`).join('; ');
  throw fail(
    'invalid_lines',
    `${bad.count} of ${lines} lines are bad, nothing was written: ${list}${rest > 0 ? `; and ${rest} more` : ''}`,
  );
}

/** Readers of cells, each with the rule it names when it refuses. */
export const cell = {
  required(name: string, value: string | null | undefined): string {
    if (value === null || value === undefined) throw new CellError(`${name} is empty`);
    return value;
  },
  text(name: string, value: string | null | undefined, maxLength: number): string | null {
    if (value === null || value === undefined) return null;
    if (value.length > maxLength) throw new CellError(`${name} has more than ${maxLength} characters`);
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
    if (!/^[^\s@]+@[^\s@]+$/.test(value) || value.length > 320) {
      throw new CellError(`${name} must be an e-mail address, not ${quote(value)}`);
    }
    return value;
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
    if (!/^[1-9]\d{0,14}$/.test(value))
      throw new CellError(`${name} must be a positive integer, not ${quote(value)}`);
    return value;
  },
};

/** A value as it stands in a message: short, in quotes. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
