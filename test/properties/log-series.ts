import fc from 'fast-check';
import { expect } from 'vitest';
import { DAY, floor, HOUR, MINUTE, moment, type Row, type Stage, timeOf } from './log-model.ts';

/** Zones of whole and of half hours, one with clock changes. */
export const ZONES = ['UTC', 'Asia/Kolkata', 'America/New_York'] as const;
const LENGTHS = { minute: MINUTE, hour: HOUR, day: DAY } as const;
const MOST_OFF = 0.09;

/** A requested series: it begins somewhere in the history. */
export const seriesQuestion = fc.record({
  interval: fc.constantFrom('minute' as const, 'hour', 'day'),
  /** The index of an endpoint; null = all of them. */
  endpoint: fc.option(fc.nat(2), { freq: 1 }),
  at: moment,
  more: fc.nat(60),
});
export type SeriesQuestion = typeof seriesQuestion extends fc.Arbitrary<infer Value> ? Value : never;

interface Attempt {
  readonly endpoint: string;
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
}

/** Durations that are reported as one: each alone up to 11 ms, then spans of which each is 18 % longer. */
const SPANS: { shortest: number; longest: number }[] = Array.from({ length: 12 }, (_, ms) => ({
  shortest: ms,
  longest: ms,
}));
for (let edge = 12; SPANS.length < 64; edge *= 1.18)
  SPANS.push({ shortest: Math.ceil(edge), longest: Math.ceil(edge * 1.18) - 1 });

function roundedTo(ms: number): number {
  const span = SPANS.find(({ longest }) => ms <= longest) ?? SPANS.at(-1) ?? { shortest: 0, longest: 0 };
  const rounded = Math.round(Math.sqrt(span.shortest * span.longest));
  if (ms <= 65_000) expect(Math.abs(rounded - ms), `${ms} ms`).toBeLessThanOrEqual(ms * MOST_OFF);
  return rounded;
}

/** The counts of some rows and attempts. */
function countOf(rows: readonly Row[], attempts: readonly Attempt[]) {
  const durations = attempts.map(({ ms }) => ms).sort((a, b) => a - b);
  const percentile = (share: number) => {
    const ms = durations[Math.ceil(durations.length * share) - 1];
    return ms === undefined ? null : roundedTo(ms);
  };
  const answered = (first: number) =>
    attempts.filter(({ status }) => Math.floor((status ?? 0) / 100) === first);
  return {
    published: rows.length,
    delivered: rows.filter(({ status }) => status === 'delivered').length,
    failed: rows.filter(({ status }) => status === 'failed').length,
    cancelled: rows.filter(({ status }) => status === 'cancelled').length,
    attempts: attempts.length,
    p50_ms: percentile(0.5),
    p95_ms: percentile(0.95),
    p99_ms: percentile(0.99),
    answers: {
      '2xx': answered(2).length,
      '3xx': answered(3).length,
      '4xx': answered(4).length,
      '5xx': answered(5).length,
      none: answered(0).length,
    },
  };
}

const attemptsOf = ({ world, account }: Stage) =>
  world.query<Attempt>(
    `select public_id('we', endpoint_id) as endpoint, round(extract(epoch from started_at) * 1000)::float8 as at,
       duration_ms as ms, response_status as status from attempts where account_id = $1`,
    [account],
  );

/** Requests series, and counts the rows and attempts of each interval one by one. */
export async function checkSeries(
  stage: Stage,
  rows: readonly Row[],
  questions: readonly SeriesQuestion[],
): Promise<void> {
  const attempts = await attemptsOf(stage);
  await Promise.all(questions.map((question) => check(stage, { rows, attempts }, question)));
}

async function check(
  { api, endpoints, zone }: Stage,
  { rows, attempts }: { rows: readonly Row[]; attempts: readonly Attempt[] },
  { interval, endpoint, at, more }: SeriesQuestion,
): Promise<void> {
  const [from, until] = [timeOf(at), timeOf(at) + more * LENGTHS[interval]];
  const query = new URLSearchParams({
    interval,
    from: new Date(from).toISOString(),
    to: new Date(until).toISOString(),
  });
  const id = endpoint === null ? null : (endpoints[endpoint] ?? '');
  if (id !== null) query.set('webhook_endpoint_id', id);
  const { status, body, text } = await api.get(`/v2/analytics/deliveries?${query}`);
  expect(status, text).toBe(200);
  const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
  /** The name of the interval that contains an instant. */
  const nameOf = (ms: number) => (interval === 'day' ? dayIn.format(ms) : floor(ms, LENGTHS[interval]));
  // in steps of half an interval: a day may be an hour short
  const names = Array.from({ length: 2 * more + 1 }, (_, index) =>
    nameOf(from + (index * LENGTHS[interval]) / 2),
  );
  const inScope = ({ endpoint: of }: { endpoint: string }) => id === null || of === id;
  const expected = [...new Set(names)].map((name) => ({
    name,
    ...countOf(
      rows.filter((row) => inScope(row) && nameOf(row.at) === name),
      attempts.filter((attempt) => inScope(attempt) && nameOf(attempt.at) === name),
    ),
  }));
  const counted = body.buckets.map(({ starts_at, ...counts }: { starts_at: string }) => {
    expect(nameOf(Date.parse(starts_at) - 1), 'it begins with the interval').not.toBe(
      nameOf(Date.parse(starts_at)),
    );
    return { name: nameOf(Date.parse(starts_at)), ...counts };
  });
  expect({ [`${query}`]: counted }).toEqual({ [`${query}`]: expected });
  const span = new Set(expected.map(({ name }) => name));
  expect(body.totals).toEqual(
    countOf(
      rows.filter((row) => inScope(row) && span.has(nameOf(row.at))),
      attempts.filter((attempt) => inScope(attempt) && span.has(nameOf(attempt.at))),
    ),
  );
}
