import { decimalOf, hasLostDigits } from './decimals.ts';
import { builtInFormat, formatOf, type NumberFormat, shownDate, shownNumber } from './number-format.ts';
import {
  badCell,
  cellText,
  LOST_DIGITS,
  NO_VALUE,
  type SheetCell,
  type SheetText,
  shows,
} from './sheet-text.ts';
import { chosenSheet, type Sheet } from './sheets.ts';
import { WorkbookError } from './workbook-error.ts';
import { readXml } from './xml.ts';
import { type Archive, tooLarge } from './zip.ts';

const MOST_TEXT = 100 * 2 ** 20;

/** What cells of a workbook refer to. */
interface Book {
  readonly is1904: boolean;
  readonly sheets: readonly (Sheet & { readonly part: string })[];
  /** By the number of the style. */
  readonly formats: readonly NumberFormat[];
  readonly texts: readonly string[];
}

/** Reads a sheet of an Excel workbook (ECMA-376, .xlsx) row by row. Throws WorkbookError. */
export async function readXlsx(
  archive: Archive,
  wanted: string | null,
  text: SheetText,
): Promise<{ readonly sheets: readonly Sheet[]; readonly sheet: string }> {
  const { book, stylesPart, textsPart } = await readBook(archive);
  const sheet = chosenSheet(book.sheets, wanted);
  const { part } = book.sheets.find(({ name }) => name === sheet) ?? { part: '' };
  const formats = stylesPart === null ? [] : await readStyles(archive, stylesPart);
  const texts = textsPart === null ? [] : await readTexts(archive, textsPart);
  await readSheet(archive, part, { ...book, formats, texts }, text);
  return { sheets: book.sheets.map(({ name, isHidden }) => ({ name, isHidden })), sheet };
}

/** The parts that a part refers to, by relationship id: ECMA-376 part 2, 9.3. */
async function relationsOf(archive: Archive, part: string) {
  const at = part.lastIndexOf('/') + 1;
  const folder = part.slice(0, at);
  const relations: { id: string; type: string; target: string }[] = [];
  await readXml(archive.text(`${folder}_rels/${part.slice(at)}.rels`), {
    open: (name, { Id = '', Type = '', Target = '' }) => {
      if (name !== 'Relationship') return;
      const path = Target.startsWith('/') ? Target.slice(1) : folder + Target;
      relations.push({ id: Id, type: Type.slice(Type.lastIndexOf('/') + 1), target: withoutDots(path) });
    },
  });
  return relations;
}

/** A path without `..`. */
function withoutDots(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

async function readBook(archive: Archive) {
  const [main] = (await relationsOf(archive, '')).filter(({ type }) => type === 'officeDocument');
  if (main === undefined) throw new WorkbookError('the workbook has no sheets: it is damaged');
  const relations = await relationsOf(archive, main.target);
  const worksheets = new Map(
    relations.flatMap(({ id, type, target }) => (type === 'worksheet' ? [[id, target] as const] : [])),
  );
  const sheets: (Sheet & { part: string })[] = [];
  let is1904 = false;
  await readXml(archive.text(main.target), {
    open: (name, attributes) => {
      if (name === 'workbookPr') is1904 = isTrue(attributes.date1904);
      if (name !== 'sheet') return;
      const [, id] = Object.entries(attributes).find(([key]) => key.endsWith(':id')) ?? [];
      const part = worksheets.get(id ?? '');
      const isHidden = (attributes.state ?? 'visible') !== 'visible';
      if (part !== undefined) sheets.push({ name: attributes.name ?? '', isHidden, part });
    },
  });
  const partOf = (wanted: string) => relations.find(({ type }) => type === wanted)?.target ?? null;
  return {
    book: { is1904, sheets },
    stylesPart: partOf('styles'),
    textsPart: partOf('sharedStrings'),
  };
}

const isTrue = (value: string | undefined) => value === '1' || value === 'true';

async function readStyles(archive: Archive, part: string): Promise<NumberFormat[]> {
  const own = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let isOfCells = false;
  await readXml(archive.text(part), {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      if (name === 'numFmt') own.set(Number(numFmtId), formatOf(formatCode));
      else if (name === 'cellXfs') isOfCells = true;
      else if (name === 'xf' && isOfCells)
        formats.push(own.get(Number(numFmtId)) ?? builtInFormat(Number(numFmtId)));
    },
    close: (name) => {
      if (name === 'cellXfs') isOfCells = false;
    },
  });
  return formats;
}

/** A character as Excel escapes it: `_x000D_`. */
const unescaped = (text: string) =>
  text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

async function readTexts(archive: Archive, part: string): Promise<string[]> {
  const texts: string[] = [];
  let length = 0;
  let text: string | null = null;
  let isShown = false;
  let phonetic = 0;
  await readXml(archive.text(part), {
    open: (name) => {
      if (name === 'si') text = '';
      // how a text is pronounced, which is not its content
      else if (name === 'rPh') phonetic += 1;
      else if (name === 't') isShown = phonetic === 0;
    },
    close: (name) => {
      if (name === 'rPh') phonetic -= 1;
      else if (name === 't') isShown = false;
      else if (name === 'si') {
        texts.push(unescaped(text ?? ''));
        text = null;
      }
    },
    text: (piece) => {
      if (text === null || !isShown) return;
      text += piece;
      length += piece.length;
      if (length > MOST_TEXT) throw tooLarge();
    },
  });
  return texts;
}

/** A cell that is being read. */
interface OpenCell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  value: string | null;
  hasFormula: boolean;
  inline: string;
}

/** Reads the rows of a sheet. Cells are elements `c` of type `t`: ECMA-376 part 1, 18.3.1.4. */
async function readSheet(archive: Archive, part: string, book: Book, sheet: SheetText): Promise<void> {
  let row = 0;
  let isHidden = false;
  let cells: SheetCell[] = [];
  let next = 0;
  let cell: OpenCell | null = null;
  let into: 'value' | 'inline' | null = null;
  let phonetic = 0;
  await readXml(archive.text(part), {
    open: (name, attributes) => {
      if (name === 'row') {
        row = attributes.r === undefined ? row + 1 : Number(attributes.r);
        isHidden = isTrue(attributes.hidden);
        [cells, next] = [[], 0];
      } else if (name === 'c') {
        const column = attributes.r === undefined ? next : columnOf(attributes.r);
        next = column + 1;
        const { t: type = 'n', s: style = '0' } = attributes;
        cell = { column, type, style: Number(style), value: null, hasFormula: false, inline: '' };
      } else if (name === 'f' && cell) cell.hasFormula = true;
      else if (name === 'v' && cell) {
        cell.value = '';
        into = 'value';
      } else if (name === 'rPh') phonetic += 1;
      else if (name === 't' && cell && phonetic === 0) into = 'inline';
      else if (name === 'col' && isTrue(attributes.hidden))
        sheet.hideColumns({ from: Number(attributes.min) - 1, to: Number(attributes.max) - 1 });
      else if (name === 'mergeCell') sheet.merge(attributes.ref ?? '');
    },
    close: (name) => {
      if (name === 'v' || name === 't') into = null;
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 'c' && cell) {
        const text = textOf(cell, row, book);
        const isNumber = cell.type === 'n';
        if (text !== '') cells.push({ column: cell.column, text, isNumber });
        cell = null;
      } else if (name === 'row' && cells.length > 0) sheet.add(row, cells, isHidden);
    },
    text: (piece) => {
      if (cell === null || into === null) return;
      if (into === 'value') cell.value += piece;
      else cell.inline += piece;
    },
  });
}

/** The column of a cell, from 0: 27 for `AB7`. */
function columnOf(name: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(name)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64;
  if (column === 0)
    throw new WorkbookError(`the sheet has a cell named ${JSON.stringify(name.slice(0, 20))}`);
  return column - 1;
}

/** What a cell shows, without thousands separators; empty for an empty cell. */
function textOf(cell: OpenCell, row: number, { texts, formats, is1904 }: Book): string {
  const { type, value, column, style } = cell;
  const bad = (why: string) => badCell(row, column, why);
  if (type === 'inlineStr') return cellText(unescaped(cell.inline));
  // some programs write an empty number for a formula that they did not calculate
  if (value === null || (value === '' && type === 'n')) return cell.hasFormula ? bad(NO_VALUE) : '';
  switch (type) {
    case 's':
      return cellText(texts[Number(value)] ?? '');
    case 'str':
      return cellText(unescaped(value));
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'e':
      return bad(shows(value));
    case 'd':
      return value.replace('T', ' ').replace(/ 00:00:00(?:\.0+)?$/, '');
    default:
      return numberText(value, formats[style] ?? { kind: 'general' }, is1904, bad);
  }
}

function numberText(
  value: string,
  format: NumberFormat,
  is1904: boolean,
  bad: (why: string) => string,
): string {
  const number = decimalOf(value);
  if (number === null) return bad(`has the number ${JSON.stringify(value.slice(0, 20))}`);
  if (format.kind === 'date')
    return shownDate(Number(value), format, is1904) ?? bad('has a date format and a number that is no date');
  return hasLostDigits(number) ? bad(LOST_DIGITS) : shownNumber(number, format);
}
