import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningServer, serve } from '../../src/app/serve.ts';
import { OPENING_SCOPES } from '../../src/contract/scopes.ts';
import { nil } from '../../src/kernel/ids.ts';
import { type Api, apiOf } from '../support/api.ts';
import { makeGrant } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { type Browser, browserAt, makeUser, PASSWORD, signInAs, tokenIn } from './support.ts';

const world = useWorld();
let shop: Api;
let agency: Api;
let commands: RunningServer;
beforeAll(async () => {
  shop = world.api;
  await shop.patch('/v2/account', { name: 'Shop', default_currency: 'eur', time_zone: 'Europe/Berlin' });
  agency = await world.otherAccount('Agency');
  const [first] = await world.platform.accounts.list();
  const operator = { token: 'the-operator-of-one-process', account: first?.uuid ?? nil(), cell: 0 };
  commands = await serve(world.platform, { listen: { host: '127.0.0.1', port: 0 }, operator });
});
afterAll(() => commands.close());

const ME = '/v2/me';
const idOf = async (api: Api) => (await api.get('/v2/account')).body.id as string;
const ask = async (browser: Browser) => (await browser.call('GET', ME, undefined, null)).body;

test('a key gets its name and account, and that it may do everything', async () => {
  const key = (await shop.post('/v2/api-keys', { name: 'till' })).body;
  const answer = await apiOf(world.url, key.key).get(ME);
  const id = await idOf(shop);
  expect(answer.body).toEqual({
    object: 'me',
    kind: 'key',
    id: key.id,
    name: 'till',
    email: null,
    role: 'owner',
    scopes: expect.arrayContaining([...OPENING_SCOPES]),
    capabilities: ['read', 'write', 'files', 'tax_ids', 'webhooks', 'people', 'own'],
    has_full_access: true,
    session_id: null,
    csrf_token: null,
    portal: null,
    account: { id, name: 'Shop', is_demo: false, default_currency: 'eur', time_zone: 'Europe/Berlin' },
    accounts: [{ id, name: 'Shop', role: 'owner', is_current: true, is_demo: false }],
    has_several_cells: false,
  });
});

test('an application gets the scopes of its token and no more, whatever these are', async () => {
  const granted = await makeGrant(world, shop, { name: 'Till & Co', scopes: ['webhooks'] });
  const { body } = await apiOf(world.url, granted.access_token).get(ME);
  expect(body).toMatchObject({
    kind: 'application',
    id: granted.application_id,
    name: 'Till & Co',
    scopes: ['webhooks'],
    has_full_access: false,
    csrf_token: null,
  });
  expect(body.account.id).toBe(await idOf(shop));
});

test("the operator's command line gets the account in which it works", async () => {
  const { body } = await apiOf(commands.address, 'the-operator-of-one-process').get(ME);
  expect(body).toMatchObject({ kind: 'operator', id: 'operator', name: null, has_full_access: true });
  expect(body.account.id).toBe(await idOf(shop));
});

test('a page writes with the token it reads here, and with no other', async () => {
  const { id, email, browser } = await makeUser(shop, 'member');
  const me = await ask(browser);
  expect(me).toMatchObject({ kind: 'user', id, email, name: 'The member', role: 'member' });
  expect(me.has_full_access).toBe(false);
  const sessions = (await shop.get(`/v2/sessions?user_id=${id}`)).body.data;
  expect(sessions.map((each: { id: string }) => each.id)).toEqual([me.session_id]);
  const make = (token: string | null) =>
    browser.call('POST', '/v2/affiliates/programs', { name: `By ${token}` }, token);
  expect((await make(me.csrf_token)).status).toBe(201);
  for (const wrong of [null, '', `${me.csrf_token}x`]) {
    const refused = await make(wrong);
    expect([refused.status, refused.reason]).toEqual([403, 'cross_site_request']);
  }
});

test('a viewer reads with the session, and may change nothing despite the token', async () => {
  const { browser } = await makeUser(shop, 'viewer');
  const me = await ask(browser);
  expect([me.role, me.has_full_access]).toEqual(['viewer', false]);
  expect((await browser.call('GET', '/v2/affiliates', undefined, null)).status).toBe(200);
  const refused = await browser.call('POST', '/v2/affiliates/programs', { name: 'No' }, me.csrf_token);
  expect([refused.status, refused.reason]).toEqual([403, 'role_too_low']);
});

test('a member of two accounts sees both, and continues in the other with another token', async () => {
  const { email } = await makeUser(shop, 'owner');
  const invited = (await agency.post('/v2/users', { email, name: 'Bea', role: 'viewer' })).body;
  const joining = browserAt(world.url);
  await joining.submit('/password/join', { token: tokenIn(invited.invitation_url), current: PASSWORD });
  const { browser: own } = await signInAs(world.url, email);
  const places = [await idOf(shop), await idOf(agency)];
  const before = await ask(own);
  expect(before.accounts.map((each: { id: string }) => each.id).toSorted()).toEqual(places.toSorted());
  const other = before.accounts.find((each: { is_current: boolean }) => !each.is_current);
  const form = { csrf: before.csrf_token, account: other.id, next: '/payouts' };
  expect((await own.submit('/account/switch', form)).location).toBe('/payouts');
  const after = await ask(own);
  expect([after.account.id, after.account.name]).toEqual([other.id, other.name]);
  expect(after.role).toBe(other.role);
  expect(after.csrf_token).not.toBe(before.csrf_token);
  expect(after.accounts.filter((each: { is_current: boolean }) => each.is_current)).toHaveLength(1);
});

test('no browser caches the response, and no page of another origin may read it', async () => {
  const { browser } = await makeUser(shop, 'owner');
  const answer = await fetch(world.url + ME, {
    headers: { cookie: `payhook_session=${browser.cookie()}`, origin: 'https://evil.example' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  for (const name of ['access-control-allow-origin', 'access-control-allow-credentials', 'etag'])
    expect(answer.headers.get(name), name).toBeNull();
});
