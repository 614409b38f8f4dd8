import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  ENDPOINTS,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const KIRITIMATI = 'Pacific/Kiritimati';
const LOS_ANGELES = 'America/Los_Angeles';

async function moveTo(time_zone: string): Promise<Json> {
  const moved = await api.patch('/v2/account', { time_zone });
  expect(moved.status, moved.text).toBe(200);
  return moved.body;
}

const idsIn = async (path: string) =>
  ((await api.get(path)).body.data as Json[]).map((record) => record.external_id).toSorted();

/** Commissions at these instants, each named after its instant. */
async function soldAt(...instants: string[]): Promise<number> {
  const { id } = await makeAffiliate(api);
  for (const at of instants) await makeCommission(api, id, { external_id: at, occurred_at: at });
  return id;
}

describe('the time zone of an account', () => {
  test('is UTC until another one is set, by its IANA name in any case', async () => {
    expect((await api.get('/v2/account')).body.time_zone).toBe('UTC');
    expect((await moveTo('asia/kolkata')).time_zone).toBe('Asia/Kolkata');
    expect((await api.get('/v2/account')).body.time_zone).toBe('Asia/Kolkata');
    expect((await moveTo('Etc/GMT+5')).time_zone).toBe('Etc/GMT+5');
  });

  test.each(['Mars/Olympus', '+05:30', 'UTC+2', 'Berlin', 'posix/UTC', 'localtime', '', ' UTC', null, 5])(
    '%j is refused by the field and its rule',
    async (time_zone) => {
      await nothingChanges(world, async () =>
        expectRefusal(await api.patch('/v2/account', { time_zone }), 400, 'invalid_body', 'time_zone'),
      );
    },
  );
});

describe('a day', () => {
  // around the clock changes of that zone: days of 23 and 25 hours
  const spring = [
    '2026-03-08T07:59:59.999Z',
    '2026-03-08T08:00:00.000Z',
    '2026-03-09T06:59:59.999Z',
    '2026-03-09T07:00:00.000Z',
  ];
  const autumn = [
    '2025-11-02T06:59:59.999Z',
    '2025-11-02T07:00:00.000Z',
    '2025-11-03T07:59:59.999Z',
    '2025-11-03T08:00:00.000Z',
  ];

  test.each([
    ['2026-03-08', spring],
    ['2025-11-02', autumn],
  ])('in the filters of a list is one of the zone: %s', async (day, instants) => {
    await soldAt(...instants);
    await moveTo(LOS_ANGELES);
    const list = (operator: string) => idsIn(`${COMMISSIONS}?occurred_at[${operator}]=${day}`);
    const [before, first, last, after] = instants;
    expect(await list('lt')).toEqual([before]);
    expect(await list('lte')).toEqual([before, first, last]);
    expect(await list('gte')).toEqual([first, last, after]);
    expect(await list('gt')).toEqual([after]);
    await moveTo('UTC');
    expect(await list('lt')).toEqual([]);
  });

  test('in a list is one of the calling account; an instant is the same in all accounts', async () => {
    const instants = ['2026-01-31T09:59:59.999Z', '2026-01-31T10:00:00.000Z', '2026-02-01T00:00:00.000Z'];
    await soldAt(...instants);
    await moveTo(KIRITIMATI);
    expect(await idsIn(`${COMMISSIONS}?occurred_at[gte]=2026-02-01`)).toEqual(instants.slice(1));
    expect(await idsIn(`${COMMISSIONS}?occurred_at[gte]=2026-02-01T00:00:00Z`)).toEqual(instants.slice(2));
    const other = await world.otherAccount();
    expect((await other.get(`${COMMISSIONS}?occurred_at[gte]=2026-02-01`)).body.data).toEqual([]);
  });

  test('in the log of events finds the same by counts as by rows', async () => {
    const made = await api.post(ENDPOINTS, { url: 'https://example.com/hook' });
    expect(made.status, made.text).toBe(201);
    await soldAt('2026-01-01T00:00:00Z');
    const [{ created_at }] = (await api.get('/v2/webhook-events/')).body.data;
    for (const zone of [KIRITIMATI, LOS_ANGELES]) {
      await moveTo(zone);
      // as local clocks show it
      const day = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date(created_at));
      const total = async (query: string) =>
        (await api.get(`/v2/webhook-events/?${query}`)).body.pagination.total;
      const all = await total('');
      expect(await total(`created_at[gte]=${day}&created_at[lte]=${day}`)).toBe(all);
      expect(await total(`created_at[gt]=${day}`)).toBe(0);
      expect(await total(`created_at[gte]=${day}&type=commission.*`)).toBe(1);
    }
  });

  test('in the filters of a payout and its preview is one of the zone', async () => {
    await soldAt(...spring);
    await moveTo(LOS_ANGELES);
    const selection = { filters: { occurred_at: { gte: '2026-03-08', lte: '2026-03-08' } } };
    const preview = await api.post(`${PAYOUTS}/preview`, selection);
    expect(preview.body).toMatchObject({ commission_count: 2, filters: selection.filters });
    const lines = await api.post(`${PAYOUTS}/preview/affiliates`, selection);
    expect(lines.body.data[0].commission_count).toBe(2);
    const { id } = await makePayout(api, selection);
    expect(await idsIn(`${PAYOUTS}/${id}/commissions`)).toEqual(spring.slice(1, 3));
  });

  test('in a file of commissions begins at midnight of the zone', async () => {
    const { id } = await makeAffiliate(api);
    await moveTo(KIRITIMATI);
    const csv = `external_id,affiliate_id,amount,occurred_at\r\na,${id},1.00,2026-02-01\r\nb,${id},1.00,2026-02-01T00:00:00Z\r\n`;
    expect((await api.upload(`${COMMISSIONS}/import`, csv)).status).toBe(200);
    const { data } = (await api.get(`${COMMISSIONS}?sort=occurred_at`)).body;
    expect(data.map(({ external_id, occurred_at }: Json) => [external_id, occurred_at])).toEqual([
      ['a', '2026-01-31T10:00:00.000Z'],
      ['b', '2026-02-01T00:00:00.000Z'],
    ]);
  });

  test('of a hold is counted in the account’s time zone; a hold of zero is immediate', async () => {
    await moveTo(LOS_ANGELES);
    const { id } = await makeAffiliate(api);
    const held = async (hold_days: number, occurred_at: string) => {
      await api.patch('/v2/account', { hold_days });
      return (await makeCommission(api, id, { occurred_at })).available_at;
    };
    expect(await held(1, '2026-03-08T08:00:00Z')).toBe('2026-03-09T07:00:00.000Z');
    expect(await held(2, '2025-11-01T07:00:00Z')).toBe('2025-11-03T08:00:00.000Z');
    // both times at which the clocks show 01:30
    expect(await held(0, '2025-11-02T08:30:00Z')).toBe('2025-11-02T08:30:00.000Z');
    expect(await held(0, '2025-11-02T09:30:00Z')).toBe('2025-11-02T09:30:00.000Z');
    await moveTo('UTC');
    expect(await held(1, '2026-03-08T08:00:00Z')).toBe('2026-03-09T08:00:00.000Z');
  });

  longRun.test('in the names of files is that of the cut-off in the zone', async () => {
    const { id } = await makeAffiliate(api, { paypal_email: 'pay@example.com' });
    await makeCommission(api, id);
    const payout = await makePayout(api);
    await world.query('update payouts set as_of = $2 where public_id($$po$$, id) = $1', [
      payout.id,
      '2026-01-31T10:00:00Z',
    ]);
    const names = async () =>
      Promise.all(
        ['download', 'payment-files/paypal'].map(async (file) => {
          const { headers } = await api.get(`${PAYOUTS}/${payout.id}/${file}`);
          return /payout-1-r1-(\d+-\d+-\d+)/.exec(headers.get('content-disposition') ?? '')?.[1];
        }),
      );
    expect(await names()).toEqual(['2026-01-31', '2026-01-31']);
    await moveTo(KIRITIMATI);
    expect(await names()).toEqual(['2026-02-01', '2026-02-01']);
    await moveTo('Pacific/Pago_Pago');
    expect(await names()).toEqual(['2026-01-30', '2026-01-30']);
  });

  longRun.test('of a recovery begins at midnight of the zone', async () => {
    const { id } = (await api.post(ENDPOINTS, { url: 'https://example.com/hook' })).body;
    await moveTo(LOS_ANGELES);
    const recovered = await api.post(`${ENDPOINTS}/${id}/recover`, {
      since: '2026-03-08',
      until: '2026-03-08',
    });
    expect(recovered.status, recovered.text).toBe(201);
    expect(recovered.body.filters).toMatchObject({
      since: '2026-03-08T08:00:00.000Z',
      until: '2026-03-09T07:00:00.000Z',
    });
  });
});

describe('the year of a report', () => {
  test('is one of the zone', async () => {
    const { id } = await makeAffiliate(api);
    for (const [at, amount] of [
      ['2025-12-31T09:59:59.999Z', 100],
      ['2025-12-31T10:00:00.000Z', 200],
      ['2026-12-31T10:00:00.000Z', 400],
    ] as const) {
      await makeCommission(api, id, { amount });
      const payout = await makePayout(api);
      await completePayout(api, payout);
      await world.query('update payouts set paid_at = $2 where public_id($$po$$, id) = $1', [payout.id, at]);
    }
    const paid = async (query: string) =>
      (await api.get(`${AFFILIATES}/reports/paid/rows?${query}`)).body.data.map(
        ({ paid_amount }: Json) => paid_amount,
      );
    expect([await paid('year=2025'), await paid('year=2026'), await paid('year=2027')]).toEqual([
      [300],
      [400],
      [],
    ]);
    await moveTo(KIRITIMATI);
    expect([await paid('year=2025'), await paid('year=2026'), await paid('year=2027')]).toEqual([
      [100],
      [200],
      [400],
    ]);
    expect(await paid('from=2025-12-31&to=2026-01-01')).toEqual([300]);
  });
});
