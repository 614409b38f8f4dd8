import type { ImportField } from '../../contract/fields.ts';
import { quote, whyUnreadable } from '../../kernel/csv-refusal.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { countryName } from '../../terms/countries.ts';
import { FIELDS, type ImportKind, plain } from './fields.ts';

/** What the words of a file mean: by field, each word with one of ours or `refuse`. */
export type Values = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The meaning of a word whose lines are bad. */
export const REFUSE = 'refuse';

/** How the meaning of a word is known: somebody said it, it is ours, it is a common word for ours, or not at all. */
export const VALUE_SOURCES = ['given', 'exact', 'synonym', 'none'] as const;
export type ValueSource = (typeof VALUE_SOURCES)[number];

/** The languages whose names of countries are known. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pl', 'pt'];

const refuse = (what: string) => fail('invalid_mapping', `values ${what}`);

/** A word normalised for comparison. */
const keyOf = (value: string): string => plain(value) || value.trim().toLowerCase();

/** Whether a field has words of its own that the words of a file are compared with. */
export const hasWords = (field: ImportField | undefined): field is ImportField =>
  field?.type === 'word' || field?.type === 'country';

/** The words of ours that a value of a field can mean; null = the two letters of any country. */
export const ownWords = (field: ImportField): readonly string[] | null =>
  field.words === undefined ? null : Object.keys(field.words);

/** Parses the JSON of the meanings of words. Throws `invalid_mapping`. */
export function parseValues(kind: ImportKind, text: string): Values {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw refuse('is not JSON: {"field": {"word of the file": "word"}}');
  }
  if (!isObject(read)) throw refuse('must be a JSON object');
  return Object.fromEntries(Object.entries(read).map(([name, words]) => [name, wordsOf(kind, name, words)]));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function wordsOf(kind: ImportKind, name: string, words: unknown): Record<string, string> {
  const field = Object.hasOwn(FIELDS[kind], name) ? FIELDS[kind][name] : undefined;
  if (!hasWords(field)) {
    const known = Object.entries(FIELDS[kind]).flatMap(([one, about]) => (hasWords(about) ? [one] : []));
    throw refuse(`names ${quote(name)}, which is no field of words; those are ${known.join(', ')}`);
  }
  if (!isObject(words)) throw refuse(`of ${name} must be an object: {"word of the file": "word"}`);
  return Object.fromEntries(
    Object.entries(words).map(([word, meaning]) => {
      const own = typeof meaning === 'string' ? ownMeaning(field, meaning) : null;
      if (own !== null) return [word, own];
      const allowed = ownWords(field)?.join(', ') ?? 'the two letters of a country (ISO 3166-1)';
      throw refuse(`of ${name}: ${quote(word)} must mean one of ${allowed} or ${REFUSE}`);
    }),
  );
}

function ownMeaning(field: ImportField, meaning: string): string | null {
  const own = ownWords(field);
  if (meaning === REFUSE || own?.includes(meaning)) return meaning;
  const code = meaning.toUpperCase();
  return own === null && countryName(code) !== null ? code : null;
}

/** The meanings of one set, replaced by those of another where both have a word. */
export function mergedValues(values: Values, over: Values): Values {
  const names = new Set([...Object.keys(values), ...Object.keys(over)]);
  return Object.fromEntries([...names].map((name) => [name, { ...values[name], ...over[name] }]));
}

/** A word of a file, and what it means; null = nobody knows, or its lines are refused. */
export interface Meaning {
  readonly means: string | null;
  readonly source: ValueSource;
}

/** Reads the words of a field: what was said of them, else our own words, else common words for them. */
export function meaningsOf(field: ImportField, given: Readonly<Record<string, string>> = {}) {
  const said = new Map(Object.entries(given).map(([word, meaning]) => [keyOf(word), meaning]));
  const common = new Map(
    Object.entries(field.words ?? {}).flatMap(([own, others]) =>
      [own, ...others].map((other) => [plain(other), own] as const),
    ),
  );
  return (value: string): Meaning => {
    const key = keyOf(value);
    const meaning = said.get(key);
    if (meaning !== undefined) return { means: meaning === REFUSE ? null : meaning, source: 'given' };
    const own = field.type === 'country' ? countryOf(value, key) : (common.get(key) ?? null);
    if (own === null) return { means: null, source: 'none' };
    return { means: own, source: key === plain(own) ? 'exact' : 'synonym' };
  };
}

/** The two letters of a country, given by them or by a name. */
function countryOf(value: string, key: string): string | null {
  const code = value.trim().toUpperCase();
  return countryName(code) === null ? (countries().get(key) ?? null) : code;
}

let names: Map<string, string> | undefined; // made when it is needed: it takes some milliseconds

/** Countries by their names in several languages. A name that is another country's in another language is left out. */
function countries(): Map<string, string> {
  if (names) return names;
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => countryName(code) !== null);
  const found = new Map<string, string | null>([
    ['usa', 'US'],
    ['uk', 'GB'],
    ['england', 'GB'],
    ['scotland', 'GB'],
    ['wales', 'GB'],
    ['holland', 'NL'],
  ]);
  for (const language of LANGUAGES) {
    const display = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    for (const code of codes) {
      const name = plain(display.of(code) ?? '');
      const before = found.get(name);
      if (name !== '') found.set(name, before === undefined || before === code ? code : null);
    }
  }
  names = new Map([...found].flatMap(([name, code]) => (code === null ? [] : [[name, code] as const])));
  return names;
}

/** The most different words of a column that are counted; a column with more is no column of words. */
const MOST_WORDS = 1000;

/** Counts the words of a column. */
export class WordCount {
  readonly column: string;
  readonly field: string;
  readonly #index: number;
  readonly #lines = new Map<string, number>();
  #isAll = true;

  constructor(column: string, field: string, index: number) {
    this.column = column;
    this.field = field;
    this.#index = index;
  }

  look(cells: readonly string[]): void {
    const value = cells[this.#index] ?? '';
    if (value === '' || whyUnreadable(value) !== null) return;
    const before = this.#lines.get(value);
    if (before === undefined && this.#lines.size === MOST_WORDS) this.#isAll = false;
    else this.#lines.set(value, (before ?? 0) + 1);
  }

  /** The words with the number of their lines, the most frequent first. */
  get words(): (readonly [word: string, lines: number])[] {
    return [...this.#lines].sort(([, a], [, b]) => b - a);
  }

  /** Whether every word of the file is counted. */
  get isAll(): boolean {
    return this.#isAll;
  }
}

/** A column of words and what each of them means. */
export interface ColumnValues {
  readonly column: string;
  readonly field: string;
  /** The words that can be meant; null = the two letters of any country. */
  readonly words: readonly string[] | null;
  readonly values: readonly (Meaning & { readonly value: string; readonly lines: number })[];
  readonly isAll: boolean;
}

export function columnValues(kind: ImportKind, counted: readonly WordCount[], given: Values): ColumnValues[] {
  return counted.flatMap((one) => {
    const field = FIELDS[kind][one.field];
    if (!hasWords(field)) return [];
    const meaningOf = meaningsOf(field, given[one.field]);
    const values = one.words.map(([value, lines]) => ({ value, lines, ...meaningOf(value) }));
    return [{ column: one.column, field: one.field, words: ownWords(field), values, isAll: one.isAll }];
  });
}

/** The common words that were taken for ours, for people. */
export function guessedValues(columns: readonly ColumnValues[]): string[] {
  return columns.flatMap(({ column, values }) => {
    const guessed = values.filter(({ source }) => source === 'synonym');
    const texts = guessed.map(({ value, means }) => `${quote(value)} is ${means}`);
    return texts.length === 0 ? [] : [`in ${JSON.stringify(column)} ${nameSome(texts)}`];
  });
}
