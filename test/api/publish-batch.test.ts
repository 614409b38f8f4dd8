import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  ENDPOINTS,
  EVENTS,
  eventsOf,
  expectRefusal,
  type Json,
  labelled,
  nothingChanges,
} from './fixtures.ts';

const BATCH = `${EVENTS}/batch`;
const PAYLOAD_LIMIT = 262_144;
const BODY_LIMIT = 16 * 1024 * 1024;

const world = useWorld();
const api = useAccount(world);

const event = (fields: object = {}) => ({ type: 'order.created', data: { n: 1 }, ...fields });
const batch = (events: unknown, headers: Record<string, string> = {}, of: Api = api) =>
  of.post(BATCH, { events }, headers);
const raw = (body: string, headers: Record<string, string> = {}) =>
  api.request('POST', BATCH, { body, headers: { 'content-type': 'application/json', ...headers } });
const statuses = ({ body }: Json) => body.items.map((item: Json) => item.status);
const ids = ({ body }: Json): string[] => body.items.map((item: Json) => item.event.id);

describe('a batch of events', () => {
  test('publishes each as if it were published alone, and answers in the order of the list', async () => {
    const endpoint = await makeEndpoint(api, { event_types: ['order.*'] });
    const answer = await batch([
      event({ data: { n: 0 } }),
      event({ type: 'stock.changed', data: { n: 1 }, external_id: 'z' }),
      event({ data: { n: 2 }, external_id: 'a', ordering_key: 'order:7' }),
    ]);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.object).toBe('event_batch');
    expect(answer.body.items.map((item: Json) => [item.index, item.status, item.event.data.n])).toEqual([
      [0, 201, 0],
      [1, 201, 1],
      [2, 201, 2],
    ]);
    const stored = await eventsOf(world, api);
    for (const item of answer.body.items)
      expect(stored.map(({ payload }) => payload)).toContainEqual(item.event);
    expect(stored).toHaveLength(3);
    const { body: log } = await api.get(`${ENDPOINTS}/${endpoint}/events`);
    expect(log.data.map((one: Json) => one.id).toSorted()).toEqual(
      [ids(answer)[0], ids(answer)[2]].toSorted(),
    );
    const { body: whole } = await api.get(`${EVENTS}/${ids(answer)[2]}`);
    expect(whole).toMatchObject({ external_id: 'a', ordering_key: 'order:7', deliveries: { pending: 1 } });
  });

  test('lists events of one type in the order of the batch', async () => {
    const many = ['c', 'b', 'a', 'e', 'd'];
    const answer = await batch(many.map((external_id) => event({ external_id })));
    expect(ids(answer).toSorted()).toEqual(ids(answer));
    const plain = await batch(many.map((name) => event({ data: { name } })));
    expect(ids(plain).toSorted()).toEqual(ids(plain));
  });

  test('applies the filter of each endpoint', async () => {
    const endpoint = await makeEndpoint(api, { filter: { 'data.n': { $gte: 2 } } });
    const answer = await batch([1, 2, 3].map((n) => event({ data: { n } })));
    const { body } = await api.get(`${ENDPOINTS}/${endpoint}/events`);
    expect(body.data.map((one: Json) => one.id).toSorted()).toEqual(ids(answer).slice(1).toSorted());
    expect((await api.get(`${EVENTS}/${ids(answer)[0]}`)).body.deliveries.filtered).toBe(1);
  });

  test('forwards the data of each event byte for byte, with its numbers unrounded', async () => {
    const texts = [
      '{"n":12345678901234567890.10}',
      '{ "a" :\t[ 1e400 ,\n -0 ] }',
      '{"a":"]},{\\"type\\":\\"payout.paid\\",\\\\","b":[{"c":"}"}]}',
      '{"text":"\\u00e9 💥","events":[1,{}]}',
      '{}',
    ];
    const list = texts.map(
      (data, n) => ` {"d\\u0061ta" : ${data} ,"type":"order.created","external_id":"x${n}"}`,
    );
    const body = `\ufeff{ "\\u0065vents" :[${list.join('\n,')} ] }`;
    const answer = await raw(body);
    expect(answer.status, answer.text).toBe(200);
    for (const data of texts) expect(answer.text).toContain(`"api_version":"2.0.0","data":${data}}}`);
    const stored = await world.query<{ payload: string }>(
      `select payload from events where account_id = (select account_id from events where id = $1::uuid) order by id`,
      [ids(answer)[0]?.slice(4)],
    );
    expect(stored.map(({ payload }) => payload.slice(payload.indexOf('"data":') + 7, -1))).toEqual(texts);
    // the digits distinguish the content, as when it is published alone
    await nothingChanges(world, async () => {
      expect((await raw(body)).body.items.map((item: Json) => item.status)).toEqual([
        200, 200, 200, 200, 200,
      ]);
      const alone = await api.request('POST', EVENTS, {
        body: list[0]?.replace('.10}', '.1}') ?? '',
        headers: { 'content-type': 'application/json' },
      });
      expect(alone.status, alone.text).toBe(200);
      expectRefusal(
        await raw(body.replace('567890.10', '567891.10')),
        409,
        'duplicate_external_id',
        'events[0]',
      );
    });
  });

  test('may have 1 to 1,000 events', async () => {
    await makeEndpoint(api);
    const many = Array.from({ length: 1000 }, (_, n) => event({ data: { n }, external_id: `many-${n}` }));
    const answer = await batch(many);
    expect(answer.status, answer.text.slice(0, 300)).toBe(200);
    expect(answer.body.items.map((item: Json) => item.event.data.n)).toEqual(many.map(({ data }) => data.n));
    expect(await eventsOf(world, api)).toHaveLength(1000);
    await nothingChanges(world, async () => {
      expectRefusal(
        await batch([...many, event()]),
        400,
        'invalid_body',
        'events must have at most 1000 items',
      );
      expectRefusal(await batch([]), 400, 'invalid_body', 'events must have at least 1 item');
    });
  });
});

describe('an external_id in a batch', () => {
  test('returns what was published before, alone or in a batch, and publishes only the rest', async () => {
    const alone = await api.post(EVENTS, event({ external_id: 'alone' }));
    const first = await batch([event({ external_id: 'a' }), event({ external_id: 'alone' })]);
    expect(statuses(first)).toEqual([201, 200]);
    expect(first.body.items[1].event).toEqual(alone.body);
    const second = await batch([event({ external_id: 'b' }), event({ external_id: 'a' }), event()]);
    expect(statuses(second)).toEqual([201, 200, 201]);
    expect(second.body.items[1].event).toEqual(first.body.items[0].event);
    await nothingChanges(world, async () => {
      const again = await api.post(EVENTS, event({ external_id: 'b' }));
      expect([again.status, again.body.id]).toEqual([200, ids(second)[0]]);
    });
    expect(await eventsOf(world, api)).toHaveLength(4);
  });

  test('that occurs twice with the same content is one event', async () => {
    const answer = await batch([event({ external_id: 'a' }), event(), event({ external_id: 'a' })]);
    expect(statuses(answer)).toEqual([201, 201, 200]);
    expect(answer.body.items[2].event).toEqual(answer.body.items[0].event);
    expect(await eventsOf(world, api)).toHaveLength(2);
  });

  test('with other content refuses the whole batch, naming every such event', async () => {
    await batch([event({ external_id: 'known' }), event({ external_id: 'keyed', ordering_key: 'k' })]);
    await nothingChanges(world, async () => {
      const answer = await batch([
        event({ external_id: 'fresh' }),
        event({ external_id: 'known', data: { n: 2 } }),
        event({ external_id: 'known' }),
        event({ external_id: 'fresh', data: { n: 3 } }),
        event({ external_id: 'keyed' }),
      ]);
      expectRefusal(answer, 409, 'duplicate_external_id', '4 of 5 items are bad, nothing was written');
      expect(answer.body.error.message).not.toContain('events[0]');
      for (const [index, id] of [
        [1, 'known'],
        [2, 'known'],
        [3, 'fresh'],
        [4, 'keyed'],
      ])
        expect(answer.body.error.message).toContain(
          `events[${index}].external_id: ${id} was published with different content`,
        );
    });
    // and the refused ids are free
    expect(statuses(await batch([event({ external_id: 'fresh', data: { n: 3 } })]))).toEqual([201]);
  });

  test('of an event that was dropped with its week is free again', async () => {
    const list = ['a', 'b', 'c'].map((external_id) => event({ external_id }));
    const first = await batch(list);
    const account = first.body.items[0].event.account_id.slice(4);
    // retention drops the event first, and its key a little later
    await world.query(`delete from events where account_id = $1 and id <> $2`, [
      account,
      ids(first)[1]?.slice(4),
    ]);
    const again = await batch([...list, event({ external_id: 'a', data: { n: 1 } })]);
    expect(statuses(again)).toEqual([201, 200, 201, 200]);
    expect(again.body.items[1].event).toEqual(first.body.items[1].event);
    expect(statuses(await batch(list))).toEqual([200, 200, 200]);
    expect(ids(await batch(list))).toEqual(ids(again).slice(0, 3));
  });

  test('is free in another account, and the events there stay invisible', async () => {
    const other = await world.otherAccount();
    const endpoint = await makeEndpoint(other, { event_types: null });
    const [ours, theirs] = [
      await batch([event({ external_id: 'shared' })]),
      await batch([event({ external_id: 'shared', data: { n: 2 } })], {}, other),
    ];
    expect([statuses(ours), statuses(theirs)]).toEqual([[201], [201]]);
    expect(ids(theirs)).not.toEqual(ids(ours));
    expectRefusal(await other.get(`${EVENTS}/${ids(ours)[0]}`), 404, 'resource_missing');
    const { body: log } = await other.get(`${ENDPOINTS}/${endpoint}/events`);
    expect(log.data.map((one: Json) => one.id)).toEqual(ids(theirs));
  });
});

describe('one bad event refuses the batch, and nothing is stored:', () => {
  test('types, naming every event whose type is not allowed', async () => {
    await nothingChanges(world, async () => {
      const types = ['order.created', 'order', 'payout.paid', 'order.paid', 'Affiliate.x'];
      const answer = await batch(types.map((type) => event({ type, external_id: type })));
      expectRefusal(
        answer,
        400,
        'invalid_items',
        '3 of 5 items are bad, nothing was written: events[1].type must be a dotted name',
        'events[2].type: events under payout. are reserved',
        'events[4].type: events under affiliate. are reserved',
      );
    });
  });

  test('of very many bad ones the first twenty are named', async () => {
    await nothingChanges(world, async () => {
      const answer = await batch(Array.from({ length: 30 }, () => event({ type: 'order' })));
      expectRefusal(answer, 400, 'invalid_items', '30 of 30', 'events[19].type', '; and 10 more');
      expect(answer.body.error.message).not.toContain('events[20]');
    });
  });

  test('a payload above 256 KiB, wherever it is', async () => {
    const endpoint = await makeEndpoint(api);
    const large = event({ data: { text: 'x'.repeat(PAYLOAD_LIMIT) }, external_id: 'large' });
    await nothingChanges(world, async () => {
      const answer = await batch([event({ external_id: 'small' }), event(), large, event()]);
      expectRefusal(answer, 400, 'payload_too_large', 'events[2].data: the payload would have', '262144');
    });
    expect(statuses(await batch([event({ external_id: 'small' })]))).toEqual([201]);
    await api.delete(`${ENDPOINTS}/${endpoint}`);
  });

  test.each(
    labelled([
      [event({ type: undefined }), 'invalid_body', 'events[1].type is required'],
      [event({ data: undefined }), 'invalid_body', 'events[1].data is required'],
      [event({ data: [] }), 'invalid_body', 'events[1].data must be a JSON object'],
      [event({ type: '' }), 'invalid_body', 'events[1].type must not be empty'],
      [event({ type: `a.${'x'.repeat(99)}` }), 'invalid_body', 'events[1].type must have at most 100'],
      [event({ external_id: 7 }), 'invalid_body', 'events[1].external_id'],
      [event({ ordering_key: 'k'.repeat(256) }), 'invalid_body', 'events[1].ordering_key'],
      [event({ ordering_key: 'k'.repeat(10_000) }), 'invalid_body', 'events[1].ordering_key'],
      [event({ colour: 'red' }), 'unknown_field', 'events[1].colour'],
      [event({ data: { a: '\0' } }), 'invalid_body', 'events[1].data.a'],
      ['order.created', 'invalid_body', 'events[1]'],
      [null, 'invalid_body', 'events[1]'],
    ]),
  )('%s', async (_, bad, reason, part) => {
    await nothingChanges(world, async () =>
      expectRefusal(await batch([event(), bad, event()]), 400, reason, part),
    );
  });

  test.each([
    ['a repeated key', '{"type":"a.b","data":{"a":1,"a":1}}', 'duplicate_key', 'events[1].data.a'],
    [
      'a rounded number outside of its data',
      '{"type":"a.b","data":{},"external_id":1e400}',
      'invalid_body',
      'events[1].external_id',
    ],
    ['a line that is not JSON', '{"type":"a.b","data":{}', 'invalid_json', 'JSON'],
  ])('%s', async (_, bad, reason, part) => {
    await nothingChanges(world, async () =>
      expectRefusal(await raw(`{"events":[{"type":"a.b","data":{}},${bad}]}`), 400, reason, part),
    );
  });

  test.each(labelled([[{}], [null], ['x'], [7]]))('a list that is %s', async (_, events) => {
    await nothingChanges(world, async () =>
      expectRefusal(await batch(events), 400, 'invalid_body', 'events'),
    );
  });

  test('a number outside of the events', async () => {
    await nothingChanges(world, async () =>
      expectRefusal(
        await raw('{"events":[{"type":"a.b","data":{}}],"data":1e400}'),
        400,
        'unknown_field',
        'data',
      ),
    );
  });
});

describe('the body', () => {
  /** Events of 200 KB each that make a body of about this many bytes. */
  const bodyOf = (bytes: number) =>
    JSON.stringify({
      events: Array.from({ length: Math.floor(bytes / 200_000) }, () =>
        event({ data: { text: 'x'.repeat(199_900) } }),
      ),
    });

  longRun.test('may have 16 MiB', async () => {
    const answer = await raw(bodyOf(BODY_LIMIT));
    expect(answer.status, answer.text.slice(0, 300)).toBe(200);
    expect(answer.body.items).toHaveLength(83);
  });

  test('of 20 MB is refused with the rule, and nothing is stored', async () => {
    await nothingChanges(world, async () => {
      const answer = await raw(bodyOf(20_000_000)).catch((error: Error) => error);
      // the server may close the connection during the upload of the body
      if (!(answer instanceof Error)) expectRefusal(answer, 400, 'body_too_large', String(BODY_LIMIT));
    });
  });
});

describe('an Idempotency-Key', () => {
  test('returns the same response to the byte, and is free after a refusal', async () => {
    const key = { 'idempotency-key': 'batch' };
    const body =
      '{"events":[{"type":"a.b","data":{"n":12345678901234567890,"m":0.1000}},{"type":"a.b","data":{}}]}';
    expectRefusal(await batch([event({ type: 'order' })], key), 400, 'invalid_items');
    const first = await raw(body, key);
    expect(first.status, first.text).toBe(200);
    await nothingChanges(world, async () => {
      const again = await raw(body, key);
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expectRefusal(await raw(body.replace('890,', '891,'), key), 409, 'idempotency_key_reused');
    });
  });
});
