import { beforeEach, expect, test } from 'vitest';
import { expectRefusal, nothingChanges } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import { browserAt, everything, makeUser, PASSWORD, signInAs, tokenIn } from './support.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const at = (id: string) => `/v2/users/${id}`;
const erase = (of: Api, id: string) => of.post(`${at(id)}/erase`);
let made = 0;

/** A user with a unique name and address who has left traces. */
async function somebody(of: Api) {
  const [email, name] = [`leaver-${++made}@example.com`, `Leaver ${made} Lovelace`];
  const user = await makeUser(of, 'owner', email);
  await of.patch(at(user.id), { name });
  expect((await signInAs(world.url, email)).answer.status).toBe(303);
  expect((await user.browser.call('POST', '/v2/affiliates', { email: `a${made}@example.org` })).status).toBe(
    201,
  );
  await user.browser.call('PUT', '/v2/alerts', { kinds: [] });
  // as left by a mail server that does not know the address
  await world.query(
    `insert into notices (account_id, kind, data, is_alone, user_id, due_at, failed_at, error)
     select account_id, 'test', '{}', true, id, now(), now(), $2 from users where public_id('usr', id) = $1`,
    [user.id, `550 ${email}: no such mailbox`],
  );
  return { ...user, email, name };
}

test('an erased user is in no row any more and cannot sign in; the audit log still has their id', async () => {
  await makeUser(api, 'owner');
  const { id, email, name, browser } = await somebody(api);
  expect(await everything(world)).toContain(name);
  const erased = await erase(api, id);
  expect(erased.status, erased.text).toBe(200);
  expect(erased.body).toMatchObject({ id, name: 'erased', email: `${id}@erased.invalid`, status: 'removed' });
  const rows = await everything(world);
  for (const trace of [email, name]) expect(rows).not.toContain(trace);
  const places = await world.query(
    `select user_agent, address from sessions where public_id('usr', user_id) = $1 and num_nonnulls(user_agent, address) > 0`,
    [id],
  );
  expect(places).toEqual([]);
  expect((await browser.get('/settings/profile')).status).not.toBe(200);
  expect((await signInAs(world.url, email)).answer.status).not.toBe(303);
  const { data } = (await api.get('/v2/audit-log?per_page=100')).body;
  expect(data).toContainEqual(
    expect.objectContaining({ actor: expect.objectContaining({ id }), action: 'createAffiliate' }),
  );
  // again, and read
  expect((await erase(api, id)).body).toMatchObject({ id, name: 'erased', status: 'removed' });
  expect((await api.get(at(id))).body.email).toBe(`${id}@erased.invalid`);
  // the address is free for a new person
  expect((await api.post('/v2/users', { email, name: 'New', role: 'member' })).status).toBe(201);
});

test('another account keeps the same person until it erases them too', async () => {
  await makeUser(api, 'owner');
  const other = await world.otherAccount();
  await makeUser(other, 'owner');
  const { id, email } = await somebody(api);
  const invited = await other.post('/v2/users', { email, name: 'Known there', role: 'owner' });
  const there = { id: invited.body.id, browser: browserAt(world.url) };
  const token = tokenIn(invited.body.invitation_url);
  await there.browser.submit('/password/join', { token, current: PASSWORD });
  expect((await erase(api, id)).status).toBe(200);
  expect((await other.get(at(there.id))).body).toMatchObject({
    email,
    name: 'Known there',
    status: 'active',
  });
  expect((await signInAs(world.url, email, PASSWORD)).answer.status).toBe(303);
  await erase(other, there.id);
  expect(await everything(world)).not.toContain(email);
});

test('earlier users of the same person are erased too, and concurrent requests break nothing', async () => {
  await makeUser(api, 'owner');
  const { id, email, name } = await somebody(api);
  expect((await api.delete(at(id))).status).toBe(204);
  const again = await makeUser(api, 'member', email);
  const answers = await Promise.all([erase(api, again.id), erase(api, id), erase(api, again.id)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const user of [id, again.id]) expect((await api.get(at(user))).body.name).toBe('erased');
  const rows = await everything(world);
  for (const trace of [email, name]) expect(rows).not.toContain(trace);
});

test('refused: the last owner, a user of another account, and a caller who may not remove users', async () => {
  const { id } = await somebody(api);
  const viewer = await makeUser(api, 'viewer');
  const other = await world.otherAccount();
  await nothingChanges(world, async () => {
    expectRefusal(await erase(api, id), 409, 'last_owner');
    expectRefusal(await erase(other, id), 404, 'resource_missing');
    expectRefusal(await erase(api, 'usr_nobody'), 404, 'resource_missing');
  });
  expectRefusal(await viewer.browser.call('POST', `${at(id)}/erase`), 403, 'role_too_low');
});
