import { describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  bookDebt,
  COMMISSIONS,
  completePayout,
  eventsOf,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  newestEvent,
  nothingChanges,
  onlyAudited,
  PAYOUTS,
  TIMESTAMP,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const FULL = {
  external_id: 'crm-7',
  email: 'Ada@Example.com',
  name_first: 'Ada',
  name_last: 'Lovelace',
  slug: 'ada',
  paypal_email: 'pay@example.com',
  payout_method: 'wise',
  commissions_are: 'net',
  legal_type: 'business',
  country: 'GB',
  is_ready_for_payout: false,
  status: 'inactive',
  minimum_payout: { usd: 2000, jpy: 0 },
  language: 'de',
  is_notified: false,
  metadata: { crm: 'lead-311', note: '' },
};

describe('an affiliate', () => {
  test('shows exactly the fields of the record; reading it adds the balance', async () => {
    const made = await api.post(AFFILIATES, FULL);
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      ...FULL,
      id: expect.any(Number),
      object: 'affiliate',
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    const withBalance = {
      ...made.body,
      balance: [],
      has_tax_profile: false,
      last_paid_at: null,
      destination_type: null,
      paid_through: 'wise',
    };
    expect((await api.get(`${AFFILIATES}/${made.body.id}`)).body).toEqual(withBalance);
    expect((await api.get(AFFILIATES)).body.data).toEqual([withBalance]);
    expect(await newestEvent(world, api, 'affiliate.created')).toEqual(made.body);
  });

  test('needs only an e-mail address', async () => {
    expect(await makeAffiliate(api, { email: 'a@b.example' })).toMatchObject({
      external_id: null,
      name_first: null,
      name_last: null,
      slug: null,
      paypal_email: null,
      payout_method: null,
      commissions_are: null,
      legal_type: null,
      country: null,
      is_ready_for_payout: true,
      status: 'active',
      minimum_payout: null,
      language: null,
      is_notified: true,
      metadata: {},
    });
  });

  test('has an e-mail address and an external_id that no other affiliate of the account has, in any case', async () => {
    await makeAffiliate(api, { email: 'ada@example.com', external_id: 'x' });
    const bob = await makeAffiliate(api, { email: 'bob@example.com', external_id: 'y' });
    await nothingChanges(world, async () => {
      expectRefusal(
        await api.post(AFFILIATES, { email: 'ADA@example.COM' }),
        409,
        'duplicate_email',
        'email',
      );
      expectRefusal(
        await api.post(AFFILIATES, { email: 'c@example.com', external_id: 'x' }),
        409,
        'duplicate_external_id',
        'external_id',
      );
      const one = `${AFFILIATES}/${bob.id}`;
      expectRefusal(await api.patch(one, { email: 'Ada@Example.com' }), 409, 'duplicate_email', 'email');
      expectRefusal(
        await api.patch(one, { external_id: 'x', name_first: 'New' }),
        409,
        'duplicate_external_id',
        'external_id',
      );
    });
    const other = await world.otherAccount();
    expect((await makeAffiliate(other, { email: 'ada@example.com', external_id: 'x' })).id).not.toBe(bob.id);
  });

  test('that already exists is named by its id, on create and on change', async () => {
    const ada = await makeAffiliate(api, { email: 'ada@example.com', external_id: 'x' });
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    const other = await world.otherAccount();
    await makeAffiliate(other, { email: 'cyd@example.com', external_id: 'z' });
    const refusals = [
      [await api.post(AFFILIATES, { email: 'ADA@example.com' }), ada, 'email'],
      [await api.post(AFFILIATES, { email: 'new@example.com', external_id: 'x' }), ada, 'external_id'],
      // both are taken: the error names the affiliate with this external_id
      [await api.post(AFFILIATES, { email: 'bob@example.com', external_id: 'x' }), ada, 'external_id'],
      [await api.patch(`${AFFILIATES}/${bob.id}`, { email: 'ada@example.com' }), ada, 'email'],
      [await api.patch(`${AFFILIATES}/${bob.id}`, { external_id: 'x' }), ada, 'external_id'],
    ] as const;
    for (const [answer, { id }, field] of refusals) {
      expectRefusal(answer, 409, `duplicate_${field}`, `${field}: affiliate ${id} of the account`);
      expect(answer.headers.get('location')).toBe(`${AFFILIATES}/${id}`);
    }
    // an affiliate of another account does not count
    expect((await api.post(AFFILIATES, { email: 'cyd@example.com', external_id: 'z' })).status).toBe(201);
  });

  test.each([
    ['a name with one letter too many', { name_first: 'x'.repeat(201) }, 'name_first'],
    ['an empty name', { name_last: '' }, 'name_last'],
    ['an empty external_id', { external_id: '' }, 'external_id'],
    ['no e-mail address', { email: 'nobody' }, 'email'],
    ['an e-mail address with a space', { email: 'a b@example.com' }, 'email'],
    ['an e-mail address of 321 characters', { email: `${'x'.repeat(309)}@example.com` }, 'email'],
    ['no PayPal address', { paypal_email: 'nobody' }, 'paypal_email'],
    ['another method', { payout_method: 'bank' }, 'payout_method'],
    ['another legal type', { legal_type: 'company' }, 'legal_type'],
    ['a country of three letters', { country: 'GBR' }, 'country'],
    ['a country in words', { country: 'Great Britain' }, 'country'],
    ['another status', { status: 'gone' }, 'status'],
    ['a minimum without a currency', { minimum_payout: { xyz: 1 } }, 'minimum_payout'],
    ['a minimum below zero', { minimum_payout: { usd: -1 } }, 'minimum_payout'],
    ['a broken minimum', { minimum_payout: { usd: 1.5 } }, 'minimum_payout'],
    ['a minimum as text', { minimum_payout: { usd: '5' } }, 'minimum_payout'],
    ['a minimum twice', { minimum_payout: { usd: 1, USD: 2 } }, 'minimum_payout'],
    ['a list of minimums', { minimum_payout: [5] }, 'minimum_payout'],
  ])('with %s is refused by name, on create and on change', async (_, fields, name) => {
    const { id } = await makeAffiliate(api);
    await nothingChanges(world, async () => {
      expectRefusal(
        await api.post(AFFILIATES, { email: 'new@example.com', ...fields }),
        400,
        'invalid_body',
        name,
      );
      expectRefusal(
        await api.patch(`${AFFILIATES}/${id}`, { name_first: 'New', ...fields }),
        400,
        'invalid_body',
        name,
      );
    });
  });
});

describe('changing an affiliate', () => {
  test('sets named fields, clears null ones and keeps absent ones', async () => {
    const made = (await api.post(AFFILIATES, FULL)).body;
    const one = `${AFFILIATES}/${made.id}`;
    const changed = await api.patch(one, {
      name_first: 'Augusta',
      paypal_email: null,
      minimum_payout: { EUR: 1 },
    });
    expect(changed.body).toEqual({
      ...made,
      name_first: 'Augusta',
      paypal_email: null,
      minimum_payout: { eur: 1 },
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    expect(Date.parse(changed.body.updated_at)).toBeGreaterThanOrEqual(Date.parse(made.updated_at));
    expect(await newestEvent(world, api, 'affiliate.updated')).toEqual(changed.body);
    const cleared = ['external_id', 'name_first', 'name_last', 'slug', 'payout_method', 'minimum_payout'];
    const bare = await api.patch(one, Object.fromEntries(cleared.map((name) => [name, null])));
    for (const name of cleared) expect(bare.body[name]).toBeNull();
    expect(bare.body).toMatchObject({ email: FULL.email, status: 'inactive', is_ready_for_payout: false });
  });

  test('cannot clear required fields', async () => {
    const { id } = await makeAffiliate(api);
    await nothingChanges(world, async () => {
      for (const name of ['email', 'status', 'is_ready_for_payout'])
        expectRefusal(await api.patch(`${AFFILIATES}/${id}`, { [name]: null }), 400, 'invalid_body', name);
      for (const name of ['id', 'object', 'created_at', 'balance'])
        expectRefusal(await api.patch(`${AFFILIATES}/${id}`, { [name]: 1 }), 400, 'unknown_field', name);
    });
  });

  test('with no fields changes nothing and publishes nothing', async () => {
    const made = await makeAffiliate(api);
    const answer = await onlyAudited(world, () => api.patch(`${AFFILIATES}/${made.id}`, {}));
    expect(answer.body).toEqual(made);
  });

  test('with the same values changes nothing and publishes nothing, whatever the order of keys', async () => {
    const { created_at, updated_at, object, id, ...same } = (await api.post(AFFILIATES, FULL)).body;
    await makeCommission(api, id);
    const answer = await onlyAudited(world, () =>
      api.patch(`${AFFILIATES}/${id}`, {
        ...same,
        minimum_payout: { JPY: 0, usd: 2000 },
        metadata: { note: '', crm: 'lead-311' },
      }),
    );
    expect(answer.body).toEqual({ ...same, created_at, updated_at, object, id });
  });

  test('with the same values does not raise the revision of a payout', async () => {
    const { id } = await makeAffiliate(api, { paypal_email: 'pay@example.com' });
    await makeCommission(api, id);
    await makePayout(api);
    await api.patch(`${AFFILIATES}/${id}`, { paypal_email: 'pay@example.com' });
    expect((await api.get(`${PAYOUTS}/current`)).body.revision).toBe(1);
  });

  test('shows in the unpaid payout at once, and never in a paid one', async () => {
    const { id } = await makeAffiliate(api, { name_first: 'Old', paypal_email: 'old@example.com' });
    await makeCommission(api, id);
    const payout = await makePayout(api);
    const line = async () => (await api.get(`${PAYOUTS}/${payout.id}`)).body.affiliates[0];
    await api.patch(`${AFFILIATES}/${id}`, { name_first: 'New', paypal_email: null });
    expect(await line()).toMatchObject({ name: 'New', paypal_email: null });
    const current = (await api.get(`${PAYOUTS}/current`)).body;
    expect(current.revision).toBe(2);
    await completePayout(api, current);
    const before = await line();
    await api.patch(`${AFFILIATES}/${id}`, { name_first: 'Newer', paypal_email: 'newer@example.com' });
    expect(await line()).toEqual(before);
    const revisions = (await eventsOf(world, api, 'payout.updated')).map(
      ({ payload }) => payload.data.revision,
    );
    expect(revisions).toEqual([2]);
  });
});

describe('the balance of an affiliate', () => {
  test('shows pending, unpaid, in payout and paid per currency, which sum to all commissions', async () => {
    const { id } = await makeAffiliate(api);
    const other = await makeAffiliate(api);
    const sell = (amount: number, fields: object = {}) => makeCommission(api, id, { amount, ...fields });
    await sell(100);
    await sell(7, { currency: 'jpy' });
    await makeCommission(api, other.id);
    await completePayout(api, await makePayout(api), [{ affiliate_id: id, is_paid: true }]);
    await sell(20);
    await sell(30);
    await makePayout(api, { filters: { affiliate_id: id } });
    await sell(4);
    await sell(5, { occurred_at: '2999-01-01T00:00:00Z' });
    const voided = await sell(99);
    await api.post(`/v2/affiliates/commissions/${voided.id}/void`);
    await bookDebt(world, id, -1);
    const balance = [
      { currency: 'jpy', pending: 0, unpaid: 0, in_payout: 0, paid: 7 },
      { currency: 'usd', pending: 5, unpaid: 3, in_payout: 50, paid: 100 },
    ];
    expect((await api.get(`${AFFILIATES}/${id}`)).body.balance).toEqual(balance);
    expect((await api.get(`${AFFILIATES}/${other.id}`)).body.balance).toEqual([
      { currency: 'usd', pending: 0, unpaid: 1000, in_payout: 0, paid: 0 },
    ]);
  });
});

describe('an inactive affiliate', () => {
  test('still gets commissions, which are paid once the affiliate is active again', async () => {
    const { id } = await makeAffiliate(api, { status: 'inactive' });
    await makeCommission(api, id);
    expectRefusal(await api.post(PAYOUTS), 409, 'nothing_to_pay', 'affiliate_inactive');
    await api.patch(`${AFFILIATES}/${id}`, { status: 'active' });
    expect((await makePayout(api)).amount).toBe(1000);
  });
});

describe('search of affiliates', () => {
  test.each([
    ['lovelace', ['ada']],
    ['LOVE ada', ['ada']],
    ['example.com', ['ada', 'bob', 'cyd']],
    ['pay@', ['bob']],
    ['shop_1%', ['cyd']],
    ['%', ['cyd']],
    ['_', ['cyd']],
    ['nobody', []],
    ['', ['ada', 'bob', 'cyd']],
  ])('%j finds %j', async (search, expected) => {
    await makeAffiliate(api, { email: 'ada@example.com', name_first: 'Ada', name_last: 'Lovelace' });
    await makeAffiliate(api, { email: 'bob@example.com', paypal_email: 'pay@bob.example' });
    await makeAffiliate(api, { email: 'cyd@example.com', slug: 'Shop_1%' });
    const answer = await api.get(`${AFFILIATES}?sort=email&search=${encodeURIComponent(search)}`);
    expect(answer.body.data.map(({ email }: { email: string }) => email.slice(0, 3))).toEqual(expected);
    expect(answer.body.pagination.total).toBe(expected.length);
  });

  test('of more than 200 characters is refused', async () => {
    expectRefusal(await api.get(`${AFFILIATES}?search=${'x'.repeat(201)}`), 400, 'invalid_query', 'search');
  });
});

test("stored fields of an affiliate's commission never change with the affiliate", async () => {
  const { id } = await makeAffiliate(api);
  const commission = await makeCommission(api, id);
  await api.patch(`${AFFILIATES}/${id}`, { email: 'else@example.com', status: 'inactive' });
  expect((await api.get(`${COMMISSIONS}/${commission.id}`)).body).toEqual(commission);
});
