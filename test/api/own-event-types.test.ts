import { describe, expect, test } from 'vitest';
import { portalAt } from '../access/portal-support.ts';
import { signedIn } from '../people/support.ts';
import { apiOf } from '../support/api.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { allOf, ENDPOINTS, EVENTS, expectRefusal, type Json, nothingChanges, TIMESTAMP } from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const TYPES = '/v2/event-types';
const ORDER = `${TYPES}/order.created`;
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  required: ['price'],
  properties: { price: { $ref: '#/$defs/price' }, note: { type: 'string', maxLength: 5 } },
  $defs: { price: { type: 'object', properties: { amount: { type: 'integer' } } } },
};
const DATA = { price: { amount: 7 } };
const FIELDS = { description: 'An order was placed.', data_schema: SCHEMA, data_example: DATA };
const BAD = { price: { amount: 'ada@example.com' } };

const put = (fields: object = FIELDS, client = api) => client.put(ORDER, fields);
const publish = (data: object, more: object = {}, client = api) =>
  client.post(EVENTS, { type: 'order.created', data, ...more });
const setValidation = async (rule: string) =>
  expect((await api.patch('/v2/account', { event_validation: rule })).body.event_validation).toBe(rule);

describe('an own event type', () => {
  test('is stored, shown with the types of Payhook, replaced and deleted', async () => {
    const made = await put({ ...FIELDS, group: 'orders', deprecation: 'use order.placed' });
    expect(made.status, made.text).toBe(200);
    expect(made.body).toEqual({
      object: 'event_type',
      type: 'order.created',
      origin: 'own',
      description: 'An order was placed.',
      group: 'orders',
      deprecation: 'use order.placed',
      schema: expect.objectContaining({ type: 'object' }),
      example: expect.objectContaining({ type: 'order.created', data: DATA }),
      data_schema: SCHEMA,
      last_violation: null,
    });
    const { schema, example } = made.body;
    expect(schema.properties.data.properties.price).toEqual({ $ref: '#/properties/data/$defs/price' });
    expect(example.account_id).toBe((await api.get('/v2/account')).body.id);
    expect((await api.get(ORDER)).body).toEqual(made.body);
    const all = await allOf(api, TYPES);
    expect(all.map(({ type }) => type)).toEqual(all.map(({ type }) => type).toSorted());
    expect(all.find(({ type }) => type === 'order.created')).toEqual(made.body);
    expect((await api.get(`${TYPES}/payout.paid`)).body).toMatchObject({
      origin: 'payhook',
      data_schema: null,
    });
    const replaced = await put({ description: 'Changed.' });
    expect(replaced.body).toMatchObject({
      description: 'Changed.',
      group: null,
      deprecation: null,
      example: null,
    });
    expect((await api.delete(ORDER)).status).toBe(204);
    expectRefusal(await api.get(ORDER), 404, 'resource_missing');
    expectRefusal(await api.delete(ORDER), 404, 'resource_missing');
  });

  test('is refused with a name of Payhook, a bad name, a bad schema or an example that violates it', async () => {
    await nothingChanges(world, async () => {
      expectRefusal(await api.put(`${TYPES}/payout.mine`, FIELDS), 400, 'reserved_event_type', 'payout.');
      expectRefusal(await api.put(`${TYPES}/order`, FIELDS), 400, 'invalid_event_type', 'dotted name');
      expectRefusal(await put({}), 400, 'invalid_body', 'description is required');
      const bad = { ...FIELDS, data_schema: { properties: { a: { pattern: '^(a+)+$' } } } };
      expectRefusal(await put(bad), 400, 'invalid_schema', 'data_schema.properties.a.pattern');
      const wrong = { ...FIELDS, data_example: BAD };
      expectRefusal(await put(wrong), 400, 'invalid_schema', 'data_example.price.amount must be integer');
    });
  });

  test('is one of at most 200', async () => {
    const account = (await api.get('/v2/account')).body.id.slice(4);
    await world.query(
      `insert into event_types (account_id, type, description) select $1, 'filler.n' || n, 'x' from generate_series(1, 199) n`,
      [account],
    );
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(200);
    expectRefusal(await api.put(`${TYPES}/order.paid`, FIELDS), 409, 'too_many_event_types', '200');
    expect(await allOf(api, TYPES)).toHaveLength(200 + 17);
  });

  test('belongs to its account, and to roles that change webhooks', async () => {
    await put();
    const other = await world.otherAccount();
    expectRefusal(await other.get(ORDER), 404, 'resource_missing');
    expectRefusal(await other.delete(ORDER), 404, 'resource_missing');
    expect((await other.put(ORDER, { description: 'Theirs.' })).status).toBe(200);
    expect((await api.get(ORDER)).body.description).toBe('An order was placed.');
    const { browser: viewer } = await signedIn(world, 'viewer', api);
    expect((await viewer.call('GET', ORDER)).status).toBe(200);
    expectRefusal(await viewer.call('PUT', ORDER, FIELDS), 403, 'role_too_low');
  });

  test('is shown in a portal whose link offers it, without its violation', async () => {
    await put();
    await api.put(`${TYPES}/stock.low`, { description: 'Internal.' });
    await setValidation('warn');
    await publish(BAD);
    expect((await api.get(ORDER)).body.last_violation).not.toBeNull();
    const endpoint = await makeEndpoint(api, { event_types: ['order.*'] });
    const portal = await portalAt(api, endpoint);
    const types = (await allOf(portal, TYPES)).map(({ type }: Json) => type);
    expect(types).toContain('order.created');
    expect(types).not.toContain('stock.low');
    expect((await portal.get(ORDER)).body).toMatchObject({ data_schema: SCHEMA, last_violation: null });
    expectRefusal(await portal.get(`${TYPES}/stock.low`), 404, 'resource_missing');
    expectRefusal(await portal.put(ORDER, FIELDS), 403, 'not_in_portal');
  });

  test('gives its example to a test event', async () => {
    await put();
    const endpoint = await makeEndpoint(api);
    const sent = await api.post(`${ENDPOINTS}/${endpoint}/test`, { type: 'order.created' });
    expect(sent.status, sent.text).toBe(201);
    expect((await api.get(`${EVENTS}/${sent.body.event_id ?? sent.body.id}`)).body.payload).toMatchObject({
      type: 'order.created',
      is_test: true,
      data: DATA,
    });
  });
});

describe('published events', () => {
  test('are not checked unless the account wants it', async () => {
    await put();
    const { status, headers } = await publish(BAD);
    expect([status, headers.get('payhook-schema-violation')]).toEqual([201, null]);
    expect((await api.get(ORDER)).body.last_violation).toBeNull();
  });

  test('are accepted with a warning that names field and rule', async () => {
    await put();
    await setValidation('warn');
    const { status, headers } = await publish({ ...DATA, note: 'too long' });
    const violation = 'data.note must have at most 5 characters';
    expect([status, headers.get('payhook-schema-violation')]).toEqual([201, violation]);
    const { last_violation: last } = (await api.get(ORDER)).body;
    expect(last).toEqual({ at: expect.stringMatching(TIMESTAMP), message: violation });
    const events = [BAD, DATA, {}].map((data) => ({ type: 'order.created', data }));
    const batch = await api.post(`${EVENTS}/batch`, { events });
    expect([batch.status, batch.headers.get('payhook-schema-violation')]).toEqual([
      200,
      'events[0].data.price.amount must be integer; and 1 more',
    ]);
    expect((await publish(DATA)).headers.get('payhook-schema-violation')).toBeNull();
  });

  test('are refused, each alone or the whole batch, and nothing is published', async () => {
    await put();
    await setValidation('refuse');
    await publish(BAD); // is noted
    await nothingChanges(world, async () => {
      const by = 'by the schema of order.created';
      expectRefusal(
        await publish(BAD),
        400,
        'event_violates_schema',
        'data.price.amount must be integer',
        by,
      );
      const events = [DATA, BAD, DATA].map((data) => ({ type: 'order.created', data }));
      expectRefusal(
        await api.post(`${EVENTS}/batch`, { events }),
        400,
        'event_violates_schema',
        '1 of 3 items',
        'events[1].data.price.amount must be integer',
      );
    });
    expect((await publish(DATA)).status).toBe(201);
    // a type without a schema, and one that nobody described
    await api.put(`${TYPES}/order.paid`, { description: 'Paid.' });
    for (const type of ['order.paid', 'order.lost']) expect((await publish(BAD, { type })).status).toBe(201);
  });

  test('are checked by the last schema, also on another server and in a second process', async () => {
    await setValidation('refuse');
    const second = await world.secondServer();
    const elsewhere = apiOf(second.api.url, api.key);
    for (const [index, type] of ['string', 'integer', 'boolean'].entries()) {
      const client = index % 2 === 0 ? api : elsewhere;
      await put({ description: 'x', data_schema: { properties: { a: { type } } } }, client);
      for (const one of [api, elsewhere]) {
        const statuses: number[] = [];
        for (const a of ['x', 1, true]) statuses.push((await publish({ a }, {}, one)).status);
        expect([type, statuses]).toEqual([
          type,
          ['string', 'integer', 'boolean'].map((each) => (each === type ? 201 : 400)),
        ]);
      }
    }
    await elsewhere.delete(ORDER);
    expect((await publish({ a: null })).status).toBe(201);
    await second.close();
  });

  test('that were published are not published twice by a change of the schema', async () => {
    await put();
    await setValidation('refuse');
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 5 === 4
          ? put({ ...FIELDS, data_schema: { required: [index % 2 ? 'price' : 'note'] }, data_example: null })
          : publish(DATA, { external_id: `race-${index}` }),
      ),
    );
    const published = statuses.filter((_, index) => index % 5 !== 4);
    expect(published.every(({ status }) => status === 201 || status === 400)).toBe(true);
    expect(await allOf(api, EVENTS)).toHaveLength(published.filter(({ status }) => status === 201).length);
  });

  test('by a person are checked too', async () => {
    await put();
    await setValidation('refuse');
    const { browser: owner } = await signedIn(world, 'owner', api);
    const answers: number[] = [];
    for (const data of [BAD, DATA])
      answers.push((await owner.call('POST', EVENTS, { type: 'order.created', data })).status);
    expect(answers).toEqual([400, 201]);
  });

  test('leave no value and no unknown key of their data in the note of a violation', async () => {
    const data_schema = { properties: { ages: { additionalProperties: { type: 'integer' } } } };
    await put({ description: 'x', data_schema });
    await setValidation('warn');
    const { headers } = await publish({ ages: { 'ada@example.com': 'thirty' } });
    expect(headers.get('payhook-schema-violation')).toBe('data.ages.ada@example.com must be integer');
    expect((await api.get(ORDER)).body.last_violation.message).toBe('data.ages.* must be integer');
  });
});
