import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { borrowCells, accountIn as placeAccount } from '../cells/support.ts';
import { authorizePath, CALLBACK, register } from '../oauth/support.ts';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { type LatencyProxy, latencyProxy } from '../support/latency.ts';
import type { World } from '../support/world.ts';
import { markPeople } from './cells-support.ts';
import {
  type Browser,
  browserAt,
  makeUser,
  PASSWORD,
  type PageAnswer,
  signInAs,
  tokenIn,
} from './support.ts';

let world: World;
/** In front of cell 2; cell 1 has no proxy. */
let proxy: LatencyProxy;
let [one, two]: Api[] = [];
beforeAll(async () => {
  const { host, port } = inject('postgres');
  proxy = await latencyProxy({ host, port }, 0);
  world = await borrowCells({}, proxy.port);
  [one, two] = [await accountIn(world, 1, 'Northwind'), await accountIn(world, 2, 'Fabrikam')];
});
afterAll(async () => {
  await world?.close();
  await proxy.close();
});

const accountIn = async (...where: Parameters<typeof placeAccount>) => (await placeAccount(...where)).api;
const OTHER = 'nine ordinary saucers';
const WRONG = 'The e-mail address or the password is wrong.';
const api = (cell: 1 | 2) => (cell === 1 ? one : two) as Api;

/** The values of the hidden fields of the form that a page has for a cell. */
function choiceOf({ text }: PageAnswer, cell: number): Record<string, string> {
  const form = text.split('<form').find((each) => each.includes(`name="cell" value="${cell}"`)) ?? '';
  return Object.fromEntries(
    [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
}

const accountOf = async (browser: Browser) => (await browser.call('GET', '/v2/me')).body?.account?.name;

let made = 0;
/** A person with the same password in both cells. */
async function inBoth(): Promise<{ email: string; browsers: Browser[]; ids: string[] }> {
  const email = `both-${++made}@example.com`;
  const users = [await makeUser(api(1), 'owner', email), await makeUser(api(2), 'viewer', email)];
  await markPeople(world, 1, 2);
  return { email, browsers: users.map(({ browser }) => browser), ids: users.map(({ id }) => id) };
}

describe('a user of a cell', () => {
  test('joins, signs in, sees the sessions, resets the password and signs out there', async () => {
    const invited = await api(1).post('/v2/users', { email: 'ada@example.com', name: 'Ada', role: 'owner' });
    expect(tokenIn(invited.body.invitation_url)).toMatch(/^phl_1_/);
    const first = browserAt(world.url);
    const token = tokenIn(invited.body.invitation_url);
    expect((await first.get(`/password?token=${token}`)).text).toContain('You are invited to Northwind');
    await first.submit('/password', { token, password: PASSWORD, again: PASSWORD });
    expect(first.cookie()).toMatch(/^phi_1_/);
    await markPeople(world, 1);
    const { browser, answer } = await signInAs(world.url, 'ada@example.com');
    expect([answer.status, await accountOf(browser)]).toEqual([303, 'Northwind']);
    expect((await browser.call('GET', '/v2/me/sessions')).body.data.length).toBe(2);
    expect((await browser.call('DELETE', '/v2/me/sessions')).status).toBe(204);
    expect(await accountOf(first)).toBeUndefined();
    expect((await browser.submit('/sign-out', { csrf: await browser.token() })).status).toBe(303);
    const reset = await api(1).post(`/v2/users/${invited.body.id}/reset-password`);
    const link = { token: tokenIn(reset.body.reset_url), password: OTHER, again: OTHER };
    expect((await browserAt(world.url).submit('/password', link)).status).toBe(303);
    expect((await signInAs(world.url, 'ada@example.com', OTHER)).answer.status).toBe(303);
  });

  longRun.test('becomes the first owner by a set-up link', async () => {
    const { id } = await world.platform.accounts.create('Third', 2);
    const url = (await world.platform.accounts.setUpLink(id)) ?? '';
    expect(tokenIn(url)).toMatch(/^phl_2_/);
    const browser = browserAt(world.url);
    const fields = { account_name: 'Third', email: 'cy@example.com', password: PASSWORD };
    const done = await browser.submit('/set-up', { token: tokenIn(url), ...fields });
    expect([done.status, await accountOf(browser)]).toEqual([303, 'Third']);
  });

  test('cannot sign in with the cookie of a cell that does not exist, and gets the form', async () => {
    const browser = browserAt(world.url, newSecret('phi_', 77));
    expect((await browser.get('/account/switch')).location).toBe('/sign-in?next=%2F');
    expect((await browser.get('/sign-in')).status).toBe(200);
    expect((await browser.call('GET', '/v2/me', undefined, null)).reason).toBe('invalid_credentials');
  });
});

describe('a person with users in two cells', () => {
  test('with one password chooses among the accounts of both, and the earlier session ends', async () => {
    const { email, browsers } = await inBoth();
    const [browser] = browsers as [Browser];
    const earlier = browser.cookie();
    const page = await browser.submit('/sign-in', { email, password: PASSWORD, next: '/payouts' });
    expect(page.status).toBe(200);
    for (const text of ['Northwind', 'Owner', 'Fabrikam', 'Viewer']) expect(page.text).toContain(text);
    expect(page.text).not.toContain(PASSWORD);
    expect(browser.cookie()).toBe(earlier);
    const done = await browser.submit('/sign-in/account', choiceOf(page, 2));
    expect([done.status, done.location, await accountOf(browser)]).toEqual([303, '/payouts', 'Fabrikam']);
    expect(browser.cookie()).toMatch(/^phi_2_/);
    expect(await accountOf(browserAt(world.url, earlier))).toBeUndefined();
    const log = await api(1).get('/v2/audit-log?sort=-created_at');
    expect(log.body.data[0].action).toBe('signOut');
  });

  test('with two passwords signs in where the password is right', async () => {
    const email = 'two-passwords@example.com';
    await makeUser(api(1), 'owner', email);
    const { body } = await api(2).post('/v2/users', { email, name: 'Bea', role: 'owner' });
    const token = tokenIn(body.invitation_url);
    await browserAt(world.url).submit('/password', { token, password: OTHER, again: OTHER });
    await markPeople(world, 1, 2);
    const accounts = [];
    for (const password of [PASSWORD, OTHER])
      accounts.push(await accountOf((await signInAs(world.url, email, password)).browser));
    expect(accounts).toEqual(['Northwind', 'Fabrikam']);
  });

  longRun.test('is in cell 0 and another: both are offered', async () => {
    const { email } = await makeUser(world.api, 'owner');
    await makeUser(api(1), 'owner', email);
    await markPeople(world, 1);
    const { browser, answer } = await signInAs(world.url, email);
    await browser.submit('/sign-in/account', choiceOf(answer, 0));
    expect([browser.cookie()?.length, await accountOf(browser)]).toEqual([53, 'Default']);
  });

  longRun.test('goes from one to the other with the password of that one', async () => {
    const email = 'agency@example.com';
    const { browser } = await makeUser(api(1), 'owner', email);
    const { body } = await api(2).post('/v2/users', { email, name: 'Bea', role: 'owner' });
    const token = tokenIn(body.invitation_url);
    await browserAt(world.url).submit('/password', { token, password: OTHER, again: OTHER });
    await markPeople(world, 1, 2);
    const list = await browser.get('/account/switch?next=/payouts');
    expect(list.text).not.toContain('Fabrikam');
    const href = /href="(\/sign-in[^"]*)"/.exec(list.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const form = await browser.get(href);
    expect(form.text).toContain(`value="${email}"`);
    const send = (password: string) =>
      browser.submit('/sign-in', { email, password, next: '/payouts', another: '' });
    const same = await send(PASSWORD);
    expect(same.text).toContain('This is the password of the account that you are signed in to');
    expect((await send(OTHER)).location).toBe('/payouts');
    expect(await accountOf(browser)).toBe('Fabrikam');
  });

  test('sees the same link without accounts elsewhere: it does not disclose whether there are any', async () => {
    const { browser } = await makeUser(api(1), 'viewer');
    expect((await browser.call('GET', '/v2/me')).body.has_several_cells).toBe(true);
    expect((await browser.get('/account/switch')).text).toContain('Sign in to another account');
  });
});

describe('the choice of an account is refused', () => {
  /** The page of the choice, and a browser that submits it. */
  async function atChoice() {
    const both = await inBoth();
    const { browser, answer } = await signInAs(world.url, both.email);
    return { ...both, browser, fields: choiceOf(answer, 1) };
  }
  const choose = async (browser: Browser, fields: Record<string, string>) => {
    const answer = await browser.submit('/sign-in/account', fields);
    return [answer.status, browser.cookie()];
  };

  test('with a proof that was altered, is missing or is of another person', async () => {
    const { browser, fields } = await atChoice();
    const { fields: others } = await atChoice();
    const proof = fields.proof ?? '';
    const stranger = await accountIn(world, 1, 'Strangers');
    const account = (await stranger.get('/v2/account')).body.id;
    const altered = proof.slice(0, 60) + (proof[60] === 'A' ? 'B' : 'A') + proof.slice(61);
    for (const change of [
      { proof: altered },
      { proof: '' },
      { proof: 'é' },
      { account },
      { account: others.account ?? '', cell: '2' },
      { cell: '0' },
      { cell: '77' },
      { cell: '-1' },
    ])
      expect([change, ...(await choose(browser, { ...fields, ...change }))]).toEqual([
        change,
        400,
        undefined,
      ]);
    expect((await choose(browser, fields))[0]).toBe(303);
  });

  test('a second time', async () => {
    const { browser, fields } = await atChoice();
    expect((await choose(browser, fields))[0]).toBe(303);
    expect(await choose(browserAt(world.url), fields)).toEqual([400, undefined]);
  });

  test('after ten minutes', async () => {
    const { browser, fields } = await atChoice();
    await world.query(`update sign_in_failures set failed_at = failed_at - interval '10 minutes'`);
    expect(await choose(browser, fields)).toEqual([400, undefined]);
  });

  test('after the password changed', async () => {
    const { browser, fields, browsers } = await atChoice();
    const csrf = (await browsers[0]?.token()) ?? '';
    const change = { csrf, current: PASSWORD, new: OTHER, again: OTHER };
    await browsers[0]?.submit('/account/password', change);
    expect(await choose(browser, fields)).toEqual([400, undefined]);
  });

  test('from another site', async () => {
    const { browser, fields } = await atChoice();
    const sent = await browser.submit('/sign-in/account', fields, { origin: 'https://evil.example' });
    expect([sent.status, browser.cookie()]).toEqual([403, undefined]);
  });

  test('when the person was removed from the account', async () => {
    const { browser, fields, ids } = await atChoice();
    expect((await api(1).delete(`/v2/users/${ids[0]}`)).status).toBe(204);
    expect(await choose(browser, fields)).toEqual([400, undefined]);
  });
});

test('a wrong password counts once, in cell 0, and the response is that of an unknown address', async () => {
  await world.query('delete from sign_in_failures');
  const { email } = await inBoth();
  const ask = async (as: string) => (await signInAs(world.url, as, OTHER)).answer.text.replaceAll(as, '?');
  expect(await ask(email)).toBe(await ask('nobody@example.com'));
  const counts = await world.query(
    `select (select count(*)::int from sign_in_failures) as first, (select count(*)::int from cell_1.sign_in_failures) as second`,
  );
  expect(counts).toEqual([{ first: 4, second: 0 }]);
  for (let i = 0; i < 9; i++) await ask(email);
  expect((await signInAs(world.url, email)).answer.status).toBe(429);
  await world.query('delete from sign_in_failures');
});

test('an application of a cell is offered only the accounts of its cell', async () => {
  const application = await register(api(2));
  const path = authorizePath(application);
  const here = await makeUser(api(1), 'owner');
  await markPeople(world, 1);
  const asked = await here.browser.get(path);
  const form = await here.browser.get((asked.location ?? '').replace(world.url, ''));
  expect(form.text).toContain('The application cannot get access to the account that you are signed in to.');
  const refused = await here.browser.submit('/sign-in', {
    email: here.email,
    password: PASSWORD,
    next: path,
  });
  expect(refused.text).toContain(
    'With this password you have no account that the application can get access to',
  );
  expect(await accountOf(here.browser)).toBe('Northwind');

  const { email, browsers } = await inBoth();
  const [browser] = browsers as [Browser];
  await api(2).patch(`/v2/users/${(await api(2).get(`/v2/users?email=${email}`)).body.data[0].id}`, {
    role: 'owner',
  });
  const done = await browser.submit('/sign-in', { email, password: PASSWORD, next: path });
  expect([done.status, done.location]).toEqual([303, path]);
  const consent = await browser.get(path);
  expect(consent.text).toContain('(Fabrikam)');
  expect(consent.headers.get('content-security-policy')).toContain(new URL(CALLBACK).origin);
});

test('the mark of somebody who is gone is removed', async () => {
  const { id, email } = await makeUser(api(1), 'viewer');
  await markPeople(world, 1);
  const marks = () =>
    world.query<{ mark: string }>(
      `select encode(email_mark, 'hex') as mark from person_cells where cell = 1`,
    );
  const before = (await marks()).length;
  await world.query(`insert into person_cells values ('\\x00', 1)`);
  expect((await api(1).post(`/v2/users/${id}/erase`)).status).toBe(200);
  await markPeople(world, 1);
  const left = await marks();
  expect(left.map(({ mark }) => mark)).not.toContain('00');
  // the person without a name who takes the place of the erased one is marked too
  expect(left.length).toBe(before);
  expect((await signInAs(world.url, email)).answer.status).toBe(400);
});

test('while a cell is down, other accounts sign in, and a failed attempt says so for every address', async () => {
  world.expectErrors();
  const { email, browser: signedIn } = await makeUser(await accountIn(world, 2, 'Far'), 'owner');
  const near = await makeUser(api(1), 'owner');
  await markPeople(world, 1, 2);
  expect((await signInAs(world.url, 'nobody@example.com')).answer.text).not.toContain('cannot be reached');
  proxy.refusing = true;
  proxy.cut();
  for (const address of [email, 'nobody@example.com', near.email]) {
    const { answer } = await signInAs(world.url, address, address === near.email ? OTHER : PASSWORD);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(WRONG);
    expect(answer.text).toContain('Some accounts cannot be reached at the moment');
  }
  expect(await accountOf((await signInAs(world.url, near.email)).browser)).toBe('Northwind');
  // a browser that is signed in there gets the sign-in page, and can sign in to another account
  expect((await signedIn.get('/account/switch')).status).toBe(503);
  const page = await signedIn.get('/sign-in');
  expect([page.status, page.text.includes('name="password"')]).toEqual([200, true]);
  await signedIn.submit('/sign-in', { email: near.email, password: PASSWORD });
  expect(await accountOf(signedIn)).toBe('Northwind');
  proxy.refusing = false;
  expect(await accountOf((await signInAs(world.url, email)).browser)).toBe('Far');
});
