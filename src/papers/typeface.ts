import { readFile } from 'node:fs/promises';
import anyAscii from 'any-ascii';
import { create } from 'fontkit';
import subsetFont from 'subset-font';
import { visible } from '../kernel/visible.ts';
import { type Face, facesFor } from './faces.ts';
import { type Level, levelsOf, shaped } from './writing.ts';

export type Weight = 'regular' | 'strong';
const WEIGHTS: Readonly<Record<Weight, number>> = { regular: 400, strong: 600 };

/** A piece of a line in one font. */
export interface Run {
  /** The name of its font in `fonts`. */
  readonly font: string;
  readonly text: string;
}

/** The fonts of a document, and which of them its texts use. */
export interface Typeface {
  /** By name: TrueType, with only the characters of the document. */
  readonly fonts: ReadonlyMap<string, Buffer>;
  /** The pieces of a line from left to right. */
  runs(text: string, weight: Weight): Run[];
  /** The text as drawn: characters without a font are written in Latin letters. */
  written(text: string): string;
  /** Whether any text was rewritten. */
  readonly isRewritten: boolean;
}

/** A text on one line, composed (NFC) and without invisible characters. */
const tidy = (text: string) => visible(text.normalize('NFC')).replaceAll(/\s+/g, ' ');

const charactersOf = (texts: Iterable<string>) => new Set([...texts].flatMap((text) => [...tidy(text)]));

/** Marks and joiners belong to the preceding letter, so they are drawn with its font. */
const JOINS = /^[\p{M}\u200c\u200d]$/u;
/** Drawn for a character without a font and without Latin letters. */
const UNKNOWN = '\ufffd';
const LATIN = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('') + UNKNOWN;

/** The fonts for texts of both weights. `strong` is a subset of `all`. */
export async function typefaceFor(all: readonly string[], strong: readonly string[]): Promise<Typeface> {
  const characters = charactersOf([...all, LATIN]);
  const { covered, missing } = await cover(characters);
  const fonts = new Map<string, Buffer>();
  for (const [face, { font }] of covered) fonts.set(fontName(face, 'regular'), font);
  const strongCharacters = charactersOf([...strong, LATIN]);
  for (const [face, { has }] of covered) {
    const wanted = [...strongCharacters].filter((each) => has.has(each)).join('');
    if (wanted !== '') fonts.set(fontName(face, 'strong'), await instance(face, wanted, 'strong'));
  }
  const written = (text: string) => rewrite(tidy(text), missing);
  return {
    fonts,
    written,
    isRewritten: missing.size > 0,
    runs: (text, weight) => runsOf(written(text), weight, [...covered]),
  };
}

const fontName = (face: Face, weight: Weight) => `${face.name}-${weight}`;

function instance(face: Face, text: string, weight: Weight): Promise<Buffer> {
  return readFile(face.file).then((file) =>
    subsetFont(file, text, { targetFormat: 'sfnt', variationAxes: { wght: WEIGHTS[weight] } }),
  );
}

interface Covered {
  readonly font: Buffer;
  /** The characters it is drawn for. */
  readonly has: ReadonlySet<string>;
}

/** The faces for some characters, and the characters that no face has. */
async function cover(
  characters: ReadonlySet<string>,
): Promise<{ covered: ReadonlyMap<Face, Covered>; missing: ReadonlySet<string> }> {
  const missing = new Set(characters);
  const covered = new Map<Face, Covered>();
  for (const face of facesFor([...characters].join(''))) {
    const claimed = [...characters].filter((each) => face.claims(each.codePointAt(0) ?? 0));
    if (!claimed.some((each) => missing.has(each))) continue;
    const wanted = claimed.filter((each) => missing.has(each) || JOINS.test(each));
    const font = await instance(face, wanted.join(''), 'regular');
    const has = charactersIn(font);
    if (has.size === 0) continue;
    covered.set(face, { font, has });
    for (const each of has) missing.delete(each);
  }
  return { covered, missing };
}

/** The characters that a font can draw. */
function charactersIn(font: Buffer): ReadonlySet<string> {
  try {
    const read = create(font);
    return new Set('characterSet' in read ? read.characterSet.map((each) => String.fromCodePoint(each)) : []);
  } catch {
    return new Set(); // fontkit cannot read a font without characters
  }
}

function rewrite(text: string, missing: ReadonlySet<string>): string {
  if (missing.size === 0) return text;
  return [...text]
    .map((each) => {
      if (!missing.has(each)) return each;
      return JOINS.test(each) ? '' : anyAscii(each) || UNKNOWN;
    })
    .join('');
}

function runsOf(text: string, weight: Weight, covered: readonly (readonly [Face, Covered])[]): Run[] {
  const pieces: { face: Face; text: string; level: Level }[] = [];
  const levels = levelsOf(text);
  let index = 0;
  for (const character of text) {
    const level = levels[index] ?? 0;
    index += character.length;
    const last = pieces.at(-1);
    const stays =
      last !== undefined &&
      JOINS.test(character) &&
      covered.some(([face, { has }]) => face === last.face && has.has(character));
    const face = stays ? last.face : covered.find(([, { has }]) => has.has(character))?.[0];
    if (face === undefined) throw new Error(`no font for U+${character.codePointAt(0)?.toString(16)}`);
    if (last !== undefined && last.face === face && last.level === level) last.text += character;
    else pieces.push({ face, text: character, level });
  }
  return shaped(pieces).map((piece) => ({ font: fontName(piece.face, weight), text: piece.text }));
}
