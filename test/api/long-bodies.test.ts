import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';
import {
  EVENTS,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

/* Bodies with a long list are read item by item. */

const world = useWorld();
const { api } = world;
const JSON_TYPE = { 'content-type': 'application/json' };

/** A batch of events as text: `wrong` replaces the event at this place. */
const batchOf = (most: number, wrong: Readonly<Record<number, string>> = {}) =>
  `{"events":[${Array.from(
    { length: most },
    (_, index) =>
      wrong[index] ?? `{"type":"order.created","data":{"n":${index}.50,"text":"${'é'.repeat(400)}"}}`,
  ).join(', ')}]}`;
const send = (body: string, headers: Record<string, string> = {}) =>
  api.request('POST', `${EVENTS}/batch`, { body, headers: { ...JSON_TYPE, ...headers } });

test('each event of a long batch keeps its bytes, and a repeated request gets the same response', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const first = await send(
    batchOf(1000, { 999: '{"type":"order.created","data":{"n":12345678901234567890.10}}' }),
    key,
  );
  expect(first.status, first.text.slice(0, 300)).toBe(200);
  expect(first.text).toContain('{"n":7.50,');
  expect(first.text).toContain('{"n":12345678901234567890.10}');
  // equal by value: the digest covers the numbers and ignores the order of keys
  const again = batchOf(1000, { 999: '{"data":{"n":123456789012345678901e-1},"type":"order.created"}' });
  const repeated = await send(again, key);
  expect([repeated.headers.get('idempotent-replayed'), repeated.text]).toEqual(['true', first.text]);
  const other = batchOf(1000, { 999: '{"data":{"n":12345678901234567890.11},"type":"order.created"}' });
  expectRefusal(await send(other, key), 409, 'idempotency_key_reused');
});

test.each([
  ['is no JSON', '{"type":"order.created","data":{"n":1,}}', 'invalid_json', 'events[500] is not valid JSON'],
  ['is missing', '', 'invalid_json', 'events[500] is not valid JSON'],
  ['ends too early', '{"type":"order.created"}}', 'invalid_json', ''],
  ['has a key twice', '{"type":"order.created","data":{"n":1,"n":2}}', 'duplicate_key', 'events[500].data.n'],
  [
    'has a NUL',
    '{"type":"order.created","data":{"n":"\\u0000"}}',
    'invalid_body',
    'events[500].data.n must be',
  ],
  ['has a field too many', '{"type":"order.created","data":{},"no":1}', 'unknown_field', 'events[500].no'],
  [
    'is nested deep',
    `{"type":"a.b","data":{"n":${'['.repeat(98)}${']'.repeat(98)}}}`,
    'invalid_body',
    '100 deep',
  ],
  [
    'holds a number that cannot be stored',
    '{"type":"a.b","data":{"n":1e131073}}',
    'invalid_body',
    'events[500].data.n',
  ],
])(
  'a long batch with an event that %s is refused by its index, and nothing is stored',
  async (_, event, reason, message) => {
    await nothingChanges(world, async () => {
      expectRefusal(await send(batchOf(1000, { 500: event })), 400, reason as 'invalid_json', message);
    });
  },
);

test.each([
  ['after the list', `${batchOf(1000).slice(0, -1)},"events":[]}`, 'duplicate_key'],
  ['behind the body', `${batchOf(1000)} x`, 'invalid_json'],
  ['in place of its end', batchOf(1000).slice(0, -2), 'invalid_json'],
  ['in front of the list', `{"no":1,${batchOf(1000).slice(1)}`, 'unknown_field'],
])('an error %s is found', async (_, body, reason) => {
  await nothingChanges(world, async () => {
    expectRefusal(await send(body), 400, reason as 'invalid_json');
  });
});

test('a batch of more than 500,000 members and items is refused', async () => {
  const events = Array.from({ length: 1000 }, () => `{"type":"a.b","data":{"n":[${'1e1,'.repeat(600)}1]}}`);
  await nothingChanges(world, async () => {
    expectRefusal(
      await send(`{"events":[${events.join(',')}]}`),
      400,
      'invalid_body',
      'more than 500000 members',
    );
  });
});

test('a long list of lines completes a payout, and a wrong line is named', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { amount: 500, currency: 'usd' });
  const payout = await makePayout(api);
  const path = `${PAYOUTS}/${payout.id}`;
  const listing = (last: object) => ({
    commissions: [
      ...Array.from({ length: 9999 }, (_, index) => ({ affiliate_id: 10 ** 9 + index, is_paid: true })),
      last,
    ],
  });
  await nothingChanges(world, async () => {
    const strangers = await api.put(path, listing({ affiliate_id: id, is_paid: true }));
    expectRefusal(strangers, 400, 'affiliate_not_in_payout', 'and 9979 more');
    const wrong = await api.put(path, listing({ affiliate_id: id, is_paid: 'yes' }));
    expectRefusal(wrong, 400, 'invalid_body', 'commissions[9999].is_paid');
  });
  const reference = `"quoted", \\ {null} ${'é'.repeat(20)}`;
  const long = JSON.stringify({
    commissions: [{ affiliate_id: id, currency: 'usd', is_paid: true, payment_reference: reference }],
  });
  const done = await api.request('PUT', path, { body: long + ' '.repeat(1 << 18), headers: JSON_TYPE });
  expect(done.status, done.text).toBe(200);
  expect((await api.get(`${path}/affiliates`)).text).toContain(JSON.stringify(reference));
});
