const QUOTE = 34;
const COMMA = 44;
const LF = 10;
const CR = 13;

/** The result of scanning at a position. `cells` are the complete cells of the record. */
export type Scanned =
  | {
      readonly kind: 'record';
      readonly cells: string[];
      /** The index after the record and its line end. */
      readonly next: number;
      /** Line ends inside quotes, plus the record's own. */
      readonly lineEnds: number;
      /** Whether the record ended with a line end rather than with the text. */
      readonly hasEnd: boolean;
    }
  /** The text ends inside the record; `quote` is the index of the open quote, or -1. */
  | { readonly kind: 'unfinished'; readonly cells: string[]; readonly quote: number }
  | { readonly kind: 'wrong'; readonly cells: string[]; readonly at: number; readonly rule: string };

/**
 * Scans the CSV record (RFC 4180) that begins at `start`. `separator` is a UTF-16 code, by default the comma. Without
 * `isEnd` more text may follow, so a record that ends only with the text is unfinished.
 */
export function scanRecord(text: string, start: number, isEnd: boolean, separator = COMMA): Scanned {
  const cells: string[] = [];
  let lineEnds = 0;
  for (let from = start; ; ) {
    let at = nextMark(text, from, separator);
    let cell = text.slice(from, at).trim();
    if (text.charCodeAt(at) === QUOTE) {
      if (cell !== '') return { kind: 'wrong', cells, at, rule: QUOTE_INSIDE };
      const close = closingQuote(text, at);
      if (close === -1) return { kind: 'unfinished', cells, quote: at };
      const inside = text.slice(at + 1, close);
      cell = inside.includes('"') ? inside.replaceAll('""', '"') : inside;
      lineEnds += countLineEnds(inside);
      at = nextMark(text, close + 1, separator);
      const isClean = text.charCodeAt(at) !== QUOTE && text.slice(close + 1, at).trim() === '';
      if (!isClean) return { kind: 'wrong', cells, at: close + 1, rule: afterQuote(separator) };
    }
    const mark = text.charCodeAt(at);
    const isOpen = at === text.length || (mark === CR && at === text.length - 1); // an LF may follow a CR
    if (isOpen && !isEnd) return { kind: 'unfinished', cells, quote: -1 };
    cells.push(cell);
    if (mark !== separator) {
      const hasEnd = at < text.length;
      const next = at + (hasEnd ? 1 : 0) + (mark === CR && text.charCodeAt(at + 1) === LF ? 1 : 0);
      return { kind: 'record', cells, next, lineEnds: lineEnds + 1, hasEnd };
    }
    from = at + 1;
  }
}

const QUOTE_INSIDE = 'a quote inside a cell: double it and put the cell in quotes';
const afterQuote = (separator: number) =>
  `only a ${separator === COMMA ? 'comma' : 'separator'} or the line end may follow a closing quote; a quote inside is doubled`;

/** The index of the next separator, quote or line end, or the text's length. */
function nextMark(text: string, from: number, separator: number): number {
  const highest = Math.max(separator, QUOTE);
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= highest && (code === separator || code === LF || code === CR || code === QUOTE)) return at;
  }
  return text.length;
}

function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text.charCodeAt(at + 1) !== QUOTE) return at;
  }
  return -1;
}

function countLineEnds(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
