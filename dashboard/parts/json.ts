// JSON typed by people: finds the position of an error, and keeps numbers as written.

/** A syntax error; positions count from 1. */
export interface Mistake {
  readonly line: number;
  readonly column: number;
  readonly expected: Expected;
}

type Expected = 'value' | 'item' | 'member' | 'name' | 'another' | 'colon' | 'next' | 'end';

const SPACE = /[\t\n\r ]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iuy;
const PLAIN = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])/iy;

/** The first syntax error of a text (RFC 8259), or the first key an object has twice; null when there is none. */
export function mistakeIn(text: string): Mistake | null {
  const open: { readonly bracket: string; readonly names: Set<unknown> }[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const mistake = (what: Expected): Mistake => {
    const before = text.slice(0, at).split('\n');
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, expected: what };
  };
  const length = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0].length ?? 0;
  };
  for (;;) {
    at += length(SPACE);
    if (at >= text.length && expected === 'end') return null;
    const character = text[at] ?? '';
    const isValue = expected === 'value' || expected === 'item';
    const isEnd =
      (expected === 'next' || expected === 'member' || expected === 'item') &&
      character === (open.at(-1)?.bracket === '{' ? '}' : ']');
    if (isEnd) {
      open.pop();
      at += 1;
      expected = open.length === 0 ? 'end' : 'next';
    } else if (isValue && (character === '{' || character === '[')) {
      open.push({ bracket: character, names: new Set() });
      at += 1;
      expected = character === '{' ? 'member' : 'item';
    } else if (isValue && (length(STRING) || length(PLAIN))) {
      at += length(STRING) || length(PLAIN);
      expected = open.length === 0 ? 'end' : 'next';
    } else if ((expected === 'member' || expected === 'name') && length(STRING)) {
      const end = at + length(STRING);
      const name: unknown = JSON.parse(text.slice(at, end));
      if (open.at(-1)?.names.has(name)) return mistake('another');
      open.at(-1)?.names.add(name);
      at = end;
      expected = 'colon';
    } else if (expected === 'colon' && character === ':') {
      at += 1;
      expected = 'value';
    } else if (expected === 'next' && character === ',') {
      at += 1;
      expected = open.at(-1)?.bracket === '{' ? 'name' : 'value';
    } else {
      return mistake(expected);
    }
  }
}

interface Exact {
  rawJSON?: (text: string) => unknown;
  parse: (
    text: string,
    revive: (key: string, value: unknown, context?: { source?: string }) => unknown,
  ) => unknown;
}

/** The value of a JSON text; numbers that JavaScript would round are sent as written. Throws SyntaxError. */
export function readJson(text: string): unknown {
  const { rawJSON, parse } = JSON as unknown as Exact;
  return parse(text, (_key, value, context) => {
    const isRounded =
      typeof value === 'number' && context?.source !== undefined && String(value) !== context.source;
    return isRounded && rawJSON && context?.source ? rawJSON(context.source) : value;
  });
}
