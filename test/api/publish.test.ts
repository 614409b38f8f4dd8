import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld, type World } from '../support/world.ts';
import { ENDPOINTS, EVENTS, expectRefusal, labelled, nothingChanges, TIMESTAMP, unique } from './fixtures.ts';

const LIMIT = 262_144;

const world = useWorld();
const { api } = world;

const raw = (body: string, headers: Record<string, string> = {}) =>
  api.request('POST', EVENTS, { body, headers: { 'content-type': 'application/json', ...headers } });

/** Publishes JSON text as data, to the byte. */
const publishData = (data: string) => raw(`{"type":"order.created","data":${data}}`);

async function storedPayload(id: string): Promise<string | undefined> {
  const [found] = await world.query<{ payload: string }>(
    `select payload from events where id = replace($1, 'evt_', '')::uuid`,
    [id],
  );
  return found?.payload;
}

describe('an event of the platform', () => {
  test('is returned whole, as it is stored and will be sent', async () => {
    const data = { id: 7, lines: [{ sku: 'a', price: 1.5 }], note: null };
    const published = await api.post(EVENTS, { type: 'order.created', data });
    expect(published.status).toBe(201);
    expect(published.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(published.body).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      object: 'event',
      type: 'order.created',
      timestamp: expect.stringMatching(TIMESTAMP),
      account_id: (await api.get('/v2/account')).body.id,
      api_version: '2.0.0',
      data,
    });
    expect(await storedPayload(published.body.id)).toBe(published.text);
  });

  test('goes to the endpoints subscribed to its type, and to no other', async () => {
    const [all, exact, wide, wider, other, off] = [
      await makeEndpoint(api),
      await makeEndpoint(api, { event_types: ['shop.order.created'] }),
      await makeEndpoint(api, { event_types: ['shop.order.*'] }),
      await makeEndpoint(api, { event_types: ['payout.paid', 'shop.*'] }),
      await makeEndpoint(api, { event_types: ['shop.order.paid', 'payout.*', 'shop.ord.*'] }),
      await makeEndpoint(api, { event_types: ['shop.*'], status: 'disabled' }),
    ];
    const { body: event } = await api.post(EVENTS, { type: 'shop.order.created', data: {} });
    const heard = async (endpoint: string) =>
      (await api.get(`${ENDPOINTS}/${endpoint}/events/${event.id}`)).body.status ?? null;
    const statuses = await Promise.all([all, exact, wide, wider, other, off].map(heard));
    expect(statuses).toEqual(['pending', 'pending', 'pending', 'pending', null, 'held']);
    const one = await api.get(`${ENDPOINTS}/${exact}/events/${event.id}`);
    expect(one.body.payload).toEqual(event);
    for (const endpoint of [all, exact, wide, wider, other, off])
      await api.delete(`${ENDPOINTS}/${endpoint}`);
  });

  test('without a subscribed endpoint is still stored, and nothing waits', async () => {
    const { body } = await api.post(EVENTS, { type: 'nobody.listens', data: {} });
    expect(await storedPayload(body.id)).toContain('"type":"nobody.listens"');
    expect(await world.query(`select 1 from deliveries where type = 'nobody.listens'`)).toEqual([]);
  });
});

describe('data is forwarded byte for byte:', () => {
  test.each([
    ['integers beyond 2^53', '{"n":12345678901234567890}'],
    ['numbers beyond a double', '{"n":1e400,"m":-1E+400}'],
    ['zeros at the end of a fraction', '{"price":0.1000,"one":1.0,"none":-0}'],
    ['text that is not ASCII', '{"name":"Zoë 💥 日本","é":"ü"}'],
    ['escapes unchanged', '{"a":"\\u00e9\\/\\ud83d\\udca5","\\u0061b":"\\n"}'],
    ['the order of names', '{"b":1,"a":2,"10":3,"9":4}'],
    ['names of JavaScript object properties', '{"toString":1,"constructor":2,"":3,"length":4}'],
    ['space between', '{ "a" :\t[ 1 ,\n 2 ] }'],
    ['an empty object', '{}'],
    ['text that looks like an end', '{"a":"\\"},\\"type\\":\\"payout.paid\\""}'],
  ])('%s', async (_, data) => {
    const published = await publishData(data);
    expect(published.status, published.text).toBe(201);
    expect(published.text.endsWith(`,"data":${data}}`), published.text).toBe(true);
    expect(await storedPayload(published.body.id)).toBe(published.text);
  });

  test('wherever in the body it is, however its name is spelled', async () => {
    for (const body of [
      '{"data":{"n":1.0},"external_id":"place-1","type":"order.created"}',
      '{"d\\u0061ta":{"n":1.0},"type":"order.created"}',
      '\ufeff{"type":"order.created","data":{"n":1.0}}',
    ]) {
      const published = await raw(body);
      expect(published.status, published.text).toBe(201);
      expect(published.text.endsWith(',"data":{"n":1.0}}'), published.text).toBe(true);
    }
  });
});

describe('an external_id', () => {
  const publish = (client: Api, external_id: string, data: object = { n: 1 }, type = 'order.created') =>
    client.post(EVENTS, { type, data, external_id });

  test('with the same content returns the stored event, and nothing is stored or sent again', async () => {
    const endpoint = await makeEndpoint(api);
    const first = await publish(api, 'same', { n: 1, deep: { b: [1, { y: 1, x: 2 }], a: 2 } });
    expect(first.status).toBe(201);
    await nothingChanges(world, async () => {
      const again = await publish(api, 'same', { n: 1, deep: { b: [1, { y: 1, x: 2 }], a: 2 } });
      expect([again.status, again.text]).toEqual([200, first.text]);
      // keys of objects have no order, and whitespace has no meaning
      const turned =
        '{"data": {"deep":{"a":2,"b":[1,{"x":2,"y":1}]}, "n":1}, "external_id":"same","type":"order.created"}';
      const other = await raw(turned);
      expect([other.status, other.text]).toEqual([200, first.text]);
    });
    await api.delete(`${ENDPOINTS}/${endpoint}`);
  });

  test('is refused with other content or another type, and nothing changes', async () => {
    expect((await publish(api, 'other', { list: [1, 2] })).status).toBe(201);
    await nothingChanges(world, async () => {
      for (const data of [{}, { list: [2, 1] }, { list: [1, 2], more: null }, { list: '1,2' }])
        expectRefusal(
          await publish(api, 'other', data),
          409,
          'duplicate_external_id',
          'external_id',
          'other',
        );
      expectRefusal(
        await publish(api, 'other', { list: [1, 2] }, 'order.paid'),
        409,
        'duplicate_external_id',
      );
    });
  });

  test('is free in another account', async () => {
    const other = await world.otherAccount();
    const [ours, theirs] = [await publish(api, 'shared'), await publish(other, 'shared', { n: 2 })];
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.account_id).not.toBe(ours.body.account_id);
    expect((await publish(other, 'shared', { n: 2 })).text).toBe(theirs.text);
  });

  test('is compared character by character: any difference makes another id', async () => {
    for (const id of ['Letter', 'letter', 'let ter', 'lettér', '0', 'x'.repeat(255)])
      expect((await publish(api, id)).status, id).toBe(201);
  });

  test.each(labelled([[''], ['x'.repeat(256)], [7], [null]]))('may not be %s', async (_, external_id) => {
    await nothingChanges(world, async () => {
      const answer = await api.post(EVENTS, { type: 'order.created', data: {}, external_id });
      expectRefusal(answer, 400, 'invalid_body', 'external_id');
    });
  });

  test('of a refused event is free', async () => {
    const id = unique('refused');
    expectRefusal(await publish(api, id, { text: 'x'.repeat(LIMIT) }), 400, 'payload_too_large');
    expect((await publish(api, id, { text: 'x' })).status).toBe(201);
  });
});

describe('the type', () => {
  test.each([
    'payout.paid',
    'payout.',
    'payout.made_up',
    'commission.created',
    'commissions.imported',
    'affiliate.updated',
    'affiliate.a.b.c',
    'webhook_endpoint.test',
    'PAYOUT.paid',
    'Commission.Created',
  ])('%s is reserved: nobody else publishes under our names', async (type) => {
    await nothingChanges(world, async () => {
      const answer = await api.post(EVENTS, { type, data: {} });
      // a name that ends in a dot is invalid anyway
      const reason = type.endsWith('.') ? 'invalid_event_type' : 'reserved_event_type';
      expectRefusal(answer, 400, reason, 'type');
    });
  });

  test.each(['payouts.paid', 'my.payout.paid', 'affiliates.made', 'a.b', 'A-1._x', '0.1.2'])(
    '%s may be used',
    async (type) => {
      const published = await api.post(EVENTS, { type, data: {} });
      expect([published.status, published.body.type]).toEqual([201, type]);
    },
  );

  test.each([
    'order',
    'order.',
    '.created',
    'order..created',
    'order.*',
    '*',
    'order created.now',
    ' order.created',
    'order.created\n',
    'order.créated',
    'order/created.x',
    'order.created"',
    "order.x'; drop table events--",
  ])('%j is not the name of a type', async (type) => {
    await nothingChanges(world, async () =>
      expectRefusal(await api.post(EVENTS, { type, data: {} }), 400, 'invalid_event_type', 'type'),
    );
  });

  test('has at most 100 characters', async () => {
    const longest = `order.${'x'.repeat(94)}`;
    expect((await api.post(EVENTS, { type: longest, data: {} })).status).toBe(201);
    expectRefusal(await api.post(EVENTS, { type: `${longest}x`, data: {} }), 400, 'invalid_body', 'type');
  });
});

describe('an invalid event is refused by name, and nothing is stored:', () => {
  test.each([
    ['no type', '{"data":{}}', 'invalid_body', 'type'],
    ['no data', '{"type":"order.created"}', 'invalid_body', 'data'],
    ['a type that is not a text', '{"type":1,"data":{}}', 'invalid_body', 'type'],
    ['an empty type', '{"type":"","data":{}}', 'invalid_body', 'type'],
    ['data that is null', '{"type":"order.created","data":null}', 'invalid_body', 'data'],
    ['data that is a list', '{"type":"order.created","data":[{}]}', 'invalid_body', 'data'],
    ['data that is text', '{"type":"order.created","data":"{}"}', 'invalid_body', 'data'],
    ['data that is a number', '{"type":"order.created","data":1}', 'invalid_body', 'data'],
    ['an unknown field', '{"type":"order.created","data":{},"id":"evt_1"}', 'unknown_field', 'id'],
    ['NUL in a text', '{"type":"order.created","data":{"a":{"b":"\\u0000"}}}', 'invalid_body', 'data.a.b'],
    ['half a character', '{"type":"order.created","data":{"a":["\\ud800"]}}', 'invalid_body', 'data.a[0]'],
    ['a repeated type', '{"type":"payout.paid","type":"order.created","data":{}}', 'duplicate_key', 'type'],
    ['a repeated name', '{"type":"order.created","data":{"a":1,"b":2,"a":1}}', 'duplicate_key', 'data.a'],
    [
      'NUL in a text hidden by a later one',
      '{"type":"order.created","data":{"a":"\\u0000","a":1}}',
      'duplicate_key',
      'data.a',
    ],
    [
      'endless nesting',
      `{"type":"order.created","data":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      'invalid_body',
      'nest',
    ],
    [
      'endless nesting hidden by a later value',
      `{"type":"order.created","data":{"a":${'['.repeat(90_000)}${']'.repeat(90_000)},"a":1}}`,
      'invalid_body',
      'nest',
    ],
  ])('%s', async (_, body, reason, part) => {
    await nothingChanges(world, async () => expectRefusal(await raw(body), 400, reason, part));
  });
});

describe('a payload', () => {
  /** Text that makes the payload exactly this many bytes. */
  async function textFor(bytes: number): Promise<string> {
    const { text } = await publishData('{"text":""}');
    const room = bytes - Buffer.byteLength(text);
    // of several bytes a character, so that bytes and not characters are counted
    return 'é'.repeat(Math.floor(room / 2)) + 'x'.repeat(room % 2);
  }

  test('of 256 KiB is accepted, and one byte more is refused with both sizes, storing nothing', async () => {
    const endpoint = await makeEndpoint(api);
    const text = await textFor(LIMIT);
    const largest = await publishData(`{"text":"${text}"}`);
    expect(largest.status).toBe(201);
    expect(Buffer.byteLength(largest.text)).toBe(LIMIT);
    expect(await storedPayload(largest.body.id)).toBe(largest.text);
    await nothingChanges(world, async () => {
      const refused = await publishData(`{"text":"${text}x"}`);
      expectRefusal(refused, 400, 'payload_too_large', 'data', String(LIMIT + 1), String(LIMIT), '256 KiB');
      const keyed = { 'idempotency-key': 'too large', 'content-type': 'application/json' };
      const again = `{"type":"order.created","external_id":"too large","data":{"text":"${text}x"}}`;
      expectRefusal(await raw(again, keyed), 400, 'payload_too_large');
    });
    await api.delete(`${ENDPOINTS}/${endpoint}`);
  });

  test('is not parsed from a body beyond 512 KiB', async () => {
    await nothingChanges(world, async () => {
      const answer = await publishData(`{"text":"${'x'.repeat(2 * LIMIT)}"}`).catch((error: Error) => error);
      // the server may close the connection during the upload of the body
      if (!(answer instanceof Error)) expectRefusal(answer, 400, 'body_too_large');
    });
  });
});

describe('an Idempotency-Key', () => {
  test('returns the stored response to the byte, including its numbers', async () => {
    const body = '{"type":"order.created","data":{"n":12345678901234567890,"m":0.1000}}';
    const first = await raw(body, { 'idempotency-key': 'bytes' });
    await nothingChanges(world, async () => {
      const again = await raw(body, { 'idempotency-key': 'bytes' });
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const sameValue = await raw(body.replace('0.1000', '0.1'), { 'idempotency-key': 'bytes' });
      expect([sameValue.status, sameValue.text]).toEqual([201, first.text]);
      const other = body.replace('890,', '891,');
      expectRefusal(await raw(other, { 'idempotency-key': 'bytes' }), 409, 'idempotency_key_reused');
    });
  });
});

describe('concurrently', () => {
  let slow: World;
  beforeAll(async () => {
    slow = await borrowWorld({ databaseLatencyMs: 10, poolSize: 30 });
  });
  afterAll(() => slow.close());

  const eventsOfType = (type: string) => slow.query(`select 1 from events where type = $1`, [type]);

  test('twenty with one external_id store one event: one 201, and its bytes for all', async () => {
    await makeEndpoint(slow.api);
    const event = { type: 'race.same', data: { n: 1 }, external_id: 'race' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => slow.api.post(EVENTS, event)));
    const statuses = answers.map(({ status }: Answer) => status).toSorted();
    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await eventsOfType('race.same')).toHaveLength(1);
    expect(await slow.query(`select 1 from queue`)).toHaveLength(1);
  });

  longRun.test(
    'twenty with one external_id and different content: one succeeds, the others are refused',
    async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          slow.api.post(EVENTS, { type: 'race.other', data: { n }, external_id: 'race-other' }),
        ),
      );
      const won = answers.filter(({ status }) => status === 201);
      expect(won).toHaveLength(1);
      for (const answer of answers)
        if (answer !== won[0]) expectRefusal(answer, 409, 'duplicate_external_id');
      expect(await eventsOfType('race.other')).toHaveLength(1);
    },
  );

  longRun.test('the next one gets the external_id when the first is refused', async () => {
    const large = { type: 'race.large', data: { text: 'x'.repeat(LIMIT) }, external_id: 'race-large' };
    const small = { ...large, data: { text: 'x' } };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => slow.api.post(EVENTS, index % 2 ? small : large)),
    );
    const reasons = answers.map(({ status, reason }) => reason ?? status);
    const taken = reasons.filter((_, index) => index % 2);
    expect(taken.toSorted()).toEqual([200, 200, 200, 201]);
    for (const reason of reasons.filter((_, index) => index % 2 === 0))
      expect(['payload_too_large', 'duplicate_external_id']).toContain(reason);
    expect(await eventsOfType('race.large')).toHaveLength(1);
  });
});
