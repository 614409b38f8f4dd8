import { expect, test } from 'vitest';
import { makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { seedAttempts } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const ENDPOINTS = '/v2/webhook-endpoints';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const { runJson, run } = commandsOf(world, api, useMachine());

test('commissions create takes a decimal amount, and its repetition changes nothing', async () => {
  const { id, email } = await makeAffiliate(api);
  const line = [
    'commissions',
    'create',
    '--external-id',
    'order-1',
    '--currency',
    'KWD',
    '--amount',
    '1.234',
  ];
  const made = await runJson(
    ...[...line, '--affiliate', email, '--order', '1', '--order-line', 'mug', '--type', 'bonus'],
    ...['--metadata', 'shop=a=b', '--metadata', 'till=', '--occurred-at', '2026-09-01T10:00:00Z'],
  );
  expect(made).toMatchObject({
    object: 'affiliate_commission',
    external_id: 'order-1',
    affiliate_id: id,
    amount: 1234,
    currency: 'kwd',
    order_id: '1',
    order_line_id: 'mug',
    type: 'bonus',
    occurred_at: '2026-09-01T10:00:00.000Z',
    metadata: { shop: 'a=b', till: '' },
  });
  expect(await runJson('commissions', 'show', 'order-1')).toEqual(made);
  const other = await run(...line, '--affiliate', email, '--json');
  expect(JSON.parse(other.stderr).error.reason).toBe('duplicate_external_id');
});

test('commissions create computes the amount from the sale, in the currency of the account', async () => {
  const { id } = await makeAffiliate(api);
  await api.patch('/v2/account', { default_currency: 'eur' });
  const line = [
    'commissions',
    'create',
    '--affiliate',
    String(id),
    '--sale-amount',
    '159.50',
    '--rate-bps',
    '2000',
  ];
  expect(await runJson(...line, '--external-id', 's1')).toMatchObject({
    amount: 3190,
    sale_amount: 15_950,
    rate_bps: 2000,
    currency: 'eur',
  });
  const shown = await run(...line, '--external-id', 's2');
  expect(shown.stdout).toMatch(/^com_\w+ {2}sale {2}\w+\n31\.90 EUR\n/);
});

test.each([
  [['--amount', '1.234', '--currency', 'usd'], 2, '--amount must be an amount in USD'],
  [['--amount', '1', '--rate-bps', '10001'], 2, '--rate-bps must be a whole number from 0 to 10000'],
  [['--amount', '1', '--metadata', 'x'], 2, '--metadata must look like name=value, not x'],
  [['--amount', '1', '--metadata', 'x=1', '--metadata', 'x=2'], 2, '--metadata names x twice'],
  [['--amount', '1', '--type', 'gift'], 2, "'gift' is invalid"],
  [[], 1, 'amount'],
])('commissions create %j is refused', async (options, code, message) => {
  const { id } = await makeAffiliate(api);
  const ran = await run('commissions', 'create', '--affiliate', String(id), '--external-id', 'x', ...options);
  expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
});

test('payouts commissions lists what is in a payout, as commissions list does', async () => {
  const [ada, bob] = [await makeAffiliate(api), await makeAffiliate(api)];
  for (const { id } of [ada, ada, bob]) await makeCommission(api, id);
  const payout = await makePayout(api);
  await makeCommission(api, bob.id);
  const page = await runJson('payouts', 'commissions', 'current', '--sort', 'id', '--per-page', '2');
  const all = await api.get(`/v2/affiliates/payouts/${payout.id}/commissions?sort=id&per_page=2`);
  expect(page).toEqual(all.body);
  expect(page.pagination).toMatchObject({ total: 3, pages: 2 });
  const ofBob = await runJson('payouts', 'commissions', payout.id, '--affiliate', bob.email);
  expect(ofBob.data).toMatchObject([{ affiliate_id: bob.id, payout_id: payout.id }]);
  const none = await run('payouts', 'commissions', 'current', '--type', 'bonus');
  expect(none).toMatchObject({ code: 0, stdout: 'No commissions found.\n' });
  const text = await run('payouts', 'commissions', 'current');
  expect(text.stdout).toMatch(/^OCCURRED \(UTC\) +AFFILIATE +TYPE/);
});

test('programs show finds a program by its id and by its name', async () => {
  const { body } = await api.post('/v2/affiliates/programs', { name: 'Creators', hold_days: 30 });
  expect(await runJson('programs', 'show', 'Creators')).toEqual(body);
  expect(await runJson('programs', 'show', String(body.id))).toEqual(body);
  const text = await run('programs', 'show', 'Creators');
  expect(text.stdout).toMatch(new RegExp(`^Creators {2}${body.id}\\nHold +30 days\\nCreated +\\d{4}-`));
  const missing = await run('programs', 'show', 'Nobody');
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no program Nobody') });
});

test('webhooks change changes the named fields, and says which headers the new origin dropped', async () => {
  const url = 'https://shop.example.com/hooks';
  const made = await runJson(
    ...['webhooks', 'create', url, '--header', 'X-Shop: 7', '--header', 'X-Old: a:b', '--rate-limit', '5'],
  );
  expect(made).toMatchObject({ headers: ['x-shop', 'x-old'], rate_limit: 5, event_types: null });
  const changed = await runJson(
    ...['webhooks', 'change', url, '--types', 'payout.paid, order.*', '--description', 'the shop'],
    ...['--header', 'x-old:', '--rate-limit', 'none', '--metadata', 'team=till'],
  );
  expect(changed).toMatchObject({
    id: made.id,
    url,
    event_types: ['payout.paid', 'order.*'],
    description: 'the shop',
    headers: ['x-shop'],
    rate_limit: null,
    metadata: { team: 'till' },
  });
  expect((await api.get(`${ENDPOINTS}/${made.id}`)).body).toEqual(changed);

  const moved = await run(
    ...['webhooks', 'change', made.id, '--url', 'https://other.example.com/hooks', '--types', 'all'],
    ...['--description', '', '--metadata', ''],
  );
  expect(moved).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('https://other.example.com/hooks'),
  });
  expect(moved.stderr).toBe('Headers of the previous origin were dropped; set them again: x-shop\n');
  expect((await api.get(`${ENDPOINTS}/${made.id}`)).body).toMatchObject({
    event_types: null,
    description: null,
    headers: [],
    metadata: {},
    status: 'enabled',
  });
});

test('webhooks change --signing moves an endpoint to another signature scheme and keeps the previous one for a while', async () => {
  const url = 'https://shop.example.com/signed';
  const made = await runJson('webhooks', 'create', url);
  const moved = await run('webhooks', 'change', url, '--signing', 'github');
  expect(moved).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Signed as +github, and standard until /),
  });
  const own = '{"header":"x-sign","content":"{body}","encoding":"hex"}';
  const custom = await runJson(
    ...['webhooks', 'change', url, '--signing', 'custom', '--custom-signing', own, '--second-until', 'none'],
    ...['--secret', 'the-secret-of-before'],
  );
  expect(custom).toMatchObject({
    signing: 'custom',
    custom_signing: { header: 'x-sign', value: '{signature}', algorithm: 'sha256' },
    second_signature: null,
  });
  const secret = await run('webhooks', 'secret', made.id);
  expect(secret.stdout).toBe('the-secret-of-before\n');
  const rotated = await run('webhooks', 'rotate-secret', url, '--secret', 'and-the-one-after-it');
  expect(rotated).toMatchObject({ code: 0, stdout: 'and-the-one-after-it\n' });
  // not a Standard Webhooks secret, so the way back creates one and prints it
  const back = await run('webhooks', 'change', url, '--signing', 'standard');
  expect(back).toMatchObject({ code: 0, stdout: expect.stringMatching(/New secret +whsec_\S+\n/) });
  expect(back.stdout).toContain((await runJson('webhooks', 'secret', url)).secret);
  const same = await run('webhooks', 'change', url, '--signing', 'stripe');
  expect(same.stdout).not.toContain('New secret');
});

test('webhooks and events enable ordering, and say so', async () => {
  const url = 'https://shop.example.com/ordered';
  expect(await runJson('webhooks', 'create', url, '--ordered')).toMatchObject({ ordered: true });
  expect((await run('webhooks', 'show', url)).stdout).toMatch(/^Ordered +yes/m);
  const { id } = await runJson('events', 'publish', 'order.created', '--ordering-key', 'order:7');
  expect((await run('events', 'show', id)).stdout).toContain('\nOrdering key order:7\n');
  expect(await runJson('webhooks', 'change', url, '--no-ordered')).toMatchObject({ ordered: false });
  expect((await run('webhooks', 'show', url)).stdout).toMatch(/^Ordered +no/m);
});

test('events have tags, by which they are listed and shown', async () => {
  const tags = ['--tag', 'order:7', '--tag', 'refunds'];
  const { id } = await runJson('events', 'publish', 'order.created', ...tags);
  await runJson('events', 'publish', 'order.created', '--tag', 'order:8');
  const { data } = await runJson('events', 'list', '--tag', 'order:7');
  expect(data.map((each: { id: string }) => each.id)).toEqual([id]);
  expect((await run('events', 'show', id)).stdout).toContain('\nTags order:7, refunds\n');
  expect((await run('events', 'publish', 'order.created', '--tag', ' ')).stderr).toContain('tags[0]');
});

test('events are published for one owner, listed and counted by it; the account limits and requires owners', async () => {
  await runJson('webhooks', 'create', 'https://shop.example.com/owned', '--owner', 'customer-7');
  await runJson('webhooks', 'create', 'https://shop.example.com/other', '--owner', 'customer-8');
  const { id } = await runJson('events', 'publish', 'order.created', '--owner', 'customer-7');
  const shown = (await run('events', 'show', id)).stdout;
  expect(shown).toContain('\nFor the endpoints of customer-7\n');
  expect(shown).toContain('the event was for another owner');
  const { data } = await runJson('events', 'list', '--owner', 'customer-7');
  expect(data.map((each: { id: string }) => each.id)).toEqual([id]);
  const { owner, totals } = await runJson('analytics', 'deliveries', '--owner', 'customer-7');
  expect([owner, totals.published]).toEqual(['customer-7', 1]);
  const changed = await run('account', 'change', '--event-owner', 'required', '--endpoints-per-owner', '5');
  expect(changed.stdout).toMatch(/^Event owner +required/m);
  expect(changed.stdout).toMatch(/^Endpoints per owner +5/m);
  expect(await run('events', 'publish', 'order.created')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('owner'),
  });
  const reset = ['--event-owner', 'optional', '--endpoints-per-owner', 'none'];
  expect((await runJson('account', 'change', ...reset)).endpoints_per_owner).toBeNull();
});

test('webhooks accept batches, and say so', async () => {
  const url = 'https://shop.example.com/batches';
  const batch = { max_events: 50, max_bytes: 65_536, max_wait_ms: 1000 };
  expect(await runJson('webhooks', 'create', url, '--batch', '50', '--batch-bytes', '65536')).toMatchObject({
    batch,
  });
  expect((await run('webhooks', 'show', url)).stdout).toMatch(
    /^Batches +up to 50 events and 65536 bytes per request/m,
  );
  const waiting = await runJson('webhooks', 'change', url, '--batch', '1000', '--batch-wait', '0');
  expect(waiting.batch).toEqual({ max_events: 1000, max_bytes: 1_048_576, max_wait_ms: 0 });
  for (const [options, message] of [
    [['--batch', '1'], '--batch must be'],
    [['--batch', '2', '--batch-wait', '60001'], '--batch-wait must be'],
    [['--batch-bytes', '65536'], '--batch-bytes needs --batch with a number of events'],
    [['--batch', 'none', '--batch-wait', '5'], '--batch-wait needs --batch with a number of events'],
  ] as const) {
    const { code, stderr } = await run('webhooks', 'change', url, ...options);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  }
  expect(await runJson('webhooks', 'change', url, '--batch', 'none')).toMatchObject({ batch: null });
  expect((await run('webhooks', 'show', url)).stdout).not.toContain('Batches');
});

test('webhooks test-filter says what a filter finds in a published event', async () => {
  const url = 'https://shop.example.com/filtered';
  const filter = '{"data.amount":{"$gte":100},"data.currency":"usd"}';
  await runJson('webhooks', 'create', url, '--filter', filter);
  const { body } = await api.post('/v2/events', { type: 'order.created', data: { amount: 99 } });
  const tried = await run('webhooks', 'test-filter', url, '--event', body.id);
  expect(tried.stdout).toMatch(
    /^It does not match\.\n.*\nno +data\.amount +\$gte +100 +99\nno +data\.currency +\$eq +"usd" +missing\n/,
  );
  const shown = await run('events', 'show', body.id);
  expect(shown.stdout).toContain('1 filtered');
  expect(shown.stdout).toContain('its filter did not match');
  const other = await runJson(
    ...['webhooks', 'test-filter', url, '--filter', '{"type":"order.created"}'],
    ...['--payload', '{"type":"order.created"}'],
  );
  expect(other).toMatchObject({ matches: true });
  expect(await run('webhooks', 'test-filter', url)).toMatchObject({ code: 2 });
  expect(await runJson('webhooks', 'change', url, '--filter', 'none')).toMatchObject({ filter: null });
});

test.each([
  [['--filter', '{"amount":1}'], 1, 'filter.amount must begin with a member of the payload'],
  [[], 2, 'nothing to change: give --url, --description,'],
  [['--signing', 'paddle'], 1, 'signing must be one of standard, ed25519, stripe'],
  [['--custom-signing', '{'], 2, '--custom-signing is not JSON'],
  [['--rate-limit', '0'], 2, '--rate-limit must be a whole number from 1 to 10000'],
  [['--header', 'x-shop'], 2, '--header must look like name:value, not x-shop'],
  [['--url', 'ftp://shop.example.com'], 1, 'url'],
  [['--types', 'payout.nothing'], 1, 'payout.nothing'],
])('webhooks change %j is refused and changes nothing', async (options, code, message) => {
  const { body } = await api.post(ENDPOINTS, { url: 'https://shop.example.com/hooks' });
  const ran = await run('webhooks', 'change', body.id, ...options);
  expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  const { secret: _, ...before } = body;
  expect((await api.get(`${ENDPOINTS}/${body.id}`)).body).toMatchObject(before);
});

test('analytics shows earnings and deliveries, in the intervals that have any', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { amount: 1234, occurred_at: '2026-03-02T12:00:00Z' });
  const span = ['--interval', 'day', '--from', '2026-03-01', '--to', '2026-03-03'];
  expect((await runJson('analytics', 'commissions', ...span)).series[0].buckets).toHaveLength(3);
  expect((await run('analytics', 'commissions', ...span)).stdout.split('\n')[1]).toMatch(
    /^2026-03-02 +12\.34 +0\.00 .* USD$/,
  );
  const url = 'http://127.0.0.1:9/hook';
  const endpoint = (await api.post(ENDPOINTS, { url })).body;
  await api.post(`${ENDPOINTS}/${endpoint.id}/test`);
  expect((await runJson('analytics', 'deliveries', url)).totals.published).toBe(1);
  expect((await run('analytics', 'deliveries', url, '--interval', 'minute')).stdout).toMatch(
    /^FROM \(UTC\) .*NO ANSWER\n[\d: -]+ 1 .*\ntotal +1 +0 /,
  );
  expect((await run('analytics', 'deliveries', ...span)).stdout).toBe(
    'There was no activity in this period.\n',
  );
});

test('webhooks list filters the events of an endpoint by last response, error and id', async () => {
  const { id } = (await api.post(ENDPOINTS, { url: 'http://127.0.0.1:9/narrow' })).body;
  const publish = async (external_id: string, status: number | null): Promise<string> => {
    const event = (await api.post('/v2/events', { type: 'order.created', data: {}, external_id })).body.id;
    await seedAttempts(world, { id: event, webhook_endpoint_id: id }, [{ status }]);
    return event;
  };
  const [refused, broken] = [await publish('n-1', null), await publish('n-2', 503)];
  for (const [options, event] of [
    [['--response-status', '503'], broken],
    [['--response-class', 'none'], refused],
    [['--error-code', 'connection_refused'], refused],
    [['--event', broken], broken],
    [['--external-id', 'n-1'], refused],
  ] as const) {
    const { data } = await runJson('webhooks', 'list', id, ...options);
    expect(
      data.map((row: { id: string }) => row.id),
      options[0],
    ).toEqual([event]);
  }
});
