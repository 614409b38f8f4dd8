import { expect, test } from 'vitest';
import { portalAt } from '../access/portal-support.ts';
import { useWorld } from '../support/world.ts';
import {
  COMMISSIONS,
  EVENTS,
  expectRefusal,
  type Json,
  makeAffiliate,
  nothingChanges,
  unique,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;

const ENDPOINTS = '/v2/webhook-endpoints';
const MOST = 5000;

/** An object with this many members. */
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key_${index}`, index]));

const makeEndpoint = async (): Promise<string> => {
  const made = await api.post(ENDPOINTS, {
    url: `https://example.com/${unique('e')}`,
    event_types: ['payout.paid'],
  });
  expect(made.status, made.text).toBe(201);
  return String(made.body.id);
};

test('a body of more than 5,000 members and items is refused with the limit, and one of 5,000 is read', async () => {
  await nothingChanges(world, async () => {
    const over = await api.post(COMMISSIONS, members(MOST + 1));
    expectRefusal(
      over,
      400,
      'invalid_body',
      `the body has more than ${MOST} members of objects and items of lists`,
    );
    const list = await api.post(COMMISSIONS, { product_name: Array.from({ length: MOST + 1 }, () => []) });
    expectRefusal(list, 400, 'invalid_body', 'members of objects and items of lists');
    const most = await api.post(COMMISSIONS, members(MOST));
    expectRefusal(most, 400, 'unknown_field', 'unknown field key_0, key_1,');
    expect(most.body.error.message).toContain(`key_19 and ${MOST - 20} more`);
  });
});

test('a text counts as one, whatever it contains, and the body may end within one', async () => {
  await nothingChanges(world, async () => {
    const text = '[{,'.repeat(MOST);
    expectRefusal(await api.post(COMMISSIONS, { no_such: text }), 400, 'unknown_field', 'no_such');
    const cut = await api.request('POST', COMMISSIONS, {
      body: '{"external_id":"a\\\\\\"',
      headers: { 'content-type': 'application/json' },
    });
    expectRefusal(cut, 400, 'invalid_json');
  });
});

test('the message about a list names its first bad items by index', async () => {
  const affiliate = await makeAffiliate(api);
  const items = (wrong: (index: number) => Json) =>
    Array.from({ length: 1000 }, (_, index) => ({
      external_id: unique('c'),
      affiliate_id: affiliate.id,
      currency: 'usd',
      amount: 1,
      ...wrong(index),
    }));
  await nothingChanges(world, async () => {
    const last = items((index) => (index === 999 ? { amount: -1 } : {}));
    const answer = await api.post(`${COMMISSIONS}/batch`, { commissions: last });
    expectRefusal(answer, 400, 'invalid_body', 'commissions[999].amount must be at least 1');
    const all = await api.post(`${COMMISSIONS}/batch`, { commissions: items(() => ({ no_such: 1 })) });
    expectRefusal(all, 400, 'unknown_field', 'unknown field commissions[0].no_such');
    const long = [...items(() => ({})), ...items(() => ({}))];
    const many = await api.post(`${COMMISSIONS}/batch`, { commissions: long });
    expectRefusal(many, 400, 'invalid_body', 'commissions must have at most 1000 items');
  });
});

test("the limit permits the contract's maximum: a full batch with all metadata, and an event of nothing but numbers", async () => {
  const affiliate = await makeAffiliate(api);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`, 'x']));
  const commissions = Array.from({ length: 1000 }, () => ({
    external_id: unique('full'),
    affiliate_id: affiliate.id,
    currency: 'usd',
    amount: 1,
    metadata,
  }));
  const made = await api.post(`${COMMISSIONS}/batch`, { commissions });
  expect(made.status, made.text.slice(0, 300)).toBe(200);
  expect(made.body.items).toHaveLength(1000);
  const numbers = Array.from({ length: 100_000 }, () => 1);
  const event = await api.post(EVENTS, { type: 'order.created', data: { numbers } });
  expect(event.status, event.text.slice(0, 300)).toBe(201);
  expect(event.body.data.numbers).toHaveLength(100_000);
});

test('a portal may send 1,000 members and items, and 64 KiB', async () => {
  const id = await makeEndpoint();
  const portal = await portalAt(api, id);
  const path = `${ENDPOINTS}/${id}`;
  await nothingChanges(world, async () => {
    expectRefusal(
      await portal.request('PATCH', path, { body: members(1001) }),
      400,
      'invalid_body',
      'more than 1000 members',
    );
    expectRefusal(
      await portal.request('PATCH', path, { body: members(1000) }),
      400,
      'unknown_field',
      'key_0',
    );
    const large = await portal.request('PATCH', path, { body: { description: 'x'.repeat(1 << 16) } });
    expectRefusal(large, 400, 'body_too_large', '65536 bytes in a portal');
  });
  const renamed = await portal.request('PATCH', path, { body: { description: 'ours' } });
  expect(renamed.status, renamed.text).toBe(200);
});
