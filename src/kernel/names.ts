import { fail } from './errors.ts';

// Characters that are not seen, or turn the line around: control and format characters (U+202E among them), line
// separators, what Unicode says may be left out of the display (Default_Ignorable_Code_Point), the blank of Braille.
// Half a surrogate pair is no character.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

// The joiners that emoji and the scripts of Asia need inside of words, and the sign that makes a character an emoji. In
// other scripts nobody would see them (as RFC 5892 appendix A says of domain names).
const JOINED =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\uFE0F|(?![\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}])[\p{L}\p{M}])(?:\u200C|\u200D)(?=[\p{L}\p{Extended_Pictographic}])|(?<=\p{Emoji})(?:\uFE0E|\uFE0F)/gu;

/**
 * The name of a person, an account or an application without space around it. `field` is what the message calls it.
 * Throws `invalid_body` when nothing is left, or when it holds characters that nobody sees: people decide by names,
 * and two that look the same must be the same.
 */
export function nameFrom(text: string, field = 'name'): string {
  const name = text.trim();
  const problem = nameProblem(name);
  if (problem !== null) throw fail('invalid_body', `${field} ${problem}`);
  return name;
}

/** What is wrong with a name, to be read after the name of its field; null when nothing is. */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'must not be empty';
  const found = UNSEEN.exec(name.replaceAll(JOINED, ''))?.[0];
  if (found === undefined) return null;
  const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return `must not contain invisible characters or characters that change the direction of text (U+${code})`;
}

/** Whether every character of a text is seen by whoever reads it, joiners excluded. */
export function isSeen(text: string): boolean {
  return !UNSEEN.test(text);
}

/** What `isIdentifier` asks, for messages: to be read after the name of a field. */
export const IDENTIFIER_RULE =
  'must not begin or end with a blank, nor contain control or invisible characters';

/** Whether a text may name a record of a merchant's own, such as an order: what looks the same must be the same. */
export function isIdentifier(text: string): boolean {
  return text === text.trim() && nameProblem(text) === null;
}

/** A text as people may be shown it: what they could not see, or what turns the line around, is seen as U+FFFD. */
export function visible(text: string): string {
  if (!UNSEEN.test(text)) return text;
  const joiners = new Set([...text.matchAll(JOINED)].map(({ index }) => index));
  return text.replaceAll(new RegExp(UNSEEN, 'gu'), (character, index: number) =>
    joiners.has(index) || character === '\n' ? character : '\uFFFD',
  );
}
