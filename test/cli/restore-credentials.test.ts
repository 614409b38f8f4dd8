import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { signedIn } from '../people/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { isLong } from '../support/depth.ts';
import { makeEndpoint, makeGrant } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { emptyDatabase } from './backup-support.ts';
import { runOn } from './here.ts';
import { startServer, useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world, 'Shop');
const machine = useMachine();
const run = (args: readonly string[], env: Record<string, string>) => runOn(machine)(args, { env });
const drops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const drop of drops) await drop();
});

/** One of each credential, in the account of the test. */
async function makeCredentials() {
  const { body: key } = await api.post('/v2/api-keys', { name: 'shop' });
  const user = await signedIn(world, 'owner', api);
  const grant = await makeGrant(world, api, { name: 'Ledger' });
  const { body: invited } = await api.post('/v2/users', {
    email: 'ada@example.com',
    name: 'Ada',
    role: 'member',
  });
  const endpoint = await makeEndpoint(api, { owner: 'customer 7' });
  const { body: portal } = await api.post(`/v2/webhook-endpoints/${endpoint}/portal-link`, {});
  const { body: pull } = await api.post('/v2/webhook-endpoints', {
    delivery: 'pull',
    event_types: ['order.*'],
  });
  const { body: consumer } = await api.post(`/v2/webhook-endpoints/${pull.id}/token`);
  return { key, user, grant, invited, portal, pull: { id: pull.id, token: consumer.token } };
}

type Made = Awaited<ReturnType<typeof makeCredentials>>;

/** The credentials a server accepts. */
async function accepted(url: string, { key, user, grant, invited, portal, pull }: Made) {
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(url + path, { redirect: 'manual', ...init })).status;
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const page = async (path: string) => (await fetch(url + path)).text();
  const link = new URL(invited.invitation_url);
  const opened = new URL(portal.url);
  return {
    key: await status('/v2/account', bearer(key.key)),
    session: await status('/v2/me', { headers: { cookie: `payhook_session=${user.browser.cookie()}` } }),
    token: await status('/v2/affiliates/payouts', bearer(grant.access_token)),
    consumer: await status(`/v2/webhook-endpoints/${pull.id}/claims`, {
      ...bearer(pull.token),
      method: 'POST',
    }),
    invitation: (await page(link.pathname + link.search)).includes('name="password"'),
    portal: await status('/portal', {
      method: 'POST',
      body: new URLSearchParams({
        link: opened.searchParams.get('link') ?? '',
        secret: opened.hash.slice(1),
      }),
    }),
  };
}

/** Restores into a database of its own. */
async function restored(file: string, options: readonly string[]) {
  const { url, drop } = await emptyDatabase();
  drops.push(drop);
  const env = { DATABASE_URL: url, SECRET_KEY: inject('postgres').secretKey, DELIVERY_WORKER: 'off' };
  const ran = await run(['restore', file, ...options], env);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return { said: ran.stdout, env };
}

/** The credentials that a server on a restored database accepts. */
async function acceptedIn(env: Record<string, string>, made: Made) {
  const server = await startServer(machine, { env });
  const seen = await accepted(server.url, made);
  server.child.kill('SIGTERM');
  await server.ended;
  return seen;
}

test('a restore lists the credentials it revives, and --end-credentials ends them', async () => {
  const made = await makeCredentials();
  const file = join(machine.folder, 'before.payhook');
  const saved = await run(['backup', file], await settingsOf(world));
  expect(saved, saved.stderr).toMatchObject({ code: 0 });
  // after the backup
  expect((await api.delete(`/v2/api-keys/${made.key.id}`)).status).toBe(204);
  expect((await accepted(world.url, made)).key).toBe(401);

  const revived = await restored(file, []);
  const before = { key: 200, session: 200, token: 200, consumer: 200, invitation: true, portal: 200 };
  if (isLong) expect(await acceptedIn(revived.env, made)).toMatchObject(before);
  expect(revived.said).toMatch(
    /credentials {3}valid as of .*, including those revoked since: \d+ API keys, /,
  );
  expect(revived.said).toContain(`    API key shop ${made.key.id} of acc_`);
  expect(revived.said).toContain(`    OAuth grant Ledger ${made.grant.grant_id} of acc_`);
  expect(revived.said).toContain('--end-credentials ends all');

  const ended = await restored(file, ['--end-credentials', '--json']);
  expect(await acceptedIn(ended.env, made)).toMatchObject({
    key: 401,
    session: 401,
    token: 401,
    consumer: 401,
    invitation: false,
    portal: 400,
  });
  const result = JSON.parse(ended.said);
  expect(result.credentials_ended).toBe(true);
  const { id: account_id } = (await api.get('/v2/account')).body;
  for (const credential of [
    { kind: 'api_key', account_id, id: made.key.id, name: 'shop' },
    { kind: 'session', account_id, id: expect.stringMatching(/^ses_/), name: 'The owner' },
    { kind: 'oauth_grant', account_id, id: made.grant.grant_id, name: 'Ledger' },
    { kind: 'oauth_client_secret', account_id, id: made.grant.application_id, name: 'Ledger' },
    { kind: 'user_link', account_id, id: null, name: 'Ada' },
    { kind: 'portal_link', account_id, id: made.portal.id, name: 'customer 7' },
    { kind: 'endpoint_token', account_id, id: made.pull.id, name: null },
  ]) {
    expect(result.credentials).toContainEqual(credential);
  }

  // the operator creates a new key, and the audit log says what happened
  const audit = await run(['audit-log', 'list', '--account', account_id, '--json'], ended.env);
  expect(audit.stdout).toContain('"endCredentials"');
  const key = await run(['keys', 'create', '--account', account_id, '--name', 'new', '--json'], ended.env);
  expect(key, key.stderr).toMatchObject({ code: 0 });
});
