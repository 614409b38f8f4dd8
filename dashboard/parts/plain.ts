// Makes text from outside safe to show and copy: no effect on terminals, the direction of text, or what is visible.

const HARMFUL = /(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Escapes control and format characters as `\u001b`; newlines and tabs stay. */
export function plain(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(HARMFUL, (character) => character.split('').map(escaped).join(''));
}

// one escape per UTF-16 unit, as in JSON: a tag character is two
const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}:,]|[^\s"[\]{}:,]+/g;
const DEEPEST = 40;

/** The text indented if it is JSON; else null. Every digit is kept, and deep nesting is indented only up to a limit. */
export function pretty(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const parts: string[] = [];
  let depth = 0;
  let last = '';
  const line = () => parts.push('\n', '  '.repeat(Math.min(depth, DEEPEST)));
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth -= 1;
    if (last === ',' || (isEnd ? last !== '{' && last !== '[' : last === '{' || last === '[')) line();
    parts.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    last = token;
  }
  return parts.join('');
}
