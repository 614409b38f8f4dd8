import { describe, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { makeEndpoint, makeGrant, seedAttempts } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { allOf, ENDPOINTS, EVENT_LOG, expectRefusal } from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const EVENTS = '/v2/events';
const publish = async (type: string, more: object = {}) =>
  (await api.post(EVENTS, { type, data: { n: 1 }, ...more })).body;
const get = async (id: string) => (await api.get(`${EVENTS}/${id}`)).body;
const reasons = (event: { not_sent_to: { webhook_endpoint_id: string; reason: string }[] }) =>
  Object.fromEntries(event.not_sent_to.map((each) => [each.webhook_endpoint_id, each.reason]));

describe('a published event', () => {
  test('is listed once, with or without endpoints, newest first', async () => {
    const nowhere = await publish('order.created', { external_id: 'order-1' });
    await makeEndpoint(api);
    await makeEndpoint(api, { status: 'disabled' });
    const twice = await publish('order.paid');
    const { body } = await api.get(EVENTS);
    const none = { pending: 0, held: 0, delivered: 0, failed: 0, cancelled: 0, filtered: 0 };
    expect(body.data).toEqual([
      {
        id: twice.id,
        object: 'published_event',
        type: 'order.paid',
        external_id: null,
        ordering_key: null,
        owner: null,
        tags: [],
        created_at: twice.timestamp,
        deliveries: { ...none, pending: 1, held: 1 },
      },
      {
        id: nowhere.id,
        object: 'published_event',
        type: 'order.created',
        external_id: 'order-1',
        ordering_key: null,
        owner: null,
        tags: [],
        created_at: nowhere.timestamp,
        deliveries: none,
      },
    ]);
    expect(body.pagination.total).toBe(2);
    for (const [filter, found] of [
      ['external_id=order-1', [nowhere.id]],
      ['external_id=order-2', []],
      ['type=order.paid', [twice.id]],
      ['type=order.*', [twice.id, nowhere.id]],
      [`created_at[lte]=${nowhere.timestamp}&type=order.paid`, []],
    ] as const)
      expect(
        (await allOf(api, `${EVENTS}?${filter}`)).map(({ id }) => id),
        filter,
      ).toEqual(found);
  });

  test('counts its deliveries as the log does, whatever happens to the endpoints', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) ids.push(await makeEndpoint(api));
    const { id } = await publish('order.created');
    const rows = await allOf(api, `${EVENT_LOG}?sort=id`);
    const row = (at: number) => rows.find((each) => each.webhook_endpoint_id === ids[at]);
    await seedAttempts(world, row(0), [{ status: 200 }]);
    await seedAttempts(world, row(1), [{ status: 410 }]);
    await api.patch(`${ENDPOINTS}/${ids[2]}`, { status: 'disabled' });
    await api.delete(`${ENDPOINTS}/${ids[3]}`);
    const event = await get(id);
    expect(event.deliveries).toEqual({
      pending: 0,
      held: 1,
      delivered: 1,
      failed: 2,
      cancelled: 0,
      filtered: 0,
    });
    const log = await allOf(api, `${EVENT_LOG}?sort=id`);
    const deliveries = log.filter((each) => each.id === id);
    expect(event.sent_to.map(({ url: _, ...record }: { url: string }) => record)).toEqual(
      deliveries.toSorted((a, b) => (a.webhook_endpoint_id < b.webhook_endpoint_id ? -1 : 1)),
    );
    expect(event.not_sent_to).toEqual([]);
  });

  test('shows the payload as it was sent, including its numbers', async () => {
    const body = '{"type":"order.created","data":{"big":12345678901234567890,"text":"é"}}';
    const made = await api.request('POST', EVENTS, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    const { text } = await api.get(`${EVENTS}/${made.body.id}`);
    expect(text).toContain(`"payload":${made.text}`);
  });
});

describe('the reason why an event did not go to an endpoint', () => {
  test('is given for each endpoint: created later, not subscribed, subscribed later', async () => {
    const all = await makeEndpoint(api);
    const orders = await makeEndpoint(api, { event_types: ['order.*'] });
    const payouts = await makeEndpoint(api, { event_types: ['payout.*', 'orders.created'] });
    const changed = await makeEndpoint(api, { event_types: ['payout.*'] });
    const gone = await makeEndpoint(api, { event_types: ['payout.*'] });
    const { id } = await publish('order.created');
    const later = await makeEndpoint(api);
    await api.patch(`${ENDPOINTS}/${changed}`, { event_types: ['order.*'] });
    await api.delete(`${ENDPOINTS}/${gone}`);
    const event = await get(id);
    expect(event.sent_to.map((each: { webhook_endpoint_id: string }) => each.webhook_endpoint_id)).toEqual(
      [all, orders].toSorted(),
    );
    expect(reasons(event)).toEqual({
      [payouts]: 'not_subscribed',
      [changed]: 'subscribed_later',
      [later]: 'made_later',
    });
  });

  test('a test event goes to one endpoint only, and an endpoint gets no event about its own disabling', async () => {
    const tested = await makeEndpoint(api);
    const other = await makeEndpoint(api);
    await api.post(`${ENDPOINTS}/${tested}/test`);
    await api.patch(`${ENDPOINTS}/${tested}`, { status: 'disabled' });
    const [disabled, sent] = await allOf(api, EVENTS);
    expect([disabled?.type, sent?.type]).toEqual(['webhook_endpoint.disabled', 'webhook_endpoint.test']);
    expect(reasons(await get(sent?.id))).toEqual({ [other]: 'not_addressed' });
    expect(reasons(await get(disabled?.id))).toEqual({ [tested]: 'not_addressed' });
  });
});

test('a token without the scope affiliates reads its own events, and none of payouts', async () => {
  const own = await publish('order.created');
  await api.post('/v2/affiliates', { email: 'a@example.com' });
  const [affiliate] = await allOf(api, `${EVENTS}?type=affiliate.created`);
  const granted = await makeGrant(world, api, { scopes: ['webhooks'] });
  const token = apiOf(world.url, granted.access_token);
  expect((await token.get(`${EVENTS}/${own.id}`)).status).toBe(200);
  expectRefusal(await token.get(`${EVENTS}/${affiliate?.id}`), 403, 'insufficient_scope', 'affiliates');
  expect((await token.get(EVENTS)).body.pagination.total).toBe(2);
});

test('nothing of a week deleted by retention is shown', async () => {
  const { id } = await publish('order.created', { external_id: 'old' });
  await world.query(
    `insert into dropped_weeks (starts_at) select date_trunc('week', now() at time zone 'UTC') at time zone 'UTC'`,
  );
  try {
    expect((await api.get(EVENTS)).body).toMatchObject({ data: [], pagination: { total: 0 } });
    expectRefusal(await api.get(`${EVENTS}/${id}`), 404, 'resource_missing');
  } finally {
    await world.query('delete from dropped_weeks');
  }
  expect((await get(id)).id).toBe(id);
});
