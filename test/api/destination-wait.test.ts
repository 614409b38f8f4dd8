import { beforeEach, expect, test } from 'vitest';
import { type Person, signedIn } from '../oauth/support.ts';
import { apiOf } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
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
beforeEach(async () => {
  const set = await api.patch('/v2/account', {
    destination_wait_hours: 48,
    time_zone: 'Europe/Berlin',
    debtor: { name: 'Shop', iban: 'DE02 1203 0000 0000 2020 51' },
  });
  expect(set.body).toMatchObject({ destination_wait_hours: 48 });
});

const SEPA = { type: 'sepa', account_holder: 'Ada Lovelace', iban: 'DE89370400440532013000' };
const at = (affiliate: number) => `${AFFILIATES}/${affiliate}/destination`;
const ask = (payout: string, format: string, query = '') =>
  api.get(`${PAYOUTS}/${payout}/payment-files/${format}${query}`);
const complete = (payout: Json, entries: object[]) =>
  api.put(`${PAYOUTS}/${payout.id}`, { commissions: entries });

/** The affiliates that the files leave out, and why. */
async function skipped(): Promise<Record<number, string>> {
  const { files } = (await api.get(`${PAYOUTS}/current/payment-files`)).body;
  const all = files.flatMap((file: Json) => file.skipped);
  return Object.fromEntries(all.map(({ affiliate_id, reason }: Json) => [affiliate_id, reason]));
}

/** Moves every change of these affiliates this many hours back. */
async function pass(hours: number, ...affiliates: number[]): Promise<void> {
  for (const [table, id, columns] of [
    ['affiliate_destinations', 'affiliate_id', ['created_at', 'replaced_at']],
    ['affiliates', 'id', ['paid_to_changed_at']],
  ] as const) {
    // computed first: a node of Citus refuses an UPDATE that computes with columns of times
    const earlier = columns.map((column) => `${column} - make_interval(hours => $1::int) as ${column}`);
    const moved = columns.map((column) => `${column} = m.${column}`);
    await world.query(
      `with moved as materialized (select account_id, id, ${earlier} from ${table} where ${id} = any($2))
       update ${table} t set ${moved} from moved m where t.account_id = m.account_id and t.id = m.id`,
      [hours, affiliates],
    );
  }
}

async function earner(fields: object = {}): Promise<Json> {
  const affiliate = await makeAffiliate(api, fields);
  await makeCommission(api, affiliate.id, { amount: 500, currency: 'eur' });
  return affiliate;
}

test('a changed bank account is left out of the file and of Complete until the waiting period is over', async () => {
  const [ada, bob] = [await earner(), await earner()];
  for (const { id } of [ada, bob]) await api.put(at(id), SEPA);
  await pass(48, ada.id, bob.id);
  const payout = await makePayout(api);
  expect(await skipped()).toEqual({});
  const changed = await api.put(at(ada.id), { ...SEPA, iban: 'GB29NWBK60161331926819' });
  const until = Date.parse(changed.body.waits_until) - Date.parse(changed.body.created_at);
  expect(until).toBe(48 * 3_600_000);
  expect((await api.get(at(bob.id))).body.destinations).toMatchObject([{ waits_until: null }]);

  const reason = (await skipped())[ada.id] ?? '';
  expect(await skipped()).toEqual({ [ada.id]: reason });
  expect(reason).toMatch(
    /^the destination changed less than 48 hours ago: paid from \d{4}-\d\d-\d\d \d\d:00 on \(Europe\/Berlin\)$/,
  );
  expectRefusal(
    await ask(payout.id, 'sepa'),
    400,
    'affiliates_not_in_file',
    reason,
    `(affiliates ${ada.id})`,
  );
  const file = await ask(payout.id, 'sepa', '?allow_skipped=true');
  expect(file.text).toContain(`P1-A${bob.id}<`);
  expect(file.text).not.toContain(`P1-A${ada.id}<`);

  const both = [ada, bob].map(({ id }) => ({ affiliate_id: id, is_paid: true }));
  await nothingChanges(world, async () => {
    const refused = await complete(payout, both);
    expectRefusal(refused, 409, 'destination_waiting', `affiliates ${ada.id}.`, changed.body.waits_until);
    const single = [{ affiliate_id: ada.id, currency: 'eur', is_paid: true }];
    expectRefusal(await complete(payout, single), 409, 'destination_waiting', `${ada.id}`);
  });
  await pass(48, ada.id);
  expect(await skipped()).toEqual({});
  expect((await api.get(at(ada.id))).body.destinations).toMatchObject([{ waits_until: null }]);
  expect((await complete(payout, both)).status).toBe(200);
});

test('waiting affiliates can be completed as not paid, and are owed again', async () => {
  const [ada, bob] = [await earner(), await earner()];
  const payout = await makePayout(api);
  await api.put(at(ada.id), SEPA);
  const done = await complete(payout, [
    { affiliate_id: ada.id, is_paid: false },
    { affiliate_id: bob.id, is_paid: true },
  ]);
  expect(done.status, done.text).toBe(200);
  expect((await makePayout(api)).totals).toMatchObject([{ amount: 500 }]);
});

test('a removed destination counts as changed, and a destination for another currency does not', async () => {
  const [removed, replaced, other] = [
    await earner({ paypal_email: 'old@example.com' }),
    await earner({ paypal_email: 'old2@example.com' }),
    await earner({ paypal_email: 'old3@example.com' }),
  ];
  await api.put(at(removed.id), SEPA);
  for (const currency of [undefined, 'eur']) await api.put(at(replaced.id), { ...SEPA, currency });
  await pass(48, removed.id, replaced.id);
  await makePayout(api);
  await api.delete(at(removed.id));
  await api.delete(`${at(replaced.id)}?currency=eur`);
  await api.put(at(other.id), { type: 'other', currency: 'usd' });
  expect(Object.keys(await skipped()).map(Number)).toEqual([removed.id, replaced.id]);
  await pass(48, removed.id, replaced.id);
  expect(await skipped()).toEqual({});
});

test('a PayPal address counts, an e-mail address only where Wise pays to it, a name never', async () => {
  const paypal = await earner({ paypal_email: 'a@example.com' });
  const wise = await earner({ payout_method: 'wise', name_first: 'Wise', email: 'w@example.com' });
  const record = await earner({ name_first: 'Record', paypal_email: 'r@example.com' });
  await api.put(at(record.id), { type: 'wise' });
  await pass(48, record.id);
  await makePayout(api);
  expect(await skipped()).toEqual({});
  const change = async (id: number, fields: object) => {
    const changed = await api.patch(`${AFFILIATES}/${id}`, fields);
    expect(changed.status, changed.text).toBe(200);
  };
  await change(paypal.id, { email: 'mail@example.com', name_last: 'New' });
  await change(wise.id, { name_last: 'New' });
  expect(await skipped()).toEqual({});
  await change(paypal.id, { paypal_email: 'b@example.com' });
  await change(wise.id, { email: 'v@example.com' });
  await change(record.id, { email: 's@example.com' });
  expect(Object.keys(await skipped()).map(Number)).toEqual([paypal.id, wise.id, record.id]);
});

longRun.test('a change of an address by a file counts too', async () => {
  const { id } = await earner({ email: 'i@example.com', paypal_email: 'a@example.com' });
  await makePayout(api);
  const csv = 'email,paypal_email\ni@example.com,b@example.com\n';
  const imported = await api.upload(`${AFFILIATES}/import`, csv);
  expect(imported.status, imported.text).toBe(200);
  expect(Object.keys(await skipped()).map(Number)).toEqual([id]);
});

longRun.test('the file of a paid payout stays as it was', async () => {
  const { id } = await earner();
  await api.put(at(id), SEPA);
  await pass(48, id);
  const payout = await makePayout(api);
  await completePayout(api, payout);
  await api.put(at(id), { ...SEPA, account_holder: 'Ada King' });
  expect((await ask(payout.id, 'sepa')).text).toContain('Ada Lovelace');
});

test('a key can extend the wait, and only an owner or the operator can shorten it', async () => {
  await nothingChanges(world, async () => {
    for (const hours of [0, 47]) {
      const refused = await api.patch('/v2/account', { destination_wait_hours: hours });
      expectRefusal(refused, 403, 'owner_required', 'destination_wait_hours');
    }
    for (const hours of [-1, 721, 1.5]) {
      const refused = await api.patch('/v2/account', { destination_wait_hours: hours });
      expectRefusal(refused, 400, 'invalid_body', 'destination_wait_hours');
    }
  });
  const as = ({ cookie, csrf }: Person) =>
    apiOf(world.url, '').request('PATCH', '/v2/account', {
      body: { destination_wait_hours: 47 },
      headers: { cookie: `payhook_session=${cookie}`, 'payhook-csrf': csrf },
    });
  expectRefusal(await as(await signedIn(world, { role: 'member', api })), 403, 'owner_required');
  expect((await as(await signedIn(world, { role: 'owner', api }))).status).toBe(200);
  expect((await api.patch('/v2/account', { destination_wait_hours: 48 })).status).toBe(200);
  expect((await api.patch('/v2/account', { destination_wait_hours: 72 })).status).toBe(200);
  const other = await world.otherAccount();
  expect((await other.get('/v2/account')).body.destination_wait_hours).toBe(0);
});
