import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
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

const REPORT = '/v2/affiliates/reports/paid';
const HEADER =
  'year,affiliate_id,external_id,name_first,name_last,email,paypal_email,currency,payout_count,commission_count,' +
  'paid_amount,returned_amount,net_amount,payout_method,country\r\n';

/** The report of a year without its header. */
async function report(year: number | string, client = api): Promise<string> {
  const answer = await client.get(`${REPORT}?year=${year}`);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.text.startsWith(HEADER)).toBe(true);
  return answer.text.slice(HEADER.length);
}

/** Rows of affiliates without a payment method and a country. */
const lines = (...rows: string[]) => rows.map((row) => `${row},,\r\n`).join('');

/** Pays the owed amounts, to all or to some, at an instant. */
async function payAt(instant: string, whom?: readonly number[]): Promise<Json> {
  const payout = await makePayout(api);
  const entries = whom?.map((affiliate_id) => ({ affiliate_id, is_paid: true }));
  await completePayout(api, payout, entries);
  await world.query('update payouts set paid_at = $2 where public_id($$po$$, id) = $1', [payout.id, instant]);
  return payout;
}

/** Books a payout's payment to an affiliate as returned, at an instant. */
async function returnAt(instant: string, payout: Json, affiliate: number): Promise<void> {
  const back = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${affiliate}/returned`, {
    reason: 'closed',
  });
  expect(back.status, back.text).toBe(200);
  await world.query(
    'update payout_returns set returned_at = $3 where public_id($$po$$, payout_id) = $1 and affiliate_id = $2',
    [payout.id, affiliate, instant],
  );
}

describe('the payments of a year', () => {
  test('are a row per affiliate and currency, in decimals, ordered by both', async () => {
    const ada = await makeAffiliate(api, {
      email: '+ada@example.com',
      external_id: '=ada',
      name_first: 'Ada, "A"',
      name_last: '@Lovelace',
      paypal_email: 'pay@example.com',
    });
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    for (const [affiliate, amount, currency] of [
      [bob, 1234, 'kwd'],
      [ada, 3190, 'usd'],
      [ada, 10, 'usd'],
      [ada, 500, 'jpy'],
    ] as const)
      await makeCommission(api, affiliate.id, { amount, currency });
    await payAt('2026-03-01T00:00:00Z');
    await makeCommission(api, ada.id, { amount: 1, currency: 'usd' });
    await payAt('2026-04-01T00:00:00Z');
    const known = `2026,${ada.id},'=ada,"Ada, ""A""",'@Lovelace,'+ada@example.com,pay@example.com`;
    expect(await report(2026)).toBe(
      `${known},JPY,1,1,500,0,500,paypal,\r\n${known},USD,2,3,32.01,0.00,32.01,paypal,\r\n` +
        lines(`2026,${bob.id},,,,bob@example.com,,KWD,1,1,1.234,0.000,1.234`),
    );
    const answer = await api.get(`${REPORT}?year=2026`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="paid-2026.csv"');
  });

  test('belong to the year in which their payout was completed, to the millisecond', async () => {
    const { id } = await makeAffiliate(api, { email: 'a@example.com' });
    const at = [
      '2025-12-31T23:59:59.999Z',
      '2026-01-01T00:00:00.000Z',
      '2026-12-31T23:59:59.999Z',
      '2027-01-01T00:00:00Z',
    ];
    for (const [index, instant] of at.entries()) {
      await makeCommission(api, id, { amount: 100 * 10 ** index, occurred_at: '2020-06-01T00:00:00Z' });
      await payAt(instant);
    }
    const row = (year: number, count: number, amount: string) =>
      lines(`${year},${id},,,,a@example.com,,USD,${count},${count},${amount},0.00,${amount}`);
    expect(await report(2025)).toBe(row(2025, 1, '1.00'));
    expect(await report(2026)).toBe(row(2026, 2, '110.00'));
    expect(await report(2027)).toBe(row(2027, 1, '1000.00'));
    expect(await report(2020)).toBe('');
  });

  test('subtract what was returned that year, whenever it was paid; the year before is unchanged', async () => {
    const { id } = await makeAffiliate(api, { email: 'a@example.com' });
    const row = (year: number, cells: string) => lines(`${year},${id},,,,a@example.com,,USD,${cells}`);
    await makeCommission(api, id, { amount: 5000 });
    const first = await payAt('2025-11-01T00:00:00Z');
    expect(await report(2025)).toBe(row(2025, '1,1,50.00,0.00,50.00'));
    await returnAt('2026-01-05T00:00:00Z', first, id);
    expect(await report(2025)).toBe(row(2025, '1,1,50.00,0.00,50.00'));
    // nothing was paid in 2026 so far, but money was returned
    expect(await report(2026)).toBe(row(2026, '0,0,0.00,50.00,-50.00'));
    await makeCommission(api, id, { amount: 700 });
    const second = await payAt('2026-02-01T00:00:00Z');
    expect(second.amount).toBe(5700);
    expect(await report(2026)).toBe(row(2026, '1,2,57.00,50.00,7.00'));
    await returnAt('2026-03-01T00:00:00Z', second, id);
    expect(await report(2026)).toBe(row(2026, '1,2,57.00,107.00,-50.00'));
    expect(await report(2025)).toBe(row(2025, '1,1,50.00,0.00,50.00'));
  });

  test('include only money that left: the paid lines of completed payouts, less debts', async () => {
    const [a, b] = [
      await makeAffiliate(api, { email: 'a@example.com' }),
      await makeAffiliate(api, { email: 'b@example.com' }),
    ];
    const sale = await makeCommission(api, a.id, { amount: 1000 });
    await makeCommission(api, b.id, { amount: 1000 });
    await payAt('2026-01-10T00:00:00Z', [a.id]);
    const refund = { external_id: 'r', amount: 300 };
    expect((await api.post(`${COMMISSIONS}/${sale.id}/refund`, refund)).body.clawback.amount).toBe(-300);
    // a refund does not count as returned money: the next payout subtracts it
    expect(await report(2026)).toBe(lines(`2026,${a.id},,,,a@example.com,,USD,1,1,10.00,0.00,10.00`));
    await makeCommission(api, a.id, { amount: 500 });
    await payAt('2026-02-10T00:00:00Z', [a.id]);
    await makeCommission(api, a.id, { amount: 9000 });
    await makePayout(api);
    expect(await report(2026)).toBe(lines(`2026,${a.id},,,,a@example.com,,USD,2,3,12.00,0.00,12.00`));
  });

  test('show people as they are today: a new name changes no sum', async () => {
    const { id } = await makeAffiliate(api, { email: 'a@example.com' });
    await makeCommission(api, id);
    await payAt('2026-01-10T00:00:00Z');
    const change = { external_id: 'x-1', name_last: 'New', email: 'new@example.com', status: 'inactive' };
    expect((await api.patch(`${AFFILIATES}/${id}`, change)).status).toBe(200);
    expect(await report(2026)).toBe(lines(`2026,${id},x-1,,New,new@example.com,,USD,1,1,10.00,0.00,10.00`));
  });

  test('include nothing of another account', async () => {
    const { id } = await makeAffiliate(api, { email: 'a@example.com' });
    await makeCommission(api, id);
    const payout = await payAt('2026-01-10T00:00:00Z');
    await returnAt('2026-02-10T00:00:00Z', payout, id);
    const other = await world.otherAccount();
    expect(await report(2026, other)).toBe('');
    expect(await report(2026)).toContain('a@example.com');
  });

  longRun.test('add up exactly, to the most that an affiliate may be paid', async () => {
    const { id } = await makeAffiliate(api, { email: 'a@example.com' });
    const each = 1_000_000_000_000;
    const amounts = [...Array.from({ length: 9007 }, () => each), Number.MAX_SAFE_INTEGER - 9007 * each];
    const commissions = amounts.map((amount, index) => ({
      external_id: `big-${index}`,
      affiliate_id: id,
      amount,
      currency: 'usd',
    }));
    for (let start = 0; start < commissions.length; start += 1000) {
      const batch = { commissions: commissions.slice(start, start + 1000) };
      expect((await api.post(`${COMMISSIONS}/batch`, batch)).status).toBe(200);
    }
    await payAt('2026-01-10T00:00:00Z');
    const sum = '90071992547409.91';
    expect(await report(2026)).toBe(lines(`2026,${id},,,,a@example.com,,USD,1,9008,${sum},0.00,${sum}`));
  });

  test('are only the header in a year without any, and the report changes nothing', async () => {
    await nothingChanges(world, async () => {
      for (const year of [1970, 2026, 2999]) expect(await report(year)).toBe('');
    });
  });

  test.each([
    ['year=', 'invalid_query'],
    ['year=26', 'invalid_query'],
    ['year=02026', 'invalid_query'],
    ['year=20260', 'invalid_query'],
    ['year=1969', 'invalid_query'],
    ['year=3000', 'invalid_query'],
    ['year=0000', 'invalid_query'],
    ['year=2026.0', 'invalid_query'],
    ['year=%202026', 'invalid_query'],
    ['year=2026-01', 'invalid_query'],
    ["year='26'", 'invalid_query'],
    ['year=%D9%A2%D9%A0%D9%A2%D9%A6', 'invalid_query'],
    ['year=2026&year=2026', 'invalid_query'],
    ['year=2026&month=1', 'unknown_query_parameter'],
    ['year=2026&from=2026-01-01', 'invalid_query'],
  ])('need a year of four digits: ?%s is refused by name', async (query, reason) => {
    const name = reason === 'invalid_query' ? 'year' : 'month';
    expectRefusal(await api.get(`${REPORT}?${query}`), 400, reason, name);
  });
});

describe('the same as JSON', () => {
  const rows = async (query: string, client = api): Promise<Json[]> => {
    const answer = await client.get(`${REPORT}/rows?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };

  test('is a list in minor units, a page at a time, by payment method', async () => {
    const ada = await makeAffiliate(api, {
      email: 'ada@example.com',
      external_id: 'ada',
      name_first: 'Ada',
      paypal_email: 'pay@example.com',
      payout_method: 'paypal',
      country: 'gb',
    });
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    await makeCommission(api, ada.id, { amount: 3190 });
    await makeCommission(api, bob.id, { amount: 1234, currency: 'kwd' });
    const first = await payAt('2026-03-01T00:00:00Z');
    await returnAt('2026-03-02T00:00:00Z', first, ada.id);
    const moved = await api.patch(`${AFFILIATES}/${ada.id}`, { payout_method: 'wise', country: 'IE' });
    expect(moved.body).toMatchObject({ payout_method: 'wise', country: 'IE' });
    await makeCommission(api, ada.id, { amount: 10 });
    await payAt('2026-04-01T00:00:00Z', [ada.id]);
    const known = {
      affiliate_id: ada.id,
      external_id: 'ada',
      name_first: 'Ada',
      name_last: null,
      email: 'ada@example.com',
      paypal_email: 'pay@example.com',
      currency: 'usd',
      payout_count: 1,
    };
    const all = await rows('year=2026');
    expect(all).toEqual([
      {
        ...known,
        commission_count: 1,
        paid_amount: 3190,
        returned_amount: 3190,
        net_amount: 0,
        payout_method: 'paypal',
        country: 'IE',
      },
      {
        ...known,
        commission_count: 2,
        paid_amount: 3200,
        returned_amount: 0,
        net_amount: 3200,
        payout_method: 'wise',
        country: 'IE',
      },
      expect.objectContaining({
        affiliate_id: bob.id,
        currency: 'kwd',
        paid_amount: 1234,
        payout_method: null,
        country: null,
      }),
    ]);
    expect(await rows('year=2026&per_page=1&page=2')).toEqual([all[1]]);
    expect((await api.get(`${REPORT}/rows?year=2026&per_page=2`)).body.pagination).toMatchObject({
      page: 1,
      limit: 2,
      total: 3,
      pages: 2,
    });
    const csv = (await api.get(`${REPORT}?year=2026`)).text.slice(HEADER.length).split('\r\n');
    expect(csv.slice(0, 3).map((row) => row.split(',').slice(-3).join())).toEqual([
      '0.00,paypal,IE',
      '32.00,wise,IE',
      '1.234,,',
    ]);
    expect(await rows('from=2026-04-01&to=2026-04-01')).toEqual([all[1]]);
    expect(await rows('year=2026', await world.otherAccount())).toEqual([]);
  });

  test('and as CSV covers any days, including the last', async () => {
    const { id } = await makeAffiliate(api, { email: 'a@example.com' });
    for (const [at, amount] of [
      ['2026-03-31T23:59:59.999Z', 100],
      ['2026-04-01T00:00:00.000Z', 200],
      ['2026-06-30T23:59:59.999Z', 400],
      ['2026-07-01T00:00:00.000Z', 800],
    ] as const) {
      await makeCommission(api, id, { amount });
      await payAt(at);
    }
    const answer = await api.get(`${REPORT}?from=2026-04-01&to=2026-06-30`);
    expect(answer.text).toBe(HEADER + lines(`,${id},,,,a@example.com,,USD,2,2,6.00,0.00,6.00`));
    const name = 'paid-from-2026-04-01-to-2026-06-30.csv';
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    expect(await rows('from=2026-07-01&to=2026-07-01')).toMatchObject([{ paid_amount: 800 }]);
    // an omitted end is open
    for (const [query, amount, file] of [
      ['from=2026-04-01', 1400, 'paid-from-2026-04-01.csv'],
      ['to=2026-06-30', 700, 'paid-to-2026-06-30.csv'],
      ['', 1500, 'paid.csv'],
    ] as const) {
      expect(await rows(query)).toMatchObject([{ paid_amount: amount }]);
      const open = await api.get(`${REPORT}?${query}`);
      expect(open.headers.get('content-disposition')).toBe(`attachment; filename="${file}"`);
      expect(open.text).toContain(`,${amount / 100}.00,0.00,`);
    }
  });

  test('refuses sums that JSON would round', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const payout = await payAt('2026-01-10T00:00:00Z');
    const set = (amount: string) =>
      world.query(`update payout_line_totals set amount = $2 where public_id('po', payout_id) = $1`, [
        payout.id,
        amount,
      ]);
    await set('9007199254740992');
    expectRefusal(await api.get(`${REPORT}/rows?year=2026`), 409, 'amount_too_large');
    await set('1000');
  });

  test.each([
    ['from=2026-01-02&to=2026-01-01', 'from must not be after to'],
    ['from=2026-02-30&to=2026-03-01', 'from must be a day'],
    ['from=2026-01-01&to=2026-01-01T00:00:00Z', 'to must be a day'],
    ['year=2026&to=2026-03-01', 'not both'],
    ['year=26', 'year must be four digits'],
  ])('and as CSV needs a year, or a first and a last day: ?%s is refused', async (query, message) => {
    for (const path of [REPORT, `${REPORT}/rows`])
      expectRefusal(await api.get(`${path}?${query}`), 400, 'invalid_query', message);
  });
});
