import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  eventsOf,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  onlyAudited,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const at = (externalId: string) => `${AFFILIATES}/by-external-id/${encodeURIComponent(externalId)}`;
const typesOf = async (account: Api) => (await eventsOf(world, account)).map(({ type }) => type);

describe('PUT by your own id', () => {
  test('creates a missing affiliate, with every field of POST', async () => {
    const fields = {
      email: 'Ada@Example.com',
      name_first: 'Ada',
      paypal_email: 'pay@example.com',
      payout_method: 'paypal',
      minimum_payout: { USD: 2000 },
      metadata: { crm: 'lead-311' },
    };
    const made = await api.put(at('crm/7 ä'), fields);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ ...fields, minimum_payout: { usd: 2000 }, external_id: 'crm/7 ä' });
    expect((await api.get(`${AFFILIATES}/${made.body.id}`)).body).toEqual({
      ...made.body,
      balance: [],
      has_tax_profile: false,
      last_paid_at: null,
      destination_type: null,
      paid_through: 'paypal',
    });
    expect(await eventsOf(world, api)).toMatchObject([
      { type: 'affiliate.created', payload: { data: made.body } },
    ]);
  });

  test('changes the named fields of the existing one, and keeps the rest', async () => {
    const made = (await api.put(at('crm-7'), { email: 'ada@example.com', name_first: 'Ada', slug: 'ada' }))
      .body;
    const changed = await api.put(at('crm-7'), { name_first: 'Augusta', slug: null });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...made, name_first: 'Augusta', slug: null, updated_at: changed.body.updated_at },
    ]);
    expect(await typesOf(api)).toEqual(['affiliate.created', 'affiliate.updated']);
  });

  test('with the same values changes nothing and publishes nothing', async () => {
    const fields = { email: 'ada@example.com', metadata: { a: '1', b: '2' }, minimum_payout: { usd: 1 } };
    const made = await api.put(at('crm-7'), fields);
    const again = await onlyAudited(world, () => api.put(at('crm-7'), fields));
    expect([again.status, again.body]).toEqual([200, made.body]);
    expect((await onlyAudited(world, () => api.put(at('crm-7'), {}))).body).toEqual(made.body);
  });

  test('shows a new destination in the unpaid payout and raises its revision', async () => {
    const { id } = await makeAffiliate(api, { external_id: 'crm-7' });
    await makeCommission(api, id);
    await makePayout(api);
    await api.put(at('crm-7'), { paypal_email: 'new@example.com' });
    const { body } = await api.get(`${PAYOUTS}/current`);
    expect([body.revision, body.affiliates[0].paypal_email]).toEqual([2, 'new@example.com']);
  });

  test('needs an unused e-mail address for a new affiliate', async () => {
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    const ada = await makeAffiliate(api, { external_id: 'crm-7' });
    await nothingChanges(world, async () => {
      expectRefusal(
        await api.put(at('new'), { name_first: 'Ada' }),
        400,
        'invalid_body',
        'email is required',
      );
      for (const name of ['new', ada.external_id]) {
        const answer = await api.put(at(name), { email: 'BOB@example.com' });
        expectRefusal(answer, 409, 'duplicate_email', `affiliate ${bob.id}`);
        expect(answer.headers.get('location')).toBe(`${AFFILIATES}/${bob.id}`);
      }
    });
  });

  test.each([
    ['a blank before it', ' crm-7'],
    ['a NUL', 'crm\u0000'],
    ['an invisible character', 'crm\u200b7'],
    ['256 characters', 'x'.repeat(256)],
  ])('refuses an external_id with %s', async (_, externalId) => {
    await nothingChanges(world, async () => {
      const answer = await api.put(at(externalId), { email: 'ada@example.com' });
      expectRefusal(answer, 400, 'invalid_body', 'external_id');
      expectRefusal(await api.get(at(externalId)), 404, 'resource_missing');
    });
  });

  test('changes an affiliate whose external_id would be refused today', async () => {
    const { id } = await makeAffiliate(api, { external_id: 'old' });
    await world.query(`update affiliates set external_id = ' old' where id = $1`, [id]);
    expect((await api.put(at(' old'), { name_first: 'Ada' })).body).toMatchObject({ id, name_first: 'Ada' });
  });

  test('names the affiliate in its path only, and follows the rules of POST', async () => {
    await nothingChanges(world, async () => {
      const put = (fields: object) => api.put(at('crm-7'), { email: 'ada@example.com', ...fields });
      expectRefusal(await put({ external_id: 'crm-7' }), 400, 'unknown_field', 'external_id');
      expectRefusal(await put({ paypal_email: 'nobody' }), 400, 'invalid_body', 'paypal_email');
      expectRefusal(await put({ minimum_payout: { xyz: 1 } }), 400, 'invalid_body', 'minimum_payout');
    });
  });

  test('with an Idempotency-Key gives its first response again', async () => {
    const key = { 'idempotency-key': 'signed up' };
    const made = await api.put(at('crm-7'), { email: 'ada@example.com' }, key);
    await api.put(at('crm-7'), { name_first: 'Ada' });
    const again = await api.put(at('crm-7'), { email: 'ada@example.com' }, key);
    expect([again.status, again.text]).toEqual([201, made.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});

test('GET by your own id is the affiliate with its balance', async () => {
  const { id } = await makeAffiliate(api, { external_id: 'a/b?c' });
  await makeCommission(api, id);
  const [own, plain] = [await api.get(at('a/b?c')), await api.get(`${AFFILIATES}/${id}`)];
  expect([own.status, own.text]).toEqual([200, plain.text]);
  expectRefusal(await api.get(at('A/B?C')), 404, 'resource_missing');
});
