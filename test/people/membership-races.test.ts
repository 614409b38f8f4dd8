import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { browserAt, makeUser, PASSWORD, signInAs, tokenIn } from './support.ts';

const world = useWorld({ databaseLatencyMs: 0 });
let shop: Api;
let agency: Api;
beforeAll(async () => {
  shop = world.api;
  agency = await world.otherAccount('Agency');
});

const GAPS = someOf([0, 40, 80, 120, 160], 1);
const OTHER = 'nine ordinary saucers';
/**
 * Both at once, the second `gapMs` after the first. Only they have latency: the preparation of a race need not be slow.
 */
async function race<A, B>(gapMs: number, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  if (!world.latency) throw new Error('the world has no proxy');
  world.latency.latencyMs = 25;
  try {
    return await Promise.all([first(), delay(gapMs).then(second)]);
  } finally {
    world.latency.latencyMs = 0;
  }
}
const invite = async (api: Api, email: string) =>
  (await api.post('/v2/users', { email, name: 'Bea', role: 'member' })).body;
const join = (token: string) => browserAt(world.url).submit('/password/join', { token, current: PASSWORD });
const choose = (token: string, password: string) =>
  browserAt(world.url).submit('/password', { token, password, again: password });

async function makeBoth() {
  const made = await makeUser(shop, 'member');
  const invited = await invite(agency, made.email);
  const answer = await join(tokenIn(invited.invitation_url));
  if (answer.status !== 303) throw new Error(answer.text);
  return { email: made.email, inShop: made.id, inAgency: invited.id as string, browser: made.browser };
}

/** Live sessions in accounts of which their user is not (or no longer) a member. */
const strays = () =>
  world.query(
    `select s.id from sessions s join users u on u.account_id = s.account_id and u.id = s.user_id
     where s.revoked_at is null and (u.removed_at is not null or u.joined_at is null)`,
  );

test('two accounts that remove a person at once leave no password behind', async () => {
  for (const gapMs of GAPS) {
    const { email, inShop, inAgency } = await makeBoth();
    const answers = await race(
      gapMs,
      () => shop.delete(`/v2/users/${inShop}`),
      () => agency.delete(`/v2/users/${inAgency}`),
    );
    expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    expect(await world.query('select password_hash from people where email = $1', [email])).toEqual([
      { password_hash: null },
    ]);
  }
  expect(await strays()).toEqual([]);
});

test('of two accounts whose invitations choose a password at once, one sets it', async () => {
  for (const gapMs of GAPS) {
    const email = `new-${gapMs}@example.com`;
    const tokens = [await invite(shop, email), await invite(agency, email)].map((made) =>
      tokenIn(made.invitation_url),
    );
    const passwords = [PASSWORD, OTHER];
    const answers = await race(
      gapMs,
      () => choose(tokens[0] ?? '', PASSWORD),
      () => choose(tokens[1] ?? '', OTHER),
    );
    const statuses = answers.map(({ status }) => status);
    expect([...statuses].sort()).toEqual([303, 400]);
    const won = statuses.indexOf(303);
    expect((await signInAs(world.url, email, passwords[won])).answer.status).toBe(303);
    expect((await signInAs(world.url, email, passwords[1 - won])).answer.status).toBe(400);
  }
});

test('a member who is removed while joining, or while switching, is out', async () => {
  for (const gapMs of GAPS) {
    const { email } = await makeUser(shop, 'member');
    const invited = await invite(agency, email);
    const [joined, removed] = await race(
      gapMs,
      () => join(tokenIn(invited.invitation_url)),
      () => agency.delete(`/v2/users/${invited.id}`),
    );
    expect(removed.status).toBe(204);
    expect([303, 410]).toContain(joined.status);
    const { inAgency, browser } = await makeBoth();
    const { id: account } = (await agency.get('/v2/account')).body;
    const csrf = await browser.token();
    const [switched, gone] = await race(
      gapMs,
      () => browser.submit('/account/switch', { csrf, account }),
      () => agency.delete(`/v2/users/${inAgency}`),
    );
    expect(gone.status).toBe(204);
    expect([303, 404]).toContain(switched.status);
    // a member who could not switch stays in the same account
    expect((await browser.get('/settings/profile')).status).toBe(switched.status === 404 ? 200 : 303);
  }
  expect(await strays()).toEqual([]);
});

test('a reset by one account and joining another at once: the link does not open the other', async () => {
  for (const gapMs of GAPS) {
    const { id, email } = await makeUser(shop, 'member');
    const reset = tokenIn((await shop.post(`/v2/users/${id}/reset-password`)).body.reset_url);
    const invited = await invite(agency, email);
    const [joined, chosen] = await race(
      gapMs,
      () => join(tokenIn(invited.invitation_url)),
      () => choose(reset, OTHER),
    );
    // the second one was refused: the link cannot be reached, or the password is another one
    expect([joined.status === 303, chosen.status === 303].filter(Boolean)).toHaveLength(1);
    await world.query('delete from sign_in_failures');
  }
});

longRun.test('no session that is moved to another account outlives a change of the password', async () => {
  for (const gapMs of GAPS) {
    const { email, browser } = await makeBoth();
    const { browser: phone } = await signInAs(world.url, email);
    const { id: account } = (await shop.get('/v2/account')).body;
    const [csrf, own] = [await phone.token(), await browser.token()];
    const [, changed] = await race(
      gapMs,
      () => phone.submit('/account/switch', { csrf, account }),
      () => browser.submit('/account/password', { csrf: own, current: PASSWORD, new: OTHER, again: OTHER }),
    );
    expect(changed.location).toBe('/settings/profile?password=changed');
    expect((await phone.get('/settings/profile')).status).toBe(303);
    expect((await browser.get('/settings/profile')).status).toBe(200);
  }
});
