import { writeSync } from 'node:fs';
import { unreadableCell } from '../../kernel/csv-refusal.ts';
import { nameSome } from '../../kernel/errors.ts';
import { WorkbookError } from './workbook-error.ts';
import { tooLarge } from './zip.ts';

const MOST_COLUMNS = 300;
const MOST_CELLS = 3_000_000;
/** The last row of Excel; a sheet of OpenDocument has as many. */
const LAST_ROW = 1_048_576;
const MOST_BYTES = 400 * 2 ** 20;
const PIECE = 1 << 16;

/** A cell with content, as it is shown. */
export interface SheetCell {
  /** From 0. */
  readonly column: number;
  readonly text: string;
  readonly isNumber: boolean;
}

/** What was found in a sheet. */
export interface SheetFacts {
  /** The number of columns with content. */
  readonly width: number;
  /** The columns, from 0, that have numbers entered as text. */
  readonly textNumbers: readonly number[];
  /** What a person has to know, such as hidden rows. */
  readonly notes: readonly string[];
}

/** Columns, counted from 0, both included. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The letters of a column: A for 0, AA for 26. */
function columnLetters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest === 0 ? '' : columnLetters(rest - 1)) + String.fromCharCode(65 + (column % 26));
}

/** `B7` for row 7 and column 1. */
export const cellName = (row: number, column: number): string => `${columnLetters(column)}${row}`;

/** A cell without a usable value, for a reason that follows its name. */
export const badCell = (row: number, column: number, why: string): string =>
  unreadableCell(`cell ${cellName(row, column)} ${why}`);

/** Formulas that were written by a program, and never calculated. */
export const NO_VALUE =
  'has a formula without a stored value: open the workbook in a spreadsheet program, save it and send it again';
export const LOST_DIGITS =
  'has a number of more than 15 digits, of which a spreadsheet loses the last: format the column as text and enter the number again';
export const shows = (error: string): string => `shows the error ${error}`;

/** A text of a cell: one line, without what CSV does not allow. */
export const cellText = (text: string): string =>
  text
    .replaceAll(/[\r\n\t]+/g, ' ')
    .replaceAll(/[\0\ufeff]/g, '')
    .trim();

/** Writes the rows of a sheet as CSV, in UTF-8, to a file: row 7 is line 7. Collects what is hidden or merged. */
export class SheetText {
  readonly #descriptor: number;
  #pending = '';
  #bytes = 0;
  #cells = 0;
  #lines = 0;
  #width = 0;
  readonly #used = new Set<number>();
  readonly #textNumbers = new Set<number>();
  readonly #hiddenRows: Span[] = [];
  readonly #hiddenColumns: Span[] = [];
  readonly #merged: string[] = [];
  #mergedCount = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Adds a row that has content. Rows must ascend. Throws WorkbookError for a sheet that is too large. */
  add(row: number, cells: readonly SheetCell[], isHidden: boolean): void {
    if (row <= this.#lines || row > LAST_ROW)
      throw new WorkbookError(`the sheet has row ${row} after row ${this.#lines}: the workbook is damaged`);
    this.#cells += cells.length;
    if (this.#cells > MOST_CELLS)
      throw new WorkbookError(
        `the sheet has more than ${MOST_CELLS.toLocaleString('en')} cells: save it as a CSV file and send that`,
      );
    const texts: string[] = [];
    for (const { column, text, isNumber } of cells) {
      if (column >= MOST_COLUMNS)
        throw new WorkbookError(
          `cell ${cellName(row, column)} is in column ${column + 1}, and a sheet has ${MOST_COLUMNS} columns at most: remove those that are not imported`,
        );
      while (texts.length < column) texts.push('');
      texts[column] = /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      this.#used.add(column);
      if (!isNumber && /\d[.,]\d/.test(text)) this.#textNumbers.add(column);
    }
    this.#width = Math.max(this.#width, texts.length);
    this.#write('\n'.repeat(row - this.#lines - 1));
    this.#write(`${texts.join()}\n`);
    this.#lines = row;
    if (isHidden) extend(this.#hiddenRows, row);
  }

  hideColumns(span: Span): void {
    this.#hiddenColumns.push(span);
  }

  /** Notes that cells are merged: `A1:C1`. */
  merge(range: string): void {
    this.#mergedCount += 1;
    if (this.#merged.length < 5) this.#merged.push(range);
  }

  /** Writes the rest. */
  end(): SheetFacts {
    this.#flush();
    const hidden = [...this.#used]
      .sort((a, b) => a - b)
      .filter((column) => this.#hiddenColumns.some(({ from, to }) => column >= from && column <= to))
      .map(columnLetters);
    const rows = this.#hiddenRows.map(({ from, to }) => (from === to ? String(from) : `${from} to ${to}`));
    return {
      width: this.#width,
      textNumbers: [...this.#textNumbers],
      notes: [
        ...(rows.length === 0 ? [] : [`hidden rows are read as well: ${nameSome(rows)}`]),
        ...(hidden.length === 0 ? [] : [`hidden columns are read as well: ${nameSome(hidden)}`]),
        ...(this.#mergedCount === 0
          ? []
          : [
              `merged cells have their value in the first cell only: ${this.#merged.join(', ')}` +
                (this.#mergedCount > this.#merged.length
                  ? ` and ${this.#mergedCount - this.#merged.length} more`
                  : ''),
            ]),
      ],
    };
  }

  #write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= PIECE) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending);
    this.#pending = '';
    this.#bytes += bytes.length;
    // a text that many cells share is unpacked once in the workbook, and many times here
    if (this.#bytes > MOST_BYTES) throw tooLarge();
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }
}

/** Adds a row to the spans, the last of which it may continue. */
function extend(spans: Span[], row: number): void {
  const last = spans.at(-1);
  if (last?.to === row - 1) spans[spans.length - 1] = { from: last.from, to: row };
  else spans.push({ from: row, to: row });
}
