import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint, makeGrant } from '../support/seed.ts';
import { useWorld, type World } from '../support/world.ts';
import {
  allOf,
  ENDPOINTS,
  expectRefusal,
  type Json,
  labelled,
  MISSING,
  nothingChanges,
  TIMESTAMP,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;
let endpoint: string;
beforeAll(async () => {
  endpoint = await makeEndpoint(api);
});

const SINCE = '2020-01-01T00:00:00.000Z';
const listOf = (id: string) => `${ENDPOINTS}/${id}/recoveries`;
const at = (recovery: Json) => `${listOf(recovery.webhook_endpoint_id)}/${recovery.id}`;
const ask = (id: string, body: unknown = { since: SINCE }, headers?: Record<string, string>) =>
  api.post(`${ENDPOINTS}/${id}/recover`, body, headers);

/** Creates a recovery at an endpoint without one, and cancels it; returns its record as created. */
async function made(fields: object = {}, id = endpoint): Promise<Json> {
  const answer = await ask(id, { since: SINCE, ...fields });
  expect(answer.status, answer.text).toBe(201);
  expect((await api.delete(at(answer.body))).status).toBe(204);
  return answer.body;
}

const now = async (): Promise<string> =>
  (await world.query<{ now: string }>('select iso(now_ms()) as now'))[0]?.now ?? '';

describe('a recovery', () => {
  test('needs only a start: it takes what has failed since then, up to now', async () => {
    const id = await makeEndpoint(api);
    const before = await now();
    const { status, body } = await ask(id);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^rec_[0-9a-f]{32}$/),
      object: 'webhook_recovery',
      webhook_endpoint_id: id,
      action: 'recover',
      status: 'pending',
      filters: {
        since: SINCE,
        until: expect.stringMatching(TIMESTAMP),
        status: ['failed'],
        types: null,
        missing: false,
      },
      processed_until: null,
      queued_count: 0,
      discarded_count: 0,
      skipped_count: 0,
      created_by: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      created_at: expect.stringMatching(TIMESTAMP),
      started_at: null,
      completed_at: null,
      cancelled_at: null,
    });
    const { until } = body.filters;
    expect([before <= until, until <= (await now())]).toEqual([true, true]);
    expect((await api.get(at(body))).body).toEqual(body);
    expect((await api.get(listOf(id))).body.data).toEqual([body]);
    // it never changes: the end of its span does not move
    expect((await api.get(at(body))).body.filters.until).toBe(until);
  });

  test.each([
    ['an instant of any zone', { since: '2020-02-03T04:05:06+02:00' }, { since: '2020-02-03T02:05:06.000Z' }],
    [
      'days, the last one whole',
      { since: '2020-02-03', until: '2020-02-03' },
      { since: '2020-02-03T00:00:00.000Z', until: '2020-02-04T00:00:00.000Z' },
    ],
    [
      'an instant, not beyond it',
      { until: '2020-02-03T04:05:06.789Z' },
      { since: SINCE, until: '2020-02-03T04:05:06.789Z' },
    ],
    ['one status', { status: 'delivered' }, { status: ['delivered'] }],
    ['several', { status: ['pending', 'failed', 'pending'] }, { status: ['pending', 'failed'] }],
    ['types', { types: ['payout.paid', 'order.*', 'payout.paid'] }, { types: ['payout.paid', 'order.*'] }],
    ['all types', { types: null }, { types: null }],
    ['what it never got', { missing: true }, { status: [], missing: true, since: SINCE }],
    ['what it has', { missing: false }, { status: ['failed'], missing: false }],
  ])('accepts %s', async (_, fields, filters) => {
    expect((await made(fields)).filters).toMatchObject(filters);
  });

  test.each(['2999-01-01', '2999-01-01T00:00:00Z'])('up to %s is one up to now', async (until) => {
    expect((await made({ until })).filters.until <= (await now())).toBe(true);
  });

  const tooMany = Array.from({ length: 101 }, (_, index) => `order.${index}`);
  test.each(
    labelled([
      [{}, 'invalid_body', 'since is required'],
      [{ since: null }, 'invalid_body', 'since'],
      [{ since: '' }, 'invalid_body', 'since'],
      [{ since: 'yesterday' }, 'invalid_body', 'since must be an RFC 3339 instant or a day'],
      [{ since: '2020-02-30' }, 'invalid_body', 'since'],
      [{ since: 1_577_836_800 }, 'invalid_body', 'since'],
      [{ since: '2999-01-01' }, 'invalid_body', 'since must be before until'],
      [{ since: '2020-01-02', until: '2020-01-01' }, 'invalid_body', 'since must be before until'],
      [{ since: SINCE, until: SINCE }, 'invalid_body', 'since must be before until'],
      [{ since: SINCE, until: 'now' }, 'invalid_body', 'until must be an RFC 3339 instant or a day'],
      [{ since: SINCE, until: null }, 'invalid_body', 'until'],
      [
        { since: SINCE, status: 'held' },
        'invalid_body',
        'status must be one of failed, pending, delivered, cancelled',
      ],
      [{ since: SINCE, status: 'FAILED' }, 'invalid_body', 'status'],
      [{ since: SINCE, status: [] }, 'invalid_body', 'status'],
      [{ since: SINCE, status: ['failed', 'lost'] }, 'invalid_body', 'status'],
      [{ since: SINCE, status: null }, 'invalid_body', 'status'],
      [{ since: SINCE, types: [] }, 'invalid_body', 'types'],
      [{ since: SINCE, types: tooMany }, 'invalid_body', 'types'],
      [{ since: SINCE, types: 'order.created' }, 'invalid_body', 'types'],
      [{ since: SINCE, types: ['order.paid', 'payout.payed'] }, 'invalid_event_type', 'types[1]'],
      [{ since: SINCE, types: ['*'] }, 'invalid_event_type', 'types[0]'],
      [{ since: SINCE, types: ['order'] }, 'invalid_event_type', 'types[0]'],
      [{ since: SINCE, event_types: ['order.*'] }, 'unknown_field', 'event_types'],
      [{ missing: false }, 'invalid_body', 'since is required'],
      [{ missing: true, status: 'failed' }, 'invalid_body', 'status must not be given with missing'],
      [{ missing: true, since: '2999-01-01' }, 'invalid_body', 'since must be before until'],
      [{ missing: 'yes' }, 'invalid_body', 'missing'],
      [{ missing: null }, 'invalid_body', 'missing'],
    ]),
  )('with %s is refused by name and creates nothing', async (_, body, reason, part) => {
    await nothingChanges(world, async () => expectRefusal(await ask(endpoint, body), 400, reason, part));
  });

  test('is the only one: a second is refused with the id of the open one; a finished one does not count', async () => {
    const id = await makeEndpoint(api);
    const { body: first } = await ask(id);
    const refused = await nothingChanges(world, () => ask(id, { since: 'nonsense' }));
    expectRefusal(refused, 409, 'recovery_in_progress', first.id);
    expect(refused.headers.get('location')).toBe(at(first));
    expect((await ask(await makeEndpoint(api))).status).toBe(201);
    expect((await api.delete(at(first))).status).toBe(204);
    const { status, body: second } = await ask(id);
    expect(status).toBe(201);
    await world.query(
      'update webhook_recoveries set started_at = now(), completed_at = now() where id = $1',
      [second.id.slice(4)],
    );
    expect((await ask(id)).status).toBe(201);
  });

  test('of what its endpoint never got needs no start: it begins with the oldest event of the account', async () => {
    const id = await makeEndpoint(api);
    await api.post('/v2/events', { type: 'order.created', data: {} });
    const [{ created_at: oldest } = { created_at: '' }] = await allOf(api, '/v2/events?sort=id');
    const { status, body } = await ask(id, { missing: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({ action: 'recover', filters: { since: oldest, status: [], missing: true } });
    expect((await api.delete(at(body))).status).toBe(204);
    // and in an account without events now
    const other = await world.otherAccount();
    const alone = await other.post(`${ENDPOINTS}/${await makeEndpoint(other)}/recover`, { missing: true });
    expect(alone.status, alone.text).toBe(201);
    const { since, until } = alone.body.filters;
    expect(Date.parse(until) - Date.parse(since)).toBe(1);
  });

  test('with an Idempotency-Key is created once and answered again', async () => {
    const id = await makeEndpoint(api);
    const headers = { 'idempotency-key': 'recover' };
    const first = await ask(id, { since: SINCE }, headers);
    const again = await nothingChanges(world, () => ask(id, { since: SINCE }, headers));
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expectRefusal(await ask(id, { since: '2021-01-01' }, headers), 409, 'idempotency_key_reused');
  });

  test('at an endpoint that is missing, disabled or deleted is refused; existing ones stay readable', async () => {
    expectRefusal(await ask(String(MISSING.id)), 404, 'resource_missing');
    const id = await makeEndpoint(api);
    const { body: recovery } = await ask(id);
    await api.patch(`${ENDPOINTS}/${id}`, { status: 'disabled' });
    expect((await api.get(at(recovery))).body).toEqual({ ...recovery, status: 'paused' });
    // the state is checked before the body
    const bad = { since: 'nonsense' };
    await nothingChanges(world, async () =>
      expectRefusal(await ask(id, bad), 409, 'endpoint_disabled', 'enable'),
    );
    expect((await api.delete(`${ENDPOINTS}/${id}`)).status).toBe(204);
    await nothingChanges(world, async () => expectRefusal(await ask(id, bad), 409, 'endpoint_deleted'));
    const cancelled = { ...recovery, status: 'cancelled', cancelled_at: expect.stringMatching(TIMESTAMP) };
    expect((await api.get(at(recovery))).body).toEqual(cancelled);
    expect((await api.get(listOf(id))).body.data).toEqual([cancelled]);
    expectRefusal(await api.delete(at(recovery)), 409, 'recovery_ended', recovery.id);
  });
});

describe('cancelling', () => {
  test('ends a recovery once, and the record says when', async () => {
    const id = await makeEndpoint(api);
    const { body: recovery } = await ask(id);
    const done = await api.delete(at(recovery));
    expect([done.status, done.text]).toEqual([204, '']);
    const cancelled = (await api.get(at(recovery))).body;
    expect(cancelled).toEqual({
      ...recovery,
      status: 'cancelled',
      cancelled_at: expect.stringMatching(TIMESTAMP),
    });
    await nothingChanges(world, async () =>
      expectRefusal(await api.delete(at(recovery)), 409, 'recovery_ended', recovery.id),
    );
  });

  test('refuses a completed one, and finds none of another endpoint', async () => {
    const id = await makeEndpoint(api);
    const { body: recovery } = await ask(id);
    const missing = await api.delete(`${listOf(id)}/${MISSING.recovery_id}`);
    expectRefusal(missing, 404, 'resource_missing');
    for (const path of [`${listOf(endpoint)}/${recovery.id}`, `${listOf(id)}/${id}`, `${listOf(id)}/x`]) {
      await nothingChanges(world, async () => expect((await api.delete(path)).text).toBe(missing.text));
      expect((await api.get(path)).text).toBe(missing.text);
    }
    await world.query(
      'update webhook_recoveries set started_at = now(), completed_at = now() where id = $1',
      [recovery.id.slice(4)],
    );
    expect((await api.get(at(recovery))).body).toMatchObject({
      status: 'completed',
      processed_until: recovery.filters.until,
    });
    expectRefusal(await api.delete(at(recovery)), 409, 'recovery_ended', recovery.id);
  });
});

describe('the recoveries of an endpoint', () => {
  test('are listed in either order, page by page and filtered by time, without those of other endpoints', async () => {
    const id = await makeEndpoint(api);
    const all: string[] = [];
    for (let index = 0; index < 5; index += 1) all.push((await made({}, id)).id);
    await made();
    const ids = async (query: string) => (await allOf(api, `${listOf(id)}${query}`)).map((row) => row.id);
    expect(await ids('')).toEqual(all.toReversed());
    expect(await ids('?sort=id')).toEqual(all);
    expect(await ids('?sort=created_at')).toEqual(all);
    const page = await api.get(`${listOf(id)}?per_page=2&page=2&sort=id`);
    expect(page.body.data.map((row: Json) => row.id)).toEqual(all.slice(2, 4));
    expect(page.body.pagination).toMatchObject({ page: 2, limit: 2, total: 5, pages: 3 });
    const third = (await api.get(`${listOf(id)}/${all[2]}`)).body.created_at;
    const young = await allOf(api, `${listOf(id)}?created_at[gt]=${third}`);
    for (const { created_at } of young) expect(created_at > third).toBe(true);
    expectRefusal(await api.get(`${listOf(id)}?status=pending`), 400, 'unknown_query_parameter', 'status');
    expectRefusal(await api.get(listOf(String(MISSING.id))), 404, 'resource_missing');
  });
});

describe('a token without the scope affiliates', () => {
  let token: Api;
  beforeAll(async () => {
    const { access_token } = await makeGrant(world, api, { scopes: ['webhooks'] });
    token = apiOf(world.url, access_token);
  });

  test.each(
    labelled([
      [{}],
      [{ types: null }],
      [{ types: ['payout.*'] }],
      [{ types: ['order.*', 'commission.created'] }],
      [{ types: ['affiliate.updated'] }],
      [{ missing: true }],
    ]),
  )('recovers no events of payouts, commissions and affiliates: %s', async (_, fields) => {
    const id = await makeEndpoint(api);
    const answer = await nothingChanges(world, () =>
      token.post(`${ENDPOINTS}/${id}/recover`, { since: SINCE, ...fields }),
    );
    expectRefusal(answer, 403, 'insufficient_scope', 'affiliates');
  });

  test('recovers others, reads them and cancels them', async () => {
    const id = await makeEndpoint(api);
    const { status, body } = await token.post(`${ENDPOINTS}/${id}/recover`, {
      since: SINCE,
      types: ['order.*', 'webhook_endpoint.test'],
    });
    expect(status).toBe(201);
    expect((await token.get(at(body))).body).toEqual(body);
    expect((await token.delete(at(body))).status).toBe(204);
  });

  test.each(labelled([[null], [['payout.paid']]]))(
    'cannot move the destination of events being recovered: types %s',
    async (_, types) => {
      const id = await makeEndpoint(api, { event_types: ['order.*'] });
      const move = () => token.patch(`${ENDPOINTS}/${id}`, { url: 'http://127.0.0.1:9/elsewhere' });
      const { body: recovery } = await ask(id, { since: SINCE, types });
      await nothingChanges(world, async () => expectRefusal(await move(), 403, 'insufficient_scope'));
      expect((await api.delete(at(recovery))).status).toBe(204);
      expect((await ask(id, { since: SINCE, types: ['order.*'] })).status).toBe(201);
      expect((await move()).status).toBe(200);
    },
  );
});

describe('concurrently', () => {
  let slow: World;
  beforeAll(async () => {
    slow = await borrowWorld({ databaseLatencyMs: 25, poolSize: 20 });
  });
  afterAll(() => slow.close());
  const post = (id: string) => slow.api.post(`${ENDPOINTS}/${id}/recover`, { since: SINCE });

  longRun.test('twenty requests create one recovery', async () => {
    const id = await makeEndpoint(slow.api);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(id)));
    const good = answers.filter(({ status }) => status === 201);
    expect(good).toHaveLength(1);
    for (const answer of answers.filter((each) => each !== good[0]))
      expectRefusal(answer, 409, 'recovery_in_progress', good[0]?.body.id);
    expect(await allOf(slow.api, listOf(id))).toHaveLength(1);
  });

  test.each(someOf(['deleted', 'disabled'], 1))(
    'a recovery created while its endpoint is %s is over or paused',
    async (how) => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => makeEndpoint(slow.api)));
      const path = (id: string) => `${ENDPOINTS}/${id}`;
      const end = (id: string) =>
        how === 'deleted' ? slow.api.delete(path(id)) : slow.api.patch(path(id), { status: 'disabled' });
      const answers = await Promise.all(ids.flatMap((id) => [post(id), end(id)]));
      const made = answers.filter(({ status }) => status === 201).length;
      const open = await Promise.all(ids.map((id) => allOf(slow.api, listOf(id))));
      expect(open.flat()).toHaveLength(made);
      for (const { status } of open.flat()) expect(status).toBe(how === 'deleted' ? 'cancelled' : 'paused');
    },
  );
});
