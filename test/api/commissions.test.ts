import { beforeEach, describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  allOf,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  labelled,
  makeAffiliate,
  makeCommission,
  makePayout,
  newestEvent,
  nothingChanges,
  PROGRAMS,
  TIMESTAMP,
  unique,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test, with one affiliate. */
const api = useAccount(world);
let affiliate: number;
beforeEach(async () => {
  affiliate = (await makeAffiliate(api)).id;
});

const send = (fields: object = {}) =>
  api.post(COMMISSIONS, { external_id: 'order-1', affiliate_id: affiliate, amount: 1000, ...fields });
const DAY_MS = 86_400_000;

describe('a new commission', () => {
  test('has exactly the fields of the record, with the values of the input', async () => {
    const program = (await api.post(PROGRAMS, { name: 'P' })).body;
    const given = {
      external_id: 'order-1',
      affiliate_id: affiliate,
      program_id: program.id,
      type: 'recurring',
      amount: 3190,
      currency: 'EUR',
      sale_amount: 31_900,
      rate_bps: 1000,
      order_id: 'o-1',
      order_line_id: 'o-1-2',
      customer_email: 'buyer@example.com',
      product_id: 'sku-1',
      product_name: 'Book',
      description: 'Zoë 🎉',
      occurred_at: '2025-07-01T12:30:00.1259+02:00',
      metadata: { shop: 'north', note: '' },
    };
    const made = await api.post(COMMISSIONS, given);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ...given,
      id: expect.stringMatching(/^com_[0-9a-f]{32}$/),
      object: 'affiliate_commission',
      status: 'unpaid',
      is_paid: false,
      original_amount: 3190,
      refunded_amount: 0,
      currency: 'eur',
      occurred_at: '2025-07-01T10:30:00.125Z',
      available_at: '2025-07-01T10:30:00.125Z',
      payout_id: null,
      paid_at: null,
      voided_at: null,
      void_reason: null,
      reverses_commission_id: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    expect((await api.get(`${COMMISSIONS}/${made.body.id}`)).text).toBe(made.text);
    expect((await api.get(COMMISSIONS)).body.data).toEqual([made.body]);
    expect(await newestEvent(world, api, 'commission.created')).toEqual(made.body);
  });

  test('needs only affiliate, external_id and amount: the rest has defaults', async () => {
    await api.patch('/v2/account', { default_currency: 'GBP' });
    const before = Date.now();
    const { body } = await send();
    const after = Date.now();
    expect(body).toMatchObject({
      type: 'sale',
      currency: 'gbp',
      program_id: null,
      sale_amount: null,
      rate_bps: null,
      metadata: null,
    });
    // a second, because the database has its own clock
    expect(Date.parse(body.occurred_at)).toBeGreaterThanOrEqual(before - 1000);
    expect(Date.parse(body.occurred_at)).toBeLessThanOrEqual(after + 1000);
  });

  test.each([
    [1000, 1000, 100],
    [1005, 1000, 101],
    [1004, 1000, 100],
    [5, 1000, 1],
    [1, 5000, 1],
    [3, 5000, 2],
    [999_999_999_999, 10_000, 999_999_999_999],
    [1_000_000_000_000, 3333, 333_300_000_000],
    [12_345, 1, 1],
  ])(
    'gets its amount from a sale of %i at %i basis points: %i, half up',
    async (sale_amount, rate_bps, amount) => {
      const made = await api.post(COMMISSIONS, {
        external_id: 'x',
        affiliate_id: affiliate,
        sale_amount,
        rate_bps,
      });
      expect(made.body).toMatchObject({ amount, original_amount: amount, sale_amount, rate_bps });
    },
  );

  test('keeps the given amount next to a sale', async () => {
    expect((await send({ sale_amount: 1, rate_bps: 1 })).body).toMatchObject({
      amount: 1000,
      sale_amount: 1,
      rate_bps: 1,
    });
  });

  test.each([
    ['a sale so small that the amount rounds to zero', { sale_amount: 1, rate_bps: 1 }],
    ['a sale of zero', { sale_amount: 0, rate_bps: 10_000 }],
    ['a rate of zero', { sale_amount: 100, rate_bps: 0 }],
  ])('has amount zero when it is computed from %s', async (_, fields) => {
    const input = { external_id: unique('small'), affiliate_id: affiliate, ...fields };
    expect((await api.post(COMMISSIONS, input)).body).toMatchObject({ amount: 0, status: 'unpaid' });
  });

  test.each([
    ['nothing', {}],
    ['a sale without a rate', { sale_amount: 100 }],
    ['a rate without a sale', { rate_bps: 100 }],
  ])('is refused when its amount would be computed from %s', async (_, fields) => {
    await nothingChanges(world, async () =>
      expectRefusal(
        await api.post(COMMISSIONS, { external_id: 'x', affiliate_id: affiliate, ...fields }),
        400,
        'invalid_amount',
        'amount',
      ),
    );
  });

  test.each(['usd', 'USD', 'uSd', 'JPY', 'kwd'])('accepts the currency %s in any case', async (currency) => {
    expect((await send({ currency })).body.currency).toBe(currency.toLowerCase());
  });

  test.each(
    labelled<[string]>([
      [{ currency: 'xyz' }, 'currency'],
      [{ currency: 'us' }, 'currency'],
      [{ currency: 'usdd' }, 'currency'],
      [{ currency: '€' }, 'currency'],
      [{ occurred_at: '2025-07-01' }, 'occurred_at'],
      [{ occurred_at: '2025-02-29T00:00:00Z' }, 'occurred_at'],
      [{ occurred_at: '2025-07-01T00:00:00' }, 'occurred_at'],
      [{ occurred_at: '0001-01-01T00:00:00Z' }, 'occurred_at'],
      [{ occurred_at: '99999-01-01T00:00:00Z' }, 'occurred_at'],
      [{ occurred_at: '' }, 'occurred_at'],
      [{ amount: 0 }, 'amount'],
      [{ amount: -5 }, 'amount'],
      [{ amount: 1.5 }, 'amount'],
      [{ amount: 1_000_000_000_001 }, 'amount'],
      [{ sale_amount: -1 }, 'sale_amount'],
      [{ rate_bps: 10_001 }, 'rate_bps'],
      [{ type: 'clawback' }, 'type'],
      [{ type: 'adjustment' }, 'type'],
      [{ external_id: '' }, 'external_id'],
      [{ external_id: 'x'.repeat(256) }, 'external_id'],
      [{ customer_email: 'no address' }, 'customer_email'],
      [{ metadata: { k: 1 } }, 'metadata'],
      [
        { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, ''])) },
        'metadata',
      ],
      [{ metadata: { k: 'x'.repeat(501) } }, 'metadata'],
      [{ metadata: ['a'] }, 'metadata'],
    ]),
  )('is refused by name for %s', async (_, fields, field) => {
    await nothingChanges(world, async () => expectRefusal(await send(fields), 400, 'invalid_body', field));
  });

  test('of an unknown affiliate is refused, even when another account has that affiliate', async () => {
    const other = await world.otherAccount();
    const foreign = await makeAffiliate(other);
    const program = (await other.post(PROGRAMS, { name: 'P' })).body;
    await nothingChanges(world, async () => {
      for (const affiliate_id of [999_999, foreign.id])
        expectRefusal(await send({ affiliate_id }), 400, 'unknown_affiliate', String(affiliate_id));
      for (const program_id of [999_999, program.id])
        expectRefusal(await send({ program_id }), 400, 'unknown_program', String(program_id));
    });
  });
});

describe('an external_id', () => {
  test('sent again with the same input returns the stored record and publishes nothing', async () => {
    const input = {
      currency: 'USD',
      occurred_at: '2025-07-01T00:00:00Z',
      sale_amount: 5,
      metadata: { a: '1', b: '2' },
    };
    const first = await send(input);
    await nothingChanges(world, async () => {
      for (const same of [
        input,
        { ...input, currency: 'usd' },
        { ...input, occurred_at: '2025-07-01T02:00:00+02:00' },
        { ...input, type: 'sale' },
        { ...input, metadata: { b: '2', a: '1' } },
      ]) {
        const again = await send(same);
        expect([again.status, again.text]).toEqual([200, first.text]);
      }
    });
  });

  test('without a time may be sent again at any time', async () => {
    const first = await send();
    const again = await send();
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test.each([
    [{ amount: 1001 }],
    [{ currency: 'eur' }],
    [{ type: 'bonus' }],
    [{ order_id: 'other' }],
    [{ order_id: null }],
    [{ order_line_id: 'other' }],
    [{ product_id: 'other' }],
    [{ product_name: 'other' }],
    [{ description: 'other' }],
    [{ customer_email: 'other@example.com' }],
    [{ sale_amount: 6 }],
    [{ rate_bps: 6 }],
    [{ occurred_at: '2025-07-01T00:00:00.001Z' }],
    [{ metadata: { a: '2' } }],
    [{ metadata: null }],
  ])('sent again with %j is refused, and the record stays', async (change) => {
    const input = {
      currency: 'usd',
      order_id: 'o',
      sale_amount: 5,
      rate_bps: 5,
      occurred_at: '2025-07-01T00:00:00Z',
      metadata: { a: '1' },
    };
    await send(input);
    await nothingChanges(world, async () =>
      expectRefusal(await send({ ...input, ...change }), 409, 'duplicate_external_id', 'order-1'),
    );
  });

  test('is compared with its original input, not with its current state', async () => {
    const first = await send({ currency: 'usd' });
    await completePayout(api, await makePayout(api));
    const again = await send({ currency: 'usd' });
    expect([again.status, again.body.id, again.body.status]).toEqual([200, first.body.id, 'paid']);
  });

  test('belongs to one account, and is exact: case and spaces count', async () => {
    const other = await world.otherAccount();
    await makeCommission(other, (await makeAffiliate(other)).id, { external_id: 'order-1' });
    for (const external_id of ['order-1', 'ORDER-1', 'order -1', 'ördèr-1'])
      expect((await send({ external_id })).status).toBe(201);
  });
});

describe('a hold', () => {
  const held = (commission: Json) =>
    (Date.parse(commission.available_at) - Date.parse(commission.occurred_at)) / DAY_MS;

  test("is the program's, else the account's, and its change affects only new commissions", async () => {
    await api.patch('/v2/account', { hold_days: 30 });
    const program = async (name: string, hold_days: number | null) =>
      (await api.post(PROGRAMS, { name, hold_days })).body.id;
    const [week, none, account] = [
      await program('week', 7),
      await program('none', 0),
      await program('account', null),
    ];
    const make = (program_id: number | null) => makeCommission(api, affiliate, { program_id });
    const made = [await make(null), await make(week), await make(none), await make(account)];
    expect(made.map(held)).toEqual([30, 7, 0, 30]);
    expect(made.map(({ status }) => status)).toEqual(['pending', 'pending', 'unpaid', 'pending']);
    await api.patch('/v2/account', { hold_days: 0 });
    await api.patch(`${PROGRAMS}/${week}`, { hold_days: 0 });
    for (const commission of made)
      expect((await api.get(`${COMMISSIONS}/${commission.id}`)).text).toBe(JSON.stringify(commission));
    expect([await make(null), await make(week)].map(held)).toEqual([0, 0]);
  });

  test('counts from when the sale occurred: an old commission can be paid at once', async () => {
    await api.patch('/v2/account', { hold_days: 30 });
    const old = await makeCommission(api, affiliate, { occurred_at: '2020-01-01T00:00:00Z' });
    expect([held(old), old.status]).toEqual([30, 'unpaid']);
  });

  test('applies to batches and files as well', async () => {
    await api.patch('/v2/account', { hold_days: 14 });
    await api.post(`${COMMISSIONS}/batch`, {
      commissions: [{ external_id: 'b', affiliate_id: affiliate, amount: 1 }],
    });
    await api.upload(`${COMMISSIONS}/import`, `external_id,affiliate_id,amount\nf,${affiliate},1\n`);
    expect((await allOf(api, COMMISSIONS)).map(held)).toEqual([14, 14]);
  });
});
