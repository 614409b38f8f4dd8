import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient, type Payout } from '../../src/client/client.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();
const { api } = world;
let client: Client;
beforeAll(async () => {
  client = createClient({ url: world.url, apiKey: api.key });
});
afterAll(() => client.close());

test('from a file to returned money: every step with the client, checked without it', async () => {
  const imported = await client.affiliates.import(
    'external_id,email,paypal_email\na1,ada@example.com,\na2,zoë@example.com,z@example.com\n',
  );
  expect(imported).toMatchObject({ object: 'affiliate_import', created: 2, failed: 0 });
  const [ada, zoe] = (await client.affiliates.list({ sort: 'id' })).data.map(({ id }) => id);
  if (ada === undefined || zoe === undefined) throw new Error('the affiliates are not there');
  const batch = await client.commissions.createMany(
    [
      { external_id: 'c1', affiliate_id: ada, amount: 3190, currency: 'usd', order_id: 'order-1' },
      { external_id: 'c2', affiliate_id: zoe, amount: 1000, currency: 'usd' },
      { external_id: 'c3', affiliate_id: 9_000_001, amount: 1000, currency: 'usd' },
    ],
    { partial: true },
  );
  expect(batch.items.map(({ status }) => status)).toEqual([201, 201, 400]);
  await expect(
    client.commissions.createMany([{ external_id: 'c4', affiliate_id: 9_000_001, amount: 1 }]),
  ).rejects.toMatchObject({
    reason: 'invalid_items',
  });

  const preview = await client.payouts.preview();
  expect(preview).toMatchObject({ id: null, affiliate_count: 2 });
  const payout = await client.payouts.create({ filters: { currency: 'usd' } });
  await expect(client.payouts.create()).rejects.toMatchObject({
    status: 409,
    reason: 'current_payout_exists',
  });
  expect(await client.payouts.current()).toEqual((await api.get(`/v2/affiliates/payouts/${payout.id}`)).body);

  const { name, revision, skipped, stream } = await client.payouts.download(payout.id);
  const download = await api.get(`/v2/affiliates/payouts/${payout.id}/download`);
  expect(await text(stream)).toBe(download.text);
  expect([name, revision, skipped]).toEqual([
    expect.stringMatching(/^payout-.+\.csv$/),
    payout.revision,
    null,
  ]);
  const paypal = await client.payouts.paymentFile(payout.id, 'paypal', { allow_skipped: true });
  expect(paypal).toMatchObject({
    name: expect.stringContaining('paypal'),
    revision: payout.revision,
    skipped: 1,
  });
  expect(await text(paypal.stream)).toContain('z@example.com');

  const changed = await settle(payout);
  await expect(client.payouts.delete(payout.id)).rejects.toMatchObject({ reason: 'payout_is_paid' });
  const lines: (boolean | null)[] = [];
  for await (const line of client.payouts.affiliates(changed.id)) lines.push(line.is_paid);
  expect(lines).toEqual([true, false]);
  const [line] = (await client.payouts.affiliates(payout.id, { is_paid: true })).data;
  expect(line).toMatchObject({ affiliate_id: ada, payment_reference: 'RE-1' });

  expect(await client.payouts.returned(payout.id, ada, { reason: 'account closed' })).toMatchObject({
    returned_amount: 3189,
  });
  const report = await client.reports.paid({ year: changed.paid_at?.slice(0, 4) ?? '' });
  expect(await text(report.stream)).toContain('31.89');
});

/** Completes a payout at its current revision, not at the one seen before. */
async function settle(payout: Payout) {
  const [ada, zoe] = payout.affiliates?.map(({ affiliate_id }) => affiliate_id) ?? [];
  if (ada === undefined || zoe === undefined) throw new Error('the lines are not there');
  const refund = await client.refunds.create({ external_id: 'r1', order_id: 'order-1', amount: 1 });
  expect(refund.object).toBe('affiliate_refund');
  const commissions = [
    { affiliate_id: ada, is_paid: true, payment_reference: 'RE-1' },
    { affiliate_id: zoe, is_paid: false },
  ];
  const complete = (ifMatch: number) =>
    client.payouts.complete(payout.id, { commissions, require_all: true }, { ifMatch });
  await expect(complete(payout.revision)).rejects.toMatchObject({ reason: 'payout_changed' });
  const { revision } = await client.payouts.get(payout.id);
  return complete(revision);
}

test('a repeated call with its own key gives the stored response, without the secret', async () => {
  const options = { idempotencyKey: 'the key of the shop' };
  const made = await client.apiKeys.create({ name: 'shop' }, options);
  expect(made.key).toMatch(/^\w+$/);
  expect(await client.apiKeys.create({ name: 'shop' }, options)).toEqual({ ...made, key: null });
  await expect(client.apiKeys.create({ name: 'other' }, options)).rejects.toMatchObject({
    reason: 'idempotency_key_reused',
  });
  await client.apiKeys.revoke(made.id);
  await expect(createClient({ url: world.url, apiKey: made.key ?? '' }).account.get()).rejects.toMatchObject({
    status: 401,
    reason: 'invalid_credentials',
  });
});

test('an event is published from an object, or from JSON text whose numbers stay unchanged', async () => {
  const endpoint = await client.webhookEndpoints.create({
    url: 'http://127.0.0.1:9/',
    event_types: ['order.*'],
  });
  expect(endpoint.secret).toMatch(/^whsec_/);
  const plain = await client.events.publish({
    type: 'order.created',
    data: { total: 3190 },
    external_id: 'e1',
  });
  const again = await client.events.publish({
    type: 'order.created',
    data: { total: 3190 },
    external_id: 'e1',
  });
  expect(again).toEqual(plain);
  const exact = '{"id": 12345678901234567890, "price": 31.90}';
  const { id } = await client.events.publish({ type: 'order.paid', dataText: exact, external_id: 'e2' });
  const stored = await api.get(`/v2/webhook-endpoints/${endpoint.id}/events/${id}`);
  expect(stored.text.replaceAll(' ', '')).toContain('"data":{"id":12345678901234567890,"price":31.90}');
  expect((await client.webhookEndpoints.event(endpoint.id, plain.id)).payload).toEqual(plain);
  expect((await client.webhookEvents.list({ type: 'order.created' })).pagination.total).toBe(1);
  const batch = await client.events.publishMany([
    { type: 'order.created', data: { total: 3190 }, external_id: 'e1' },
    { type: 'order.paid', dataText: exact, external_id: 'e3', ordering_key: 'order:7' },
  ]);
  expect(batch.items.map(({ status }) => status)).toEqual([200, 201]);
  expect(batch.items[0]?.event).toEqual(plain);
  const third = await api.get(`/v2/events/${batch.items[1]?.event.id}`);
  expect(third.body).toMatchObject({ external_id: 'e3', ordering_key: 'order:7' });
  expect(third.text.replaceAll(' ', '')).toContain('"data":{"id":12345678901234567890,"price":31.90}');
  const refused = client.events.publishMany([
    { type: 'order.created', data: {} },
    { type: 'order', data: {} },
  ]);
  await expect(refused).rejects.toMatchObject({
    reason: 'invalid_items',
    message: expect.stringContaining('events[1].type'),
  });
  await client.webhookEndpoints.delete(endpoint.id);
});
