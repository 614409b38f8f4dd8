import { beforeEach, describe, expect, test } from 'vitest';
import { memberOf, send } from '../access/support.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  completePayout,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const IBAN = 'DE89370400440532013000';
const SEPA = { type: 'sepa', account_holder: 'Ada Lovelace', iban: IBAN };
const ACH = {
  type: 'ach',
  account_holder: 'Ada Lovelace',
  routing_number: '021000021',
  account_number: '000123456789',
  account_type: 'checking',
};

const at = (affiliate: number) => `${AFFILIATES}/${affiliate}/destination`;
const put = (affiliate: number, body: object) => api.put(at(affiliate), body);
const current = async (affiliate: number): Promise<Json[]> =>
  (await api.get(at(affiliate))).body.destinations;

test('a bank account is shown by its end; IBANs are accepted in any case, with or without blanks', async () => {
  const { id } = await makeAffiliate(api);
  expect((await api.get(at(id))).body).toEqual({
    object: 'affiliate_destinations',
    affiliate_id: id,
    destinations: [],
  });
  const made = await put(id, { ...SEPA, iban: ' de89 3704 0044 0532 0130 00 ', bic: 'cobadeff' });
  expect(made.status, made.text).toBe(200);
  expect(made.body).toEqual({
    object: 'affiliate_destination',
    affiliate_id: id,
    currency: null,
    type: 'sepa',
    account_holder: 'Ada Lovelace',
    holder_in_files: 'Ada Lovelace',
    last_four: '3000',
    country: 'DE',
    bic: 'COBADEFF',
    routing_number: null,
    account_type: null,
    is_lost: false,
    waits_until: null,
    shared_with: [],
    verification: null,
    created_at: expect.any(String),
  });
  expect(await current(id)).toEqual([made.body]);
});

test('a default and destinations for single currencies are replaced and removed separately', async () => {
  const { id } = await makeAffiliate(api);
  await put(id, { type: 'other' });
  await put(id, { ...SEPA, currency: 'EUR' });
  await put(id, { ...ACH, currency: 'usd' });
  await put(id, { type: 'wise', currency: null });
  const types = async () => (await current(id)).map(({ currency, type }) => `${currency} ${type}`);
  const typeShown = async () => (await api.get(`${AFFILIATES}/${id}`)).body.destination_type;
  expect(await types()).toEqual(['null wise', 'eur sepa', 'usd ach']);
  expect(await typeShown()).toBe('wise');
  expect((await api.delete(`${at(id)}?currency=EUR`)).status).toBe(204);
  expect((await api.delete(at(id))).status).toBe(204);
  expect(await types()).toEqual(['usd ach']);
  expect(await typeShown()).toBe('ach');
  expectRefusal(await api.delete(at(id)), 404, 'resource_missing', 'destination');
  expectRefusal(await api.delete(`${at(id)}?currency=xyz`), 400, 'invalid_query', 'currency');
});

test('Wise pays to an IBAN, which is shown as that of a SEPA destination is', async () => {
  const { id } = await makeAffiliate(api);
  const { body } = await put(id, { ...SEPA, type: 'wise_bank', account_holder: 'Zoë Okafor' });
  expect(body).toMatchObject({
    ...{ type: 'wise_bank', account_holder: 'Zoë Okafor', holder_in_files: 'Zoe Okafor' },
    ...{ last_four: '3000', country: 'DE', bic: null, is_lost: false },
  });
  expect((await api.get(`${AFFILIATES}/${id}`)).body).toMatchObject({
    ...{ destination_type: 'wise_bank', paid_through: 'wise_bank' },
  });
  const found = await api.get(`${AFFILIATES}?payout_method=wise_bank`);
  expect(found.body.data.map((each: Json) => each.id)).toEqual([id]);
});

describe('a value that violates a rule is refused by its field, and the error omits the number', () => {
  const sepa = (fields: object) => ({ ...SEPA, ...fields });
  const ach = (fields: object) => ({ ...ACH, ...fields });
  test.each<[title: string, body: object, field: string, rule: string]>([
    ['a wrong digit', sepa({ iban: 'DE89370400440532013001' }), 'iban', 'check digits'],
    ['too short', sepa({ iban: 'DE8937040044053201300' }), 'iban', 'length'],
    ['a country without IBANs', sepa({ iban: 'US89370400440532013000' }), 'iban', 'country'],
    ['outside SEPA', sepa({ iban: 'TR330006100519786457841326' }), 'iban', 'TR'],
    ['other characters', sepa({ iban: 'DE89.3704.0044.0532.0130.00' }), 'iban', 'blanks'],
    ['a BIC too short', sepa({ bic: 'COBADE' }), 'bic', '8 or 11'],
    ['a name of 71 characters', sepa({ account_holder: 'x'.repeat(71) }), 'account_holder', '70'],
    ['a name that grows', sepa({ account_holder: 'ß'.repeat(36) }), 'account_holder', '72'],
    ['a name without letters', sepa({ account_holder: '…' }), 'account_holder', 'letter'],
    ['another currency', sepa({ currency: 'usd' }), 'currency', 'EUR'],
    ['no IBAN', { type: 'sepa', account_holder: 'Ada' }, 'iban', 'required'],
    ['a field of another type', sepa({ routing_number: '021000021' }), 'routing_number', 'sepa'],
    ['a bank account for PayPal', { type: 'paypal', iban: IBAN }, 'iban', 'paypal'],
    ['a wrong routing number', ach({ routing_number: '021000022' }), 'routing_number', 'check digit'],
    ['zeros', ach({ routing_number: '000000000' }), 'routing_number', 'check digit'],
    ['a long account number', ach({ account_number: '1'.repeat(18) }), 'account_number', '17'],
    ['a name of 23 characters', ach({ account_holder: 'x'.repeat(23) }), 'account_holder', '22'],
    ['euros by ACH', ach({ currency: 'eur' }), 'currency', 'USD'],
    ['Wise without an account', { type: 'wise_bank', account_holder: 'Ada' }, 'iban', 'required'],
    ['dollars by Wise to an IBAN', sepa({ type: 'wise_bank', currency: 'usd' }), 'currency', 'EUR'],
    ['a BIC for Wise', sepa({ type: 'wise_bank', bic: 'COBADEFF' }), 'bic', 'wise_bank'],
    ['an unknown type', { type: 'cheque' }, 'type', 'sepa'],
  ])('%s', async (_, body, field, rule) => {
    const { id } = await makeAffiliate(api);
    const answer = await nothingChanges(world, () => put(id, body));
    expectRefusal(answer, 400, 'invalid_body', field, rule);
    const { iban = IBAN, account_number = '1'.repeat(18) } = body as Record<string, string>;
    expect(answer.text).not.toContain(iban);
    expect(answer.text).not.toContain(account_number);
  });

  test('another account cannot see, set or remove it', async () => {
    const { id } = await makeAffiliate(api);
    await put(id, SEPA);
    const other = await world.otherAccount();
    await nothingChanges(world, async () => {
      expectRefusal(await other.get(at(id)), 404, 'resource_missing');
      expectRefusal(await other.put(at(id), SEPA), 404, 'resource_missing');
      expectRefusal(await other.delete(at(id)), 404, 'resource_missing');
    });
  });
});

test('the holder as banks write it is shown next to the sent name', async () => {
  const { id } = await makeAffiliate(api);
  const written = async (account_holder: string) =>
    (await put(id, { ...SEPA, account_holder })).body.holder_in_files;
  expect(await written('Jörg Müßig & Söhne')).toBe('Joerg Muessig + Soehne');
  expect(await written('Łukasz Żółć')).toBe('Lukasz Zolc');
  expect(await written('Ελένη')).toMatch(/^[A-Za-z]+$/);
});

test('two affiliates with one IBAN are shown to each other, within the account only', async () => {
  const [one, two] = [await makeAffiliate(api), await makeAffiliate(api)];
  const other = await world.otherAccount();
  const stranger = await makeAffiliate(other);
  await other.put(at(stranger.id), SEPA);
  expect((await put(one.id, SEPA)).body.shared_with).toEqual([]);
  expect((await put(two.id, { ...SEPA, account_holder: 'Bob' })).body.shared_with).toEqual([one.id]);
  expect((await current(one.id))[0].shared_with).toEqual([two.id]);
  await put(two.id, { type: 'other' });
  expect((await current(one.id))[0].shared_with).toEqual([]);
});

test('a preview and an unpaid payout name the affiliates with one bank account, within the account only', async () => {
  const eur = { currency: 'eur' };
  const owed = async (name: string, where: object, currency = 'eur') => {
    const { id } = await makeAffiliate(api, { name_first: name });
    await put(id, where);
    await makeCommission(api, id, { currency });
    return id;
  };
  const ada = await owed('Ada', SEPA);
  const ben = await owed('Ben', { ...SEPA, account_holder: 'Ben' });
  const cleo = await owed('Cleo', { ...ACH, currency: 'usd' }, 'usd');
  const dan = await owed('Dan', ACH, 'usd');
  // the account is for another currency than the one that is owed
  const eva = await owed('Eva', SEPA, 'usd');
  await put(eva, { type: 'other', currency: 'usd' });
  // nothing is owed
  await put((await makeAffiliate(api)).id, SEPA);
  const other = await world.otherAccount();
  const stranger = await makeAffiliate(other);
  await other.put(at(stranger.id), SEPA);
  await makeCommission(other, stranger.id, eur);

  const named = (id: number, name: string) => ({ affiliate_id: id, name, email: expect.any(String) });
  const shared = [
    {
      type: 'sepa',
      last_four: '3000',
      affiliate_count: 2,
      affiliates: [named(ada, 'Ada'), named(ben, 'Ben')],
    },
    {
      type: 'ach',
      last_four: '6789',
      affiliate_count: 2,
      affiliates: [named(cleo, 'Cleo'), named(dan, 'Dan')],
    },
  ];
  const preview = async (by: Api, filters: object | null = null) =>
    (await by.post(`${PAYOUTS}/preview`, { filters })).body.shared_destinations;
  expect(await preview(api)).toEqual(shared);
  expect(await preview(api, { affiliate_id: { nin: [ben] } })).toEqual([shared[1]]);
  expect(await preview(other)).toEqual([]);

  const payout = await makePayout(api);
  expect(payout.shared_destinations).toEqual(shared);
  const viewer = await memberOf(api, 'viewer');
  const seen = await send(world, viewer.credentials, ['GET', `${PAYOUTS}/${payout.id}`]);
  expect(seen.body.shared_destinations).toEqual(shared);
  await put(dan, { type: 'other' });
  expect((await api.get(`${PAYOUTS}/current`)).body.shared_destinations).toEqual([shared[0]]);
  const done = await completePayout(api, payout);
  expect(done.shared_destinations).toEqual([]);
});

test('a change raises the revision of the unpaid payout with the affiliate, an unchanged value does not', async () => {
  const [one, two] = [await makeAffiliate(api), await makeAffiliate(api)];
  await makeCommission(api, one.id, { currency: 'eur' });
  const payout = await makePayout(api);
  const revision = async () => (await api.get(`${PAYOUTS}/${payout.id}`)).body.revision;
  await put(one.id, SEPA);
  expect(await revision()).toBe(2);
  await put(one.id, { ...SEPA, iban: 'de89 3704 0044 0532 0130 00' });
  await put(two.id, SEPA);
  expect(await revision()).toBe(2);
  await put(one.id, { ...SEPA, account_holder: 'Ada King' });
  await api.delete(at(one.id));
  expect(await revision()).toBe(4);
  expect(await eventsOf(world, api, 'payout.updated')).toHaveLength(3);
  const log = (await api.get('/v2/audit-log?action=putAffiliateDestination')).body.data;
  expect(log.map(({ target }: Json) => target)).toContain(String(one.id));
});

test('an affiliate with a destination does not count as without one', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { currency: 'eur', amount: 700 });
  await makeCommission(api, id, { currency: 'usd', amount: 300 });
  const lacking = async () =>
    Object.fromEntries(
      (await api.get(`${AFFILIATES}/balances`)).body.balances.map(
        ({ currency, without_destination }: Json) => [currency, without_destination.amount],
      ),
    );
  expect(await lacking()).toEqual({ eur: 700, usd: 300 });
  await put(id, { ...SEPA, currency: 'eur' });
  expect(await lacking()).toEqual({ eur: 0, usd: 300 });
  await put(id, { type: 'other' });
  expect(await lacking()).toEqual({ eur: 0, usd: 0 });
  await api.delete(at(id));
  expect(await lacking()).toEqual({ eur: 0, usd: 300 });
  expect((await api.get(`${AFFILIATES}?has_destination=true`)).body.data).toHaveLength(1);
});

describe('a line of a payout shows the destination of its currency', () => {
  const shownIn = ([{ totals }]: Json[]) =>
    Object.fromEntries(totals.map(({ currency, destination }: Json) => [currency, destination]));
  const sepa = { type: 'sepa', last_four: '3000' };

  test('in the preview, in lists and in the payout', async () => {
    const { id } = await makeAffiliate(api);
    await put(id, { type: 'wise' });
    await put(id, { ...SEPA, currency: 'eur' });
    for (const currency of ['eur', 'usd']) await makeCommission(api, id, { currency });
    const expected = { eur: sepa, usd: { type: 'wise', last_four: null } };
    expect(shownIn((await api.post(`${PAYOUTS}/preview`)).body.affiliates)).toEqual(expected);
    expect(shownIn((await api.post(`${PAYOUTS}/preview/affiliates`)).body.data)).toEqual(expected);
    const payout = await makePayout(api);
    expect(shownIn(payout.affiliates)).toEqual(expected);
    expect(shownIn((await api.get(`${PAYOUTS}/${payout.id}/affiliates`)).body.data)).toEqual(expected);
  });

  test('a paid line keeps showing where it was paid', async () => {
    const { id } = await makeAffiliate(api);
    await put(id, { ...SEPA, currency: 'eur' });
    for (const currency of ['eur', 'usd']) await makeCommission(api, id, { currency });
    const payout = await makePayout(api);
    await put(id, { ...ACH, currency: 'usd' });
    const shown = async () => shownIn((await api.get(`${PAYOUTS}/${payout.id}`)).body.affiliates);
    expect(await shown()).toEqual({ eur: sepa, usd: { type: 'ach', last_four: '6789' } });
    await api.delete(`${at(id)}?currency=usd`);
    await completePayout(api, payout, [{ affiliate_id: id, is_paid: true }]);
    await put(id, { type: 'other' });
    await put(id, { type: 'paypal', currency: 'eur' });
    expect(await shown()).toEqual({ eur: sepa, usd: null });
  });
});
