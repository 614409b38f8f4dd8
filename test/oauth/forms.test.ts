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

test.each(ENDPOINTS)(
  'a form with thousands of repeated names is refused for their number at %s: none is compared with another',
  async (path) => {
    const names = Array.from({ length: 2600 }, (_, index) => `A${index % 1300}=`);
    const answer = await post(path, names.join('&').slice(0, 16_000));
    expect(answer.status).toBe(400);
    const text = await answer.text();
    expect(text).toContain('more than 100 parameters');
    expect(text).not.toContain('given twice');
  },
);
