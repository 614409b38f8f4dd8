import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { portalAt } from '../access/portal-support.ts';
import type { Api } from '../support/api.ts';
import { makeEndpoint, seedAttempts } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  allOf,
  ENDPOINTS,
  EVENTS,
  expectRefusal,
  type Json,
  EVENT_LOG as LOG,
  makeAffiliate,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const publish = async (fields: object, client: Api = api): Promise<string> => {
  const { status, text, body } = await client.post(EVENTS, { type: 'order.created', data: {}, ...fields });
  expect(status, text).toBe(201);
  return body.id;
};
const idsOf = (records: readonly Json[]) => records.map(({ id }) => id);
/** The ids of a list, page by page. */
async function pagesOf(path: string, client: Api = api): Promise<string[][]> {
  const pages: string[][] = [];
  for (let page = 1; ; page += 1) {
    const { body, text } = await client.get(`${path}&per_page=2&page=${page}`);
    expect(body.data, text).toBeDefined();
    if (body.data.length === 0) return pages;
    pages.push(idsOf(body.data));
  }
}

describe('an event with tags', () => {
  let endpoint: string;
  beforeEach(async () => {
    endpoint = await makeEndpoint(api, { event_types: ['order.*'] });
  });

  test('is found by each of them, in the events and in the log of all endpoints, page by page', async () => {
    const second = await makeEndpoint(api, { event_types: ['order.*'] });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      await publish(index % 2 === 0 ? {} : { tags: ['order:8'] });
      ids.unshift(await publish({ tags: ['shop', 'order:7', `part ${index}`] }));
    }
    const [a, b, c, d, e] = ids as [string, string, string, string, string];
    for (const tag of ['order:7', 'shop']) {
      expect(await pagesOf(`${EVENTS}?tag=${tag}`)).toEqual([[a, b], [c, d], [e]]);
      expect(await pagesOf(`${LOG}?tag=${tag}&webhook_endpoint_id=${second}`)).toEqual([[a, b], [c, d], [e]]);
    }
    expect(await pagesOf(`${EVENTS}?tag=order:7&sort=created_at`)).toEqual([[e, d], [c, b], [a]]);
    expect(await pagesOf(`${LOG}?tag=order:7`)).toEqual([a, b, c, d, e].map((id) => [id, id]));
    expect((await api.get(`${LOG}?tag=order:7&per_page=1`)).body.pagination.total).toBe(10);
    expect(idsOf(await allOf(api, `${EVENTS}?tag=part%203`))).toEqual([b]);
    for (const other of ['order', 'Shop', 'order:', "shop' or 'a"])
      expect(await allOf(api, `${EVENTS}?tag=${encodeURIComponent(other)}`)).toEqual([]);
    // with other filters
    const [first] = await allOf(api, `${LOG}?tag=part%200&webhook_endpoint_id=${endpoint}`);
    await seedAttempts(world, first, [{ status: 500 }]);
    expect(idsOf(await allOf(api, `${LOG}?tag=order:7&status=failed`))).toEqual([e]);
    expect((await allOf(api, `${LOG}?tag=order:7&status=pending`)).length).toBe(9);
    expect(idsOf(await allOf(api, `${LOG}?tag=order:7&response_status=500`))).toEqual([e]);
    expect(await allOf(api, `${LOG}?tag=order:7&type=stock.*`)).toEqual([]);
    expect(idsOf(await allOf(api, `${EVENTS}?tag=shop&type=order.*`))).toEqual(ids);
    for (const path of [EVENTS, LOG])
      expectRefusal(await api.get(`${path}?tag=`), 400, 'invalid_query', 'tag');
  });

  test('shows them sorted and once; receivers do not get them, and other events have none', async () => {
    const id = await publish({ tags: ['b', 'a', 'b'] });
    const { body } = await api.get(`${EVENTS}/${id}`);
    expect(body.tags).toEqual(['a', 'b']);
    expect(Object.keys(body.payload)).not.toContain('tags');
    await makeAffiliate(api);
    await publish({ tags: [] });
    const { data } = (await api.get(EVENTS)).body;
    expect(data.map(({ type, tags }: Json) => [type, tags])).toEqual([
      ['order.created', []],
      ['affiliate.created', []],
      ['order.created', ['a', 'b']],
    ]);
  });

  test('has them in a batch, with an ordering key and an owner too', async () => {
    await api.patch(`${ENDPOINTS}/${endpoint}`, { owner: 'ada' });
    const some = [
      { tags: ['x', 'y'] },
      {},
      { tags: ['y'], ordering_key: 'k' },
      { tags: ['z'], owner: 'ada', ordering_key: 'k' },
    ];
    const events = some.map((each) => ({ type: 'order.paid', data: {}, ...each }));
    const { status, text, body } = await api.post(`${EVENTS}/batch`, { events });
    expect(status, text).toBe(200);
    const found: string[][] = [];
    for (const { event } of body.items) found.push((await api.get(`${EVENTS}/${event.id}`)).body.tags);
    expect(found).toEqual([['x', 'y'], [], ['y'], ['z']]);
    expect((await api.get(`${LOG}?tag=y`)).body.pagination.total).toBe(2);
  });

  test.each([
    [Array.from({ length: 11 }, (_, index) => `t${index}`), 'tags must have at most 10 items'],
    [['fine', ''], 'tags[1] must not be empty'],
    [['x'.repeat(101)], 'tags[0] must have at most 100 characters'],
    [[' order'], 'tags[0] must not begin or end with a blank'],
    [['a\u0000b'], 'tags[0]'],
    [['a\u202Eb'], 'tags[0] must not begin or end with a blank, nor contain control or invisible characters'],
    [[7], 'tags[0] must be a string'],
    ['order:7', 'tags must be an array'],
    [null, 'tags must be an array'],
  ])('is refused when they are wrong: %j', async (tags, message) => {
    const wrong = { type: 'order.created', data: {}, tags };
    expectRefusal(await api.post(EVENTS, wrong), 400, 'invalid_body', message);
    const events = [{ type: 'order.created', data: {}, tags: ['x'] }, wrong];
    expectRefusal(await api.post(`${EVENTS}/batch`, { events }), 400, 'invalid_body', `events[1].${message}`);
    expect((await api.get(EVENTS)).body.pagination.total).toBe(0);
  });

  test('has the longest and the most tags, in any script', async () => {
    const tags = Array.from({ length: 10 }, (_, index) => `${index}${'é'.repeat(99)}`);
    const id = await publish({ tags });
    expect((await api.get(`${EVENTS}/${id}`)).body.tags).toEqual(tags);
    expect(idsOf(await allOf(api, `${EVENTS}?tag=${encodeURIComponent(tags[9] ?? '')}`))).toEqual([id]);
  });

  test('has other content with other tags under an external_id', async () => {
    const sent = { type: 'order.created', data: { b: 1, a: 2 }, external_id: 'o-1', tags: ['x'] };
    expect((await api.post(EVENTS, sent)).status).toBe(201);
    expect((await api.post(EVENTS, sent)).status).toBe(200);
    for (const tags of [['y'], ['x', 'y'], [], undefined])
      expectRefusal(await api.post(EVENTS, { ...sent, tags }), 409, 'duplicate_external_id', 'o-1');
    // without tags the stored hash is that of earlier versions
    await publish({ data: { b: 1, a: 2 }, external_id: 'o-2', tags: [] });
    await publish({ data: {}, external_id: 'o-3', owner: 'ada' });
    const hashes = await world.query<{ hash: string }>(
      `select encode(request_hash, 'hex') as hash from event_keys where external_id in ('o-2', 'o-3') order by external_id`,
    );
    expect(hashes.map(({ hash }) => hash)).toEqual(
      ['["order.created",{"a":2,"b":1}]', '["order.created",{},null,"ada"]'].map((text) =>
        createHash('sha256').update(text).digest('hex'),
      ),
    );
  });

  test('is found by its account only, and a portal neither sees its tags nor asks for them', async () => {
    const other = await world.otherAccount();
    await makeEndpoint(other, { event_types: ['order.*'] });
    const theirs = await publish({ tags: ['vip'] }, other);
    const ours = await publish({ tags: ['vip'] });
    for (const path of [EVENTS, LOG]) {
      expect(idsOf(await allOf(api, `${path}?tag=vip`))).toEqual([ours]);
      expect(idsOf(await allOf(other, `${path}?tag=vip`))).toEqual([theirs]);
    }
    const portal = await portalAt(api, endpoint);
    const log = `${ENDPOINTS}/${endpoint}/events`;
    expectRefusal(await portal.get(`${log}?tag=vip`), 400, 'unknown_query_parameter', 'tag');
    for (const path of [`${EVENTS}?tag=vip`, `${LOG}?tag=vip`, `${EVENTS}/${ours}`])
      expect((await portal.get(path)).status, path).toBe(403);
    for (const path of [log, `${log}/${ours}`]) {
      const { status, text } = await portal.get(path);
      expect([status, text.includes('vip')], path).toEqual([200, false]);
    }
  });

  test('leaves none of them when it is refused', async () => {
    await api.patch('/v2/account', { event_owner: 'required' });
    const refused = { type: 'order.created', data: {}, tags: ['x'] };
    expectRefusal(await api.post(EVENTS, refused), 409, 'event_owner_missing', 'owner');
    const events = [{ ...refused, owner: 'ada' }, refused];
    expectRefusal(
      await api.post(`${EVENTS}/batch`, { events }),
      409,
      'event_owner_missing',
      'events[1].owner',
    );
    const id = await publish({ owner: 'ada', tags: ['y'] });
    const stored = await world.query<{ tag: string }>(
      `select tag from event_tags where account_id = (select account_id from events where id = $1)`,
      [id.slice(4)],
    );
    expect(stored).toEqual([{ tag: 'y' }]);
  });
});
