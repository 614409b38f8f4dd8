import { type Decimal, decimalOf, hasLostDigits, plainText, rounded, shifted } from './decimals.ts';
import {
  badCell,
  cellName,
  cellText,
  LOST_DIGITS,
  NO_VALUE,
  type SheetCell,
  type SheetText,
  shows,
} from './sheet-text.ts';
import { noSheet, type Sheet } from './sheets.ts';
import { WorkbookError } from './workbook-error.ts';
import { readXml } from './xml.ts';
import type { Archive } from './zip.ts';

/** A cell that is being read; `text` is what it shows. */
interface OpenCell {
  readonly type: string;
  readonly value: string;
  readonly hasFormula: boolean;
  readonly repeats: number;
  text: string;
  hasText: boolean;
}

const LONGEST_TEXT = 100_000;
const LONGEST_NUMBER = 64;
/** What a cell may contain besides its text: comments and drawings. */
const NO_TEXT = ['annotation', 'frame', 'shapes', 'g', 'custom-shape'];

/** Reads a sheet of an OpenDocument spreadsheet (ODF 1.3, .ods) row by row. Throws WorkbookError. */
export async function readOds(
  archive: Archive,
  wanted: string | null,
  text: SheetText,
): Promise<{ readonly sheets: readonly Sheet[]; readonly sheet: string }> {
  const sheets: Sheet[] = [];
  const read: { sheet: string | null } = { sheet: null };
  const hiddenStyles = new Set<string>();
  let style = '';
  let reader: TableReader | null = null;
  await readXml(archive.text('content.xml'), {
    open: (name, attributes) => {
      if (name === 'style') style = attributes['style:name'] ?? '';
      else if (name === 'table-properties' && attributes['table:display'] === 'false')
        hiddenStyles.add(style);
      else if (name === 'table' && reader === null) {
        const title = attributes['table:name'] ?? '';
        const isHidden = hiddenStyles.has(attributes['table:style-name'] ?? '');
        sheets.push({ name: title, isHidden });
        const isWanted = wanted === null ? !isHidden : title.toLowerCase() === wanted.toLowerCase();
        if (read.sheet === null && isWanted) {
          read.sheet = title;
          reader = new TableReader(text);
        }
      } else reader?.open(name, attributes);
    },
    close: (name) => {
      if (name === 'table' && reader?.isAtTop) reader = null;
      else reader?.close(name);
    },
    text: (piece) => reader?.text(piece),
  });
  if (read.sheet !== null) return { sheets, sheet: read.sheet };
  throw wanted === null ? new WorkbookError('the workbook has no visible sheet') : noSheet(sheets, wanted);
}

/** Reads the rows of a table. */
class TableReader {
  readonly #sheet: SheetText;
  #row = 0;
  #rowRepeats = 1;
  #isHidden = false;
  #column = 0;
  #cells: SheetCell[] = [];
  #cell: OpenCell | null = null;
  #paragraphs = 0;
  #outside = 0;
  #columns = 0;
  #tables = 0;

  constructor(sheet: SheetText) {
    this.#sheet = sheet;
  }

  /** Whether no table inside the table is open. */
  get isAtTop(): boolean {
    return this.#tables === 0;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#outside > 0 || NO_TEXT.includes(name)) this.#outside += 1;
    else if (name === 'table') this.#tables += 1;
    else if (this.#tables > 0) return;
    else if (name === 'table-column') this.#openColumns(attributes);
    else if (name === 'table-row') {
      this.#rowRepeats = repeatsOf(attributes['table:number-rows-repeated']);
      this.#isHidden = isHidden(attributes);
      this.#cells = [];
      this.#column = 0;
    } else if (name === 'table-cell' || name === 'covered-table-cell') this.#openCell(attributes);
    else if (this.#cell && name === 'p') {
      if (this.#cell.hasText) this.#cell.text += ' ';
      this.#cell.hasText = true;
      this.#paragraphs += 1;
    } else if (this.#cell && (name === 's' || name === 'tab' || name === 'line-break'))
      this.#cell.text += ' ';
  }

  close(name: string): void {
    if (this.#outside > 0) this.#outside -= 1;
    else if (name === 'table') this.#tables -= 1;
    else if (this.#tables > 0) return;
    else if (name === 'p' && this.#cell) this.#paragraphs -= 1;
    else if (name === 'table-cell' || name === 'covered-table-cell') this.#closeCell();
    else if (name === 'table-row') {
      if (this.#cells.length > 0)
        for (let repeat = 1; repeat <= this.#rowRepeats; repeat += 1)
          this.#sheet.add(this.#row + repeat, this.#cells, this.#isHidden);
      this.#row += this.#rowRepeats;
    }
  }

  text(piece: string): void {
    if (this.#cell === null || this.#paragraphs === 0 || this.#outside > 0 || this.#tables > 0) return;
    if (this.#cell.text.length < LONGEST_TEXT) this.#cell.text += piece;
  }

  #openColumns(attributes: Readonly<Record<string, string>>): void {
    const from = this.#columns;
    this.#columns += repeatsOf(attributes['table:number-columns-repeated']);
    if (isHidden(attributes)) this.#sheet.hideColumns({ from, to: this.#columns - 1 });
  }

  #openCell(attributes: Readonly<Record<string, string>>): void {
    const type = attributes['calcext:value-type'] ?? attributes['office:value-type'] ?? '';
    const value =
      attributes['office:value'] ??
      attributes['office:date-value'] ??
      attributes['office:time-value'] ??
      attributes['office:boolean-value'] ??
      '';
    const wide = Number(attributes['table:number-columns-spanned'] ?? 1);
    const high = Number(attributes['table:number-rows-spanned'] ?? 1);
    if (wide > 1 || high > 1) this.#sheet.merge(this.#rangeFrom(wide, high));
    this.#paragraphs = 0;
    this.#cell = {
      type,
      value,
      hasFormula: attributes['table:formula'] !== undefined,
      repeats: repeatsOf(attributes['table:number-columns-repeated']),
      text: '',
      hasText: false,
    };
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = null;
    if (cell === null) return;
    const text = textOf(cell, this.#row + 1, this.#column);
    const isNumber = ['float', 'percentage', 'currency'].includes(cell.type);
    if (text !== '')
      // one too many columns is refused, however many follow
      for (let repeat = 0; repeat < Math.min(cell.repeats, 1000); repeat += 1)
        this.#cells.push({ column: this.#column + repeat, text, isNumber });
    this.#column += cell.repeats;
  }

  #rangeFrom(wide: number, high: number): string {
    const [row, column] = [this.#row + 1, this.#column];
    return `${cellName(row, column)}:${cellName(row + high - 1, column + wide - 1)}`;
  }
}

const isHidden = (attributes: Readonly<Record<string, string>>) =>
  (attributes['table:visibility'] ?? 'visible') !== 'visible';

function repeatsOf(text: string | undefined): number {
  const repeats = Number(text ?? 1);
  if (!Number.isInteger(repeats) || repeats < 1 || repeats > 2_000_000)
    throw new WorkbookError('the workbook repeats a row or column too often: it is damaged');
  return repeats;
}

/** What a cell shows, without thousands separators; empty for an empty cell. */
function textOf({ type, value, text, hasFormula }: OpenCell, row: number, column: number): string {
  const bad = (why: string) => badCell(row, column, why);
  const shown = cellText(text);
  switch (type) {
    case '':
      return hasFormula && shown === '' ? bad(NO_VALUE) : shown;
    case 'error':
      return bad(shows(shown || 'of a formula'));
    case 'boolean':
      return value === 'true' ? 'TRUE' : 'FALSE';
    case 'date':
      return value.replace('T', ' ').replace(/ 00:00:00(?:\.0+)?$/, '');
    case 'time':
      return shown;
    case 'float':
    case 'percentage':
    case 'currency': {
      const number = decimalOf(value);
      if (number === null) return shown;
      if (hasLostDigits(number)) return bad(LOST_DIGITS);
      return shown.length > LONGEST_NUMBER ? plainText(number) : shownNumber(number, shown);
    }
    default:
      return shown;
  }
}

/**
 * A number as its cell shows it, with a decimal point and without thousands separators, in whatever language the cell was
 * written: the number of decimals is the one with which it has the same digits. A number whose cell shows other digits, such
 * as `1E+15`, is written in full.
 */
function shownNumber(number: Decimal, shown: string): string {
  const isPercent = shown.includes('%');
  const value = isPercent ? shifted(number, 2) : number;
  const digits = shown.replaceAll(/\D/g, '');
  const [first, end] = digitsIn(shown);
  // nothing but its decimal sign says how many decimals a zero has
  const sign = shown.slice(first, end).search(/[.,]\d*$/);
  const least = value.digits === '' && sign !== -1 ? end - first - sign - 1 : 0;
  for (let places = least; places <= 15; places += 1) {
    const { whole, fraction } = rounded(value, places);
    const zeros = digits.length - whole.length - places;
    if (zeros < 0) break;
    if ('0'.repeat(zeros) + whole + fraction !== digits) continue;
    const minus = number.isNegative && /[1-9]/.test(digits) ? '-' : '';
    const around = (text: string) => text.replaceAll(/[-−()]/g, '');
    const padded = digits.slice(0, digits.length - places) || '0';
    const decimals = places === 0 ? '' : `.${fraction}`;
    return `${minus}${around(shown.slice(0, first))}${padded}${decimals}${around(shown.slice(end))}`.trim();
  }
  return plainText(value) + (isPercent ? '%' : '');
}

/** Where the digits of a text begin and end. */
function digitsIn(text: string): [first: number, end: number] {
  const isDigit = (at: number) => /\d/.test(text.charAt(at));
  let [first, end] = [0, text.length];
  while (first < end && !isDigit(first)) first += 1;
  while (end > first && !isDigit(end - 1)) end -= 1;
  return [first, end];
}
