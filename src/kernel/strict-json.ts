import { fail } from './errors.ts';
import { canonicalNumber, canonicalOfRead, roundedRule, unstorableRule } from './written-number.ts';

/** A path in a JSON value: keys of objects, indexes of arrays. */
export type JsonPath = readonly (string | number)[];

/** A number that breaks a rule. */
export interface RefusedNumber {
  readonly path: JsonPath;
  readonly rule: string;
}

/** JSON text that was parsed without ambiguity. */
export interface StrictJson {
  readonly value: unknown;
  /** The text as received, without a byte order mark. */
  readonly text: string;
  /**
   * Numbers that JavaScript cannot represent as written, with the rule for integers that each breaks: the first of each member
   * of the body, and of each member of the items of its lists.
   */
  readonly roundedNumbers: readonly RefusedNumber[];
  /** The first number that `jsonb` of PostgreSQL cannot hold; null = there is none. */
  readonly unstorableNumber: RefusedNumber | null;
  /** The same text for equal values, whatever the order of keys, whitespace and notation; numbers are exact. */
  canonical(): string;
  /** The value with every key and digit, of which the canonical text is made. */
  readonly exact: Exact;
  /** The long list of the body, if it was read item by item. */
  readonly list?: LongList;
}

/** A list that is a member of a body, whose items were read one after the other. */
export interface LongList {
  readonly name: string;
  readonly items: readonly StrictJson[];
}

/** Deeper nesting is refused, because recursive readers of the value could overflow the stack. */
const MAX_DEPTH = 100;

/**
 * Parses JSON (RFC 8259) by the rules of I-JSON (RFC 7493): no duplicate keys. Throws `invalid_json`; `duplicate_key`,
 * naming the key; `invalid_body` for NUL characters and lone surrogates, which PostgreSQL and UTF-8 cannot store, for
 * the key `__proto__`, for nesting deeper than 100, and for more than `mostParts` members of objects and items of lists.
 */
export function readStrictJson(text: string, mostParts = Number.POSITIVE_INFINITY): StrictJson {
  const { keys, parts, depth, hasUnusualNumbers } = scan(text);
  // whether it is JSON at all is not worth the memory of this many values
  if (parts > mostParts) throw tooManyParts(mostParts);
  return readAt([], text, { keys, depth, hasUnusualNumbers });
}

/** Reads the text at this path of a body, like `readStrictJson`. */
export const readStrictJsonAt = (path: JsonPath, text: string): StrictJson => readAt(path, text, scan(text));

export const tooManyParts = (most: number) =>
  fail('invalid_body', `the body has more than ${most} members of objects and items of lists`);

/** What was seen of a text when it was scanned. */
type Seen = Pick<ReturnType<typeof scan>, 'keys' | 'depth' | 'hasUnusualNumbers'>;

function readAt(path: JsonPath, text: string, { keys, depth, hasUnusualNumbers }: Seen): StrictJson {
  const value = parse(path, text);
  if (path.length + depth > MAX_DEPTH)
    throw fail('invalid_body', `the body is nested more than ${MAX_DEPTH} deep`);
  // Raw NUL is invalid JSON, and decoded text has no lone surrogates: only escapes can produce either.
  if (text.includes('\\u') || text.includes('__proto__')) checkTexts(value, [...path]);
  if (!hasUnusualNumbers && countKeys(value) === keys) {
    // what was parsed is exact
    const exact = value as Exact;
    return {
      value,
      text,
      roundedNumbers: [],
      unstorableNumber: null,
      exact,
      canonical: () => canonicalOf(exact),
    };
  }
  const { exact, ...numbers } = readExact(path, text);
  return { value, text, ...numbers, exact, canonical: () => canonicalOf(exact) };
}

function parse(path: JsonPath, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail('invalid_json', `${nameOfPath(path)} is not valid JSON: ${(error as Error).message}`);
  }
}

const LONGEST_NAME = 100;

/** A path as shown in messages: `commissions[0].amount`; long keys are shortened. */
export function nameOfPath(path: JsonPath): string {
  if (path.length === 0) return 'the body';
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? clip(part) : `${name}.${clip(part)}`;
  }, '');
}

/** A name from a request as shown in messages: its first 100 characters. */
export function clip(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME).toWellFormed()}…` : name;
}

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, DOT, ZERO, NINE] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2e, 0x30, 0x39,
];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** A decimal with at most this many digits survives a round trip through a double. */
const SAFE_DIGITS = 15;

/**
 * One pass: the number of keys, that of members and items (an empty object or list counts as one), the nesting depth, and
 * whether all numbers are plain. A text that is not JSON is read to its end too, with figures that mean nothing.
 */
function scan(text: string): { keys: number; parts: number; depth: number; hasUnusualNumbers: boolean } {
  let [keys, parts, open, depth] = [0, 0, 0, 0];
  let hasUnusualNumbers = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) break;
    } else if (code === COMMA) parts += 1;
    else if (code === COLON) keys += 1;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      parts += 1;
      open += 1;
      if (open > depth) depth = open;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open -= 1;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      hasUnusualNumbers ||= !isPlain(text, at, end);
      at = end - 1;
    }
  }
  return { keys, parts, depth, hasUnusualNumbers };
}

/** The index of the closing quote of the string that begins here; -1 when there is none, which no valid text has. */
export function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at;
}

/** Whether an odd number of backslashes precedes. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** The index after the number that begins here. */
function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !isEndOfNumber(text.charCodeAt(at))) at += 1;
  return at;
}

const isEndOfNumber = (code: number) =>
  code <= 0x20 || code === 0x2c || code === CLOSE_LIST || code === CLOSE_OBJECT;

/** Whether a number is certainly represented exactly: no exponent, few digits, no -0. */
function isPlain(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start) === MINUS && text.charCodeAt(start + 1) === ZERO) return false;
  if (end - start > SAFE_DIGITS) return false;
  for (let at = start + 1; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code > NINE || (code < ZERO && code !== DOT)) return false;
  }
  return true;
}

/** The number of keys in the parsed value; fewer than in the text when there are duplicates. */
function countKeys(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countKeys(item);
    return count;
  }
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    count += typeof item === 'object' ? 1 + countKeys(item) : 1;
  }
  return count;
}

/** `path` is where the value is; it grows and shrinks on the way, because a copy for each value would cost its depth. */
function checkTexts(value: unknown, path: (string | number)[]): void {
  if (typeof value === 'string') checkText(value, path);
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      path.push(index);
      checkTexts(item, path);
      path.pop();
    }
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      checkText(key, path);
      path.push(key);
      if (key === '__proto__') {
        throw fail('invalid_body', `${nameOfPath(path)}: a key must not be named __proto__`);
      }
      checkTexts(item, path);
      path.pop();
    }
  }
}

function checkText(text: string, path: JsonPath): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw fail('invalid_body', `${nameOfPath(path)} must be Unicode text without NUL characters`);
}

/** A number, kept as its text. */
class WrittenNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value whose numbers may be their texts and whose objects may be maps. */
export type Exact = string | number | boolean | null | WrittenNumber | readonly Exact[] | ExactObject;

export type ExactObject = ReadonlyMap<string, Exact> | { readonly [key: string]: Exact };

/** Whether two paths lead into the same member of the body, or of an item of a list in it. */
function isSamePlace(one: JsonPath | undefined, [member, item, field]: JsonPath): boolean {
  if (one === undefined || one[0] !== member) return false;
  return typeof item !== 'number' || (one[1] === item && one[2] === field);
}

/** Parses a valid text again, keeping every key and digit. Throws `duplicate_key`. */
function readExact(
  base: JsonPath,
  text: string,
): Pick<StrictJson, 'roundedNumbers' | 'unstorableNumber'> & { readonly exact: Exact } {
  const roundedNumbers: RefusedNumber[] = [];
  let unstorableNumber: RefusedNumber | null = null;
  let at = 0;
  const path = [...base];

  const skipTo = (isThere: (code: number) => boolean) => {
    while (!isThere(text.charCodeAt(at))) at += 1;
  };
  const skipSpace = () => skipTo((code) => code > 0x20);

  function readText(): string {
    const end = endOfString(text, at) + 1;
    const read = JSON.parse(text.slice(at, end)) as string;
    at = end;
    return read;
  }

  function readNumber(): WrittenNumber {
    const end = endOfNumber(text, at);
    const written = text.slice(at, end);
    at = end;
    if (!isSamePlace(roundedNumbers.at(-1)?.path, path)) {
      const rule = roundedRule(written);
      if (rule !== null) roundedNumbers.push({ path: [...path], rule });
    }
    if (unstorableNumber === null) {
      const unstorable = unstorableRule(written);
      if (unstorable !== null) unstorableNumber = { path: [...path], rule: unstorable };
    }
    return new WrittenNumber(written);
  }

  /** Reads what is between brackets, item by item. */
  function readItems(close: number, readItem: (index: number) => void): void {
    at += 1;
    skipSpace();
    for (let index = 0; text.charCodeAt(at) !== close; index += 1) {
      readItem(index);
      skipSpace();
      if (text.charCodeAt(at) !== close) at += 1;
      skipSpace();
    }
    at += 1;
  }

  function readObject(): Map<string, Exact> {
    const read = new Map<string, Exact>();
    readItems(CLOSE_OBJECT, () => {
      const key = readText();
      path.push(key);
      if (read.has(key)) throw fail('duplicate_key', `${nameOfPath(path)}: the object has this key twice`);
      skipTo((code) => code === COLON);
      at += 1;
      read.set(key, readValue());
      path.pop();
    });
    return read;
  }

  function readList(): Exact[] {
    const read: Exact[] = [];
    readItems(CLOSE_LIST, (index) => {
      path.push(index);
      read.push(readValue());
      path.pop();
    });
    return read;
  }

  function readValue(): Exact {
    skipSpace();
    const code = text.charCodeAt(at);
    if (code === QUOTE) return readText();
    if (code === OPEN_OBJECT) return readObject();
    if (code === OPEN_LIST) return readList();
    if (code === MINUS || (code >= ZERO && code <= NINE)) return readNumber();
    const word = text.startsWith('true', at) ? 'true' : text.startsWith('false', at) ? 'false' : 'null';
    at += word.length;
    return word === 'null' ? null : word === 'true';
  }

  const exact = readValue();
  return { exact, roundedNumbers, unstorableNumber };
}

/** The same text for equal values: keys in order, numbers in one notation. */
export function canonicalOf(value: Exact): string {
  if (value instanceof WrittenNumber) return canonicalNumber(value.text);
  if (typeof value === 'number') return canonicalOfRead(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalOf).join(',')}]`;
  return canonicalObject(value as ExactObject, canonicalOf);
}

/** The canonical text of an object whose members have these texts. */
export function canonicalObject(object: ExactObject, textOf: (value: Exact, key: string) => string): string {
  const members: [string, Exact][] = object instanceof Map ? [...object] : Object.entries(object);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${textOf(value, key)}`).join(',')}}`;
}
