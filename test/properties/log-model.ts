import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { AccountId, EndpointId, EventId } from '../../src/kernel/ids.ts';
import { foldCounts } from '../../src/outbox/counts.ts';
import { discard } from '../../src/outbox/ending.ts';
import { dropOldWeeks } from '../../src/webhooks/engine/retention.ts';
import { type Result, settle } from '../../src/webhooks/engine/settle.ts';
import { uuidOf } from '../delivery/support.ts';
import type { Api } from '../support/api.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import type { World } from '../support/world.ts';

export const ENDPOINTS = '/v2/webhook-endpoints';
export const TYPES = ['order.created', 'order.paid'] as const;
export const [MINUTE, HOUR, DAY, WEEK] = [60_000, 3_600_000, 86_400_000, 604_800_000];
const MONDAY = Date.parse('2001-01-01T00:00:00Z');
const WEEKS_BACK = 6;

/** When a past event happened: most of them together, many at the very edge of a minute, an hour or a week. */
export const moment = fc.record({
  week: fc.nat(WEEKS_BACK),
  edge: fc.constantFrom(MINUTE, HOUR, WEEK),
  place: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 99 }) },
  ),
  ms: fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: 0, max: 59_999 })),
});
export type Moment = typeof moment extends fc.Arbitrary<infer Value> ? Value : never;

const outcome = fc.record({
  end: fc.constantFrom('succeeds' as const, 'fails' as const, 'ends' as const, 'is given up' as const),
  /** For a failed one; null = no response arrived. */
  status: fc.constantFrom(null, 301, 404, 503, 599),
  durationMs: fc.oneof(fc.nat(15), fc.nat(3000), fc.nat(70_000)),
  /** When it began; null = now. */
  at: fc.option(moment, { freq: 1 }),
});
type Outcome = typeof outcome extends fc.Arbitrary<infer Value> ? Value : never;
export const change = fc.oneof(
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
      of: fc.constantFrom('failed', 'delivered', 'pending', 'cancelled'),
      pick: fc.nat(99),
      outcome: fc.option(outcome, { freq: 1 }),
    }),
  },
  // an attempt in flight at a deleted endpoint has failed, though no row says so
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat(2), underWay: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('discard' as const), pick: fc.nat(2), events: fc.nat(9) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('disable' as const, 'enable'), pick: fc.nat(2) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fold' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), days: fc.constantFrom(7, 14, 28) }) },
);
export type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** A row of the log, without any counts. */
export interface Row {
  readonly event: string;
  readonly endpoint: string;
  readonly type: string;
  readonly status: string;
  readonly at: number;
}

export interface Stage {
  readonly world: World;
  readonly api: Api;
  readonly account: string;
  /** The time zone of the account. */
  readonly zone: string;
  readonly endpoints: readonly string[];
}

export const floor = (at: number, unit: number) => at - ((((at - MONDAY) % unit) + unit) % unit);
export const timeOf = ({ week, edge, place, ms }: Moment) =>
  floor(floor(Date.now(), WEEK) - week * WEEK + place * 90 * MINUTE, edge) + ms;

export async function rowsOf({ world, account }: Stage): Promise<Row[]> {
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

/** Rows of the queue, to choose from. */
const queued = ({ world, account }: Stage, condition: string) =>
  world.query<{ event: string; endpoint: string }>(
    `select event_id as event, endpoint_id as endpoint from queue where account_id = $1 and ${condition} order by 1, 2`,
    [account],
  );

/** Leases a row and writes the result of the attempt, as a worker does. */
async function attempt(
  { world, account }: Stage,
  rows: readonly { event: string; endpoint: string; outcome: Outcome }[],
): Promise<void> {
  const results: Result[] = [];
  for (const { event, endpoint, outcome } of rows) {
    const [leased] = await world.query<{ token: string }>(
      `update queue set lease_token = coalesce(lease_token, $3), due_at = now() + interval '1 hour'
       where event_id = $1 and endpoint_id = $2 returning lease_token as token`,
      [event, endpoint, randomUUID()],
    );
    const succeeded = outcome.end === 'succeeds';
    const status = succeeded ? 200 : outcome.status;
    results.push({
      delivery: {
        account: account as AccountId,
        endpoint: endpoint as EndpointId,
        event: event as EventId,
      },
      token: leased?.token ?? '',
      succeeded,
      retryMs: outcome.end === 'fails' ? HOUR : null,
      lost: false,
      cancelled: outcome.end === 'is given up',
      startedAt: new Date(outcome.at === null ? Date.now() : timeOf(outcome.at)).toISOString(),
      durationMs: outcome.durationMs,
      url: 'http://127.0.0.1:9/hook',
      requestHeaders: {},
      responseStatus: status,
      responseHeaders: status === null ? null : {},
      responseBody: status === null ? null : '',
      responseTruncated: false,
      errorCode: succeeded ? null : 'response_error',
      errorMessage: succeeded ? null : 'it failed',
    });
  }
  await world.db.engine((tx) => settle(tx, results));
}

export async function apply(stage: Stage, change: Change): Promise<void> {
  const { world, api, account, endpoints } = stage;
  const { db } = world;
  const path = (at: number) => `${ENDPOINTS}/${endpoints[at]}`;
  switch (change.do) {
    case 'put in': {
      const live = (await Promise.all(endpoints.map((_, at) => api.get(path(at))))).map(
        ({ status }) => status === 200,
      );
      const history = change.events.flatMap(({ at, endpoints: at_, type, status }) => {
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
        change.rows.map(({ pick, outcome }) => [rows[pick % Math.max(1, rows.length)], outcome]),
      );
      return attempt(
        stage,
        [...chosen].flatMap(([row, outcome]) => (row ? { ...row, outcome } : [])),
      );
    }
    case 'retry': {
      const rows = (await rowsOf(stage)).filter(({ status }) => status === change.of);
      const row = rows[change.pick % Math.max(1, rows.length)];
      if (!row) return;
      const { status } = await api.post(`${ENDPOINTS}/${row.endpoint}/events/${row.event}/retry`);
      if (status !== 200 || change.outcome === null) return;
      const picked = { event: uuidOf(row.event), endpoint: uuidOf(row.endpoint) };
      return attempt(stage, [{ ...picked, outcome: change.outcome }]);
    }
    case 'delete':
      if (change.underWay) {
        await world.query(
          "update queue set lease_token = $2, due_at = now() + interval '1 hour' where endpoint_id = $1",
          [uuidOf(endpoints[change.pick] ?? ''), randomUUID()],
        );
      }
      await api.delete(path(change.pick));
      return;
    case 'discard': {
      const endpoint = uuidOf(endpoints[change.pick] ?? '') as EndpointId;
      const rows = (await queued(stage, 'true')).filter((row) => row.endpoint === endpoint);
      const events = rows.slice(0, change.events).map(({ event }) => event as EventId);
      await db.engine((tx) => discard(tx, { account: account as AccountId, endpoint, events }));
      return;
    }
    case 'fold':
      return foldCounts(db);
    case 'drop':
      return dropOldWeeks({ db, log: world.platform.log, days: change.days });
    default:
      await api.patch(path(change.pick), { status: `${change.do}d` });
  }
}
