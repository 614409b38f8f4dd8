import { expect, test } from 'vitest';
import { register, signedIn, tokensFor } from '../oauth/support.ts';
import { apiOf } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import { expectRefusal } from './fixtures.ts';

// slower than any test: a request takes less than the ten seconds until the next one is allowed
const world = useWorld({ settings: { RATE_LIMIT_KEY: '6', RATE_LIMIT_ACCOUNT: '60' } });
const AT_ONCE = 40;

test('a key above its limit is refused with 429 and the time to retry; other keys and accounts are not', async () => {
  const { api } = world;
  const made = await api.post('/v2/api-keys', { name: 'second' });
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => api.get('/v2/me')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expectRefusal(answer, 429, 'rate_limited', 'this key may send 6 requests a minute');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('ratelimit')).toMatch(/^"account";r=\d+;t=\d+, "key";r=0;t=\d+$/);
    expect(answer.headers.get('ratelimit-policy')).toBe('"account";q=60;w=60, "key";q=6;w=60');
  }
  const second = await fetch(`${world.url}/v2/me`, {
    headers: { authorization: `Bearer ${made.body.key}` },
  });
  expect([second.status, second.headers.get('ratelimit')?.includes('"key";r=5')]).toEqual([200, true]);
  const other = await world.otherAccount();
  expect((await other.get('/v2/me')).status).toBe(200);
});

test('a refused request changes nothing', async () => {
  const api = await world.otherAccount();
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      api.post('/v2/affiliates', { email: `rate-${index}@example.com` }),
    ),
  );
  const created = answers.filter(({ status }) => status === 201).length;
  expect(created).toBeLessThan(AT_ONCE);
  const [{ count } = { count: -1 }] = await world.query<{ count: number }>(
    `select count(*)::int as count from affiliates where email like 'rate-%'`,
  );
  expect(count).toBe(created);
});

test("an application's requests in one account do not count in another account that granted it access", async () => {
  const [here, there] = [await world.otherAccount(), await world.otherAccount()];
  const application = await register(here);
  const tokenIn = async (api: typeof here) =>
    (await tokensFor(world, await signedIn(world, { api }), application)).access_token;
  const [busy, quiet] = [apiOf(world.url, await tokenIn(here)), apiOf(world.url, await tokenIn(there))];
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => busy.get('/v2/me')));
  expect(answers.some(({ status }) => status === 429)).toBe(true);
  const answer = await quiet.get('/v2/me');
  expect([answer.status, answer.headers.get('ratelimit')?.includes('"key";r=5')]).toEqual([200, true]);
});
