import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint, seedAttempts } from '../support/seed.ts';
import { useWorld, type World } from '../support/world.ts';
import {
  allOf,
  ENDPOINTS,
  EVENT_LOG,
  EVENTS,
  expectRefusal,
  type Json,
  MISSING,
  nothingChanges,
  onlyAudited,
  TIMESTAMP,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;

const logOf = (endpoint: string) => `${ENDPOINTS}/${endpoint}/events`;
const at = (row: Json) => `${logOf(row.webhook_endpoint_id)}/${row.id}`;
const retry = (row: Json, headers?: Record<string, string>) =>
  api.post(`${at(row)}/retry`, undefined, headers);
const uuidOf = (id: string) => id.replace(/^[a-z]+_/, '');

/** An event at an endpoint of its own; returns its log record. */
async function deliver(
  type = 'order.created',
  data: object = {},
  fields: object = {},
  client: Api = api,
): Promise<Json> {
  const endpoint = await makeEndpoint(client, { event_types: ['webhook_endpoint.*'], ...fields });
  await client.patch(`${ENDPOINTS}/${endpoint}`, { event_types: [type] });
  const published = await client.post(EVENTS, { type, data });
  expect(published.status, published.text).toBe(201);
  await client.patch(`${ENDPOINTS}/${endpoint}`, { event_types: ['nothing.more'] });
  const { data: rows } = (await client.get(logOf(endpoint))).body;
  expect(rows).toHaveLength(1);
  return rows[0];
}

interface Queued {
  readonly trigger: string;
  readonly is_due: boolean;
  readonly is_leased: boolean;
}

async function queuedOf(row: Json): Promise<Queued | undefined> {
  const [queued] = await world.query<Queued>(
    `select trigger, due_at <= now() as is_due, lease_token is not null as is_leased from queue
     where endpoint_id = $1 and event_id = $2`,
    [uuidOf(row.webhook_endpoint_id), uuidOf(row.id)],
  );
  return queued;
}

describe('a delivery', () => {
  test('that waits shows when it is due', async () => {
    const row = await deliver();
    expect(row).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      object: 'webhook_event',
      webhook_endpoint_id: expect.stringMatching(/^we_[0-9a-f]{32}$/),
      type: 'order.created',
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: expect.stringMatching(TIMESTAMP),
      waits_for: null,
      last_attempt_at: null,
      last_response_status: null,
      last_error_code: null,
      delivered_at: null,
      created_at: expect.stringMatching(TIMESTAMP),
    });
    const { payload, attempts, ...rest } = (await api.get(at(row))).body;
    expect(rest).toEqual(row);
    expect(attempts).toEqual([]);
    expect(payload).toMatchObject({ id: row.id, type: row.type, timestamp: row.created_at });
  });

  test('shows its payload as it is stored and sent, to the byte', async () => {
    const body = '{"type":"bytes.kept","data":{"n":12345678901234567890, "m":0.10,"a":1,"é":"\\u00e9"}}';
    const endpoint = await makeEndpoint(api, { event_types: ['bytes.kept'] });
    const headers = { 'content-type': 'application/json' };
    const published = await api.request('POST', EVENTS, { body, headers });
    const shown = await api.get(`${logOf(endpoint)}/${published.body.id}`);
    expect(shown.text).toContain(`"payload":${published.text},"attempts"`);
  });

  test('shows every attempt in order: the request and the response', async () => {
    const row = await deliver();
    await seedAttempts(world, row, [
      { status: null },
      { status: 503, body: 'later' },
      { status: 200, trigger: 'manual', body: 'thanks' },
    ]);
    const shown = (await api.get(at(row))).body;
    const later = (hours: number) => new Date(Date.parse(row.created_at) + hours * 3_600_000).toISOString();
    const common = {
      url: 'http://127.0.0.1:9/hook',
      request_headers: { 'content-type': 'application/json' },
      request_body: null,
      batch: null,
      claim: null,
      response_truncated: false,
    };
    expect(shown).toMatchObject({
      status: 'delivered',
      attempt_count: 3,
      next_attempt_at: null,
      last_attempt_at: later(3),
      last_response_status: 200,
      last_error_code: null,
      delivered_at: later(3),
    });
    expect(shown.attempts).toEqual([
      {
        ...common,
        number: 1,
        trigger: 'scheduled',
        status: 'failed',
        started_at: later(1),
        duration_ms: 10,
        response_status: null,
        response_headers: null,
        response_body: null,
        error_code: 'connection_refused',
        error_message: 'nobody listens there',
      },
      {
        ...common,
        number: 2,
        trigger: 'scheduled',
        status: 'failed',
        started_at: later(2),
        duration_ms: 20,
        response_status: 503,
        response_headers: { server: 'nobody' },
        response_body: 'later',
        error_code: 'response_error',
        error_message: 'HTTP 503',
      },
      {
        ...common,
        number: 3,
        trigger: 'manual',
        status: 'succeeded',
        started_at: later(3),
        duration_ms: 30,
        response_status: 200,
        response_headers: { server: 'nobody' },
        response_body: 'thanks',
        error_code: null,
        error_message: null,
      },
    ]);
  });

  test('that failed permanently shows the error', async () => {
    const row = await deliver();
    await seedAttempts(world, row, [{ status: 500 }, { status: 404 }]);
    expect((await api.get(at(row))).body).toMatchObject({
      status: 'failed',
      attempt_count: 2,
      next_attempt_at: null,
      last_response_status: 404,
      last_error_code: 'response_error',
      delivered_at: null,
    });
  });

  test('is found only by its event together with its endpoint', async () => {
    const [one, other] = [await deliver(), await deliver('other.created')];
    const missing = await api.get(`${logOf(String(MISSING.id))}/${MISSING.event_id}`);
    expectRefusal(missing, 404, 'resource_missing');
    for (const path of [
      `${logOf(one.webhook_endpoint_id)}/${other.id}`,
      `${logOf(other.webhook_endpoint_id)}/${one.id}`,
      `${logOf(one.webhook_endpoint_id)}/${one.webhook_endpoint_id}`,
      `${logOf(one.id)}/${one.id}`,
    ]) {
      const answer = await api.get(path);
      expectRefusal(answer, 404, 'resource_missing');
      expect(answer.text).toBe(missing.text);
      expect((await api.post(`${path}/retry`)).text).toBe(missing.text);
    }
    expectRefusal(await api.get(logOf(String(MISSING.id))), 404, 'resource_missing');
  });
});

describe('the log', () => {
  let log: World;
  let client: Api;
  let endpoints: Record<'first' | 'second' | 'off' | 'gone', string>;
  let everything: Json[];

  /** Thirty events at three or four endpoints, in every status. */
  beforeAll(async () => {
    log = await borrowWorld();
    client = log.api;
    endpoints = {
      first: await makeEndpoint(client),
      second: await makeEndpoint(client, { event_types: ['order.*'] }),
      off: await makeEndpoint(client, { event_types: ['order.*'] }),
      gone: await makeEndpoint(client, { event_types: ['order.paid'] }),
    };
    for (let index = 0; index < 30; index += 1)
      await client.post(EVENTS, {
        type: ['order.created', 'order.paid', 'shop.opened'][index % 3],
        data: {},
      });
    for (const [index, row] of (await allOf(client, EVENT_LOG)).entries()) {
      if (row.webhook_endpoint_id === endpoints.off && index % 2) continue;
      if (index % 5 === 0) await seedAttempts(log, row, [{ status: 200 }]);
      else if (index % 7 === 1) await seedAttempts(log, row, [{ status: 500 }, { status: null }]);
    }
    await client.patch(`${ENDPOINTS}/${endpoints.off}`, {
      event_types: ['nothing.more'],
      status: 'disabled',
    });
    await client.delete(`${ENDPOINTS}/${endpoints.gone}`);
    everything = await allOf(client, `${EVENT_LOG}?sort=id`);
  });
  afterAll(() => log.close());

  const ask = async (query: Record<string, string>, path = EVENT_LOG) => {
    const answer = await client.get(`${path}?${new URLSearchParams({ per_page: '100', ...query })}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const key = (row: Json) => `${row.id} ${row.webhook_endpoint_id}`;

  test('has a row for each endpoint an event goes to, in the order of events, then of endpoints', async () => {
    // an event of each type goes to three, four and one; the first one is notified of a disabled endpoint
    expect(everything).toHaveLength(10 * 3 + 10 * 4 + 10 * 1 + 1);
    const keys = everything.map(key);
    expect(keys).toEqual(keys.toSorted());
    expect(new Set(keys).size).toBe(keys.length);
    for (const sort of ['-id', '-created_at']) {
      const down = (await ask({ sort })).data;
      expect(down.map(key)).toEqual(keys.toReversed());
    }
    expect((await ask({ sort: 'created_at' })).data.map(key)).toEqual(keys);
    expect((await ask({})).data.map(key)).toEqual(keys.toReversed());
    const answers = await Promise.all([client.get(EVENT_LOG), client.get(EVENT_LOG.replace(/\/$/, ''))]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });

  test('has exactly the requested states, with their exact number', async () => {
    const found: Record<string, number> = {};
    for (const status of ['pending', 'held', 'delivered', 'failed']) {
      for (const sort of ['id', '-created_at']) {
        const { data, pagination } = await ask({ status, sort });
        const expected = everything.filter((row) => row.status === status);
        expect(data).toEqual(sort === 'id' ? expected : expected.toReversed());
        expect(pagination.total).toBe(expected.length);
        found[status] = expected.length;
      }
    }
    for (const [status, count] of Object.entries(found)) expect(count, status).toBeGreaterThan(3);
    expect(Object.values(found).reduce((sum, count) => sum + count)).toBe(everything.length);
  });

  test('combines every filter with every other: each narrows the result of the others', async () => {
    const { first, second, off, gone } = endpoints;
    for (const endpoint of someOf([first, off, gone, second], 3)) {
      for (const status of someOf(['pending', undefined, 'held', 'delivered', 'failed'], 3)) {
        for (const type of someOf(['order.created', 'order.*', undefined, 'ORDER.PAID', 'order.paid'], 4)) {
          const query = { ...(status ? { status } : {}), ...(type ? { type } : {}), sort: 'id' };
          const expected = everything.filter(
            (row) =>
              row.webhook_endpoint_id === endpoint &&
              (status === undefined || row.status === status) &&
              (type === undefined ||
                row.type === type ||
                (type === 'order.*' && row.type.startsWith('order.'))),
          );
          const whole = await ask({ ...query, webhook_endpoint_id: endpoint });
          expect([whole.data, whole.pagination.total]).toEqual([expected, expected.length]);
          expect(await ask(query, logOf(endpoint))).toEqual(whole);
        }
      }
    }
  });

  test('is filtered by time, at both ends', async () => {
    const [from, to] = [everything[20].created_at, everything[60].created_at];
    const { data } = await ask({ 'created_at[gte]': from, 'created_at[lt]': to, sort: 'id' });
    expect(data).toEqual(everything.filter((row) => row.created_at >= from && row.created_at < to));
    const waiting = await ask({ 'created_at[gt]': from, status: 'pending', sort: 'id' });
    expect(waiting.data).toEqual(
      everything.filter((row) => row.created_at > from && row.status === 'pending'),
    );
  });

  test.each(['', '?status=pending', '?status=held', '?status=failed', '?type=order.paid'])(
    'with %j is paged without a gap, and is empty past its end',
    async (query) => {
      const path = `${EVENT_LOG}${query}`;
      const whole = await allOf(client, path);
      const pages: Json[] = [];
      const more = query === '' ? '?' : '&';
      for (let page = 1; page <= Math.ceil(whole.length / 4); page += 1) {
        const { body } = await client.get(`${path}${more}per_page=4&page=${page}`);
        expect(body.pagination).toMatchObject({
          page,
          limit: 4,
          total: whole.length,
          pages: Math.ceil(whole.length / 4),
        });
        pages.push(...body.data);
      }
      expect(pages).toEqual(whole);
      for (const page of ['1000', String(Number.MAX_SAFE_INTEGER)]) {
        const { status, body } = await client.get(`${path}${more}page=${page}`);
        expect([status, body.data, body.pagination.total]).toEqual([200, [], whole.length]);
      }
    },
  );

  test('of an endpoint does not accept a filter by endpoint', async () => {
    const answer = await client.get(`${logOf(endpoints.first)}?webhook_endpoint_id=${endpoints.first}`);
    expectRefusal(answer, 400, 'unknown_query_parameter', 'webhook_endpoint_id');
  });

  test('shows as held what waits at a disabled endpoint, and as failed what waited at a deleted one', () => {
    const held = everything.filter((row) => row.status === 'held');
    expect(new Set(held.map((row) => row.webhook_endpoint_id))).toEqual(new Set([endpoints.off]));
    const over = everything.filter((row) => row.last_error_code === 'endpoint_deleted');
    expect(new Set(over.map((row) => row.webhook_endpoint_id))).toEqual(new Set([endpoints.gone]));
    for (const row of over) expect(row.status).toBe('failed');
    for (const row of [...held, ...over]) expect(row.next_attempt_at).toBeNull();
  });
});

describe('a retry', () => {
  const expectDone = (answer: Answer) => {
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect([answer.headers.get('content-length'), answer.headers.get('content-type')]).toEqual(['0', null]);
  };

  test.each([
    ['delivered', [{ status: 200 }]],
    ['failed', [{ status: 500 }]],
  ] as const)('of what was %s queues it now; the log waits for the result', async (_, attempts) => {
    const row = await deliver();
    await seedAttempts(world, row, attempts);
    expect(await queuedOf(row)).toBeUndefined();
    const before = await api.get(at(row));
    expectDone(await retry(row));
    expect(await queuedOf(row)).toEqual({ trigger: 'manual', is_due: true, is_leased: false });
    expect((await api.get(at(row))).text).toBe(before.text);
    // a due one is that attempt
    await onlyAudited(world, async () => expectDone(await retry(row)));
  });

  test('of what waits for its next attempt makes it now; the schedule stays', async () => {
    const row = await deliver();
    const next = "'2999-01-01T00:00:00Z'";
    await world.query(`update queue set due_at = ${next}, step = 3 where event_id = $1`, [uuidOf(row.id)]);
    await world.query(`update deliveries set next_attempt_at = ${next} where event_id = $1`, [
      uuidOf(row.id),
    ]);
    const before = await api.get(at(row));
    expect(before.body).toMatchObject({ status: 'pending', next_attempt_at: '2999-01-01T00:00:00.000Z' });
    expectDone(await retry(row));
    expect(await queuedOf(row)).toEqual({ trigger: 'manual', is_due: true, is_leased: false });
    expect((await api.get(at(row))).text).toBe(before.text);
    const [{ step } = { step: 0 }] = await world.query<{ step: number }>(
      'select step from queue where event_id = $1',
      [uuidOf(row.id)],
    );
    expect(step).toBe(3);
  });

  test('of an event that is due or in flight changes nothing: that is the attempt', async () => {
    const row = await deliver();
    await onlyAudited(world, async () => expectDone(await retry(row)));
    const lease = (token: string, due: string) =>
      world.query(`update queue set lease_token = ${token}, due_at = ${due} where event_id = $1`, [
        uuidOf(row.id),
      ]);
    await lease(`'${randomUUID()}'`, "now() + interval '30 seconds'");
    await onlyAudited(world, async () => expectDone(await retry(row)));
    await lease('null', 'now()');
  });

  test('ends a wait that the endpoint requested, and keeps rate limits', async () => {
    const row = await deliver();
    const waits = async (interval: string) => {
      const endpoint = [uuidOf(row.webhook_endpoint_id)];
      await world.query(
        `update endpoint_state set may_start_at = now() + interval '${interval}' where endpoint_id = $1`,
        endpoint,
      );
      expectDone(await retry(row));
      const [state] = await world.query<{ waits: boolean }>(
        'select may_start_at > now() as waits from endpoint_state where endpoint_id = $1',
        endpoint,
      );
      return state?.waits;
    };
    expect(await waits('1 hour')).toBe(false);
    expect(await waits('900 milliseconds')).toBe(true);
  });

  test('at a disabled endpoint is refused and changes nothing; enabled, it works', async () => {
    const row = await deliver();
    await seedAttempts(world, row, [{ status: 410 }]);
    const endpoint = `${ENDPOINTS}/${row.webhook_endpoint_id}`;
    await api.patch(endpoint, { status: 'disabled' });
    await nothingChanges(world, async () =>
      expectRefusal(await retry(row), 409, 'endpoint_disabled', 'enable'),
    );
    await api.patch(endpoint, { status: 'enabled' });
    expectDone(await retry(row));
  });

  test('with an Idempotency-Key happens once and is answered again', async () => {
    const row = await deliver();
    await seedAttempts(world, row, [{ status: 500 }]);
    const headers = { 'idempotency-key': 'retry' };
    expectDone(await retry(row, headers));
    // a worker has made the attempt meanwhile
    await world.query('delete from queue where event_id = $1', [uuidOf(row.id)]);
    const again = await nothingChanges(world, () => retry(row, headers));
    expectDone(again);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await deliver();
    expectRefusal(await retry(other, headers), 409, 'idempotency_key_reused');
  });

  test('accepts only an empty body', async () => {
    const row = await deliver();
    const send = (body: string) =>
      api.request('POST', `${at(row)}/retry`, { body, headers: { 'content-type': 'application/json' } });
    for (const nothing of ['', '{}']) expectDone(await send(nothing));
    await nothingChanges(world, async () => {
      expectRefusal(await send('{"now":true}'), 400, 'unknown_field');
      expectRefusal(await send('{'), 400, 'invalid_json');
    });
  });

  test('of many at once makes one attempt each', async () => {
    const rows = [await deliver(), await deliver()];
    for (const row of rows) await seedAttempts(world, row, [{ status: 500 }]);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => retry(rows[index % 2])));
    for (const answer of answers) expectDone(answer);
    const queued = await world.query<{ n: number }>(
      'select count(*)::int as n from queue where event_id = any($1) group by event_id',
      [rows.map(({ id }) => uuidOf(id))],
    );
    expect(queued).toEqual([{ n: 1 }, { n: 1 }]);
  });
});
