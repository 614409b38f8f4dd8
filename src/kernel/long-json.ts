import { setImmediate } from 'node:timers/promises';
import { Failure } from './errors.ts';
import { itemsOf, membersOf } from './json-parts.ts';
import {
  canonicalObject,
  canonicalOf,
  type Exact,
  type ExactObject,
  endOfString,
  readStrictJson,
  readStrictJsonAt,
  type StrictJson,
  tooManyParts,
} from './strict-json.ts';

/*
 * Long bodies are objects with one long list. They are read item by item, with pauses in which the process does other work
 * (docs/decisions/0090).
 */

/** Between two pauses: what is read, which takes a few milliseconds, and what is only looked at. */
const READ = { characters: 1 << 16, items: 1000 };
const LOOKED_AT = 1 << 20;

const [QUOTE, COMMA] = [0x22, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where a list is in the text of an object. */
interface Found {
  readonly name: string;
  /** Of the bracket that opens it, and after the one that closes it. */
  readonly from: number;
  readonly until: number;
  /** Where each item begins: after the bracket or a comma. */
  readonly cuts: readonly number[];
}

/**
 * Reads a body as `readStrictJson` does, with pauses. Throws the same.
 */
export async function readLongJson(text: string, mostParts: number): Promise<StrictJson> {
  const found = await longestList(text, mostParts);
  if (found === null) return readStrictJson(text, mostParts);
  const { name, until, cuts } = found;
  const rest = readAround(text, found);
  const items: StrictJson[] = [];
  const pause = pauses();
  for (const [index, start] of cuts.entries()) {
    const end = (cuts[index + 1] ?? until) - 1;
    items.push(readStrictJsonAt([name, index], text.slice(start, end)));
    if (pause.isDue(end - start)) await setImmediate();
  }
  const list = { name, items };
  return {
    value: { ...(rest.value as object), [name]: items.map(({ value }) => value) },
    text,
    roundedNumbers: [rest, ...items].flatMap(({ roundedNumbers }) => roundedNumbers),
    unstorableNumber:
      [rest, ...items].find(({ unstorableNumber }) => unstorableNumber !== null)?.unstorableNumber ?? null,
    exact: rest.exact,
    canonical: () =>
      canonicalWith(
        rest.exact,
        name,
        items.map((item) => item.canonical()),
      ),
    list,
  };
}

/** What `canonical` of a body returns, with pauses. */
export async function canonicalWithPauses(json: StrictJson): Promise<string> {
  const { list, exact } = json;
  if (list === undefined) return json.canonical();
  const texts: string[] = [];
  const pause = pauses();
  for (const item of list.items) {
    texts.push(item.canonical());
    if (pause.isDue(item.text.length)) await setImmediate();
  }
  return canonicalWith(exact, list.name, texts);
}

/** The items of a list of a body, each as it was written. */
export function itemsOfList({ list, text }: StrictJson, name: string): readonly StrictJson[] {
  if (list?.name === name) return list.items;
  return itemsOf(membersOf(text).get(name) ?? '[]').map((item) => readStrictJson(item));
}

const canonicalWith = (exact: Exact, name: string, texts: readonly string[]): string =>
  canonicalObject(exact as ExactObject, (value, key) =>
    key === name ? `[${texts.join(',')}]` : canonicalOf(value),
  );

/** The body without the items of its list. */
function readAround(text: string, { from, until }: Found): StrictJson {
  try {
    return readStrictJson(`${text.slice(0, from)}[]${text.slice(until)}`);
  } catch (error) {
    // the message says where it is in the whole text
    if (error instanceof Failure && error.reason === 'invalid_json') readStrictJson(text);
    throw error;
  }
}

function pauses() {
  let [characters, items] = [0, 0];
  return {
    /** Whether to pause after one more item with this many characters. */
    isDue(length: number): boolean {
      characters += length;
      items += 1;
      if (characters < READ.characters && items < READ.items) return false;
      [characters, items] = [0, 0];
      return true;
    },
  };
}

/**
 * The longest list that is a member of a body; null when the body is no object with one, or no JSON. Throws `invalid_body` as soon
 * as more than `mostParts` members and items are found.
 */
async function longestList(text: string, mostParts: number): Promise<Found | null> {
  let best: Found | null = null;
  let [parts, open, pauseAt] = [0, 0, LOOKED_AT];
  /** The last string of the object itself, which is the name of the member that follows. */
  let name: readonly [number, number] | null = null;
  let list: { readonly from: number; readonly cuts: number[] } | null = null;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= pauseAt) {
      pauseAt = at + LOOKED_AT;
      await setImmediate();
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (end === -1) return null;
      if (open === 1) name = [at, end + 1];
      at = end;
    } else if (code === COMMA) {
      parts += 1;
      if (open === 2) list?.cuts.push(at + 1);
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      parts += 1;
      if (open === 1) list = code === OPEN_LIST ? { from: at, cuts: [at + 1] } : null;
      open += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      open -= 1;
      if (open === 1 && list !== null && name !== null) {
        const until = at + 1;
        if (until - list.from > (best === null ? 0 : best.until - best.from)) {
          best = { name: nameIn(text, name), ...list, until };
        }
        list = null;
      }
    }
    if (parts > mostParts) throw tooManyParts(mostParts);
  }
  return best !== null && best.until - best.from > READ.characters ? best : null;
}

/** A name as it is written; that of a text that is no JSON means nothing. */
function nameIn(text: string, [start, end]: readonly [number, number]): string {
  try {
    return JSON.parse(text.slice(start, end)) as string;
  } catch {
    return '';
  }
}
