import { expect, test } from 'vitest';
import { nil } from '../../src/kernel/ids.ts';
import { longRun, rounds } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { useWorld } from '../support/world.ts';
import { type Browser, browserAt, makeUser, PASSWORD, signInAs, tokenIn } from './support.ts';

const world = useWorld({ databaseLatencyMs: 25 });

const OTHER = 'nine ordinary saucers';
const isSignedIn = async (browser: Browser) => (await browser.get('/settings/profile')).status === 200;

test('of many who use one set-up link at once, one becomes the owner', async () => {
  const [account] = await world.platform.accounts.list();
  const token = tokenIn((await world.platform.accounts.setUpLink(account?.uuid ?? nil())) ?? '');
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const fields = {
        token,
        account_name: 'Shop',
        email: `ada${i}@example.com`,
        password: PASSWORD,
      };
      return (await browserAt(world.url).submit('/set-up', fields)).status;
    }),
  );
  expect(statuses.sort()).toEqual([303, 410, 410, 410, 410, 410]);
  expect((await world.api.get('/v2/users')).body.pagination.total).toBe(1);
});

longRun.test('of many who use one invitation at once, one chooses the password', async () => {
  const { body } = await world.api.post('/v2/users', {
    email: 'eve@example.com',
    name: 'Eve',
    role: 'member',
  });
  const token = tokenIn(body.invitation_url);
  const passwords = Array.from({ length: rounds(3, 6) }, (_, i) => `${PASSWORD} ${i}`);
  const statuses = await Promise.all(
    passwords.map(async (password) => {
      const fields = { token, password, again: password };
      return (await browserAt(world.url).submit('/password', fields)).status;
    }),
  );
  expect(statuses.filter((status) => status === 303)).toHaveLength(1);
  const winner = passwords[statuses.indexOf(303)];
  expect((await signInAs(world.url, 'eve@example.com', winner)).answer.status).toBe(303);
});

test('two owners who remove each other at once do not both leave', async () => {
  const api = await world.otherAccount('Duel');
  for (let round = 0; round < rounds(1, 3); round += 1) {
    const [one, two] = [await makeUser(api, 'owner'), await makeUser(api, 'owner')];
    const others = (await api.get('/v2/users?role=owner')).body.data.map(({ id }: { id: string }) => id);
    for (const id of others) if (id !== one.id && id !== two.id) await api.delete(`/v2/users/${id}`);
    const statuses = (
      await Promise.all([api.delete(`/v2/users/${one.id}`), api.delete(`/v2/users/${two.id}`)])
    ).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, 409]);
  }
});

/** Runs `second` while `first` has written its session and has not committed yet. */
async function whileUncommitted<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  // a sign-in ends with its entry in the audit log
  await world.query('begin');
  await world.query('lock table audit_log in share mode');
  const begun = first();
  await untilLockWait(world, 1);
  const followed = second();
  await untilLockWait(world, 2);
  await world.query('commit');
  return Promise.all([begun, followed]);
}

test('no session opened with the old password outlives its change', async () => {
  const { email, browser } = await makeUser(world.api, 'member');
  const csrf = await browser.token();
  const change = { csrf, current: PASSWORD, new: OTHER, again: OTHER };
  const [signedIn, changed] = await whileUncommitted(
    () => signInAs(world.url, email),
    () => browser.submit('/account/password', change),
  );
  expect([signedIn.answer.location, changed.location]).toEqual(['/', '/settings/profile?password=changed']);
  expect(await isSignedIn(signedIn.browser)).toBe(false);
  expect(await isSignedIn(browser)).toBe(true);
});

longRun.test('no session is left of a user who was removed while signing in', async () => {
  const { id, email } = await makeUser(world.api, 'member');
  const [signedIn, removed] = await whileUncommitted(
    () => signInAs(world.url, email),
    () => world.api.delete(`/v2/users/${id}`),
  );
  expect([signedIn.answer.status, removed.status]).toEqual([303, 204]);
  const left = await world.query(
    'select 1 from sessions s join users u on u.id = s.user_id where u.removed_at is not null and s.revoked_at is null',
  );
  expect(left).toEqual([]);
});
