import { expect, test } from 'vitest';
import { breaches as nachaBreaches } from '../support/nacha.ts';
import { breaches, GBIC_5, missingSchemas, validatorOf } from '../support/sepa.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { AFFILIATES, type Json, makeAffiliate, makePayee, makePayout, PAYOUTS } from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const GB = 'GB29NWBK60161331926819';
const DEBTOR = { name: 'Müller & Söhne', iban: 'DE02120300000000202051' };
const ORIGINATOR = {
  immediate_destination: '021000021',
  immediate_destination_name: 'JPMorgan Chase',
  immediate_origin: '1234567890',
  immediate_origin_name: 'Difference Engines',
  company_name: 'Difference Engin',
  company_id: '1234567890',
};
const missing = missingSchemas(GBIC_5);

async function set(change: object): Promise<Json> {
  const changed = await api.patch('/v2/account', change);
  expect(changed.status, changed.text).toBe(200);
  return changed.body;
}
async function get(payout: string, format: string, query = '') {
  const answer = await api.get(`${PAYOUTS}/${payout}/payment-files/${format}?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}
const warnings = async (): Promise<Json[]> =>
  (await api.get(`${PAYOUTS}/current/payment-files`)).body.files.flatMap((file: Json) => file.warnings);
const setOf = (answer: { headers: Headers }) => answer.headers.get('payhook-file-set');

const european = (iban: string, account_holder = 'Zoe Okafor') =>
  makePayee(api, { type: 'sepa', account_holder, iban }, { commission: { amount: 1000, currency: 'eur' } });
const american = (affiliate: object = {}) =>
  makePayee(
    api,
    {
      ...{ type: 'ach', account_holder: 'Zoe Okafor', routing_number: '121042882' },
      ...{ account_number: '123456789', account_type: 'checking' },
    },
    { commission: { amount: 1000, currency: 'usd' }, affiliate },
  );

test('Cyrillic names are written by the table that banks use', async () => {
  const { id } = await makeAffiliate(api);
  const put = await api.put(`${AFFILIATES}/${id}/destination`, {
    ...{ type: 'sepa', iban: 'BG80BNBG96611020345678', account_holder: 'Щерю Ъгълов Харитон' },
  });
  expect(put.body).toMatchObject({ holder_in_files: 'SHTeryu Agalov Hariton' });
});

test('payments to persons are described as PAYROLL, those to businesses as PAYOUT, and each can be changed', async () => {
  await set({ originator: ORIGINATOR });
  await american();
  await american({ legal_type: 'business' });
  const { id } = await makePayout(api);
  const described = async () => {
    const { text } = await get(id, 'nacha');
    expect(nachaBreaches(text)).toEqual([]);
    return [...text.matchAll(/^5.{49}(...)(.{10})/gm)].map(([, type, words]) => [type, words?.trim()]);
  };
  expect(await described()).toEqual([
    ['PPD', 'PAYROLL'],
    ['CCD', 'PAYOUT'],
  ]);
  expect(await warnings()).toEqual([]);
  await set({
    originator: { ...ORIGINATOR, entry_description: 'Firms', person_entry_description: 'People' },
  });
  expect(await described()).toEqual([
    ['PPD', 'People'],
    ['CCD', 'Firms'],
  ]);
});

test('an originator of an earlier version keeps its one description and its file set, with a warning', async () => {
  await set({ originator: { ...ORIGINATOR, person_entry_description: 'PAYOUT' } });
  const { id: account } = (await api.get('/v2/account')).body;
  await world.query(
    "update accounts set originator = originator - 'person_entry_description' where public_id('acc', id) = $1",
    [account],
  );
  const person = await american();
  await american({ legal_type: 'business' });
  const { id } = await makePayout(api);
  expect((await api.get('/v2/account')).body.originator).toMatchObject({
    person_entry_description: 'PAYOUT',
  });
  expect((await get(id, 'nacha')).text).toContain('PPDPAYOUT ');
  expect(await warnings()).toEqual([
    {
      code: 'description_not_payroll',
      message: expect.stringMatching(/PAYROLL, not PAYOUT: set person_entry_description/),
      affiliate_count: 1,
      affiliate_ids: [person.id],
    },
  ]);
});

test('a German debtor with the message of 2009 is warned, others are not', async () => {
  const german = await european('DE89370400440532013000');
  await makePayout(api);
  await set({ debtor: { ...DEBTOR, message: 'pain.001.001.03' } });
  expect(await warnings()).toMatchObject([
    {
      code: 'message_withdrawn',
      message: expect.stringContaining('pain.001.001.09'),
      affiliate_ids: [german.id],
    },
  ]);
  await set({ debtor: { ...DEBTOR, iban: 'NL91ABNA0417164300', message: 'pain.001.001.03' } });
  expect(await warnings()).toEqual([]);
});

test('instant transfers are chosen for a file or by the debtor, and are another file set', async () => {
  await set({ debtor: DEBTOR });
  await european('DE89370400440532013000');
  const { id } = await makePayout(api);
  const ordinary = await get(id, 'sepa');
  const instant = await get(id, 'sepa', 'instant=true');
  expect(ordinary.text).not.toContain('INST');
  expect(instant.text).toContain(
    '<SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>',
  );
  expect(breaches(instant.text)).toEqual([]);
  if (missing === null) validatorOf(GBIC_5)(instant.text);
  expect(setOf(instant)).not.toBe(setOf(ordinary));
  expect((await set({ debtor: { ...DEBTOR, is_instant: true } })).debtor).toMatchObject({ is_instant: true });
  expect(setOf(await get(id, 'sepa'))).toBe(setOf(instant));
  expect(setOf(await get(id, 'sepa', 'instant=false'))).toBe(setOf(ordinary));
});

test('a payee outside the EEA has an address in the file if the tax profile has one, and a warning otherwise', async () => {
  await set({ debtor: DEBTOR });
  const british = await european(GB);
  const german = await european('DE89370400440532013000');
  const profile = {
    ...{ legal_type: 'person', legal_name: 'Zoe Okafor', country: 'GB' },
    address: { line1: '1 Café Road', city: 'London', postal_code: 'SW1A 1AA' },
  };
  await api.put(`${AFFILIATES}/${german.id}/tax-profile`, profile);
  const { id } = await makePayout(api);
  const before = await get(id, 'sepa');
  expect(before.text).not.toContain('PstlAdr');
  expect(await warnings()).toMatchObject([
    { code: 'address_missing', affiliate_count: 1, affiliate_ids: [british.id] },
  ]);
  const put = await api.put(`${AFFILIATES}/${british.id}/tax-profile`, profile);
  expect(put.status, put.text).toBe(200);
  const { text } = await get(id, 'sepa');
  expect(text).toContain(
    '<PstlAdr><PstCd>SW1A 1AA</PstCd><TwnNm>London</TwnNm><Ctry>GB</Ctry><AdrLine>1 Cafe Road</AdrLine></PstlAdr></Cdtr>' +
      `<CdtrAcct><Id><IBAN>${GB}`,
  );
  expect(text.match(/PstlAdr>/g)).toHaveLength(2);
  if (missing === null) validatorOf(GBIC_5)(text);
  expect(await warnings()).toEqual([]);
  await set({ debtor: { ...DEBTOR, iban: 'NL91ABNA0417164300', message: 'pain.001.001.03' } });
  expect((await get(id, 'sepa')).text).not.toContain('PstlAdr');
  expect(await warnings()).toMatchObject([
    { code: 'address_missing', message: expect.stringContaining('pain.001.001.03 has none') },
  ]);
});
