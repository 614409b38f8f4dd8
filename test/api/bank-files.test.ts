import { expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { breaches, GBIC_5, ISO_03, missingSchemas, paymentsIn, validatorOf } from '../support/sepa.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
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

const DEBTOR = { name: 'Müller & Söhne', iban: 'de02 1203 0000 0000 2020 51' };
const IBANS = [
  'DE89370400440532013000',
  'GB29NWBK60161331926819',
  'NL91ABNA0417164300',
  'AT611904300234573201',
];
const missing = missingSchemas(GBIC_5, ISO_03);

const ask = (payout: string, query = '', format = 'sepa') =>
  api.get(`${PAYOUTS}/${payout}/payment-files/${format}${query && `?${query}`}`);
async function get(payout: string, query = ''): Promise<Answer> {
  const answer = await ask(payout, query);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}
const messageIdIn = ({ text }: Answer) => /<MsgId>(.*?)</.exec(text)?.[1] ?? '';
const overview = async (): Promise<Json> => (await api.get(`${PAYOUTS}/current/payment-files`)).body;
const setDebtor = async (fields: object = {}) => {
  const changed = await api.patch('/v2/account', { debtor: { ...DEBTOR, ...fields } });
  expect(changed.status, changed.text).toBe(200);
  return changed.body.debtor;
};

/** An affiliate with a bank account who has earned this much in euros. */
function earner(amount = 1000, fields: object = {}): Promise<Json> {
  const account = { type: 'sepa', account_holder: 'Zoë Okafor', iban: IBANS[0], ...fields };
  return makePayee(api, account, { commission: { amount, currency: 'eur' } });
}

test('the debtor is stored as banks accept it, and the response lists what was dropped', async () => {
  expect((await api.get('/v2/account')).body).toMatchObject({ debtor: null });
  expect(await setDebtor()).toEqual({
    name: 'Müller & Söhne',
    iban: 'DE02120300000000202051',
    bic: null,
    message: 'pain.001.001.09',
    rows_per_file: 10_000,
    is_instant: false,
  });
  for (const [fields, field] of [
    [{ iban: 'DE02120300000000202052' }, 'debtor.iban'],
    [{ bic: 'X' }, 'debtor.bic'],
    [{ name: '…' }, 'debtor.name'],
    [{ name: 'ß'.repeat(36) }, 'debtor.name'],
    [{ rows_per_file: 1 }, 'debtor.rows_per_file'],
    [{ message: 'pain.001.001.02' }, 'debtor.message'],
  ] as const) {
    const refused = await api.patch('/v2/account', { debtor: { ...DEBTOR, ...fields } });
    expectRefusal(refused, 400, 'invalid_body', field);
  }
  expect((await api.patch('/v2/account', { debtor: null })).body.debtor).toBeNull();
});

test('a SEPA file, to the byte', async () => {
  await setDebtor();
  const ada = await earner(123_456);
  const bob = await earner(7, { account_holder: 'Bob "B" <Ltd>', iban: IBANS[1], bic: 'NWBKGB2L' });
  const payout = await makePayout(api);
  const file = await get(payout.id, 'execution_date=2099-01-31');
  const now = /<CreDtTm>(.*?)</.exec(file.text)?.[1] ?? '';
  const messageId = messageIdIn(file);
  expect(messageId).toMatch(/^P1-R1-F1-[0-9A-Z]{8}$/);
  expect(file.text).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>\n' +
      `<GrpHdr><MsgId>${messageId}</MsgId><CreDtTm>${now}</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>1234.63</CtrlSum>` +
      '<InitgPty><Nm>Mueller + Soehne</Nm></InitgPty></GrpHdr>\n' +
      `<PmtInf><PmtInfId>${messageId}</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>true</BtchBookg>` +
      '<NbOfTxs>2</NbOfTxs><CtrlSum>1234.63</CtrlSum><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>' +
      '<ReqdExctnDt><Dt>2099-01-31</Dt></ReqdExctnDt><Dbtr><Nm>Mueller + Soehne</Nm></Dbtr>' +
      '<DbtrAcct><Id><IBAN>DE02120300000000202051</IBAN></Id></DbtrAcct>' +
      '<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>\n' +
      `<CdtTrfTxInf><PmtId><EndToEndId>P1-A${ada.id}</EndToEndId></PmtId>` +
      '<Amt><InstdAmt Ccy="EUR">1234.56</InstdAmt></Amt><Cdtr><Nm>Zoe Okafor</Nm></Cdtr>' +
      `<CdtrAcct><Id><IBAN>${IBANS[0]}</IBAN></Id></CdtrAcct>` +
      `<RmtInf><Ustrd>Affiliate payout 1 P1-A${ada.id}</Ustrd></RmtInf></CdtTrfTxInf>\n` +
      `<CdtTrfTxInf><PmtId><EndToEndId>P1-A${bob.id}</EndToEndId></PmtId>` +
      '<Amt><InstdAmt Ccy="EUR">0.07</InstdAmt></Amt>' +
      '<CdtrAgt><FinInstnId><BICFI>NWBKGB2L</BICFI></FinInstnId></CdtrAgt>' +
      `<Cdtr><Nm>Bob 'B' .Ltd.</Nm></Cdtr><CdtrAcct><Id><IBAN>${IBANS[1]}</IBAN></Id></CdtrAcct>` +
      `<RmtInf><Ustrd>Affiliate payout 1 P1-A${bob.id}</Ustrd></RmtInf></CdtTrfTxInf>\n` +
      '</PmtInf>\n</CstmrCdtTrfInitn></Document>\n',
  );
  expect(breaches(file.text)).toEqual([]);
  expect(file.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  const day = payout.as_of.slice(0, 10);
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="payout-1-r1-${day}-sepa-eur.xml"`,
  );
  if (missing === null) validatorOf(GBIC_5)(file.text);
  await setDebtor({ message: 'pain.001.001.03', bic: 'BYLADEM1001' });
  const old = (await get(payout.id)).text;
  expect(old).toContain('<BIC>BYLADEM1001</BIC>');
  expect(old).toMatch(/<ReqdExctnDt>\d{4}-\d\d-\d\d<\/ReqdExctnDt>/);
  if (missing === null) validatorOf(ISO_03)(old);
});

test('parts have about the same number of payments, and their own ids', async () => {
  await setDebtor({ rows_per_file: 3 });
  for (const amount of [100, 200, 300, 400]) await earner(amount);
  const { id } = await makePayout(api);
  expect((await overview()).files).toMatchObject([{ format: 'sepa', part_count: 2, affiliate_count: 4 }]);
  expectRefusal(await ask(id), 400, 'several_parts', '1 to 2');
  const parts = [await get(id, 'part=1'), await get(id, 'part=2')];
  const amounts = parts.map(({ text }) => paymentsIn(text).map(({ amount }) => amount));
  expect(amounts).toEqual([
    [100, 200],
    [300, 400],
  ]);
  expect(parts.flatMap(({ text }) => breaches(text))).toEqual([]);
  expect(parts.map(messageIdIn)).toEqual([1, 2].map((part) => expect.stringMatching(`^P1-R1-F${part}-`)));
});

test('without a debtor there is no file, and the refusal says what to set', async () => {
  await earner();
  const { id } = await makePayout(api);
  await nothingChanges(world, async () => expectRefusal(await ask(id), 409, 'no_payer', 'debtor', 'PATCH'));
});

test('affiliates whom SEPA cannot pay are listed with the reason, and are in no file', async () => {
  await setDebtor();
  const paid = await earner();
  const rich = await earner(100_000_000_000);
  const dollars = await earner();
  await makeCommission(api, dollars.id, { amount: 500, currency: 'usd' });
  const own = await earner(10, { currency: 'eur' });
  await api.put(`${AFFILIATES}/${own.id}/destination`, { type: 'other', currency: 'eur' });
  const lost = await earner();
  await world.query('update affiliate_destinations set number = null where affiliate_id = $1', [lost.id]);
  const { id } = await makePayout(api);
  expectRefusal(
    await ask(id),
    400,
    'affiliates_not_in_file',
    '999,999,999.99',
    `(affiliates ${rich.id})`,
    'is other',
  );
  const file = await get(id, 'allow_skipped=true');
  expect(paymentsIn(file.text).map(({ reference }) => reference)).toEqual([
    `P1-A${paid.id}`,
    `P1-A${dollars.id}`,
  ]);
  const { files, by_hand } = await overview();
  const reasons = Object.fromEntries(
    files
      .filter(({ format }: Json) => format === 'sepa')
      .map(({ currency, skipped }: Json) => [
        currency,
        skipped.map(({ affiliate_id, reason }: Json) => `${affiliate_id}: ${reason}`),
      ]),
  );
  expect(reasons).toEqual({
    eur: [
      `${rich.id}: above 999,999,999.99 EUR, the most that one SEPA transfer pays`,
      `${lost.id}: the account number was lost with the secret key: set the destination again`,
    ],
    usd: [`${dollars.id}: SEPA pays in EUR only`],
  });
  expect(by_hand).toEqual([{ currency: 'eur', affiliate_count: 1, amount: 10 }]);
  expectRefusal(await ask(id, 'execution_date=2020-01-01'), 400, 'invalid_query', 'execution_date');
  expectRefusal(await ask(id, 'execution_date=tomorrow'), 400, 'invalid_query', 'execution_date');
  expectRefusal(await ask(id, 'currency=usd'), 400, 'empty_payment_file', 'EUR only');
});

test('a changed destination makes the file outdated; a paid payout keeps the account that was paid', async () => {
  await setDebtor();
  const { id } = await earner();
  const payout = await makePayout(api);
  await get(payout.id);
  const at = `${AFFILIATES}/${id}/destination`;
  await api.put(at, { type: 'sepa', account_holder: 'New', iban: IBANS[2] });
  expect((await overview()).files[0].downloads).toMatchObject([{ revision: 1, is_outdated: true }]);
  expect(paymentsIn((await get(payout.id)).text)).toMatchObject([{ name: 'New', iban: IBANS[2] }]);
  await completePayout(api, payout);
  await api.put(at, { type: 'sepa', account_holder: 'Later', iban: IBANS[3] });
  expect(paymentsIn((await get(payout.id)).text)).toMatchObject([{ name: 'New', iban: IBANS[2] }]);
  await api.delete(at);
  expect(paymentsIn((await get(payout.id)).text)).toHaveLength(1);
  const other = await world.otherAccount();
  const foreign = await other.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  expectRefusal(foreign, 404, 'resource_missing');
});
