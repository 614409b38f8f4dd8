import sql from 'sql-template-tag';
import { describe, expect, test } from 'vitest';
import { notifyOfAgreements } from '../../src/money/tax-profiles/agreement-alerts.ts';
import { notifyOfForms } from '../../src/money/tax-profiles/form-alerts.ts';
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
const api = useAccount(world);

const THIS_YEAR = new Date().getUTCFullYear();
const SIGNED = {
  legal_type: 'person',
  legal_name: 'Ada Lovelace',
  country: 'DE',
  address: { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' },
};
const signedIn = (type: string, year: number) => ({ type, signed_on: `${year}-01-01` });
const W9 = signedIn('w9', 2020);

const put = (affiliate: number, fields: object) =>
  api.put(`${AFFILIATES}/${affiliate}/tax-profile`, { ...SIGNED, ...fields });
/** An affiliate with a tax profile. */
async function signer(fields: object = {}, affiliate: object = {}): Promise<number> {
  const { id } = await makeAffiliate(api, affiliate);
  const answer = await put(id, fields);
  expect(answer.status, answer.text).toBe(200);
  return id;
}

describe('how long a form is valid', () => {
  test.each([
    ['w8ben', 'person', '2026-01-01', '2029-12-31'],
    ['w8ben', 'person', '2026-11-27', '2029-12-31'],
    ['w8bene', 'business', '2023-12-31', '2026-12-31'],
    ['w8eci', 'business', '2024-02-29', '2027-12-31'],
    ['w8exp', 'business', '2024-02-29', '2027-12-31'],
    ['w8imy', 'business', '2024-02-29', null],
    ['w9', 'person', '2020-02-29', null],
    ['vat_registration', 'business', '2020-02-29', null],
  ])('%s of a %s, signed on %s: until %s', async (type, legal_type, signed_on, until) => {
    const { id } = await makeAffiliate(api);
    const { body } = await put(id, { legal_type, form: { type, signed_on } });
    expect(body.form).toEqual({ type, signed_on, valid_until: until, document: null });
  });

  test('the list has those that lapse this year, those that lapsed, and those without', async () => {
    const lapsing = await signer({ form: signedIn('w8ben', THIS_YEAR - 3) });
    const lapsed = await signer({ form: signedIn('w8ben', THIS_YEAR - 4) });
    const valid = await signer({ form: signedIn('w8ben', THIS_YEAR - 2) });
    const us = await signer({ country: 'US', form: W9 });
    const none = await signer();
    const found = async (query: string) =>
      (await api.get(`/v2/affiliates/tax-profiles?${query}`)).body.data.map((row: Json) => row.affiliate_id);
    expect(await found('form_status=lapsing')).toEqual([lapsing]);
    expect(await found('form_status=lapsed')).toEqual([lapsed]);
    expect(await found('form_status=none')).toEqual([none]);
    expect(await found('form_status=valid')).toEqual([lapsing, valid, us]);
    expect(await found('form=w9')).toEqual([us]);
    expect(await found('')).toEqual([lapsing, lapsed, valid, us, none]);
    const other = await world.otherAccount();
    expect((await other.get('/v2/affiliates/tax-profiles')).body.data).toEqual([]);
  });
});

test.each<[title: string, fields: object, ...words: string[]]>([
  ['a day in the future', { form: { type: 'w9', signed_on: '2999-01-01' } }, 'form.signed_on', 'future'],
  [
    'a W-8BEN of the United States',
    { country: 'us', form: signedIn('w8ben', 2026) },
    'form.type',
    'country US',
    'w9',
  ],
  [
    'a W-8ECI of the United States',
    { country: 'US', form: signedIn('w8eci', 2026) },
    'form.type',
    'country US',
    'w9',
  ],
])('%s is refused by name', async (_, fields, ...words) => {
  const { id } = await makeAffiliate(api);
  const answer = await nothingChanges(world, () => put(id, fields));
  expectRefusal(answer, 400, 'invalid_body', ...words);
});

test('a file with such a form is refused by its line', async () => {
  const { id } = await makeAffiliate(api, { email: 'ada@example.com' });
  await put(id, { form: signedIn('w8ben', 2026) });
  const columns = 'email,legal_type,legal_name,tax_country,address_line1,address_city';
  const ofAda = 'ada@example.com,person,Ada,';
  const take = async (text: string) => {
    const { body } = await api.upload(`${AFFILIATES}/import`, text);
    return JSON.stringify(body);
  };
  const forms = `${columns},tax_form,tax_form_signed_on`;
  expect(await take(`${forms}\n${ofAda}DE,Hof 1,Berlin,w8ben,2999-01-01\n`)).toMatch(
    /tax_form_signed_on must not be in the future/,
  );
  expect(await take(`${forms}\n${ofAda}us,Hof 1,Berlin,w8ben,2026-01-01\n`)).toMatch(
    /tax_form w8ben is for .* country US/,
  );
  expect(await take(`${columns}\n${ofAda}US,1 Main St,Boston\n`)).toMatch(
    /tax_country does not go with the form/,
  );
});

describe('payouts to those who need a form', () => {
  const setRule = async (payout_form: string) =>
    expect((await api.patch('/v2/account', { payout_form })).status).toBe(200);
  const owe = (id: number, amount: number, currency = 'usd') => makeCommission(api, id, { amount, currency });
  /** [affiliate, currency, reason] of all who are left out, in the preview and in the payout, which is deleted. */
  async function leftOut(): Promise<[number, string, string][]> {
    const of = (rows: Json[]) =>
      rows.map((row) => [row.affiliate_id, row.currency, row.reason] as [number, string, string]);
    const preview = of((await api.post(`${PAYOUTS}/preview/excluded`)).body.data);
    const payout = await makePayout(api);
    expect(of((await api.get(`${PAYOUTS}/${payout.id}/excluded`)).body.data)).toEqual(preview);
    await api.delete(`${PAYOUTS}/${payout.id}`);
    return preview;
  }

  test('nobody needs one at first; with always, who has none or a lapsed one is left out with the reason', async () => {
    const lapsed = await signer({ form: signedIn('w8ben', THIS_YEAR - 4) });
    const valid = await signer({ form: signedIn('w8ben', THIS_YEAR - 3) });
    const us = await signer({ country: 'US', form: W9 });
    const other = await signer({ form: signedIn('vat_registration', 2026) });
    const { id: none } = await makeAffiliate(api);
    for (const id of [lapsed, valid, us, other, none]) await owe(id, 500);
    await owe(none, 700, 'eur');
    expect((await api.get('/v2/account')).body.payout_form).toBe('none');
    expect(await leftOut()).toEqual([]);
    await setRule('always');
    expect(await leftOut()).toEqual([
      [lapsed, 'usd', 'form_expired'],
      [other, 'usd', 'form_missing'],
      [none, 'eur', 'form_missing'],
      [none, 'usd', 'form_missing'],
    ]);
    const { excluded, amount, affiliate_count } = await makePayout(api);
    expect([amount, affiliate_count]).toEqual([1000, 2]);
    const sum = (currency: string, cents: number, count: number) => ({
      ...{ currency, amount: cents, commission_count: count, affiliate_count: count },
    });
    expect(excluded).toEqual([
      { reason: 'form_expired', affiliate_count: 1, totals: [sum('usd', 500, 1)] },
      { reason: 'form_missing', affiliate_count: 2, totals: [sum('eur', 700, 1), sum('usd', 1000, 2)] },
    ]);
  });

  test('other reasons come first, and a payout of nobody says why', async () => {
    await setRule('always');
    const { id } = await makeAffiliate(api, { minimum_payout: { usd: 1000 } });
    await owe(id, 500);
    expectRefusal(await api.post(PAYOUTS), 409, 'nothing_to_pay', 'below_minimum: 1');
    expectRefusal(
      await api.post(PAYOUTS, { ignore_minimum: true }),
      409,
      'nothing_to_pay',
      'form_missing: 1',
    );
    await put(id, { country: 'US', form: W9 });
    expect((await api.post(PAYOUTS, { ignore_minimum: true })).status).toBe(201);
  });

  test('at the threshold the dollars of the year count, less returns, without those that PayPal reports', async () => {
    const { id: once } = await makeAffiliate(api, { payout_method: 'other' });
    const { id: below } = await makeAffiliate(api, { payout_method: 'other' });
    const { id: paypal } = await makeAffiliate(api, {
      payout_method: 'paypal',
      paypal_email: 'p@example.com',
    });
    await owe(once, 200_000);
    await owe(once, 900_000, 'eur');
    await owe(below, 199_999);
    await owe(paypal, 900_000);
    await setRule('at_threshold');
    expect(await leftOut()).toEqual([[once, 'usd', 'form_missing']]);
    const payout = await makePayout(api);
    await completePayout(api, payout);
    await owe(below, 1);
    await owe(paypal, 1);
    expect(await leftOut()).toEqual([
      [once, 'usd', 'form_missing'],
      [below, 'usd', 'form_missing'],
    ]);
    await api.post(`${PAYOUTS}/${payout.id}/affiliates/${below}/returned`, {
      reason: 'closed',
      amount: 50_000,
    });
    // the returned part is owed again
    expect(await leftOut()).toEqual([
      [once, 'usd', 'form_missing'],
      [below, 'usd', 'form_missing'],
    ]);
    await world.query(
      `update payouts set paid_at = now() - interval '1 year' where public_id('po', id) = $1`,
      [payout.id],
    );
    await world.query(`update payout_returns set returned_at = now() - interval '1 year'`);
    expect(await leftOut()).toEqual([[once, 'usd', 'form_missing']]);
  });

  test('the rule is one of three, and filters by method work with it', async () => {
    expectRefusal(
      await api.patch('/v2/account', { payout_form: 'w9' }),
      400,
      'invalid_body',
      'payout_form',
      'at_threshold',
    );
    await setRule('at_threshold');
    const { id } = await makeAffiliate(api, { payout_method: 'other' });
    await owe(id, 200_000);
    const filters = { payout_method: 'other' };
    expectRefusal(await api.post(PAYOUTS, { filters }), 409, 'nothing_to_pay', 'form_missing: 1');
  });
});

test('whoever may create payouts is reminded 90, 30 and 7 days before forms lapse, each step once', async () => {
  await signer({ form: signedIn('w8ben', 2025) });
  await signer({ form: signedIn('w8ben', 2025) });
  await signer({ form: signedIn('w8ben', 2024) });
  const { body: channel } = await api.post('/v2/alert-channels', {
    ...{ name: 'ops', format: 'slack', url: 'https://hooks.example.com/x', kinds: ['tax_forms_lapsing'] },
  });
  const on = async (day: string) => {
    await world.db.transaction((tx) => notifyOfForms(tx, sql`${`${day}T12:00:00Z`}::timestamptz`));
    return (
      await world.query<{ data: Json }>(
        `select data from notices where public_id('alc', channel_id) = $1 order by id`,
        [channel.id],
      )
    ).map(({ data }) => [data.ends, data.forms]);
  };
  expect(await on('2028-10-01')).toEqual([]);
  const first = ['2028-12-31', 2];
  expect(await on('2028-10-02')).toEqual([first]);
  expect(await on('2028-11-30')).toEqual([first]);
  expect(await on('2028-12-01')).toEqual([first, first]);
  expect(await on('2028-12-24')).toEqual([first, first, first]);
  expect(await on('2028-12-31')).toEqual([first, first, first]);
  expect(await on('2029-12-31')).toEqual([first, first, first]);
});

const today = new Date().toISOString().slice(0, 10);
/** The day this many days after another. */
const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
const agreedUntil = (expires_on: string | null) => ({
  self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada Lovelace', expires_on },
});

test('the list has agreements that end soon, that ended, and affiliates without one', async () => {
  // the account counts its days in UTC, and midnight may pass while the test runs
  const ended = await signer(agreedUntil(dayAfter(today, -1)));
  const soon = await signer(agreedUntil(dayAfter(today, 1)));
  const within = await signer(agreedUntil(dayAfter(today, 90)));
  const later = await signer(agreedUntil(dayAfter(today, 92)));
  const endless = await signer(agreedUntil(null));
  const none = await signer();
  const found = async (status: string) =>
    (await api.get(`/v2/affiliates/tax-profiles?self_billing_status=${status}`)).body.data.map(
      (row: Json) => row.affiliate_id,
    );
  expect(await found('ending')).toEqual([soon, within]);
  expect(await found('ended')).toEqual([ended]);
  expect(await found('valid')).toEqual([soon, within, later, endless]);
  expect(await found('none')).toEqual([none]);
});

test('whoever may create payouts is reminded 90, 30 and 7 days before agreements end, each step once', async () => {
  await signer(agreedUntil('2028-12-31'));
  await signer(agreedUntil('2028-12-31'));
  await signer(agreedUntil('2029-01-10'));
  await signer(agreedUntil(null));
  const { body: channel } = await api.post('/v2/alert-channels', {
    ...{ name: 'ops', format: 'slack', url: 'https://hooks.example.com/x', kinds: ['agreements_ending'] },
  });
  const on = async (day: string) => {
    await world.db.transaction((tx) => notifyOfAgreements(tx, sql`${`${day}T12:00:00Z`}::timestamptz`));
    return (
      await world.query<{ data: Json }>(
        `select data from notices where public_id('alc', channel_id) = $1 order by id`,
        [channel.id],
      )
    ).map(({ data }) => [data.ends, data.agreements]);
  };
  expect(await on('2028-10-01')).toEqual([]);
  const first = ['2028-12-31', 2];
  expect(await on('2028-10-02')).toEqual([first]);
  expect(await on('2028-10-02')).toEqual([first]);
  // two days were missed: the third agreement came within 90 days on the first of them
  const second = ['2029-01-10', 1];
  expect(await on('2028-10-14')).toEqual([first, second]);
  const all = ['2028-12-31', 3];
  expect(await on('2028-12-11')).toEqual([first, second, all]);
  expect(await on('2028-12-12')).toEqual([first, second, all]);
  expect(await on('2028-12-23')).toEqual([first, second, all]);
  expect(await on('2028-12-24')).toEqual([first, second, all, first]);
  expect(await on('2028-12-31')).toEqual([first, second, all, first]);
  expect(await on('2029-01-05')).toEqual([first, second, all, first, second]);
  expect(await on('2029-01-11')).toEqual([first, second, all, first, second]);
});
