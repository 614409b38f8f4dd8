import { expect, inject, test } from 'vitest';
import { ENDPOINTS, EVENTS, expectRefusal } from '../api/fixtures.ts';
import type { Answer, Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld, type World } from '../support/world.ts';

/*
 * One account publishes events that are expensive to filter; another account must not notice. Statements are held back
 * and counted; no test reads a clock.
 */

const { pooler } = inject('postgres');
const STORE = pooler ? 'insert into events (' : '\0publish_foreign\0';

/**
 * Holds back the statements that store events with this text, until `goOn`; counts all statements that store events.
 */
function heldBack(world: World, text: string) {
  if (!world.latency) throw new Error('statements are held back by the latency of a world');
  const held: (() => void)[] = [];
  let isOpen = false;
  const counts = { theirs: 0, others: 0, together: 0 };
  world.latency.before = (message) => {
    if (!message.includes(STORE)) return undefined;
    const isTheirs = message.includes(text);
    counts[isTheirs ? 'theirs' : 'others'] += 1;
    if (isTheirs && message.includes('of the other')) counts.together += 1;
    if (!isTheirs || isOpen) return undefined;
    return new Promise<void>((resolve) => {
      held.push(resolve);
    });
  };
  return {
    counts,
    goOn() {
      isOpen = true;
      for (const go of held.splice(0)) go();
    },
  };
}

const publish = (api: Api, data: object, fields: object = {}) =>
  api.post(EVENTS, { type: 'order.created', data, ...fields });

/** How many endpoints with a filter an account has. */
const MANY = rounds(40, 200);

test('accounts without filters do not wait for the events of an account with many', async () => {
  const world = await borrowWorld({ databaseLatencyMs: 0, poolSize: 10 });
  try {
    const [hostile, other] = [world.api, await world.otherAccount('Other')];
    const filter = { 'data.text': { $contains: 'needle' } };
    for (let index = 0; index < MANY; index++) await makeEndpoint(hostile, { filter });
    await makeEndpoint(other, {});
    const { counts, goOn } = heldBack(world, 'hostile');
    const theirs: Promise<Answer>[] = [];
    for (let index = 0; index < 12; index++) {
      theirs.push(publish(hostile, { text: `hostile ${'a'.repeat(200_000)}` }));
      const events = [{ type: 'order.created', data: { text: `hostile ${index}` } }];
      theirs.push(hostile.post(`${EVENTS}/batch`, { events }));
    }
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => publish(other, { text: `of the other ${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(201));
    // the first of their statements is in progress, and the others wait for it
    expect(counts).toMatchObject({ theirs: 1, together: 0 });
    expect(counts.others).toBeLessThan(24);
    goOn();
    for (const { status, text } of await Promise.all(theirs)) expect([200, 201], text).toContain(status);
    expect(counts.together).toBe(0);
    expect(await world.query(`select 1 from events where cardinality(filtered) = ${MANY}`)).toHaveLength(24);
  } finally {
    await world.close();
  }
});

test('two accounts with filters do not wait for each other, and share no statement', async () => {
  const world = await borrowWorld({ databaseLatencyMs: 0, poolSize: 10 });
  try {
    const [hostile, other] = [world.api, await world.otherAccount('Other')];
    for (const api of [hostile, other])
      await makeEndpoint(api, { filter: { 'data.text': { $contains: 'of the other 3' } } });
    const { counts, goOn } = heldBack(world, 'hostile');
    const theirs = Array.from({ length: 24 }, () => publish(hostile, { text: 'hostile' }));
    for (let index = 0; index < 6; index++) {
      const { status } = await publish(other, { text: `of the other ${index}` });
      expect(status).toBe(201);
    }
    expect(counts).toEqual({ theirs: 1, others: 6, together: 0 });
    goOn();
    for (const { status } of await Promise.all(theirs)) expect(status).toBe(201);
    // the waiting events were stored together
    expect(counts.theirs).toBeLessThan(24);
    const got = await world.query<{ n: number }>('select count(*)::int as n from deliveries');
    expect(got).toEqual([{ n: 1 }]);
  } finally {
    await world.close();
  }
});

const world = useWorld();

test('an account may search 1,000 times in an event, and saving a filter beyond that is refused', async () => {
  const api = await world.otherAccount('Searching');
  const five: Record<string, object> = Object.fromEntries(
    [1, 2, 3, 4, 5].map((name) => [`data.f${name}`, { $contains: 'x' }]),
  );
  await makeEndpoint(api, {});
  const last = await makeEndpoint(api, { filter: { type: 'order.created' } });
  // as if there were this many endpoints
  await world.query(
    `update webhook_endpoints set filter = ('{"$and":[' || repeat('{"data.a":{"$contains":"x"}},', 996) || '{"type":"a"}]}')::json,
       filter_path = '$.type == "a"' where filter is null and account_id = (select account_id from webhook_endpoints where public_id('we', id) = $1)`,
    [last],
  );
  const refused = await api.patch(`${ENDPOINTS}/${last}`, { filter: five });
  expectRefusal(refused, 400, 'too_many_filters', '1001', '1000');
  const { 'data.f5': _, ...four } = five;
  expect((await api.patch(`${ENDPOINTS}/${last}`, { filter: four })).status).toBe(200);
  expectRefusal(
    await api.post(ENDPOINTS, { url: 'https://example.com/hook', filter: { type: { $contains: 'x' } } }),
    400,
    'too_many_filters',
    '1001',
  );

  const events = Array.from({ length: 2 }, () => ({
    type: 'order.created',
    data: { text: 'x'.repeat(200_000) },
  }));
  const batch = await api.post(`${EVENTS}/batch`, { events });
  expectRefusal(batch, 400, 'too_much_to_search', '1000', 'fewer events');
  expect(
    (await api.post(EVENTS, { type: 'order.created', data: { text: 'x'.repeat(200_000) } })).status,
  ).toBe(201);
});
