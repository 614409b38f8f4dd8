import { createRequire } from 'node:module';

// Noto Sans: the Fontsource packages, and the slices of each that are used. A slice is a small file.
const SCRIPTS: readonly (readonly [name: string, slices: readonly string[]])[] = [
  [
    'noto-sans',
    ['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'vietnamese', 'devanagari'],
  ],
  ['noto-sans-arabic', ['arabic']],
  ['noto-sans-hebrew', ['hebrew']],
  ['noto-sans-armenian', ['armenian']],
  ['noto-sans-georgian', ['georgian']],
  ['noto-sans-thai', ['thai']],
  ['noto-sans-bengali', ['bengali']],
  ['noto-sans-tamil', ['tamil']],
  ['noto-sans-telugu', ['telugu']],
];

/** Files of these have numbers: the Han characters are spread over a hundred files. */
const HAN = { sc: 'noto-sans-sc', jp: 'noto-sans-jp', kr: 'noto-sans-kr' } as const;

/** A file with some of the characters of a typeface, in all weights. */
export interface Face {
  readonly name: string;
  /** Its path: WOFF2, with an axis `wght`. */
  readonly file: string;
  /** Whether its description lists the character. The file itself may still lack it. */
  claims(codePoint: number): boolean;
}

const { resolve } = createRequire(import.meta.url);
const load = createRequire(import.meta.url);
const known = new Map<string, readonly Face[]>();

/**
 * The faces that may contain the characters of a text, preferred first. China, Japan and Korea write the same Han
 * characters differently: the other letters of the text decide which is used.
 */
export function facesFor(text: string): Face[] {
  const { sc, jp, kr } = HAN;
  const han = /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)
    ? [jp, sc, kr]
    : /\p{Script=Hangul}/u.test(text)
      ? [kr, sc, jp]
      : [sc, jp, kr];
  return [
    ...SCRIPTS.map(([name, slices]) => facesOf(name, slices)),
    ...han.map((name) => facesOf(name)),
  ].flat();
}

function facesOf(name: string, slices?: readonly string[]): readonly Face[] {
  const found = known.get(name);
  if (found !== undefined) return found;
  const described = load(`@fontsource-variable/${name}/unicode.json`) as Readonly<Record<string, string>>;
  const wanted = Object.entries(described).filter(
    ([slice]) => slices?.includes(slice) ?? slice.startsWith('['),
  );
  const faces = wanted.map(([slice, ranges]) =>
    faceOf(`${name}-${slice.replaceAll(/[[\]]/g, '')}`, name, ranges),
  );
  known.set(name, faces);
  return faces;
}

function faceOf(name: string, from: string, described: string): Face {
  const ranges = described.split(',').map((range) => {
    const [first = '', last = first] = range.replace('U+', '').split('-');
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const;
  });
  return {
    name,
    file: resolve(`@fontsource-variable/${from}/files/${name}-wght-normal.woff2`),
    claims: (codePoint) => ranges.some(([first, last]) => codePoint >= first && codePoint <= last),
  };
}
