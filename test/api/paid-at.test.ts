import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  ENDPOINTS,
  EVENT_LOG,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test, with an affiliate that PayPal pays. */
const api = useAccount(world);
let affiliate: number;
beforeEach(async () => {
  affiliate = (await makeAffiliate(api, { paypal_email: 'pay@example.com' })).id;
});

const DAY_MS = 86_400_000;
const at = (instant: string, ms: number) => new Date(Date.parse(instant) + ms).toISOString();
const dayOf = (instant: string, zone: string) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date(instant));

/** An unpaid payout, created this many days ago: its id contains the time. */
async function payoutOf(daysAgo: number): Promise<Json> {
  await makeCommission(api, affiliate);
  const { id, created_at } = await makePayout(api);
  const made = at(created_at, -daysAgo * DAY_MS);
  await world.query('begin');
  await world.query('set local session_replication_role = replica');
  for (const [table, column] of [
    ['payouts', 'id'],
    ['payout_lines', 'payout_id'],
    ['payout_line_totals', 'payout_id'],
    ['commissions', 'payout_id'],
  ]) {
    await world.query(
      `update ${table} set ${column} = (substr(id_floor($2::timestamptz)::text, 1, 13) || substr(${column}::text, 14))::uuid
       where public_id('po', ${column}) = $1`,
      [id, made],
    );
  }
  await world.query('commit');
  return (await api.get(`${PAYOUTS}/current`)).body;
}

const complete = (payout: Json, fields: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  api.put(
    `${PAYOUTS}/${payout.id}`,
    { commissions: [{ affiliate_id: affiliate, is_paid: true }], ...fields },
    headers,
  );

async function paidAt(payout: Json, paid_at: string): Promise<string> {
  const done = await complete(payout, { paid_at });
  expect(done.status, done.text).toBe(200);
  return done.body.paid_at;
}

describe('the time of payment of a payout', () => {
  test('is that of its completion, unless Complete gives another instant, to the millisecond', async () => {
    const first = await payoutOf(0);
    const done = await complete(first);
    expect(Date.parse(done.body.paid_at)).toBeGreaterThanOrEqual(Date.parse(first.created_at));
    const second = await payoutOf(10);
    const instant = at(second.created_at, 3 * DAY_MS + 1);
    expect(await paidAt(second, instant)).toBe(instant);
  });

  test('may have another offset, and equal the moment of creation', async () => {
    const payout = await payoutOf(2);
    const made = Date.parse(payout.created_at);
    const local = `${new Date(made + 5.5 * 3_600_000).toISOString().slice(0, -1)}+05:30`;
    expect(await paidAt(payout, local)).toBe(payout.created_at);
  });

  test.each(someOf(['Pacific/Kiritimati', 'UTC', 'America/Los_Angeles'], 1))(
    'may be a day, which means its midnight in %s, or the moment of creation on that day',
    async (time_zone) => {
      await api.patch('/v2/account', { time_zone });
      const payout = await payoutOf(10);
      const day = dayOf(at(payout.created_at, 4 * DAY_MS), time_zone);
      const paid = await paidAt(payout, day);
      expect([dayOf(paid, time_zone), dayOf(at(paid, -1), time_zone) < day]).toEqual([day, true]);
      const other = await payoutOf(10);
      expect(await paidAt(other, dayOf(other.created_at, time_zone))).toBe(other.created_at);
    },
  );

  test('may be today, in any zone', async () => {
    for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      await api.patch('/v2/account', { time_zone });
      const payout = await payoutOf(0);
      expect(await paidAt(payout, dayOf(payout.created_at, time_zone))).toBe(payout.created_at);
    }
  });

  const wrong = ['2026-02-30', '2026-13-01', '2026-09-30 15:00', 'yesterday', '1969-12-31', '', null, 5, {}];
  test.each(someOf(wrong, 4))('%j is refused by the field and its rule', async (paid_at) => {
    const payout = await payoutOf(0);
    await nothingChanges(world, async () =>
      expectRefusal(await complete(payout, { paid_at }), 400, 'invalid_body', 'paid_at'),
    );
  });

  test('is not before the creation, and not in the future', async () => {
    const zone = 'Pacific/Kiritimati';
    await api.patch('/v2/account', { time_zone: zone });
    const payout = await payoutOf(5);
    const { created_at: made } = payout;
    const tomorrow = dayOf(at(new Date().toISOString(), 2 * DAY_MS), zone);
    const refused = async (paid_at: string, rule: string) =>
      nothingChanges(world, async () =>
        expectRefusal(
          await complete(payout, { paid_at }),
          400,
          'invalid_body',
          `paid_at must not be ${rule}`,
        ),
      );
    await refused(at(made, -1), `before the payout was created, at ${made}`);
    await refused(dayOf(at(made, -DAY_MS), zone), 'before the payout was created');
    await refused(at(new Date().toISOString(), DAY_MS), 'in the future');
    await refused(tomorrow, 'in the future');
    expect(await paidAt(payout, made)).toBe(made);
  });

  test('is checked after the state and the revision, and belongs to the request of an Idempotency-Key', async () => {
    const payout = await payoutOf(3);
    const early = { paid_at: at(payout.created_at, -DAY_MS) };
    expectRefusal(await complete(payout, early, { 'if-match': '"9"' }), 409, 'payout_changed');
    const key = { 'idempotency-key': 'pay-1' };
    const day = { paid_at: at(payout.created_at, DAY_MS) };
    const done = await complete(payout, day, key);
    expect(done.status, done.text).toBe(200);
    const again = await complete(payout, day, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([done.text, 'true']);
    expectRefusal(await complete(payout, { paid_at: payout.created_at }, key), 409, 'idempotency_key_reused');
    expectRefusal(await complete(payout, early), 409, 'payout_is_paid');
  });

  test('appears in lists, events, files and reports; later payments have their own', async () => {
    const endpoint = (await api.post(ENDPOINTS, { url: 'https://example.com/hook' })).body;
    const payout = await payoutOf(10);
    const when = at(payout.created_at, 2 * DAY_MS);
    const part = { affiliate_id: affiliate, is_paid: true, currency: 'usd', amount: 400 };
    const done = await complete(payout, { commissions: [part], paid_at: when });
    expect(done.body).toMatchObject({ paid_at: when, totals: [{ carried_amount: 600 }] });

    expect((await api.get(`${PAYOUTS}?paid_at[gte]=${when}&paid_at[lte]=${when}`)).body.data).toHaveLength(1);
    const [sale] = (await api.get(`${COMMISSIONS}?status=paid`)).body.data;
    expect(sale.paid_at).toBe(when);
    const logged = (await api.get(`${EVENT_LOG}?type=payout.paid`)).body.data[0];
    const event = await api.get(`${ENDPOINTS}/${endpoint.id}/events/${logged.id}`);
    expect(event.body.payload.data.paid_at).toBe(when);
    for (const file of ['download', 'payment-files/summary']) {
      const [header, row] = parseCsv((await api.get(`${PAYOUTS}/${payout.id}/${file}`)).text);
      expect(row?.[header?.indexOf('paid_at') ?? -1]).toBe(when);
    }
    const day = dayOf(when, 'UTC');
    const paidOn = async (date: string) =>
      (await api.get(`${AFFILIATES}/reports/paid/rows?from=${date}&to=${date}`)).body.data;
    expect(await paidOn(day)).toMatchObject([{ affiliate_id: affiliate, paid_amount: 400 }]);
    expect(await paidOn(dayOf(at(when, DAY_MS), 'UTC'))).toEqual([]);

    const rest = await makePayout(api);
    expect(rest.amount).toBe(600);
    expect(await paidAt(rest, rest.created_at)).toBe(rest.created_at);
    expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.paid_at).toBe(when);
  });
});
