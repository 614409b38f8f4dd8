import { beforeEach, expect, test } from 'vitest';
import { makeUser } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  MISSING,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const needed = async (payout: string) => {
  const answer = await api.get(`${PAYOUTS}/${payout}/payment-files`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const download = (payout: string, format: string, query = '', method = 'GET') =>
  api.request(method, `${PAYOUTS}/${payout}/payment-files/${format}${query}`);

/** An affiliate with a commission in each of these currencies. */
async function earn(fields: Json, amounts: Readonly<Record<string, number>>): Promise<number> {
  const { id } = await makeAffiliate(api, fields);
  for (const [currency, amount] of Object.entries(amounts))
    await makeCommission(api, id, { currency, amount });
  return id;
}

const paypal = { payout_method: 'paypal', paypal_email: 'pay@example.com' };
const wise = { payout_method: 'wise', name_first: 'Zoë' };

test('the names that a bank file writes in other letters', async () => {
  await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
  const holders = ['Zoë Łukasz', 'Ada King', 'Мария Иванова'];
  const people: { id: number; written: string }[] = [];
  for (const account_holder of holders) {
    const id = await earn({}, { eur: 1000 });
    const to = { type: 'sepa', account_holder, iban: 'DE02120300000000202051' };
    const answer = await api.put(`${AFFILIATES}/${id}/destination`, to);
    people.push({ id, written: answer.body.holder_in_files });
  }
  const payout = await makePayout(api);
  const [file] = (await needed(payout.id)).files;
  expect(file).toMatchObject({ format: 'sepa', affiliate_count: 3, rewritten_count: 2 });
  expect(file.rewritten).toEqual(
    [0, 2].map((index) => ({
      affiliate_id: people[index]?.id,
      account_holder: holders[index],
      holder_in_files: people[index]?.written,
    })),
  );
  expect(file.rewritten[0].holder_in_files).toBe('Zoe Lukasz');
  const { text } = await download(payout.id, 'sepa');
  for (const { written } of people) expect(text).toContain(`<Nm>${written}</Nm>`);
});

test('a file for each method and currency, whom it pays and leaves out, and who is paid by hand', async () => {
  await earn(paypal, { usd: 1000, eur: 250 });
  await earn({ paypal_email: 'unset@example.com' }, { usd: 34 });
  const lost = await earn({ payout_method: 'paypal', name_first: 'Ada', name_last: 'King' }, { usd: 500 });
  const halves = await earn(paypal, { huf: 150 });
  await earn(wise, { usd: 700 });
  const nameless = await earn({ payout_method: 'wise', name_first: null, name_last: null }, { usd: 80 });
  await earn({ payout_method: 'other' }, { usd: 90, jpy: 12 });
  const off = await earn(paypal, { usd: 60 });
  const payout = await makePayout(api);
  await api.patch(`${AFFILIATES}/${off}`, { is_ready_for_payout: false });
  const body = await needed(payout.id);
  const file = (format: string, currency: string, fields: object) => ({
    format,
    currency,
    affiliate_count: 0,
    amount: 0,
    part_count: 1,
    above_limit_count: 0,
    skipped_count: 0,
    skipped_amount: 0,
    skipped: [],
    rewritten_count: 0,
    rewritten: [],
    warnings: [],
    downloads: [],
    ...fields,
  });
  expect(body).toEqual({
    object: 'payment_files',
    payout_id: payout.id,
    revision: expect.any(Number),
    files: [
      file('paypal', 'eur', { affiliate_count: 1, amount: 250 }),
      file('paypal', 'huf', {
        part_count: 0,
        skipped_count: 1,
        skipped_amount: 150,
        skipped: [
          { affiliate_id: halves, name: null, amount: 150, reason: 'PayPal takes no fractions of HUF' },
        ],
      }),
      file('paypal', 'usd', {
        affiliate_count: 2,
        amount: 1034,
        skipped_count: 2,
        skipped_amount: 560,
        skipped: [
          { affiliate_id: lost, name: 'Ada King', amount: 500, reason: 'no paypal_email' },
          { affiliate_id: off, name: null, amount: 60, reason: 'is_ready_for_payout is false' },
        ],
      }),
      file('wise', 'usd', {
        affiliate_count: 1,
        amount: 700,
        skipped_count: 1,
        skipped_amount: 80,
        skipped: [{ affiliate_id: nameless, name: null, amount: 80, reason: 'no name' }],
      }),
    ],
    by_hand: [
      { currency: 'jpy', affiliate_count: 1, amount: 12 },
      { currency: 'usd', affiliate_count: 1, amount: 90 },
    ],
    summary_downloads: [],
    in_several_files_count: 0,
    in_several_files: [],
  });
  // everyone is in exactly one of them
  const ways = [...body.files, ...body.by_hand];
  for (const { currency, amount } of (await api.get(`${PAYOUTS}/${payout.id}`)).body.totals) {
    const parts = ways.filter((each) => each.currency === currency);
    expect(parts.reduce((sum, each) => sum + each.amount + (each.skipped_amount ?? 0), 0)).toBe(amount);
  }
  // and each equals the downloaded file
  for (const { format, currency, affiliate_count, amount } of body.files) {
    if (affiliate_count === 0) continue;
    const rows = parseCsv(
      (await download(payout.id, format, `?currency=${currency}&allow_skipped=true`)).text,
    );
    const cells = format === 'wise' ? rows.slice(1).map((row) => row[5]) : rows.map((row) => row[1]);
    expect(cells).toHaveLength(affiliate_count);
    expect(Math.round(cells.reduce((sum, cell) => sum + Number(cell) * 100, 0))).toBe(amount);
  }
});

test('each download is recorded with its user and revision, until the payout has another one', async () => {
  const id = await earn(paypal, { usd: 1000 });
  const payout = await makePayout(api);
  const { browser, id: user } = await makeUser(api, 'member');
  await download(payout.id, 'paypal');
  await download(payout.id, 'summary');
  const path = `${PAYOUTS}/${payout.id}/payment-files/paypal`;
  expect((await browser.call('GET', path, undefined, null)).status).toBe(200);
  // nothing was sent in these cases
  expect((await download(payout.id, 'paypal', '', 'HEAD')).status).toBe(200);
  expectRefusal(await download(payout.id, 'paypal', '?currency=eur'), 400, 'currency_not_in_payout');
  const before = await needed(payout.id);
  const [by] = before.files[0].downloads;
  expect(before.files[0].downloads).toEqual([
    {
      downloaded_at: expect.any(String),
      by: { kind: 'user', id: user, name: 'The member' },
      revision: 1,
      part: null,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      file_set_id: expect.stringMatching(/^pfs_[0-9a-f]{32}$/),
      replaces_file_set_id: null,
      message_id: null,
      is_outdated: false,
      change_count: null,
      changes: [],
    },
    { ...by, downloaded_at: expect.any(String), by: expect.objectContaining({ kind: 'key' }) },
  ]);
  expect(before.summary_downloads).toHaveLength(1);
  await api.patch(`${AFFILIATES}/${id}`, { paypal_email: 'new@example.com' });
  await download(payout.id, 'paypal');
  const after = await needed(payout.id);
  const seen = after.files[0].downloads.map((each: Json) => [each.revision, each.is_outdated]);
  expect([after.revision, seen]).toEqual([
    2,
    [
      [2, false],
      [1, true],
      [1, true],
    ],
  ]);
  // once it is paid the files are final
  await completePayout(api, payout, [{ affiliate_id: id, is_paid: true }]);
  const paid = await needed(payout.id);
  expect(paid.files[0].downloads.some((each: Json) => each.is_outdated)).toBe(false);
});

test('an outdated file lists whom it pays otherwise than the payout does now, for the last of each part', async () => {
  const [less, same, gone] = [
    await earn(paypal, {}),
    await earn(paypal, { usd: 2000 }),
    await earn(paypal, {}),
  ];
  const sale = await makeCommission(api, less, { amount: 10_000 });
  const lost = await makeCommission(api, gone, { amount: 700 });
  await makeCommission(api, less, { amount: 300, currency: 'eur' });
  const payout = await makePayout(api);
  await download(payout.id, 'paypal', '?currency=usd');
  await download(payout.id, 'paypal', '?currency=eur');
  await download(payout.id, 'paypal', '?currency=usd');
  await download(payout.id, 'summary');
  await api.patch(`${AFFILIATES}/${gone}`, { name_first: 'Zoë', name_last: 'King' });
  const taken = await api.post(`${COMMISSIONS}/${sale.id}/refund`, { external_id: 'less', amount: 4000 });
  expect(taken.status, taken.text).toBe(201);
  expect((await api.post(`${COMMISSIONS}/${lost.id}/void`, {})).status).toBe(200);
  const changesShown = async () => {
    const { files, summary_downloads } = await needed(payout.id);
    return [...files.map(({ downloads }: Json) => downloads), summary_downloads].map((all: Json[]) =>
      all.map(({ change_count, changes }) => [change_count, changes]),
    );
  };
  const changes = [
    { affiliate_id: less, name: null, amount_then: 10_000, amount_now: 6000 },
    { affiliate_id: gone, name: 'Zoë King', amount_then: 700, amount_now: null },
  ];
  expect(await changesShown()).toEqual([
    [[null, []]], // the file of the euros has not changed
    [
      [2, changes],
      [null, []],
    ],
    [[null, []]],
  ]);
  await download(payout.id, 'paypal', '?currency=usd');
  expect((await changesShown())[1]).toEqual(Array(3).fill([null, []]));
  // a line that can no longer be paid is not in the file now
  await api.patch(`${AFFILIATES}/${same}`, { is_ready_for_payout: false });
  await api.post(`${COMMISSIONS}/${sale.id}/refund`, { external_id: 'again', amount: 1 });
  expect((await changesShown())[1]?.[0]).toEqual([
    2,
    [
      { affiliate_id: less, name: null, amount_then: 6000, amount_now: 5999 },
      { affiliate_id: same, name: null, amount_then: 2000, amount_now: null },
    ],
  ]);
});

test('a file whose download cannot be recorded is not sent', async () => {
  await earn(paypal, { usd: 1000 });
  const payout = await makePayout(api);
  world.expectErrors();
  await world.query('alter table payment_file_downloads add constraint never check (false) not valid');
  try {
    const refused = await download(payout.id, 'paypal');
    expect([refused.status, refused.text.includes('pay@example.com')]).toEqual([500, false]);
  } finally {
    await world.query('alter table payment_file_downloads drop constraint never');
  }
  expect((await download(payout.id, 'paypal')).text).toContain('pay@example.com');
  expect((await needed(payout.id)).files[0].downloads).toHaveLength(1);
});

test('a deleted payout leaves nothing, and an unknown one shows nothing', async () => {
  await earn(paypal, { usd: 1000 });
  const payout = await makePayout(api);
  await download(payout.id, 'paypal');
  expect((await api.get(`${PAYOUTS}/current/payment-files`)).body.payout_id).toBe(payout.id);
  expect((await api.delete(`${PAYOUTS}/${payout.id}`)).status).toBe(204);
  expectRefusal(await api.get(`${PAYOUTS}/${payout.id}/payment-files`), 404, 'resource_missing');
  expectRefusal(await api.get(`${PAYOUTS}/current/payment-files`), 404, 'no_current_payout');
  expectRefusal(await api.get(`${PAYOUTS}/${MISSING.payout_id}/payment-files`), 404, 'resource_missing');
});
