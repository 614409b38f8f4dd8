import { expect, test } from 'vitest';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const machine = useMachine();
const { run, runJson, runText, refuse } = commandsOf(world, api, machine);
const url = 'https://shop.example.com/payhook';

test('webhooks put creates an endpoint by your own id, and gives it exactly the settings that are named', async () => {
  const made = await runJson('webhooks', 'put', 'shop 7', url, '--types', 'order.*', '--rate-limit', '20');
  expect(made).toMatchObject({ external_id: 'shop 7', url, event_types: ['order.*'], rate_limit: 20 });
  expect(made.secret).toMatch(/^whsec_/);
  const { secret, ...record } = made;
  expect(await runJson('webhooks', 'put', 'shop 7', url, '--types', 'order.*', '--rate-limit', '20')).toEqual(
    record,
  );
  expect(await runText('webhooks', 'put', 'shop 7', url)).toMatch(/^Your id +shop 7$/m);
  expect(await runJson('webhooks', 'show', made.id)).toMatchObject({ event_types: null, rate_limit: null });
  expect(await runJson('webhooks', 'secret', made.id)).toMatchObject({ secret });
  expect((await runJson('webhooks', 'list', '--external-id', 'shop 7')).data).toMatchObject([
    { id: made.id },
  ]);
  expect((await runJson('webhooks', 'list', '--external-id', 'shop')).data).toEqual([]);
  await refuse(2, 'leave out --external-id', 'webhooks', 'put', 'shop 7', url, '--external-id', 'x');
});

test('webhooks put configures a pull endpoint, which has no URL', async () => {
  const made = await runJson('webhooks', 'put', 'warehouse', '--pull', '--types', 'stock.*');
  expect(made).toMatchObject({ delivery: 'pull', url: null, event_types: ['stock.*'] });
  const again = await runJson('webhooks', 'put', 'warehouse', '--pull', '--types', 'stock.*,order.*');
  expect(again).toMatchObject({ id: made.id, delivery: 'pull', event_types: ['stock.*', 'order.*'] });
  await refuse(2, 'give the URL of the receiver, or --pull', 'webhooks', 'put', 'warehouse');
  await refuse(2, '--pull needs no URL', 'webhooks', 'put', 'warehouse', url, '--pull');
  await refuse(1, 'delivery cannot be changed', 'webhooks', 'put', 'warehouse', url);
});

test('an endpoint that signs with a private key shows its public key, and where receivers find it', async () => {
  const made = await run('webhooks', 'create', url, '--signing', 'ed25519');
  const [id = '', key = ''] = made.stdout.split('\n');
  expect(key).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  const shown = await run('webhooks', 'secret', id);
  expect(shown).toMatchObject({ code: 0, stdout: `${key}\n` });
  expect(shown.stderr).toMatch(/public keys at http\S+\/webhook-keys\/acc_\w+\/we_\w+/);
  const next = (await run('webhooks', 'rotate-secret', id)).stdout;
  expect(next).toMatch(/^whpk_/);
  expect(next).not.toBe(`${key}\n`);
});

test('--contact-email is set, shown with what it waits for, and removed', async () => {
  const on = '{"portal_url": "https://shop.example.com/webhooks", "language": "de"}';
  expect(await runJson('account', 'change', '--contact-notices', on)).toMatchObject({
    contact_notices: { portal_url: 'https://shop.example.com/webhooks', language: 'de', reply_to: null },
  });
  const { id } = await runJson('webhooks', 'create', url, '--contact-email', 'ops@customer.example');
  // a server without SMTP_URL sends no link
  expect(await runText('webhooks', 'show', id)).toMatch(/^Contact state +gets nothing: .*SMTP_URL/m);
  await refuse(1, 'its operator must set SMTP_URL and SMTP_FROM', 'webhooks', 'confirm-contact', id);
  await refuse(1, 'contact_email must match', 'webhooks', 'change', id, '--contact-email', 'ops@');
  expect(await runJson('webhooks', 'change', id, '--contact-email', '')).toMatchObject({
    contact_email: null,
    contact_status: 'off',
  });
  expect(await runJson('account', 'change', '--contact-notices', 'none')).toMatchObject({
    contact_notices: null,
  });
});

test('events put-type describes a type of your own, by which events can be checked, and delete-type removes it', async () => {
  const schema = { type: 'object', required: ['order_id'] };
  const type = { description: 'An order was placed.', data_schema: schema, data_example: { order_id: '7' } };
  machine.write('type.json', JSON.stringify(type));
  expect(await runText('events', 'put-type', 'order.placed', 'type.json')).toBe('Stored order.placed.\n');
  expect(await runText('events', 'types')).toMatch(/^order\.placed +An order was placed\.$/m);
  expect(await runText('events', 'types', 'order.placed')).toContain('"order_id"');
  await runJson('account', 'change', '--event-validation', 'refuse');
  // the violation is noted at the type
  expect(await run('events', 'publish', 'order.placed', '--data', '{}')).toMatchObject({
    ...{ code: 1, stdout: '', stderr: expect.stringContaining('data.order_id is required') },
  });
  await runText('events', 'publish', 'order.placed', '--data', '{"order_id":"8"}');
  machine.write('wrong.json', JSON.stringify({ ...type, data_example: {} }));
  await refuse(1, 'data_example', 'events', 'put-type', 'order.placed', 'wrong.json');
  await refuse(2, '--yes', 'events', 'delete-type', 'order.placed');
  expect(await runJson('events', 'delete-type', 'order.placed', '--yes')).toMatchObject({ deleted: true });
  await runText('events', 'publish', 'order.placed', '--data', '{}');
  await refuse(1, 'no such event type', 'events', 'types', 'order.placed');
});

test('events tail follows the log of one owner, or of one tag', async () => {
  for (const owner of ['ada', 'bob']) await makeEndpoint(api, { owner, event_types: ['order.*'] });
  const env = { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: api.key };
  const publish = async (fields: object): Promise<string> =>
    (await api.post('/v2/events', { type: 'order.created', data: {}, ...fields })).body.id;
  const bobs = await publish({ owner: 'bob', tags: ['order:8'] });
  const first = await publish({ owner: 'ada', tags: ['order:7'] });
  for (const filter of [
    ['--owner', 'ada'],
    ['--tag', 'order:7'],
  ]) {
    const tail = machine.start(['events', 'tail', '--json', ...filter], { env });
    await tail.printed(new RegExp(first));
    const others = await publish({ owner: 'bob' });
    const next = await publish({ owner: 'ada', tags: ['order:7'] });
    await tail.printed(new RegExp(next));
    tail.child.kill('SIGINT');
    const { code, stdout } = await tail.ended;
    expect([code, stdout.includes(bobs), stdout.includes(others)]).toEqual([0, false, false]);
  }
});
