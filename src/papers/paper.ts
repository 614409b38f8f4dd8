/**
 * A document for people to keep: what it says, apart from how it looks. `pdfOf` and `pageOf` make a PDF and a page for the
 * browser of it. All texts are plain, in any script.
 */
export interface Paper {
  /** What it is: its heading. */
  readonly title: string;
  /** What it is called among others of its kind: in the properties of the file and at the foot of every page. */
  readonly name: string;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  readonly parties: readonly Party[];
  readonly facts: readonly Fact[];
  readonly tables: readonly Table[];
  /** Sentences below everything else. */
  readonly notes: readonly string[];
}

/** Whom a document is from or for. */
export interface Party {
  readonly label: string;
  readonly name: string;
  /** What is below the name: address, numbers. */
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
  /** Figures stand to the right and are never broken. */
  readonly isFigure?: boolean;
}

export interface Row {
  /** One text for each column. */
  readonly cells: readonly string[];
  /** It sums the others up. */
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
