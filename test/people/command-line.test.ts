import { expect, test } from 'vitest';
import { runOn } from '../cli/here.ts';
import { startServer, useMachine } from '../cli/support.ts';
import { browserAt, PASSWORD, tokenIn } from './support.ts';

const machine = useMachine();
const run = runOn(machine);

const BASE = { BASE_URL: 'https://pay.example.com' };

test('from the first start to a team: a link, then the commands, next to the running server', async () => {
  const server = await startServer(machine);
  await server.printed(/payhook users setup-link/);
  const printed = (await run(['users', 'setup-link'])).stdout.split('\n', 1)[0] ?? '';
  expect(printed).toMatch(/^http\S+\/set-up\?token=\S+$/);

  const again = await run(['users', 'setup-link', '--json'], { env: BASE });
  const link = again.json().url as string;
  expect(link).toMatch(/^https:\/\/pay\.example\.com\/set-up\?token=phl_\w{49}$/);
  const ada = { account_name: 'Shop', email: 'ada@example.com', password: PASSWORD };
  const browser = browserAt(server.url);
  expect((await browser.submit('/set-up', { ...ada, token: tokenIn(printed) })).status).toBe(410);
  expect((await browser.submit('/set-up', { ...ada, token: tokenIn(link) })).status).toBe(303);

  const late = await run(['users', 'setup-link']);
  expect([late.code, late.stderr]).toEqual([
    1,
    'payhook: the account already has users: invite others with payhook users invite\n',
  ]);

  const made = await run(['users', 'create', '--email', 'bob@example.com', '--name', 'Bob'], {
    env: BASE,
  });
  expect(made.stdout).toMatch(
    /^https:\/\/pay\.example\.com\/password\?token=phl_\w{49}\nFor Bob \(usr_\w+\)/,
  );
  const bob = browserAt(server.url);
  const token = tokenIn(made.stdout.split('\n', 1)[0] ?? '');
  expect((await bob.submit('/password', { token, password: PASSWORD, again: PASSWORD })).status).toBe(303);

  const list = await run(['users', 'list']);
  expect(list.stdout).toMatch(/ada@example\.com +ada +owner +active/);
  expect(list.stdout).toMatch(/bob@example\.com +Bob +member +active/);

  const reset = await run(['users', 'reset-password', 'BOB@example.com', '--json']);
  expect(reset.json()).toMatchObject({
    object: 'password_reset',
    reset_url: expect.stringContaining('/password?'),
  });

  const unconfirmed = await run(['users', 'remove', 'bob@example.com']);
  expect(unconfirmed.code).toBe(2);
  expect((await run(['users', 'remove', 'bob@example.com', '--yes'])).code).toBe(0);
  expect((await bob.get('/settings/profile')).status).toBe(303);
  const id = /\((usr_\w+)\)/.exec(made.stdout)?.[1] ?? '';
  expect((await run(['users', 'erase', id])).code).toBe(2);
  expect((await run(['users', 'erase', id, '--yes'])).stdout).toBe(`Erased ${id}.\n`);
  const removed = await run(['users', 'list', '--status', 'removed']);
  expect(removed.stdout).toMatch(new RegExp(`${id} +${id}@erased\\.invalid +erased`));
  const last = await run(['users', 'remove', 'ada@example.com', '--yes', '--json']);
  expect([last.code, JSON.parse(last.stderr).error.reason]).toEqual([1, 'last_owner']);
  server.child.kill('SIGTERM');
  const { stderr } = await server.ended;
  expect(stderr).not.toMatch(/phl_|phi_|teapots/);
});

test('an unknown role and an unknown user are refused clearly', async () => {
  const role = await run(['users', 'create', '--email', 'x@example.com', '--name', 'X', '--role', 'king']);
  expect([role.code, role.stderr]).toEqual([
    2,
    expect.stringContaining('owner, member, finance, approver, viewer'),
  ]);
  const user = await run(['users', 'reset-password', 'nobody@example.com']);
  expect([user.code, user.stderr]).toEqual([
    1,
    'payhook: there is no user with the e-mail address nobody@example.com: payhook users list shows them\n',
  ]);
});
