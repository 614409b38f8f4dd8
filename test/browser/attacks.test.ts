import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { authorizePath, type Registered, register } from '../oauth/support.ts';
import { browserAt, everything, PASSWORD, signedIn, signInAs } from '../people/support.ts';
import { certificateFor } from '../support/certificate.ts';
import { isLong, longRun, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import {
  type Cookies,
  inChromium,
  openAccount,
  type Page,
  type Site,
  sessionOf,
  signInOn,
  startSite,
  type Visitor,
} from './support.ts';

/** Headers that a proxy does not forward unchanged. */
const DROPPED = ['host', 'connection', 'content-length', 'accept-encoding'];
const WHERE = [['neighbour'], ['stranger']] as const;

inChromium('against somebody who is signed in', (chromium) => {
  const world = useWorld();
  let site: Site;
  let email: string;
  let cookies: Cookies;
  let kept: Visitor;
  let application: Registered;
  /** Pages of the attacker, by their paths. */
  const traps: Record<string, () => string | { to: string }> = {};
  beforeAll(async () => {
    site = await startSite(traps);
    ({ email } = await signedIn(world, 'owner'));
    application = await register(world.api, { redirect_uris: [`${site.stranger}/callback`] });
    const { page, context } = await chromium.visitor();
    await page.goto(`${world.url}/sign-in`);
    await signInOn(page, email);
    await page.waitForURL(({ pathname }) => pathname !== '/sign-in');
    cookies = await context.storageState();
    kept = await chromium.visitor({ scripts: true, storageState: cookies, kept: true });
  });
  afterAll(() => Promise.all([site.close(), kept.context.close()]));

  const request = (of = application, uri = `${site.stranger}/callback`) =>
    world.url + authorizePath(of, { redirect_uri: uri, scope: 'affiliates', state: 'st4te' });

  /** A signed-in user whose browser runs every script of the attacker. It is still signed in after all attacks before. */
  async function victim(): Promise<Visitor> {
    expect(await isSignedIn(kept.page)).toBe(true);
    return kept;
  }
  const isSignedIn = async (page: Page) => {
    await page.goto(`${world.url}/account/switch`);
    return new URL(page.url()).pathname === '/account/switch';
  };

  /** A page that submits a form as soon as it is opened. */
  function form(action: string, fields: Record<string, string>, more = ''): string {
    const inputs = Object.entries(fields).map(([name, value]) => {
      const quoted = value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      return `<input type="hidden" name='${name}' value="${quoted}">`;
    });
    return (
      `<meta name="referrer" content="${more.includes('unnamed') ? 'no-referrer' : 'unsafe-url'}">` +
      `<form method="post" action="${world.url}${action}" ${more}>${inputs.join('')}</form>` +
      '<script>document.forms[0].submit()</script>'
    );
  }

  /** A user opens a page of the attacker in a new tab; returns the response to the form that it submits. */
  async function spring({ context }: Visitor, where: 'neighbour' | 'stranger', trap: string) {
    traps['/trap'] = () => trap;
    const tab = await context.newPage();
    const [answer] = await Promise.all([
      tab.waitForResponse((response) => response.request().method() === 'POST'),
      // the form is submitted before the page is complete
      tab.goto(`${site[where]}/trap`, { waitUntil: 'commit' }).catch(() => null),
    ]);
    await tab.waitForURL((url) => url.pathname !== '/trap');
    const sent = await answer.request().allHeaders();
    const headers = await answer.allHeaders();
    await tab.close();
    return { status: answer.status(), headers, sent };
  }

  describe.each(WHERE)('a page of a %s', (where) => {
    const FORMS: [string, string, Record<string, string>][] = [
      ['signs out', '/sign-out', {}],
      ['signs out by a guess', '/sign-out', { csrf: 'x'.repeat(43) }],
      [
        'changes the password',
        '/account/password',
        { current: PASSWORD, new: 'chosen by a thief', again: 'chosen by a thief' },
      ],
      ['signs in as another user', '/sign-in', { email: 'mallory@example.com', password: PASSWORD }],
      ['sends JSON to the API', '/v2/oauth-applications', { '{"name":"': '","kind":"public"}' }],
    ];

    // in a short run a stranger, whose forms come without the cookie, submits two of them
    test.each(where === 'neighbour' ? FORMS : someOf(FORMS, 2))(
      'that submits a form %s: nothing',
      async (_, action, fields) => {
        await world.api.post('/v2/users', { email: 'mallory@example.com', name: 'M', role: 'viewer' });
        const who = await victim();
        const cookie = String(await sessionOf(who));
        const before = await everything(world);
        // the encoding and the referrer make no difference to the check: one form has all three
        const ways = action === '/account/password' ? ['', 'enctype="text/plain"', 'data-unnamed'] : [''];
        for (const more of ways) {
          const answer = await spring(who, where, form(action, fields, more));
          // browsers send the cookie with requests of a neighbouring origin
          expect(answer.sent.cookie?.includes(cookie) ?? false).toBe(where === 'neighbour');
          expect(answer.headers['set-cookie']).toBeUndefined();
          expect(await everything(world)).toBe(before);
        }
        expect(await sessionOf(who)).toBe(cookie);
        expect(await isSignedIn(who.page)).toBe(true);
      },
    );

    test('that approves its own authorization request: no code, no grant', async () => {
      const who = await victim();
      const parameters = Object.fromEntries(new URL(request()).searchParams);
      for (const csrf of [{}, { csrf: '' }, { csrf: 'x'.repeat(43) }]) {
        const fields = { ...parameters, ...csrf, granted: 'affiliates', decision: 'allow' };
        const answer = await spring(who, where, form('/oauth/authorize', fields));
        if (where === 'neighbour') expect(answer.status).toBe(403);
        else expect(answer.headers.location).toContain(`${world.url}/sign-in?next=`);
      }
      expect(await world.query('select 1 from oauth_grants')).toEqual([]);
      expect(site.requests.filter(({ url }) => url.pathname === '/callback')).toEqual([]);
    });

    test('whose scripts call the API with the cookie: refused, and nothing to read', async () => {
      const { body: user } = await world.api.post('/v2/users', {
        email: `${where}@example.com`,
        name: 'Left alone',
        role: 'viewer',
      });
      const { page } = await victim();
      const before = await everything(world);
      await page.goto(`${site[where]}/elsewhere`);
      const attempts = [
        ['GET', '/v2/users', undefined, {}],
        ['POST', '/v2/users', { 'content-type': 'application/json' }, {}],
        ['POST', '/v2/users', { 'content-type': 'application/json', 'payhook-csrf': 'x'.repeat(43) }, {}],
        ['POST', '/v2/users', { 'content-type': 'text/plain' }, {}],
        ['POST', '/v2/users', { 'content-type': 'application/json' }, { mode: 'no-cors' }],
        ['POST', '/v2/affiliates/payouts/upload', { 'content-type': 'text/plain' }, { mode: 'no-cors' }],
        ['PATCH', `/v2/users/${user.id}`, { 'content-type': 'application/json' }, {}],
        ['DELETE', `/v2/users/${user.id}`, {}, {}],
        ['POST', `/v2/users/${user.id}/reset-password`, {}, { mode: 'no-cors' }],
        ['DELETE', '/v2/me/sessions', {}, {}],
        ['POST', '/account/password', {}, { mode: 'no-cors' }],
      ] as const;
      for (const [method, path, headers, mode] of attempts) {
        const init = {
          method,
          headers,
          credentials: 'include',
          ...mode,
          ...(method === 'GET' || method === 'DELETE'
            ? {}
            : { body: '{"email":"evil@example.com","name":"E","role":"owner"}' }),
        };
        const read = await page.evaluate(
          `fetch(${JSON.stringify(world.url + path)}, ${JSON.stringify(init)}).then((r) => r.text(), () => '')`,
        );
        expect([method, path, read]).toEqual([method, path, '']);
      }
      expect(await everything(world)).toBe(before);
    });

    // a neighbour only in a long run: its forms above sign in as another user too, and the header below names no page
    const strangerTest = where === 'stranger' ? test : longRun.test;
    strangerTest('that signs a visitor in as the attacker: nobody is signed in', async () => {
      const mallory = await signedIn(world, 'owner');
      const { body: reset } = await world.api.post(`/v2/users/${mallory.id}/reset-password`);
      const token = new URL(reset.reset_url).searchParams.get('token') ?? '';
      const nobody = await chromium.visitor({ scripts: true });
      for (const [action, fields] of [
        ['/sign-in', { email: mallory.email, password: PASSWORD, next: '/account/switch' }],
        ['/password', { token, password: 'another one of theirs', again: 'another one of theirs' }],
      ] as const) {
        for (const more of ['', 'data-unnamed']) {
          const answer = await spring(nobody, where, form(action, fields, more));
          expect([action, answer.status]).toEqual([action, 403]);
          expect(await sessionOf(nobody)).toBeUndefined();
        }
      }
      // a frame without an origin reveals nothing of its page
      const inside = form('/sign-in', { email: mallory.email, password: PASSWORD });
      const quoted = inside.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      const frame = `<iframe sandbox="allow-scripts allow-forms allow-top-navigation" srcdoc="${quoted}"></iframe>`;
      traps['/trap'] = () => frame;
      const lines = world.log.length;
      await nobody.page.goto(`${site[where]}/trap`, { waitUntil: 'commit' });
      const line = await until('the form in the frame was sent', () =>
        world.log.slice(lines).find(({ method, route }) => method === 'POST' && route === '/sign-in'),
      );
      expect(line.status).toBe(403);
      expect(await sessionOf(nobody)).toBeUndefined();
      // the attacker's request would have worked otherwise
      expect((await signInAs(world.url, mallory.email)).answer.status).toBe(303);
    });

    strangerTest('with a frame around our pages: they are not shown', async () => {
      const { page } = await victim();
      const nobody = await chromium.visitor({ scripts: true });
      const frames = [
        [page, request(), 'wants access', 'iframe', 'src'],
        [nobody.page, `${world.url}/sign-in`, 'Sign in', 'iframe', 'src'],
        [page, request(), 'wants access', 'object', 'data'],
        [page, `${world.url}/account/switch`, 'Your accounts', 'iframe', 'src'],
        [page, request(), 'wants access', 'embed', 'src'],
      ] as const;
      for (const [tab, path, shown, tag, attribute] of someOf(frames, 3)) {
        // without the trap the button is there to be clicked
        await tab.goto(path);
        expect(await tab.content()).toContain(shown);
        traps['/trap'] = () => `<${tag} ${attribute}="${path.replaceAll('&', '&amp;')}"></${tag}>`;
        const answered = tab.waitForResponse(path);
        await tab.goto(`${site[where]}/trap`);
        const answer = await answered;
        expect(await answer.headerValue('x-frame-options')).toBe('DENY');
        const texts = await Promise.all(tab.frames().map((frame) => frame.content().catch(() => '')));
        expect(texts.join('\n')).not.toContain('Payhook</title>');
      }
    });
  });

  test('an application cannot loosen the policy of the page by the name of its host', async () => {
    const sly = ['https://x;script-src/cb', 'https://x,y/cb'];
    const made = await register(world.api, { redirect_uris: [...sly, 'https://plain.example/cb'] });
    const { page } = await chromium.visitor({ scripts: true, storageState: cookies });
    const policyOf = async (uri: string) =>
      (await page.goto(request(made, uri)))?.headers()['content-security-policy'] ?? '';
    const plain = await policyOf('https://plain.example/cb');
    for (const uri of sly) expect(await policyOf(uri)).toBe(plain.replace(' https://plain.example', ''));
    await page.context().clearCookies();
    for (const uri of sly) expect(await policyOf(uri)).toBe(plain.replace(' https://plain.example', ''));
  });

  test('a session planted before sign-in is not the session after it', async () => {
    const mallory = await signedIn(world, 'viewer');
    const plant = async (who: Visitor, value: string) =>
      who.context.addCookies([{ name: 'payhook_session', value, url: world.url }]);

    const first = await chromium.visitor();
    const made = newSecret('phi_', 0);
    await plant(first, made);
    await first.page.goto(`${world.url}/sign-in`);
    await signInOn(first.page, email);
    await openAccount(first.page, world.url);
    const own = await sessionOf(first);
    expect(own).toMatch(/^phi_/);
    expect(own).not.toBe(made);

    // a valid one, planted while the form is open
    const second = await chromium.visitor();
    await second.page.goto(`${world.url}/sign-in`);
    const theirs = mallory.browser.cookie() ?? '';
    await plant(second, theirs);
    await signInOn(second.page, email);
    await openAccount(second.page, world.url);
    const next = await sessionOf(second);
    expect((await browserAt(world.url, next).call('GET', '/v2/me')).body.email).toBe(email);
    expect(next).not.toBe(theirs);
    expect((await mallory.browser.call('GET', '/v2/me')).text).not.toContain(email);
    // nor does the attacker keep a copy of the earlier session
    await second.page.context().clearCookies();
    await plant(second, made);
    expect(await isSignedIn(second.page)).toBe(false);
  });

  test('scripts, other sites and eavesdroppers cannot get the cookie', async () => {
    const who = await victim();
    const kept = (await who.context.cookies()).filter(({ name }) => name === 'payhook_session');
    expect(kept).toMatchObject([{ httpOnly: true, sameSite: 'Lax', secure: false, path: '/' }]);
    expect(await who.page.evaluate('document.cookie')).toBe('');

    // behind a proxy that ends TLS, as is usual
    let inner = '';
    const proxy = createServer(certificateFor('localhost'), async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const answer = await fetch(inner + incoming.url, {
        method: incoming.method ?? 'GET',
        // the body is forwarded unchanged, so it must not be compressed
        headers: [...headers.filter(([name]) => !DROPPED.includes(name)), ['accept-encoding', 'identity']],
        redirect: 'manual',
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    });
    // a connection that the browser is about to use stays open
    proxy.keepAliveTimeout = 0;
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const outer = `https://localhost:${(proxy.address() as AddressInfo).port}`;
    const secure = await borrowWorld({ settings: { BASE_URL: outer } });
    inner = secure.url;
    const { email: other } = await signedIn(secure, 'owner');
    const there = await chromium.visitor({ scripts: true });
    await there.page.goto(`${outer}/sign-in`);
    await signInOn(there.page, other);
    await openAccount(there.page, outer);
    const secured = (await there.context.cookies()).filter(({ name }) => name === '__Host-payhook_session');
    expect(secured).toMatchObject([{ httpOnly: true, sameSite: 'Lax', secure: true, path: '/' }]);
    expect(await there.page.evaluate('document.cookie')).toBe('');
    await there.page.getByRole('button', { name: 'Sign out' }).click();
    await there.page.waitForURL(`${outer}/sign-in?done`);
    expect(await sessionOf(there)).toBeUndefined();
    proxy.closeAllConnections();
    await new Promise((closed) => proxy.close(closed));
    await secure.close();
  });

  test.each(someOf([[true], [false]], 1))(
    'after signing out, going back shows nothing of the account (scripts: %s)',
    async (scripts) => {
      const { page } = await chromium.visitor({ scripts });
      await page.goto(`${world.url}/sign-in`);
      await signInOn(page, email);
      await openAccount(page, world.url);
      await page.goto(request());
      await page.getByRole('heading', { name: /wants access/ }).waitFor();
      await page.goto(`${world.url}/account/switch?next=/docs`);
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.waitForURL(`${world.url}/sign-in?done`);
      for (let i = 0; i < 3; i++) {
        await page.goBack({ waitUntil: 'commit' });
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        expect(await page.content()).not.toContain(email);
        expect(await page.content()).not.toContain('wants access');
      }
    },
  );

  test('`next` leads only to pages of this server', async () => {
    const evil = () => new URL(site.neighbour).host;
    const before = site.requests.length;
    const { page, context } = await chromium.visitor({ scripts: true });
    const targets = [
      `//${evil()}/`,
      `/\\${evil()}/`,
      `/\t/${evil()}/`,
      `/%09/${evil()}/`,
      `/.//${evil()}/`,
      `http://${evil()}/`,
      `http:${evil()}/`,
      `javascript:location='${site.neighbour}'`,
      `data:text/html,<meta http-equiv=refresh content="0;url=${site.neighbour}">`,
    ];
    // people/sign-in has more of them; browsers turn these two into the first
    for (const next of isLong ? targets : targets.slice(1, 3)) {
      await page.goto(`${world.url}/sign-in?next=${encodeURIComponent(next)}`);
      await signInOn(page, email);
      await page.waitForURL((url) => url.pathname !== '/sign-in', { waitUntil: 'commit' });
      expect([next, new URL(page.url()).origin]).toEqual([next, world.url]);
      // also for a user who is already signed in
      const again = `${world.url}/sign-in?next=${encodeURIComponent(next)}`;
      await page.goto(again, { waitUntil: 'commit' });
      expect([next, new URL(page.url()).origin]).toEqual([next, world.url]);
      await context.clearCookies();
    }
    expect(site.requests.length).toBe(before);
  });

  test('links with secrets, states and codes appear in no Referer and not in the log', async () => {
    const onward = `${site.stranger}/onward`;
    traps['/onward'] = () => ({ to: `${site.neighbour}/welcome` });
    const app = await register(world.api, { redirect_uris: [onward] });
    const { body: invited } = await world.api.post('/v2/users', {
      email: 'invited@example.com',
      name: 'Invited',
      role: 'owner',
    });
    const { page } = await chromium.visitor({ scripts: true });
    const first = site.requests.length;
    await page.goto(invited.invitation_url);
    // a page of ours that a user leaves for another site
    await page.evaluate(`location.href = ${JSON.stringify(`${site.stranger}/left`)}`);
    await page.waitForURL(`${site.stranger}/left`);
    await page.goto(invited.invitation_url);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Password again').fill(PASSWORD);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    await openAccount(page, world.url);
    // a mistake that returns through the sign-in form, and a consent
    await page.context().clearCookies();
    await page.goto(`${request(app, onward)}&code_challenge_method=plain`);
    await signInOn(page, 'invited@example.com');
    await page.waitForURL(`${site.neighbour}/welcome`);
    await page.goto(request(app, onward));
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${site.neighbour}/welcome`);
    const requests = site.requests.slice(first);
    expect(requests.map(({ url }) => url.pathname)).toEqual([
      '/left',
      '/onward',
      '/welcome',
      '/onward',
      '/welcome',
    ]);
    // a page with a form sends other sites its origin and nothing else; other pages send nothing
    expect(requests.map(({ headers }) => headers.referer)).toEqual([
      `${world.url}/`,
      ...requests.slice(1).map(() => undefined),
    ]);

    const code = requests[3]?.url.searchParams.get('code') ?? '';
    const token = new URL(invited.invitation_url).searchParams.get('token') ?? '';
    const log = JSON.stringify(world.log);
    expect(code).toMatch(/^phc_/);
    for (const secret of [code, token, 'st4te', PASSWORD]) expect(log).not.toContain(secret);
  });
});
