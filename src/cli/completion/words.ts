/** Words for a shell, separated by spaces. Throws for text that a shell would interpret. */
export function wordsOf(words: readonly string[]): string {
  const odd = words.find((word) => !/^[\w.:-]+$/.test(word));
  if (odd !== undefined) throw new Error(`${odd} is not a plain word: a completion script cannot offer it`);
  return words.join(' ');
}

/** A text in single quotes, as bash and zsh read it. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
