import sql, { join, type Sql } from 'sql-template-tag';

/* How a person is found in texts, and taken out of them. */

/** The names and addresses of a person, and their replacements. */
export interface Called {
  /** E-mail addresses; there is at least one. */
  readonly addresses: readonly string[];
  readonly names: readonly string[];
  /** The e-mail address that replaces theirs. */
  readonly placeholder: string;
}

/** The replacement of a name. */
export const ERASED_NAME = 'erased';
/** A single letter is no name to look for. */
const SHORTEST_NAME = 2;

/** A word as a pattern of PostgreSQL (ARE): as it is, or as JSON writes it. */
function patternOf(word: string): string {
  const spellings = new Set([word, JSON.stringify(word).slice(1, -1)]);
  return [...spellings].map((each) => each.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')).join('|');
}

/** The patterns of a person, for the functions below. */
export function patternsOf({ addresses, names, placeholder }: Called) {
  const whole = (words: readonly string[], behind: string) =>
    `(?<![[:alnum:]_])(?:${words.map(patternOf).join('|')})(?![[:alnum:]_]${behind})`;
  return {
    addresses: `(?<![[:alnum:]_.+-])(?:${addresses.map(patternOf).join('|')})(?![[:alnum:]_]|[.][[:alnum:]])`,
    // the key of a JSON object is not a name
    names: names
      .filter((name) => name.length >= SHORTEST_NAME)
      .map((name) => whole([name], '|"[[:space:]]*:')),
    placeholder,
  };
}
export type Patterns = ReturnType<typeof patternsOf>;

/** Texts (SQL) as one, each on its own line. Not by concat_ws, which is stable: a node of Citus refuses it in an UPDATE. */
export const linesOf = (texts: readonly Sql[]): Sql =>
  join(
    texts.map((text) => sql`coalesce(${text}, '')`),
    ' || chr(10) || ',
  );

/** Whether a text (SQL) mentions the person: it has an e-mail address of theirs, or two of their names. */
export function tellsOf(text: Sql, { addresses, names }: Patterns): Sql {
  return sql`(coalesce((${text}) ~* ${addresses}, false)
    or (select count(*) from unnest(${names}::text[]) name where (${text}) ~* name) > 1)`;
}

/** A text (SQL) without the e-mail addresses of the person. What two ids have in common they have in common afterwards. */
export function withoutAddress(text: Sql, { addresses, placeholder }: Patterns): Sql {
  return sql`regexp_replace(${text}, ${addresses}, ${placeholder}, 'gi')`;
}

/** A text (SQL) that mentions the person, without their e-mail addresses and names. */
export function withoutPerson(text: Sql, patterns: Patterns): Sql {
  const rest = withoutAddress(text, patterns);
  const { names } = patterns;
  return names.length === 0 ? rest : sql`regexp_replace(${rest}, ${names.join('|')}, ${ERASED_NAME}, 'gi')`;
}
