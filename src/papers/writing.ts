import bidiFactory from 'bidi-js';

// its types describe an ES module, while Node gets the CommonJS one, which is the function itself
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)();

/** How deep a character is embedded in text of the other direction (UAX #9): odd = it runs from right to left. */
export type Level = number;

/** The level of each UTF-16 unit of a line, whose own direction is that of its first letter. */
export function levelsOf(text: string): Uint8Array {
  return bidi.getEmbeddingLevels(text, 'auto').levels;
}

interface Piece {
  readonly text: string;
  readonly level: Level;
}

// the fonts with letters that run from right to left have these two scripts alone
const LEFTWARD = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/**
 * The pieces of a line, in the order they are read, from left to right (UAX #9, rule L2), each as the text that fontkit must get.
 * fontkit turns a piece around when its first letter is of a script that runs leftward, so a piece is turned around here
 * where that is not the same.
 */
export function shaped<Each extends Piece>(pieces: readonly Each[]): Each[] {
  const highest = Math.max(0, ...pieces.map(({ level }) => level));
  let ordered = [...pieces];
  for (let level = highest; level > 0; level -= 1) ordered = turned(ordered, level);
  return ordered.map((piece) => {
    const isLeftward = piece.level % 2 === 1;
    const text = isLeftward ? mirrored(piece.text) : piece.text;
    return { ...piece, text: isLeftward === LEFTWARD.test(text) ? text : reversed(text) };
  });
}

/** Turns around each row of neighbours of at least this level. */
function turned<Each extends Piece>(pieces: readonly Each[], level: Level): Each[] {
  const result: Each[] = [];
  let row: Each[] = [];
  for (const piece of pieces) {
    if (piece.level >= level) row.unshift(piece);
    else {
      result.push(...row, piece);
      row = [];
    }
  }
  return [...result, ...row];
}

/** Brackets open to the other side in text from right to left. */
const mirrored = (text: string) =>
  [...text].map((character) => bidi.getMirroredCharacter(character) ?? character).join('');

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The graphemes of a text: what a reader takes for one character. */
export const graphemesOf = (text: string): string[] =>
  [...graphemes.segment(text)].map(({ segment }) => segment);

const reversed = (text: string) => graphemesOf(text).reverse().join('');
