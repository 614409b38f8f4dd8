import { expect, test } from 'vitest';
import { nameFrom, nameProblem } from './names.ts';
import { visible } from './visible.ts';

test.each([
  ['Ada Lovelace'],
  ["Siobhán O'Neill-Ó Súilleabháin"],
  ['李小龍 & 株式会社'],
  ['محمد'],
  ['می\u200Cخواهم'],
  ['क्\u200Dष'],
  ['Team 👩‍👩‍👧 ❤️ 1️⃣'],
])('%s is a name', (name) => {
  expect(nameFrom(` ${name} `)).toBe(name);
  expect(visible(name)).toBe(name);
});

test.each([
  ['PayPal\u202Egnp', 'U+202E'],
  ['a\u2066b', 'U+2066'],
  ['a\u061Cb', 'U+061C'],
  ['Pay\u200DPal', 'U+200D'],
  ['Pay\u200BPal', 'U+200B'],
  ['\u00ADAda', 'U+00AD'],
  ['\u3164', 'U+3164'],
  ['a\u2800b', 'U+2800'],
  ['a\u{E0041}b', 'U+E0041'],
  ['a\0b', 'U+0000'],
  ['a\nb', 'U+000A'],
  ['a\u2028b', 'U+2028'],
  ['a\uFE0Fb', 'U+FE0F'],
  ['a\uD800b', 'U+D800'],
])('%j is none, and its character is named', (name, code) => {
  expect(nameProblem(name)).toContain(`(${code})`);
  expect(() => nameFrom(name, 'the name')).toThrow(/^the name must not contain invisible characters/);
});

test('what was stored before is shown with the character in sight', () => {
  expect(visible('PayPal\u202Egnp')).toBe('PayPal\uFFFDgnp');
  expect(visible('👩‍👩‍👧 Pay\u200DPal')).toBe('👩‍👩‍👧 Pay\uFFFDPal');
});

test.each(['', '   ', '\t\n'])('%j is empty', (text) => {
  expect(nameProblem(text)).toBe('must not be empty');
});
