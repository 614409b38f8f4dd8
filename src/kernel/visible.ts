/**
 * Characters that are invisible or change the direction of text: control and format characters (U+202E among them), line separators,
 * Default_Ignorable_Code_Point, the Braille blank. A lone surrogate is not a character.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * The joiners that emoji and Asian scripts need inside words, and the selectors that make a character an emoji. In other scripts they
 * would be invisible (RFC 5892 appendix A has the same rule for domain names).
 */
export const JOINED =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\uFE0F|(?![\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}])[\p{L}\p{M}])(?:\u200C|\u200D)(?=[\p{L}\p{Extended_Pictographic}])|(?<=\p{Emoji})(?:\uFE0E|\uFE0F)/gu;

/** A text made safe to show: invisible characters and those that change its direction are replaced by U+FFFD. */
export function visible(text: string): string {
  if (!UNSEEN.test(text)) return text;
  const joiners = new Set([...text.matchAll(JOINED)].map(({ index }) => index));
  return text.replaceAll(new RegExp(UNSEEN, 'gu'), (character, index: number) =>
    joiners.has(index) || character === '\n' ? character : '\uFFFD',
  );
}
