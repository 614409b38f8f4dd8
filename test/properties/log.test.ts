import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unique } from '../api/fixtures.ts';
import { uuidOf } from '../delivery/support.ts';
import { isLong, rounds } from '../support/depth.ts';
import { MISCOUNTS } from '../support/imbalances.ts';
import { borrowWorld } from '../support/pool.ts';
import { expectProperty } from '../support/properties.ts';
import { makeEndpoint } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import {
  apply,
  type Change,
  change,
  DAY,
  ENDPOINTS,
  floor,
  HOUR,
  MINUTE,
  moment,
  type Row,
  rowsOf,
  type Stage,
  TYPES,
  timeOf,
  WEEK,
} from './log-model.ts';
import { checkSeries, type SeriesQuestion, seriesQuestion, ZONES } from './log-series.ts';

const STATUSES = ['pending', 'held', 'delivered', 'failed', 'cancelled'] as const;

const bound = fc.record({
  operator: fc.constantFrom('gte', 'gt', 'lte', 'lt'),
  at: moment,
  unit: fc.constantFrom(1, 1, MINUTE, HOUR, DAY, WEEK),
});
type Bound = typeof bound extends fc.Arbitrary<infer Value> ? Value : never;
const question = fc.record({
  scope: fc.constantFrom('account' as const, 'account', 'filter', 'endpoint'),
  endpoint: fc.nat(2),
  status: fc.option(fc.constantFrom(...STATUSES)),
  type: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
  ),
  bounds: fc.oneof(
    { weight: 2, arbitrary: fc.constant<Bound[]>([]) },
    { weight: 1, arbitrary: fc.uniqueArray(bound, { maxLength: 2, selector: ({ operator }) => operator }) },
  ),
  sort: fc.constantFrom('id', '-id', 'created_at', '-created_at'),
  perPage: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(100)),
});
type Question = typeof question extends fc.Arbitrary<infer Value> ? Value : never;

// several clients, each with its own world
const CLIENTS = 2;
const worlds: World[] = [];
beforeAll(async () => {
  for (let client = 0; client < CLIENTS; client++) worlds.push(await borrowWorld());
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

function expected(rows: readonly Row[], { endpoints }: Stage, question: Question): Row[] {
  const within = question.bounds.map(({ operator, at, unit }) => {
    const edge = floor(timeOf(at), unit);
    return ({ at: created }: Row) =>
      ({ gte: created >= edge, gt: created > edge, lte: created <= edge, lt: created < edge })[operator];
  });
  const found = rows.filter(
    (row) =>
      (question.scope === 'account' || row.endpoint === endpoints[question.endpoint]) &&
      (question.status === null || row.status === question.status) &&
      (question.type === null || row.type === question.type) &&
      within.every((holds) => holds(row)),
  );
  return question.sort.startsWith('-') ? found.toReversed() : found;
}

/** Requests every page, or some of many, and one past the end. */
async function check(stage: Stage, rows: readonly Row[], question: Question): Promise<void> {
  const { api, endpoints } = stage;
  const all = expected(rows, stage, question);
  const pages = Math.ceil(all.length / question.perPage);
  const numbers = pages < 6 ? [...Array(pages + 1).keys()] : [0, 1, Math.floor(pages / 2), pages - 1, pages];
  const endpoint = endpoints[question.endpoint] ?? '';
  /** A page by its number, then the next one by its cursor. */
  const askPage = async (page: number, after?: string) => {
    const place = after === undefined ? { page: String(page + 1) } : { after };
    const query = new URLSearchParams({ sort: question.sort, per_page: String(question.perPage), ...place });
    if (question.status) query.set('status', question.status);
    if (question.type) query.set('type', question.type);
    if (question.scope === 'filter') query.set('webhook_endpoint_id', endpoint);
    for (const { operator, at, unit } of question.bounds) {
      query.set(`created_at[${operator}]`, new Date(floor(timeOf(at), unit)).toISOString());
    }
    const path = question.scope === 'endpoint' ? `${ENDPOINTS}/${endpoint}/events` : '/v2/webhook-events/';
    const { status, text, body } = await api.get(`${path}?${query}`);
    expect(status, text).toBe(200);
    const got = body.data.map((row: Record<string, unknown>) => [
      row.id,
      row.webhook_endpoint_id,
      row.status,
      row.type,
    ]);
    const slice = all.slice(page * question.perPage, (page + 1) * question.perPage);
    expect({ [`${path}?${query}`]: [body.pagination, got] }).toEqual({
      [`${path}?${query}`]: [
        {
          page: page + 1,
          limit: question.perPage,
          total: all.length,
          pages,
          next: page + 1 < pages ? expect.any(String) : null,
        },
        slice.map((row) => [row.event, row.endpoint, row.status, row.type]),
      ],
    });
    const { next } = body.pagination;
    if (after === undefined && next !== null) await askPage(page + 1, next);
  };
  await Promise.all(numbers.map((page) => askPage(page)));
}

/** Each status of the whole log. */
const EVERY_STATUS: readonly Question[] = [null, ...STATUSES].map((status) => ({
  ...{ scope: 'account', endpoint: 0, status, type: null, bounds: [], sort: '-id', perPage: 100 },
}));

interface Questions {
  readonly pages: readonly Question[];
  readonly series: readonly SeriesQuestion[];
}

async function checkAll(stage: Stage, { pages, series }: Questions): Promise<void> {
  const rows = await rowsOf(stage);
  await Promise.all([...EVERY_STATUS, ...pages].map((question) => check(stage, rows, question)));
  await checkSeries(stage, rows, series);
}

const questions = fc.record({
  pages: fc.array(question, { minLength: 1, maxLength: 4 }),
  series: fc.array(seriesQuestion, { minLength: 1, maxLength: 3 }),
});
const story = fc.record({
  zone: fc.constantFrom(...ZONES),
  steps: fc.array(fc.tuple(change, questions), { minLength: 4, maxLength: 10 }),
});
type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

async function play(world: World, { zone, steps }: Story): Promise<void> {
  const api = await world.otherAccount(unique('case'));
  const endpoints = await Promise.all([0, 1, 2].map(() => makeEndpoint(api)));
  const { body } = await api.patch('/v2/account', { time_zone: zone });
  const stage = { world, api, account: uuidOf(body.id), zone, endpoints };
  try {
    await apply(stage, { do: 'put in', events: [] });
    for (const [change, about] of steps) {
      await apply(stage, change);
      await checkAll(stage, about);
    }
    expect(await world.query(MISCOUNTS)).toEqual([]);
  } finally {
    await world.query('update queue set lease_token = null');
  }
}

test('whatever happens to the log, every page, total and series equals a count of the rows', async () => {
  const done = new Set<string>();
  await expectProperty({
    ...{ name: 'the log', arbitrary: story, cases: rounds(1, 3), clients: CLIENTS },
    async check(story, { client }) {
      for (const [{ do: what }] of story.steps) done.add(what);
      await play(worlds[client] as World, story);
    },
  });
  // the cases of a long run reach everything
  if (!isLong) return;
  const changes: Change['do'][] = [
    'put in',
    'settle',
    'retry',
    'delete',
    'discard',
    'disable',
    'enable',
    'fold',
    'drop',
  ];
  expect(changes.filter((each) => !done.has(each))).toEqual([]);
});
