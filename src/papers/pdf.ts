import { buffer } from 'node:stream/consumers';
import PDFDocument from 'pdfkit';
import type { Paper, Party } from './paper.ts';
import { type Pen, penOf, type TextStyle } from './pen.ts';
import { BOTTOM, INK, LEFT, type Sheet, SOFT, sheetOf, TOP, WIDTH } from './sheet.ts';
import { drawTable } from './table.ts';
import { typefaceFor } from './typeface.ts';

const TITLE: TextStyle = { size: 20, weight: 'strong', colour: INK };
const HEADING: TextStyle = { size: 11, weight: 'strong', colour: INK };
const BODY: TextStyle = { size: 9, weight: 'regular', colour: INK };
const LABEL: TextStyle = { size: 8, weight: 'regular', colour: SOFT };
const STRONG: TextStyle = { size: 10, weight: 'strong', colour: INK };
const LEADING = 1.4;
const GUTTER = 20;

const REWRITTEN = 'Letters missing from the fonts of this document are written in Latin letters.';

/**
 * The document as a tagged PDF 1.7 on A4, complete: nothing is sent before it is finished. Fonts are embedded. Letters of
 * a script without a font are written in Latin letters, and a note says so.
 */
export async function pdfOf(paper: Paper, attachment?: Attachment): Promise<Buffer> {
  const { all, strong } = textsOf(paper);
  const typeface = await typefaceFor(all, strong);
  const document = new PDFDocument({
    size: 'A4',
    margin: 0,
    font: undefined as unknown as string, // otherwise it loads a font that is never used
    bufferPages: true,
    tagged: true,
    lang: 'en',
    displayTitle: true,
    pdfVersion: '1.7',
    ...(attachment === undefined ? {} : { subset: 'PDF/A-3a' as const }),
    info: { Title: paper.name, Producer: 'Payhook', Creator: 'Payhook', CreationDate: new Date(paper.at) },
  });
  const bytes = buffer(document);
  if (attachment !== undefined) attach(document, attachment, paper.at);
  const sheet = sheetOf(penOf(document, typeface));
  drawHead(sheet, paper);
  for (const table of paper.tables) drawTable(sheet, table, { title: HEADING, cell: BODY, label: LABEL });
  for (const note of typeface.isRewritten ? [...paper.notes, REWRITTEN] : paper.notes) drawNote(sheet, note);
  sheet.end();
  drawFeet(sheet.pen, paper);
  document.end();
  return bytes;
}

/** A file inside a PDF, for programs. It makes the PDF a PDF/A-3, which is meant for archiving. */
export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly content: Uint8Array;
  /** The XMP metadata that this kind of attachment requires. */
  readonly metadata: string;
}

function attach(document: PDFKit.PDFDocument, { content, metadata, ...file }: Attachment, at: number): void {
  const day = new Date(at);
  const options = { ...file, relationship: 'Alternative' as const, creationDate: day, modifiedDate: day };
  document.file(Buffer.from(content), options);
  document.appendXML(metadata);
}

/** Every text of a document, and the bold ones. */
function textsOf({ title, name, parties, facts, tables, notes }: Paper): {
  all: string[];
  strong: string[];
} {
  const sums = tables.flatMap(({ rows }) => rows.filter(({ isSum }) => isSum).flatMap(({ cells }) => cells));
  const strong = [
    title,
    ...parties.map((party) => party.name),
    ...tables.map((table) => table.title),
    ...sums,
  ];
  const rest = [
    ...[name, REWRITTEN, ...notes, ...facts.flat()],
    ...parties.flatMap(({ label, lines }) => [label, ...lines]),
    ...tables.flatMap(({ columns, rows }) => [
      ...columns.map((column) => column.title),
      ...rows.flatMap(({ cells }) => cells),
    ]),
  ];
  return { all: [...strong, ...rest], strong };
}

/** Draws lines below each other, each as its own element. Returns where they end. */
function drawLines(
  { pen, tag }: Sheet,
  lines: readonly (readonly [text: string, style: TextStyle, type?: string])[],
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
): number {
  let at = y;
  for (const [text, style, type = 'P'] of lines) {
    const broken = pen.lines(text, style, width);
    tag(type, text, () => {
      for (const line of broken) {
        pen.line(line, style, { x, baseline: at + style.size });
        at += style.size * LEADING;
      }
    });
  }
  return at;
}

function drawHead(sheet: Sheet, { title, parties, facts }: Paper): void {
  const below = drawLines(sheet, [[title, TITLE, 'H1']], { x: LEFT, y: TOP, width: WIDTH }) + 12;
  const width = (WIDTH - GUTTER * (parties.length - 1)) / Math.max(parties.length, 1);
  const ends = parties.map((party, index) =>
    drawLines(sheet, partyLines(party), { x: LEFT + index * (width + GUTTER), y: below, width }),
  );
  let y = Math.max(below, ...ends) + 12;
  const { pen, tag } = sheet;
  const indent = Math.max(0, ...facts.map(([name]) => pen.width(name, LABEL))) + GUTTER;
  for (const [name, value] of facts) {
    tag('P', name, () => pen.line(name, LABEL, { x: LEFT, baseline: y + BODY.size }));
    y = drawLines(sheet, [[value, BODY]], { x: LEFT + indent, y, width: WIDTH - indent });
  }
  sheet.y = y + 14;
}

const partyLines = ({ label, name, lines }: Party): [string, TextStyle][] => [
  [label, LABEL],
  [name, STRONG],
  ...lines.map((line): [string, TextStyle] => [line, BODY]),
];

function drawNote(sheet: Sheet, note: string): void {
  const height = sheet.pen.lines(note, LABEL, WIDTH).length * LABEL.size * LEADING;
  if (sheet.y + height > BOTTOM) sheet.turn();
  sheet.y = drawLines(sheet, [[note, LABEL]], { x: LEFT, y: sheet.y, width: WIDTH }) + 4;
}

/** The name of the document and the page number at the foot of every page. They are not part of its content. */
function drawFeet(pen: Pen, { name }: Paper): void {
  const { document } = pen;
  const { count } = document.bufferedPageRange();
  for (let index = 0; index < count; index += 1) {
    document.switchToPage(index);
    const number = `Page ${index + 1} of ${count}`;
    const baseline = BOTTOM + 28;
    const room = WIDTH - pen.width(number, LABEL) - GUTTER;
    document.markContent('Artifact', { type: 'Pagination' });
    pen.line(pen.lines(name, LABEL, room)[0] ?? '', LABEL, { x: LEFT, baseline });
    pen.line(number, LABEL, { x: LEFT + WIDTH - pen.width(number, LABEL), baseline });
    document.endMarkedContent();
  }
}
