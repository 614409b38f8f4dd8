import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uuidOf } from '../delivery/support.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { WRONG_HISTORY } from '../support/imbalances.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import {
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  PROGRAMS,
} from './fixtures.ts';

const PATH = '/v2/analytics/commissions';

let world: World;
let api: Api;
beforeAll(async () => {
  world = await borrowWorld();
  return () => world.close();
});
beforeEach(async () => {
  api = await world.otherAccount();
});

const seriesOf = async (query: string): Promise<Json> => {
  const answer = await api.get(`${PATH}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
/** The values of the buckets that are not zero, by the first day. */
const nonZero = (buckets: Json[]) =>
  Object.fromEntries(
    buckets
      .map(
        ({ day, starts_at: _, ...facts }) =>
          [day, Object.fromEntries(Object.entries(facts).filter(([, n]) => n))] as const,
      )
      .filter(([, facts]) => Object.keys(facts).length > 0),
  );

describe('commissions over time', () => {
  test('are counted by day of the account, folded or not, across a clock change', async () => {
    await api.patch('/v2/account', { time_zone: 'Asia/Kolkata' });
    const { id } = await makeAffiliate(api);
    // midnight there is 18:30 UTC
    await makeCommission(api, id, { amount: 100, occurred_at: '2026-03-01T18:29:59.999Z' });
    await makeCommission(api, id, { amount: 30, occurred_at: '2026-03-01T18:30:00Z' });
    await makeCommission(api, id, { amount: 7, occurred_at: '2026-03-02T12:00:00Z' });
    await makeCommission(api, id, { amount: 5, currency: 'eur', occurred_at: '2026-03-02T12:00:00Z' });
    for (const when of ['not folded', 'folded']) {
      const body = await seriesOf('interval=day&from=2026-02-28&to=2026-03-04');
      expect(body, when).toMatchObject({
        object: 'commission_analytics',
        ...{ interval: 'day', time_zone: 'Asia/Kolkata', from: '2026-02-28', to: '2026-03-04' },
      });
      expect(body.series.map(({ currency }: Json) => currency)).toEqual(['eur', 'usd']);
      const { buckets } = body.series[1];
      expect(buckets.map(({ starts_at }: Json) => starts_at)).toEqual(
        ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'].map(
          (day) => `${day}T18:30:00.000Z`,
        ),
      );
      expect(nonZero(buckets), when).toEqual({
        '2026-03-01': { earned_amount: 100, earned_count: 1 },
        '2026-03-02': { earned_amount: 37, earned_count: 2 },
      });
      expect(
        nonZero(
          (await seriesOf('interval=week&from=2026-03-02&to=2026-03-03&currency=EUR')).series[0].buckets,
        ),
      ).toEqual({
        '2026-03-02': { earned_amount: 5, earned_count: 1 },
      });
      const months = await seriesOf('from=2026-02-10&to=2026-03-20&currency=usd');
      expect([months.from, months.to]).toEqual(['2026-02-01', '2026-03-31']);
      expect(nonZero(months.series[0].buckets)).toEqual({
        '2026-03-01': { earned_amount: 137, earned_count: 3 },
      });
      await keepHouse(world, 'commission series');
    }
    // one hour more in the last week of October
    await api.patch('/v2/account', { time_zone: 'Europe/Berlin' });
    await makeCommission(api, id, { amount: 9, occurred_at: '2026-10-25T22:59:00Z' });
    const { series } = await seriesOf('interval=day&from=2026-10-25&to=2026-10-26&currency=usd');
    expect(nonZero(series[0].buckets)).toEqual({ '2026-10-25': { earned_amount: 9, earned_count: 1 } });
  });

  test('include refunds, voids, adjustments, payments and returned money; filtered by program, no payments', async () => {
    const { id } = await makeAffiliate(api);
    const program = (await api.post(PROGRAMS, { name: 'Spring' })).body;
    const first = await makeCommission(api, id, { amount: 1000, program_id: program.id });
    const second = await makeCommission(api, id, { amount: 500 });
    const third = await makeCommission(api, id, { amount: 40 });
    const refund = (commission: Json, external_id: string, amount: number) =>
      api.post(`/v2/affiliates/commissions/${commission.id}/refund`, { external_id, amount });
    await refund(first, 'r-1', 100);
    await refund(second, 'r-2', 500);
    await refund(third, 'r-3', 10);
    await api.post(`/v2/affiliates/commissions/${third.id}/void`);
    await api.post('/v2/affiliates/refunds/r-2/reverse');
    await api.post(`/v2/affiliates/${id}/adjustments`, { external_id: 'gift', amount: 25, currency: 'usd' });
    const payout = await completePayout(api, await makePayout(api));
    await api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, { reason: 'closed', amount: 60 });
    await refund(first, 'r-4', 200);
    for (const when of ['not folded', 'folded']) {
      const [bucket] = Object.values(nonZero((await seriesOf('interval=month')).series[0].buckets));
      expect(bucket, when).toEqual({
        ...{ earned_amount: 1540, earned_count: 3, refunded_amount: 310, refunded_count: 3 },
        ...{ voided_amount: 30, voided_count: 1, adjusted_amount: 25, adjusted_count: 1 },
        ...{ paid_amount: 1425, paid_count: 3, returned_amount: 60, returned_count: 1 },
      });
      const { series } = await seriesOf(`interval=month&program_id=${program.id}`);
      expect(Object.values(nonZero(series[0].buckets)), when).toEqual([
        { earned_amount: 1000, earned_count: 1, refunded_amount: 300, refunded_count: 2 },
      ]);
      expect(series[0].buckets[0]).toMatchObject({ paid_amount: null, returned_count: null });
      await keepHouse(world, 'commission series');
    }
    expect(await world.query(WRONG_HISTORY)).toEqual([]);
  });

  test.each([
    ['interval=hour', 'interval'],
    ['from=2026-13-01', 'from'],
    ['to=yesterday', 'to'],
    ['from=2026-03-02&to=2026-03-01&interval=day', 'from'],
    ['from=2000-01-01&interval=day', '400'],
    ['currency=dollars', 'currency'],
    ['program_id=x', 'program_id'],
  ])('refuse %s by name', async (query, part) => {
    expectRefusal(await api.get(`${PATH}?${query}`), 400, 'invalid_query', part);
  });
});

describe('deliveries over time', () => {
  const DELIVERIES = '/v2/analytics/deliveries';
  const NOTHING = {
    ...{
      published: 0,
      delivered: 0,
      failed: 0,
      cancelled: 0,
      attempts: 0,
      p50_ms: null,
      p95_ms: null,
      p99_ms: null,
    },
    answers: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, none: 0 },
  };
  const ask = async (query: string): Promise<Json> => {
    const answer = await api.get(`${DELIVERIES}?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  test('have zeros where nothing happened, and an ETag; the log of a deleted endpoint counts too', async () => {
    const [endpoint, quiet] = [await makeEndpoint(api), await makeEndpoint(api)];
    const account = uuidOf((await api.get('/v2/account')).body.id);
    const at = Date.parse(new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)) + 90 * 60_000;
    const past = (ms: number, status: 'delivered' | 'failed') => ({
      ...{ endpoint: uuidOf(endpoint), event: eventIdAt(ms), status },
    });
    await putIn(world, account, [
      past(at, 'delivered'),
      past(at + 1, 'failed'),
      past(at + 3_600_000, 'delivered'),
    ]);
    const day = new Date(at).toISOString().slice(0, 10);
    const some = { delivered: 1, attempts: 1, p50_ms: 1, p95_ms: 1, p99_ms: 1 };
    for (const when of ['not folded', 'folded']) {
      const body = await ask(`from=${day}&to=${day}`);
      expect(body, when).toMatchObject({
        ...{ object: 'delivery_analytics', interval: 'hour', time_zone: 'UTC', webhook_endpoint_id: null },
        ...{ from: `${day}T00:00:00.000Z`, to: new Date(Date.parse(day) + 86_400_000).toISOString() },
      });
      expect(body.buckets).toHaveLength(24);
      const shown = body.buckets.map(({ starts_at: _, ...counts }: Json) => counts);
      expect(shown.slice(0, 4), when).toEqual([
        NOTHING,
        {
          ...{ ...some, published: 2, failed: 1, cancelled: 0, attempts: 2 },
          answers: { '2xx': 1, '3xx': 0, '4xx': 0, '5xx': 1, none: 0 },
        },
        { ...NOTHING, ...some, published: 1, answers: { ...NOTHING.answers, '2xx': 1 } },
        NOTHING,
      ]);
      expect(body.totals, when).toMatchObject({ published: 3, delivered: 2, failed: 1, attempts: 3 });
      expect((await ask(`from=${day}&to=${day}&webhook_endpoint_id=${quiet}`)).totals).toEqual(NOTHING);
      await keepHouse(world, 'delivery counts');
    }
    await api.delete(`/v2/webhook-endpoints/${endpoint}`);
    const path = `${DELIVERIES}?interval=minute&from=${day}&to=${day}&webhook_endpoint_id=${endpoint}`;
    const answer = await api.get(path);
    expect(answer.body.buckets).toHaveLength(1440);
    expect(answer.body.totals.published).toBe(3);
    const again = await api.get(path, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await world.api.get(path)).body.totals).toEqual(NOTHING);
  });

  test('end now by default', async () => {
    for (const [interval, buckets] of [
      ['minute', 60],
      ['hour', 24],
      ['day', 30],
    ] as const) {
      const before = Date.now();
      const body = await ask(`interval=${interval}`);
      expect(body.buckets).toHaveLength(buckets);
      expect(Date.parse(body.buckets.at(-1).starts_at)).toBeLessThanOrEqual(Date.now());
      expect(Date.parse(body.to)).toBeGreaterThan(before - 60_000);
    }
  });

  test.each([
    ['interval=week', 'interval'],
    ['from=2026-13-01', 'from'],
    ['to=yesterday', 'to'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['interval=minute&from=2026-03-01&to=2026-03-02', '1500 minutes'],
    ['from=2026-03-01&to=2026-04-10', '750 hours'],
    ['interval=day&from=2025-01-01&to=2026-03-01', '400 days'],
    ['webhook_endpoint_id=we_1', 'webhook_endpoint_id'],
  ])('refuse %s by name', async (query, part) => {
    expectRefusal(await api.get(`${DELIVERIES}?${query}`), 400, 'invalid_query', part);
  });
});
