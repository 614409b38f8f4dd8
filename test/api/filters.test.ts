import { expect, test } from 'vitest';
import { keepHouse } from '../support/chores.ts';
import { longRun } from '../support/depth.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { allOf, ENDPOINTS, EVENTS, expectRefusal, type Json } from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const DATA = {
  amount: 12_900,
  exact: 0.1,
  currency: 'usd',
  note: 'a "quoted" text (with .* signs)',
  empty: null,
  isPaid: true,
  tags: ['new', 7, true],
  customer: { country: 'DE', 'a key': 1 },
  items: [{ sku: 'A-1', count: 2 }, { sku: 'B-2' }],
};

const tried = (id: string, filter: object, payload: object = { type: 'order.created', data: DATA }) =>
  api.post(`${ENDPOINTS}/${id}/test-filter`, { filter, payload });

test('a filter matches what its operators say; a missing value or one of another type never matches', async () => {
  const id = await makeEndpoint(api);
  const cases: [object, boolean][] = [
    [{ type: 'order.created' }, true],
    [{ type: { $in: ['order.paid', 'order.created'] } }, true],
    [{ type: { $startsWith: 'order.' } }, true],
    [{ 'data.amount': 12_900 }, true],
    [{ 'data.amount': 12_900.0, 'data.currency': 'eur' }, false],
    [{ 'data.amount': { $gte: 12_900, $lt: 12_901 } }, true],
    [{ 'data.amount': { $gt: 12_900 } }, false],
    [{ 'data.amount': { $lte: -5 } }, false],
    [{ 'data.exact': 0.1 }, true],
    [{ 'data.amount': { $gte: '100' } }, false],
    [{ 'data.currency': { $gt: 100 } }, false],
    [{ 'data.currency': { $ne: 'eur' } }, true],
    [{ 'data.amount': { $ne: 'eur' } }, false],
    [{ 'data.missing': { $ne: 'eur' } }, false],
    [{ 'data.missing': { $nin: ['eur'] } }, false],
    [{ 'data.currency': { $nin: ['eur', 'gbp'] } }, true],
    [{ 'data.currency': { $nin: ['eur', 'usd'] } }, false],
    [{ 'data.empty': null }, true],
    [{ 'data.missing': null }, false],
    [{ 'data.isPaid': true }, true],
    [{ 'data.isPaid': 'true' }, false],
    [{ 'data.missing': { $exists: false } }, true],
    [{ 'data.customer.country.deeper': { $exists: false } }, true],
    [{ 'data.empty': { $exists: true } }, true],
    [{ 'data.amount': { $exists: false } }, false],
    [{ 'data.customer.country': 'DE' }, true],
    [{ 'data.customer.a key': 1 }, true],
    [{ 'data.customer': 'DE' }, false],
    [{ 'data.items.1.sku': 'B-2' }, true],
    [{ 'data.items.2.sku': { $exists: true } }, false],
    [{ 'data.items.sku': 'A-1' }, false],
    [{ 'data.tags': { $contains: 'new' } }, true],
    [{ 'data.tags': { $contains: 7 } }, true],
    [{ 'data.tags': { $contains: 'ne' } }, false],
    [{ 'data.note': { $contains: '"quoted"' } }, true],
    [{ 'data.note': { $contains: '.*' } }, true],
    [{ 'data.note': { $contains: 'a.*d' } }, false],
    [{ 'data.note': { $contains: 7 } }, false],
    [{ 'data.amount': { $contains: 'new' } }, false],
    [{ $or: [{ 'data.missing': 1 }, { 'data.amount': { $gt: 1 } }] }, true],
    [{ $or: [{ 'data.currency': { $gt: 1 } }, { $and: [{ type: 'x' }, { 'data.amount': 12_900 }] }] }, false],
    [{ $and: [{ 'data.currency': 'usd' }, { $or: [{ 'data.isPaid': true }] }], type: 'order.created' }, true],
  ];
  for (const [filter, matches] of cases) {
    const { status, text, body } = await tried(id, filter);
    expect([status, body.matches], `${JSON.stringify(filter)}: ${text}`).toEqual([200, matches]);
  }
});

test('a trial of a filter shows what each condition found, and why it does not hold', async () => {
  const id = await makeEndpoint(api, { filter: { 'data.amount': { $gte: 100 } } });
  const filter = {
    'data.amount': { $gte: 100, $lt: 200 },
    $or: [
      { 'data.currency': { $gt: 5 } },
      { 'data.nothing.here': 'x' },
      { 'data.items': { $contains: 'x' } },
    ],
  };
  const { body } = await tried(id, filter);
  const one = (path: string, operator: string, value: unknown, rest: object) => ({
    path,
    operator,
    value,
    ...rest,
  });
  expect(body).toEqual({
    object: 'filter_test',
    matches: false,
    filter,
    conditions: [
      one('data.amount', '$gte', 100, { matches: true, found_type: 'number', found: 12_900 }),
      one('data.amount', '$lt', 200, { matches: false, found_type: 'number', found: 12_900 }),
      one('data.currency', '$gt', 5, { matches: false, found_type: 'string', found: 'usd' }),
      one('data.nothing.here', '$eq', 'x', { matches: false, found_type: 'missing', found: null }),
      one('data.items', '$contains', 'x', { matches: false, found_type: 'array', found: null }),
    ],
  });
  const path = `${ENDPOINTS}/${id}/test-filter`;
  const own = await api.post(path, { payload: { data: { amount: 99 } } });
  expect(own.body).toMatchObject({ matches: false, filter: { 'data.amount': { $gte: 100 } } });
  await api.patch(`${ENDPOINTS}/${id}`, { filter: null });
  const none = await api.post(path, { payload: {} });
  expect(none.body).toEqual({ object: 'filter_test', matches: true, filter: null, conditions: [] });
  const big = `{"payload":{"data":{"n":12345678901234567890}},"filter":{"data.n":{"$gt":9007199254740991}}}`;
  const headers = { 'content-type': 'application/json' };
  const exact = await api.request('POST', path, { body: big, headers });
  expect(exact.body.matches).toBe(true);
  const huge = await api.request('POST', path, {
    body: big.replace('12345678901234567890', '1e200000'),
    headers,
  });
  expectRefusal(huge, 400, 'invalid_body', 'payload.data.n must have at most 131072 digits');
});

/** Publishes an event; returns its stored form. */
async function publish(data: object, type = 'order.created'): Promise<Json> {
  const { status, text, body } = await api.post(EVENTS, { type, data });
  expect(status, text).toBe(201);
  return (await api.get(`${EVENTS}/${body.id}`)).body;
}
const sentTo = ({ sent_to }: Json) =>
  sent_to.map((each: { webhook_endpoint_id: string }) => each.webhook_endpoint_id);

test('publishing skips the endpoints whose filter does not match, and the event keeps the reason', async () => {
  const all = await makeEndpoint(api);
  const large = await makeEndpoint(api, { filter: { 'data.amount': { $gte: 100 } } });
  const euros = await makeEndpoint(api, { filter: { 'data.currency': 'eur' }, status: 'disabled' });
  const other = await makeEndpoint(api, {
    event_types: ['payout.*'],
    filter: { 'data.amount': { $gte: 100 } },
  });
  const small = await publish({ amount: 5, currency: 'eur' });
  expect(sentTo(small)).toEqual([all, euros].toSorted());
  expect(small.deliveries).toEqual({
    ...{ pending: 1, held: 1, delivered: 0, failed: 0, cancelled: 0, filtered: 1 },
  });
  expect(small.not_sent_to).toEqual([
    { webhook_endpoint_id: large, url: expect.any(String), reason: 'filtered' },
    { webhook_endpoint_id: other, url: expect.any(String), reason: 'not_subscribed' },
  ]);
  expect(sentTo(await publish({ amount: 100, currency: 'usd' }))).toEqual([all, large].toSorted());
  const ill = await publish({ amount: '100', currency: { eur: true } });
  expect([sentTo(ill), ill.deliveries.filtered]).toEqual([[all], 2]);
  // evaluated once: a later filter changes nothing, and the log shows nothing of it
  await api.patch(`${ENDPOINTS}/${large}`, { filter: null });
  expect((await api.get(`${EVENTS}/${small.id}`)).body).toEqual(small);
  expect(await allOf(api, `${ENDPOINTS}/${large}/events`)).toHaveLength(1);
  const listed = (await api.get(EVENTS)).body.data;
  expect(listed.map(({ deliveries }: Json) => deliveries.filtered)).toEqual([2, 1, 1]);
  const retried = await api.post(`${ENDPOINTS}/${large}/events/${small.id}/retry`);
  expectRefusal(retried, 404, 'resource_missing');
});

test('filters apply to our own events and to batches, and never to a test of the endpoint', async () => {
  const filter = { 'data.email': { $startsWith: 'a' } };
  const id = await makeEndpoint(api, { filter });
  for (const email of ['a@example.com', 'b@example.com']) await api.post('/v2/affiliates', { email });
  expect((await api.post(`${ENDPOINTS}/${id}/test`)).status).toBe(201);
  const ids = ['a', 'b', 'c'];
  await Promise.all(ids.map((email) => api.post(EVENTS, { type: 'order.created', data: { email } })));
  const log = await allOf(api, `${ENDPOINTS}/${id}/events?sort=id`);
  expect(log.map(({ type }) => type)).toEqual([
    'affiliate.created',
    'webhook_endpoint.test',
    'order.created',
  ]);
});

const nested = (depth: number): object =>
  depth === 0 ? { type: 'a' } : { $or: [nested(depth - 1), { $and: [{ type: 'b' }] }] };
const many = (count: number, operator: string, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`data.k${index}`, { [operator]: value }]));

test('an invalid filter is refused, naming the place and the rule', async () => {
  const id = await makeEndpoint(api);
  const refusals: [unknown, string, string][] = [
    ['data.amount', 'invalid_body', 'filter must be a JSON object'],
    [[], 'invalid_body', 'filter must be a JSON object'],
    [{}, 'invalid_filter', 'filter must have a condition'],
    [{ amount: 5 }, 'invalid_filter', 'filter.amount must begin with a member of the payload: id,'],
    [{ 'data..amount': 5 }, 'invalid_filter', 'filter.data..amount must be a path'],
    [{ [`data${'.a'.repeat(10)}`]: 5 }, 'invalid_filter', 'must have at most 10 parts'],
    [{ 'data.amount': [1, 2] }, 'invalid_filter', 'filter.data.amount must be a value or an object'],
    [{ 'data.amount': {} }, 'invalid_filter', 'filter.data.amount must have an operator'],
    [
      { 'data.amount': { $regex: '(a+)+$' } },
      'unknown_operator',
      'filter.data.amount.$regex is not an operator',
    ],
    [{ 'data.amount': { constructor: 1 } }, 'unknown_operator', 'filter.data.amount.constructor'],
    [
      { 'data.amount': { $gte: true } },
      'invalid_filter',
      'filter.data.amount.$gte must be a number or a text',
    ],
    [{ 'data.amount': { $gte: { $gte: 1 } } }, 'invalid_filter', '$gte must be a number or a text'],
    [{ 'data.amount': { $in: [] } }, 'invalid_filter', '$in must be a list of 1 to 50'],
    [{ 'data.amount': { $in: [1, 'a'] } }, 'invalid_filter', 'of one type'],
    [{ 'data.amount': { $exists: 1 } }, 'invalid_filter', '$exists must be true or false'],
    [{ 'data.amount': { $contains: '' } }, 'invalid_filter', '$contains must be a text that is not empty'],
    [{ $or: {} }, 'invalid_filter', 'filter.$or must be a list of filters'],
    [{ $or: [{ type: 'a' }, {}] }, 'invalid_filter', 'filter.$or[1] must have a condition'],
    [{ $not: { type: 'a' } }, 'unknown_operator', 'filter.$not is not an operator here'],
    [nested(5), 'invalid_filter', 'must not be nested more than 5 deep'],
    [many(51, '$gte', 1), 'too_many_filters', 'filter has 51 conditions; the maximum is 50'],
    [many(6, '$contains', 'a'), 'too_many_filters', 'at most 5 $contains'],
    [{ 'data.a': 'x'.repeat(4096) }, 'invalid_filter', 'filter must be at most 4096 bytes of JSON'],
    [{ 'data.a': 'é'.repeat(2048) }, 'invalid_filter', 'filter must be at most 4096 bytes of JSON'],
  ];
  for (const [filter, reason, message] of refusals) {
    expectRefusal(await api.patch(`${ENDPOINTS}/${id}`, { filter }), 400, reason as never, message);
    if (reason !== 'invalid_body') {
      expectRefusal(await tried(id, filter as object), 400, reason as never, message);
    }
  }
  expect((await api.get(`${ENDPOINTS}/${id}`)).body.filter).toBeNull();
  const fine = [nested(4), many(50, '$gte', 1), { 'data.a': 'x'.repeat(4083) }, { 'data."]\\': "'\u2028" }];
  for (const filter of fine) {
    const { status, text, body } = await api.patch(`${ENDPOINTS}/${id}`, { filter });
    expect([status, body.filter], text).toEqual([200, filter]);
    expect((await tried(id, filter)).status).toBe(200);
  }
  expectRefusal(await tried('we_0', { type: 'a' }), 404, 'resource_missing');
});

longRun.test(
  '$contains finds long and hostile texts, also in a filter stored by an earlier version',
  async () => {
    const words = `${'ä'.repeat(40)} "line"\n${'b'.repeat(40)}`;
    const hostile = `${'a'.repeat(100)}c`;
    const cases: [Json, Json, boolean][] = [
      [words, words, true],
      [`x ${words} y`, words, true],
      [words.slice(0, -1), words, false],
      [words.replace('line', 'lime'), words, false],
      [`${'ä'.repeat(40)} and then ${words}`, words, true],
      [hostile.repeat(50), `${'a'.repeat(100)}cc`, false],
      [hostile.repeat(50), `c${hostile}c`.slice(1), false],
      [hostile.repeat(50), `${hostile}${hostile}`, true],
      ['.*', '.', true],
      ['abc', '.', false],
      [['.', 1, [2], { a: 3 }], 1, true],
      [['.', 1, [2], { a: 3 }], 2, false],
      [['.', 1, [2], null], true, false],
      [1, 1, false],
      ['1', 1, false],
      [{ 1: 1 }, 1, false],
    ];
    for (const form of ['new', 'old', 'repaired']) {
      for (const [found, value, matches] of cases) {
        const filter = {
          $or: [{ 'data.at': { $contains: value } }, { 'data.never': true }],
          type: 'order.created',
        };
        const id = await makeEndpoint(api, { filter });
        const fast =
          "select filter_fast is not null as is_fast from webhook_endpoints where public_id('we', id) = $1";
        if (form !== 'new') {
          await world.query(
            `update webhook_endpoints set filter_path = (filter_path::text || ' && ($."object" == "event")')::jsonpath
           where public_id('we', id) = $1`,
            [id],
          );
          expect(await world.query(fast, [id])).toEqual([{ is_fast: false }]);
        }
        if (form === 'repaired') {
          await keepHouse(world, 'filters');
          expect(await world.query(fast, [id])).toEqual([{ is_fast: true }]);
        }
        const event = await api.post(EVENTS, { type: 'order.created', data: { at: found } });
        const { body } = await api.get(`${EVENTS}/${event.body.id}`);
        expect([form, found, value, body.deliveries.filtered]).toEqual([form, found, value, matches ? 0 : 1]);
        expect((await tried(id, filter, { type: 'order.created', data: { at: found } })).body.matches).toBe(
          matches,
        );
        await api.delete(`${ENDPOINTS}/${id}`);
      }
    }
  },
);
