import type PDFDocument from 'pdfkit';
import type { Typeface, Weight } from './typeface.ts';
import { graphemesOf } from './writing.ts';

type Document = PDFKit.PDFDocument;

/** The style of a text. */
export interface TextStyle {
  /** Points. */
  readonly size: number;
  readonly weight: Weight;
  readonly colour: string;
}

/** Draws texts of any script on the pages of a document. Lengths are points, from the upper left corner. */
export interface Pen {
  readonly document: Document;
  width(text: string, style: TextStyle): number;
  /** Draws a line of letters on `baseline`. */
  line(text: string, style: TextStyle, at: { readonly x: number; readonly baseline: number }): void;
  /** Breaks a text into lines no wider than `width`, between words, or within a word that is longer than a line. */
  lines(text: string, style: TextStyle, width: number): string[];
}

/** The pen of a document, with the fonts of its typeface. */
export function penOf(document: InstanceType<typeof PDFDocument>, typeface: Typeface): Pen {
  for (const [name, font] of typeface.fonts) document.registerFont(name, font);
  const widths = new Map<string, number>();
  const measure = (text: string, { size, weight }: TextStyle): number =>
    typeface
      .runs(text, weight)
      .reduce((sum, run) => sum + document.font(run.font, size).widthOfString(run.text), 0);
  const width = (text: string, style: TextStyle): number => {
    const key = `${style.size} ${style.weight} ${text}`;
    const found = widths.get(key) ?? measure(text, style);
    widths.set(key, found);
    return found;
  };
  return {
    document,
    width,
    lines: (text, style, most) => broken(typeface.written(text), most, (part) => measure(part, style)),
    line(text, style, { x, baseline }) {
      let left = x;
      for (const run of typeface.runs(text, style.weight)) {
        document.font(run.font, style.size).fillColor(style.colour);
        document.text(run.text, left, baseline, { lineBreak: false, baseline: 'alphabetic' });
        left += document.widthOfString(run.text);
      }
    },
  };
}

function broken(text: string, most: number, widthOf: (text: string) => number): string[] {
  if (widthOf(text) <= most) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (widthOf(longer) <= most) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const grapheme of graphemesOf(word)) {
      if (line !== '' && widthOf(line + grapheme) > most) {
        lines.push(line);
        line = '';
      }
      line += grapheme;
    }
  }
  return [...lines, line];
}
