import { expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const post = (path: string, body: string) =>
  fetch(world.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });

const ENDPOINTS = ['/oauth/token', '/oauth/revoke', '/oauth/authorize', '/sign-in', '/set-up', '/password'];

test.each(ENDPOINTS)('a form of more than 100 parameters is refused at %s', async (path) => {
  const answer = await post(path, Array.from({ length: 101 }, (_, index) => `a${index}=1`).join('&'));
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('more than 100 parameters');
});

test('a query is limited in the same way', async () => {
  const query = Array.from({ length: 101 }, (_, index) => `a${index}=1`).join('&');
  expect((await fetch(`${world.url}/oauth/authorize?${query}`)).status).toBe(400);
});

test.each(['/oauth/token', '/oauth/revoke'])('a form of 20 KB is refused at %s', async (path) => {
  const answer = await post(path, `token=${'x'.repeat(20_000)}`);
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
});

test('a form made to be slow holds up a health check no longer than one that is not', async () => {
  /** The slowest of some health checks that are asked beside forms, in milliseconds; the best of some rounds. */
  const slowest = async (form: string) => {
    const rounds: number[] = [];
    for (let round = 0; round < 5; round++) {
      const forms = Promise.all(ENDPOINTS.map((path) => post(path, form).then((answer) => answer.text())));
      const from = performance.now();
      await fetch(`${world.url}/healthz`);
      rounds.push(performance.now() - from);
      await forms;
    }
    return Math.min(...rounds);
  };
  const names = Array.from({ length: 12_000 }, (_, index) => `A${index % 6000}=`)
    .join('&')
    .slice(0, 64_000);
  const plain = `A=${'x'.repeat(names.length - 2)}`;
  await slowest(plain);
  const [harmless, hostile] = [await slowest(plain), await slowest(names)];
  // it took hundreds of times as long when names were searched for in one another
  expect(hostile / Math.max(harmless, 5)).toBeLessThan(20);
});
