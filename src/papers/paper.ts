/**
 * A document: its content, independent of its layout. `pdfOf` and `pageOf` render it as a PDF and as a web page. All
 * texts are plain, in any script.
 */
export interface Paper {
  /** The heading. */
  readonly title: string;
  /** The name that distinguishes it from others, in the file's properties and at the foot of every page. */
  readonly name: string;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  readonly parties: readonly Party[];
  readonly facts: readonly Fact[];
  readonly tables: readonly Table[];
  /** Sentences below everything else. */
  readonly notes: readonly string[];
}

/** The sender or recipient of a document. */
export interface Party {
  readonly label: string;
  readonly name: string;
  /** The lines below the name: address, numbers. */
  readonly lines: readonly string[];
}

export type Fact = readonly [name: string, value: string];

export interface Table {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  readonly title: string;
  /** Figures are right-aligned and never broken. */
  readonly isFigure?: boolean;
}

export interface Row {
  /** One text for each column. */
  readonly cells: readonly string[];
  /** Whether it sums the others. */
  readonly isSum?: boolean;
}

/** Digits of a decimal in groups of three: `-1234567.50` -> `-1,234,567.50`. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const sign = whole.startsWith('-') ? 1 : 0;
  let groups = whole;
  for (let at = whole.length - 3; at > sign; at -= 3) groups = `${groups.slice(0, at)},${groups.slice(at)}`;
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}
