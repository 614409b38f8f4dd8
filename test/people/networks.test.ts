import { beforeAll, expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';
import { browserAt, makeUser } from './support.ts';

const world = useWorld({ settings: { TRUSTED_PROXIES: '127.0.0.1/32' } });
beforeAll(async () => {
  await makeUser(world.api, 'owner');
});

const attempt = async (address: string, email: string) => {
  const form = { email, password: 'wrong and wrong' };
  return (await browserAt(world.url).submit('/sign-in', form, { 'x-forwarded-for': address })).status;
};

test.each([
  [
    'IPv6 addresses of one network of 64 bits',
    '2001:db8:7:8::/64',
    ['2001:db8:7:8::1', '2001:db8:7:8:ffff::2'],
  ],
  [
    'an IPv4 address, and the same mapped into IPv6,',
    '198.51.100.7',
    ['198.51.100.7', '::ffff:198.51.100.7'],
  ],
])('%s count as one', async (_, subject, [first = '', second = '']) => {
  await world.query(`insert into sign_in_failures (subject) select $1 from generate_series(1, 48)`, [
    `address ${subject}`,
  ]);
  expect(await attempt(first, 'a@example.com')).toBe(400);
  expect(await attempt(second, 'b@example.com')).toBe(400);
  expect(await attempt(first, 'c@example.com')).toBe(429);
  expect(await attempt(second, 'd@example.com')).toBe(429);
  expect(await attempt('2001:db8:7:9::1', 'e@example.com')).toBe(400);
});
