import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rounds } from '../../test/support/depth.ts';
import { expectProperty } from '../../test/support/properties.ts';
import { Failure } from './errors.ts';
import { canonicalWithPauses, itemsOfList, readLongJson } from './long-json.ts';
import { readStrictJson, type StrictJson } from './strict-json.ts';

/** Longer than what is read at once. */
const LONG = 70_000;
const MOST_PARTS = 60_000;

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  'e',
  '-',
  '"\\u0000"',
  '"__proto__":1',
  '"list":[],',
  ' ',
];

const item = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '1e5',
    '-0',
    '0.10',
    '12345678901234567890',
    '[]',
    '{}',
    '{"a":1,"b":{"a":2}}',
    '"]},{["',
    '"\\\\"',
  ),
);

/** An object with a list of these items, as often as it takes to be long, and with something cut out or put in at a place. */
const body = fc
  .record({
    items: fc.array(item, { minLength: 1, maxLength: 6 }),
    before: fc.constantFrom('', '"a":1,', '"first":[1,[2]],', '"o":{"list":[1]},', '"list":2,'),
    after: fc.constantFrom('', ',"z":1e2', ',"second":[{"list":[]}]', ',"list":3', ',"z":1e131073'),
    space: fc.constantFrom('', ' ', '\n'),
    change: fc.option(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.nat(2),
        piece: fc.constantFrom('', ...PIECES),
      }),
    ),
  })
  .map(({ items, before, after, space, change }) => {
    const some = items.join(`${space},${space}`);
    const list = Array(Math.ceil(LONG / some.length))
      .fill(some)
      .join(',');
    const text = `${space}{${before}"list"${space}:[${space}${list}${space}]${after}}${space}`;
    if (change === null) return text;
    const at = Math.floor(change.at * text.length);
    return text.slice(0, at) + change.piece + text.slice(at + change.cut);
  });

/** The result of reading a text: its value, or the reason for refusing it. */
async function outcome(read: () => StrictJson | Promise<StrictJson>) {
  try {
    const json = await read();
    const { value, roundedNumbers, unstorableNumber } = json;
    return {
      value,
      rounded: new Set(roundedNumbers.map(({ path, rule }) => `${path} ${rule}`)),
      unstorableNumber,
      canonical: json.canonical(),
    };
  } catch (error) {
    if (error instanceof Failure) return error.reason;
    throw error;
  }
}

test('a long body is read with pauses as it is at once', () =>
  expectProperty({
    ...{ name: 'long JSON', arbitrary: body, cases: rounds(20, 150) },
    async check(text) {
      const atOnce = await outcome(() => readStrictJson(text, MOST_PARTS));
      const withPauses = await outcome(() => readLongJson(text, MOST_PARTS));
      expect(withPauses).toEqual(atOnce);
      if (typeof atOnce === 'string') return;
      const json = await readLongJson(text, MOST_PARTS);
      expect(await canonicalWithPauses(json)).toBe(atOnce.canonical);
      const written = (from: StrictJson) => itemsOfList(from, 'list').map((one) => one.text.trim());
      expect(written(json)).toEqual(written(readStrictJson(text)));
    },
  }));

test('of a long list other work is done in between', async () => {
  const text = JSON.stringify({ list: Array.from({ length: 20_000 }, (_, index) => ({ index })) });
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns < 10_000) next = setImmediate(count);
  };
  let next = setImmediate(count);
  const json = await readLongJson(text, Number.POSITIVE_INFINITY);
  const read = turns;
  await canonicalWithPauses(json);
  clearImmediate(next);
  expect([read, turns - read].every((each) => each >= 19)).toBe(true);
});
