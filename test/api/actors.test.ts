import { beforeAll, expect, test } from 'vitest';
import { memberOf, send } from '../access/support.ts';
import { CALLBACK, register, signedIn, tokensFor } from '../oauth/support.ts';
import type { Api } from '../support/api.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { expectRefusal } from './fixtures.ts';

const world = useWorld();
const { api } = world;
let other: Api;
beforeAll(async () => {
  other = await world.otherAccount();
});

const actorsOf = async (ids: readonly string[], client: Pick<Api, 'get'> = api) => {
  const answer = await client.get(`/v2/actors?ids=${ids.join()}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.actors;
};
const byId = (left: { id: string }, right: { id: string }) => (left.id < right.id ? -1 : 1);

/** One actor of each kind that can act in an account, with the application of `host`. */
async function everybody(at: Api, host: Api) {
  const { body: key } = await at.post('/v2/api-keys', { name: 'the shop' });
  const { body: user } = await at.post('/v2/users', {
    email: 'ida@example.com',
    name: 'Ida',
    role: 'member',
  });
  const endpoint = await makeEndpoint(at, { owner: 'customer 7' });
  const { body: link } = await at.post(`/v2/webhook-endpoints/${endpoint}/portal-link`, {
    all_of_owner: true,
  });
  const application = await register(host, { name: 'the reports', redirect_uris: [CALLBACK] });
  await tokensFor(world, await signedIn(world, { api: at }), application, {});
  return [
    { kind: 'key', id: key.id, name: 'the shop' },
    { kind: 'user', id: user.id, name: 'Ida' },
    { kind: 'portal', id: link.id, name: 'customer 7' },
    { kind: 'application', id: application.id, name: 'the reports' },
  ].sort(byId);
}

test('people, keys, portals and granted applications are named, in any order and once', async () => {
  const all = await everybody(api, other);
  const ids = all.map(({ id }) => id);
  expect(await actorsOf([...ids].reverse())).toEqual(all);
  expect(await actorsOf([...ids, ...ids])).toEqual(all);
});

test('a removed person and a revoked key keep their names', async () => {
  const { body: user } = await api.post('/v2/users', {
    email: 'max@example.com',
    name: 'Max',
    role: 'viewer',
  });
  const { body: key } = await api.post('/v2/api-keys', { name: 'the old shop' });
  expect((await api.delete(`/v2/users/${user.id}`)).status).toBe(204);
  expect((await api.delete(`/v2/api-keys/${key.id}`)).status).toBe(204);
  const names = (await actorsOf([user.id, key.id])).map(({ name }: { name: string }) => name);
  expect(names.sort()).toEqual(['Max', 'the old shop']);
});

test('nobody of another account is named, nor an application without a grant', async () => {
  const stranger = await world.otherAccount();
  const theirs = (await everybody(other, other)).map(({ id }) => id);
  expect(await actorsOf(theirs)).toEqual([]);
  expect(await actorsOf(theirs, stranger)).toEqual([]);
  expect(await actorsOf(theirs, other)).toHaveLength(4);
});

test('an unknown id, one of another kind and an ill-formed one are omitted', async () => {
  const { body: key } = await api.post('/v2/api-keys', { name: 'one' });
  const ids = ['operator', 'usr_none', `usr_${key.id.slice(4)}`, 'po_1', '%27', key.id];
  expect(await actorsOf(ids)).toEqual([{ kind: 'key', id: key.id, name: 'one' }]);
});

test('one to a hundred ids may be requested', async () => {
  const many = Array.from({ length: 101 }, (_, index) => `usr_${index}`);
  expect(await actorsOf(many.slice(1))).toEqual([]);
  expectRefusal(await api.get(`/v2/actors?ids=${many.join()}`), 400, 'invalid_query', 'ids', '100');
  expectRefusal(await api.get('/v2/actors'), 400, 'invalid_query', 'ids');
  expectRefusal(await api.get('/v2/actors?ids='), 400, 'invalid_query', 'ids');
});

test('a viewer may ask', async () => {
  const viewer = await memberOf(api, 'viewer');
  const answer = await send(world, viewer.credentials, ['GET', `/v2/actors?ids=${viewer.id}`]);
  expect(answer.body.actors).toEqual([{ kind: 'user', id: viewer.id, name: 'The viewer' }]);
});
