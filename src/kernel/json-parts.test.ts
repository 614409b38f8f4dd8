import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectProperty } from '../../test/support/properties.ts';
import { itemsOf, membersOf } from './json-parts.ts';

/** A text of a value, with space wherever JSON may have it. */
function spaced(value: unknown, space: string): string {
  if (Array.isArray(value)) {
    return `[${space}${value.map((item) => spaced(item, space)).join(`${space},${space}`)}${space}]`;
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}${space}:${space}${spaced(item, space)}`,
  );
  return `{${space}${members.join(`${space},${space}`)}${space}}`;
}

const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
const text = fc.oneof(fc.string(), fc.stringMatching(/^[\\"{}[\],:]{0,8}$/));
const value = fc
  .jsonValue({ stringUnit: 'binary' })
  .chain((json) => text.map((odd) => [json, odd, { [odd]: json }]));

test('the items of a list are the texts that its values were written as', () =>
  expectProperty({
    ...{ name: 'items of a JSON list', arbitrary: fc.tuple(fc.array(value), space, space), cases: 100 },
    check([list, around, within]) {
      const texts = list.map((item) => spaced(item, within));
      expect(itemsOf(`${around}[${around}${texts.join(`${around},`)}${around}]${around}`)).toEqual(texts);
    },
  }));

test('the members of an object are the texts that its values were written as, by their keys', () =>
  expectProperty({
    ...{
      name: 'members of a JSON object',
      arbitrary: fc.tuple(fc.dictionary(text, value), space),
      cases: 100,
    },
    check([object, around]) {
      const members = new Map(Object.entries(object).map(([key, item]) => [key, spaced(item, around)]));
      expect(membersOf(spaced(object, around))).toEqual(members);
    },
  }));

test('keys are read, and values are not', () => {
  expect(membersOf('{"\\u0065vents":[1.0,"\\u0065"],"a:b\\"":{}}')).toEqual(
    new Map([
      ['events', '[1.0,"\\u0065"]'],
      ['a:b"', '{}'],
    ]),
  );
  expect(itemsOf('[]')).toEqual([]);
  expect(membersOf(' { } ')).toEqual(new Map());
});
