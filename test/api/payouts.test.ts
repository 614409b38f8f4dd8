import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  bookDebt,
  COMMISSIONS,
  completePayout,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  newestEvent,
  nothingChanges,
  PAYOUTS,
  TIMESTAMP,
  withoutLists,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const FUTURE = '2999-01-01T00:00:00Z';
const reasons = (payout: Json) => payout.excluded.map(({ reason }: Json) => reason);
const lines = (payout: Json) => payout.affiliates.map((line: Json) => line.affiliate_id);

describe('a new payout', () => {
  test('shows exactly the fields of the record', async () => {
    const ada = await makeAffiliate(api, {
      email: 'ada@example.com',
      name_first: 'Ada',
      name_last: 'Lovelace',
      paypal_email: 'pay@example.com',
      payout_method: 'paypal',
    });
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    await makeCommission(api, ada.id, { amount: 1050 });
    await makeCommission(api, ada.id, { amount: 7, currency: 'JPY' });
    await makeCommission(api, bob.id, { amount: 950 });
    const key = (await api.get('/v2/api-keys')).body.data[0].id;
    const made = await api.post(PAYOUTS);
    expect(made.status).toBe(201);
    expect(made.headers.get('etag')).toBe('"1"');
    const none = { paid_amount: 0, paid_count: 0, carried_amount: 0, released_amount: 0, released_count: 0 };
    const undecided = { is_paid: null, payment_reference: null, returned_amount: 0 };
    const line = (currency: string, amount: number, paid_through: string | null) => ({
      currency,
      amount,
      commission_count: 1,
      ...undecided,
      paid_amount: 0,
      carried_amount: 0,
      is_in_file: false,
      destination: null,
      paid_through,
    });
    expect(made.body).toEqual({
      id: expect.stringMatching(/^po_[0-9a-f]{32}$/),
      object: 'affiliate_payout',
      number: 1,
      status: 'unpaid',
      filters: null,
      search: null,
      as_of: expect.stringMatching(TIMESTAMP),
      currency: null,
      amount: null,
      totals: [
        { currency: 'jpy', amount: 7, commission_count: 1, affiliate_count: 1, ...none },
        { currency: 'usd', amount: 2000, commission_count: 2, affiliate_count: 2, ...none },
      ],
      affiliate_count: 2,
      commission_count: 3,
      affiliates: [
        {
          affiliate_id: ada.id,
          name: 'Ada Lovelace',
          email: 'ada@example.com',
          paypal_email: 'pay@example.com',
          payout_method: 'paypal',
          is_ready_for_payout: true,
          commission_count: 2,
          totals: [line('jpy', 7, 'paypal'), line('usd', 1050, 'paypal')],
          ...undecided,
        },
        {
          affiliate_id: bob.id,
          name: null,
          email: 'bob@example.com',
          paypal_email: null,
          payout_method: null,
          is_ready_for_payout: true,
          commission_count: 1,
          totals: [line('usd', 950, null)],
          ...undecided,
        },
      ],
      excluded: [],
      shared_destinations: [],
      signals: [],
      metadata: {},
      revision: 1,
      created_by: key,
      schedule_id: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
      paid_at: null,
      paid_by: null,
      approval: { status: 'not_needed', decided_by: null, decided_at: null, note: null },
    });
    const one = await api.get(`${PAYOUTS}/${made.body.id}`);
    expect([one.text, one.headers.get('etag')]).toEqual([made.text, expect.stringMatching(/^"1-/)]);
    expect((await api.get(`${PAYOUTS}/current`)).text).toBe(made.text);
    expect((await api.get(PAYOUTS)).body.data).toEqual([withoutLists(made.body)]);
  });

  test('of one currency shows its sum at the top', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id, { amount: 1234, currency: 'KWD' });
    expect(await makePayout(api)).toMatchObject({ currency: 'kwd', amount: 1234 });
  });

  test.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['filters null', { filters: null }],
    ['filters {}', { filters: {} }],
    ["filters [], PHP's empty object", { filters: [] }],
    ['filters equal to the defaults of create', { filters: { status: 'unpaid' } }],
    ['an empty search', { search: '  ' }],
    ['ignore_minimum false', { ignore_minimum: false }],
  ])('with %s takes all eligible commissions', async (_, body) => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const made = await makePayout(api, body);
    expect(made).toMatchObject({ filters: null, search: null, commission_count: 1 });
  });

  test('takes only commissions that are unpaid, not on hold, not voided and in no payout', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id, { external_id: 'paid' });
    await completePayout(api, await makePayout(api));
    await makeCommission(api, id, { external_id: 'held', occurred_at: FUTURE, amount: 30 });
    const voided = await makeCommission(api, id, { external_id: 'voided' });
    await api.post(`${COMMISSIONS}/${voided.id}/void`);
    await makeCommission(api, id, { external_id: 'good' });
    const payout = await makePayout(api);
    const taken = await allOf(api, `${PAYOUTS}/${payout.id}/commissions`);
    expect(taken.map((commission) => commission.external_id)).toEqual(['good']);
    const sums = [{ currency: 'usd', amount: 30, commission_count: 1, affiliate_count: 1 }];
    expect(payout.excluded).toEqual([{ reason: 'on_hold', affiliate_count: 1, totals: sums }]);
    expect(payout.number).toBe(2);
  });

  test('leaves an inactive affiliate out, unless the filters name the status', async () => {
    const { id } = await makeAffiliate(api, { status: 'inactive' });
    await makeCommission(api, id);
    const active = await makeAffiliate(api);
    await makeCommission(api, active.id);
    const first = await makePayout(api);
    expect([lines(first), reasons(first)]).toEqual([[active.id], ['affiliate_inactive']]);
    await completePayout(api, first);
    const second = await makePayout(api, { filters: { affiliate_status: 'inactive' } });
    expect([lines(second), reasons(second)]).toEqual([[id], []]);
  });

  test('keeps an affiliate who becomes inactive while inside', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const payout = await makePayout(api);
    await api.patch(`${AFFILIATES}/${id}`, { status: 'inactive' });
    const paid = await completePayout(api, await currentOf(api));
    expect(paid.totals[0]).toMatchObject({ amount: 1000, paid_amount: 1000 });
    expect(paid.id).toBe(payout.id);
  });

  test('is refused while there is an unpaid one, with its id and address', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const current = await makePayout(api);
    await makeCommission(api, id);
    await nothingChanges(world, async () => {
      const second = await api.post(PAYOUTS);
      expectRefusal(second, 409, 'current_payout_exists', current.id);
      const location = new URL(second.headers.get('location') ?? '', world.url);
      expect((await api.get(location.pathname)).body.id).toBe(current.id);
    });
    const preview = await api.post(`${PAYOUTS}/preview`);
    expect(preview.body).toMatchObject({ commission_count: 1, current_payout_id: current.id });
  });

  test('is refused when there is nothing to pay, counting the affiliates left out by reason', async () => {
    expectRefusal(await api.post(PAYOUTS), 409, 'nothing_to_pay');
    const [poor, idle, late, owing] = [
      await makeAffiliate(api, { minimum_payout: { usd: 5000 } }),
      await makeAffiliate(api, { status: 'inactive' }),
      await makeAffiliate(api),
      await makeAffiliate(api),
    ];
    for (const { id } of [poor, idle, idle]) await makeCommission(api, id);
    await makeCommission(api, late.id, { occurred_at: FUTURE });
    await makeCommission(api, owing.id, { amount: 100 });
    await bookDebt(world, owing.id, -500);
    await nothingChanges(world, async () => {
      const answer = await api.post(PAYOUTS);
      expectRefusal(answer, 409, 'nothing_to_pay');
      const { message } = answer.body.error;
      expect(message).toMatch(/below_minimum: 1 .*1 commission/);
      expect(message).toMatch(/affiliate_inactive: 1 .*2 commission/);
      expect(message).toMatch(/on_hold: 1 .*1 commission/);
      expect(message).toMatch(/negative_balance: 1 .*2 commission/);
      expectRefusal(await api.get(`${PAYOUTS}/current`), 404, 'no_current_payout');
    });
  });
});

const currentOf = async (client: Api) => (await client.get(`${PAYOUTS}/current`)).body;

describe('preview', () => {
  test('shows exactly what create then does, and writes nothing', async () => {
    const [ada, bob] = [
      await makeAffiliate(api, { name_first: 'Ada' }),
      await makeAffiliate(api, { minimum_payout: { usd: 9999 } }),
    ];
    for (const amount of [10, 20, 30]) await makeCommission(api, ada.id, { amount });
    await makeCommission(api, bob.id);
    await makeCommission(api, bob.id, { currency: 'eur' });
    const body = {
      filters: { currency: ['usd', 'eur'], occurred_at: { gte: '2020-01-01' } },
      search: ' EXAMPLE ',
    };
    const preview = await nothingChanges(world, () => api.post(`${PAYOUTS}/preview`, body));
    const payout = await makePayout(api, body);
    const { current_payout_id, ...same } = preview.body;
    expect(current_payout_id).toBeNull();
    const later = ['id', 'number', 'revision', 'created_by', 'created_at', 'updated_at', 'approval'];
    for (const name of later) expect(same[name]).toBeNull();
    expect({ ...same, as_of: 0 }).toEqual({
      ...payout,
      as_of: 0,
      ...Object.fromEntries(later.map((name) => [name, null])),
    });
    expect(Object.keys(same).toSorted()).toEqual(Object.keys(payout).toSorted());
  });

  test('with nothing to pay is an empty response, not a refusal', async () => {
    const preview = await api.post(`${PAYOUTS}/preview`);
    expect(preview.body).toMatchObject({
      totals: [],
      affiliates: [],
      excluded: [],
      affiliate_count: 0,
      amount: null,
    });
  });
});

describe('current', () => {
  const aliases = ['', '/download', '/affiliates', '/commissions', '/excluded'];

  test('is an alias in every GET, and 404 in each when there is no unpaid payout', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    for (const suffix of aliases)
      expectRefusal(await api.get(`${PAYOUTS}/current${suffix}`), 404, 'no_current_payout');
    const payout = await makePayout(api);
    for (const suffix of aliases) {
      const [byId, byAlias] = [
        await api.get(`${PAYOUTS}/${payout.id}${suffix}`),
        await api.get(`${PAYOUTS}/current${suffix}`),
      ];
      expect([byAlias.status, byAlias.text]).toEqual([200, byId.text]);
    }
    await completePayout(api, payout);
    for (const suffix of aliases)
      expectRefusal(await api.get(`${PAYOUTS}/current${suffix}`), 404, 'no_current_payout');
  });

  test('changes nothing: PUT and DELETE need the id', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    await makePayout(api);
    await nothingChanges(world, async () => {
      const body = { commissions: [{ affiliate_id: id, is_paid: true }] };
      expectRefusal(await api.put(`${PAYOUTS}/current`, body), 404, 'current_is_read_only', 'id');
      expectRefusal(await api.delete(`${PAYOUTS}/current`), 404, 'current_is_read_only', 'id');
    });
  });
});

describe('deleting', () => {
  test('an unpaid payout releases its commissions, once', async () => {
    const { id } = await makeAffiliate(api);
    const commission = await makeCommission(api, id);
    const payout = await makePayout(api);
    expect((await api.get(`${COMMISSIONS}/${commission.id}`)).body).toMatchObject({
      payout_id: payout.id,
      status: 'unpaid',
    });
    const removed = await api.delete(`${PAYOUTS}/${payout.id}`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expectRefusal(await api.delete(`${PAYOUTS}/${payout.id}`), 404, 'resource_missing');
    expectRefusal(await api.get(`${PAYOUTS}/${payout.id}`), 404, 'resource_missing');
    expect((await api.get(`${COMMISSIONS}/${commission.id}`)).body).toMatchObject({
      payout_id: null,
      status: 'unpaid',
    });
    expect(await newestEvent(world, api, 'payout.deleted')).toEqual(withoutLists(payout));
    const again = await makePayout(api);
    expect(again.number).toBeGreaterThan(payout.number);
    expect(again.amount).toBe(payout.amount);
  });

  test('a paid payout is refused', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id);
    const payout = await completePayout(api, await makePayout(api));
    await nothingChanges(world, async () =>
      expectRefusal(await api.delete(`${PAYOUTS}/${payout.id}`), 409, 'payout_is_paid'),
    );
  });
});

test('every change of a payout publishes one event that shows it as GET does', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id);
  const payout = await makePayout(api);
  expect(await newestEvent(world, api, 'payout.created')).toEqual(withoutLists(payout));
  await api.patch(`${AFFILIATES}/${id}`, { paypal_email: 'new@example.com' });
  const revised = await currentOf(api);
  expect(revised.revision).toBe(2);
  expect(await newestEvent(world, api, 'payout.updated')).toEqual(withoutLists(revised));
  await completePayout(api, revised);
  const paid = (await api.get(`${PAYOUTS}/${payout.id}`)).body;
  expect(await newestEvent(world, api, 'payout.paid')).toEqual(withoutLists(paid));
  const types = (await eventsOf(world, api)).map(({ type }) => type);
  expect(types).toEqual([
    'affiliate.created',
    'commission.created',
    'payout.created',
    'affiliate.updated',
    'payout.updated',
    'payout.paid',
  ]);
});
