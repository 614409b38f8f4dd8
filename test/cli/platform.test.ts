import { expect, test } from 'vitest';
import { askTokens, codeFor, register, signedIn } from '../oauth/support.ts';
import { makeUser } from '../people/support.ts';
import { apiOf } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';

const world = useWorld();
const { run, runJson, runText } = commandsOf(world, world.api);

const CREATE = ['oauth-applications', 'create', '--redirect-uri', 'https://sync.example.com/callback'];

test('an application is registered, shown, changed and deleted; its secret is shown once', async () => {
  const made = await runText(
    ...CREATE,
    '--name',
    'Shop Sync',
    '--scope',
    'affiliates,webhooks',
    '--scope',
    'reports',
  );
  const [, secret = '', id = ''] = /^(phs_\w+)\nShop Sync \((app_\w+), the client_id\)/.exec(made) ?? [];
  expect(secret).not.toBe('');

  const listed = await runText('oauth-applications', 'list');
  expect(listed).toMatch(/^ID +NAME +KIND +CREATED \(UTC\) +SCOPES$/m);
  expect(listed).toMatch(
    new RegExp(
      `^${id}  Shop Sync  confidential  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  affiliates, webhooks, reports$`,
      'm',
    ),
  );
  const shown = await runText('oauth-applications', 'show', 'Shop Sync');
  expect(shown).toContain('Redirect URI  https://sync.example.com/callback');
  expect(listed + shown).not.toContain(secret);

  const uris = ['--redirect-uri', 'https://a.example.com/', '--redirect-uri', 'https://b.example.com/'];
  const changed = await runJson('oauth-applications', 'change', 'Shop Sync', '--name', 'Sync', ...uris);
  expect(changed).toMatchObject({
    id,
    name: 'Sync',
    redirect_uris: ['https://a.example.com/', 'https://b.example.com/'],
    scopes: ['affiliates', 'webhooks', 'reports'],
  });

  const rotated = await runJson('oauth-applications', 'rotate-secret', 'Sync', '--yes');
  expect(rotated).toMatchObject({ id, client_secret: expect.stringMatching(/^phs_/) });
  expect(rotated.client_secret).not.toBe(secret);

  expect(await runText('oauth-applications', 'delete', id, '--yes')).toBe(`Deleted Sync (${id}).\n`);
  expect(await runText('oauth-applications', 'list')).toBe('No OAuth applications found.\n');
});

test('a public application has no secret to show or to rotate', async () => {
  const args = [...CREATE, '--name', 'Desk', '--scope', 'reports', '--public'];
  expect(await runText(...args)).toMatch(/^app_\w+\nDesk is registered with this client_id\. It is public/);
  const ran = await run('oauth-applications', 'rotate-secret', 'Desk', '--yes');
  expect(ran).toMatchObject({ code: 1, stdout: '', error: { reason: 'application_is_public' } });
});

test.each([
  [[...CREATE, '--name', 'X'], 2, '--scope is required'],
  [['oauth-applications', 'create', '--name', 'X', '--scope', 'reports'], 2, '--redirect-uri is required'],
  [[...CREATE, '--name', 'X', '--scope', 'everything'], 1, 'scopes'],
  [['oauth-applications', 'show', 'Nobody'], 1, 'payhook oauth-applications list shows them'],
  [['oauth-applications', 'change', 'Desk'], 2, 'nothing to change'],
  [['oauth-applications', 'rotate-secret', 'Desk'], 2, 'add --yes'],
  [['oauth-applications', 'delete', 'Desk'], 2, 'add --yes'],
  [['oauth-grants', 'revoke', 'grant_x'], 2, 'add --yes'],
  [['oauth-grants', 'list', '--status', 'old'], 2, 'active, revoked'],
  [['sessions', 'end', 'ses_x'], 1, 'no such active session'],
  [['sessions', 'list', '--user', 'nobody@example.com'], 1, 'payhook users list shows them'],
  [['users', 'change', 'nobody@example.com'], 2, 'nothing to change: give --name or --role'],
  [['keys', 'revoke', 'nothing', '--yes'], 1, 'payhook keys list shows them'],
])('%j is refused: the message says why, or what to do', async (args, code, message) => {
  const ran = await run(...args);
  expect(ran).toMatchObject({ code, stdout: '', error: { message: expect.stringContaining(message) } });
});

test('two applications of one name are distinguished by their ids', async () => {
  const ids: string[] = [];
  for (const _ of [1, 2]) ids.push((await register(world.api, { name: 'Twin' })).id);
  const ran = await run('oauth-applications', 'delete', 'Twin', '--yes');
  expect(ran).toMatchObject({ code: 1, error: { message: expect.stringContaining('choose one by its id') } });
  for (const id of ids) expect(ran.error?.message).toContain(id);
});

test('grants are listed, and revoked at once', async () => {
  const person = await signedIn(world);
  const application = await register(world.api);
  const code = await codeFor(world, person, application);
  const callback = { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/callback' };
  const { body } = await askTokens(world, application, callback);
  const api = () => apiOf(world.url, body.access_token).get('/v2/affiliates');
  expect((await api()).status).toBe(200);

  const { data } = await runJson(
    'oauth-grants',
    'list',
    '--status',
    'active',
    '--application',
    application.id,
  );
  const [{ id }] = data;
  expect(data).toMatchObject([{ object: 'oauth_grant', application_id: application.id, user_id: person.id }]);
  expect(await runText('oauth-grants', 'list')).toMatch(
    new RegExp(`^${id}  Till & Co +Ada Lovelace +active +\\d{4}-.* affiliates, webhooks, account$`, 'm'),
  );
  expect(await runText('oauth-grants', 'show', id)).toMatch(/^Granted by +Ada Lovelace \(usr_/m);

  expect(await runJson('oauth-grants', 'revoke', id, '--yes')).toEqual({
    id,
    object: 'oauth_grant',
    revoked: true,
  });
  expect((await api()).status).toBe(401);
  expect(await runText('oauth-grants', 'show', id)).toMatch(
    /revoked\n[\s\S]*^Because +this account revoked it$/m,
  );
  expect(await runText('oauth-grants', 'list', '--status', 'active')).toBe('No grants found.\n');
});

test('a session is listed with its user, and ended at once', async () => {
  const { email, browser } = await makeUser(world.api, 'member');
  expect((await browser.get('/settings/profile')).status).toBe(200);
  const listed = await runText('sessions', 'list', '--user', email);
  const [, id = ''] = new RegExp(`^(ses_\\w+)  ${email} +127\\.0\\.0\\.1 `, 'm').exec(listed) ?? [];
  expect(await runText('sessions', 'end', id)).toBe(`Ended ${id}.\n`);
  expect((await browser.get('/settings/profile')).status).toBe(303);
  expect(await runText('sessions', 'list', '--user', email)).toBe('No sessions found.\n');
});

test('a user is renamed and given another role', async () => {
  const { id, email } = await makeUser(world.api, 'member');
  const done = await runText('users', 'change', email, '--role', 'viewer', '--name', 'Ada');
  expect(done).toBe(`Ada (${id}) is viewer now.\n`);
  expect(await runJson('users', 'list', '--role', 'viewer')).toMatchObject({
    data: [{ id, name: 'Ada', role: 'viewer' }],
    pagination: { total: 1 },
  });
});

test('the audit log shows what was done, by actor, action, target and day', async () => {
  const { id, email } = await makeUser(world.api, 'owner');
  await runJson('users', 'change', id, '--name', 'Grace');
  const changes = await runJson('audit-log', 'list', '--target', id, '--action', 'changeUser');
  expect(changes.data).toMatchObject([
    { object: 'audit_entry', action: 'changeUser', actor: { kind: 'key' } },
  ]);
  const [{ actor }] = changes.data;
  const shown = await runText('audit-log', 'list', '--actor', actor.id, '--target', id);
  expect(shown).toMatch(/^WHEN \(UTC\) +ACTION +TARGET +BY +USER/);
  expect(shown).toMatch(
    new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d  changeUser +${id}  first key \\(API key\\)`, 'm'),
  );
  expect(shown).not.toContain(actor.id);
  const byKeys = await runJson('audit-log', 'list', '--actor', 'key', '--per-page', '100');
  expect(byKeys.data.every((entry: (typeof changes.data)[0]) => entry.actor.kind === 'key')).toBe(true);
  expect(await runText('audit-log', 'list', '--actor', email, '--action', 'changeUser')).toBe(
    'No changes found.\n',
  );
  expect(await runText('audit-log', 'list', '--since', '2199-01-01')).toBe('No changes found.\n');
  expect((await runJson('audit-log', 'list', '--before', '2199-01-01')).pagination.total).toBeGreaterThan(0);
});

test('event types are a table, and --json gives each a schema and an example', async () => {
  const shown = await runText('events', 'types');
  expect(shown).toMatch(/^TYPE +WHEN$/m);
  expect(shown).toMatch(/^payout\.paid +\S/m);
  const { data } = await runJson('events', 'types');
  expect(data).toContainEqual(
    expect.objectContaining({ type: 'payout.paid', schema: expect.anything(), example: expect.anything() }),
  );
  expect(data).toHaveLength(shown.trim().split('\n').length - 1);
});

test('keys are listed a page at a time, newest first', async () => {
  for (const name of ['one', 'two']) await runJson('keys', 'create', '--name', name);
  const page = await runJson('keys', 'list', '--per-page', '2');
  expect(page.data.map((key: { name: string }) => key.name)).toEqual(['two', 'one']);
  expect(page.pagination).toMatchObject({ total: 3, page: 1, pages: 2 });
  expect(await runText('keys', 'list', '--status', 'revoked')).toBe('No API keys found.\n');
  expect(await runText('keys', 'revoke', 'one', '--yes')).toMatch(/^Revoked key_\w+\.\n$/);
});

test('the completion script is printed as it is, and --json wraps it in one JSON document', async () => {
  const script = await runText('completion', 'bash');
  expect(script).toContain('complete -F _payhook payhook');
  expect(await runJson('completion', 'bash')).toEqual({ shell: 'bash', script });
});
