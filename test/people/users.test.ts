import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nil } from '../../src/kernel/ids.ts';
import { borrowWorld } from '../support/pool.ts';
import { useWorld, type World } from '../support/world.ts';
import {
  type Browser,
  browserAt,
  everything,
  makeUser,
  moveTimeBack,
  PASSWORD,
  signInAs,
  tokenIn,
  unknownLink,
} from './support.ts';

const world = useWorld();

const OTHER = 'nine ordinary saucers';
const choose = (browser: Browser, token: string, password = PASSWORD, again = password) =>
  browser.submit('/password', { token, password, again });
const isSignedIn = async (browser: Browser) => (await browser.get('/settings/profile')).status === 200;

async function setUpLink(on: World): Promise<string> {
  const [account] = await on.platform.accounts.list();
  return tokenIn((await on.platform.accounts.setUpLink(account?.uuid ?? nil())) ?? 'http://x');
}

describe('setting up', () => {
  let fresh: World;
  beforeAll(async () => {
    fresh = await borrowWorld();
  });
  afterAll(() => fresh.close());
  const ada = { email: 'Ada@Example.com', password: PASSWORD, account_name: 'Shop' };

  test('before there is a user, the sign-in page says how to begin', async () => {
    expect((await browserAt(fresh.url).get('/sign-in')).text).toContain('payhook users setup-link');
  });

  test('the link is valid for a day; a newer one ends it; an invalid one gets the same response', async () => {
    const first = await setUpLink(fresh);
    const second = await setUpLink(fresh);
    const browser = browserAt(fresh.url);
    const shown = [await browser.get(`/set-up?token=${second}`), await browser.get(`/set-up?token=${first}`)];
    expect(shown.map(({ status }) => status)).toEqual([200, 410]);
    for (const query of ['', '?token=', '?token=x', `?token=${unknownLink()}`])
      expect((await browser.get(`/set-up${query}`)).text).toBe(shown[1]?.text);
    expect((await browser.get(`/password?token=${second}`)).status).toBe(410);
    await moveTimeBack(fresh, '24 hours');
    expect((await browser.submit('/set-up', { ...ada, token: second })).status).toBe(410);
  });

  test.each([
    ['no name', { account_name: ' ' }, 'Enter the name of your business'],
    ['a web address as the name', { account_name: 'www.shop.com' }, 'must not contain a web address'],
    ['no e-mail address', { email: 'ada' }, 'Enter your e-mail address'],
    ['a short password', { password: 'nine char' }, 'at least 10 characters'],
    ['a long password', { password: 'abcdé'.repeat(41) }, 'at most 200'],
    ['the e-mail address', { password: 'ADA@example.com' }, 'must not be your e-mail address'],
    ['a common password', { password: 'Password123' }, 'too easy to guess'],
    ['one character', { password: 'aaaaaaaaaaaa' }, 'too easy to guess'],
  ])(
    '%s is refused next to the field, and the typed text stays, except passwords',
    async (_, wrong, message) => {
      const token = await setUpLink(fresh);
      const answer = await browserAt(fresh.url).submit('/set-up', { ...ada, token, ...wrong });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(message);
      expect(answer.text).toContain('aria-invalid="true"');
      expect(answer.text).not.toContain(PASSWORD);
    },
  );

  test('it works once, even for many at once, and creates the owner, signed in', async () => {
    const token = await setUpLink(fresh);
    const browsers = Array.from({ length: 4 }, () => browserAt(fresh.url));
    const answers = await Promise.all(
      browsers.map((browser, i) =>
        browser.submit('/set-up', { ...ada, token, email: `ada${i}@example.com` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410]);
    const winner = browsers[answers.findIndex(({ status }) => status === 303)] as Browser;
    expect(await isSignedIn(winner)).toBe(true);
    const { body } = await winner.call('GET', '/v2/users');
    expect(body.data).toMatchObject([
      { name: expect.stringMatching(/^ada\d$/), role: 'owner', status: 'active' },
    ]);
    expect(
      await fresh.platform.accounts.setUpLink((await fresh.platform.accounts.list())[0]?.uuid ?? nil()),
    ).toBeNull();
  });
});

describe('invitations and resets', () => {
  test('an invited user chooses a password by the link, once, within 7 days', async () => {
    const { body } = await world.api.post('/v2/users', {
      email: 'Bob@Example.com',
      name: ' Bob ',
      role: 'member',
    });
    expect(body).toMatchObject({ object: 'user', email: 'bob@example.com', name: 'Bob', status: 'invited' });
    const token = tokenIn(body.invitation_url);
    const browser = browserAt(world.url);
    expect((await browser.get(`/password?token=${token}`)).text).toContain('Welcome, Bob');
    expect((await choose(browser, token, 'bob@example.com')).status).toBe(400);
    expect((await choose(browser, token)).location).toBe('/');
    expect(await isSignedIn(browser)).toBe(true);
    expect((await choose(browserAt(world.url), token, OTHER)).status).toBe(410);
    expect((await world.api.get(`/v2/users/${body.id}`)).body.status).toBe('active');

    const late = await world.api.post('/v2/users', {
      email: 'late@example.com',
      name: 'Late',
      role: 'viewer',
    });
    await moveTimeBack(world, '7 days');
    expect((await choose(browser, tokenIn(late.body.invitation_url))).status).toBe(410);
  });

  test('a reset ends all other sessions and the earlier links; the old password stays until then', async () => {
    const { id, email, browser } = await makeUser(world.api, 'member');
    const first = (await world.api.post(`/v2/users/${id}/reset-password`)).body;
    const { body } = await world.api.post(`/v2/users/${id}/reset-password`);
    expect(body).toMatchObject({ object: 'password_reset', user_id: id });
    expect((await signInAs(world.url, email)).answer.status).toBe(303);
    const fresh = browserAt(world.url);
    expect((await choose(fresh, tokenIn(first.reset_url), OTHER)).status).toBe(410);
    expect((await choose(fresh, tokenIn(body.reset_url), OTHER)).status).toBe(303);
    expect([await isSignedIn(browser), await isSignedIn(fresh)]).toEqual([false, true]);
    expect((await signInAs(world.url, email)).answer.status).toBe(400);
    expect((await signInAs(world.url, email, OTHER)).answer.status).toBe(303);
  });

  test('the same characters typed in another way are the same password', async () => {
    const { id, email } = await makeUser(world.api, 'member');
    const { body } = await world.api.post(`/v2/users/${id}/reset-password`);
    const composed = 'café crème brûlée'.normalize('NFC');
    await choose(browserAt(world.url), tokenIn(body.reset_url), composed);
    expect((await signInAs(world.url, email, composed.normalize('NFD'))).answer.status).toBe(303);
  });

  test('a repeated request does not show the link again', async () => {
    const headers = { 'idempotency-key': 'invite once' };
    const user = { email: 'once@example.com', name: 'Once', role: 'viewer' };
    const first = await world.api.post('/v2/users', user, headers);
    const again = await world.api.post('/v2/users', user, headers);
    expect([again.status, again.body.id, again.body.invitation_url]).toEqual([201, first.body.id, null]);
  });
});

describe('your own password', () => {
  const change = async (browser: Browser, current: string, next: string, csrf?: string) =>
    browser.submit('/account/password', {
      csrf: csrf ?? (await browser.token()),
      current,
      new: next,
      again: next,
    });

  test('is changed with the current one; the browser gets another session, and all earlier ones end', async () => {
    const { email, browser } = await makeUser(world.api, 'viewer');
    const { browser: phone } = await signInAs(world.url, email);
    expect((await change(browser, PASSWORD, OTHER, 'guessed')).status).toBe(403);
    const refused = [
      await change(browser, 'not the password', OTHER),
      await change(browser, PASSWORD, 'short'),
      await change(browser, PASSWORD, email),
    ];
    expect(refused.map(({ location }) => location)).toEqual([
      '/settings/profile?password=wrong',
      '/settings/profile?password=weak',
      '/settings/profile?password=weak',
    ]);
    expect(await isSignedIn(phone)).toBe(true);
    const copy = browserAt(world.url, browser.cookie());
    const answer = await change(browser, PASSWORD, OTHER);
    expect(browser.cookie()).not.toBe(copy.cookie());
    expect(answer.location).toBe('/settings/profile?password=changed');
    expect([await isSignedIn(phone), await isSignedIn(copy), await isSignedIn(browser)]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await signInAs(world.url, email, OTHER)).answer.status).toBe(303);
  });

  test('attempts are limited for an intruder in an open session', async () => {
    const { browser } = await makeUser(world.api, 'viewer');
    for (let i = 0; i < 10; i++)
      expect((await change(browser, `wrong number ${i}`, OTHER)).location).toMatch(/password=wrong$/);
    expect((await change(browser, PASSWORD, OTHER)).status).toBe(429);
    await world.query('delete from sign_in_failures');
  });
});

describe('users', () => {
  test('an e-mail address is one user of an account, in any case', async () => {
    await makeUser(world.api, 'viewer', 'unique@example.com');
    const again = { email: 'UNIQUE@example.com', name: 'X', role: 'viewer' };
    const answer = await world.api.post('/v2/users', again);
    expect([answer.status, answer.reason]).toEqual([409, 'duplicate_email']);
    const other = await world.otherAccount('Neighbour');
    expect((await other.post('/v2/users', again)).body).toMatchObject({
      email: 'unique@example.com',
      status: 'invited',
    });
  });

  test('a removed user is out at once, stays readable, and the address is free again', async () => {
    const { id, email, browser } = await makeUser(world.api, 'member');
    const reset = await world.api.post(`/v2/users/${id}/reset-password`);
    expect((await world.api.delete(`/v2/users/${id}`)).status).toBe(204);
    expect(await isSignedIn(browser)).toBe(false);
    expect((await choose(browser, tokenIn(reset.body.reset_url), OTHER)).status).toBe(410);
    expect((await signInAs(world.url, email)).answer.status).toBe(400);
    expect((await world.api.get(`/v2/users/${id}`)).body).toMatchObject({ status: 'removed', email });
    expect((await world.api.get(`/v2/users?email=${email}`)).body.data).toEqual([]);
    expect((await world.api.get(`/v2/users?status=removed&email=${email}`)).body.data).toHaveLength(1);
    for (const answer of [
      await world.api.delete(`/v2/users/${id}`),
      await world.api.patch(`/v2/users/${id}`, { name: 'Ghost' }),
      await world.api.post(`/v2/users/${id}/reset-password`),
    ])
      expect([answer.status, answer.reason]).toEqual([404, 'resource_missing']);
    await makeUser(world.api, 'member', email);
  });

  test('the last owner cannot leave, not even two at once', async () => {
    const api = await world.otherAccount('Owned');
    const [one, two] = [await makeUser(api, 'owner'), await makeUser(api, 'owner')];
    await api.post('/v2/users', { email: 'pending@example.com', name: 'P', role: 'owner' });
    const answers = await Promise.all([
      api.delete(`/v2/users/${one.id}`),
      api.patch(`/v2/users/${two.id}`, { role: 'viewer' }),
    ]);
    expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
    const { body } = await api.get('/v2/users?role=owner&status=active');
    const [last] = body.data;
    for (const answer of [
      await api.delete(`/v2/users/${last.id}`),
      await api.patch(`/v2/users/${last.id}`, { role: 'member' }),
    ])
      expect([answer.status, answer.reason]).toEqual([409, 'last_owner']);
    const renamed = await api.patch(`/v2/users/${last.id}`, { role: 'owner', name: 'The last' });
    expect(renamed.body).toMatchObject({ name: 'The last', role: 'owner' });
  });
});

test('a new role applies from the next request', async () => {
  const { id, browser } = await makeUser(world.api, 'viewer');
  const token = await browser.token();
  const write = () => browser.call('POST', '/v2/affiliates/programs', { name: `By ${id}` }, token);
  expect((await write()).reason).toBe('role_too_low');
  await world.api.patch(`/v2/users/${id}`, { role: 'member' });
  expect((await write()).status).toBe(201);
});

describe('the API with a session', () => {
  test('takes writes with the token of the session only; reads need none', async () => {
    const { browser } = await makeUser(world.api, 'owner');
    const other = await makeUser(world.api, 'owner');
    const write = (token: string | null) =>
      browser.call('POST', '/v2/affiliates/programs', { name: 'With a session' }, token);
    for (const token of [null, 'guessed', await other.browser.token()])
      expect([(await write(token)).status, (await write(token)).reason]).toEqual([403, 'cross_site_request']);
    expect((await browser.call('GET', '/v2/affiliates/programs', undefined, null)).status).toBe(200);
    expect((await write(await browser.token())).status).toBe(201);
  });

  test('is refused with an unknown or expired cookie', async () => {
    for (const cookie of ['x', 'phi_x', unknownLink().replace('phl_', 'phi_')]) {
      const answer = await browserAt(world.url, cookie).call('GET', '/v2/account', undefined, null);
      expect([answer.status, answer.reason]).toEqual([401, 'invalid_credentials']);
    }
  });

  test('sees its own account only', async () => {
    const neighbour = await world.otherAccount('Next door');
    const { id, browser } = await makeUser(neighbour, 'owner');
    const { body } = await browser.call('GET', '/v2/users');
    expect(body.data.map((user: { id: string }) => user.id)).toEqual([id]);
    expect((await world.api.get(`/v2/users/${id}`)).status).toBe(404);
    expect((await world.api.get(`/v2/sessions?user_id=${id}`)).body.data).toEqual([]);
  });
});

test('the audit log shows who signed in and out, and every change of passwords', async () => {
  const { id, email, browser } = await makeUser(world.api, 'owner');
  await browser.submit('/sign-out', { csrf: await browser.token() });
  await signInAs(world.url, email, 'a wrong password');
  await browser.submit('/sign-in', { email, password: PASSWORD });
  const passwords = { current: PASSWORD, new: OTHER, again: OTHER };
  await browser.submit('/account/password', { csrf: await browser.token(), ...passwords });
  await signInAs(world.url, email, OTHER);
  await browser.call('DELETE', '/v2/me/sessions');
  const { body } = await world.api.post(`/v2/users/${id}/reset-password`);
  await choose(browser, tokenIn(body.reset_url));
  const log = await world.api.get(`/v2/audit-log?actor_id=${id}&sort=created_at`);
  expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'acceptInvitation',
    'signOut',
    'signIn',
    'changePassword',
    'signIn',
    'deleteSession',
    'resetPassword',
  ]);
  for (const entry of log.body.data) {
    expect(entry).toMatchObject({ actor: { kind: 'user', id }, user_id: id });
    expect(entry.request_id).toMatch(/^req_/);
  }
});

test('no password, cookie, link or token is in the database or in the log', async () => {
  const invited = await world.api.post('/v2/users', {
    email: 'secret@example.com',
    name: 'S',
    role: 'owner',
  });
  const link = tokenIn(invited.body.invitation_url);
  const browser = browserAt(world.url);
  const password = 'an unrepeatable password 4711';
  await browser.get(`/password?token=${link}`);
  await choose(browser, link, password);
  const reset = tokenIn((await world.api.post(`/v2/users/${invited.body.id}/reset-password`)).body.reset_url);
  await signInAs(world.url, 'secret@example.com', `${password}, almost`);
  // a user types it into the wrong field
  await browserAt(world.url).submit('/sign-in', {
    email: `${password.replaceAll(' ', '')}@x`,
    password: 'x',
  });
  const cookie = browser.cookie() ?? '';
  const stored = await everything(world);
  const logged = JSON.stringify(world.log);
  expect(stored).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  for (const secret of [password, password.replaceAll(' ', ''), cookie, link, reset]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(stored).not.toContain(secret);
    expect(logged).not.toContain(secret);
  }
  expect(logged).not.toContain(await browser.token());
});

test('pages cannot be framed, run no script, load nothing and are never cached', async () => {
  const { browser } = await makeUser(world.api, 'owner');
  for (const path of ['/sign-in', '/account/switch', '/set-up', '/password?token=x']) {
    const { headers, text } = await (path === '/sign-in' ? browserAt(world.url) : browser).get(path);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    // the browser sends the address of a link to no other site, and proxies do not log it
    expect(['no-referrer', 'strict-origin']).toContain(headers.get('referrer-policy'));
    const isSignInPath = /^\/(sign-in|account\/switch)/.test(path);
    expect(headers.get('cross-origin-opener-policy')).toBe(isSignInPath ? 'unsafe-none' : 'same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
  }
});
