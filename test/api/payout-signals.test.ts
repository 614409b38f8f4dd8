import { beforeEach, describe, expect, test } from 'vitest';
import { SIGNAL_RULE_NAMES } from '../../src/terms/payout-signals.ts';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { approve, type SignedInUser, signInUser } from './approval-support.ts';
import {
  AFFILIATES,
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
  parseCsv,
  TIMESTAMP,
  unique,
} from './fixtures.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const IBANS = ['DE89370400440532013000', 'GB29NWBK60161331926819', 'DE02120300000000202051'] as const;
const put = async (id: number, iban: string) => {
  const answer = await api.put(`${AFFILIATES}/${id}/destination`, {
    type: 'sepa',
    account_holder: 'Ada Lovelace',
    iban,
  });
  expect(answer.status, answer.text).toBe(200);
};
const earn = (id: number, amount = 1000) => makeCommission(api, id, { amount, currency: 'eur' });
/** An affiliate with this bank account and 10.00 EUR. */
async function earner(iban: string, amount?: number): Promise<number> {
  const { id } = await makeAffiliate(api, { name_first: 'Ada', name_last: unique('Earner') });
  await put(id, iban);
  await earn(id, amount);
  return id;
}
const set = async (payout_signals: object): Promise<Json> => {
  const answer = await api.patch('/v2/account', { payout_signals });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.payout_signals;
};
const listed = async (payout: Json | string, query = ''): Promise<Json[]> => {
  const id = typeof payout === 'string' ? payout : payout.id;
  const answer = await api.get(`${PAYOUTS}/${id}/signals?is_ended=false${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
};
/** The rule, affiliate and details of each; what is null is left out. */
const found = (signals: Json[]) =>
  signals.map(({ rule, affiliate_id, details }) => [
    rule,
    affiliate_id,
    Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null)),
  ]);
const review = ({ send }: SignedInUser, { id, revision }: Json, body: object = {}) =>
  send('POST', `${PAYOUTS}/${id}/signals/review`, { body: { revision, ...body } });

/** What is found in what would be paid now, alike in the preview and in the payout that is made of it. */
async function foundNow(): Promise<ReturnType<typeof found>> {
  const preview = (await api.post(`${PAYOUTS}/preview`)).body;
  const previewed = await api.post(`${PAYOUTS}/preview/signals`);
  expect(previewed.status, previewed.text).toBe(200);
  const payout = await makePayout(api);
  const stored = await listed(payout);
  expect(found(stored)).toEqual(found(previewed.body.data));
  expect(payout.signals).toEqual(preview.signals);
  expect(payout.signals.reduce((sum: number, { line_count }: Json) => sum + line_count, 0)).toBe(
    stored.length,
  );
  return found(stored);
}

describe('what is found', () => {
  test('another account than that of the last payment, and not the same account again', async () => {
    const [id, same] = [await earner(IBANS[0]), await earner(IBANS[2])];
    await completePayout(api, await makePayout(api));
    await put(id, IBANS[1]);
    // the same account, as a new record
    await put(same, IBANS[0]);
    await put(same, IBANS[2]);
    for (const each of [id, same]) await earn(each);
    expect(await foundNow()).toEqual([
      [
        'destination_changed',
        id,
        {
          previous_destination: { type: 'sepa', last_four: '3000' },
          destination: { type: 'sepa', last_four: '6819' },
        },
      ],
    ]);
  });

  test.each<[string, object, object, boolean]>([
    ['another PayPal address', { paypal_email: 'a@example.com' }, { paypal_email: 'b@example.com' }, true],
    [
      'the same address in capitals',
      { paypal_email: 'a@example.com' },
      { paypal_email: 'A@example.com' },
      false,
    ],
    [
      'another method',
      { paypal_email: 'a@example.com', payout_method: 'paypal' },
      { payout_method: 'wise' },
      true,
    ],
    ['an address for an affiliate without one', {}, { paypal_email: 'b@example.com' }, false],
  ])('%s', async (_, before, after, isFound) => {
    const { id } = await makeAffiliate(api, { name_first: 'Ada', ...before });
    await makeCommission(api, id);
    await completePayout(api, await makePayout(api));
    expect((await api.patch(`${AFFILIATES}/${id}`, after)).status).toBe(200);
    await makeCommission(api, id);
    expect((await foundNow()).map(([rule]) => rule)).toEqual(isFound ? ['destination_changed'] : []);
  });

  test('an account of several affiliates in the payout', async () => {
    const ids = [await earner(IBANS[0]), await earner(IBANS[0])];
    await earner(IBANS[1]);
    const { id: idle } = await makeAffiliate(api);
    await put(idle, IBANS[1]);
    const details = {
      destination: { type: 'sepa', last_four: '3000' },
      affiliates: ids,
      affiliate_count: 2,
    };
    expect(await foundNow()).toEqual(ids.map((id) => ['shared_destination', id, details]));
  });

  test('a first payment above the limit of its currency', async () => {
    await set({ first_payout_above: { amounts: { EUR: 5000 } } });
    const [above, at] = [await earner(IBANS[0], 5001), await earner(IBANS[1], 5000)];
    await makeCommission(api, at, { amount: 900_000, currency: 'usd' });
    expect(await foundNow()).toEqual([['first_payout_above', above, { limit: 5000 }]]);
    await completePayout(api, (await api.get(`${PAYOUTS}/current`)).body);
    for (const id of [above, at]) await earn(id, 5500);
    expect(await foundNow()).toEqual([]);
  });

  test('an amount above the payments before', async () => {
    await set({ amount_above_history: { times: 2, amounts: { eur: 3000 } } });
    const [large, small] = [await earner(IBANS[0], 2000), await earner(IBANS[1], 1000)];
    await completePayout(api, await makePayout(api));
    await earn(large, 4001);
    await earn(small, 3000);
    expect(await foundNow()).toEqual([
      ['amount_above_history', large, { limit: 4000, largest_payment: 2000 }],
    ]);
  });

  test('affiliates whom one import created, while they were never paid', async () => {
    await set({ imported_together: { affiliates: 2 } });
    const file = (...emails: string[]) => csv('email', ...emails);
    const take = async (text: string) => {
      const answer = await api.request('POST', '/v2/imports?kind=affiliates', {
        body: text,
        headers: { 'content-type': 'application/octet-stream' },
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.import_id;
    };
    const id = await take(file('one@example.com', 'two@example.com', 'idle@example.com'));
    await take(file('alone@example.com'));
    const all = (await api.get(`${AFFILIATES}?sort=id`)).body.data;
    const [one, two, , alone] = all.map((each: Json) => each.id);
    for (const each of [one, two, alone]) await makeCommission(api, each);
    const details = { import_id: id, affiliate_count: 2 };
    expect(await foundNow()).toEqual([
      ['imported_together', one, details],
      ['imported_together', two, details],
    ]);
    await completePayout(api, (await api.get(`${PAYOUTS}/current`)).body);
    for (const each of [one, two]) await makeCommission(api, each);
    expect(await foundNow()).toEqual([]);
  });

  test('nothing of a rule that is off', async () => {
    await earner(IBANS[0], 200_000);
    await earner(IBANS[0], 200_000);
    await set(Object.fromEntries(SIGNAL_RULE_NAMES.map((name) => [name, { action: 'off' }])));
    expect(await foundNow()).toEqual([]);
  });
});

describe('settings', () => {
  test('every rule warns until the account says otherwise, and a change replaces all of them', async () => {
    const before = (await api.get('/v2/account')).body.payout_signals;
    expect(Object.keys(before)).toEqual(expect.arrayContaining([...SIGNAL_RULE_NAMES]));
    expect(new Set(Object.values<Json>(before).map(({ action }) => action))).toEqual(new Set(['warn']));
    const after = await set({ first_payout_above: { action: 'off', amounts: { USD: 1 } } });
    expect(after).toEqual({ ...before, first_payout_above: { action: 'off', amounts: { usd: 1 } } });
    expect(await set({ amount_above_history: { times: 9 } })).toEqual({
      ...before,
      amount_above_history: { ...before.amount_above_history, times: 9 },
    });
  });

  test.each<[object, string]>([
    [{ amount_above_history: { times: 1 } }, 'times'],
    [{ imported_together: { days: 366 } }, 'days'],
    [{ destination_changed: { action: 'refuse' } }, 'action'],
    [{ first_payout_above: { amounts: { xyz: 1 } } }, 'payout_signals.first_payout_above.amounts'],
    [{ first_payout_above: { amounts: { eur: -1 } } }, 'amounts'],
  ])('%o is refused by name', async (payout_signals, word) => {
    const answer = await nothingChanges(world, () => api.patch('/v2/account', { payout_signals }));
    expectRefusal(answer, 400, 'invalid_body', word);
  });

  test.each<[object, string]>([
    [{ destination_changed: { times: 3 } }, 'payout_signals.destination_changed.times'],
    [{ velocity: { action: 'warn' } }, 'payout_signals.velocity'],
  ])('%o names no rule, or a limit that the rule does not have', async (payout_signals, field) => {
    const answer = await nothingChanges(world, () => api.patch('/v2/account', { payout_signals }));
    expectRefusal(answer, 400, 'unknown_field', field);
  });
});

describe('changes of a payout', () => {
  longRun.test(
    'a signal ends in the revision that removes it, and another is found in the revision that causes it',
    async () => {
      const [one, two] = [await earner(IBANS[0]), await earner(IBANS[1])];
      const payout = await makePayout(api);
      expect(payout.signals).toEqual([]);
      await put(two, IBANS[0]);
      expect(found(await listed(payout)).map(([rule, id]) => [rule, id])).toEqual([
        ['shared_destination', one],
        ['shared_destination', two],
      ]);
      await put(two, IBANS[2]);
      expect(await listed(payout)).toEqual([]);
      const all = (await api.get(`${PAYOUTS}/${payout.id}/signals`)).body.data;
      expect(all.map(({ revision, ended_revision }: Json) => [revision, ended_revision])).toEqual([
        [2, 3],
        [2, 3],
      ]);
    },
  );

  test('a line that leaves takes its signals and those that it causes for others with it', async () => {
    await earner(IBANS[0]);
    const { id } = await makeAffiliate(api);
    await put(id, IBANS[0]);
    const commission = await earn(id);
    const payout = await makePayout(api);
    expect(await listed(payout)).toHaveLength(2);
    expect(
      (await api.post(`${COMMISSIONS}/${commission.id}/refund`, { external_id: unique('r') })).status,
    ).toBe(201);
    expect(await listed(payout)).toEqual([]);
  });

  test('a refund keeps a review while the line stays as it is, and lowers no limit', async () => {
    const owner = await signInUser(world, api);
    await set({ first_payout_above: { action: 'block', amounts: { eur: 1500 } } });
    const { id } = await makeAffiliate(api);
    await put(id, IBANS[0]);
    const [, commission] = [await earn(id, 1600), await earn(id, 500)];
    let payout = await makePayout(api);
    expect((await review(owner, payout)).body.signals).toMatchObject([{ unreviewed_count: 0 }]);
    await api.post(`${COMMISSIONS}/${commission.id}/refund`, { external_id: unique('r'), amount: 100 });
    payout = (await api.get(`${PAYOUTS}/current`)).body;
    expect(payout.revision).toBe(2);
    expect(await listed(payout)).toMatchObject([{ revision: 1, amount: 2100, reviewed_by: owner.id }]);
    await completePayout(api, payout);
  });
});

describe('a signal that blocks', () => {
  const BLOCKS = { destination_changed: { action: 'block' } };
  /** A payout with a changed account, which blocks, and a line as before. */
  async function blocked(): Promise<{ payout: Json; id: number; other: number }> {
    const [id, other] = [await earner(IBANS[0]), await earner(IBANS[2])];
    await completePayout(api, await makePayout(api));
    await put(id, IBANS[1]);
    for (const each of [id, other]) await earn(each);
    await set(BLOCKS);
    return { payout: await makePayout(api), id, other };
  }

  test('keeps the line from being paid and from files, until a person has reviewed it', async () => {
    await api.patch('/v2/account', { debtor: { name: 'Shop', iban: IBANS[2] } });
    const [finance, viewer] = [
      await signInUser(world, api, 'finance'),
      await signInUser(world, api, 'viewer'),
    ];
    const { payout, id, other } = await blocked();
    expect(payout.signals).toEqual([
      { rule: 'destination_changed', line_count: 1, unreviewed_count: 1, blocking_count: 1 },
    ]);
    const all = [id, other].map((affiliate_id) => ({ affiliate_id, is_paid: true }));
    const complete = (commissions: object[]) => api.put(`${PAYOUTS}/${payout.id}`, { commissions });
    const refused = await nothingChanges(world, () => complete(all));
    expectRefusal(refused, 409, 'signals_unreviewed', `${id} (destination_changed)`);
    const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
    expectRefusal(file, 400, 'affiliates_not_in_file', 'a signal blocks the line', `${id}`);
    const rest = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa?allow_skipped=true`);
    expect(rest.text).toContain(`-A${other}<`);
    expect(rest.text).not.toContain(`-A${id}<`);

    expectRefusal(await review(viewer, payout), 403, 'role_too_low');
    expectRefusal(
      await api.post(`${PAYOUTS}/${payout.id}/signals/review`, { revision: 1 }),
      403,
      'person_required',
    );
    expectRefusal(await review(finance, { ...payout, revision: 7 }), 409, 'payout_changed');
    const note = 'called them back';
    const reviewed = await review(finance, payout, { affiliate_id: id, currency: 'EUR', note });
    expect(reviewed.body.signals).toMatchObject([{ unreviewed_count: 0, blocking_count: 0 }]);
    expect(await listed(payout)).toMatchObject([
      { reviewed_by: finance.id, reviewed_at: expect.stringMatching(TIMESTAMP), review_note: note },
    ]);
    const { body } = await api.get(`/v2/audit-log?action=reviewPayoutSignals`);
    expect(body.data).toMatchObject([{ actor: { id: finance.id }, target: payout.id }]);
    const done = await complete(all);
    expect(done.status, done.text).toBe(200);
    // evidence from now on
    expectRefusal(await review(finance, payout), 409, 'payout_is_paid');
    expect(await listed(payout)).toHaveLength(1);
  });

  longRun.test('does not concern the other lines', async () => {
    const { payout, id, other } = await blocked();
    const done = await completePayout(api, payout, [
      { affiliate_id: other, is_paid: true },
      { affiliate_id: id, is_paid: false },
    ]);
    expect(done.totals).toMatchObject([{ paid_amount: 1000, released_amount: 1000 }]);
  });

  test('needs a review of its own before the approval, which reviews the others', async () => {
    const [author, second] = [await signInUser(world, api), await signInUser(world, api)];
    await author.send('PATCH', '/v2/account', { body: { approval: 'second_person' } });
    await set({ shared_destination: { action: 'block' }, first_payout_above: { amounts: { eur: 1 } } });
    for (const _ of [1, 2]) await earner(IBANS[0]);
    const payout = (await author.send('POST', PAYOUTS)).body;
    expect(await listed(payout)).toHaveLength(4);
    expectRefusal(await approve(second, payout), 409, 'signals_unreviewed', 'shared_destination');
    expect((await review(second, payout, { rule: 'shared_destination' })).status).toBe(200);
    expect((await approve(second, payout)).body.approval.status).toBe('approved');
    const reviewed = await listed(payout, '&is_reviewed=true');
    expect(reviewed.map(({ reviewed_by }) => reviewed_by)).toEqual(Array(4).fill(second.id));
  });

  longRun.test('is found again, without a review, when its line changes after the review', async () => {
    const owner = await signInUser(world, api);
    const { payout, id } = await blocked();
    await review(owner, payout);
    await put(id, 'DE44500105175407324931');
    expect(await listed(payout)).toMatchObject([
      { revision: 2, reviewed_at: null, details: { destination: { last_four: '4931' } } },
    ]);
  });
});

test('the file has what was found, what ended, and who reviewed it', async () => {
  const owner = await signInUser(world, api);
  const [one, two] = [await earner(IBANS[0]), await earner(IBANS[0], 200_000)];
  const payout = await makePayout(api);
  await review(owner, payout, { rule: 'first_payout_above', note: '=1+1' });
  await put(one, IBANS[1]);
  const answer = await api.get(`${PAYOUTS}/${payout.id}/signals/download`);
  expect(answer.headers.get('content-disposition')).toContain('-signals.csv');
  const [header = [], ...rows] = parseCsv(answer.text);
  const cells = rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index]])));
  expect(cells).toMatchObject([
    {
      rule: 'shared_destination',
      affiliate_id: `${one}`,
      amount: '10.00',
      ended_revision: '2',
      affiliates: `${one} ${two}`,
    },
    {
      rule: 'first_payout_above',
      limit: '1000.00',
      reviewed_by: owner.id,
      review_note: "'=1+1",
      ended_revision: '',
    },
    { rule: 'shared_destination', affiliate_id: `${two}`, destination: 'sepa 3000', ended_revision: '2' },
  ]);
});

test('another account sees none of it', async () => {
  await earner(IBANS[0], 200_000);
  const payout = await makePayout(api);
  expect(await listed(payout)).toHaveLength(1);
  const other = await world.otherAccount();
  for (const path of ['signals', 'signals/download'])
    expectRefusal(await other.get(`${PAYOUTS}/${payout.id}/${path}`), 404, 'resource_missing');
  const stranger = await signInUser(world, other);
  expectRefusal(await nothingChanges(world, () => review(stranger, payout)), 404, 'resource_missing');
});

test('an erasure leaves the signals, without the numbers of accounts', async () => {
  const id = await earner(IBANS[0]);
  await completePayout(api, await makePayout(api));
  await put(id, IBANS[1]);
  await earn(id);
  const payout = await makePayout(api);
  await completePayout(api, payout);
  expect((await api.post(`${AFFILIATES}/${id}/erase`)).status).toBeLessThan(300);
  const place = { type: 'sepa', last_four: '0000' };
  expect(await listed(payout)).toMatchObject([
    { rule: 'destination_changed', details: { previous_destination: place, destination: place } },
  ]);
});
