import { expect, test } from 'vitest';
import { recordBefore, withoutTime } from '../support/changes.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  csv,
  ENDPOINTS,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  unique,
  withoutLists,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const ok = async (answer: Promise<Json>): Promise<Json> => {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
};
const newest = async (type: string) => (await eventsOf(world, api, type)).at(-1)?.payload;
const none = { added: {}, updated: {}, removed: {} };

test('a field that is null counts as missing, an object is one value, and updated_at is left out', async () => {
  const metadata = { a: '1', b: '2' };
  const { id } = await makeAffiliate(api, { name_first: 'Zoë', metadata });
  const cases: [object, object][] = [
    [{ name_last: 'Okafor' }, { added: { name_last: 'Okafor' } }],
    [{ name_first: 'Ada' }, { updated: { name_first: 'Zoë' } }],
    [{ name_first: null }, { removed: { name_first: 'Ada' } }],
    [
      { name_first: 'Eve', name_last: null, status: 'inactive' },
      { added: { name_first: 'Eve' }, updated: { status: 'active' }, removed: { name_last: 'Okafor' } },
    ],
    [{ metadata: { a: '1', b: '3' } }, { updated: { metadata } }],
    [{ metadata: {} }, { updated: { metadata: { a: '1', b: '3' } } }],
    [{ minimum_payout: { usd: 5000 } }, { added: { minimum_payout: { usd: 5000 } } }],
  ];
  for (const [change, changes] of cases) {
    await ok(api.patch(`${AFFILIATES}/${id}`, change));
    expect((await newest('affiliate.updated')).changes).toEqual({ ...none, ...changes });
  }
});

test('what commissions and payouts were before each change, whatever changes them', async () => {
  const { id } = await makeAffiliate(api);
  const sales = [await makeCommission(api, id), await makeCommission(api, id), await makeCommission(api, id)];
  const one = (index: number) => `${COMMISSIONS}/${sales[index].id}`;
  const payout = await makePayout(api);
  const line = `${PAYOUTS}/${payout.id}/affiliates/${id}`;
  const refund = { external_id: unique('refund'), amount: 100 };
  const returns = async () => (await allOf(api, `${line}/returned`))[0];
  /** What is done, and the record that an event says is changed. */
  const steps: [string, string, () => Promise<Json>][] = [
    ['commission.updated', one(0), () => api.post(`${one(0)}/refund`, refund)],
    ['commission.updated', one(0), () => api.post(`/v2/affiliates/refunds/${refund.external_id}/reverse`)],
    ['commission.updated', one(1), () => api.post(`${one(1)}/hold`)],
    ['commission.updated', one(1), () => api.post(`${one(1)}/unhold`)],
    ['commission.voided', one(2), () => api.post(`${one(2)}/void`, { reason: 'hers' })],
    ['payout.updated', '', () => api.patch(`${AFFILIATES}/${id}`, { paypal_email: 'a@pay.example' })],
    [
      'payout.paid',
      '',
      () => api.put(`${PAYOUTS}/${payout.id}`, { commissions: [{ affiliate_id: id, is_paid: true }] }),
    ],
    ['payout.updated', '', () => api.post(`${line}/returned`, { reason: 'closed', amount: 1 })],
    ['payout.updated', '', async () => api.delete(`${line}/returned/${(await returns()).id}`)],
  ];
  for (const [type, path, act] of steps) {
    const read = async () => withoutLists(await ok(api.get(path || `${PAYOUTS}/${payout.id}`)));
    const before = await read();
    await ok(act());
    const event = await newest(type);
    expect(event.data, type).toEqual(await read());
    expect(withoutTime(recordBefore(event)), type).toEqual(withoutTime(before));
  }
  // each event of a payout begins where the one before it ended
  const all = (await eventsOf(world, api)).filter(({ payload }) => payload.data.id === payout.id);
  expect(all.length).toBe(9);
  for (const [index, { payload }] of all.entries())
    if (index > 0)
      expect(withoutTime(recordBefore(payload))).toEqual(withoutTime(all[index - 1]?.payload.data));
});

test('an import and its undoing say of each affiliate what it was before, and nothing that the record does not show', async () => {
  const [first, second, same] = [
    await makeAffiliate(api, { name_first: 'Ada' }),
    await makeAffiliate(api, { name_first: 'Eve', name_last: 'Ude' }),
    await makeAffiliate(api, { name_first: 'Same' }),
  ];
  const file = csv(
    'email,name_first,name_last,destination_type,account_holder,iban',
    `${first.email},Ada,Okafor,sepa,Ada Okafor,DE89370400440532013000`,
    `${second.email},Ida,,,,`,
    `${same.email},Same,,,,`,
  );
  const made = await ok(api.upload('/v2/imports?kind=affiliates&accept_guesses=true', file));
  const changesOf = async () =>
    (await eventsOf(world, api, 'affiliate.updated')).map(({ payload }) => [
      payload.data.id,
      payload.changes,
    ]);
  const imported = [
    [first.id, { ...none, added: { name_last: 'Okafor' } }],
    [second.id, { ...none, updated: { name_first: 'Eve' }, removed: { name_last: 'Ude' } }],
  ];
  expect(await changesOf()).toEqual(imported);
  await ok(api.post(`/v2/imports/${made.import_id}/undo`));
  expect(await changesOf()).toEqual([
    ...imported,
    [first.id, { ...none, removed: { name_last: 'Okafor' } }],
    [second.id, { ...none, updated: { name_first: 'Ida' }, added: { name_last: 'Ude' } }],
  ]);
  expect(JSON.stringify(await eventsOf(world, api))).not.toContain('3000');
});

test('an event that would be too large with its previous values names the fields only', async () => {
  const large = (letter: string) =>
    Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`.padEnd(40, 'k'), letter.repeat(500)]),
    );
  const { id } = await makeAffiliate(api, { metadata: large('\u0001'), name_last: 'Okafor' });
  await ok(
    api.patch(`${AFFILIATES}/${id}`, { metadata: large('\u0002'), name_first: 'Ada', name_last: null }),
  );
  const event = await newest('affiliate.updated');
  expect(event.changes).toEqual({
    added: { name_first: null },
    updated: { metadata: null },
    removed: { name_last: null },
  });
  expect(event.data.metadata).toEqual(large('\u0002'));
  await ok(api.patch(`${AFFILIATES}/${id}`, { metadata: { a: '1' } }));
  expect((await newest('affiliate.updated')).changes.updated).toEqual({ metadata: large('\u0002') });
});

test('filters act as triggers of fields, and a trial of a filter reads changes', async () => {
  const filters: Record<string, object> = {
    any: { 'changes.updated.amount': { $exists: true } },
    enough: { 'changes.updated.amount': { $gte: 1000 } },
    held: { 'changes.updated.status': 'unpaid', 'data.status': 'pending' },
    untouched: { 'changes.updated.amount': { $exists: false } },
    ended: { 'changes.removed.available_at': { $exists: true } },
  };
  const endpoints: Record<string, string> = {};
  for (const [name, filter] of Object.entries(filters))
    endpoints[name] = await makeEndpoint(api, { event_types: ['commission.updated'], filter });
  const { id } = await makeCommission(api, (await makeAffiliate(api)).id);
  const one = `${COMMISSIONS}/${id}`;
  await ok(api.post(`${one}/refund`, { external_id: unique('refund'), amount: 100 }));
  await ok(api.post(`${one}/refund`, { external_id: unique('refund'), amount: 100 }));
  await ok(api.post(`${one}/hold`));
  const [large, small, hold] = (await eventsOf(world, api, 'commission.updated')).map(
    ({ payload }) => payload,
  );
  const expected: Record<string, Json[]> = {
    any: [large, small],
    enough: [large],
    held: [hold],
    untouched: [hold],
    ended: [hold],
  };
  for (const [name, events] of Object.entries(expected)) {
    const rows = await allOf(api, `${ENDPOINTS}/${endpoints[name]}/events?sort=id`);
    expect([name, rows.map((row) => row.id)]).toEqual([name, events.map((event) => event.id)]);
    for (const payload of [large, small, hold]) {
      const { matches } = await ok(api.post(`${ENDPOINTS}/${endpoints[name]}/test-filter`, { payload }));
      expect([name, payload.changes, matches]).toEqual([name, payload.changes, events.includes(payload)]);
    }
  }
});

test('a test event of an update has the given changes, by default none', async () => {
  const path = `${ENDPOINTS}/${await makeEndpoint(api)}`;
  const data = { id: 'po_1', note: ',"data":' };
  const changes = { ...none, updated: { data: { data: ',"changes":' } } };
  const sent = async (body: object) => {
    const { id } = await ok(api.post(`${path}/test`, body));
    const { payload } = await ok(api.get(`${path}/events/${id}`));
    return [payload.is_test, payload.changes, payload.data];
  };
  expect(await sent({ type: 'order.created', data })).toEqual([true, undefined, data]);
  expect(await sent({ type: 'order.updated', data, changes })).toEqual([true, changes, data]);
  const { data: payout } = (await ok(api.get('/v2/event-types'))).data.find(
    ({ type }: Json) => type === 'payout.paid',
  ).example;
  expect(await sent({ type: 'payout.paid', data: payout })).toEqual([true, none, payout]);
  expect(await sent({ type: 'payout.paid', data: payout, changes })).toEqual([true, changes, payout]);
  expectRefusal(
    await api.post(`${path}/test`, { type: 'order.created', data, changes: { updated: {} } }),
    400,
    'invalid_body',
    'changes',
  );
});
