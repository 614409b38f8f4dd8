import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { dump as everyRow } from '../tenants/support.ts';
import {
  AFFILIATES,
  allOf,
  csv,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  onlyAudited,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const IMPORTS = '/v2/imports';
const IBAN = 'DE89370400440532013000';
const OTHER_IBAN = 'GB29NWBK60161331926819';
const example = readFileSync(new URL('../../examples/imports/bank-and-tax.csv', import.meta.url));

/** A file in our own format, or another product's, through the endpoint for it. */
const plain = (file: string, query = '', to: Api = api) => to.upload(`${AFFILIATES}/import${query}`, file);
const send = (path: string, file: string | Uint8Array, query: Record<string, string> = {}) =>
  api.upload(`${path}?${new URLSearchParams({ kind: 'affiliates', ...query })}`, file);
const post = (file: string | Uint8Array, query: Record<string, string> = {}) =>
  send(IMPORTS, file, { accept_guesses: 'true', ...query });
const undo = (id: string) => api.post(`${IMPORTS}/${id}/undo`);

async function imported(file: string | Uint8Array, query: Record<string, string> = {}): Promise<Json> {
  const answer = await post(file, query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const people = () => allOf(api, `${AFFILIATES}?sort=id`);
const destinations = async (id: number, from: Api = api): Promise<Json[]> =>
  (await from.get(`${AFFILIATES}/${id}/destination`)).body.destinations;
const taxProfile = (id: number) => api.get(`${AFFILIATES}/${id}/tax-profile`);

const SEPA_HEADER = 'email,account_holder,iban,bic';
const ACH_HEADER = 'email,account_holder,routing_number,account_number,account_type';
const TAX_HEADER =
  'email,legal_type,legal_name,tax_country,address_line1,address_postal_code,address_city,address_region,tax_id,tax_id_type,' +
  'tax_form,tax_form_signed_on,tax_form_document';
const taxLine = (email: string, fields: Partial<Record<'id' | 'idType' | 'name', string>> = {}) =>
  `${email},person,${fields.name ?? 'Ada Lovelace'},us,1 Main St,02108,Boston,MA,${fields.id ?? '536-90-4399'},` +
  `${fields.idType ?? 'us_ssn'},w9,2026-01-15,drawer 7`;

describe('a file sets where affiliates are paid', () => {
  test('for new and existing affiliates; an empty cell keeps the existing destination', async () => {
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    const cyd = await makeAffiliate(api, { email: 'cyd@example.com' });
    await api.put(`${AFFILIATES}/${cyd.id}/destination`, {
      type: 'sepa',
      account_holder: 'Cyd',
      iban: OTHER_IBAN,
    });
    const file = csv(
      SEPA_HEADER,
      `ada@example.com,Ada Lovelace,de89 3704 0044 0532 0130 00,cobadefFXXX`,
      `bob@example.com,Bob,${IBAN},`,
      'cyd@example.com,,,',
    );
    expect((await plain(file)).body).toMatchObject({ created: 1, updated: 1, unchanged: 1, failed: 0 });
    const ada = (await people()).find(({ email }) => email === 'ada@example.com');
    expect(ada).toMatchObject({ destination_type: 'sepa' });
    expect(await destinations(ada?.id)).toMatchObject([
      {
        type: 'sepa',
        currency: null,
        account_holder: 'Ada Lovelace',
        last_four: '3000',
        country: 'DE',
        bic: 'COBADEFFXXX',
        shared_with: [bob.id],
      },
    ]);
    expect(await destinations(cyd.id)).toMatchObject([{ account_holder: 'Cyd', last_four: '6819' }]);
    await onlyAudited(world, async () =>
      expect((await plain(file)).body).toMatchObject({ created: 0, updated: 0, unchanged: 3 }),
    );
  });

  longRun.test('in the United States, and by the other types', async () => {
    const file = csv(
      `${ACH_HEADER},destination_type`,
      'ada@example.com,Ada Lovelace,021000021,1234-5678,savings,',
      'bob@example.com,,,,,wise',
    );
    await plain(file);
    const [ada, bob] = await people();
    expect(await destinations(ada?.id)).toMatchObject([
      { type: 'ach', routing_number: '021000021', last_four: '5678', account_type: 'savings' },
    ]);
    expect(await destinations(bob?.id)).toMatchObject([{ type: 'wise', last_four: null }]);
    expect((await plain(file)).body).toMatchObject({ unchanged: 2 });
  });

  test('the payment file contains the imported number', async () => {
    await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02 1203 0000 0000 2020 51' } });
    await plain(csv(SEPA_HEADER, `ada@example.com,Ada Lovelace,${IBAN},`));
    const [ada] = await people();
    await makeCommission(api, ada?.id, { amount: 500, currency: 'eur' });
    const payout = await makePayout(api);
    const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
    expect(file.text).toContain(`<IBAN>${IBAN}</IBAN>`);
  });

  longRun.test('without a BIC column the BIC of the same account stays', async () => {
    await plain(csv(SEPA_HEADER, `ada@example.com,Ada,${IBAN},COBADEFFXXX`));
    const [ada] = await people();
    const rest = (holder: string) => csv('email,account_holder,iban', `ada@example.com,${holder},${IBAN}`);
    expect((await plain(rest('Ada'))).body).toMatchObject({ unchanged: 1 });
    expect((await plain(rest('Ada Byron'))).body).toMatchObject({ updated: 1 });
    expect(await destinations(ada?.id)).toMatchObject([{ account_holder: 'Ada Byron', bic: 'COBADEFFXXX' }]);
    await plain(csv(SEPA_HEADER, `ada@example.com,Ada Byron,${IBAN},`));
    expect(await destinations(ada?.id)).toMatchObject([{ bic: null }]);
  });

  test('a name that banks reject refuses its line: the existing account stays, and other lines are imported', async () => {
    const ada = await makeAffiliate(api, { email: 'ada@example.com' });
    const before = { type: 'sepa', account_holder: 'Ada', iban: OTHER_IBAN };
    expect((await api.put(`${AFFILIATES}/${ada.id}/destination`, before)).status).toBe(200);
    const file = csv(
      SEPA_HEADER,
      `ada@example.com,山田太郎,${IBAN},`,
      `bob@example.com,😀,${IBAN},`,
      `cyd@example.com,やまだ,${IBAN},`,
    );
    const refused = await nothingChanges(world, () => post(file));
    expectRefusal(refused, 400, 'invalid_lines', 'line 2', '(山田太郎): write it in Latin letters', 'line 3');
    const { errors, created, updated, failed } = await imported(file, { partial: 'true' });
    expect({ created, updated, failed }).toEqual({ created: 1, updated: 0, failed: 2 });
    expect(errors.map(({ line, column }: Json) => [line, column])).toEqual([
      [2, 'account_holder'],
      [3, 'account_holder'],
    ]);
    expect((await people()).map(({ email }) => email)).toEqual(['ada@example.com', 'cyd@example.com']);
    expect(await destinations(ada.id)).toMatchObject([{ account_holder: 'Ada', holder_in_files: 'Ada' }]);
  });

  test("every mistake of a line is reported by column, with the API's message and without the number", async () => {
    const wrong = 'DE89370400440532013001';
    const long = '1'.repeat(61);
    const file = csv(
      `${SEPA_HEADER},routing_number,account_number,account_type,destination_type`,
      `ada@example.com,-,${wrong},X,,,,`,
      `bob@example.com,,,,021000022,98765432123,golden,ach`,
      `cyd@example.com,Cyd,${long},,,,,`,
      `dan@example.com,Dan,,,,,,`,
      `eve@example.com,Eve,${IBAN},,,,,paypal`,
      `fay@example.com,Fay,'=${IBAN},,,,,`,
    );
    const values = JSON.stringify({ account_type: { golden: 'refuse' } });
    const { body } = await send(IMPORTS, file, { dry_run: 'true', partial: 'true', values });
    const errors = body.errors.map(({ line, column, message }: Json) => `${line} ${column}: ${message}`);
    expect(errors).toEqual([
      '2 iban: iban has wrong check digits: a digit or letter is mistyped',
      '2 account_holder: account_holder has no letter that banks take: write it in Latin letters, as the bank of the account has it',
      '2 bic: bic must be a BIC of 8 or 11 characters',
      '3 account_type: account_type must be one of checking, savings, not "golden"',
      '3 account_holder: account_holder is required with the type ach',
      '3 routing_number: routing_number has a wrong check digit: a digit is mistyped',
      '4 iban: iban must have at most 60 characters',
      '5 destination_type: destination_type is empty, and there is neither iban nor account_number',
      '6 account_holder: account_holder does not go with the type paypal',
      '6 iban: iban does not go with the type paypal',
      '7 iban: iban begins with an apostrophe before "=", which protects against formulas: remove the apostrophe',
    ]);
    const { id } = await makeAffiliate(api);
    const direct = await api.put(`${AFFILIATES}/${id}/destination`, {
      type: 'sepa',
      account_holder: 'Ada',
      iban: wrong,
    });
    expectRefusal(direct, 400, 'invalid_body', 'iban has wrong check digits: a digit or letter is mistyped');
    const refused = await nothingChanges(world, () => plain(file));
    expectRefusal(refused, 400, 'invalid_lines', 'iban has wrong check digits');
    for (const number of [wrong, long, '98765432123', IBAN]) {
      expect(refused.text + JSON.stringify(body)).not.toContain(number);
    }
  });

  test('a change raises the revision of the unpaid payout once and starts the waiting period, also through an undo', async () => {
    await plain(csv(SEPA_HEADER, `ada@example.com,Ada,${IBAN},`));
    const [ada] = await people();
    await world.query(`update affiliate_destinations set created_at = '2026-01-01'`);
    const debtor = { name: 'Shop', iban: 'DE02 1203 0000 0000 2020 51' };
    await api.patch('/v2/account', { destination_wait_hours: 48, debtor });
    await makeCommission(api, ada?.id, { amount: 500, currency: 'eur' });
    await makePayout(api);
    const revision = async () => (await api.get(`${PAYOUTS}/current`)).body.revision;
    const file = csv(
      'email,paypal_email,account_holder,iban',
      `ada@example.com,a@pay.example,Ada,${OTHER_IBAN}`,
    );
    const { import_id } = await imported(file);
    expect(await revision()).toBe(2);
    expect(await destinations(ada?.id)).toMatchObject([
      { last_four: '6819', waits_until: expect.any(String) },
    ]);
    await imported(file);
    expect(await revision()).toBe(2);
    expect((await undo(import_id)).status).toBe(200);
    expect(await revision()).toBe(3);
    expect(await destinations(ada?.id)).toMatchObject([
      { last_four: '3000', waits_until: expect.any(String) },
    ]);
    const [{ reason } = { reason: '' }] = (
      await api.get(`${PAYOUTS}/current/payment-files`)
    ).body.files.flatMap(({ skipped }: Json) => skipped);
    expect(reason).toContain('less than 48 hours ago');
  });
});

describe('a file sets the tax profile', () => {
  test('and keeps the fields without a column or a value', async () => {
    expect((await plain(csv(TAX_HEADER, taxLine('ada@example.com')))).body).toMatchObject({ created: 1 });
    const [ada] = await people();
    const profile = (await taxProfile(ada?.id)).body;
    expect(profile).toMatchObject({
      legal_type: 'person',
      legal_name: 'Ada Lovelace',
      country: 'US',
      address: { line1: '1 Main St', line2: null, postal_code: '02108', city: 'Boston', region: 'MA' },
      tax_id: { type: 'us_ssn', ending: '4399' },
      form: { type: 'w9', signed_on: '2026-01-15', document: 'drawer 7' },
      self_billing: null,
    });
    await onlyAudited(world, async () =>
      expect((await plain(csv(TAX_HEADER, taxLine('ada@example.com')))).body).toMatchObject({ unchanged: 1 }),
    );
    const short =
      'email,legal_type,legal_name,tax_country,address_line1,address_city,self_billing_agreed_on,self_billing_agreed_by';
    const agreed = csv(short, 'ada@example.com,person,Ada Byron,us,2 Main St,Boston,2026-02-01,Ada');
    expect((await plain(agreed)).body).toMatchObject({ updated: 1 });
    expect((await taxProfile(ada?.id)).body).toMatchObject({
      legal_name: 'Ada Byron',
      address: { line1: '2 Main St', postal_code: null },
      tax_id: profile.tax_id,
      form: profile.form,
      self_billing: { agreed_on: '2026-02-01', expires_on: null, agreed_by: 'Ada', document: null },
    });
    await plain(csv(TAX_HEADER, taxLine('ada@example.com', { id: '12-3456789', idType: 'us_ein' })));
    expect((await taxProfile(ada?.id)).body).toMatchObject({
      tax_id: { type: 'us_ein', ending: '6789' },
      self_billing: { agreed_on: '2026-02-01' },
    });
  });

  test('with the last day of an agreement and a SIREN', async () => {
    const header =
      'email,legal_type,legal_name,tax_country,address_line1,address_city,siren,self_billing_agreed_on,self_billing_expires_on,self_billing_agreed_by';
    const line = (siren: string, until: string) =>
      csv(header, `ada@example.com,business,Ada SARL,fr,1 rue X,Paris,${siren},2026-02-01,${until},Ada`);
    expect((await plain(line('732 829 320', '2026-12-31'))).body).toMatchObject({ created: 1 });
    const [ada] = await people();
    const self_billing = { agreed_on: '2026-02-01', expires_on: '2026-12-31', agreed_by: 'Ada' };
    expect((await taxProfile(ada?.id)).body).toMatchObject({ siren: '732829320', self_billing });
    const short = 'email,legal_type,legal_name,tax_country,address_line1,address_city';
    await plain(csv(short, 'ada@example.com,business,Ada SAS,fr,1 rue X,Paris'));
    expect((await taxProfile(ada?.id)).body).toMatchObject({
      legal_name: 'Ada SAS',
      siren: '732829320',
      self_billing,
    });
    for (const [file, rule] of [
      [line('732829321', '2026-12-31'), 'siren has a wrong check digit'],
      [line('732829320', '2026-01-31'), 'self_billing_expires_on must not be before 2026-02-01'],
    ] as const) {
      const refused = await nothingChanges(world, () => plain(file));
      expect(refused.text).toContain(rule);
    }
  });

  test('of each affiliate: by every rule of the API, and of the signed form', async () => {
    const file = csv(
      TAX_HEADER,
      'ada@example.com,,,xx,,,,,123,us_ssn,w9,,',
      'bob@example.com,business,Bob,us,1 Main St,,Boston,,,,w8ben,01/15/2026,',
      'cyd@example.com,person,Cyd,us,1 Main St,,Boston,,DE136695977,vat,,,',
    );
    const { body } = await plain(file, '?dry_run=true');
    expect(body.errors).toEqual([
      {
        line: 2,
        message:
          'legal_type is required with a tax profile; legal_name is required with a tax profile; ' +
          'tax_country must be a two-letter ISO 3166-1 country code such as DE; ' +
          'address_line1 is required with a tax profile; address_city is required with a tax profile; ' +
          'tax_id must be a social security number: nine digits, of which no group is all zeros, not beginning with 666 or 9; ' +
          'tax_form_signed_on is required with a tax form',
      },
      {
        line: 3,
        message:
          'tax_form w8ben is for persons: a business signs w8bene; ' +
          'tax_form_signed_on must be a day YYYY-MM-DD, from 1970 to 2999',
      },
      { line: 4, message: 'tax_id has a wrong check digit: a digit or letter is mistyped' },
    ]);
    expect(JSON.stringify(body)).not.toContain('136695977');

    const { id } = await makeAffiliate(api, { email: 'dan@example.com' });
    await api.put(`${AFFILIATES}/${id}/tax-profile`, {
      legal_type: 'person',
      legal_name: 'Dan',
      country: 'DE',
      address: { line1: 'Hauptstr. 1', city: 'Berlin' },
      form: { type: 'w8ben', signed_on: '2026-01-15' },
    });
    const business = csv(
      'email,legal_type,legal_name,tax_country,address_line1,address_city',
      'dan@example.com,business,Dan GmbH,DE,Hauptstr. 1,Berlin',
    );
    await nothingChanges(world, async () =>
      expectRefusal(
        await plain(business),
        400,
        'invalid_lines',
        'line 2: legal_type does not go with the form that was signed: w8ben is for persons',
      ),
    );
  });
});

describe('a file of another product', () => {
  test('is mapped by guesses, all of them reported; the example file is imported', async () => {
    const { body } = await nothingChanges(world, () => send(`${IMPORTS}/preview`, example));
    expect(body.guessed).toEqual(
      expect.arrayContaining([
        '"Kontoinhaber" is account_holder',
        '"VAT ID" is tax_id',
        'dates are day first',
      ]),
    );
    expect(body.columns.find(({ column }: Json) => column === 'IBAN')).toMatchObject({
      field: 'iban',
      samples: ['…3000', '…6819'],
    });
    expect(body.rows[0].fields).toMatchObject({
      iban: '…3000',
      tax_id: '…5976',
      tax_form_signed_on: '2026-01-15',
    });
    for (const number of ['5320', '60161331', '136695976'])
      expect(JSON.stringify(body)).not.toContain(number);
    expect(await imported(example)).toMatchObject({ created: 3, failed: 0 });
    const [ada, charles, grace] = await people();
    expect((await taxProfile(ada?.id)).body).toMatchObject({
      legal_type: 'business',
      country: 'DE',
      tax_id: { type: 'vat', ending: '5976' },
      form: { type: 'vat_registration', signed_on: '2026-01-15' },
    });
    expect((await taxProfile(charles?.id)).body).toMatchObject({ form: { type: 'w8ben' }, tax_id: null });
    expectRefusal(await taxProfile(grace?.id), 404, 'resource_missing');
    expect(await imported(example)).toMatchObject({ created: 0, updated: 0, unchanged: 3 });
  });

  longRun.test('with unrelated addresses and account numbers is read as before', async () => {
    const file = csv('Email,Address,City,Account number,SWIFT', 'ada@example.com,1 Main St,Boston,A-77,x');
    const { body } = await send(`${IMPORTS}/preview`, file);
    expect(body.guessed).toContain('ignored: "Address", "City", "Account number", "SWIFT"');
    expect(body.report).toMatchObject({ created: 1, failed: 0 });
  });

  test('with a tax id of an unknown type raises a question; a constant answers it', async () => {
    const file = csv(
      'email,legal_type,legal_name,tax_country,address_line1,address_city,VAT ID',
      'ada@example.com,business,Ada GmbH,DE,Hauptstr. 1,Berlin,DE136695976',
      'bob@example.com,,,,,,',
    );
    expectRefusal(await post(file), 400, 'import_unclear', 'what kind is the tax id', 'tax_id_type');
    const mapping = JSON.stringify({ tax_id_type: { constant: 'vat' } });
    expect(await imported(file, { mapping })).toMatchObject({ created: 2, failed: 0 });
  });

  test('never has a number as a constant, nor data as its first line', async () => {
    const people = csv('email', 'ada@example.com');
    const mapping = JSON.stringify({ iban: { constant: IBAN } });
    const constant = await post(people, { mapping });
    expectRefusal(constant, 400, 'invalid_mapping', 'iban the same in every line');
    const data = await post(csv(`ada@example.com,${IBAN}`, `bob@example.com,${OTHER_IBAN}`));
    expectRefusal(data, 400, 'invalid_file', 'the first line must name the columns', 'column 1');
    const own = await plain(csv(`ada@example.com,Ada,${IBAN}`));
    expectRefusal(own, 400, 'invalid_file', 'line 1: must name the columns, and does not; the columns are');
    expect(constant.text + data.text + own.text.toUpperCase()).not.toContain(IBAN);
  });

  longRun.test('returns its bad lines unchanged', async () => {
    const file = csv('Email,Kontoinhaber,IBAN', 'ada@example.com,Ada,DE1', `bob@example.com,Bob,${IBAN}`);
    const { text } = await send(`${IMPORTS}/bad-lines`, file);
    expect(text).toContain('ada@example.com,Ada,DE1');
    expect(text).toContain('iban does not have the length of an IBAN of DE');
    expect(text).not.toContain(IBAN);
  });
});

test('no row, event or log message contains a number in the clear', async () => {
  const numbers = [IBAN, 'DE89 3704 0044 0532 0130 00', '1234567890123', '536904399', '536-90-4399'];
  const file = csv(
    `${TAX_HEADER},account_holder,iban,routing_number,account_number,account_type`,
    `${taxLine('ada@example.com')},Ada,DE89 3704 0044 0532 0130 00,,,`,
    `${taxLine('bob@example.com', { name: 'Bob' })},Bob,,021000021,1234567890123,checking`,
  );
  await send(`${IMPORTS}/preview`, file);
  const key = { 'idempotency-key': 'numbers once' };
  const first = await api.upload(`${IMPORTS}?kind=affiliates&accept_guesses=true&save_as=bank`, file, key);
  expect(first.body).toMatchObject({ created: 2 });
  await plain(file.replaceAll('Ada', 'Eve'));
  await plain(file.replace('0130 00', '0130 01'));
  const stored = (await everyRow(world)) + JSON.stringify(world.log);
  for (const number of numbers) {
    expect([stored.includes(number), stored.includes(Buffer.from(number).toString('hex'))], number).toEqual([
      false,
      false,
    ]);
  }
});

describe('an undone import', () => {
  const file = csv(
    `${TAX_HEADER},account_holder,iban`,
    `${taxLine('ada@example.com')},Ada,${IBAN}`,
    `${taxLine('bob@example.com', { name: 'Bob' })},Bob,${OTHER_IBAN}`,
  );
  const before = {
    type: 'ach',
    account_holder: 'Ada',
    routing_number: '021000021',
    account_number: '12345678',
    account_type: 'checking',
  };
  const signed = {
    legal_type: 'business',
    legal_name: 'Ada GmbH',
    country: 'DE',
    address: { line1: 'Hauptstr. 1', city: 'Berlin' },
    tax_id: { type: 'vat', number: 'DE136695976' },
  };

  async function known(): Promise<Json> {
    const ada = await makeAffiliate(api, { email: 'ada@example.com', legal_type: 'person' });
    await api.put(`${AFFILIATES}/${ada.id}/destination`, before);
    await api.put(`${AFFILIATES}/${ada.id}/tax-profile`, signed);
    return ada;
  }

  test('restores what it replaced and removes what it created', async () => {
    const ada = await known();
    const was = { profile: (await taxProfile(ada.id)).body, destinations: await destinations(ada.id) };
    const { import_id } = await imported(file);
    expect(await destinations(ada.id)).toMatchObject([{ type: 'sepa' }]);
    expect((await undo(import_id)).body).toMatchObject({ status: 'undone' });
    expect(await people()).toMatchObject([{ id: ada.id }]);
    expect(await destinations(ada.id)).toEqual(was.destinations);
    expect((await taxProfile(ada.id)).body).toEqual({ ...was.profile, updated_at: expect.any(String) });
    expect((await eventsOf(world, api, 'affiliate.updated')).length).toBe(0);
    expect(await imported(file)).toMatchObject({ created: 1, updated: 1 });
  });

  test.each([
    ['destination', 'has had another destination set or removed since'],
    ['tax-profile', 'has had their tax profile changed since'],
  ])('is refused once the %s has changed, and changes nothing then', async (path, words) => {
    const ada = await known();
    const { import_id } = await imported(file);
    await api.delete(`${AFFILIATES}/${ada.id}/${path}`);
    const bob = (await people()).find(({ email }) => email === 'bob@example.com');
    await api.put(`${AFFILIATES}/${bob?.id}/destination`, before);
    await nothingChanges(world, async () =>
      expectRefusal(
        await undo(import_id),
        409,
        'import_is_used',
        `2 of its affiliates`,
        `${ada.id} (ada@example.com) ${words}`,
      ),
    );
  });

  test('does not restore a tax id sealed under an earlier key', async () => {
    await known();
    const { import_id } = await imported(file);
    await world.query(
      `update import_tax_profiles set before = (before::jsonb || '{"number": "\\\\x020000"}')::json where before is not null`,
    );
    expectRefusal(await undo(import_id), 409, 'import_is_used', 'secret key no longer in force');
  });

  test('is refused once the person was erased, of whom nothing is kept', async () => {
    const ada = await known();
    const { import_id } = await imported(file);
    expect((await api.post(`${AFFILIATES}/${ada.id}/erase`)).status).toBeLessThan(300);
    const kept = await world.query(`select before::text from import_tax_profiles where affiliate_id = $1`, [
      ada.id,
    ]);
    expect(kept).toEqual([{ before: '{}' }]);
    expectRefusal(await undo(import_id), 409, 'import_is_used');
  });
});

test('another account with the same file and people has its own records', async () => {
  const other = await world.otherAccount();
  await plain(csv(SEPA_HEADER, `ada@example.com,Ada,${IBAN},`), '', other);
  const [theirs] = await allOf(other, AFFILIATES);
  const was = await destinations(theirs?.id, other);
  const mine = await imported(csv(SEPA_HEADER, `ada@example.com,Ada,${OTHER_IBAN},`));
  expect(await destinations(theirs?.id, other)).toEqual(was);
  expectRefusal(await other.post(`${IMPORTS}/${mine.import_id}/undo`), 404, 'resource_missing');
  const [ada] = await people();
  expect(await destinations(ada?.id)).toMatchObject([{ last_four: '6819', shared_with: [] }]);
});
