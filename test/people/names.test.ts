import { expect, test } from 'vitest';
import { nil } from '../../src/kernel/ids.ts';
import { useWorld } from '../support/world.ts';
import { browserAt, makeUser, PASSWORD, tokenIn } from './support.ts';

const world = useWorld();

const TURNED = 'Ada\u202EecalevoL';
const REFUSAL =
  'name must not contain invisible characters or characters that change the direction of text (U+202E)';

test.each([
  ['POST', '/v2/users', { email: 'ada@example.com', role: 'member' }],
  [
    'POST',
    '/v2/oauth-applications',
    { kind: 'public', redirect_uris: ['https://app.example/callback'], scopes: ['affiliates'] },
  ],
  ['PATCH', '/v2/account', {}],
] as const)('%s %s refuses a name with a right-to-left override', async (method, path, body) => {
  const send = method === 'POST' ? world.api.post : world.api.patch;
  const answer = await send(path, { ...body, name: TURNED });
  expect([answer.status, answer.reason, answer.body.error.message]).toEqual([400, 'invalid_body', REFUSAL]);
});

test('so do the change of a user, of an application, and the set-up page', async () => {
  const api = await world.otherAccount('Turned');
  const account = (await world.platform.accounts.list()).find(({ name }) => name === 'Turned');
  const token = tokenIn((await world.platform.accounts.setUpLink(account?.uuid ?? nil())) ?? '');
  const fields = { token, account_name: TURNED, email: 't@example.com', password: PASSWORD };
  const refused = await browserAt(world.url).submit('/set-up', fields);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('U+202E');
  const { id } = await makeUser(api, 'owner');
  expect((await api.patch(`/v2/users/${id}`, { name: TURNED })).body.error.message).toBe(REFUSAL);
  await expect(world.platform.accounts.create(TURNED)).rejects.toThrow(REFUSAL);
});

test('earlier names are shown with the character visible', async () => {
  const { browser } = await makeUser(world.api, 'owner');
  const invited = { email: 'turned@example.com', name: 'Ada', role: 'viewer' };
  const { id, invitation_url } = (await world.api.post('/v2/users', invited)).body;
  await world.query(`update users set name = $1 where 'usr_' || replace(id::text, '-', '') = $2`, [
    TURNED,
    id,
  ]);
  await world.query('update accounts set name = $1', ['Shop\u2067pohS']);
  const { text } = await browserAt(world.url).get(`/password?token=${tokenIn(invitation_url)}`);
  expect(text).toContain('Ada\uFFFDecalevoL');
  expect(text).toContain('Shop\uFFFDpohS');
  const accounts = await browser.get('/account/switch');
  expect(accounts.text).toContain('Shop\uFFFDpohS');
  expect(text + accounts.text).not.toMatch(/[\u202E\u2067]/);
});
