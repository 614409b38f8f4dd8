import { expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { makeEndpoint, seedAttempts } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  dump,
  EVENTS,
  eventsOf,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const PERSON = {
  email: 'Ada.Byron@Example.com',
  paypal_email: 'countess@pay.example',
  payout_method: 'paypal',
  name_first: 'Augusta',
  name_last: 'O"Lovelace',
  slug: 'ada-slug',
  external_id: 'partner/ada',
  metadata: { note: 'likes engines' },
  minimum_payout: { gbp: 1_000_000 },
};
/** Texts that no row and no response may contain once the person is erased, in lower case. */
const TRACES = [
  'ada.byron@example.com',
  'countess@pay',
  'augusta',
  'lovelace',
  'ada-slug',
  'partner/ada',
  'engines',
];

/** The names of others. */
const OTHERS = /nada\.byron@example\.com|augustana|xcountess@pay\.example, and augusta/g;

const tracesIn = (text: string) => {
  const rest = text.toLowerCase().replaceAll(OTHERS, '');
  return TRACES.filter((trace) => rest.includes(trace));
};

async function done(answer: ReturnType<Api['get']>): Promise<Json> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

/** Puts traces of the person into every text field. Returns their affiliate id and that of a payout. */
async function leaveTraces(of: Api): Promise<{ id: number; payout: string; endpoint: string }> {
  const endpoint = await makeEndpoint(of);
  const csv = 'email,name_first,name_last\nada.byron@example.com,Ada,Byron\n';
  const put = `${AFFILIATES}/by-external-id/${encodeURIComponent(PERSON.external_id)}`;
  const { id } = await done(
    of.request('PUT', put, {
      body: { ...PERSON, external_id: undefined },
      headers: { 'Idempotency-Key': 'ada.byron@example.com' },
    }),
  );
  await done(
    of.upload('/v2/imports?kind=affiliates&accept_guesses=true&file_name=of%20ada.byron@example.com', csv),
  );
  await done(of.patch(`${AFFILIATES}/${id}`, PERSON));
  await makeCommission(of, id, {
    external_id: 'ada.byron@example.com-1',
    order_id: 'order of ADA.BYRON@example.com',
    customer_email: 'countess@pay.example',
    description: 'for Augusta alone',
    metadata: { who: 'Augusta O"Lovelace' },
  });
  const bank = {
    type: 'sepa',
    currency: 'eur',
    account_holder: 'Augusta Lovelace',
    iban: 'DE89370400440532013000',
  };
  await done(of.put(`${AFFILIATES}/${id}/destination`, bank));
  const euros = await makeCommission(of, id, { currency: 'eur' });
  await done(of.post(`${COMMISSIONS}/${euros.id}/refund`, { external_id: 'refund-1', amount: 1 }));
  // below their minimum, so the payout excludes it
  await makeCommission(of, id, { currency: 'gbp' });
  const payout = await makePayout(of, { search: 'augusta ada-slug' });
  await completePayout(of, payout, [{ affiliate_id: id, is_paid: true, payment_reference: 'to Augusta' }]);
  await done(
    of.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, {
      reason: 'countess@pay.example is closed',
      currency: 'usd',
      amount: 1,
    }),
  );
  await done(
    of.post('/v2/affiliates/payout-schedules', {
      name: 'for Augusta O"Lovelace',
      every: 'month',
      day: 1,
      search: 'countess@pay.example',
    }),
  );
  await done(
    of.post('/v2/affiliates/refunds', {
      external_id: 'refund:ada.byron@example.com',
      order_id: 'order of another Ada.Byron@example.com',
      reason: 'ada.byron@example.com asked',
    }),
  );
  for (const data of [
    '{"email":"ada.byron@example.com","name":"Augusta","amount":12345678901234567890}',
    '{"first":"Augusta","last":"O\\"Lovelace"}',
    '{"text":"write to \\u0063ountess@pay.example, please","amount":1.50}',
  ])
    await done(
      of.request('POST', EVENTS, {
        body: `{"type":"order.created","data":${data}}`,
        headers: { 'content-type': 'application/json' },
      }),
    );
  for (const name of ['external_id', 'ordering_key', 'owner'])
    await done(of.post(EVENTS, { type: 'order.created', data: {}, [name]: 'of ada.byron@example.com' }));
  const tags = ['ada.byron@example.com', 'of Augusta Lovelace', 'nada.byron@example.com', 'kept'];
  await done(of.post(EVENTS, { type: 'order.created', data: {}, tags }));
  for (const event of (await done(of.get(`/v2/webhook-endpoints/${endpoint}/events?per_page=100`))).data)
    await seedAttempts(world, event, [{ status: 500, body: 'no Augusta O"Lovelace here' }]);
  return { id, payout: payout.id, endpoint };
}

/** The amounts of all accounts. */
const amounts = () =>
  world.query<{ of: string; amount: string }>(`
    select 'commission' as of, amount::text from commissions
    union all select 'line', amount::text from payout_line_totals
    union all select 'exclusion', amount::text from payout_exclusions
    union all select 'refund', amount::text from refund_items
    union all select 'payout', totals::text from payouts
    order by 1, 2`);

test('the traces of a person disappear from every table and response; amounts and other accounts stay', async () => {
  const other = await world.otherAccount();
  await leaveTraces(other);
  const { id, payout, endpoint } = await leaveTraces(api);
  const near = await makeAffiliate(api, { email: 'nada.byron@example.com', name_first: 'Augustana' });
  const text = await makeCommission(api, near.id, {
    description: 'sold by xcountess@pay.example, and Augusta',
  });
  await keepHouse(world);
  const otherId = uuidOf((await other.get('/v2/account')).body.id);
  const ours = uuidOf((await api.get('/v2/account')).body.id);
  const theirs = (rows: string[]) => rows.filter((row) => row.includes(otherId));
  const [before, owed] = [await dump(world), await amounts()];
  expect(tracesIn(before.filter((row) => row.includes(ours)).join('\n'))).toEqual(TRACES);

  const answer = await api.post(`${AFFILIATES}/${id}/erase`);
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      object: 'erasure',
      affiliate_id: id,
      status: 'in_progress',
      requested_at: expect.any(String),
      completed_at: null,
    },
  ]);
  const changes = async () =>
    (await eventsOf(world, api, 'affiliate.updated'))
      .filter(({ payload }) => payload.data.id === id)
      .map(({ payload }) => payload.changes);
  // before anything of the log is rewritten, because it is sent
  const nulls = (...fields: string[]) => Object.fromEntries(fields.map((field) => [field, null]));
  expect((await changes()).at(-1)).toEqual({
    added: {},
    updated: nulls('email', 'is_notified', 'is_ready_for_payout', 'metadata', 'status'),
    removed: nulls('external_id', 'name_first', 'name_last', 'paypal_email', 'payout_method', 'slug'),
  });
  const named = (await changes()).map((each) => Object.keys(each).flatMap((kind) => Object.keys(each[kind])));
  await keepHouse(world);
  // which fields changed is still known
  expect(
    (await changes()).map((each) => Object.keys(each).flatMap((kind) => Object.keys(each[kind]))),
  ).toEqual(named);
  for (const each of await changes())
    for (const values of Object.values<object>(each))
      expect(Object.values(values).every((value) => value === null)).toBe(true);
  const after = await dump(world);
  expect(after.filter((row) => row.includes(ours) && tracesIn(row).length > 0)).toEqual([]);
  expect(theirs(after)).toEqual(theirs(before));
  expect([...new Set(owed.map((each) => each.of))]).toEqual([
    'commission',
    'exclusion',
    'line',
    'payout',
    'refund',
  ]);
  expect(await amounts()).toEqual(owed);
  expect((await api.get(`${COMMISSIONS}/${text.id}`)).body.description).toContain(
    'xcountess@pay.example, and Augusta',
  );

  for (const path of [
    `${AFFILIATES}?search=byron`,
    `${AFFILIATES}/${id}`,
    `${PAYOUTS}/${payout}`,
    `${PAYOUTS}/${payout}/affiliates`,
    `${PAYOUTS}/${payout}/payment-files/summary`,
    `${COMMISSIONS}?affiliate_id=${id}`,
    '/v2/affiliates/refunds',
    '/v2/affiliates/payout-schedules',
    '/v2/audit-log',
    '/v2/imports',
    `/v2/webhook-endpoints/${endpoint}/events`,
  ])
    expect(tracesIn((await api.get(path)).text), path).toEqual([]);
  expect((await api.get(`${PAYOUTS}/${payout}/payment-files/summary`)).text).toContain('10.00');
  expect((await api.post(`${AFFILIATES}/${id}/erase`)).body).toEqual({
    ...answer.body,
    status: 'completed',
    completed_at: expect.any(String),
  });
  for (const tag of ['kept', 'nada.byron@example.com'])
    expect((await api.get(`${EVENTS}?tag=${tag}`)).body.pagination.total, tag).toBe(1);
  const again = await api.post(AFFILIATES, { email: PERSON.email, external_id: PERSON.external_id });
  expect(again.status, again.text).toBe(201);
  expect(again.body.id).not.toBe(id);
});

test('an affiliate in the unpaid payout stays, and nobody erases the affiliate of another account', async () => {
  const { id } = await makeAffiliate(api, { name_first: 'Grace' });
  await makeCommission(api, id);
  const payout = await makePayout(api);
  const refused = await api.post(`${AFFILIATES}/${id}/erase`);
  expect([refused.status, refused.reason]).toEqual([409, 'affiliate_in_payout']);
  const other = await world.otherAccount();
  expect((await other.post(`${AFFILIATES}/${id}/erase`)).reason).toBe('resource_missing');
  expect((await api.get(`${AFFILIATES}/${id}`)).body.name_first).toBe('Grace');
  await completePayout(api, payout);
  expect((await api.post(`${AFFILIATES}/${id}/erase`)).status).toBe(200);
});

const uuidOf = (id: string) => id.replace(/^\w+_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
