// See owasp.org/www-community/attacks/CSV_Injection: formula signs, full-width ones too, and what may precede one.
const SIGNS = '=+-@＝＋－＠';
const CONTROLS = '\t\n\r';
const BLANKS = ` ${CONTROLS}\v\f\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff`;

const escaped = (characters: string) =>
  [...characters].map((character) => `\\u${codeOf(character).toString(16).padStart(4, '0')}`).join('');
const codeOf = (character: string) => character.codePointAt(0) ?? 0;
const codesOf = (characters: string) => [...characters].map(codeOf).join(', ');

const FORMULA = new RegExp(`^(?:[${escaped(BLANKS)}]*[${escaped(SIGNS)}]|[${escaped(CONTROLS)}])`);

/**
 * The part of a cell that makes a spreadsheet take it for a formula: its start up to the sign. null when it is text.
 */
export function formulaStart(cell: string): string | null {
  return FORMULA.exec(cell)?.[0] ?? null;
}

/** The same as an SQL condition, over an SQL expression. */
export function formulaCondition(cell: string): string {
  const trimmed = `ltrim(${cell}, E'${escaped(BLANKS)}')`;
  return `(ascii(${trimmed}) in (${codesOf(SIGNS)}) or ascii(${cell}) in (${codesOf(CONTROLS)}))`;
}
