import type { Column, Row, Table } from './paper.ts';
import type { Pen, TextStyle } from './pen.ts';
import { BOTTOM, LEFT, LINE, type Sheet, WIDTH } from './sheet.ts';

/** The styles of the parts of a table. */
interface TableStyles {
  readonly title: TextStyle;
  readonly cell: TextStyle;
  readonly label: TextStyle;
}

const LEADING = 1.35;
const PADDING = 4;
const GAP = 10;

/** Draws a table with its title. Its head is repeated on every page. */
export function drawTable(sheet: Sheet, table: Table, styles: TableStyles): void {
  const { pen } = sheet;
  const widths = widthsOf(pen, table, styles);
  // a title stays together with its head and its first two rows
  if (sheet.y + styles.title.size * 2 + rowHeight(1, styles) * 3 > BOTTOM) sheet.turn();
  sheet.tag('H2', table.title, () =>
    pen.line(table.title, styles.title, { x: LEFT, baseline: sheet.y + styles.title.size }),
  );
  sheet.y += styles.title.size * 1.8;
  const element = sheet.open('Table');
  drawHead(sheet, table, { widths, styles, into: element });
  for (const row of table.rows) drawRow(sheet, { row, table, widths, styles, into: element });
  element.end();
  sheet.y += 18;
}

interface Drawn {
  readonly widths: readonly number[];
  readonly styles: TableStyles;
  readonly into: PDFKit.PDFStructureElement;
}

const styleOf = ({ isSum }: Row, { cell }: TableStyles): TextStyle =>
  isSum ? { ...cell, weight: 'strong' } : cell;
const rowHeight = (lines: number, { cell }: TableStyles) => lines * cell.size * LEADING + 2 * PADDING;

/**
 * Figures get the width they need. Of the rest, columns that need less than an equal share get their width, and leave
 * more to the others.
 */
function widthsOf(pen: Pen, { columns, rows }: Table, styles: TableStyles): number[] {
  const natural = columns.map(({ title }, index) =>
    Math.max(
      pen.width(title, styles.label),
      ...new Set(rows.map((row) => pen.width(row.cells[index] ?? '', styleOf(row, styles)))),
    ),
  );
  const gaps = GAP * (columns.length - 1);
  const figures = natural.reduce((sum, width, index) => sum + (columns[index]?.isFigure ? width : 0), 0);
  const words = natural.filter((_, index) => !columns[index]?.isFigure).sort((a, b) => a - b);
  let room = WIDTH - gaps - figures;
  let share = 0;
  for (const [index, width] of words.entries()) {
    share = room / (words.length - index);
    if (width > share) break;
    room -= width;
    share = Number.POSITIVE_INFINITY;
  }
  const last = columns.findLastIndex(({ isFigure }) => !isFigure);
  // spare width is added in front of the last figures, which end at the margin
  const spare = share === Number.POSITIVE_INFINITY ? room : 0;
  return natural.map((width, index) => {
    if (columns[index]?.isFigure) return width;
    return Math.min(width, share) + (index === last ? spare : 0);
  });
}

function drawHead(sheet: Sheet, { columns }: Table, { widths, styles, into }: Drawn): void {
  const row = sheet.open('TR', into);
  eachCell(columns, widths, (column, index, x) => {
    const width = widths[index] ?? 0;
    const left = column.isFigure ? x + width - sheet.pen.width(column.title, styles.label) : x;
    const draw = () =>
      sheet.pen.line(column.title, styles.label, { x: left, baseline: sheet.y + styles.label.size });
    sheet.tag('TH', column.title, draw, row);
  });
  row.end();
  sheet.y += styles.label.size * LEADING + 2;
  rule(sheet, 0.8);
}

/** The head on a page after the first: visible, but not read aloud again. */
function repeatHead(sheet: Sheet, { columns }: Table, { widths, styles }: Drawn): void {
  const { pen } = sheet;
  pen.document.markContent('Artifact', { type: 'Layout' });
  eachCell(columns, widths, (column, index, x) => {
    const width = widths[index] ?? 0;
    const left = column.isFigure ? x + width - pen.width(column.title, styles.label) : x;
    pen.line(column.title, styles.label, { x: left, baseline: sheet.y + styles.label.size });
  });
  pen.document.endMarkedContent();
  sheet.y += styles.label.size * LEADING + 2;
  rule(sheet, 0.8);
}

function drawRow(
  sheet: Sheet,
  { row, table, ...drawn }: Drawn & { readonly row: Row; readonly table: Table },
): void {
  const { pen } = sheet;
  const { widths, styles, into } = drawn;
  const style = styleOf(row, styles);
  const cells = row.cells.map((text, index) =>
    table.columns[index]?.isFigure ? [text] : pen.lines(text, style, widths[index] ?? 0),
  );
  const height = rowHeight(Math.max(...cells.map((lines) => lines.length)), styles);
  if (sheet.y + height > BOTTOM) {
    sheet.turn();
    repeatHead(sheet, table, drawn);
  }
  const element = sheet.open('TR', into);
  eachCell(table.columns, widths, (column, index, x) => {
    const width = widths[index] ?? 0;
    sheet.tag(
      'TD',
      row.cells[index] ?? '',
      () => {
        for (const [line, text] of (cells[index] ?? []).entries()) {
          const left = column.isFigure ? x + width - pen.width(text, style) : x;
          pen.line(text, style, {
            x: left,
            baseline: sheet.y + PADDING + style.size + line * style.size * LEADING,
          });
        }
      },
      element,
    );
  });
  element.end();
  sheet.y += height;
  rule(sheet, row.isSum ? 0.8 : 0.4);
}

function eachCell(
  columns: readonly Column[],
  widths: readonly number[],
  draw: (column: Column, index: number, x: number) => void,
): void {
  let x = LEFT;
  for (const [index, column] of columns.entries()) {
    draw(column, index, x);
    x += (widths[index] ?? 0) + GAP;
  }
}

/** A horizontal line across the page. */
function rule({ pen: { document }, y }: Sheet, thickness: number): void {
  document.markContent('Artifact', { type: 'Layout' });
  document
    .moveTo(LEFT, y)
    .lineTo(LEFT + WIDTH, y)
    .lineWidth(thickness)
    .strokeColor(LINE)
    .stroke();
  document.endMarkedContent();
}
