// What others sent is shown and copied as text that does nothing: to a terminal, to the direction of a line, to the eye.

const HARMFUL = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text without anything that acts: control and format characters stand as `\u001b`; lines and tabs stay. */
export function plain(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(HARMFUL, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Indented, when it is JSON; else null. */
export function pretty(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
