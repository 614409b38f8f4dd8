import { beforeEach, describe, expect, test } from 'vitest';
import type { AccountId } from '../../src/kernel/ids.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import { AFFILIATES, expectRefusal, type Json, makeAffiliate, nothingChanges } from './fixtures.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const ADDRESS = { line1: '1 Main St', city: 'Boston', region: 'MA', postal_code: '02108' };
const PERSON = {
  legal_type: 'person',
  legal_name: 'Ada Lovelace',
  country: 'us',
  address: ADDRESS,
  tax_id: { type: 'us_ssn', number: '536-90-4399' },
  form: { type: 'w9', signed_on: '2026-01-15', document: 'drawer 7' },
};
const COMPANY = {
  legal_type: 'business',
  legal_name: 'Ada GmbH',
  country: 'DE',
  address: { line1: 'Hauptstr. 1', line2: 'Hof', city: 'Berlin', postal_code: '10115' },
  tax_id: { type: 'vat', number: 'de 136 695 976' },
  self_billing: { agreed_on: '2026-01-15', agreed_by: 'Ada Lovelace' },
};

const at = (affiliate: number) => `${AFFILIATES}/${affiliate}/tax-profile`;
const put = (affiliate: number, body: object) => api.put(at(affiliate), body);
const made = async (affiliate: number, body: object): Promise<Json> => {
  const answer = await put(affiliate, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

test('the signed form is kept; the tax id is shown by its end', async () => {
  const { id } = await makeAffiliate(api);
  expectRefusal(await api.get(at(id)), 404, 'resource_missing', 'tax profile');
  const profile = await made(id, PERSON);
  expect(profile).toEqual({
    object: 'affiliate_tax_profile',
    affiliate_id: id,
    legal_type: 'person',
    legal_name: 'Ada Lovelace',
    country: 'US',
    address: { ...ADDRESS, line2: null },
    tax_id: { type: 'us_ssn', ending: '4399', is_lost: false, shared_with: [] },
    siren: null,
    electronic_address: null,
    form: { type: 'w9', signed_on: '2026-01-15', valid_until: null, document: 'drawer 7' },
    self_billing: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect((await api.get(at(id))).body).toEqual(profile);
  const company = await made(id, COMPANY);
  expect(company).toMatchObject({
    country: 'DE',
    tax_id: { type: 'vat', ending: '5976' },
    form: null,
    self_billing: { agreed_on: '2026-01-15', expires_on: null, agreed_by: 'Ada Lovelace', document: null },
    created_at: profile.created_at,
  });
  expect((await api.delete(at(id))).status).toBe(204);
  expectRefusal(await api.delete(at(id)), 404, 'resource_missing', 'tax profile');
  expectRefusal(await api.get(at(id)), 404, 'resource_missing');
});

test('an omitted tax id stays, and null removes it', async () => {
  const { id } = await makeAffiliate(api);
  const { tax_id: _, ...rest } = PERSON;
  expect((await made(id, rest)).tax_id).toBeNull();
  await made(id, PERSON);
  expect((await made(id, { ...rest, legal_name: 'Ada King' })).tax_id.ending).toBe('4399');
  expect((await made(id, { ...rest, tax_id: null })).tax_id).toBeNull();
});

test('the shop may name another country; the signed one stays', async () => {
  const { id } = await makeAffiliate(api);
  await made(id, PERSON);
  expect((await api.patch(`${AFFILIATES}/${id}`, { country: 'FR', legal_type: 'business' })).status).toBe(
    200,
  );
  expect((await api.get(at(id))).body).toMatchObject({ country: 'US', legal_type: 'person' });
});

test('two affiliates with one tax id are shown to each other, within the account only', async () => {
  const [one, two] = [await makeAffiliate(api), await makeAffiliate(api)];
  const other = await world.otherAccount();
  await other.put(at((await makeAffiliate(other)).id), PERSON);
  expect((await made(one.id, PERSON)).tax_id.shared_with).toEqual([]);
  expect((await made(two.id, PERSON)).tax_id.shared_with).toEqual([one.id]);
  expect((await api.get(at(one.id))).body.tax_id.shared_with).toEqual([two.id]);
  // the same digits as another type of number are another number
  await made(two.id, { ...PERSON, tax_id: { type: 'us_ein', number: '536904399' } });
  expect((await api.get(at(one.id))).body.tax_id.shared_with).toEqual([]);
});

test('concurrent changes leave a tax id that can be opened', async () => {
  const { id } = await makeAffiliate(api);
  await Promise.all(Array.from({ length: 6 }, () => made(id, PERSON)));
  const { vault } = world.platform;
  const [row] = await world.query<{ account: AccountId; id: string; number: Buffer }>(
    'select account_id as account, id, number from affiliate_tax_profiles where affiliate_id = $1',
    [id],
  );
  if (row === undefined) throw new Error('there is no tax profile');
  const place = `affiliate tax profile ${row.id}`;
  expect(vault.open(row.number, { account: row.account, place })).toBe('536904399');
});

describe('a value that violates a rule is refused by its field, and the error omits the tax id', () => {
  const person = (fields: object) => ({ ...PERSON, ...fields });
  const form = (type: string, signed_on = '2026-01-15') => ({ form: { type, signed_on } });
  const id = (type: string, number: string) => ({ tax_id: { type, number } });
  test.each<[title: string, body: object, field: string, rule: string]>([
    ['a wrong check digit', person(id('vat', 'DE136695978')), 'tax_id.number', 'check digit'],
    ['a VAT id without a country', person(id('vat', '811907980')), 'tax_id.number', 'in front'],
    ['an SSN of eight digits', person(id('us_ssn', '53690439')), 'tax_id.number', 'nine digits'],
    ['an SSN as ITIN', person(id('us_itin', '536904399')), 'tax_id.number', 'ITIN'],
    ['an EIN of zeros', person(id('us_ein', '001234567')), 'tax_id.number', '00'],
    ['an unknown kind', person(id('ssn', '536904399')), 'tax_id.type', 'us_ssn'],
    ['no country', person({ country: 'XX' }), 'country', 'ISO 3166-1'],
    ['the EU', person({ country: 'EU' }), 'country', 'ISO 3166-1'],
    ['an invisible name', person({ legal_name: ' ' }), 'legal_name', 'empty'],
    ['a name with a right-to-left override', person({ legal_name: 'Ada\u202e' }), 'legal_name', 'invisible'],
    ['an empty city', person({ address: { ...ADDRESS, city: ' ' } }), 'address.city', 'empty'],
    ['no street', person({ address: { city: 'Boston' } }), 'line1', 'required'],
    ['an invalid day', person(form('w9', '2026-02-30')), 'form.signed_on', 'YYYY-MM-DD'],
    ['W-8BEN of a business', { ...COMPANY, ...form('w8ben') }, 'form.type', 'w8bene'],
    ['W-8BEN-E of a person', person(form('w8bene')), 'form.type', 'w8ben'],
    [
      'an agreement that ends before it starts',
      { ...COMPANY, self_billing: { ...COMPANY.self_billing, expires_on: '2026-01-14' } },
      'self_billing.expires_on',
      'before 2026-01-15',
    ],
    ['a SIREN with a wrong digit', { ...COMPANY, siren: '732829321' }, 'siren', 'check digit'],
    ['a SIREN of ten digits', { ...COMPANY, siren: '7328293200' }, 'siren', '9 digits'],
    [
      'an agreement without a name',
      person({ self_billing: { agreed_on: '2026-01-15' } }),
      'agreed_by',
      'required',
    ],
  ])('%s', async (_, body, field, rule) => {
    const { id: affiliate } = await makeAffiliate(api);
    const answer = await nothingChanges(world, () => put(affiliate, body));
    expectRefusal(answer, 400, 'invalid_body', field, rule);
    const { number } = (body as Json).tax_id;
    expect(answer.text).not.toContain(number);
  });
});

test('another account cannot see, set or remove it', async () => {
  const { id } = await makeAffiliate(api);
  await made(id, PERSON);
  const other = await world.otherAccount();
  await nothingChanges(world, async () => {
    expectRefusal(await other.get(at(id)), 404, 'resource_missing');
    expectRefusal(await other.put(at(id), PERSON), 404, 'resource_missing');
    expectRefusal(await other.delete(at(id)), 404, 'resource_missing');
  });
});

test('erasing the person deletes the tax profile, and searches for the signed name', async () => {
  const { id } = await makeAffiliate(api, { email: 'ada@person.example' });
  await made(id, { ...PERSON, legal_name: 'Augusta Byron' });
  expect((await api.post(`${AFFILIATES}/${id}/erase`)).status).toBeLessThan(300);
  expectRefusal(await api.get(at(id)), 404, 'resource_missing');
  const [{ names }] = (await world.query('select names from erasures where affiliate_id = $1', [
    id,
  ])) as Json[];
  expect(names).toContain('Augusta Byron');
});

test('the merchant sets its own details for invoices and reports', async () => {
  const mine = {
    legal_name: 'Shop Ltd',
    country: 'de',
    address: { line1: 'Ladenstr. 2', city: 'Hamburg' },
    vat_id: 'DE 136 695 976',
  };
  const changed = await api.patch('/v2/account', { tax_profile: mine });
  expect(changed.body.tax_profile).toEqual({
    legal_name: 'Shop Ltd',
    country: 'DE',
    address: { line1: 'Ladenstr. 2', line2: null, postal_code: null, city: 'Hamburg', region: null },
    vat_id: 'DE136695976',
    siren: null,
    electronic_address: null,
    tax_number: null,
  });
  const wrong = (fields: object) => api.patch('/v2/account', { tax_profile: { ...mine, ...fields } });
  expectRefusal(
    await wrong({ vat_id: 'DE136695978' }),
    400,
    'invalid_body',
    'tax_profile.vat_id',
    'check digit',
  );
  expectRefusal(await wrong({ country: 'EU' }), 400, 'invalid_body', 'tax_profile.country');
  expectRefusal(await wrong({ tax_number: '§' }), 400, 'invalid_body', 'tax_profile.tax_number');
  expect((await api.patch('/v2/account', { tax_profile: null })).body.tax_profile).toBeNull();
});
