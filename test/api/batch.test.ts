import { beforeEach, describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  allOf,
  COMMISSIONS,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  newestEvent,
  nothingChanges,
  PAYOUTS,
  unique,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test, with one affiliate. */
const api = useAccount(world);
let affiliate: number;
beforeEach(async () => {
  affiliate = (await makeAffiliate(api)).id;
});

describe('a batch', () => {
  const item = (external_id: string, fields: object = {}) => ({
    external_id,
    affiliate_id: affiliate,
    amount: 100,
    ...fields,
  });
  const batch = (commissions: unknown, rest: object = {}) =>
    api.post(`${COMMISSIONS}/batch`, { commissions, ...rest });
  const brief = (answer: Json) =>
    answer.body.items.map((one: Json) => [
      one.index,
      one.status,
      one.commission?.external_id ?? one.error.reason,
    ]);

  test('takes all items, returns each in order, and publishes one event', async () => {
    const known = await makeCommission(api, affiliate, { external_id: 'known', amount: 100 });
    const answer = await batch([
      item('a'),
      item('known', { currency: 'usd' }),
      item('b', { currency: 'JPY' }),
      item('a'),
    ]);
    expect(answer.status).toBe(200);
    expect(brief(answer)).toEqual([
      [0, 201, 'a'],
      [1, 200, 'known'],
      [2, 201, 'b'],
      [3, 200, 'a'],
    ]);
    expect(answer.body.items[1].commission).toEqual(known);
    for (const { commission } of answer.body.items)
      expect((await api.get(`${COMMISSIONS}/${commission.id}`)).body).toEqual(commission);
    const events = await eventsOf(world, api, 'commissions.imported');
    expect(events.map(({ payload }) => payload.data)).toEqual([
      {
        object: 'commission_import',
        source: 'batch',
        created: 2,
        totals: [
          { currency: 'jpy', amount: 100, count: 1 },
          { currency: 'usd', amount: 100, count: 1 },
        ],
      },
    ]);
  });

  test('that is already stored changes nothing and publishes nothing', async () => {
    await batch([item('a'), item('b')]);
    await nothingChanges(world, async () =>
      expect(brief(await batch([item('b'), item('a')]))).toEqual([
        [0, 200, 'b'],
        [1, 200, 'a'],
      ]),
    );
  });

  const bad = () => [
    item('good'),
    item('who', { affiliate_id: 999_999 }),
    item('what', { program_id: 999_999 }),
    item('much', { amount: undefined }),
    item('money', { currency: 'xyz' }),
    item('when', { occurred_at: 'yesterday' }),
    item('known', { amount: 7 }),
    item('good', { amount: 8 }),
  ];

  test('with a bad item is refused whole, naming every bad one', async () => {
    await makeCommission(api, affiliate, { external_id: 'known' });
    await nothingChanges(world, async () => {
      const answer = await batch(bad());
      expectRefusal(
        answer,
        400,
        'invalid_items',
        '8 items',
        'commissions[1]',
        '999999',
        'commissions[2]',
        'commissions[3]',
        'commissions[4]',
        'commissions[5]',
      );
      // an invalid item does not hide a conflict with stored records
      expectRefusal(
        await batch([item('good'), item('known', { amount: 7 })]),
        400,
        'invalid_items',
        'commissions[1]',
        'known',
      );
      expectRefusal(
        await batch([item('x'), item('x', { amount: 8 })]),
        400,
        'invalid_items',
        'commissions[1]',
      );
    });
  });

  test('with partial takes the valid items and gives a reason for each of the others', async () => {
    await makeCommission(api, affiliate, { external_id: 'known' });
    const answer = await batch(bad(), { partial: true });
    expect(brief(answer)).toEqual([
      [0, 201, 'good'],
      [1, 400, 'unknown_affiliate'],
      [2, 400, 'unknown_program'],
      [3, 400, 'invalid_amount'],
      [4, 400, 'invalid_body'],
      [5, 400, 'invalid_body'],
      [6, 409, 'duplicate_external_id'],
      [7, 409, 'duplicate_external_id'],
    ]);
    expect(answer.body.items[1].error).toEqual({
      code: 'bad_request',
      reason: 'unknown_affiliate',
      message: expect.stringContaining('999999'),
    });
    expect(answer.body.items[6].error.code).toBe('conflict');
    const stored = await allOf(api, COMMISSIONS);
    expect(stored.map(({ external_id }) => external_id).toSorted()).toEqual(['good', 'known']);
    expect((await newestEvent(world, api, 'commissions.imported')).created).toBe(1);
  });

  test('may have 1 to 1,000 items', async () => {
    const many = Array.from({ length: 1000 }, () => item(unique('many')));
    const answer = await batch(many);
    expect(answer.body.items).toHaveLength(1000);
    await nothingChanges(world, async () => {
      expectRefusal(await batch([...many, item('more')]), 400, 'invalid_body', 'commissions');
      expectRefusal(await batch([]), 400, 'invalid_body', 'commissions');
      expectRefusal(
        await batch([item('a'), { ...item('b'), colour: 1 }], { partial: true }),
        400,
        'unknown_field',
        'commissions[1].colour',
      );
    });
    expect((await api.post(`${PAYOUTS}/preview`)).body.amount).toBe(100_000);
  });
});
