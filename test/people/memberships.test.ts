import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningServer, serve } from '../../src/app/serve.ts';
import type { Role } from '../../src/contract/roles.ts';
import { nil } from '../../src/kernel/ids.ts';
import { register, tokensFor } from '../oauth/support.ts';
import { type Api, apiOf } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  type Browser,
  browserAt,
  makeUser,
  moveTimeBack,
  PASSWORD,
  signInAs,
  tokenIn,
  unknownLink,
} from './support.ts';

const world = useWorld();
let shop: Api;
let agency: Api;
let commands: RunningServer;
let operator: Api;
beforeAll(async () => {
  shop = world.api;
  agency = await world.otherAccount('Agency');
  const [account] = await world.platform.accounts.list();
  const token = randomBytes(32).toString('base64url');
  const listen = { host: '127.0.0.1', port: 0 };
  commands = await serve(world.platform, {
    listen,
    operator: { token, account: account?.uuid ?? nil(), cell: 0 },
  });
  operator = apiOf(commands.address, token);
});
afterAll(() => commands.close());

const OTHER = 'nine ordinary saucers';
const isSignedIn = async (browser: Browser) => (await browser.get('/settings/profile')).status === 200;
const inviteTo = async (api: Api, email: string, role: Role = 'member') =>
  (await api.post('/v2/users', { email, name: 'Bea', role })).body;
const accountId = async (api: Api) => (await api.get('/v2/account')).body.id as string;
/** The account of a browser's session. */
const accountOf = async (browser: Browser) =>
  (await browser.call('GET', '/v2/account', undefined, null)).body.id;
const join = (browser: Browser, token: string, current = PASSWORD) =>
  browser.submit('/password/join', { token, current });
const choose = (browser: Browser, token: string, password = OTHER) =>
  browser.submit('/password', { token, password, again: password });

/** A member of the shop who is also a member of the agency, with a browser in each. */
async function makeBoth(role: Role = 'member') {
  const { id: inShop, email, browser: shopBrowser } = await makeUser(shop, role);
  const { id: inAgency, invitation_url } = await inviteTo(agency, email, role);
  const agencyBrowser = browserAt(world.url);
  expect((await join(agencyBrowser, tokenIn(invitation_url))).location).toBe('/');
  return { email, inShop, inAgency, shopBrowser, agencyBrowser };
}

describe('an invitation', () => {
  test('is answered, listed and shown alike, whether or not the address is known elsewhere', async () => {
    const { email } = await makeUser(shop, 'owner', 'known-1@example.com');
    const shape = (text: string, mail: string) =>
      text
        .replaceAll(mail, 'MAIL')
        .replaceAll(/phl_\w+/g, 'TOKEN')
        .replaceAll(/usr_\w+/g, 'ID')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
    const seen: string[][] = [];
    for (const mail of [email, 'nobody1@example.com']) {
      const invited = await agency.post('/v2/users', { email: mail, name: 'Bea', role: 'member' });
      const again = await agency.post(`/v2/users/${invited.body.id}/reset-password`);
      const page = await browserAt(world.url).get(`/password?token=${tokenIn(again.body.reset_url)}`);
      const wrong = await join(browserAt(world.url), tokenIn(again.body.reset_url), 'not the password');
      const record = await agency.get(`/v2/users/${invited.body.id}`);
      const listed = await agency.get(`/v2/users?status=invited&email=${mail}`);
      seen.push(
        [invited, again, page, wrong, record, listed].map(
          ({ status, text }) => `${status} ${shape(text, mail)}`,
        ),
      );
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.[0]).toContain('"status":"invited"');
    await world.query('delete from sign_in_failures');
  });

  test('of a person with a password is accepted with it, and the password stays', async () => {
    const { email, browser } = await makeUser(shop, 'viewer');
    const { id, invitation_url } = await inviteTo(agency, email, 'owner');
    const token = tokenIn(invitation_url);
    const refused = await choose(browserAt(world.url), token);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('already has a password on this server: join with that one');
    expect((await join(browserAt(world.url), token, OTHER)).status).toBe(400);
    const there = browserAt(world.url);
    expect((await join(there, token)).status).toBe(303);
    expect((await agency.get(`/v2/users/${id}`)).body).toMatchObject({
      status: 'active',
      role: 'owner',
      email,
    });
    expect([await accountOf(there), await accountOf(browser)]).toEqual([
      await accountId(agency),
      await accountId(shop),
    ]);
    expect((await join(browserAt(world.url), token)).status).toBe(410);
    expect((await signInAs(world.url, email, OTHER)).answer.status).toBe(400);
  });

  test('is accepted with one button by a signed-in user, with the token of the session', async () => {
    const { email, browser } = await makeUser(shop, 'viewer');
    const token = tokenIn((await inviteTo(agency, email)).invitation_url);
    const csrf = await browser.token();
    expect((await browser.get(`/password?token=${token}`)).text).not.toContain('type="password"');
    expect((await browser.submit('/password/join', { token, csrf: 'guessed' })).status).toBe(403);
    expect((await browser.submit('/password/join', { token, csrf })).location).toBe('/');
    expect(await accountOf(browser)).toBe(await accountId(agency));
  });

  test('does not add a user who is signed in as someone else', async () => {
    const stranger = await makeUser(shop, 'owner');
    const { email } = await makeUser(shop, 'viewer');
    const token = tokenIn((await inviteTo(agency, email)).invitation_url);
    const csrf = await stranger.browser.token();
    const answer = await stranger.browser.submit('/password/join', { token, csrf, current: OTHER });
    expect(answer.status).toBe(400);
  });

  test('ends with the removal of the invited user, and limits password attempts', async () => {
    const { email } = await makeUser(shop, 'viewer');
    const gone = await inviteTo(agency, email);
    await agency.delete(`/v2/users/${gone.id}`);
    expect((await join(browserAt(world.url), tokenIn(gone.invitation_url))).status).toBe(410);
    const token = tokenIn((await inviteTo(agency, email)).invitation_url);
    for (let i = 0; i < 10; i++)
      expect((await join(browserAt(world.url), token, `wrong number ${i}`)).status).toBe(400);
    expect((await join(browserAt(world.url), token)).status).toBe(429);
    await moveTimeBack(world, '16 minutes');
    expect((await join(browserAt(world.url), token)).status).toBe(303);
    expect((await join(browserAt(world.url), unknownLink())).status).toBe(410);
  });

  test('as the first owner needs the existing password of the address', async () => {
    const { email } = await makeUser(shop, 'viewer');
    await world.otherAccount('Third');
    const third = (await world.platform.accounts.list()).find(({ name }) => name === 'Third');
    const token = tokenIn((await world.platform.accounts.setUpLink(third?.uuid ?? nil())) ?? '');
    const setUp = (password: string) =>
      browserAt(world.url).submit('/set-up', { token, account_name: 'Third', email, password });
    const wrong = await setUp(OTHER);
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('already has an account here: enter its password');
    expect((await setUp(PASSWORD)).status).toBe(303);
    const { browser } = await signInAs(world.url, email);
    expect((await browser.call('GET', '/v2/me')).body.account.name).toBe('Third');
  });
});

describe('a member of two accounts', () => {
  test('signs in to the last account, sees both, and switches', async () => {
    const { email, inShop, inAgency, shopBrowser, agencyBrowser } = await makeBoth('owner');
    expect(
      (await shop.get(`/v2/users?email=${email}`)).body.data.map(({ id }: { id: string }) => id),
    ).toEqual([inShop]);
    expect((await agency.get(`/v2/users/${inShop}`)).status).toBe(404);
    const { browser } = await signInAs(world.url, email);
    expect(await accountOf(browser)).toBe(await accountId(agency));
    const old = browser.cookie();
    const csrf = await browser.token();
    expect((await browser.get('/account/switch')).text).toContain('Switch to Default');
    const wanted = { csrf, account: await accountId(shop), next: '/docs' };
    expect((await browser.submit('/account/switch', { ...wanted, csrf: 'guessed' })).status).toBe(403);
    expect((await browser.submit('/account/switch', wanted)).location).toBe('/docs');
    expect(await accountOf(browser)).toBe(await accountId(shop));
    expect(browser.cookie()).not.toBe(old);
    expect(await isSignedIn(browserAt(world.url, old))).toBe(false);
    // a form of the previous account does nothing in the new one
    expect((await browser.submit('/account/switch', wanted)).status).toBe(403);
    const write = await browser.call('POST', '/v2/affiliates/programs', { name: 'Late form' }, csrf);
    expect([write.status, write.reason]).toEqual([403, 'cross_site_request']);
    expect(await accountOf((await signInAs(world.url, email)).browser)).toBe(await accountId(shop));
    expect(await isSignedIn(shopBrowser)).toBe(true);
    const actions = async (api: Api, id: string) =>
      (await api.get(`/v2/audit-log?actor_id=${id}&sort=created_at`)).body.data.map(
        ({ action }: { action: string }) => action,
      );
    expect(await actions(agency, inAgency)).toEqual(['acceptInvitation', 'signIn', 'signOut']);
    expect((await actions(shop, inShop)).slice(-2)).toEqual(['signIn', 'signIn']);
    expect(await isSignedIn(agencyBrowser)).toBe(true);
  });

  test('cannot switch to another account, which is answered like an unknown one', async () => {
    const { email, browser } = await makeUser(shop, 'owner');
    await inviteTo(agency, email);
    const csrf = await browser.token();
    for (const account of [await accountId(agency), `acc_${'0192f8e5'.repeat(4)}`, 'x', '']) {
      const answer = await browser.submit('/account/switch', { csrf, account, next: '//evil.example' });
      expect(answer.status).toBe(404);
    }
    expect(await accountOf(browser)).toBe(await accountId(shop));
    const page = await browser.get('/account/switch?next=//evil.example');
    expect(page.text).not.toContain('evil.example');
    expect(page.text).not.toContain('Agency');
  });

  longRun.test('does not extend a session by switching', async () => {
    const { shopBrowser: browser } = await makeBoth();
    await world.query(`update sessions set expires_at = expires_at - interval '29 days'`);
    const csrf = await browser.token();
    await browser.submit('/account/switch', { csrf, account: await accountId(agency) });
    expect(await accountOf(browser)).toBe(await accountId(agency));
    await world.query(`update sessions set expires_at = expires_at - interval '1 day 1 second'`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('is removed from one: access to that ends, and nothing else', async () => {
    const { email, inShop, shopBrowser, agencyBrowser } = await makeBoth('owner');
    const application = await register(shop);
    const person = async (browser: Browser, id: string) => ({
      cookie: browser.cookie() ?? '',
      csrf: await browser.token(),
      id,
    });
    const tokens = {
      shop: await tokensFor(world, await person(shopBrowser, inShop), application),
      agency: await tokensFor(world, await person(agencyBrowser, inShop), application),
    };
    const statusOf = async (token: string) => (await apiOf(world.url, token).get('/v2/account')).status;
    await makeUser(shop, 'owner');
    expect((await shop.delete(`/v2/users/${inShop}`)).status).toBe(204);
    expect([await isSignedIn(shopBrowser), await isSignedIn(agencyBrowser)]).toEqual([false, true]);
    expect(await statusOf(tokens.shop.access_token)).toBe(401);
    expect(await statusOf(tokens.agency.access_token)).toBe(200);
    const { browser } = await signInAs(world.url, email);
    expect(await accountOf(browser)).toBe(await accountId(agency));
    expect((await browser.call('GET', '/v2/me')).text).not.toContain('Default');
    // invited again, they return with their password, not a new one by the owner's link
    const back = await inviteTo(shop, email);
    expect((await choose(browserAt(world.url), tokenIn(back.invitation_url))).status).toBe(400);
    expect((await join(browserAt(world.url), tokenIn(back.invitation_url))).status).toBe(303);
  });

  test('who is removed from the last account has no password any more', async () => {
    const { email, inShop, inAgency } = await makeBoth();
    await shop.delete(`/v2/users/${inShop}`);
    expect((await signInAs(world.url, email)).answer.status).toBe(303);
    await agency.delete(`/v2/users/${inAgency}`);
    expect((await signInAs(world.url, email)).answer.status).toBe(400);
    expect(await world.query('select password_hash from people where email = $1', [email])).toEqual([
      { password_hash: null },
    ]);
    const token = tokenIn((await inviteTo(shop, email)).invitation_url);
    expect((await choose(browserAt(world.url), token)).status).toBe(303);
    expect((await signInAs(world.url, email, OTHER)).answer.status).toBe(303);
  });

  test('changes the password for both: sessions in the other account end too', async () => {
    const { inShop, inAgency, shopBrowser, agencyBrowser } = await makeBoth();
    const csrf = await shopBrowser.token();
    await shopBrowser.submit('/account/password', { csrf, current: PASSWORD, new: OTHER, again: OTHER });
    expect([await isSignedIn(shopBrowser), await isSignedIn(agencyBrowser)]).toEqual([true, false]);
    const changes = async (api: Api, id: string) =>
      (await api.get(`/v2/audit-log?actor_id=${id}&action=changePassword`)).body.data.length;
    expect([await changes(shop, inShop), await changes(agency, inAgency)]).toEqual([1, 0]);
  });

  test('sees and ends their own sessions in both; each account is notified of its own', async () => {
    const { inAgency, inShop, shopBrowser, agencyBrowser } = await makeBoth();
    const { body: own } = await shopBrowser.call('GET', '/v2/me/sessions');
    const names = own.data.map((each: { account_name: string }) => each.account_name);
    expect(names.toSorted()).toEqual(['Agency', 'Default']);
    const [{ id: session }] = (await agency.get(`/v2/sessions?user_id=${inAgency}`)).body.data;
    expect((await shop.get(`/v2/sessions?user_id=${inAgency}`)).body.data).toEqual([]);
    expect((await shop.delete(`/v2/sessions/${session}`)).status).toBe(404);
    expect((await shopBrowser.call('DELETE', `/v2/me/sessions/${session}`)).status).toBe(204);
    expect(await isSignedIn(agencyBrowser)).toBe(false);
    const entries = async (api: Api, id: string) =>
      (await api.get(`/v2/audit-log?actor_id=${id}&action=deleteSession`)).body.data.length;
    expect([await entries(shop, inShop), await entries(agency, inAgency)]).toEqual([0, 1]);
  });
});

describe('the password of a member of two accounts', () => {
  test('cannot be set by an owner of one; the operator may', async () => {
    const { email, inShop, inAgency, shopBrowser, agencyBrowser } = await makeBoth();
    const boss = await makeUser(agency, 'owner');
    for (const answer of [
      await agency.post(`/v2/users/${inAgency}/reset-password`),
      await shop.post(`/v2/users/${inShop}/reset-password`),
      await boss.browser.call('POST', `/v2/users/${inAgency}/reset-password`),
    ])
      expect([answer.status, answer.reason]).toEqual([409, 'member_elsewhere']);
    const { body } = await operator.post(`/v2/users/${inShop}/reset-password`);
    expect(await isSignedIn(shopBrowser)).toBe(true);
    const browser = browserAt(world.url);
    expect((await choose(browser, tokenIn(body.reset_url))).status).toBe(303);
    expect([await isSignedIn(shopBrowser), await isSignedIn(agencyBrowser)]).toEqual([false, false]);
    expect(await accountOf(browser)).toBe(await accountId(shop));
    expect((await signInAs(world.url, email, OTHER)).answer.status).toBe(303);
  });

  test('cannot be changed by a link that was created while they were in one', async () => {
    const { id, email } = await makeUser(shop, 'member');
    const kept = tokenIn((await shop.post(`/v2/users/${id}/reset-password`)).body.reset_url);
    const token = tokenIn((await inviteTo(agency, email)).invitation_url);
    expect((await browserAt(world.url).get(`/password?token=${kept}`)).status).toBe(200);
    await join(browserAt(world.url), token);
    expect((await browserAt(world.url).get(`/password?token=${kept}`)).status).toBe(410);
    expect((await choose(browserAt(world.url), kept)).status).toBe(410);
    expect((await signInAs(world.url, email)).answer.status).toBe(303);
  });

  longRun.test('a pending invitation elsewhere is no membership: the owner of the one may', async () => {
    const { id, email } = await makeUser(shop, 'member');
    const pending = await inviteTo(agency, email);
    const { status, body } = await shop.post(`/v2/users/${id}/reset-password`);
    expect(status).toBe(200);
    expect((await choose(browserAt(world.url), tokenIn(body.reset_url))).status).toBe(303);
    expect((await join(browserAt(world.url), tokenIn(pending.invitation_url), OTHER)).status).toBe(303);
  });
});
