import bidiFactory from 'bidi-js';

// its types describe an ES module, but Node loads the CommonJS one, which is the function itself
const bidi = (bidiFactory as unknown as typeof bidiFactory.default)();

/** The embedding level of a character (UAX #9): odd = right to left. */
export type Level = number;

/** The level of each UTF-16 unit of a line. The base direction is that of its first letter. */
export function levelsOf(text: string): Uint8Array {
  return bidi.getEmbeddingLevels(text, 'auto').levels;
}

interface Piece {
  readonly text: string;
  readonly level: Level;
}

// only these scripts have fonts with right-to-left letters
const LEFTWARD = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/**
 * The pieces of a line, from left to right (UAX #9, rule L2), each as the text to pass to fontkit. fontkit reverses a
 * piece if its first letter is of a right-to-left script, so a piece is reversed here where that differs.
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

/** Reverses each run of neighbours of at least this level. */
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

/** Brackets are mirrored in right-to-left text. */
const mirrored = (text: string) =>
  [...text].map((character) => bidi.getMirroredCharacter(character) ?? character).join('');

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The graphemes of a text: what a reader perceives as one character. */
export const graphemesOf = (text: string): string[] =>
  [...graphemes.segment(text)].map(({ segment }) => segment);

const reversed = (text: string) => graphemesOf(text).reverse().join('');
