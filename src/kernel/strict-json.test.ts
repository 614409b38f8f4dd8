import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectProperty } from '../../test/support/properties.ts';
import { Failure } from './errors.ts';
import { readStrictJson } from './strict-json.ts';

/** A JSON value as written: objects are lists of entries, in which a key may occur twice, and numbers are text. */
type Written =
  | { kind: 'word'; text: 'true' | 'false' | 'null' }
  | { kind: 'number'; text: string }
  | { kind: 'string'; text: string }
  | { kind: 'list'; items: readonly Written[] }
  | { kind: 'object'; entries: readonly (readonly [key: string, value: Written])[] };

// Characters of JSON syntax, and names of inherited object properties
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('a', 'b', '"', '\\', ':', '{}', '[1,', '-0', '1e5', 'toString', 'é', '\\"', 'x\\\\'),
);
const digits = fc.stringMatching(/^\d{1,25}$/);
const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value)),
  fc.constantFrom(
    '-0',
    '0',
    '0.0',
    '-0.0e7',
    '7.0',
    '1e2',
    '1E+400',
    '-1e-400',
    '9007199254740993',
    '1e99999999999999999999',
  ),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      digits,
      fc.option(digits),
      fc.option(fc.tuple(fc.constantFrom('e', 'E-', 'e+'), fc.nat(400))),
    )
    .map(([sign, whole, fraction, exponent]) => {
      const stripped = whole.replace(/^0+(?=\d)/, '');
      return (
        sign + stripped + (fraction === null ? '' : `.${fraction}`) + (exponent ? exponent.join('') : '')
      );
    }),
);
const { value: written } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc
      .constantFrom('true' as const, 'false' as const, 'null' as const)
      .map((word) => ({ kind: 'word' as const, text: word })),
    number.map((each) => ({ kind: 'number' as const, text: each })),
    text.map((each) => ({ kind: 'string' as const, text: each })),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => ({ kind: 'list' as const, items })),
    fc
      .array(fc.tuple(text, tie('value')), { maxLength: 4 })
      .map((entries) => ({ kind: 'object' as const, entries })),
  ),
}));

/** The JSON text of a value, with `space` wherever JSON allows whitespace. */
function print(value: Written, space: string): string {
  const around = (inner: string) => space + inner + space;
  switch (value.kind) {
    case 'string':
      return around(JSON.stringify(value.text));
    case 'list':
      return around(`[${value.items.map((item) => print(item, space)).join(',') || space}]`);
    case 'object':
      return around(
        `{${value.entries.map(([key, item]) => `${around(JSON.stringify(key))}:${print(item, space)}`).join(',') || space}}`,
      );
    default:
      return around(value.text);
  }
}

/** Whether a key occurs twice in an object. */
function repeats(value: Written): boolean {
  if (value.kind === 'list') return value.items.some(repeats);
  if (value.kind !== 'object') return false;
  const keys = value.entries.map(([key]) => key);
  return new Set(keys).size < keys.length || value.entries.some(([, item]) => repeats(item));
}

/** The exact value of a number as a fraction of integers, by long arithmetic; null = too large to write out. */
function fractionOf(number: string): [bigint, bigint] | null {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) - fraction.length;
  if (Math.abs(shift) > 2000) return null;
  const scale = 10n ** BigInt(Math.abs(shift));
  return shift < 0 ? [BigInt(whole + fraction), scale] : [BigInt(whole + fraction) * scale, 1n];
}

/** Whether JavaScript represents the number exactly as written. */
function isHeld(number: string): boolean {
  const read = Number(number);
  if (Object.is(read, -0) || !Number.isFinite(read)) return false;
  const [a, b] = [fractionOf(number), fractionOf(String(read))];
  return a !== null && b !== null && a[0] * b[1] === b[0] * a[1];
}

type Path = readonly (string | number)[];

/** The numbers of a value in their order, each with its path. */
function numbersOf(value: Written, path: Path = []): { path: Path; text: string }[] {
  if (value.kind === 'number') return [{ path, text: value.text }];
  if (value.kind === 'list') return value.items.flatMap((item, index) => numbersOf(item, [...path, index]));
  return value.kind === 'object'
    ? value.entries.flatMap(([key, item]) => numbersOf(item, [...path, key]))
    : [];
}

/** Of numbers, the first in each member of the whole, and in each member of an item of a list that is one. */
function firstOfEach(numbers: readonly { path: Path }[]): Path[] {
  const seen = new Set<string>();
  return numbers.flatMap(({ path }) => {
    const place = JSON.stringify(typeof path[1] === 'number' ? path.slice(0, 3) : path.slice(0, 1));
    if (seen.has(place)) return [];
    seen.add(place);
    return [path];
  });
}

test('what is read, refused and reported as rounded is what a slow reader finds', () =>
  expectProperty({
    ...{ name: 'strict JSON', arbitrary: fc.tuple(written, fc.constantFrom('', ' ', '\n\t ')), cases: 600 },
    check([value, space]) {
      const source = print(value, space);
      if (repeats(value)) {
        expect(() => readStrictJson(source)).toThrow('has this key twice');
        return;
      }
      const json = readStrictJson(source);
      expect(json.value).toEqual(JSON.parse(source));
      const rounded = numbersOf(value).filter(({ text }) => !isHeld(text));
      expect(json.roundedNumbers.map(({ path }) => path)).toEqual(firstOfEach(rounded));
    },
  }));

test('the canonical text is the same for the same value, however it is written, and only then', () => {
  const turned = (value: Written): Written => {
    if (value.kind === 'list') return { ...value, items: value.items.map(turned) };
    if (value.kind !== 'object') return value;
    return {
      ...value,
      entries: value.entries.map(([key, item]) => [key, turned(item)] as const).toReversed(),
    };
  };
  const canonical = (value: Written, space: string) => readStrictJson(print(value, space)).canonical();
  return expectProperty({
    ...{ name: 'canonical JSON', arbitrary: fc.tuple(written, written), cases: 400 },
    check([one, other]) {
      fc.pre(!repeats(one) && !repeats(other));
      expect(canonical(turned(one), ' ')).toBe(canonical(one, ''));
      if (canonical(one, '') === canonical(other, '')) {
        expect(JSON.parse(print(one, ''))).toEqual(JSON.parse(print(other, '')));
      }
    },
  });
});

test.each([
  ['7', '7.0', true],
  ['100', '1e2', true],
  ['1E+2', '100.00', true],
  ['0.1', '1e-1', true],
  ['1', '1.00000000000000000001', false],
  ['0', '-0', false],
  ['12345678901234567890', '12345678901234567891', false],
  ['"é"', '"\\u00e9"', true],
  ['{"a":1,"b":[2]}', ' { "b" : [ 2 ] , "a" : 1.0 } ', true],
  ['[1,2]', '[2,1]', false],
  ['{"a":1}', '{"a":"1"}', false],
])('%s and %s have the same canonical text: %s', (one, other, same) => {
  expect(readStrictJson(one).canonical() === readStrictJson(other).canonical()).toBe(same);
});

test.each([
  ['{"a":1,"a":2}', 'duplicate_key', 'a: the object has this key twice'],
  ['{"a":1,"\\u0061":2}', 'duplicate_key', 'a: '],
  ['{"a":[{"b":1},{"b":1,"c":{},"b":1}]}', 'duplicate_key', 'a[1].b: '],
  ['{"a":[0,1,{"b":"\\"{","b":1}]}', 'duplicate_key', 'a[2].b: '],
  ['{"":1,"":1}', 'duplicate_key', ': the object has this key twice'],
  [`{"${'k'.repeat(5000)}":1,"${'k'.repeat(5000)}":1}`, 'duplicate_key', `${'k'.repeat(100)}…: `],
  ['{"a":{"__proto__":1}}', 'invalid_body', 'a.__proto__'],
  ['{"a":["\\u0000"]}', 'invalid_body', 'a[0] must be Unicode text'],
  ['{"\\ud800":1}', 'invalid_body', 'the body must be Unicode text'],
  [`${'['.repeat(101)}${']'.repeat(101)}`, 'invalid_body', 'nested more than 100 deep'],
  ['{"a":1,}', 'invalid_json', 'not valid JSON'],
  ['', 'invalid_json', 'not valid JSON'],
])('%s is refused with %s', (source, reason, part) => {
  const read = () => readStrictJson(source);
  expect(read).toThrow(Failure);
  expect(read).toThrow(expect.objectContaining({ reason, message: expect.stringContaining(part) }));
});

test.each([
  ['0.99999999999999999999', 'must be a whole number'],
  ['1.0000000000000000001', 'must be a whole number'],
  ['1e-400', 'must be a whole number'],
  ['1e-99999999999999999999', 'must be a whole number'],
  ['1e400', 'must be from -9007199254740991 to 9007199254740991'],
  ['-12345678901234567890', 'must be from -9007199254740991 to 9007199254740991'],
  ['-0', 'must not be -0'],
  ['-0.0e5', 'must not be -0'],
])('%s is reported by the rule it breaks: %s', (number, rule) => {
  const [rounded] = readStrictJson(`{"a":[${number}]}`).roundedNumbers;
  expect(rounded).toEqual({ path: ['a', 0], rule: expect.stringContaining(rule) });
});

test.each([
  '7',
  '7.0',
  '1e2',
  '0.1',
  '9007199254740991',
  '100000000000000000000',
  '0e999999999999999999999',
  '-1.5',
])('%s is held as it is written', (number) => {
  expect(readStrictJson(`[ ${number} ]`).roundedNumbers).toEqual([]);
});
