import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { madeOnce } from '../api/fixtures.ts';
import { isLong } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { type Browser, browserAt, makeUser, moveTimeBack, PASSWORD, signInAs } from './support.ts';

const world = useWorld();
let email: string;
let id: string;
beforeAll(async () => {
  ({ email, id } = await makeUser(world.api, 'owner'));
});

const WRONG = 'The e-mail address or the password is wrong.';
const isSignedIn = async (browser: Browser) => (await browser.get('/settings/profile')).status === 200;

test('a user signs in with e-mail address and password, and sees their identity', async () => {
  const { browser, answer } = await signInAs(world.url, `  ${email.toUpperCase()} `);
  expect([answer.status, answer.location]).toEqual([303, '/']);
  expect((await browser.call('GET', '/v2/me')).body).toMatchObject({ kind: 'user', email, role: 'owner' });
});

test('scripts and other sites cannot get the cookie, which ends with the session', async () => {
  const { answer } = await signInAs(world.url, email);
  expect(answer.headers.get('set-cookie')).toMatch(
    /^payhook_session=phi_\w{49}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
  );
});

test('the cookie is Secure, and only this host can set it, where the public address is https', async () => {
  const secure = await borrowWorld({ settings: { BASE_URL: 'https://pay.example.com' } });
  const made = await secure.api.post('/v2/users', { email: 'a@example.com', name: 'A', role: 'owner' });
  expect(made.body.invitation_url).toMatch(/^https:\/\/pay\.example\.com\/password\?token=phl_/);
  const token = new URL(made.body.invitation_url).searchParams.get('token') ?? '';
  const answer = await browserAt(secure.url).submit('/password', {
    token,
    password: PASSWORD,
    again: PASSWORD,
  });
  const set = answer.headers.get('set-cookie') ?? '';
  expect(set).toMatch(/^__Host-payhook_session=phi_\w+; Path=\/; (?!.*Domain).*; Secure$/);
  const account = (cookie: string) =>
    fetch(`${secure.url}/v2/account`, { headers: { cookie } }).then(({ status }) => status);
  const cookie = set.split(';')[0] ?? '';
  expect(await account(cookie)).toBe(200);
  // another host of the domain could have planted this one
  expect(await account(cookie.replace('__Host-', ''))).toBe(401);
  await secure.close();
});

describe('a failed sign-in', () => {
  test.each([
    ['a wrong password', () => ({ email, password: 'seven unusual teapot' })],
    ['another case', () => ({ email, password: PASSWORD.toUpperCase() })],
    ['an unknown e-mail address', () => ({ email: 'nobody@example.com', password: PASSWORD })],
  ])('with %s: one response, no cookie', async (_, fields) => {
    const browser = browserAt(world.url);
    const answer = await browser.submit('/sign-in', fields());
    expect([answer.status, browser.cookie()]).toEqual([400, undefined]);
    expect(answer.text).toContain(WRONG);
    await world.query('delete from sign_in_failures');
  });

  test('with an unknown e-mail address has the response of a wrong password', async () => {
    const ask = async (as: string) =>
      (await browserAt(world.url).submit('/sign-in', { email: as, password: 'wrong wrong' })).text.replaceAll(
        as,
        '?',
      );
    expect(await ask(email)).toBe(await ask('nobody@example.com'));
    await world.query('delete from sign_in_failures');
  });

  test('of an invited user without a password', async () => {
    await world.api.post('/v2/users', { email: 'invited@example.com', name: 'I', role: 'owner' });
    const { answer } = await signInAs(world.url, 'invited@example.com', '');
    expect(answer.text).toContain('Enter your password.');
    const other = await signInAs(world.url, 'invited@example.com');
    expect(other.answer.text).toContain(WRONG);
  });

  test('with an empty form says what is missing next to each field', async () => {
    const answer = await browserAt(world.url).submit('/sign-in', {});
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('aria-describedby="field-email-problem"');
    expect(answer.text).toContain('Enter your password.');
  });

  test('with an e-mail address that no database can hold', async () => {
    const answer = await browserAt(world.url).submit('/sign-in', {
      email: 'a\0b@example.com',
      password: 'x',
    });
    expect(answer.status).toBe(400);
  });
});

const SIGNED_IN_WITH = ['/payouts', '//evil.example', 'https://evil.example', '/account\r\nset-cookie: a=b'];
const signedInOnce = madeOnce(() => signInAs(world.url, email));

test.each([
  ['/payouts', '/payouts'],
  ['/oauth/authorize?client_id=app_1&state=a%20b', '/oauth/authorize?client_id=app_1&state=a%20b'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/\n/evil.example', '/'],
  ['\\\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['https:evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['evil.example', '/'],
  ['@evil.example', '/'],
  [' /account', '/'],
  ['/ä', '/'],
  ['/account\r\nset-cookie: a=b', '/'],
  ['', '/'],
])('after sign-in `next` %j leads to %j, never to another site', async (next, location) => {
  // a password costs a tenth of a second: a short run signs in with some, and reads the page with all
  const signsIn = isLong || SIGNED_IN_WITH.includes(next);
  const browser = signsIn ? browserAt(world.url) : (await signedInOnce()).browser;
  if (signsIn) {
    const answer = await browser.submit('/sign-in', { email, password: PASSWORD, next });
    expect([answer.status, answer.location]).toEqual([303, location]);
  }
  // also for the page itself, for a signed-in user
  const again = await browser.get(`/sign-in?next=${encodeURIComponent(next)}`);
  expect(again.location).toBe(location);
});

test('user input is shown as text', async () => {
  const nasty = `"><script>alert(1)</script>@example.com`;
  const answer = await browserAt(world.url).submit('/sign-in', {
    email: nasty,
    password: 'x',
    next: `/"'><b>`,
  });
  expect(answer.text).not.toContain('<script');
  expect(answer.text).not.toContain('<b>');
});

describe('a sign-in submitted by another site', () => {
  test.each([
    ['by its origin', { origin: 'https://evil.example' }],
    ["by the browser's fetch metadata", { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour', { 'sec-fetch-site': 'same-site' }],
    ['without a name', { origin: 'null' }],
  ])('is refused %s', async (_, headers) => {
    const browser = browserAt(world.url);
    const answer = await browser.submit('/sign-in', { email, password: PASSWORD }, headers);
    expect([answer.status, browser.cookie()]).toEqual([403, undefined]);
  });

  test.each([
    ['with our origin', () => ({ origin: world.url, 'sec-fetch-site': 'same-origin' })],
    ['typed by a user', () => ({ 'sec-fetch-site': 'none' })],
    ['by a program', () => ({})],
  ])('%s is accepted', async (_, headers) => {
    const answer = await browserAt(world.url).submit('/sign-in', { email, password: PASSWORD }, headers());
    expect(answer.status).toBe(303);
  });
});

describe('sessions', () => {
  test('from before sign-in get another name, and the old one ends', async () => {
    const planted = browserAt(world.url);
    planted.setCookie(newSecret('phi_', 0));
    const before = planted.cookie();
    await planted.submit('/sign-in', { email, password: PASSWORD });
    expect(planted.cookie()).not.toBe(before);

    const { browser } = await signInAs(world.url, email);
    const old = browserAt(world.url, browser.cookie());
    await browser.submit('/sign-in', { email, password: PASSWORD });
    expect(await isSignedIn(browser)).toBe(true);
    expect(await isSignedIn(old)).toBe(false);
  });

  test('end when signing out, not only the cookie', async () => {
    const { browser } = await signInAs(world.url, email);
    const copy = browserAt(world.url, browser.cookie());
    expect((await browser.submit('/sign-out', { csrf: 'guessed' })).status).toBe(403);
    expect(await isSignedIn(copy)).toBe(true);
    const answer = await browser.submit('/sign-out', { csrf: await browser.token() });
    expect([answer.status, answer.location, browser.cookie()]).toEqual([303, '/sign-in?done', undefined]);
    expect(await isSignedIn(copy)).toBe(false);
    expect((await copy.call('GET', '/v2/account', undefined, null)).reason).toBe('invalid_credentials');
  });

  test('are listed without their secrets, and end at once on every server', async () => {
    const { browser } = await signInAs(world.url, email);
    const second = await world.secondServer();
    const there = browser.at(second.api.url);
    expect(await isSignedIn(there)).toBe(true);
    const { body } = await world.api.get(`/v2/sessions?user_id=${id}&sort=-created_at`);
    const session = body.data[0];
    expect(session).toMatchObject({ object: 'session', user_id: id, address: '127.0.0.1' });
    expect(JSON.stringify(body)).not.toContain(browser.cookie()?.slice(4));
    expect((await world.api.delete(`/v2/sessions/${session.id}`)).status).toBe(204);
    expect((await world.api.delete(`/v2/sessions/${session.id}`)).status).toBe(404);
    expect([await isSignedIn(browser), await isSignedIn(there)]).toEqual([false, false]);
    await second.close();
  });

  test('a user of any role sees and ends their own sessions, and nobody else’s', async () => {
    const { id, email, browser } = await makeUser(world.api, 'viewer');
    const { browser: phone } = await signInAs(world.url, email);
    const stranger = await makeUser(world.api, 'viewer');
    const sessionOf = async (user: string) =>
      (await world.api.get(`/v2/sessions?user_id=${user}&sort=-created_at`)).body.data[0].id as string;
    const { body: own } = await browser.call('GET', '/v2/me/sessions');
    expect(own.data.map((each: { is_current: boolean }) => each.is_current)).toEqual([false, true]);
    const endOf = async (session: string, token?: string) =>
      (await browser.call('DELETE', `/v2/me/sessions/${session}`, undefined, token)).status;
    expect(await endOf(await sessionOf(stranger.id))).toBe(404);
    expect(await endOf('ses_x')).toBe(404);
    expect(await isSignedIn(stranger.browser)).toBe(true);
    const last = await sessionOf(id);
    expect(await endOf(last, 'guessed')).toBe(403);
    expect(await isSignedIn(phone)).toBe(true);
    // two requests at once: one ends it, the other finds nothing
    const ended = await Promise.all([endOf(last), endOf(last)]);
    expect(ended.toSorted()).toEqual([204, 404]);
    expect(await isSignedIn(phone)).toBe(false);
    const { browser: tablet } = await signInAs(world.url, email);
    expect((await browser.call('DELETE', '/v2/me/sessions')).status).toBe(204);
    expect([await isSignedIn(tablet), await isSignedIn(browser)]).toEqual([false, true]);
    expect(await isSignedIn(stranger.browser)).toBe(true);
  });

  test('programs have no sessions of their own: a key is refused', async () => {
    for (const [method, path] of [
      ['GET', '/v2/me/sessions'],
      ['DELETE', '/v2/me/sessions'],
      ['DELETE', '/v2/me/sessions/ses_x'],
    ] as const) {
      const { status, reason } = await world.api.request(method, path);
      expect([status, reason]).toEqual([403, 'person_required']);
    }
  });

  test('a session ends 7 days after it was last used', async () => {
    const { browser } = await signInAs(world.url, email);
    for (let use = 1; use <= 2; use++) {
      await moveTimeBack(world, '6 days 23 hours');
      expect(await isSignedIn(browser)).toBe(true);
      await until('the use was stored', async () => {
        const rows = await world.query(
          `select 1 from sessions where last_seen_at > now() - interval '1 minute'`,
        );
        return rows.length > 0;
      });
    }
    await world.query(`update sessions set last_seen_at = now() - interval '7 days 1 second'`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('a session ends 30 days after it began, however much it is used', async () => {
    const { browser } = await signInAs(world.url, email);
    await world.query(`update sessions set expires_at = expires_at - interval '29 days 23 hours'`);
    expect(await isSignedIn(browser)).toBe(true);
    await world.query(`update sessions set expires_at = expires_at - interval '1 hour 1 second'`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('the use of a session is stored at most once a minute', async () => {
    const { browser } = await signInAs(world.url, email);
    const seen = () => world.query(`select max(last_seen_at)::text as at from sessions`);
    const before = await seen();
    for (let i = 0; i < 5; i++) await browser.get('/settings/profile');
    expect(await seen()).toEqual(before);
  });
});

describe('limits', () => {
  test('ten wrong passwords for an e-mail address in 15 minutes, counted over all servers', async () => {
    await world.query('delete from sign_in_failures');
    const second = await world.secondServer();
    const urls = [world.url, second.api.url];
    for (let i = 0; i < 10; i++) {
      const { answer } = await signInAs(urls[i % 2] as string, email, `wrong number ${i}`);
      expect(answer.status).toBe(400);
    }
    for (const url of urls) {
      // the right one does not help now
      const { answer, browser } = await signInAs(url, email);
      expect([answer.status, browser.cookie()]).toEqual([429, undefined]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(800);
      expect(answer.text).toContain('Try again in 15 minutes.');
    }
    expect((await signInAs(world.url, 'someone-else@example.com', 'wrong one')).answer.status).toBe(400);
    await moveTimeBack(world, '15 minutes');
    expect((await signInAs(world.url, email)).answer.status).toBe(303);
    await second.close();
  });

  test('many at once achieve no more than many in a row', async () => {
    await world.query('delete from sign_in_failures');
    const second = await world.secondServer();
    const statuses = await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const url = i % 2 ? world.url : second.api.url;
        return (await signInAs(url, 'crowd@example.com', `wrong number ${i}`)).answer.status;
      }),
    );
    expect(statuses.filter((status) => status === 400).length).toBe(10);
    expect(statuses.filter((status) => status === 429).length).toBe(14);
    await second.close();
  });

  test('fifty from a network address, which its own sign-in does not reset', async () => {
    await world.query('delete from sign_in_failures');
    await world.query(
      `insert into sign_in_failures (subject) select 'address 127.0.0.1' from generate_series(1, 49)`,
    );
    expect((await signInAs(world.url, email)).answer.status).toBe(303);
    expect((await signInAs(world.url, 'one@example.com', 'wrong one')).answer.status).toBe(400);
    expect((await signInAs(world.url, email)).answer.status).toBe(429);
    await world.query('delete from sign_in_failures');
  });

  test('the right password resets its earlier failures', async () => {
    await world.query('delete from sign_in_failures');
    for (let i = 0; i < 9; i++) await signInAs(world.url, email, `wrong number ${i}`);
    expect((await signInAs(world.url, email)).answer.status).toBe(303);
    for (let i = 0; i < 9; i++) {
      expect((await signInAs(world.url, email, `wrong number ${i}`)).answer.status).toBe(400);
    }
    await world.query('delete from sign_in_failures');
  });
});
