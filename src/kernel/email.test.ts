import { expect, test } from 'vitest';
import { isEmail } from './email.ts';
import { isIdentifier } from './names.ts';

test.each([
  'ada@example.com',
  "o'neill+payouts!#$%&*/=?^_`{|}~-@sub.example.co.uk",
  'Ada.Lovelace@EXAMPLE.com',
  'root@localhost',
  'пример@пример.рф',
  'zoe\u0308@example.com',
  '用户@例子.广告',
  'a@xn--bcher-kva.example',
])('%s is an e-mail address', (email) => {
  expect(isEmail(email)).toBe(true);
});

test.each([
  ...['', 'a', 'a@', '@b', 'a@b@c', 'a b@c.d', ' a@b.c', 'a@b.c ', 'a@b.c\n'],
  ...['a<b>@c.d', 'a,b@c', 'a;b@c', 'a:b@c', 'a(b)@c.d', '"a"@c.d', 'a\\b@c.d', 'Ada <ada@c.d>'],
  ...[
    'b..c@x',
    '.b@x',
    'b.@x',
    'a@x..y',
    'a@.x',
    'a@x.',
    'a@-x.y',
    'a@x-.y',
    'a@x_y',
    'a@[127.0.0.1]',
    'a@b,c',
  ],
  ...[
    'a\u200Bb@c.d',
    'a@c\u200D.d',
    'a\u0007@c.d',
    '\u202Ea@c.d',
    'a\u00AD@c.d',
    'a@c.d\u0000',
    'a\uD800@c.d',
  ],
  `${'a'.repeat(315)}@b.com`,
])('%j is none', (email) => {
  expect(isEmail(email)).toBe(false);
});

test.each(['1', 'order 7', 'order:7/ü', '#1001', 'می\u200Cخواهم', '👩‍👩‍👧'])('%s is an identifier', (id) => {
  expect(isIdentifier(id)).toBe(true);
});

test.each([
  '',
  ' ',
  ' a',
  'a ',
  '\u00A0a',
  'a\t',
  'a\nb',
  'a\u0000',
  'a\u200Bb',
  '\uFEFFa',
  'a\u202Eb',
  'a\u007F',
])('%j is none', (id) => {
  expect(isIdentifier(id)).toBe(false);
});
