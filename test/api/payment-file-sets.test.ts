import { expect, test } from 'vitest';
import { makeUser } from '../people/support.ts';
import type { Answer, Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { paymentsIn as entriesIn, missingReader, readByAnother } from '../support/nacha.ts';
import { paymentsIn } from '../support/sepa.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayee,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const DEBTOR = { name: 'Shop', iban: 'DE02120300000000202051' };
const SEPA = { type: 'sepa', account_holder: 'Zoë Okafor', iban: 'DE89370400440532013000' };
const ORIGINATOR = {
  immediate_destination: '021000021',
  immediate_destination_name: 'JPMorgan Chase',
  immediate_origin: '1234567890',
  immediate_origin_name: 'Difference Engines',
  company_name: 'Difference Engin',
  company_id: '1234567890',
};
const ACH = {
  type: 'ach',
  account_holder: 'Zoë Okafor',
  routing_number: '121042882',
  account_number: '000123456789',
  account_type: 'checking',
};

const payee = (to: object = SEPA, amount = 100, by: Api = api): Promise<Json> =>
  makePayee(by, to, { commission: { amount, currency: (to as Json).type === 'ach' ? 'usd' : 'eur' } });
async function get(payout: Json, query = 'sepa', by: Api = api): Promise<Answer> {
  const answer = await by.get(`${PAYOUTS}/${payout.id}/payment-files/${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}
const overview = async (payout: Json, by: Api = api): Promise<Json> =>
  (await by.get(`${PAYOUTS}/${payout.id}/payment-files`)).body;
const idIn = ({ text }: Answer) => /<MsgId>(.*?)</.exec(text)?.[1] ?? '';
const setOf = ({ headers }: Answer) => headers.get('payhook-file-set');
const warned = ({ headers }: Answer) => headers.get('payhook-affiliates-in-other-files');
const setDebtor = (fields: object = {}, by: Api = api) =>
  by.patch('/v2/account', { debtor: { ...DEBTOR, ...fields } });

test('a file is the same to the byte at each download, even when the payout changes elsewhere', async () => {
  await setDebtor();
  await payee();
  const other = await makeAffiliate(api, { paypal_email: 'pay@example.com' });
  await makeCommission(api, other.id);
  const payout = await makePayout(api);
  const first = await get(payout, 'sepa?currency=eur&allow_skipped=true');
  // the file contains the time of its first download, which is in its id: here it was long ago
  await world.query(
    `update payment_files set id = '0192f8e5-c7a7-7b3e-9d01-92f8e5c7a7b3' where public_id('pfs', set_id) = $1`,
    [setOf(first)],
  );
  await api.patch(`${AFFILIATES}/${other.id}`, { paypal_email: 'new@example.com' });
  const second = await get(payout, 'sepa?currency=eur&allow_skipped=true');
  expect(second.text).toBe(first.text.replace(/<CreDtTm>.*?</, '<CreDtTm>2024-11-04T20:37:41.415Z<'));
  expect([second.headers.get('etag'), warned(second), setOf(second)]).toEqual(['"2"', '0', setOf(first)]);
  const { files, in_several_files_count } = await overview(payout);
  const sepa = files.find(({ format, currency }: Json) => format === 'sepa' && currency === 'eur');
  expect(sepa.downloads.map(({ is_outdated }: Json) => is_outdated)).toEqual([false, false]);
  expect(in_several_files_count).toBe(0);
});

test('another number of rows per file makes a new set that names the one it replaces, and warns about everyone in both', async () => {
  await setDebtor();
  const people: Json[] = [];
  for (let index = 0; index < 5; index += 1) people.push(await payee(SEPA, 100 + index));
  const payout = await makePayout(api);
  const before = [
    await get(payout, 'sepa?rows_per_file=3&part=1'),
    await get(payout, 'sepa?rows_per_file=3&part=2'),
  ];
  expect(before.map(warned)).toEqual(['0', '0']);
  expect(setOf(before[0] as Answer)).toBe(setOf(before[1] as Answer));
  const after = await get(payout, 'sepa?rows_per_file=2&part=1');
  expect(paymentsIn(after.text)).toHaveLength(2);
  expect(warned(after)).toBe('2');
  expect(idIn(after)).not.toBe(idIn(before[0] as Answer));
  expect(after.headers.get('payhook-replaces-file-set')).toBe(setOf(before[0] as Answer));
  const { files, in_several_files, in_several_files_count } = await overview(payout);
  expect(
    files[0].downloads.map((each: Json) => [
      each.part,
      each.is_outdated,
      each.message_id,
      each.replaces_file_set_id,
    ]),
  ).toEqual([
    [1, false, idIn(after), setOf(before[0] as Answer)],
    [2, true, idIn(before[1] as Answer), null],
    [1, true, idIn(before[0] as Answer), null],
  ]);
  expect(in_several_files_count).toBe(2);
  expect(in_several_files[0]).toEqual({
    affiliate_id: people[0]?.id,
    name: null,
    currency: 'eur',
    files: [
      { format: 'sepa', file_set_id: setOf(before[0] as Answer), part: 1, revision: 1, is_current: false },
      { format: 'sepa', file_set_id: setOf(after), part: 1, revision: 1, is_current: true },
    ],
  });
  // exactly the lines of the downloaded new set are in a file
  const lines = (await api.get(`${PAYOUTS}/${payout.id}`)).body.affiliates;
  expect(lines.map(({ totals }: Json) => totals[0].is_in_file)).toEqual([true, true, false, false, false]);
  expectRefusal(
    await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa?rows_per_file=1`),
    400,
    'invalid_query',
    'rows_per_file',
  );
  const paypal = await api.get(`${PAYOUTS}/${payout.id}/payment-files/paypal?rows_per_file=5001`);
  expectRefusal(paypal, 400, 'invalid_query', 'at most 5000');
});

test('another debtor, day, message or row makes another id; the earlier choice finds its file again', async () => {
  await setDebtor();
  const { id } = await payee();
  await payee();
  const payout = await makePayout(api);
  const first = await get(payout);
  const seen = new Map([[idIn(first), first.text]]);
  const changed = async (query = 'sepa') => {
    const file = await get(payout, query);
    expect(seen.has(idIn(file)), idIn(file)).toBe(false);
    expect([...seen.values()]).not.toContain(file.text);
    expect((await overview(payout)).files[0].downloads.map((each: Json) => each.is_outdated)).toEqual([
      false,
      ...Array(seen.size).fill(true),
    ]);
    seen.set(idIn(file), file.text);
  };
  await setDebtor({ iban: 'DE89370400440532013000' });
  expect((await overview(payout)).files[0].downloads[0].is_outdated).toBe(true);
  await changed();
  await setDebtor({ bic: 'BYLADEM1001' });
  await changed();
  await setDebtor({ message: 'pain.001.001.03' });
  await changed();
  await changed('sepa?execution_date=2099-01-05');
  await setDebtor();
  expect((await get(payout)).text).toBe(first.text);
  await api.put(`${AFFILIATES}/${id}/destination`, { ...SEPA, iban: 'DE02120300000000202051' });
  expect((await get(payout)).text).not.toBe(first.text);
  for (const each of seen.keys()) expect(each).toMatch(/^P1-R\d-F1-[0-9A-HJKMNP-TV-Z]{8}$/);
});

test('two accounts with one debtor have different ids for the same payments', async () => {
  const other = await world.otherAccount();
  const ids: string[] = [];
  for (const by of [api, other]) {
    await setDebtor({}, by);
    await payee(SEPA, 100, by);
    ids.push(idIn(await get(await makePayout(by), 'sepa', by)));
  }
  expect(ids[0]).not.toBe(ids[1]);
});

longRun.test('an affiliate who changes the payment method is in two files, and is reported', async () => {
  await setDebtor();
  const { id } = await makeAffiliate(api, { paypal_email: 'pay@example.com', name_first: 'Ada' });
  await makeCommission(api, id, { currency: 'eur' });
  const payout = await makePayout(api);
  await get(payout, 'paypal');
  await api.put(`${AFFILIATES}/${id}/destination`, SEPA);
  expect(warned(await get(payout, 'sepa'))).toBe('1');
  expect((await overview(payout)).in_several_files).toMatchObject([
    {
      affiliate_id: id,
      name: 'Ada',
      files: [
        { format: 'paypal', is_current: true },
        { format: 'sepa', is_current: true },
      ],
    },
  ]);
});

test('a paid payout has the file that was paid, and HEAD makes none', async () => {
  await setDebtor();
  await payee();
  const payout = await makePayout(api);
  await nothingChanges(world, () => api.request('HEAD', `${PAYOUTS}/${payout.id}/payment-files/sepa`));
  const file = await get(payout);
  await completePayout(api, payout);
  expect((await get(payout)).text).toBe(file.text);
});

longRun.test('a file of a past day is made again for another day, with another id', async () => {
  await setDebtor();
  await payee();
  const payout = await makePayout(api);
  const file = await get(payout);
  await world.query(
    `update payment_file_sets set execution_date = execution_date - 1, code = 'YESTERDA' where public_id('po', payout_id) = $1`,
    [payout.id],
  );
  const later = await get(payout);
  expect(setOf(later)).not.toBe(setOf(file));
  expect(warned(later)).toBe('1');
});

test('NACHA files of one day have their own letters, and trace numbers that continue', async () => {
  await api.patch('/v2/account', { originator: ORIGINATOR });
  for (const amount of [100, 200]) await payee(ACH, amount);
  const first = await makePayout(api);
  const files = [await get(first, 'nacha')];
  expect((await get(first, 'nacha')).text).toBe(files[0]?.text);
  await completePayout(api, first);
  await payee(ACH, 300);
  const second = await makePayout(api);
  files.push(await get(second, 'nacha'));
  await api.patch('/v2/account', { originator: { ...ORIGINATOR, entry_description: 'COMMISSION' } });
  files.push(await get(second, 'nacha'));
  expect(files.map(({ text }) => text[33])).toEqual(['A', 'B', 'C']);
  expect(files.flatMap(({ text }) => entriesIn(text).map(({ trace }) => Number(trace.slice(-7))))).toEqual([
    1, 2, 3, 4,
  ]);
  if (missingReader === null)
    for (const { error } of readByAnother(files.map(({ text }) => text))) expect(error).toBeUndefined();
  // another originator begins with A, and so does another account
  await api.patch('/v2/account', { originator: { ...ORIGINATOR, immediate_origin: '9876543210' } });
  expect((await get(second, 'nacha')).text[33]).toBe('A');
  const other = await world.otherAccount();
  await other.patch('/v2/account', { originator: ORIGINATOR });
  await payee(ACH, 100, other);
  expect((await get(await makePayout(other), 'nacha', other)).text[33]).toBe('A');
});

test('after 36 NACHA files of a day the next one is refused, and the existing ones stay', async () => {
  await api.patch('/v2/account', { originator: ORIGINATOR });
  const { id } = await payee(ACH);
  const payout = await makePayout(api);
  const first = await get(payout, 'nacha');
  await world.query(`update nacha_days set files = 35 where public_id('acc', account_id) = $1`, [
    (await api.get('/v2/account')).body.id,
  ]);
  const at = `${AFFILIATES}/${id}/destination`;
  await api.put(at, { ...ACH, account_number: '777777' });
  const last = await get(payout, 'nacha');
  expect([first.text[33], last.text[33]]).toEqual(['A', '9']);
  expect((await get(payout, 'nacha')).text).toBe(last.text);
  await api.put(at, { ...ACH, account_number: '888888' });
  const refused = await nothingChanges(world, () => api.get(`${PAYOUTS}/${payout.id}/payment-files/nacha`));
  expectRefusal(refused, 409, 'too_many_files_today', '36', 'tomorrow');
});

test('a viewer gets no payment file, and sees the list of them', async () => {
  await setDebtor();
  await payee();
  const payout = await makePayout(api);
  const { browser } = await makeUser(api, 'viewer');
  for (const format of ['sepa', 'summary']) {
    const path = `${PAYOUTS}/${payout.id}/payment-files/${format}`;
    const refused = await nothingChanges(world, () => browser.call('GET', path, undefined, null));
    expectRefusal(refused, 403, 'role_too_low');
  }
  const seen = await browser.call('GET', `${PAYOUTS}/${payout.id}/payment-files`, undefined, null);
  expect(seen.body.files).toHaveLength(1);
});

test('a page of another site cannot make a browser download a payment file', async () => {
  await setDebtor();
  await payee();
  const payout = await makePayout(api);
  const { browser } = await makeUser(api, 'member');
  const path = `${PAYOUTS}/${payout.id}/payment-files/sepa`;
  const ask = (site: string, headers: Record<string, string>) =>
    api.request('GET', path, { headers: { ...headers, 'sec-fetch-site': site } });
  const cookie = { authorization: '', cookie: `payhook_session=${browser.cookie()}` };
  const send = (site: string) =>
    fetch(api.url + path, { headers: { cookie: cookie.cookie, 'sec-fetch-site': site } });
  await nothingChanges(world, async () => {
    const refused = await send('cross-site');
    expect([refused.status, refused.headers.get('payhook-reason')]).toEqual([403, 'cross_site_request']);
  });
  for (const site of ['same-origin', 'none']) expect((await send(site)).status).toBe(200);
  // a key is no cookie: its holder acts on purpose
  expect((await ask('cross-site', {})).status).toBe(200);
});

test('a file of a payout that a refund changed is a new one, and its line is reported', async () => {
  await setDebtor();
  const { id } = await payee();
  const sale = await makeCommission(api, id, { amount: 500, currency: 'eur' });
  const payout = await makePayout(api);
  const before = await get(payout);
  await api.post(`${COMMISSIONS}/${sale.id}/refund`, { external_id: 'r', amount: 300 });
  const after = await get(payout);
  expect([idIn(after) === idIn(before), warned(after)]).toEqual([false, '1']);
});

test.each([
  [{ ...ACH, routing_number: '991000025' }, 'routing_number', 'begins with 99'],
  [{ ...SEPA, bic: 'NOTPROVIDED' }, 'bic', 'leave it out'],
  [{ ...SEPA, bic: 'notprovided' }, 'bic', 'leave it out'],
  [{ ...SEPA, account_holder: '山田太郎' }, 'account_holder', '山田太郎'],
  [{ ...SEPA, account_holder: '😀' }, 'account_holder', 'no letter'],
  [{ ...SEPA, account_holder: '4711' }, 'account_holder', 'no letter'],
])('a destination that no bank accepts is refused by its field: %o', async (to, field, rule) => {
  const { id } = await makeAffiliate(api);
  await nothingChanges(world, async () =>
    expectRefusal(await api.put(`${AFFILIATES}/${id}/destination`, to), 400, 'invalid_body', field, rule),
  );
});

test.each([
  ['Παπαδόπουλος', 'Papadopoulos'],
  ['ΟΥΡΑΝΙΑ Ούτε', 'OURANIA Oute'],
  ['Zoë 😀 King', 'Zoe King'],
  ['👩‍🚀 Ada', 'Ada'],
  ['やまだ', 'yamada'],
])('the holder %s is written %s', async (account_holder, written) => {
  const { id } = await makeAffiliate(api);
  const put = await api.put(`${AFFILIATES}/${id}/destination`, { ...SEPA, account_holder });
  expect(put.body, put.text).toMatchObject({ holder_in_files: written });
});
