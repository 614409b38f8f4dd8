import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AccountId, EndpointId, EventId } from '../../src/kernel/ids.ts';
import { foldCounts } from '../../src/outbox/counts.ts';
import { dropOldWeeks } from '../../src/webhooks/engine/retention.ts';
import { type Result, settle } from '../../src/webhooks/engine/settle.ts';
import { uuidOf } from '../delivery/support.ts';
import type { Api } from '../support/api.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { MISCOUNTS } from '../support/imbalances.ts';
import { makeEndpoint } from '../support/seed.ts';
import { startWorld, type World } from '../support/world.ts';

const ENDPOINTS = '/v2/webhook-endpoints';
const STATUSES = ['pending', 'held', 'delivered', 'failed'] as const;
const TYPES = ['order.created', 'order.paid'] as const;
const [MINUTE, HOUR, DAY, WEEK] = [60_000, 3_600_000, 86_400_000, 604_800_000];
const MONDAY = Date.parse('2001-01-01T00:00:00Z');
const WEEKS_BACK = 6;
// FC_SEED and FC_PATH repeat a failure, FC_RUNS asks for more; without FC_RUNS the time is bounded
const RUNS = Number(process.env.FC_RUNS ?? 0);
const BUDGET_MS = 20_000;
const SHRINKING_MS = 45_000;

/** When an event of the past happened: most of them together, many at the very edge of a minute, an hour or a week. */
const moment = fc.record({
  week: fc.nat(WEEKS_BACK),
  edge: fc.constantFrom(MINUTE, HOUR, WEEK),
  place: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 99 }) },
  ),
  ms: fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: 0, max: 59_999 })),
});
type Moment = typeof moment extends fc.Arbitrary<infer Value> ? Value : never;

const outcome = fc.constantFrom('succeeds' as const, 'fails' as const, 'ends' as const);
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put in' as const),
      events: fc.array(
        fc.record({
          at: moment,
          endpoints: fc.subarray([0, 1, 2], { minLength: 1 }),
          type: fc.constantFrom(...TYPES),
          status: fc.constantFrom(
            'pending' as const,
            'pending' as const,
            'delivered' as const,
            'failed' as const,
          ),
        }),
        { minLength: 1, maxLength: 12 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      rows: fc.array(fc.record({ pick: fc.nat(99), outcome }), { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      of: fc.constantFrom('failed', 'delivered', 'pending'),
      pick: fc.nat(99),
      outcome: fc.option(outcome, { freq: 1 }),
    }),
  },
  // what is under way at a deleted endpoint has failed, though no row says so
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat(2), underWay: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('disable' as const, 'enable'), pick: fc.nat(2) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fold' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), days: fc.constantFrom(7, 14, 28) }) },
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

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

/** A row of the log, counted by nobody. */
interface Row {
  readonly event: string;
  readonly endpoint: string;
  readonly type: string;
  readonly status: string;
  readonly at: number;
}

interface Stage {
  readonly world: World;
  readonly api: Api;
  readonly account: string;
  readonly endpoints: readonly string[];
}

// several clients, each with a world of its own; a failure is repeated by one
const CLIENTS = process.env.FC_SEED ? 1 : 3;
const worlds: World[] = [];
beforeAll(async () => {
  for (let client = 0; client < CLIENTS; client++) worlds.push(await startWorld());
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

const floor = (at: number, unit: number) => at - ((((at - MONDAY) % unit) + unit) % unit);
const timeOf = ({ week, edge, place, ms }: Moment) =>
  floor(floor(Date.now(), WEEK) - week * WEEK + place * 90 * MINUTE, edge) + ms;

async function rowsOf({ world, account }: Stage): Promise<Row[]> {
  return world.query<Row>(
    `select public_id('evt', event_id) as event, public_id('we', endpoint_id) as endpoint, type,
       case when status <> 'pending' then status when e.deleted_at is not null then 'failed'
            when e.disabled_at is not null then 'held' else 'pending' end as status,
       round(extract(epoch from id_time(event_id)) * 1000)::float8 as at
     from deliveries d join webhook_endpoints e on e.id = d.endpoint_id
     where d.account_id = $1 order by event_id, endpoint_id`,
    [account],
  );
}

/** Rows of the queue, to be picked from. */
const queued = ({ world, account }: Stage, condition: string) =>
  world.query<{ event: string; endpoint: string }>(
    `select event_id as event, endpoint_id as endpoint from queue where account_id = $1 and ${condition} order by 1, 2`,
    [account],
  );

/** Leases a row and writes what came of the attempt, as a worker does. */
async function attempt(
  { world, account }: Stage,
  rows: readonly { event: string; endpoint: string; outcome: 'succeeds' | 'fails' | 'ends' }[],
): Promise<void> {
  const results: Result[] = [];
  for (const { event, endpoint, outcome } of rows) {
    const [leased] = await world.query<{ token: string }>(
      `update queue set lease_token = coalesce(lease_token, new_id()), due_at = now() + interval '1 hour'
       where event_id = $1 and endpoint_id = $2 returning lease_token as token`,
      [event, endpoint],
    );
    const succeeded = outcome === 'succeeds';
    results.push({
      delivery: {
        account: account as AccountId,
        endpoint: endpoint as EndpointId,
        event: event as EventId,
      },
      token: leased?.token ?? '',
      succeeded,
      retryMs: outcome === 'fails' ? HOUR : null,
      released: false,
      startedAt: new Date().toISOString(),
      durationMs: 1,
      url: 'http://127.0.0.1:9/hook',
      requestHeaders: {},
      responseStatus: succeeded ? 200 : 500,
      responseHeaders: {},
      responseBody: '',
      responseTruncated: false,
      errorCode: succeeded ? null : 'response_error',
      errorMessage: succeeded ? null : 'HTTP 500',
    });
  }
  await world.platform.db.engine((tx) => settle(tx, results));
}

async function apply(stage: Stage, asked: Change): Promise<void> {
  const { world, api, account, endpoints } = stage;
  const { db } = world.platform;
  const path = (at: number) => `${ENDPOINTS}/${endpoints[at]}`;
  switch (asked.do) {
    case 'put in': {
      const live = (await Promise.all(endpoints.map((_, at) => api.get(path(at))))).map(
        ({ status }) => status === 200,
      );
      const history = asked.events.flatMap(({ at, endpoints: at_, type, status }) => {
        const event = eventIdAt(timeOf(at));
        return at_
          .filter((index) => live[index])
          .map((index) => ({ endpoint: uuidOf(endpoints[index] ?? ''), type, status, event }));
      });
      return putIn(world, account, history);
    }
    case 'settle': {
      const rows = await queued(stage, 'true');
      const chosen = new Map(
        asked.rows.map(({ pick, outcome }) => [rows[pick % Math.max(1, rows.length)], outcome]),
      );
      return attempt(
        stage,
        [...chosen].flatMap(([row, outcome]) => (row ? { ...row, outcome } : [])),
      );
    }
    case 'retry': {
      const rows = (await rowsOf(stage)).filter(({ status }) => status === asked.of);
      const row = rows[asked.pick % Math.max(1, rows.length)];
      if (!row) return;
      const { status } = await api.post(`${ENDPOINTS}/${row.endpoint}/events/${row.event}/retry`);
      if (status !== 200 || asked.outcome === null) return;
      const picked = { event: uuidOf(row.event), endpoint: uuidOf(row.endpoint) };
      return attempt(stage, [{ ...picked, outcome: asked.outcome }]);
    }
    case 'delete':
      if (asked.underWay) {
        await world.query(
          "update queue set lease_token = new_id(), due_at = now() + interval '1 hour' where endpoint_id = $1",
          [uuidOf(endpoints[asked.pick] ?? '')],
        );
      }
      await api.delete(path(asked.pick));
      return;
    case 'fold':
      return foldCounts(db);
    case 'drop':
      return dropOldWeeks({ db, log: world.platform.log, days: asked.days });
    default:
      await api.patch(path(asked.pick), { status: `${asked.do}d` });
  }
}

function expected(rows: readonly Row[], { endpoints }: Stage, asked: Question): Row[] {
  const within = asked.bounds.map(({ operator, at, unit }) => {
    const edge = floor(timeOf(at), unit);
    return ({ at: created }: Row) =>
      ({ gte: created >= edge, gt: created > edge, lte: created <= edge, lt: created < edge })[operator];
  });
  const found = rows.filter(
    (row) =>
      (asked.scope === 'account' || row.endpoint === endpoints[asked.endpoint]) &&
      (asked.status === null || row.status === asked.status) &&
      (asked.type === null || row.type === asked.type) &&
      within.every((holds) => holds(row)),
  );
  return asked.sort.startsWith('-') ? found.toReversed() : found;
}

/** Asks for every page, or for some of many, and past the end. */
async function check(stage: Stage, rows: readonly Row[], asked: Question): Promise<void> {
  const { api, endpoints } = stage;
  const all = expected(rows, stage, asked);
  const pages = Math.ceil(all.length / asked.perPage);
  const numbers = pages < 6 ? [...Array(pages + 1).keys()] : [0, 1, Math.floor(pages / 2), pages - 1, pages];
  const endpoint = endpoints[asked.endpoint] ?? '';
  /** A page by its number, then the one behind it by its cursor. */
  const askPage = async (page: number, after?: string) => {
    const place = after === undefined ? { page: String(page + 1) } : { after };
    const query = new URLSearchParams({ sort: asked.sort, per_page: String(asked.perPage), ...place });
    if (asked.status) query.set('status', asked.status);
    if (asked.type) query.set('type', asked.type);
    if (asked.scope === 'filter') query.set('webhook_endpoint_id', endpoint);
    for (const { operator, at, unit } of asked.bounds) {
      query.set(`created_at[${operator}]`, new Date(floor(timeOf(at), unit)).toISOString());
    }
    const path = asked.scope === 'endpoint' ? `${ENDPOINTS}/${endpoint}/events` : '/v2/webhook-events/';
    const { status, text, body } = await api.get(`${path}?${query}`);
    expect(status, text).toBe(200);
    const got = body.data.map((row: Record<string, unknown>) => [
      row.id,
      row.webhook_endpoint_id,
      row.status,
      row.type,
    ]);
    const slice = all.slice(page * asked.perPage, (page + 1) * asked.perPage);
    expect({ [`${path}?${query}`]: [body.pagination, got] }).toEqual({
      [`${path}?${query}`]: [
        {
          page: page + 1,
          limit: asked.perPage,
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

async function checkAll(stage: Stage, questions: readonly Question[]): Promise<void> {
  const rows = await rowsOf(stage);
  await Promise.all([...EVERY_STATUS, ...questions].map((asked) => check(stage, rows, asked)));
}

test('whatever happens to the log, every page and every total of every list is what counting the rows gives', async () => {
  let done = 0;
  let failed = false;
  let deadline = RUNS ? Number.POSITIVE_INFINITY : performance.now() + BUDGET_MS;
  const questions = fc.array(question, { minLength: 1, maxLength: 4 });
  const steps = fc.array(fc.tuple(change, questions), { minLength: 4, maxLength: 10 });
  const runOnce = async (world: World, list: readonly (readonly [Change, Question[]])[]) => {
    done += 1;
    const api = await world.otherAccount(`run ${done}`);
    const endpoints = await Promise.all([0, 1, 2].map(() => makeEndpoint(api)));
    const stage = { world, api, account: uuidOf((await api.get('/v2/account')).body.id), endpoints };
    await apply(stage, { do: 'put in', events: [] });
    for (const [asked, about] of list) {
      await apply(stage, asked);
      await checkAll(stage, about);
    }
    expect(await world.query(MISCOUNTS)).toEqual([]);
  };
  const propertyIn = (world: World) =>
    fc.asyncProperty(steps, async (list) => {
      if (performance.now() > deadline) return;
      try {
        await runOnce(world, list);
      } catch (error) {
        if (!failed) deadline = performance.now() + SHRINKING_MS;
        failed = true;
        throw error;
      } finally {
        await world.query('update queue set lease_token = null');
      }
    });
  const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
  await Promise.all(
    worlds.map((world, client) =>
      fc.assert(propertyIn(world), {
        numRuns: RUNS || 1000,
        seed: seed + client,
        ...(process.env.FC_PATH ? { path: process.env.FC_PATH } : {}),
      }),
    ),
  );
  expect(done).toBeGreaterThan(2);
});
