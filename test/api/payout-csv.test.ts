import { describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  bookDebt,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  PROGRAMS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const COLUMNS =
  'payout_id,payout_status,commission_id,external_id,occurred_at,type,status,is_paid,affiliate_id,name_first,name_last,' +
  'email,paypal_email,program_id,order_id,product_id,product_name,customer_email,sale_amount,amount,currency,description,' +
  'paid_at,order_line_id';

/** The file's rows as records, with a checked header. */
async function download(id: string): Promise<Record<string, string>[]> {
  const answer = await api.get(`${PAYOUTS}/${id}/download`);
  expect(answer.status).toBe(200);
  const [header = [], ...rows] = parseCsv(answer.text);
  expect(header.join(',')).toBe(COLUMNS);
  for (const row of rows) expect(row).toHaveLength(header.length);
  return rows.map((row) => Object.fromEntries(row.map((cell, index) => [header[index], cell])));
}

const DIGITS: Record<string, number> = { USD: 2, EUR: 2, JPY: 0, KWD: 3 };

/** Minor units per currency, added up as a reader of the file would. */
function sums(rows: Record<string, string>[]): Record<string, bigint> {
  const result: Record<string, bigint> = {};
  for (const { amount = '', currency = '' } of rows) {
    const [whole = '', fraction = ''] = amount.split('.');
    expect(fraction, amount).toHaveLength(DIGITS[currency] ?? -1);
    result[currency.toLowerCase()] = (result[currency.toLowerCase()] ?? 0n) + BigInt(whole + fraction);
  }
  return result;
}

const totalsOf = (payout: Json, field: string) =>
  Object.fromEntries(payout.totals.map((total: Json) => [total.currency, BigInt(total[field])]));

describe('the file of a payout', () => {
  test('is CSV with a header, named after number, revision and day, and must not be cached', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const payout = await makePayout(api);
    const answer = await api.get(`${PAYOUTS}/${payout.id}/download`, {
      headers: { accept: 'application/json' },
    });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const day = payout.as_of.slice(0, 10);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="payout-1-r1-${day}.csv"`);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.text.endsWith('\r\n')).toBe(true);
    expect(answer.text.startsWith('payout_id,')).toBe(true);
    await api.patch(`${AFFILIATES}/${id}`, { paypal_email: 'new@example.com' });
    const revised = await api.get(`${PAYOUTS}/current/download`);
    expect(revised.headers.get('content-disposition')).toContain('payout-1-r2-');
    expect(revised.headers.get('etag')).toBe('"2"');
    expect(revised.text).toContain('new@example.com');
  });

  test('takes no parameters', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    await makePayout(api);
    for (const query of ['page=1', 'format=csv', 'currency=usd'])
      expectRefusal(
        await api.get(`${PAYOUTS}/current/download?${query}`),
        400,
        'unknown_query_parameter',
        query.split('=')[0]!,
      );
  });

  test('shows every field of a commission, empty where there is none', async () => {
    const program = (await api.post(PROGRAMS, { name: 'P' })).body;
    const full = await makeAffiliate(api, {
      email: 'ada@example.com',
      name_first: 'Ada',
      name_last: 'Lovelace',
      paypal_email: 'pay@example.com',
    });
    const bare = await makeAffiliate(api, { email: 'bob@example.com' });
    const one = await makeCommission(api, full.id, {
      external_id: 'one',
      program_id: program.id,
      type: 'recurring',
      amount: 3190,
      currency: 'USD',
      sale_amount: 31_900,
      order_id: 'o-1',
      order_line_id: 'o-1-2',
      customer_email: 'buyer@example.com',
      product_id: 'sku',
      product_name: 'Book, second edition',
      description: 'July',
      occurred_at: '2025-07-01T12:30:00.125+02:00',
    });
    const two = await makeCommission(api, bare.id, {
      external_id: 'two',
      amount: 5,
      currency: 'jpy',
      occurred_at: '2025-07-02T00:00:00Z',
    });
    const payout = await makePayout(api);
    const shared = {
      payout_id: payout.id,
      payout_status: 'unpaid',
      status: 'unpaid',
      is_paid: 'false',
      paid_at: '',
    };
    const expected = [
      {
        ...shared,
        commission_id: one.id,
        external_id: 'one',
        occurred_at: '2025-07-01T10:30:00.125Z',
        type: 'recurring',
        affiliate_id: String(full.id),
        name_first: 'Ada',
        name_last: 'Lovelace',
        email: 'ada@example.com',
        paypal_email: 'pay@example.com',
        program_id: String(program.id),
        order_id: 'o-1',
        order_line_id: 'o-1-2',
        product_id: 'sku',
        product_name: 'Book, second edition',
        customer_email: 'buyer@example.com',
        sale_amount: '319.00',
        amount: '31.90',
        currency: 'USD',
        description: 'July',
      },
      {
        ...shared,
        ...Object.fromEntries(COLUMNS.split(',').map((name) => [name, ''])),
        ...shared,
        commission_id: two.id,
        external_id: 'two',
        occurred_at: '2025-07-02T00:00:00.000Z',
        type: 'sale',
        affiliate_id: String(bare.id),
        email: 'bob@example.com',
        amount: '5',
        currency: 'JPY',
      },
    ];
    expect(await download(payout.id)).toEqual(expected);
    const paid = await completePayout(api, payout);
    const done = { payout_status: 'paid', status: 'paid', is_paid: 'true', paid_at: paid.paid_at };
    expect(await download(payout.id)).toEqual(expected.map((row) => ({ ...row, ...done })));
  });

  test('adds up to the payout, and to its paid amount once paid, in every currency', async () => {
    const people = [await makeAffiliate(api), await makeAffiliate(api), await makeAffiliate(api)];
    for (const [index, { id }] of people.entries()) {
      for (const [currency, amount] of [
        ['usd', 105],
        ['usd', 7],
        ['eur', 99_999_999_999],
        ['jpy', 1],
        ['kwd', 1234],
      ] as const)
        await makeCommission(api, id, { currency, amount: amount + index });
      await bookDebt(world, id, -50);
    }
    const payout = await makePayout(api);
    const before = await download(payout.id);
    expect(sums(before)).toEqual(totalsOf(payout, 'amount'));
    expect(before).toHaveLength(payout.commission_count);
    expect(before.filter((row) => row.amount === '-0.50')).toHaveLength(3);
    const paid = await completePayout(api, payout, [
      { affiliate_id: people[0]?.id, is_paid: true },
      { affiliate_id: people[1]?.id, is_paid: false },
    ]);
    const after = await download(payout.id);
    expect(sums(after)).toEqual(totalsOf(paid, 'paid_amount'));
    expect(new Set(after.map((row) => row.affiliate_id))).toEqual(new Set([String(people[0]?.id)]));
  });

  test('of a payout in which nobody was paid has only a header', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const payout = await makePayout(api);
    await completePayout(api, payout, [{ affiliate_id: id, is_paid: false }]);
    expect((await api.get(`${PAYOUTS}/${payout.id}/download`)).text).toBe(`${COLUMNS}\r\n`);
  });

  test('is ordered by affiliate, currency, time and id', async () => {
    const [a, b] = [await makeAffiliate(api), await makeAffiliate(api)];
    const sell = (external_id: string, affiliate: Json, currency: string, day: number) =>
      makeCommission(api, affiliate.id, { external_id, currency, occurred_at: `2025-01-0${day}T00:00:00Z` });
    await sell('6', b, 'eur', 1);
    await sell('5', a, 'usd', 3);
    await sell('3', a, 'usd', 2);
    await sell('4', a, 'usd', 2);
    await sell('1', a, 'eur', 4);
    await sell('2', a, 'eur', 5);
    const payout = await makePayout(api);
    expect((await download(payout.id)).map((row) => row.external_id)).toEqual(['1', '2', '3', '4', '5', '6']);
  });
});

describe('text in a file', () => {
  const TRICKY = [
    'a,b',
    'say "hi"',
    'two\nlines',
    'two\r\nlines',
    'a lone \r return',
    '"',
    '""',
    ',',
    'a line end\n',
    'Zoë 山田 🎉 é',
    'عربى',
    '\\N',
    '\\.',
    "it's",
    'a;b\tc',
    ' padded ',
  ];

  test('comes out unchanged, whatever it is', async () => {
    const { id } = await makeAffiliate(api, { name_first: 'Zoë', name_last: '山田, "T"' });
    for (const [index, text] of TRICKY.entries())
      await makeCommission(api, id, {
        description: text,
        product_name: text,
        occurred_at: `2025-01-01T00:00:${10 + index}Z`,
      });
    const payout = await makePayout(api);
    const rows = await download(payout.id);
    expect(rows.map((row) => row.description)).toEqual(TRICKY);
    expect(rows.map((row) => row.product_name)).toEqual(TRICKY);
    expect(rows[0]).toMatchObject({ name_first: 'Zoë', name_last: '山田, "T"' });
  });

  test.each(['=', '+', '-', '@', '\t', '\r', '\n', '\u3000='])(
    'that begins with %j cannot run as a formula; numbers stay numbers',
    async (sign) => {
      const text = `${sign}1+cmd|' /C calc'!A0`;
      const address = `${sign.trim() || '='}cmd@example.com`;
      const { id } = await makeAffiliate(api, {
        email: address.startsWith('@') ? 'plain@example.com' : address,
        name_first: text,
        name_last: text,
        paypal_email: '=pay@example.com',
      });
      await makeCommission(api, id, {
        // an id has no blank or control character at its start
        external_id: text.trim(),
        order_id: text.trim(),
        product_id: text.trim(),
        product_name: text,
        description: text,
        customer_email: '+tag@example.com',
      });
      await bookDebt(world, id, -300);
      const payout = await makePayout(api);
      const [row, debt] = (await download(payout.id)).toSorted((a) => (a.type === 'sale' ? -1 : 1));
      for (const column of ['name_first', 'name_last', 'product_name', 'description'])
        expect(row?.[column]).toBe(`'${text}`);
      for (const column of ['external_id', 'order_id', 'product_id'])
        expect(row?.[column]).toBe(sign.trim() === '' ? text.trim() : `'${text.trim()}`);
      expect(row?.paypal_email).toBe("'=pay@example.com");
      expect(row?.customer_email).toBe("'+tag@example.com");
      if (!address.startsWith('@')) expect(row?.email).toBe(`'${address}`);
      expect(row?.amount).toBe('10.00');
      expect(debt?.amount).toBe('-3.00');
      // only the file is guarded: the record has the original text
      const stored = (await api.get(`/v2/affiliates/commissions/${row?.commission_id}`)).body;
      expect(stored.description).toBe(text);
    },
  );
});
