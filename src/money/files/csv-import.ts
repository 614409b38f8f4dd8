import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { raw } from 'sql-template-tag';
import type { Upload } from '../../contract/route.ts';
import { rows, type Tx } from '../../db/connect.ts';
import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import type { CsvColumns } from '../../kernel/csv-header.ts';
import { CsvError, guardRule, quote } from '../../kernel/csv-refusal.ts';
import { EMAIL_RULE, isEmail } from '../../kernel/email.ts';
import { fail } from '../../kernel/errors.ts';
import { numberIdOf } from '../../kernel/ids.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../../kernel/names.ts';

const MAX_REPORTED = 1000;

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

/** Thrown by a column's reader: the message begins with the column's name. */
export class CellError extends Error {}

export type Cell = string | number | bigint | boolean | null;

export interface CsvFormat extends CsvColumns {
  /** The temporary table `staged (line int, …)`: its columns in order, with their SQL types. */
  readonly staged: readonly (readonly [column: string, type: string])[];
  /**
   * The staged values of a line, after its number. `cells` holds the texts of the columns in the file, null where a
   * cell is empty. Throws CellError for a bad line.
   */
  readLine(cells: Readonly<Record<string, string | null>>): readonly Cell[];
}

/** What a file held: its columns, and how many lines were read, good and bad. */
export interface StagedFile {
  readonly header: ReadonlySet<string>;
  readonly lines: number;
}

/**
 * Streams a CSV file (see csvReader) through `readLine` into the temporary table `staged`; memory stays constant.
 * Bad lines go to `bad`. Throws `invalid_file` when the file as a whole cannot be read or its header is wrong.
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
  const reader = csvReader(format);
  let lines = 0;

  function copyRows(found: readonly CsvLine[]): string {
    lines += found.length;
    let text = '';
    for (const { line, cells } of found) {
      try {
        text += `${line}\t${format.readLine(named(reader.header, cells)).map(copyCell).join('\t')}\n`;
      } catch (error) {
        if (!(error instanceof CellError)) throw error;
        bad.add(line, error.message);
      }
    }
    return text;
  }

  async function* convert(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
    for await (const piece of pieces) {
      yield copyRows(reader.read(piece));
      if (target.destroyed) await once(target, 'close');
    }
    yield copyRows(reader.end());
  }

  try {
    await pipeline(upload.open(), convert, target);
  } catch (error) {
    throw error instanceof CsvError ? fail('invalid_file', error.message) : error;
  }
  await rows(tx, raw('analyze staged'));
  return { header: new Set(reader.header), lines };
}

/** The cells by the names of their columns, null where one is empty. Throws CellError. */
function named(names: readonly string[], values: readonly string[]): Record<string, string | null> {
  const cells: Record<string, string | null> = {};
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? '';
    const broken = guardRule(value);
    if (broken !== null) throw new CellError(`${name} ${broken}: ${quote(value)}`);
    cells[name] = value === '' ? null : value;
  }
  return cells;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// The text format of COPY: \N is null, backslash and line ends are escaped.
function copyCell(value: Cell): string {
  if (value === null) return '\\N';
  const text = String(value);
  return /[\\\n\r\t]/.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char) : text;
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
    if (value.length > maxLength)
      throw new CellError(`${name} has more than ${maxLength} characters: ${quote(value)}`);
    return value;
  },
  /** A text that is searched or compared, in NFC. */
  composed(name: string, value: string | null | undefined, maxLength: number): string | null {
    return cell.text(name, value, maxLength)?.normalize('NFC') ?? null;
  },
  oneOf(name: string, value: string | null | undefined, allowed: readonly string[]): string | null {
    if (value === null || value === undefined) return null;
    if (!allowed.includes(value))
      throw new CellError(`${name} must be one of ${allowed.join(', ')}, not ${quote(value)}`);
    return value;
  },
  email(name: string, value: string | null | undefined): string | null {
    if (value === null || value === undefined) return null;
    if (!isEmail(value)) throw new CellError(`${name} must be ${EMAIL_RULE}, not ${quote(value)}`);
    return value;
  },
  /** The id of something in the merchant's own books. */
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
