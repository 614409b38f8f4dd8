import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { breaches, missingReader, paymentsIn, readByAnother } from '../support/nacha.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  makeCommission,
  makePayee,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const ORIGINATOR = {
  immediate_destination: '0210 0002 1',
  immediate_destination_name: 'JPMorgan Chase',
  immediate_origin: '1234567890',
  immediate_origin_name: 'Difference Engines',
  company_name: 'Difference Engin',
  company_id: '1234567890',
};
const ACCOUNT = {
  type: 'ach',
  account_holder: 'Zoë Okafor',
  routing_number: '121042882',
  account_number: '000123456789',
  account_type: 'checking',
};

const ask = (payout: string, query = '', format = 'nacha') =>
  api.get(`${PAYOUTS}/${payout}/payment-files/${format}${query && `?${query}`}`);
async function get(payout: string, query = ''): Promise<Answer> {
  const answer = await ask(payout, query);
  expect(answer.status, answer.text).toBe(200);
  expect(breaches(answer.text)).toEqual([]);
  return answer;
}
const overview = async (): Promise<Json> => (await api.get(`${PAYOUTS}/current/payment-files`)).body;
const setOriginator = async (fields: object = {}) => {
  const changed = await api.patch('/v2/account', { originator: { ...ORIGINATOR, ...fields } });
  expect(changed.status, changed.text).toBe(200);
  return changed.body.originator;
};

/** An affiliate with an account in the United States who has earned this much in dollars. */
function earner(amount = 1000, fields: object = {}, affiliate: object = {}): Promise<Json> {
  return makePayee(api, { ...ACCOUNT, ...fields }, { commission: { amount, currency: 'usd' }, affiliate });
}

test('the originator is stored as its bank writes it, and the response lists what was dropped', async () => {
  expect((await api.get('/v2/account')).body).toMatchObject({ originator: null });
  expect(await setOriginator()).toEqual({
    ...ORIGINATOR,
    immediate_destination: '021000021',
    originating_dfi: '02100002',
    entry_description: 'PAYOUT',
    person_entry_description: 'PAYROLL',
    discretionary_data: null,
    rows_per_file: 10_000,
  });
  expect(await setOriginator({ originating_dfi: '121042882', discretionary_data: 'Ref 7' })).toMatchObject({
    originating_dfi: '12104288',
    discretionary_data: 'Ref 7',
  });
  expect(await setOriginator({ originating_dfi: '12104288' })).toMatchObject({ originating_dfi: '12104288' });
  const other = await world.otherAccount();
  expect((await other.get('/v2/account')).body.originator).toBeNull();
  expect((await api.patch('/v2/account', { originator: null })).body.originator).toBeNull();
});

describe('an originator that no bank accepts is refused by its field', () => {
  test.each<[field: string, value: unknown, rule: string]>([
    ['immediate_destination', '021000022', 'check digit'],
    ['immediate_destination', '02100002', 'nine digits'],
    ['immediate_destination_name', 'x'.repeat(24), '23'],
    ['immediate_destination_name', 'Crédit', 'ASCII'],
    ['immediate_origin', '12345678', 'nine or ten digits'],
    ['immediate_origin', '12345678901', 'nine or ten digits'],
    ['immediate_origin_name', '  ', 'letter or digit'],
    ['company_name', 'Difference Engines', '16'],
    ['company_name', 'Tick`s', 'ASCII'],
    ['company_id', '123456789', 'ten letters and digits'],
    ['originating_dfi', '1210428', 'first eight'],
    ['originating_dfi', '00000000', 'first eight'],
    ['originating_dfi', '121042883', 'check digit'],
    ['entry_description', 'reversal', 'reserves'],
    ['entry_description', 'x'.repeat(11), '10'],
    ['person_entry_description', 'return fee', 'reserves'],
    ['discretionary_data', 'x'.repeat(21), '20'],
    ['rows_per_file', 1, '2'],
  ])('%s %s', async (field, value, rule) => {
    await nothingChanges(world, async () => {
      const refused = await api.patch('/v2/account', { originator: { ...ORIGINATOR, [field]: value } });
      expectRefusal(refused, 400, 'invalid_body', `originator.${field}`, rule);
    });
  });
});

test('a NACHA file, to the byte: persons by PPD, then businesses by CCD', async () => {
  await setOriginator({ discretionary_data: 'Ref 7' });
  const firm = await earner(
    7,
    { account_holder: 'Engines & Sons', account_type: 'savings', account_number: 'A-17' },
    { legal_type: 'business' },
  );
  const zoe = await earner(123_456);
  const payout = await makePayout(api);
  const file = await get(payout.id, 'execution_date=2099-02-02');
  const [header = '', ...rest] = file.text.split('\r\n');
  expect(header).toMatch(/^101 0210000211234567890\d{10}A094101JPMorgan Chase {9}Difference Engines {13}$/);
  const reference = (id: number) => `P1-A${id}`.padEnd(15);
  expect(rest).toEqual([
    '5220Difference EnginRef 7               1234567890PPDPAYROLL         990202   1021000020000001',
    `622121042882000123456789     0000123456${reference(zoe.id)}Zoe Okafor              0021000020000001`,
    '82200000010012104288000000000000000000123456' + '1234567890'.padEnd(35) + '021000020000001',
    '5220Difference EnginRef 7               1234567890CCDPAYOUT          990202   1021000020000002',
    `632121042882A-17             0000000007${reference(firm.id)}Engines + Sons          0021000020000002`,
    '82200000010012104288000000000000000000000007' + '1234567890'.padEnd(35) + '021000020000002',
    '9000002000001000000020024208576000000000000000000123463'.padEnd(94),
    '9'.repeat(94),
    '9'.repeat(94),
    '',
  ]);
  expect(file.headers.get('content-type')).toBe('text/plain; charset=us-ascii');
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="payout-1-r1-${payout.as_of.slice(0, 10)}-nacha-usd.ach"`,
  );
  if (missingReader !== null) return;
  expect(readByAnother([file.text])).toMatchObject([
    { credit: 123_463, debit: 0, effective: '990202', payments: paymentsIn(file.text) },
  ]);
});

test('parts have their own letter, and trace numbers continue from one to the next', async () => {
  await setOriginator({ rows_per_file: 2 });
  for (const amount of [100, 200, 300]) await earner(amount);
  const { id } = await makePayout(api);
  expect((await overview()).files).toMatchObject([{ format: 'nacha', part_count: 2, affiliate_count: 3 }]);
  expect((await overview()).by_hand).toEqual([]);
  expectRefusal(await ask(id), 400, 'several_parts', '1 to 2');
  const parts = [(await get(id, 'part=1')).text, (await get(id, 'part=2')).text];
  expect(parts.map((text) => text[33])).toEqual(['A', 'B']);
  const paid = parts.flatMap(paymentsIn);
  expect(paid.map(({ amount, trace }) => [amount, trace])).toEqual([
    [100, '021000020000001'],
    [200, '021000020000002'],
    [300, '021000020000003'],
  ]);
});

test('a reference may have fifteen characters; a longer one is not paid, with a reason', async () => {
  await setOriginator();
  const { id: affiliate } = await earner();
  const { id: account } = (await api.get('/v2/account')).body;
  /** A payout whose reference for the affiliate has this many characters. */
  const payoutWith = async (characters: number): Promise<Json> => {
    const number = 10 ** (characters - `P-A${affiliate}`.length - 1);
    await world.query('update payout_books set next_number = $2 where account_id = $1', [
      account.slice(4),
      number,
    ]);
    const payout = await makePayout(api);
    expect(payout.number).toBe(number);
    return payout;
  };
  const fits = await payoutWith(15);
  const reference = `P${fits.number}-A${affiliate}`;
  expect(paymentsIn((await get(fits.id)).text)).toMatchObject([{ reference }]);
  expect((await api.delete(`${PAYOUTS}/${fits.id}`)).status).toBe(204);
  const long = await payoutWith(16);
  expectRefusal(await ask(long.id), 400, 'empty_payment_file', 'has more than the 15 characters');
  expect((await overview()).files).toMatchObject([
    {
      affiliate_count: 0,
      skipped: [
        {
          affiliate_id: affiliate,
          reason: `the reference P${long.number}-A${affiliate} has more than the 15 characters of a NACHA file`,
        },
      ],
    },
  ]);
});

test('without an originator there is no file, and the refusal says what to set', async () => {
  await earner();
  const { id } = await makePayout(api);
  await nothingChanges(world, async () =>
    expectRefusal(await ask(id), 409, 'no_payer', 'originator', 'PATCH'),
  );
});

test('a day without settlement is refused with the next possible one; the default is the next banking day', async () => {
  await setOriginator();
  await earner();
  const { id } = await makePayout(api);
  expectRefusal(
    await ask(id, 'execution_date=2099-01-03'),
    400,
    'invalid_query',
    'no banking day',
    '2099-01-05',
  );
  expectRefusal(await ask(id, 'execution_date=2099-12-25'), 400, 'invalid_query', '2099-12-28');
  expectRefusal(await ask(id, 'execution_date=2020-01-02'), 400, 'invalid_query', 'today');
  const batch = (await get(id)).text.split('\r\n')[1] ?? '';
  // the settlement day follows the bank's today, which is yesterday in UTC during the American evening
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(new Date());
  expect(Number(batch.slice(69, 75))).toBeGreaterThan(Number(today.slice(2).replaceAll('-', '')));
});

test('affiliates whom ACH cannot pay are listed with the reason, and are in no file', async () => {
  await setOriginator();
  const paid = await earner();
  const rich = await earner(10_000_000_000);
  const euros = await earner();
  await makeCommission(api, euros.id, { amount: 500, currency: 'eur' });
  const lost = await earner();
  await world.query('update affiliate_destinations set number = null where affiliate_id = $1', [lost.id]);
  const { id } = await makePayout(api);
  expectRefusal(await ask(id, 'currency=usd'), 400, 'affiliates_not_in_file', '99,999,999.99', `${rich.id}`);
  const file = await get(id, 'currency=usd&allow_skipped=true');
  expect(paymentsIn(file.text).map(({ reference }) => reference)).toEqual([
    `P1-A${paid.id}`,
    `P1-A${euros.id}`,
  ]);
  const reasons = (await overview()).files.flatMap(({ currency, skipped }: Json) =>
    skipped.map(({ affiliate_id, reason }: Json) => `${currency} ${affiliate_id}: ${reason}`),
  );
  expect(reasons).toEqual([
    `eur ${euros.id}: ACH pays in USD only`,
    `usd ${rich.id}: above 99,999,999.99 USD, the most that one ACH entry pays`,
    `usd ${lost.id}: the account number was lost with the secret key: set the destination again`,
  ]);
});

test('a file whose sum exceeds its total field is refused', async () => {
  await setOriginator();
  const [one] = [await earner(9_999_999_999), await earner(9_999_999_999)];
  // a hundred and one of them are too many, inserted here without the API
  await world.query(
    `with made as (
       insert into affiliates (account_id, email)
       select account_id, 'rich' || n || '@example.com' from affiliates, generate_series(1, 99) n where id = $1
       returning account_id, id)
     insert into affiliate_destinations (account_id, affiliate_id, type, account_holder, holder_in_files, number, last_four,
       routing_number, account_type)
     select made.account_id, made.id, d.type, d.account_holder, d.holder_in_files, d.number, d.last_four, d.routing_number,
       d.account_type from made, affiliate_destinations d where d.affiliate_id = $1`,
    [one.id],
  );
  const rows: Json[] = await world.query(`select id from affiliates where email like 'rich%'`);
  const commissions = rows.map(({ id }) => ({
    ...{ external_id: `rich ${id}`, affiliate_id: Number(id), amount: 9_999_999_999, currency: 'usd' },
  }));
  expect((await api.post(`${COMMISSIONS}/batch`, { commissions })).status).toBe(200);
  const { id } = await makePayout(api);
  expectRefusal(await ask(id), 409, 'amount_too_large', '10099999998.99', 'rows_per_file');
});

test('a paid payout keeps the paid account, and other accounts do not see the file', async () => {
  await setOriginator();
  const { id } = await earner();
  const payout = await makePayout(api);
  await completePayout(api, payout);
  const at = `${AFFILIATES}/${id}/destination`;
  await api.put(at, { ...ACCOUNT, account_number: '999999' });
  expect(paymentsIn((await get(payout.id)).text)).toMatchObject([{ number: '000123456789' }]);
  const other = await world.otherAccount();
  expectRefusal(await other.get(`${PAYOUTS}/${payout.id}/payment-files/nacha`), 404, 'resource_missing');
});
