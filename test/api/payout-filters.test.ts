import { beforeAll, describe, expect, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  allOf,
  dump,
  expectRefusal,
  type Json,
  labelled,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChangesInTurn,
  PAYOUTS,
  PROGRAMS,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;
const ids: Record<'ada' | 'bob' | 'cyd' | 'dan' | 'eve' | 'p1' | 'p2' | 'foreign', number> = {
  ada: 0,
  bob: 0,
  cyd: 0,
  dan: 0,
  eve: 0,
  p1: 0,
  p2: 0,
  foreign: 0,
};

/** The affiliates that a preview by a payment method takes, and how each is paid. */
const takenBy = async (other: typeof api, filter: object) => {
  const { body } = await other.post(`${PAYOUTS}/preview`, { filters: { payout_method: filter } });
  return body.affiliates.map(({ email, totals }: Json) => [email, totals[0].paid_through]);
};

test('payout_method selects affiliates by how they are paid: by destination, method, or a PayPal address alone', async () => {
  const other = await world.otherAccount();
  const make = async (email: string, fields: object) => {
    const { id } = await makeAffiliate(other, { email, ...fields });
    await makeCommission(other, id, { external_id: email, amount: 500, currency: 'eur' });
    return id;
  };
  await make('method@example.com', { payout_method: 'paypal', paypal_email: 'm@pay.example' });
  await make('address@example.com', { paypal_email: 'a@pay.example' });
  const bank = await make('bank@example.com', { payout_method: 'paypal', paypal_email: 'b@pay.example' });
  await make('none@example.com', {});
  await other.put(`/v2/affiliates/${bank}/destination`, {
    type: 'sepa',
    account_holder: 'Ada',
    iban: 'DE89370400440532013000',
  });
  expect(await takenBy(other, { eq: 'paypal' })).toEqual([
    ['method@example.com', 'paypal'],
    ['address@example.com', 'paypal'],
  ]);
  expect(await takenBy(other, { in: ['sepa', 'ach'] })).toEqual([['bank@example.com', 'sepa']]);
  expect(await takenBy(other, { ne: 'paypal' })).toEqual([
    ['bank@example.com', 'sepa'],
    ['none@example.com', null],
  ]);
  const listed = async (method: string) =>
    (await allOf(other, `/v2/affiliates?sort=id&payout_method=${method}`)).map(
      ({ email, paid_through }: Json) => [email, paid_through],
    );
  expect(await listed('paypal')).toEqual([
    ['method@example.com', 'paypal'],
    ['address@example.com', 'paypal'],
  ]);
  expect(await listed('sepa')).toEqual([['bank@example.com', 'sepa']]);
  expect(await listed('none')).toEqual([['none@example.com', null]]);
});

beforeAll(async () => {
  ids.foreign = (await makeAffiliate(await world.otherAccount())).id;
  const make = async (fields: object) => (await makeAffiliate(api, fields)).id;
  ids.ada = await make({
    email: 'ada@example.com',
    name_first: 'Ada',
    name_last: 'Lovelace',
    slug: 'ada_100%',
    paypal_email: 'cash@lovelace.example',
    payout_method: 'paypal',
  });
  ids.bob = await make({
    email: 'bob@example.com',
    name_first: 'Böb',
    name_last: "O'Neil",
    payout_method: 'wise',
  });
  ids.cyd = await make({ email: 'cyd@example.com', slug: 'adaX1000' });
  ids.dan = await make({ email: 'dan@example.com', payout_method: 'other', status: 'inactive' });
  ids.eve = await make({ email: 'eve@example.com', is_ready_for_payout: false });
  for (const name of ['p1', 'p2'] as const) ids[name] = (await api.post(PROGRAMS, { name })).body.id;
  const sell = (external_id: string, affiliate: number, fields: object) =>
    makeCommission(api, affiliate, { external_id, ...fields });
  await sell('a1', ids.ada, {
    program_id: ids.p1,
    product_id: 'x',
    order_id: 'o1',
    amount: 100,
    occurred_at: '2025-01-01T00:00:00.000Z',
  });
  await sell('a2', ids.ada, {
    program_id: ids.p2,
    product_id: 'y',
    type: 'bonus',
    amount: 200,
    occurred_at: '2025-01-01T23:59:59.999Z',
  });
  await sell('a3', ids.ada, {
    currency: 'eur',
    type: 'recurring',
    amount: 300,
    occurred_at: '2025-01-02T00:00:00.000Z',
  });
  await sell('b1', ids.bob, {
    program_id: ids.p1,
    product_id: 'x',
    amount: 400,
    occurred_at: '2025-02-01T12:00:00.001Z',
  });
  await sell('c1', ids.cyd, { order_id: 'o1', amount: 500, occurred_at: '2025-02-01T12:00:00.000Z' });
  await sell('d1', ids.dan, { amount: 600, occurred_at: '2025-03-01T00:00:00.000Z' });
  await sell('e1', ids.eve, { amount: 700, occurred_at: '2025-03-01T00:00:00.000Z' });
});

/** Creates a payout, returns its content, and deletes it. Checks that the preview promised the same. */
async function take(body: object): Promise<{ taken: string[]; payout: Json }> {
  const preview = await api.post(`${PAYOUTS}/preview`, body);
  expect(preview.status, preview.text).toBe(200);
  const made = await api.post(PAYOUTS, body);
  if (made.status === 409) {
    expectRefusal(made, 409, 'nothing_to_pay');
    expect(preview.body.commission_count).toBe(0);
    return { taken: [], payout: preview.body };
  }
  expect(made.status, made.text).toBe(201);
  for (const name of ['totals', 'affiliates', 'excluded', 'filters', 'search', 'commission_count'])
    expect(preview.body[name]).toEqual(made.body[name]);
  const rows = await allOf(api, `${PAYOUTS}/${made.body.id}/commissions?sort=id`);
  expect((await api.delete(`${PAYOUTS}/${made.body.id}`)).status).toBe(204);
  return { taken: rows.map((row) => row.external_id), payout: made.body };
}

/** `@ada` is replaced by the id of ada. */
function withIds(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith('@')) return ids[value.slice(1) as keyof typeof ids];
  if (Array.isArray(value)) return value.map(withIds);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withIds(item)]));
  return value;
}

const ALL = ['a1', 'a2', 'a3', 'b1', 'c1'];
const but = (...names: string[]) => ALL.filter((name) => !names.includes(name));
const A = ['a1', 'a2', 'a3'];

describe('filters take', () => {
  test.each(
    someOf<[filters: object, taken: string[], normal: object]>(
      [
        [{ affiliate_id: '@ada' }, A, { affiliate_id: { eq: '@ada' } }],
        [{ affiliate_id: { eq: '@ada' } }, A, { affiliate_id: { eq: '@ada' } }],
        [{ affiliate_id: { ne: '@ada' } }, ['b1', 'c1'], { affiliate_id: { ne: '@ada' } }],
        [{ affiliate_id: ['@ada', '@cyd'] }, [...A, 'c1'], { affiliate_id: { in: ['@ada', '@cyd'] } }],
        [{ affiliate_id: { in: ['@bob'] } }, ['b1'], { affiliate_id: { in: ['@bob'] } }],
        [{ affiliate_id: { nin: ['@bob', '@cyd'] } }, A, { affiliate_id: { nin: ['@bob', '@cyd'] } }],
        [
          { affiliate_id: { in: ['@ada', '@bob'], ne: '@ada' } },
          ['b1'],
          { affiliate_id: { in: ['@ada', '@bob'], ne: '@ada' } },
        ],
        [{ program_id: '@p1' }, ['a1', 'b1'], { program_id: { eq: '@p1' } }],
        [{ program_id: { ne: '@p1' } }, ['a2', 'a3', 'c1'], { program_id: { ne: '@p1' } }],
        [{ program_id: { in: ['@p1', '@p2'] } }, ['a1', 'a2', 'b1'], { program_id: { in: ['@p1', '@p2'] } }],
        [{ program_id: { nin: ['@p1', '@p2'] } }, ['a3', 'c1'], { program_id: { nin: ['@p1', '@p2'] } }],
        [{ product_id: 'x' }, ['a1', 'b1'], { product_id: { eq: 'x' } }],
        [{ product_id: 'X' }, [], { product_id: { eq: 'X' } }],
        [{ product_id: { ne: 'x' } }, ['a2', 'a3', 'c1'], { product_id: { ne: 'x' } }],
        [{ product_id: ['x', 'y'] }, ['a1', 'a2', 'b1'], { product_id: { in: ['x', 'y'] } }],
        [{ product_id: { nin: ['x'] } }, ['a2', 'a3', 'c1'], { product_id: { nin: ['x'] } }],
        [{ order_id: 'o1' }, ['a1', 'c1'], { order_id: { eq: 'o1' } }],
        [{ order_id: { ne: 'o1' } }, ['a2', 'a3', 'b1'], { order_id: { ne: 'o1' } }],
        [{ order_id: ["o1' or true --"] }, [], { order_id: { in: ["o1' or true --"] } }],
        [{ order_id: { nin: ['o1', 'o2'] } }, ['a2', 'a3', 'b1'], { order_id: { nin: ['o1', 'o2'] } }],
        [{ payout_method: 'paypal' }, A, { payout_method: { eq: 'paypal' } }],
        [{ payout_method: { ne: 'paypal' } }, ['b1', 'c1'], { payout_method: { ne: 'paypal' } }],
        [{ payout_method: ['paypal', 'wise'] }, but('c1'), { payout_method: { in: ['paypal', 'wise'] } }],
        [{ payout_method: { nin: ['wise'] } }, but('b1'), { payout_method: { nin: ['wise'] } }],
        [{ type: 'sale' }, ['a1', 'b1', 'c1'], { type: { eq: 'sale' } }],
        [{ type: { ne: 'sale' } }, ['a2', 'a3'], { type: { ne: 'sale' } }],
        [{ type: ['bonus', 'recurring'] }, ['a2', 'a3'], { type: { in: ['bonus', 'recurring'] } }],
        [{ type: { nin: ['bonus', 'sale'] } }, ['a3'], { type: { nin: ['bonus', 'sale'] } }],
        [{ affiliate_status: 'active' }, ALL, { affiliate_status: { eq: 'active' } }],
        [{ affiliate_status: 'inactive' }, ['d1'], { affiliate_status: { eq: 'inactive' } }],
        [
          { affiliate_status: ['active', 'inactive'] },
          [...ALL, 'd1'],
          { affiliate_status: { in: ['active', 'inactive'] } },
        ],
        [{ affiliate_status: { ne: 'active' } }, ['d1'], { affiliate_status: { ne: 'active' } }],
        [{ affiliate_status: { nin: ['inactive'] } }, ALL, { affiliate_status: { nin: ['inactive'] } }],
        [{ is_ready_for_payout: true }, ALL, { is_ready_for_payout: { eq: true } }],
        [{ is_ready_for_payout: { eq: false } }, ['e1'], { is_ready_for_payout: { eq: false } }],
        [{ currency: 'EUR' }, ['a3'], { currency: { eq: 'eur' } }],
        [{ currency: ['Usd', 'eur'] }, ALL, { currency: { in: ['usd', 'eur'] } }],
        [{ currency: { in: ['jpy'] } }, [], { currency: { in: ['jpy'] } }],
        [{ currency: 'usd', total: 300 }, ['a1', 'a2'], { currency: { eq: 'usd' }, total: { eq: 300 } }],
        [
          { currency: 'usd', total: { gt: 300 } },
          ['b1', 'c1'],
          { currency: { eq: 'usd' }, total: { gt: 300 } },
        ],
        [
          { currency: 'usd', total: { gte: 300, lt: 500 } },
          ['a1', 'a2', 'b1'],
          { currency: { eq: 'usd' }, total: { gte: 300, lt: 500 } },
        ],
        [
          { currency: ['usd', 'eur'], total: { lte: 300 } },
          A,
          { currency: { in: ['usd', 'eur'] }, total: { lte: 300 } },
        ],
        [
          { occurred_at: { gte: '2025-01-01T23:59:59.999Z' } },
          but('a1'),
          { occurred_at: { gte: '2025-01-01T23:59:59.999Z' } },
        ],
        [
          { occurred_at: { gt: '2025-01-01T23:59:59.999Z' } },
          but('a1', 'a2'),
          { occurred_at: { gt: '2025-01-01T23:59:59.999Z' } },
        ],
        [
          { occurred_at: { lt: '2025-02-01T12:00:00.000Z' } },
          A,
          { occurred_at: { lt: '2025-02-01T12:00:00.000Z' } },
        ],
        [
          { occurred_at: { lte: '2025-02-01T12:00:00.000Z' } },
          [...A, 'c1'],
          { occurred_at: { lte: '2025-02-01T12:00:00.000Z' } },
        ],
        [
          { occurred_at: { gte: '2025-01-01', lte: '2025-01-01' } },
          ['a1', 'a2'],
          { occurred_at: { gte: '2025-01-01', lte: '2025-01-01' } },
        ],
        [{ occurred_at: { gt: '2025-01-01' } }, but('a1', 'a2'), { occurred_at: { gt: '2025-01-01' } }],
        [{ occurred_at: { lt: '2025-01-02' } }, ['a1', 'a2'], { occurred_at: { lt: '2025-01-02' } }],
        [
          { occurred_at: { lt: '2025-01-02T01:00:00+01:00' } },
          ['a1', 'a2'],
          { occurred_at: { lt: '2025-01-02T01:00:00+01:00' } },
        ],
        [
          { affiliate_id: '@ada', currency: 'usd', type: { ne: 'bonus' } },
          ['a1'],
          { affiliate_id: { eq: '@ada' }, currency: { eq: 'usd' }, type: { ne: 'bonus' } },
        ],
        [{ status: 'unpaid', affiliate_id: '@bob' }, ['b1'], { affiliate_id: { eq: '@bob' } }],
      ],
      30,
    ),
  )('%j', async (filters, expected, normal) => {
    const { taken, payout } = await take({ filters: withIds(filters) });
    expect(taken.toSorted()).toEqual(expected.toSorted());
    expect(payout.filters).toEqual(withIds(normal));
  });
});

describe('search takes', () => {
  test.each(
    someOf<[search: string, taken: string[], shown: string | null]>(
      [
        ['ada', [...A, 'c1'], 'ada'],
        ['  LOVELACE ', A, 'LOVELACE'],
        ['ada love', A, 'ada love'],
        ['love\tcash@', A, 'love\tcash@'],
        ['ada bob', [], 'ada bob'],
        ['BÖB', ['b1'], 'BÖB'],
        ["o'neil", ['b1'], "o'neil"],
        ['100%', A, '100%'],
        ['%', A, '%'],
        ['a_1', A, 'a_1'],
        ['_', A, '_'],
        ['\\', [], '\\'],
        ['example.com', ALL, 'example.com'],
        ['adalovelace', [], 'adalovelace'],
        ['', ALL, null],
        [' \t ', ALL, null],
        ['x'.repeat(200), [], 'x'.repeat(200)],
      ],
      9,
    ),
  )('%j', async (search, expected, shown) => {
    const { taken, payout } = await take({ search });
    expect(taken.toSorted()).toEqual(expected.toSorted());
    expect(payout.search).toBe(shown);
  });

  test('and filters: both must match', async () => {
    expect((await take({ search: 'example', filters: { product_id: 'x' } })).taken).toEqual(['a1', 'b1']);
  });
});

describe('refused by name, and nothing is written:', () => {
  const big = Array.from({ length: 1001 }, (_, index) => `o${index}`);

  const inTurn = nothingChangesInTurn(() => dump(world));
  async function refused(body: unknown, reason: string, ...parts: string[]) {
    await inTurn(async () => {
      for (const path of [PAYOUTS, `${PAYOUTS}/preview`])
        expectRefusal(await api.post(path, body), 400, reason, ...parts);
    });
  }

  test.each(
    labelled<[string, string]>([
      [{ colour: 'red' }, 'unknown_filter', 'colour'],
      [{ affiliate: 1 }, 'unknown_filter', 'affiliate'],
      [{ Affiliate_id: 1 }, 'unknown_filter', 'Affiliate_id'],
      [{ toString: 1 }, 'unknown_filter', 'toString'],
      [{ '': 1 }, 'unknown_filter', ''],
      [{ affiliate_id: { gt: 1 } }, 'unknown_operator', 'gt'],
      [{ affiliate_id: { eq: 1, like: 'x' } }, 'unknown_operator', 'like'],
      [{ affiliate_id: { EQ: 1 } }, 'unknown_operator', 'EQ'],
      [{ is_ready_for_payout: { ne: true } }, 'unknown_operator', 'ne'],
      [{ is_ready_for_payout: [true] }, 'unknown_operator', 'in'],
      [{ currency: { ne: 'usd' } }, 'unknown_operator', 'ne'],
      [{ currency: { nin: ['usd'] } }, 'unknown_operator', 'nin'],
      [{ occurred_at: '2025-01-01' }, 'unknown_operator', 'eq'],
      [{ occurred_at: { in: ['2025-01-01'] } }, 'unknown_operator', 'in'],
      [{ currency: 'usd', total: [1] }, 'unknown_operator', 'in'],
      [{ currency: 'usd', total: { ne: 1 } }, 'unknown_operator', 'ne'],
      [{ total: { gt: 5 } }, 'invalid_filter', 'currency'],
      [{ affiliate_id: [] }, 'invalid_filter', 'affiliate_id'],
      [{ affiliate_id: { in: [] } }, 'invalid_filter', 'affiliate_id'],
      [{ order_id: { nin: [] } }, 'invalid_filter', 'order_id'],
      [{ affiliate_id: {} }, 'invalid_filter', 'affiliate_id'],
      [{ affiliate_id: { in: 7 } }, 'invalid_filter', 'affiliate_id'],
      [{ affiliate_id: { eq: [7] } }, 'invalid_filter', 'affiliate_id'],
      [{ affiliate_id: { in: [1, [2]] } }, 'invalid_filter', 'affiliate_id'],
      [{ affiliate_id: { in: [1, null] } }, 'invalid_filter', 'affiliate_id'],
      ...['1', 1.5, 0, -1, null, true, 2 ** 53, 1e300].flatMap((value) => [
        [{ affiliate_id: { eq: value } }, 'invalid_filter', 'affiliate_id'] as const,
        [{ program_id: [value] }, 'invalid_filter', 'program_id'] as const,
      ]),
      [{ affiliate_id: null }, 'invalid_filter', 'affiliate_id'],
      ...[1, '', null, true, 'x'.repeat(256)].flatMap((value) => [
        [{ product_id: { eq: value } }, 'invalid_filter', 'product_id'] as const,
        [{ order_id: [value] }, 'invalid_filter', 'order_id'] as const,
      ]),
      [{ payout_method: 'bank' }, 'invalid_filter', 'payout_method'],
      [{ payout_method: null }, 'invalid_filter', 'payout_method'],
      [{ type: 'Sale' }, 'invalid_filter', 'type'],
      [{ affiliate_status: ['active', 'gone'] }, 'invalid_filter', 'affiliate_status'],
      ...['true', 1, null].map(
        (value) => [{ is_ready_for_payout: { eq: value } }, 'invalid_filter', 'is_ready_for_payout'] as const,
      ),
      ...['us', 'usdd', 'xyz', '', 1, null, true].map(
        (value) => [{ currency: { eq: value } }, 'invalid_filter', 'currency'] as const,
      ),
      ...['5', 1.5, null, true, 2 ** 53].map(
        (value) => [{ currency: 'usd', total: { gt: value } }, 'invalid_filter', 'total'] as const,
      ),
      ...[
        'yesterday',
        '2025-02-30',
        '2025-13-01',
        '2025-01-01T00:00:00',
        '01/02/2025',
        '',
        0,
        null,
        true,
        '2025-1-1',
        '2025-01-01T25:00:00Z',
      ].map((value) => [{ occurred_at: { gte: value } }, 'invalid_filter', 'occurred_at'] as const),
      [{ occurred_at: { gte: '2025-02-01', lte: '2025-01-01' } }, 'invalid_filter', 'occurred_at'],
      [
        { occurred_at: { gte: '2025-01-01T00:00:00.001Z', lte: '2025-01-01T00:00:00.000Z' } },
        'invalid_filter',
        'occurred_at',
      ],
      [{ occurred_at: { gt: '2025-01-01', lt: '2025-01-02' } }, 'invalid_filter', 'occurred_at'],
      [{ currency: 'usd', total: { gte: 6, lte: 5 } }, 'invalid_filter', 'total'],
      [{ currency: 'usd', total: { gt: 5, lt: 5 } }, 'invalid_filter', 'total'],
      ...['paid', 'pending', 'voided', null, ['unpaid', 'paid'], { ne: 'paid' }, 1].map(
        (value) => [{ status: value }, 'invalid_filter', 'status'] as const,
      ),
      [{ order_id: big }, 'too_many_filters', '1000'],
      [{ order_id: big.slice(0, 501), product_id: big.slice(0, 501) }, 'too_many_filters', '1000'],
      [{ affiliate_id: big.map((_, index) => index + 1) }, 'too_many_filters', '1000'],
      [[1], 'invalid_filter', 'filters'],
      ['usd', 'invalid_filter', 'filters'],
      [7, 'invalid_filter', 'filters'],
      [false, 'invalid_filter', 'filters'],
    ]),
  )('filters %s', async (_, filters, reason, part) => {
    await refused({ filters }, reason, part.replace('1000', ''));
  });

  test('unknown ids in every operator, the first twenty by name', async () => {
    for (const operator of ['eq', 'ne']) {
      await refused({ filters: { affiliate_id: { [operator]: 999_999 } } }, 'unknown_affiliate', '999999');
      await refused({ filters: { program_id: { [operator]: 999_999 } } }, 'unknown_program', '999999');
    }
    for (const operator of ['in', 'nin'])
      await refused(
        { filters: { affiliate_id: { [operator]: [ids.ada, ids.foreign] } } },
        'unknown_affiliate',
        String(ids.foreign),
      );
    const many = Array.from({ length: 332 }, (_, index) => 800_000 + index);
    await refused(
      { filters: { affiliate_id: many } },
      'unknown_affiliate',
      '800000',
      '800019',
      'and 312 more',
    );
  });

  test.each(
    labelled<[string, string]>([
      [{ filter: {} }, 'unknown_field', 'filter'],
      [{ affiliate_id: 1 }, 'unknown_field', 'affiliate_id'],
      [{ require_all: true }, 'unknown_field', 'require_all'],
      [{ search: null }, 'invalid_body', 'search'],
      [{ search: 7 }, 'invalid_body', 'search'],
      [{ search: ['ada'] }, 'invalid_body', 'search'],
      [{ search: 'x'.repeat(201) }, 'invalid_body', 'search'],
      [{ ignore_minimum: 'true' }, 'invalid_body', 'ignore_minimum'],
      [{ ignore_minimum: null }, 'invalid_body', 'ignore_minimum'],
      [{ ignore_minimum: 1 }, 'invalid_body', 'ignore_minimum'],
    ]),
  )('the body %s', async (_, body, reason, part) => {
    await refused(body, reason, part);
  });

  test('a thousand values in fifty conditions are accepted', async () => {
    const filters = { order_id: big.slice(0, 500), product_id: { nin: big.slice(0, 500) } };
    expect((await api.post(`${PAYOUTS}/preview`, { filters })).status).toBe(200);
    expect(
      (await makePayout(api, { filters: { order_id: { nin: big.slice(0, 1000) } } })).commission_count,
    ).toBe(3);
    await api.delete(`${PAYOUTS}/${(await api.get(`${PAYOUTS}/current`)).body.id}`);
  });
});
