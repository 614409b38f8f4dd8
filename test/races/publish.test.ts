import { describe, expect, inject, test } from 'vitest';
import { EVENTS } from '../api/fixtures.ts';
import type { Answer, Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { makeEndpoint } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import { ARENAS, inArena } from './support.ts';

interface Request {
  readonly body: string;
  readonly key?: string;
}

const send = (api: Api, { body, key }: Request): Promise<Answer> =>
  api.request('POST', EVENTS, {
    body,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
  });

const event = (fields: object) => JSON.stringify({ type: 'order.created', data: {}, ...fields });

const { pooler } = inject('postgres');
const STORE = pooler ? 'insert into events (' : '\0publish_foreign\0';
const TAKE = pooler ? 'insert into event_keys (' : '\0take_external_ids\0';

/** Counts how often statements are sent, each found by a text: by default the one that stores platforms' events. */
function countStatements(world: World, texts: readonly string[] = [STORE]): () => number[] {
  const counts = texts.map(() => 0);
  if (!world.latency) throw new Error('the arena has no proxy');
  world.latency.before = (message) => {
    // a Bind message names the statement, and a Parse of it comes with its first Bind; behind a pooler none has a name
    for (const [index, text] of texts.entries())
      if (message.includes(text)) counts[index] = (counts[index] ?? 0) + 1;
    return undefined;
  };
  return () => counts.splice(0, texts.length, ...texts.map(() => 0));
}

const storedEvents = (world: World) =>
  world.query<{ type: string; payload: string }>('select type, payload from events order by id');

describe.each(ARENAS)('concurrently published events, $name', (arena) => {
  test('share transactions, and each gets the response it would get alone', () =>
    inArena(arena, async ({ world, racer, race }) => {
      const other = await world.otherAccount('Other');
      const accounts = [
        (await racer(0).get('/v2/account')).body.id,
        (await other.get('/v2/account')).body.id,
      ];
      await makeEndpoint(racer(0), { event_types: ['order.*'] });
      await makeEndpoint(other, { event_types: null });
      const statements = countStatements(world);
      const requests = Array.from({ length: 200 }, (_, index) => {
        const isOther = index % 7 === 0;
        const request: Request = {
          body: event({
            type: index % 2 === 0 ? 'order.created' : 'stock.changed',
            data: { index, text: `\u00e9\\"'${'x'.repeat(index)}`, big: 1 },
            ...(index % 3 === 0 ? { external_id: `order-${index}` } : {}),
          }).replace('"big":1', '"big":12345678901234567890.10'),
          ...(index % 5 === 0 ? { key: `key-${index}` } : {}),
        };
        return { request, api: isOther ? other : racer(index), account: accounts[isOther ? 1 : 0] };
      });
      const answers = await race(() => Promise.all(requests.map(({ request, api }) => send(api, request))));
      for (const [index, { status, body, text }] of answers.entries()) {
        expect(status).toBe(201);
        expect(body.account_id).toBe(requests[index]?.account);
        expect(body.data.index).toBe(index);
        expect(body.data.text).toBe(`\u00e9\\"'${'x'.repeat(index)}`);
        expect(text).toContain('"big":12345678901234567890.10');
      }
      const [stores = 0] = statements();
      expect(stores).toBeGreaterThan(0);
      expect(stores).toBeLessThan(requests.length / 2);
      const stored = await storedEvents(world);
      expect(stored.map(({ payload }) => payload).toSorted()).toEqual(
        answers.map(({ text }) => text).toSorted(),
      );
      const wrong = await world.query(
        `select 1 from deliveries d join webhook_endpoints e on e.id = d.endpoint_id join events v on v.id = d.event_id
         where v.account_id <> d.account_id or e.account_id <> d.account_id`,
      );
      expect(wrong).toEqual([]);
      const [{ n } = { n: 0 }] = await world.query<{ n: number }>(
        'select count(*)::int as n from deliveries',
      );
      const wanted = requests.filter(
        ({ account }, index) => account === accounts[1] || index % 2 === 0,
      ).length;
      expect(n).toBe(wanted);
      for (const { request, api } of requests.filter(({ request: { key } }) => key !== undefined)) {
        const again = await send(api, request);
        expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      }
      expect(await storedEvents(world)).toHaveLength(requests.length);
    }));

  test("are each refused for their own errors, and none for its neighbour's", () =>
    inArena(arena, async ({ world, api, racer, race }) => {
      expect((await send(api, { body: event({ external_id: 'known', data: { a: 1 } }) })).status).toBe(201);
      expect((await send(api, { body: event({ data: { used: 1 } }), key: 'used' })).status).toBe(201);
      const cases: [Request, number, string | null][] = [
        [{ body: event({ type: 'order' }), key: 'b' }, 400, 'invalid_event_type'],
        [{ body: event({ type: 'payout.paid' }), key: 'c' }, 400, 'reserved_event_type'],
        [{ body: event({ external_id: 'known', data: { a: 2 } }), key: 'd' }, 409, 'duplicate_external_id'],
        [{ body: event({ external_id: 'known', data: { a: 1 } }) }, 200, null],
        [{ body: event({ data: { used: 2 } }), key: 'used' }, 409, 'idempotency_key_reused'],
        [{ body: event({ data: { text: 'x'.repeat(262_000) } }), key: 'e' }, 400, 'payload_too_large'],
        [{ body: '{"type":"order.created","data":{"a":"\\u0000","a":1}}', key: 'f' }, 400, 'duplicate_key'],
      ];
      const fine = (index: number): Request => ({
        body: event({ data: { fine: index } }),
        key: `fine ${index}`,
      });
      const all = cases.flatMap(([request], index) =>
        Array.from({ length: 6 }, (_, turn) => (turn === 3 ? request : fine(index * 6 + turn))),
      );
      const answers = await race(() => Promise.all(all.map((request, index) => send(racer(index), request))));
      for (const [index, answer] of answers.entries()) {
        const [, status, reason] =
          index % 6 === 3 ? (cases[(index - 3) / 6] as (typeof cases)[0]) : [0, 201, null];
        expect([answer.status, answer.reason]).toEqual([status, reason]);
      }
      expect(await storedEvents(world)).toHaveLength(2 + all.length - cases.length);
      // a refusal leaves its key free for another request
      for (const key of 'bcdef')
        expect((await send(api, { body: event({ data: { key } }), key })).status).toBe(201);
    }));

  test('with one key or one external_id are one event, whichever is first', () =>
    inArena(arena, async ({ world, racer, race }) => {
      const twins = Array.from({ length: 60 }, (_, index) => ({
        body: event({
          data: { twin: index % 4 },
          ...(index % 4 < 2 ? { external_id: `twin ${index % 4}` } : {}),
        }),
        ...(index % 4 >= 2 ? { key: `twin ${index % 4}` } : {}),
      }));
      // the second half uses the other order, as a second server does that took other keys first
      const order = [...twins.slice(0, 30), ...twins.slice(30).toReversed()];
      const answers = await race(() =>
        Promise.all(order.map((request, index) => send(racer(index), request))),
      );
      expect(answers.filter(({ status }) => status !== 201 && status !== 200)).toEqual([]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(4);
      expect(await storedEvents(world)).toHaveLength(4);
    }));
});

const batchOf = (ids: readonly string[], n: number) => ({
  events: ids.map((external_id) => ({ type: 'order.created', data: { n }, external_id })),
});

describe.each(ARENAS)('batches of events, $name', (arena) => {
  const IDS = Array.from({ length: 30 }, (_, index) => `batch ${index}`);

  test('that share events, with each other and with single ones, publish each once', () =>
    inArena(arena, async ({ world, racer, race }) => {
      const orders = [
        IDS,
        IDS.toReversed(),
        IDS.filter((_, index) => index % 2),
        IDS.slice(7, 19).toReversed(),
      ];
      const answers = await race(() =>
        Promise.all([
          ...Array.from({ length: 16 }, (_, index) =>
            racer(index).post(`${EVENTS}/batch`, batchOf(orders[index % 4] ?? [], 1)),
          ),
          ...IDS.map((external_id, index) =>
            send(racer(index), { body: event({ data: { n: 1 }, external_id }), key: `single ${index}` }),
          ),
        ]),
      );
      expect(answers.filter(({ status }) => status !== 200 && status !== 201)).toEqual([]);
      const events = answers.flatMap(
        ({ body }) => body.items?.map((item: { event: object }) => item.event) ?? [body],
      );
      const texts = new Set(events.map((one) => JSON.stringify(one)));
      const stored = await storedEvents(world);
      expect(stored.map(({ payload }) => payload).toSorted()).toEqual([...texts].toSorted());
      expect(stored).toHaveLength(IDS.length);
      const isNew = answers.flatMap(
        ({ status, body }) => body.items?.map((item: { status: number }) => item.status) ?? [status],
      );
      expect(isNew.filter((status) => status === 201)).toHaveLength(IDS.length);
    }));

  test('that contradict each other: one is published whole, and the others are refused whole', () =>
    inArena(arena, async ({ world, racer, race }) => {
      const answers = await race(() =>
        Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            racer(index).post(`${EVENTS}/batch`, batchOf(index % 2 ? IDS : IDS.toReversed(), index)),
          ),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(11).fill(409)]);
      const won = answers.findIndex(({ status }) => status === 200);
      const stored = await storedEvents(world);
      expect(stored.map(({ payload }) => JSON.parse(payload).data.n)).toEqual(IDS.map(() => won));
    }));
});

longRun.test('batches that name the same events in another order do not deadlock', () =>
  inArena({ name: 'one server', latencyMs: 0, servers: 1 }, async ({ world, api }) => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const [{ id } = { id: '' }] = await world.query<{ id: string }>('select id from accounts');
    await world.query('begin');
    await world.query(
      `insert into event_keys (account_id, external_id, event_id, request_hash) values ($1, 'c', new_id(), '')`,
      [id],
    );
    const waiting = [];
    for (const order of [ids, ids.toReversed()]) {
      waiting.push(api.post(`${EVENTS}/batch`, batchOf(order, 1)));
      await untilLockWait(world, waiting.length);
    }
    await world.query('rollback');
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await storedEvents(world)).toHaveLength(ids.length);
  }),
);

test('a batch of 1,000 events needs as many statements as one of two, whatever was published before', () =>
  inArena({ name: 'one server', latencyMs: 0, servers: 1 }, async ({ world, api }) => {
    const statements = countStatements(world, [TAKE, 'left join events v on', 'update event_keys k', STORE]);
    const counts: number[][] = [];
    for (const size of [2, 1000]) {
      const ids = Array.from({ length: size }, (_, index) => `${size} ${index}`);
      const publish = async () => {
        const answer = await api.post(`${EVENTS}/batch`, batchOf(ids, 1));
        expect(answer.status, answer.text.slice(0, 300)).toBe(200);
      };
      await publish();
      const sent = statements();
      await publish(); // all exist
      sent.push(...statements());
      await world.query('delete from events');
      await publish(); // all were dropped, and their external_ids are free
      counts.push([...sent, ...statements()]);
    }
    expect(counts[1]).toEqual(counts[0]);
    expect(counts[0]).toEqual([...[1, 0, 0, 1], ...[1, 1, 0, 0], ...[1, 1, 1, 1]]);
  }));

// under libfaketime PostgreSQL's lock_timeout, which this test needs, does not fire
const isClockMoved = (process.env.LD_PRELOAD ?? '').includes('faketime');

test.skipIf(isClockMoved)('an event that must wait for another request delays no other', () =>
  inArena({ name: 'one server', latencyMs: 0, servers: 1 }, async ({ world, api }) => {
    const [{ id } = { id: '' }] = await world.query<{ id: string }>('select id from accounts');
    const credential = `key_${(await world.query<{ id: string }>(`select replace(id::text, '-', '') as id from api_keys`))[0]?.id}`;
    const request = { body: event({ data: { waits: true } }), key: 'held' };
    await world.query('begin');
    await world.query(
      `insert into idempotency_keys (account_id, credential, key, request_hash) values ($1, $2, 'held', '')`,
      [id, credential],
    );
    let answered = 0;
    const wait = () =>
      send(api, request).then((answer) => {
        answered += 1;
        return answer;
      });
    // one after the other, so that each is a separate batch: more of them than batches may be in flight
    const waiting: Promise<Answer>[] = [];
    for (let index = 0; index < 3; index += 1) {
      waiting.push(wait());
      await untilLockWait(world, index + 1);
    }
    // in any batches, with it and after it
    for (let round = 0; round < 5; round += 1) {
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          send(api, { body: event({ data: { index } }), key: `${round} ${index}` }),
        ),
      );
      expect(others.map(({ status }) => status)).toEqual(Array(20).fill(201));
    }
    expect(answered).toBe(0);
    await world.query('rollback');
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  }),
);
