import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { makeEndpoint, seedAttempts } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { allOf, ENDPOINTS, EVENTS, expectRefusal, type Json, EVENT_LOG as LOG } from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const publish = async (fields: object, client: Api = api): Promise<string> => {
  const { status, text, body } = await client.post(EVENTS, { type: 'order.created', data: {}, ...fields });
  expect(status, text).toBe(201);
  return body.id;
};
/** The endpoints that got an event. */
const gotBy = async (event: string, client: Api = api): Promise<string[]> =>
  (await client.get(`${EVENTS}/${event}`)).body.sent_to
    .map(({ webhook_endpoint_id }: Json) => webhook_endpoint_id)
    .toSorted();

describe('an event with an owner', () => {
  let ids: Readonly<Record<string, string>>;
  beforeEach(async () => {
    ids = {
      ada: await makeEndpoint(api, { owner: 'ada', event_types: ['order.*'] }),
      second: await makeEndpoint(api, { owner: 'ada', event_types: null }),
      narrow: await makeEndpoint(api, { owner: 'ada', event_types: ['stock.*'] }),
      bob: await makeEndpoint(api, { owner: 'bob', event_types: ['order.*'] }),
      none: await makeEndpoint(api, { event_types: ['order.*'] }),
    };
  });
  const of = (...names: string[]) => names.map((name) => ids[name]).toSorted();

  test('goes to the endpoints of that owner, by their types, and to no other; without an owner to all', async () => {
    expect(await gotBy(await publish({ owner: 'ada' }))).toEqual(of('ada', 'second'));
    expect(await gotBy(await publish({ owner: 'bob' }))).toEqual(of('bob'));
    expect(await gotBy(await publish({ owner: 'Ada' }))).toEqual([]);
    expect(await gotBy(await publish({}))).toEqual(of('ada', 'second', 'bob', 'none'));
    expect(await gotBy(await publish({ owner: 'ada', ordering_key: 'order:7' }))).toEqual(
      of('ada', 'second'),
    );
  });

  test('in a batch, each event goes to its own', async () => {
    const owners = ['ada', undefined, 'bob', 'nobody', 'ada'];
    const events = owners.map((owner, index) => ({ type: 'order.paid', data: { index }, owner }));
    const { status, text, body } = await api.post(`${EVENTS}/batch`, { events });
    expect(status, text).toBe(200);
    const got: string[][] = [];
    for (const { event } of body.items) got.push(await gotBy(event.id));
    const [both, all] = [of('ada', 'second'), of('ada', 'second', 'bob', 'none')];
    expect(got).toEqual([both, all, of('bob'), [], both]);
  });

  test('passes the filters of its endpoints', async () => {
    const filter = { 'data.paid': true };
    const filtered = await makeEndpoint(api, { owner: 'ada', event_types: ['order.*'], filter });
    const paid = await publish({ owner: 'ada', data: { paid: true } });
    expect(await gotBy(paid)).toContain(filtered);
    const unpaid = (await api.get(`${EVENTS}/${await publish({ owner: 'ada' })}`)).body;
    expect(unpaid.deliveries).toMatchObject({ pending: 2, filtered: 1 });
  });

  test('shows its owner, and why other endpoints did not get it; the receiver does not see the owner', async () => {
    const { body } = await api.get(`${EVENTS}/${await publish({ owner: 'ada', data: { a: 1 } })}`);
    expect(body.owner).toBe('ada');
    expect(Object.keys(body.payload)).not.toContain('owner');
    const reasons = Object.fromEntries(
      body.not_sent_to.map(({ webhook_endpoint_id: id, reason }: Json) => [id, reason]),
    );
    expect(reasons).toEqual({
      [ids.narrow ?? '']: 'not_subscribed',
      [ids.bob ?? '']: 'other_owner',
      [ids.none ?? '']: 'other_owner',
    });
  });

  test('is sent to no endpoint of another owner or account by a retry or a test', async () => {
    const other = await world.otherAccount();
    const theirs = await makeEndpoint(other, { owner: 'ada', event_types: ['order.*'] });
    const event = await publish({ owner: 'ada' });
    for (const id of [ids.bob, ids.none, ids.narrow, theirs]) {
      const client = id === theirs ? other : api;
      expect((await client.post(`${ENDPOINTS}/${id}/events/${event}/retry`)).status).toBe(404);
      expect((await client.get(`${ENDPOINTS}/${id}/events/${event}`)).status).toBe(404);
    }
    expect((await other.get(`${EVENTS}?owner=ada`)).body.pagination.total).toBe(0);
    await api.post(`${ENDPOINTS}/${ids.bob}/test`, {});
    expect(await gotBy(event)).toEqual(of('ada', 'second'));
    const stored = await world.query<{ n: number }>(
      `select count(*)::int as n from event_owners o join deliveries d using (account_id, event_id)
       join webhook_endpoints e on e.id = d.endpoint_id and e.account_id = d.account_id
       where e.owner is distinct from o.owner`,
    );
    expect(stored).toEqual([{ n: 0 }]);
  });

  test('is listed by its owner', async () => {
    const first = await publish({ owner: 'ada' });
    const second = await publish({ owner: 'ada' });
    await publish({ owner: 'bob' });
    await publish({});
    const { data, pagination } = (await api.get(`${EVENTS}?owner=ada`)).body;
    expect(data.map(({ id }: Json) => id)).toEqual([second, first]);
    expect(pagination.total).toBe(2);
    expect(
      (await api.get(`${EVENTS}?owner=ada&sort=created_at`)).body.data.map(({ id }: Json) => id),
    ).toEqual([first, second]);
  });

  test('belongs to the content of its external_id', async () => {
    const sent = { type: 'order.created', data: { b: 1, a: 2 }, external_id: 'o-1', owner: 'ada' };
    expect((await api.post(EVENTS, sent)).status).toBe(201);
    expect((await api.post(EVENTS, sent)).status).toBe(200);
    for (const owner of ['bob', undefined])
      expectRefusal(await api.post(EVENTS, { ...sent, owner }), 409, 'duplicate_external_id', 'o-1');
    // without an owner the stored hash is that of earlier versions
    await publish({ data: { b: 1, a: 2 }, external_id: 'o-2' });
    await publish({ data: { b: 1, a: 2 }, external_id: 'o-3', ordering_key: 'k' });
    const hashes = await world.query<{ hash: string }>(
      `select encode(request_hash, 'hex') as hash from event_keys where external_id in ('o-2', 'o-3') order by external_id`,
    );
    expect(hashes.map(({ hash }) => hash)).toEqual(
      ['["order.created",{"a":2,"b":1}]', '["order.created",{"a":2,"b":1},"k"]'].map((text) =>
        createHash('sha256').update(text).digest('hex'),
      ),
    );
  });
});

describe('an account that requires an owner', () => {
  beforeEach(async () => {
    expect((await api.patch('/v2/account', { event_owner: 'required' })).body.event_owner).toBe('required');
  });

  test('refuses events without one, and nothing of a batch is published', async () => {
    const refused = { type: 'order.created', data: {}, external_id: 'late' };
    expectRefusal(await api.post(EVENTS, refused), 409, 'event_owner_missing', 'owner');
    // published by one statement, without a transaction around it
    const plain = { type: 'order.created', data: {} };
    expectRefusal(await api.post(EVENTS, plain), 409, 'event_owner_missing', 'owner');
    const events = [
      { ...refused, owner: 'ada', external_id: 'x' },
      { type: 'order.paid', data: {} },
      refused,
    ];
    const answer = await api.post(`${EVENTS}/batch`, { events });
    expectRefusal(answer, 409, 'event_owner_missing', 'events[1].owner', 'events[2].owner', '2 of 3');
    expect((await api.get(EVENTS)).body.pagination.total).toBe(0);
    // what was refused may be sent again
    await publish({ external_id: 'late', owner: 'ada' });
  });

  test('publishes its own events and test events as before, also next to an account that does not', async () => {
    const id = await makeEndpoint(api, { owner: 'ada', event_types: null });
    expect((await api.post(`${ENDPOINTS}/${id}/test`, {})).status).toBe(201);
    await api.post('/v2/affiliates', { email: 'a@example.com', payout_method: 'other' });
    expect((await allOf(api, `${EVENTS}?type=affiliate.*`)).length).toBe(1);
    const other = await world.otherAccount();
    await Promise.all([publish({}, other), publish({ owner: 'ada' }), publish({}, other)]);
  });
});

describe('the owner of an endpoint', () => {
  test('can be given once: what the endpoint got belongs to it', async () => {
    const id = await makeEndpoint(api);
    const path = `${ENDPOINTS}/${id}`;
    expect((await api.patch(path, { owner: 'ada' })).body.owner).toBe('ada');
    expect((await api.patch(path, { owner: 'ada', description: 'x' })).status).toBe(200);
    for (const owner of ['bob', null])
      expectRefusal(await api.patch(path, { owner }), 409, 'endpoint_owner_fixed', 'owner');
  });

  test('keeps what is published about it from the endpoints of other owners', async () => {
    const types = { event_types: ['webhook_endpoint.*'] };
    const ada = await makeEndpoint(api, { owner: 'ada', ...types });
    const second = await makeEndpoint(api, { owner: 'ada', ...types });
    const bob = await makeEndpoint(api, { owner: 'bob', ...types });
    const none = await makeEndpoint(api, types);
    const disable = async (id: string): Promise<string> => {
      await api.patch(`${ENDPOINTS}/${id}`, { status: 'disabled' });
      return (await api.get(EVENTS)).body.data[0].id;
    };
    const ofAda = await disable(ada);
    expect(await gotBy(ofAda)).toEqual([second, none].toSorted());
    const { not_sent_to: others } = (await api.get(`${EVENTS}/${ofAda}`)).body;
    expect(others.map(({ webhook_endpoint_id: id, reason }: Json) => [id, reason])).toEqual(
      [ada, bob].toSorted().map((id) => [id, 'not_addressed']),
    );
    expect(await gotBy(await disable(none))).toEqual([]);
  });

  test('has as many endpoints as the account allows, live ones only', async () => {
    await api.patch('/v2/account', { endpoints_per_owner: 2 });
    const [first] = [await makeEndpoint(api, { owner: 'ada' }), await makeEndpoint(api, { owner: 'ada' })];
    const one = { url: 'https://receiver.example.com/hooks', owner: 'ada' };
    expectRefusal(await api.post(ENDPOINTS, one), 409, 'too_many_endpoints', 'endpoints_per_owner');
    const free = await makeEndpoint(api);
    expectRefusal(await api.patch(`${ENDPOINTS}/${free}`, { owner: 'ada' }), 409, 'too_many_endpoints');
    await makeEndpoint(api, { owner: 'bob' });
    await api.delete(`${ENDPOINTS}/${first}`);
    expect((await api.patch(`${ENDPOINTS}/${free}`, { owner: 'ada' })).status).toBe(200);
    for (const wrong of [0, -1, 1.5, '2'])
      expectRefusal(
        await api.patch('/v2/account', { endpoints_per_owner: wrong }),
        400,
        'invalid_body',
        'endpoints_per_owner',
      );
  });

  test('selects the log and the analytics of its endpoints, deleted ones included, with exact totals', async () => {
    const ids = [
      await makeEndpoint(api, { owner: 'ada', event_types: ['order.*'] }),
      await makeEndpoint(api, { owner: 'ada', event_types: ['order.*'] }),
    ];
    const other = await makeEndpoint(api, { owner: 'bob', event_types: ['order.*'] });
    for (let index = 0; index < 5; index += 1) await publish(index % 2 === 0 ? {} : { owner: 'ada' });
    await publish({ owner: 'bob' });
    const [row] = await allOf(api, `${ENDPOINTS}/${ids[0]}/events`);
    await seedAttempts(world, row, [{ status: 500 }, { status: 200 }]);
    await api.delete(`${ENDPOINTS}/${ids[1]}`);
    const all = await allOf(api, LOG);
    const isOf = ({ webhook_endpoint_id: id }: Json) => ids.includes(id);
    for (const filters of [
      '',
      '&status=failed',
      '&status=delivered',
      '&status=pending',
      '&type=order.*',
      '&sort=id',
    ]) {
      const rows = await allOf(api, `${LOG}?${filters.slice(1)}`);
      const found = await allOf(api, `${LOG}?owner=ada${filters}`);
      expect([filters, found]).toEqual([filters, rows.filter(isOf)]);
      const { pagination } = (await api.get(`${LOG}?owner=ada&per_page=1&page=2${filters}`)).body;
      expect([filters, pagination.total]).toEqual([filters, found.length]);
    }
    expect(all.filter(isOf)).toHaveLength(10);
    expect((await api.get(`${LOG}?owner=nobody`)).body.pagination.total).toBe(0);
    expect((await api.get(`${LOG}?owner=ada&webhook_endpoint_id=${other}`)).body.pagination.total).toBe(0);
    expect((await api.get(`${LOG}?owner=ada&webhook_endpoint_id=${ids[0]}`)).body.pagination.total).toBe(5);
    // the seeded attempts began an hour after their event, and later
    const to = new Date(Date.now() + 4 * 3_600_000).toISOString();
    const totals = async (query: string) =>
      (await api.get(`/v2/analytics/deliveries?to=${to}&${query}`)).body.totals;
    expect(await totals('owner=ada')).toMatchObject({ published: 10, delivered: 1, failed: 5, attempts: 2 });
    expect(await totals(`owner=ada&webhook_endpoint_id=${ids[0]}`)).toMatchObject({
      published: 5,
      failed: 0,
    });
    expect(await totals('owner=nobody')).toMatchObject({ published: 0 });
  });
});
