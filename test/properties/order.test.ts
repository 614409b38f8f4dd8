import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  ENDPOINTS,
  EVENT_LOG,
  EVENTS,
  type Json,
  makeAffiliate,
  makeCommission,
  OPERATIONS,
  PROGRAMS,
  unique,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { isLong, rounds } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { expectProperty } from '../support/properties.ts';
import { makeEndpoint } from '../support/seed.ts';
import type { World } from '../support/world.ts';

const REFUNDS = '/v2/affiliates/refunds';

// several clients, each with its own world
const CLIENTS = 2;
const worlds: World[] = [];
beforeAll(async () => {
  for (let client = 0; client < CLIENTS; client++) worlds.push(await borrowWorld());
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

/** An account in which rows are created; `die` chooses values that several rows share. */
interface Stage {
  readonly world: World;
  readonly api: Api;
  readonly earner: number;
}
type Make = (stage: Stage, die: number) => Promise<unknown>;

const earned = ({ api, earner }: Stage, die: number) =>
  makeCommission(api, earner, {
    amount: 100 + (die % 3),
    currency: die % 4 ? 'usd' : 'eur',
    occurred_at: `2025-01-0${1 + (die % 5)}T00:00:00Z`,
  });

const joined = ({ api }: Stage, die: number) =>
  makeAffiliate(api, { email: `${unique('abc'[die % 3] ?? '')}@example.com` });

/** Lists that grow while they are read, and how to add a row. A new row does not move the others. */
const GROWING: Readonly<Record<string, Make>> = {
  [AFFILIATES]: joined,
  [COMMISSIONS]: earned,
  [REFUNDS]: async (stage, die) => {
    const { id } = await earned(stage, die);
    return stage.api.post(`${COMMISSIONS}/${id}/refund`, {
      external_id: unique('refund'),
      amount: 1 + (die % 3),
    });
  },
  [PROGRAMS]: ({ api }, die) => api.post(PROGRAMS, { name: unique('abc'[die % 3] ?? '') }),
  [ENDPOINTS]: ({ api }) => makeEndpoint(api, { event_types: ['none.*'] }),
  [EVENTS]: ({ api }, die) => api.post(EVENTS, { type: die % 2 ? 'order.created' : 'order.paid', data: {} }),
  [EVENT_LOG]: ({ api }, die) =>
    api.post(EVENTS, { type: die % 2 ? 'order.created' : 'order.paid', data: {} }),
};

/** New commissions move affiliates, so only existing affiliates have any. */
const AT_FIRST: Readonly<Record<string, Make>> = {
  [AFFILIATES]: async (stage, die) => earned({ ...stage, earner: (await joined(stage, die)).id }, die),
};

const SORTED = Object.keys(GROWING).flatMap((path) => {
  const list = OPERATIONS.find((operation) => operation.method === 'GET' && operation.path === path);
  const sorts = list?.parameters.find(({ name }) => name === 'sort')?.schema.enum as string[] | undefined;
  if (sorts === undefined) throw new Error(`the description has no list at ${path}`);
  return sorts.map((sort) => ({ path, sort }));
});

const reading = fc.record({
  list: fc.constantFrom(...SORTED),
  perPage: fc.integer({ min: 1, max: 4 }),
  before: fc.array(fc.nat(59), { minLength: 1, maxLength: 12 }),
  /** What is added, and whether sums are folded, while each page is read. */
  meanwhile: fc.array(fc.record({ dice: fc.array(fc.nat(59), { maxLength: 2 }), folds: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  }),
});
type Reading = typeof reading extends fc.Arbitrary<infer Value> ? Value : never;

const keyOf = (row: Json): string => `${row.id} ${row.webhook_endpoint_id ?? ''}`;

/** The keys of a list by its cursors; `during` runs with the request for each page. */
async function walk(
  { api }: Stage,
  { path, sort, perPage }: { path: string; sort: string; perPage: number },
  during: () => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const keys: string[] = [];
  let after: string | null = null;
  do {
    const place: Record<string, string> = after === null ? { sort } : { after };
    const query = new URLSearchParams({ ...place, per_page: String(perPage) });
    const [{ status, body, text }] = await Promise.all([api.get(`${path}?${query}`), during()]);
    expect(status, text).toBe(200);
    keys.push(...body.data.map(keyOf));
    after = body.pagination.next;
  } while (after !== null);
  return keys;
}

async function check(stage: Stage, { list, perPage, before, meanwhile }: Reading): Promise<void> {
  const { path, sort } = list;
  const make = GROWING[path] as Make;
  const makeFirst = AT_FIRST[path] ?? make;
  for (const die of before) await makeFirst(stage, die);
  const wholeBy = async (order: string) => (await allOf(stage.api, `${path}?sort=${order}`)).map(keyOf);
  const known = await wholeBy(sort);
  const left = [...meanwhile];
  const seen = await walk(stage, { path, sort, perPage }, async () => {
    const { dice, folds } = left.shift() ?? { dice: [], folds: false };
    for (const die of dice) await make(stage, die);
    if (folds) await keepHouse(stage.world, 'affiliate balances');
  });
  expect(seen.length, 'no row twice').toBe(new Set(seen).size);
  const old = new Set(known);
  expect(seen.filter((key) => old.has(key))).toEqual(known);
  const whole = await wholeBy(sort);
  const met = new Set(seen);
  expect(whole.filter((key) => met.has(key))).toEqual(seen);

  const back = sort.startsWith('-') ? sort.slice(1) : `-${sort}`;
  expect(await walk(stage, { path, sort, perPage })).toEqual(whole);
  expect(await walk(stage, { path, sort: back, perPage })).toEqual(whole.toReversed());
}

test('in any order, a list by its cursors has each row once, forwards and backwards, while rows are added', async () => {
  const read = new Set<string>();
  await expectProperty({
    ...{ name: 'the order of lists', cases: rounds(2, 3), clients: CLIENTS },
    arbitrary: fc.array(reading, { minLength: 1, maxLength: 3 }),
    async check(readings, { client }) {
      const world = worlds[client] as World;
      const api = await world.otherAccount(unique('case'));
      for (let index = 0; index < 2; index += 1) await makeEndpoint(api, { event_types: ['order.*'] });
      const { id } = await makeAffiliate(api);
      for (const reading of readings) {
        read.add(reading.list.path);
        await check({ world, api, earner: id }, reading);
      }
    },
  });
  // the cases of a long run reach everything
  if (!isLong) return;
  expect(Object.keys(GROWING).filter((path) => !read.has(path))).toEqual([]);
});
