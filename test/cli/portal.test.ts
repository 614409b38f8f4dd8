import { expect, test } from 'vitest';
import { openLink, partsOf } from '../access/portal-support.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const { runJson, run, runText } = commandsOf(world, api, useMachine());

test('webhooks create, change and list show the owner of an endpoint', async () => {
  await makeEndpoint(api);
  const made = await runJson('webhooks', 'create', 'https://one.example.com/', '--owner', 'customer 7');
  expect(made.owner).toBe('customer 7');
  expect((await runJson('webhooks', 'list', '--owner', 'customer 7')).data).toMatchObject([{ id: made.id }]);
  expect(await run('webhooks', 'change', made.id, '--owner', '')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('create another endpoint for another owner'),
  });
  const free = await runJson('webhooks', 'create', 'https://three.example.com/');
  expect(await runJson('webhooks', 'change', free.id, '--owner', 'customer 8')).toMatchObject({
    owner: 'customer 8',
  });
  expect(await run('webhooks', 'list', made.id, '--owner', 'customer 7')).toMatchObject({ code: 2 });
});

test('webhooks portal-link prints a link that opens once, lists it, and revokes it', async () => {
  const url = 'https://two.example.com/';
  const { id } = await runJson('webhooks', 'create', url, '--owner', 'Ada', '--types', 'order.*');
  const made = await runJson('webhooks', 'portal-link', url, '--owner', '--read-only', '--ttl', '60');
  expect(made).toMatchObject({
    webhook_endpoint_id: id,
    owner: 'Ada',
    read_only: true,
    event_types: ['order.*'],
    status: 'unused',
  });
  expect((await openLink(world.url, partsOf(made.url))).status).toBe(200);
  expect((await runJson('webhooks', 'portal-links', '--status', 'open')).data).toMatchObject([
    { id: made.id },
  ]);
  expect(await runText('webhooks', 'portal-links', '--owner', 'Ada')).toMatch(
    new RegExp(`${made.id} +open .* Ada`),
  );
  const revoked = await runJson('webhooks', 'revoke-portal-link', made.id, '--yes');
  expect(revoked).toEqual({ id: made.id, object: 'portal_link', revoked: true });
  expect((await runJson('webhooks', 'portal-links')).data).toMatchObject([
    { id: made.id, status: 'revoked' },
  ]);
  expect(await run('webhooks', 'portal-link', url, '--ttl', '5')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--ttl must be a whole number from 10 to 86400'),
  });
  expect(await runText('webhooks', 'portal-link', url)).toMatch(
    /^http\S+\/portal\?link=pl_\w+#phpl_\w+\npl_\w+ opens a portal for one endpoint, once, until /,
  );
});

test('account change --portal-origins names the pages that may show a portal', async () => {
  const origins = ['https://shop.example.com', 'http://localhost:3000'];
  expect(await runJson('account', 'change', '--portal-origins', origins.join())).toMatchObject({
    portal_origins: origins,
  });
  expect(await runText('account', 'show')).toContain('https://shop.example.com, http://localhost:3000');
  expect(await runJson('account', 'change', '--portal-origins', 'none')).toMatchObject({
    portal_origins: [],
  });
});
