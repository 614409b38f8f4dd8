import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { authorizePath, register } from '../oauth/support.ts';
import { useWorld } from '../support/world.ts';
import { type Browser, browserAt, makeUser, PASSWORD, signInAs } from './support.ts';

const world = useWorld();
let email: string;

/** What browsers send when an address is opened. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const open = (path: string, init: RequestInit = {}, cookie?: string) =>
  fetch(world.url + path, {
    ...init,
    redirect: 'manual',
    headers: { accept: ACCEPT, ...(cookie ? { cookie: `payhook_session=${cookie}` } : {}), ...init.headers },
  });

describe('the start page', () => {
  test('without a session leads to the sign-in, which says how to begin while nobody can sign in', async () => {
    const answer = await open('/');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(await (await open('/sign-in')).text()).toContain('payhook users setup-link');
    ({ email } = await makeUser(world.api, 'owner'));
    expect(await (await open('/sign-in')).text()).not.toContain('payhook users setup-link');
  });

  test.each([
    ['/payouts', '/sign-in?next=%2Fpayouts'],
    ['/payouts/po_1?step=files', '/sign-in?next=%2Fpayouts%2Fpo_1%3Fstep%3Dfiles'],
    ['/webhooks/we_1', '/sign-in?next=%2Fwebhooks%2Fwe_1'],
    ['/settings/people', '/sign-in?next=%2Fsettings%2Fpeople'],
  ])('%s without a session is shown after the sign-in', async (path, location) => {
    const answer = await open(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, location]);
    const { browser } = await signInAs(world.url, email);
    const next = new URL(location, world.url).searchParams.get('next') ?? '';
    const back = await browser.submit('/sign-in', { email, password: PASSWORD, next });
    expect(back.location).toBe(path);
  });

  test('each address of the dashboard returns its page, which runs only the scripts of the build', async () => {
    const { browser } = await signInAs(world.url, email);
    for (const path of ['/', '/payouts', '/payouts/po_1', '/affiliates/7', '/events', '/settings/audit']) {
      const answer = await open(path, {}, browser.cookie());
      expect(answer.status, path).toBe(200);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain('unsafe');
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(await answer.text()).toContain('<div id="root">');
    }
  });

  test('the files of the dashboard are compressed and cached forever', async () => {
    const { browser } = await signInAs(world.url, email);
    const page = await (await open('/', {}, browser.cookie())).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
    const get = (coding: string) => open(script, { headers: { 'accept-encoding': coding } });
    const [whole, brotli, gzip] = [await get('identity'), await get('gzip, br'), await get('gzip, br;q=0')];
    expect(whole.headers.get('content-encoding')).toBeNull();
    expect(brotli.headers.get('content-encoding')).toBe('br');
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    const text = await whole.text();
    expect([await brotli.text(), await gzip.text()]).toEqual([text, text]);
    expect(whole.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await open('/assets/no-such.js')).status).toBe(404);
    expect((await open('/assets/..%2f..%2fpackage.json')).status).toBe(404);
  });

  test('HEAD has its headers, and no body', async () => {
    const { browser } = await signInAs(world.url, email);
    const get = await open('/', {}, browser.cookie());
    const head = await open('/', { method: 'HEAD' }, browser.cookie());
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect(await head.text()).toBe('');
  });

  test.each(['*/*', 'application/json', '', 'text/plain', 'application/xhtml+xml'])(
    'a request for %j gets the JSON of the API',
    async (accept) => {
      const answer = await open('/', { headers: { accept } });
      expect(answer.status).toBe(404);
      expect(answer.headers.get('payhook-reason')).toBe('unknown_route');
      expect(await answer.json()).toEqual({
        error: { code: 'not_found', message: 'there is no operation GET /' },
      });
    },
  );

  test.each(['POST', 'PUT', 'DELETE'])('%s is no page', async (method) => {
    const answer = await open('/', { method });
    expect([answer.status, answer.headers.get('payhook-reason')]).toEqual([404, 'unknown_route']);
  });
});

describe('a browser at an unknown address', () => {
  test.each(['/acount', '/sign-in/x', '/%zz', '/v20/x'])(
    '%s gets a page with a link to continue',
    async (path) => {
      const answer = await open(path);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toMatch(/<h1>Page not found<\/h1>.*href="\/">Go to the start page/);
    },
  );

  test.each(['/v2', '/v2/nothing', '/V2/affiliates'])(
    '%s belongs to the API, whose errors are JSON',
    async (path) => {
      const answer = await open(path);
      expect([answer.status, answer.headers.get('payhook-reason')]).toEqual([404, 'unknown_route']);
    },
  );
});

describe('every refusal that a person sees says what to do and has a link to continue', () => {
  let browser: Browser;
  beforeAll(async () => {
    ({ browser } = await signInAs(world.url, email));
  });

  const application = () => register(world.api);
  const opened = async (path: string, init?: RequestInit) => {
    const answer = await open(path, init);
    return { status: answer.status, text: await answer.text() };
  };
  const REFUSALS: readonly [string, () => Promise<{ status: number; text: string }>][] = [
    ['an expired link', () => opened(`/password?token=${newSecret('phl_', 0)}`)],
    ['an expired set-up link', () => opened('/set-up?token=x')],
    ['a form of another site', () => browser.submit('/sign-in', {}, { origin: 'https://evil.example' })],
    ['a form without its token', () => browser.submit('/account/password', {})],
    ['a method that a page lacks', () => opened('/sign-in', { method: 'DELETE' })],
    ['too many parameters', () => opened(`/sign-in?${'a&'.repeat(200)}`)],
    ['an unknown application', () => browser.get('/oauth/authorize?client_id=app_x&redirect_uri=x')],
    ['a missing application', () => browser.get('/oauth/authorize')],
    [
      'an unregistered redirect URI',
      async () => browser.get(authorizePath(await application(), { redirect_uri: 'https://evil.example' })),
    ],
    [
      'a user who is no owner',
      async () => {
        const viewer = await makeUser(world.api, 'viewer');
        return viewer.browser.get(authorizePath(await application()));
      },
    ],
    [
      "another person's account",
      async () => browser.submit('/account/switch', { account: 'acc_x', csrf: await browser.token() }),
    ],
  ];

  test.each(REFUSALS)('%s', async (_, refused) => {
    const { status, text } = await refused();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).toMatch(
      /<main>.*<p class="lead">.{20,}<\/p>.*<a class="button plain" href="\/[\w/-]*">[A-Z]/s,
    );
  });

  test('a form after the session has ended leads to the sign-in, which says so', async () => {
    const answer = await browserAt(world.url, newSecret('phi_', 0)).submit('/account/password', {});
    expect([answer.status, answer.location]).toEqual([303, '/sign-in?next=%2Fsettings%2Fprofile&ended=']);
    const page = await browserAt(world.url).get(answer.location ?? '');
    expect(page.text).toContain('Your session has ended and nothing was changed. Sign in to continue.');
    expect(page.text).toContain('name="next" value="/settings/profile"');
  });
});
