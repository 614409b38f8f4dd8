import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectRefusal } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { borrowWorld } from '../support/pool.ts';
import { type MailReceiver, startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { standIn, type World } from '../support/world.ts';

let mail: MailReceiver;
let started: World;
let api: Api;
const world = standIn(() => started);

beforeAll(async () => {
  mail = await startMailReceiver();
  started = await borrowWorld({
    settings: {
      SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
      SMTP_FROM: 'Payhook <pay@example.com>',
      AUTHORIZE_URL: 'http://pay.example.com',
    },
  });
  // a process that sends e-mails has been running
  await world.query(`insert into server_settings (key, value) values ('chore e-mail', now()::text)
    on conflict (key) do update set value = excluded.value`);
});
afterAll(async () => {
  await started.close();
  await mail.close();
});
beforeEach(async () => {
  api = await world.otherAccount('Shop');
  mail.taken.length = 0;
  mail.refuse(null);
});

const invite = (of: Api, email: string, name = 'Somebody') =>
  of.post('/v2/users', { email, name, role: 'viewer' });
/** E-mail is only sent when a test says so. */
const send = () => keepHouse(world, 'e-mail');

async function inviteAndRemove(of: Api, email: string): Promise<boolean> {
  const { status, text, body } = await invite(of, email);
  expect(status, text).toBe(201);
  expect((await of.delete(`/v2/users/${body.id}`)).status).toBe(204);
  return body.is_emailed;
}

test('one address gets five letters within an hour, from however many accounts at once', async () => {
  const accounts = await Promise.all(Array.from({ length: 8 }, () => world.otherAccount()));
  const sent = await Promise.all(accounts.map((account) => inviteAndRemove(account, 'victim@example.com')));
  expect(sent.filter(Boolean)).toHaveLength(5);
  expect(await inviteAndRemove(api, 'victim@example.com')).toBe(false);
  expect(await inviteAndRemove(api, 'other@example.com')).toBe(true);
  // an hour later
  await world.query(
    `update notices n set id = id_floor(now() - interval '61 minutes' - make_interval(secs => r.place::int))
     from (select id, row_number() over (order by id) as place from notices) r where r.id = n.id`,
  );
  expect(await inviteAndRemove(api, 'victim@example.com')).toBe(true);
});

test('one account sends fifty letters within an hour; the link is still in the response', async () => {
  const sent: boolean[] = [];
  for (let count = 1; count <= 51; count += 1) {
    const { body } = await invite(api, `person${count}@example.com`);
    expect(body.invitation_url).toContain('/password?token=');
    sent.push(body.is_emailed);
  }
  expect(sent.indexOf(false)).toBe(50);
  const other = await world.otherAccount();
  expect((await invite(other, 'person1@example.com')).body.is_emailed).toBe(true);
});

test('a waiting letter is not sent once its link has ended', async () => {
  mail.refuse({ code: 451, message: 'greylisted' });
  const expired = (await invite(api, 'expired@example.com')).body;
  const removed = (await invite(api, 'removed@example.com')).body;
  await invite(api, 'open@example.com');
  const renewed = (await invite(api, 'renewed@example.com')).body;
  await send();
  await until(
    'four refusals',
    () => mail.recipients.filter((each) => each.endsWith('@example.com')).length >= 4,
  );
  await world.query(`update user_links set expires_at = now() where user_id = $1::uuid`, [
    expired.id.replace('usr_', ''),
  ]);
  await api.delete(`/v2/users/${removed.id}`);
  const again = (await api.post(`/v2/users/${renewed.id}/reset-password`)).body;
  mail.refuse(null);
  await world.query(`update notices set due_at = now()`);
  await send();
  const to = (address: string) => mail.taken.filter(({ to: all }) => all.includes(address));
  expect(to('expired@example.com')).toEqual([]);
  expect(to('removed@example.com')).toEqual([]);
  expect(to('open@example.com')).toHaveLength(1);
  expect(to('renewed@example.com').map(({ text }) => text)).toEqual([
    expect.stringContaining(new URL(again.reset_url).searchParams.get('token') ?? '-'),
  ]);
  const dropped = await world.query(
    `select n.error, n.link from notices n join users u on u.account_id = n.account_id and u.id = n.user_id
     where u.id = any($1::uuid[]) order by n.id`,
    [[expired.id, removed.id].map((id) => id.replace('usr_', ''))],
  );
  expect(dropped).toEqual([
    { error: 'its link has ended', link: null },
    { error: 'its link has ended', link: null },
  ]);
});

const ADDRESSES = [
  'https://evil.example',
  'See www.evil.example',
  'evil.example/win',
  'evil.example:8080',
  'a.bc?d',
];

test('names of users and accounts must not contain a web address', async () => {
  for (const name of ADDRESSES) {
    expectRefusal(await invite(api, 'new@example.com', name), 400, 'invalid_body', 'name', 'web address');
    expectRefusal(await api.patch('/v2/account', { name }), 400, 'invalid_body', 'name', 'web address');
    await expect(world.platform.accounts.create(name)).rejects.toThrow(/name must not contain a web address/);
  }
  for (const name of ['Booking.com', 'A.C. Milan / B', 'Dr. Who?', 'e.g. 7:1']) {
    expect((await api.patch('/v2/account', { name })).body.name).toBe(name);
  }
});

test('a name from before that rule may stay, and no mail program turns it into a link', async () => {
  const name = 'Win at https://evil.example/now';
  const { id } = (await api.get('/v2/account')).body;
  const { body: user } = await invite(api, 'stored@example.com', 'Before');
  await world.query(`update accounts set name = $2 where id = $1::uuid`, [id.replace('acc_', ''), name]);
  await world.query(`update users set name = $2 where id = $1::uuid`, [user.id.replace('usr_', ''), name]);
  expect((await api.patch('/v2/account', { name, hold_days: 3 })).body).toMatchObject({ name, hold_days: 3 });
  expect((await api.patch(`/v2/users/${user.id}`, { name, role: 'member' })).status).toBe(200);
  await send();
  const mailed = await mail.untilMail('stored@example.com', 'You are invited to an account on Payhook');
  expect(mailed.subject).not.toContain('Win');
  const words = mailed.text.replaceAll(/=\r?\n/g, '');
  expect(words).toContain('Win at');
  expect(words).not.toContain('https://evil');
  expect(words).not.toContain('evil.example');
});
