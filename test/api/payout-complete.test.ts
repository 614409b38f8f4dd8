import { beforeEach, describe, expect, test } from 'vitest';
import { isLong, longRun, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  completePayout,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  TIMESTAMP,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test, with a payout of three affiliates: a 1000, b 2000 (and 7 JPY), c 3000. */
const api = useAccount(world);
let a: number;
let b: number;
let c: number;
let payout: Json;
let path: string;
beforeEach(async () => {
  [a, b, c] = [(await makeAffiliate(api)).id, (await makeAffiliate(api)).id, (await makeAffiliate(api)).id];
  await makeCommission(api, a, { amount: 1000 });
  await makeCommission(api, b, { amount: 1500 });
  await makeCommission(api, b, { amount: 500 });
  await makeCommission(api, b, { amount: 7, currency: 'jpy' });
  await makeCommission(api, c, { amount: 3000 });
  payout = await makePayout(api);
  path = `${PAYOUTS}/${payout.id}`;
});

const paid = (affiliate_id: unknown, is_paid: unknown = true) => ({ affiliate_id, is_paid });
const put = (commissions: unknown, rest: object = {}, headers: Record<string, string> = {}) =>
  api.put(path, { commissions, ...rest }, headers);

/** A refusal that leaves every row unchanged. */
async function refused(
  send: () => ReturnType<typeof put>,
  status: number,
  reason: string,
  ...parts: string[]
) {
  await nothingChanges(world, async () => expectRefusal(await send(), status, reason, ...parts));
}

describe('completing', () => {
  test('marks affiliates as paid, releases unpaid and unlisted ones, and freezes the sums', async () => {
    const key = payout.created_by;
    const done = await put([{ ...paid(a), payment_reference: 'PP-1' }, paid(b, false)]);
    expect(done.status).toBe(200);
    expect(done.headers.get('etag')).toBe('"2"');
    expect(done.body).toMatchObject({
      id: payout.id,
      number: payout.number,
      status: 'paid',
      revision: 2,
      paid_at: expect.stringMatching(TIMESTAMP),
      paid_by: key,
      commission_count: 5,
      affiliate_count: 3,
      unlisted_affiliate_count: 1,
      unlisted_line_count: 1,
    });
    const total = (currency: string, count: number, people: number) => ({
      currency,
      commission_count: count,
      affiliate_count: people,
    });
    expect(done.body.totals).toEqual([
      {
        ...total('jpy', 1, 1),
        amount: 7,
        paid_amount: 0,
        paid_count: 0,
        carried_amount: 0,
        released_amount: 7,
        released_count: 1,
      },
      {
        ...total('usd', 4, 3),
        amount: 6000,
        paid_amount: 1000,
        paid_count: 1,
        carried_amount: 0,
        released_amount: 5000,
        released_count: 3,
      },
    ]);
    expect(
      done.body.affiliates.map((line: Json) => [line.affiliate_id, line.is_paid, line.payment_reference]),
    ).toEqual([
      [a, true, 'PP-1'],
      [b, false, null],
      [c, false, null],
    ]);
    const one = (await api.get(path)).body;
    const { unlisted_affiliate_count, unlisted_line_count, ...same } = done.body;
    expect(one).toEqual(same);
  });

  test('keeps the lines of unpaid affiliates, but not their commissions', async () => {
    await completePayout(api, payout, [paid(a), paid(b, false)]);
    const lines = await allOf(api, `${path}/affiliates`);
    expect(lines.map((line) => [line.affiliate_id, line.is_paid, line.commission_count])).toEqual([
      [a, true, 1],
      [b, false, 3],
      [c, false, 1],
    ]);
    const kept = await allOf(api, `${path}/commissions`);
    expect(kept.map((row) => [row.affiliate_id, row.status, row.is_paid])).toEqual([[a, 'paid', true]]);
    expect(kept[0]?.paid_at).toBe((await api.get(path)).body.paid_at);
    const released = await allOf(api, `${COMMISSIONS}?status=unpaid`);
    expect(released.map((row) => [row.affiliate_id, row.payout_id, row.is_paid, row.paid_at])).toEqual(
      [c, b, b, b].map((id) => [id, null, false, null]),
    );
  });

  test('makes released commissions owed again, and paid ones never again', async () => {
    await completePayout(api, payout, [paid(b)]);
    const next = await makePayout(api);
    expect(next.affiliates.map((line: Json) => line.affiliate_id)).toEqual([a, c]);
    await completePayout(api, next);
    expectRefusal(await api.post(PAYOUTS), 409, 'nothing_to_pay');
  });

  test('with everyone unpaid gives a paid payout of zero', async () => {
    const done = await completePayout(api, payout, [paid(a, false), paid(b, false), paid(c, false)]);
    expect(done).toMatchObject({ status: 'paid', unlisted_affiliate_count: 0 });
    expect(done.totals.map((t: Json) => [t.paid_amount, t.paid_count, t.released_amount])).toEqual([
      [0, 0, 7],
      [0, 0, 6000],
    ]);
    expect((await makePayout(api)).totals.map((t: Json) => t.amount)).toEqual([7, 6000]);
  });

  longRun.test('covers all currencies of an affiliate', async () => {
    const done = await completePayout(api, payout, [paid(b)]);
    expect(done.totals.map((t: Json) => [t.currency, t.paid_amount])).toEqual([
      ['jpy', 7],
      ['usd', 2000],
    ]);
  });

  longRun.test('accepts 7.0 as 7', async () => {
    const body = `{"commissions":[{"affiliate_id":${a}.0,"is_paid":true},{"affiliate_id":${b}e0,"is_paid":true}]}`;
    const done = await api.put(path, body, { 'content-type': 'application/json' });
    expect(done.body.affiliates.map((line: Json) => line.is_paid)).toEqual([true, true, false]);
  });

  test('happens once', async () => {
    await completePayout(api, payout);
    await refused(() => put([paid(a)]), 409, 'payout_is_paid');
    await refused(() => put([paid(a, false)]), 409, 'payout_is_paid');
  });
});

describe('completing is refused, and nothing changes, when', () => {
  const MALFORMED: readonly (readonly [name: string, body: object, field: string])[] = [
    ['commissions are missing', {}, 'commissions'],
    ['the list is empty', { commissions: [] }, 'commissions'],
    ['the list is null', { commissions: null }, 'commissions'],
    ['the list is an object', { commissions: {} }, 'commissions'],
    ['an entry is a number', { commissions: [7] }, 'commissions[0]'],
    ['an entry is null', { commissions: [null] }, 'commissions[0]'],
    ['an entry lacks affiliate_id', { commissions: [{ is_paid: true }] }, 'commissions[0].affiliate_id'],
    ['an entry lacks is_paid', { commissions: [{ affiliate_id: 1 }] }, 'commissions[0].is_paid'],
    ...['1', 1.5, 0, -1, null, true, [], {}, 2 ** 53, 1e300].map(
      (id) =>
        [
          `affiliate_id is ${JSON.stringify(id)}`,
          { commissions: [paid(id)] },
          'commissions[0].affiliate_id',
        ] as const,
    ),
    ...['true', 1, 0, null, 'yes', [], {}].map(
      (value) =>
        [
          `is_paid is ${JSON.stringify(value)}`,
          { commissions: [paid(1, value)] },
          'commissions[0].is_paid',
        ] as const,
    ),
    ...[7, '', true, [], 'x'.repeat(256)].map(
      (value) =>
        [
          `payment_reference is ${JSON.stringify(value).slice(0, 20)}`,
          { commissions: [{ ...paid(1), payment_reference: value }] },
          'commissions[0].payment_reference',
        ] as const,
    ),
    ['require_all is a text', { commissions: [paid(1)], require_all: 'true' }, 'require_all'],
    ['require_all is null', { commissions: [paid(1)], require_all: null }, 'require_all'],
  ];
  test('a field is malformed', async () => {
    for (const [name, body, field] of MALFORMED)
      await refused(() => api.put(path, body), 400, 'invalid_body', field).catch((error) => {
        throw new Error(name, { cause: error });
      });
  });

  test.each([
    ['of the body', { commissions: [paid(1)], notes: 1 }, 'notes'],
    ['of an entry', { commissions: [{ ...paid(1), paid: 5 }] }, 'commissions[0].paid'],
  ])('a key %s is unknown', async (_, body, field) => {
    await refused(() => api.put(path, body), 400, 'unknown_field', field);
  });

  test('an affiliate is listed twice', async () => {
    await refused(() => put([paid(a), paid(b), paid(a, false)]), 400, 'duplicate_entry', String(a));
    await refused(() => put([paid(a), paid(a)]), 400, 'duplicate_entry', String(a));
  });

  test('an affiliate is not in the payout', async () => {
    const idle = (await makeAffiliate(api)).id;
    await refused(
      () => put([paid(a), paid(idle), paid(999_999)]),
      400,
      'affiliate_not_in_payout',
      String(idle),
      '999999',
    );
    const strangers = Array.from({ length: 332 }, (_, index) => paid(800_000 + index));
    await refused(() => put(strangers), 400, 'affiliate_not_in_payout', '800000', '800019', 'and 312 more');
    const foreign = await makeAffiliate(await world.otherAccount());
    await refused(() => put([paid(foreign.id)]), 400, 'affiliate_not_in_payout', String(foreign.id));
  });

  test('require_all is set and an affiliate is missing', async () => {
    await refused(() => put([paid(a), paid(b)], { require_all: true }), 400, 'affiliates_missing', String(c));
    const done = await put([paid(a), paid(b, false), paid(c)], { require_all: true });
    expect([done.status, done.body.unlisted_affiliate_count]).toEqual([200, 0]);
  });
});

describe('If-Match', () => {
  const stale = { 'if-match': '"1"' };
  const change = () => api.patch(`${AFFILIATES}/${a}`, { paypal_email: 'elsewhere@example.com' });

  test('with the revision seen, or any, allows the change', async () => {
    const done = await put([paid(a)], {}, { 'if-match': '"1"' });
    expect([done.status, done.headers.get('etag')]).toEqual([200, '"2"']);
    await makePayout(api);
    const current = (await api.get(`${PAYOUTS}/current`)).body;
    expect((await api.delete(`${PAYOUTS}/${current.id}`, { 'if-match': '*' })).status).toBe(204);
  });

  test('with an older revision is refused, with the current revision and its totals', async () => {
    await change();
    for (const send of [() => put([paid(a)], {}, stale), () => api.delete(path, stale)]) {
      await refused(send, 409, 'payout_changed', 'revision 2', '60.00 USD to ');
      expect((await send()).headers.get('etag')).toBe('"2"');
    }
    expect((await api.delete(path, { 'if-match': '"1", "2"' })).status).toBe(204);
  });

  test.each(someOf(['1', '"1', 'nonsense', '', '"1" "2"', '"1",'], 2))('%j is no ETag', async (value) => {
    await refused(() => put([paid(a)], {}, { 'if-match': value }), 400, 'invalid_if_match', 'If-Match');
    await refused(() => api.delete(path, { 'if-match': value }), 400, 'invalid_if_match', 'If-Match');
  });

  test('changes with every destination in the payout, and with no other', async () => {
    const outside = await makeAffiliate(api);
    const revision = async () => (await api.get(path)).body.revision;
    await api.patch(`${AFFILIATES}/${outside.id}`, { paypal_email: 'x@example.com' });
    await api.patch(`${AFFILIATES}/${a}`, { slug: 'new' });
    await api.patch(`${AFFILIATES}/${a}`, {});
    await api.patch(`${AFFILIATES}/${a}`, { paypal_email: null, name_first: null });
    expect(await revision()).toBe(1);
    let expected = 1;
    for (const body of [
      { email: 'new@example.com' },
      { name_first: 'New' },
      { name_last: 'Name' },
      { paypal_email: 'pay@example.com' },
      { payout_method: 'wise' },
      { is_ready_for_payout: false },
    ]) {
      expect((await api.patch(`${AFFILIATES}/${a}`, body)).status).toBe(200);
      expected += 1;
      expect(await revision()).toBe(expected);
    }
    expect((await api.get(path)).body.affiliates[0]).toMatchObject({
      name: 'New Name',
      email: 'new@example.com',
      paypal_email: 'pay@example.com',
      payout_method: 'wise',
      is_ready_for_payout: false,
    });
  });
});

test('paid data never changes: names and destinations stay as they were at that moment', async () => {
  await completePayout(api, payout, [paid(a), paid(b)]);
  const parts = ['', '/affiliates', '/commissions', '/excluded', '/download'];
  const read = () => Promise.all(parts.map(async (part) => (await api.get(path + part)).text));
  const before = await read();
  for (const id of [a, b, c]) {
    const body = {
      email: `changed-${id}@example.com`,
      name_first: 'Changed',
      paypal_email: 'c@example.com',
      payout_method: 'other',
      status: 'inactive',
    };
    expect((await api.patch(`${AFFILIATES}/${id}`, body)).status).toBe(200);
  }
  await makeCommission(api, a, { amount: 77 });
  await makePayout(api, { filters: { affiliate_status: ['active', 'inactive'] } });
  expect(await read()).toEqual(before);
});

test('a payout of more than a thousand affiliates has its list at a separate address', async () => {
  const account = await world.otherAccount();
  const numbers = Array.from({ length: 1001 }, (_, index) => index);
  const people = csv('external_id,email', ...numbers.map((n) => `p${n},p${n}@example.com`));
  const sales = csv('external_id,affiliate_external_id,amount', ...numbers.map((n) => `s${n},p${n},1.00`));
  expect((await account.upload(`${AFFILIATES}/import`, people)).body.created).toBe(1001);
  expect((await account.upload(`${COMMISSIONS}/import`, sales)).body.created).toBe(1001);
  const preview = await account.post(`${PAYOUTS}/preview`);
  expect([preview.body.affiliates, preview.body.affiliate_count]).toEqual([null, 1001]);
  const large = await makePayout(account);
  expect([large.affiliates, large.affiliate_count, large.amount]).toEqual([null, 1001, 100_100]);
  if (!isLong) return; // the rest holds for a payout of any size
  const all = await allOf(account, `${PAYOUTS}/${large.id}/affiliates`);
  expect(new Set(all.map((line) => line.affiliate_id)).size).toBe(1001);
  const first = all[0]?.affiliate_id;
  await account.delete(`${PAYOUTS}/${large.id}`);
  const small = await makePayout(account, { filters: { affiliate_id: { ne: first } } });
  expect(small.affiliates).toHaveLength(1000);
  const entries = small.affiliates.map((line: Json) => paid(line.affiliate_id));
  const done = await account.put(`${PAYOUTS}/${small.id}`, { commissions: entries, require_all: true });
  expect(done.body.totals[0]).toMatchObject({ paid_amount: 100_000, paid_count: 1000 });
});
