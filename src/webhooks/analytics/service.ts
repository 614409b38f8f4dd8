import { readNow } from '../../db/clock.ts';
import type { Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, uuidOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { floorTo } from '../../kernel/spans.ts';
import { formatInstant, INSTANT_OR_DAY_RULE, parseDay, parseInstantOrDay } from '../../kernel/time.ts';
import { dayOf, dayStart } from '../../kernel/zones.ts';
import { readDeliverySeries } from '../../outbox/series.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { endpointsOf, failedAtDeleted } from '../log/list.ts';
import { summarize } from './histogram.ts';
import type { DeliveryAnalytics, DeliverySums, Interval } from './record.ts';

const DAY_MS = 86_400_000;
const LENGTHS_MS = { minute: 60_000, hour: 3_600_000, day: DAY_MS } as const;
/** The maximum number of intervals: a day, a month and a year, plus some. */
const MOST = { minute: 1500, hour: 750, day: 400 } as const;
/** The default number of intervals. */
const USUAL = { minute: 60, hour: 24, day: 30 } as const;

const refuse = (message: string) => fail('invalid_query', message);

export interface SeriesQuery {
  readonly interval?: Interval;
  readonly from?: string;
  readonly to?: string;
  readonly webhook_endpoint_id?: string;
  readonly owner?: string;
}

/** Events published, delivered and attempted by minute, hour or day, for all endpoints, one, or those of an owner. Throws `invalid_query`. */
export async function getDeliveryAnalytics(
  db: Reader,
  account: AccountId,
  query: SeriesQuery,
): Promise<Json<DeliveryAnalytics>> {
  const { interval = 'hour', webhook_endpoint_id: id, owner } = query;
  const zone = await zoneOf(db, account);
  const edges = edgesOf(interval, query, { zone, now: await readNow(db) });
  const endpoint = id === undefined ? undefined : uuidOf('we', id);
  if (endpoint === null) throw refuse('webhook_endpoint_id must be an id that begins with we_');
  const scope = {
    account,
    endpoint: owner === undefined ? endpoint : await endpointsOf(db, account, { owner, only: endpoint }),
  };
  const series = await readDeliverySeries(db, { ...scope, edges, uncounted: failedAtDeleted(scope) });
  const sums = new Map(series.map((sum) => [sum.bucket, sum]));
  const buckets = edges.slice(0, -1).map((at, index) => {
    const sum = sums.get(index);
    return { starts_at: formatInstant(at), ...sumOf(sum ? [sum] : []) };
  });
  const analytics: DeliveryAnalytics = {
    object: 'delivery_analytics',
    interval,
    time_zone: zone,
    from: formatInstant(edges[0] ?? 0),
    to: formatInstant(edges.at(-1) ?? 0),
    webhook_endpoint_id: endpoint === undefined ? null : idOf('we', endpoint),
    owner: owner ?? null,
    buckets,
    totals: sumOf(series),
  };
  return toJson(analytics);
}

type DeliverySum = Awaited<ReturnType<typeof readDeliverySeries>>[number];

function sumOf(sums: readonly DeliverySum[]): DeliverySums {
  const add = (field: 'published' | 'delivered' | 'failed' | 'cancelled') =>
    sums.reduce((all, { [field]: n }) => all + n, 0);
  const counts = new Map<number, number>();
  for (const { attempts } of sums) {
    for (const [code, n] of Object.entries(attempts))
      counts.set(Number(code), (counts.get(Number(code)) ?? 0) + n);
  }
  return {
    published: add('published'),
    delivered: add('delivered'),
    failed: add('failed'),
    cancelled: add('cancelled'),
    ...summarize(counts),
  };
}

/** The beginnings of the requested intervals, and the end of the last. Throws `invalid_query`. */
function edgesOf(
  interval: Interval,
  { from, to }: SeriesQuery,
  { zone, now }: { zone: string; now: number },
): number[] {
  const read = (name: string, text: string) => {
    const span = parseInstantOrDay(text, zone);
    if (span === null) throw refuse(`${name} must be ${INSTANT_OR_DAY_RULE}`);
    return span;
  };
  // days are counted as UTC midnights, minutes and hours as instants
  const place = (ms: number) =>
    interval === 'day' ? (parseDay(dayOf(ms, zone)) ?? 0) : floorTo(LENGTHS_MS[interval], ms);
  const step = LENGTHS_MS[interval];
  const last = place(to === undefined ? now : read('to', to).until - 1);
  const first = from === undefined ? last - (USUAL[interval] - 1) * step : place(read('from', from).from);
  if (first > last) throw refuse('from must not be after to, which defaults to now');
  const count = (last - first) / step + 1;
  if (count > MOST[interval]) {
    const rest =
      interval === 'day' ? 'use a shorter period' : `use ${interval === 'minute' ? 'hours' : 'days'}`;
    throw refuse(`from and to must be at most ${MOST[interval]} ${interval}s apart: ${rest}`);
  }
  const places = Array.from({ length: count + 1 }, (_, index) => first + index * step);
  if (interval !== 'day') return places;
  // a day that a time zone skips has no length
  return [...new Set(places.map((day) => floorTo(LENGTHS_MS.minute, dayStart(day, zone))))];
}
