import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ALL_SCOPES, OPENING_SCOPES, OPENINGS } from '../../src/contract/scopes.ts';
import { nil } from '../../src/kernel/ids.ts';
import { authorizePath, exchange, pkce, type Registered, register } from '../oauth/support.ts';
import { PASSWORD, signedIn } from '../people/support.ts';
import { longRun, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { useWorld } from '../support/world.ts';
import {
  accessibleTree,
  factsOf,
  focusOf,
  inChromium,
  openAccount,
  type Page,
  type Site,
  sessionOf,
  signInOn,
  startSite,
  takeSession,
  type Visitor,
} from './support.ts';

inChromium('people at a browser without scripts', (chromium) => {
  const world = useWorld();
  let site: Site;
  let email: string;
  let session: string;
  let application: Registered;
  const visitors: Visitor[] = [];
  beforeAll(async () => {
    site = await startSite({ '/onward': () => ({ to: `${site.stranger}/welcome` }) });
    const user = await signedIn(world, 'owner');
    email = user.email;
    session = user.browser.cookie() ?? '';
    application = await register(world.api, {
      name: 'Till & Co',
      redirect_uris: [callback(), `${site.neighbour}/onward?till=7`],
      scopes: ['affiliates', 'webhooks', 'account'],
    });
  });
  afterEach(() => {
    for (const { refusals } of visitors.splice(0)) expect(refusals).toEqual([]);
  });
  afterAll(() => site.close());

  const callback = () => `${site.stranger}/callback`;
  async function visitor(): Promise<Visitor> {
    const made = await chromium.visitor();
    visitors.push(made);
    return made;
  }

  const request = (params: Record<string, string | undefined> = {}, of = application) =>
    world.url + authorizePath(of, { redirect_uri: callback(), state: 'a b&c=d', ...params });

  /** A signed-in user at the consent page of an application. */
  async function atConsent(...parameters: Parameters<typeof request>): Promise<Visitor> {
    const made = await visitor();
    await takeSession(made, world.url, session);
    await made.page.goto(request(...parameters));
    await made.page.getByRole('heading', { level: 1, name: /wants access/ }).waitFor();
    return made;
  }
  const box = (page: Page, scope: string) => page.locator(`input[name=granted][value=${scope}]`);
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

  /** The parameters that the application received. */
  async function arrivalAt(page: Page, address: string): Promise<Record<string, string>> {
    await page.waitForURL((url) => url.href.startsWith(address));
    return Object.fromEntries(new URL(page.url()).searchParams);
  }

  test('the set-up link creates the first owner, who sees their account, signs out and signs in again', async () => {
    const fresh = await borrowWorld();
    const [account] = await fresh.platform.accounts.list();
    const link = new URL((await fresh.platform.accounts.setUpLink(account?.uuid ?? nil())) ?? '');
    const ada = await visitor();
    const { page } = ada;
    await page.goto(fresh.url + link.pathname + link.search);
    expect(await page.getByRole('textbox').count()).toBe(3);
    await page
      .getByText('Amounts that name no currency are in USD, and new commissions are on hold for 0 days.')
      .waitFor();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByLabel('Password').fill('too short');
    await page.getByLabel('Name of your business').fill("Ada's shop");
    await press(page, 'Create the owner');
    expect(await page.getByRole('alert').textContent()).toMatch(/at least 10 characters/);
    expect(await page.getByLabel('Name of your business').inputValue()).toBe("Ada's shop");
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Create the owner');

    expect((await fresh.api.get('/v2/account')).body.name).toBe("Ada's shop");
    expect((await fresh.api.get('/v2/users')).body.data[0].name).toBe('ada');
    await openAccount(page, fresh.url);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your accounts');
    expect(await page.getByRole('main').textContent()).toContain("Ada's shop");
    expect(await page.getByText('this account').count()).toBe(1);

    await press(page, 'Sign out');
    await page.waitForURL(`${fresh.url}/sign-in?done`);
    expect(await page.getByRole('status').textContent()).toBe('You are signed out.');
    expect(await sessionOf(ada)).toBeUndefined();
    await signInOn(page, 'ada@example.com');
    await openAccount(page, fresh.url);
    // once only
    await page.goto(fresh.url + link.pathname + link.search);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('This link no longer works');
    await fresh.close();
  });

  longRun.test(
    'a wrong password keeps the e-mail address and the target page; the right one leads there',
    async () => {
      const { page } = await visitor();
      await page.goto(request());
      expect(new URL(page.url()).pathname).toBe('/sign-in');
      await signInOn(page, email, 'not the password');
      expect(await page.getByRole('alert').textContent()).toBe(
        'The e-mail address or the password is wrong.',
      );
      expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
      expect(await page.getByLabel('Password').inputValue()).toBe('');
      await signInOn(page, email);
      await page.getByRole('heading', { level: 1, name: 'Till & Co wants access to your account' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/oauth/authorize');
    },
  );

  test('the page shows the application, the requested scopes, and where it leads', async () => {
    const every = await register(world.api, { redirect_uris: [callback()], scopes: [...ALL_SCOPES] });
    const { page } = await atConsent({}, every);
    for (const { may, more } of Object.values(OPENINGS)) {
      const name = new RegExp(`^${may}\\s?${more}$`);
      expect([may, await page.getByRole('checkbox', { name, checked: true }).count()]).toEqual([may, 1]);
    }
    // scopes without any access are not offered
    expect(await page.getByRole('group', { name: 'It may' }).getByRole('checkbox').count()).toBe(
      OPENING_SCOPES.size,
    );
    expect(await page.getByRole('main').textContent()).toContain(new URL(callback()).host);
  });

  test('the application gets a code for the ticked scopes, its state, and the issuer', async () => {
    const { page } = await atConsent();
    await box(page, 'webhooks').uncheck();
    await press(page, 'Allow');
    const { code, ...rest } = await arrivalAt(page, callback());
    expect(rest).toEqual({ state: 'a b&c=d', iss: world.url });
    const answer = await exchange(world, application, code ?? '', { redirect_uri: callback() });
    expect([answer.status, answer.body.scope]).toEqual([200, 'affiliates account']);
  });

  test('an application may redirect to another site of its own', async () => {
    const { page } = await atConsent({ redirect_uri: `${site.neighbour}/onward?till=7` });
    await press(page, 'Allow');
    await page.waitForURL(`${site.stranger}/welcome`);
    const arrived = site.requests.findLast(({ url }) => url.pathname === '/onward');
    expect(arrived?.url.searchParams.get('till')).toBe('7');
    expect(arrived?.url.searchParams.get('code')).toMatch(/^phc_/);
  });

  test('an application on a phone is called by a scheme of its own', async () => {
    const redirect_uri = 'com.example.pocket:/callback';
    const pocket = await register(world.api, {
      name: 'Pocket',
      kind: 'public',
      redirect_uris: [redirect_uri],
      scopes: ['affiliates'],
    });
    const challenge = { code_challenge: pkce().challenge, code_challenge_method: 'S256' };
    const { page } = await atConsent({ redirect_uri, ...challenge }, pocket);
    expect(await page.getByRole('main').textContent()).toContain('com.example.pocket:');
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Allow' }).click({ noWaitAfter: true });
    expect((await answered).headers().location).toMatch(/^com\.example\.pocket:\/callback\?code=phc_/);
  });

  test('Deny informs the application, and grants nothing', async () => {
    const grants = () => world.query('select 1 from oauth_grants');
    const before = (await grants()).length;
    const { page } = await atConsent();
    await press(page, 'Deny');
    expect(await arrivalAt(page, callback())).toEqual({
      error: 'access_denied',
      error_description: 'the merchant denied the request',
      state: 'a b&c=d',
      iss: world.url,
    });
    expect((await grants()).length).toBe(before);
  });

  longRun.test('with nothing ticked the page asks again, and then succeeds', async () => {
    const { page } = await atConsent();
    for (const scope of ['affiliates', 'webhooks', 'account']) await box(page, scope).uncheck();
    await press(page, 'Allow');
    expect(await page.getByRole('alert').textContent()).toContain('Tick what the application may do');
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    await box(page, 'account').check();
    await press(page, 'Allow');
    const { code } = await arrivalAt(page, callback());
    const answer = await exchange(world, application, code ?? '', { redirect_uri: callback() });
    expect(answer.body.scope).toBe('account');
  });

  test.each(
    someOf(
      [
        ['another site', () => callback()],
        ['one that redirects', () => `${site.neighbour}/onward?till=7`],
      ] as const,
      1,
    ),
  )('a mistake of the application, %s, reaches it after the sign-in form', async (_, uri) => {
    const { page } = await visitor();
    await page.goto(request({ redirect_uri: uri(), scope: 'everything' }));
    // a refused attempt shows the form again
    await signInOn(page, email, 'not the password');
    await page.getByRole('alert').waitFor();
    await signInOn(page, email);
    const path = new URL(uri()).pathname;
    await page.waitForURL((url) => ['/callback', '/welcome'].includes(url.pathname));
    const arrived = site.requests.findLast(({ url }) => url.pathname === path);
    expect(arrived?.url.searchParams.get('error')).toBe('invalid_scope');
    expect(arrived?.url.searchParams.get('iss')).toBe(world.url);
  });

  test('a session that ends on the consent page: sign-in, the page again, and the response arrives', async () => {
    const { page } = await atConsent();
    await world.query('delete from sessions');
    await press(page, 'Allow');
    await signInOn(page, email);
    await press(page, 'Allow');
    expect(await arrivalAt(page, callback())).toMatchObject({ state: 'a b&c=d', iss: world.url });
  });

  test('the keyboard alone signs in, unticks one and allows, with a visible focus', async () => {
    const { page } = await visitor();
    const { keyboard } = page;
    const tabTo = async (wanted: string) => {
      for (let i = 0; i < 30; i++) {
        await keyboard.press('Tab');
        const { name, isSeen } = await focusOf(page);
        expect([name, isSeen]).toEqual([name, true]);
        if (name === wanted) return;
      }
      throw new Error(`the keyboard does not reach ${wanted}`);
    };
    await page.goto(request());
    expect(await focusOf(page)).toEqual({ name: 'email', isSeen: true });
    await keyboard.type(email);
    await tabTo('password');
    await keyboard.type(PASSWORD);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: /wants access/ }).waitFor();
    await tabTo('webhooks');
    await keyboard.press('Space');
    expect(await box(page, 'webhooks').isChecked()).toBe(false);
    await tabTo('allow');
    await keyboard.press('Enter');
    const { code } = await arrivalAt(page, callback());
    const answer = await exchange(world, application, code ?? '', { redirect_uri: callback() });
    expect(answer.body.scope).toBe('affiliates account');
  });

  describe('with a screen reader', () => {
    const CONTROLS = ['textbox', 'checkbox', 'button', 'link', 'combobox', 'radio'];

    /** One first-level heading, a language, a title, and a name for every control; no script. */
    async function isSound(who: Visitor): Promise<void> {
      const { title, controls, ids, ...rest } = await factsOf(who.page);
      expect(rest).toEqual({ lang: 'en', h1: 1, main: 1, scripts: 0, handlers: 0 });
      expect(title).toMatch(/^\S.* · Payhook$/);
      expect(ids).toEqual([...new Set(ids)]);
      const heard = (await accessibleTree(who)).filter(({ role }) => CONTROLS.includes(role));
      expect(heard.length).toBe(controls);
      expect(heard.filter(({ name }) => name.trim() === '')).toEqual([]);
    }

    test('each page, its controls and its errors have accessible names', async () => {
      const who = await visitor();
      const { page } = who;
      const control = async (name: string) => (await accessibleTree(who)).find((each) => each.name === name);
      await page.goto(request());
      await isSound(who);
      const wrong = 'The e-mail address or the password is wrong.';
      await signInOn(page, email, 'not the password');
      await page.getByText(wrong).first().waitFor();
      await isSound(who);
      expect((await accessibleTree(who)).some(({ role }) => role === 'alert')).toBe(true);
      expect((await control('Password'))?.description).toBe(wrong);
      await signInOn(page, 'nonsense');
      await page.getByText('Enter your e-mail address.').first().waitFor();
      await isSound(who);
      expect(await control('E-mail address')).toMatchObject({
        description: 'Enter your e-mail address.',
        invalid: true,
      });
      expect(await focusOf(page)).toEqual({ name: 'email', isSeen: true });

      await signInOn(page, email);
      await page.getByRole('heading', { name: /wants access/ }).waitFor();
      await isSound(who);
      for (const each of await page.getByRole('checkbox').all()) await each.uncheck();
      await press(page, 'Allow');
      await page.getByRole('alert').waitFor();
      await isSound(who);
      expect((await control('It may'))?.description).toContain('Tick what the application may do');

      for (const path of ['/account/switch', '/oauth/authorize', '/password?token=x', '/set-up']) {
        await page.goto(world.url + path);
        await isSound(who);
      }
      const { body } = await world.api.post('/v2/users', {
        email: 'heard@example.com',
        name: 'Heard',
        role: 'viewer',
      });
      await page.goto(body.invitation_url);
      await isSound(who);
    });
  });
});
