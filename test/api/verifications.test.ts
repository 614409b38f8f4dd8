import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { type Checked, pain002, verification } from '../support/bank.ts';
import { longRun } from '../support/depth.ts';
import { missingSchemas, validatorOf } from '../support/sepa.ts';
import { useWorld } from '../support/world.ts';
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
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
  const debtor = { name: 'Shop', iban: 'DE02120300000000202051' };
  expect((await api.patch('/v2/account', { debtor })).status).toBe(200);
});

const IBAN = 'DE89370400440532013000';
const earner = (account_holder: string): Promise<Json> =>
  makePayee(
    api,
    { type: 'sepa', account_holder, iban: IBAN },
    { commission: { amount: 1000, currency: 'eur' } },
  );

/** A payout of these account holders whose SEPA file was downloaded. */
async function sent(...holders: readonly string[]) {
  const ids: number[] = [];
  for (const holder of holders) ids.push((await earner(holder)).id);
  const payout = await makePayout(api);
  return {
    payout,
    ids,
    references: ids.map((id) => `P${payout.number}-A${id}`),
    file: await download(payout),
  };
}

async function download(payout: Json): Promise<string> {
  const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  expect(file.status, file.text).toBe(200);
  return /<MsgId>(.*?)</.exec(file.text)?.[1] ?? '';
}

const send = ({ id }: Json, file: string): Promise<Answer> =>
  api.request('POST', `${PAYOUTS}/${id}/results`, {
    body: file,
    headers: { 'content-type': 'application/octet-stream' },
  });
async function read(payout: Json, file: string): Promise<Json> {
  const answer = await send(payout, file);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const results = (found: Json) =>
  found.verifications.map(({ affiliate_id, result }: Json) => [affiliate_id, result]);
const listed = async ({ id }: Json, query = '') =>
  (await api.get(`${PAYOUTS}/${id}/verifications${query}`)).body.data;
const destinationOf = async (id: number) =>
  (await api.get(`${AFFILIATES}/${id}/destination`)).body.destinations[0];

test('a report shows who matches, with the name of the bank next to ours, and is no answer about payments', async () => {
  const { payout, ids, references, file } = await sent('Ada Lovelace', 'P. Schmitz', 'Bob', 'Eve', 'Zoe');
  const [, close = '', none = '', silent = ''] = references;
  const text = verification(
    file,
    [
      { reference: close, status: 'RVMC', text: 'Peter Schmitz', name: 'P. Schmitz', iban: IBAN },
      { reference: none, status: 'RVNM', name: 'BOB', iban: IBAN },
      { reference: silent, status: 'RVNA', reason: 'AB11', text: 'legal notice' },
    ],
    2,
  );
  const found = await read(payout, text);
  expect(found).toMatchObject({
    kind: 'verification',
    lines: [],
    problems: [],
    counts: { paid: 0, rejected: 0, pending: 0, unanswered: 5, others: 0 },
  });
  expect(results(found)).toEqual([
    [ids[0], 'match'],
    [ids[1], 'close_match'],
    [ids[2], 'no_match'],
    [ids[3], 'not_possible'],
    [ids[4], 'match'],
  ]);
  expect(found.verifications[1]).toMatchObject({ account_holder: 'P. Schmitz', bank_name: 'Peter Schmitz' });
  expect(found.verifications[3]).toMatchObject({
    bank_name: null,
    reason: 'the bank did not answer in time: legal notice',
    reason_code: 'AB11',
  });
  // kept, and shown before anybody approves
  const all = await listed(payout, '?is_mismatch=true');
  expect(all.map(({ affiliate_id }: Json) => affiliate_id)).toEqual(ids.slice(1, 4));
  expect(all[0]).toMatchObject({
    object: 'payee_verification',
    account_holder: 'P. Schmitz',
    bank_name: 'Peter Schmitz',
    last_four: '3000',
    currency: null,
    payment_file: file,
    replaced_name: null,
  });
  expect((await api.get(`${PAYOUTS}/${payout.id}/approval`)).body.mismatch_count).toBe(3);
  expect((await destinationOf(ids[0] ?? 0)).verification).toMatchObject({ result: 'match' });
  // the payout is as before
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.revision).toBe(payout.revision);
});

test('the name of the bank becomes the account holder, raises the revision, and the answer is kept', async () => {
  const { payout, ids, references, file } = await sent('P. Schmitz', 'Ada');
  const [id = 0] = ids;
  const close: Checked = { reference: references[0] ?? '', status: 'RVMC', text: 'Peter Schmitz' };
  await read(payout, verification(file, [close], 1));
  const path = `${AFFILIATES}/${id}/destination/verified-name`;
  expectRefusal(await api.post(path, { name: 'Paul Schmitz' }), 409, 'no_verified_name', 'destination');
  expectRefusal(
    await api.post(path, { name: 'Peter Schmitz', currency: 'eur' }),
    404,
    'resource_missing',
    'destination',
  );
  const used = await api.post(path, { name: 'Peter Schmitz' });
  expect(used.status, used.text).toBe(200);
  expect(used.body).toMatchObject({
    account_holder: 'Peter Schmitz',
    last_four: '3000',
    currency: null,
    verification: {
      result: 'name_used',
      bank_name: 'Peter Schmitz',
      replaced_name: 'P. Schmitz',
      payment_file: file,
    },
  });
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.revision).toBe(payout.revision + 1);
  expect((await api.get(`${PAYOUTS}/${payout.id}/approval`)).body.mismatch_count).toBe(0);
  const kept = await world.query(
    'select result from payee_verifications v join affiliate_destinations x on x.id = v.destination_id ' +
      'where v.affiliate_id = $1 and x.number_mark in (select number_mark from affiliate_destinations where account_holder = $2) ' +
      'order by v.verified_at, result',
    [id, 'Peter Schmitz'],
  );
  expect(kept.map(({ result }: Json) => result)).toEqual(
    expect.arrayContaining(['close_match', 'name_used']),
  );
  // the new file pays the new name, and the report about it replaces the answer, but not the name that was replaced
  const next = await download(payout);
  const sepa = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  expect(sepa.text).toContain('<Nm>Peter Schmitz</Nm>');
  await read(payout, verification(next, [], 2));
  expect((await destinationOf(id)).verification).toMatchObject({
    result: 'match',
    replaced_name: 'P. Schmitz',
  });
});

longRun.test(
  'what a bank answered about a destination is shown for the next payout that pays it',
  async () => {
    const { payout, ids, references, file } = await sent('Bob', 'Ada');
    await read(payout, verification(file, [{ reference: references[0] ?? '', status: 'RVNM' }], 1));
    await completePayout(api, payout);
    for (const id of ids) await makeCommission(api, id, { amount: 1000, currency: 'eur' });
    const next = await makePayout(api);
    expect((await api.get(`${PAYOUTS}/${next.id}/approval`)).body.mismatch_count).toBe(1);
    expect(await listed(next, '?result=no_match')).toMatchObject([
      { affiliate_id: ids[0], result: 'no_match' },
    ]);
  },
);

test('a verification of another payout is refused, and one of a file that was not downloaded here is a problem', async () => {
  const first = await sent('Bob');
  await completePayout(api, first.payout);
  await makeCommission(api, first.ids[0] ?? 0, { amount: 1000, currency: 'eur' });
  const payout = await makePayout(api);
  const old = verification(first.file, [{ reference: first.references[0] ?? '', status: 'RVNM' }]);
  expectRefusal(await send(payout, old), 400, 'result_of_another_payout', `payout ${first.payout.number}`);
  const reference = `P${payout.number}-A${first.ids[0]}`;
  const found = await read(
    payout,
    verification(`P${payout.number}-R1-F1-ABCD2345`, [{ reference, status: 'RVNM' }]),
  );
  expect(found).toMatchObject({
    kind: 'verification',
    verifications: [],
    problems: [{ kind: 'unknown_file' }],
  });
  expect(await listed(payout)).toEqual([]);
});

test('a verification counts only if it can mean nothing else', async () => {
  const { payout, ids, references, file } = await sent('Ada', 'Bob', 'Eve');
  const [ada = '', bob = '', eve = ''] = references;
  const doubts = async (
    listed: readonly Checked[],
    matches: number | null,
    kinds: readonly string[],
    rest: Json,
  ) => {
    const found = await read(payout, verification(file, listed, matches));
    expect(found.problems.map(({ kind }: Json) => kind)).toEqual(kinds);
    expect(results(found)).toEqual(rest);
  };
  const none = { reference: ada, status: 'RVNM' } as const;
  // the numbers are not those of the file
  await doubts([none], 1, ['unclear'], [[ids[0], 'no_match']]);
  await doubts([none], 3, ['unclear'], [[ids[0], 'no_match']]);
  // the bank does not count, so it says nothing about the others
  await doubts([none], null, [], [[ids[0], 'no_match']]);
  // all match, without numbers
  await doubts(
    [],
    null,
    [],
    ids.map((id) => [id, 'match']),
  );
  await doubts(
    [none, { reference: ada, status: 'RCVC' }],
    2,
    ['contradiction'],
    [
      [ids[1], 'match'],
      [ids[2], 'match'],
    ],
  );
  await doubts([{ ...none, name: 'Adam' }], null, ['other_payee'], []);
  await doubts([{ ...none, iban: 'DE02120300000000202051' }], null, ['other_payee'], []);
  await doubts(
    [
      { reference: `${ada}-2`, status: 'RVNM' },
      { reference: bob, status: 'RVNM' },
    ],
    null,
    ['inexact_reference'],
    [[ids[1], 'no_match']],
  );
  await doubts([{ reference: 'P9999-A1', status: 'RVNM' }], null, ['other_payout'], []);
  // one whose account was changed after the file was downloaded
  const changed = { type: 'sepa', account_holder: 'Eve Two', iban: 'NL91ABNA0417164300' };
  expect((await api.put(`${AFFILIATES}/${ids[2]}/destination`, changed)).status).toBe(200);
  await doubts([{ reference: eve, status: 'RVMC', text: 'Eva' }], null, ['other_payee'], []);
  expect((await destinationOf(ids[2] ?? 0)).verification).toBeNull();
});

longRun.test('a report of payments stays one, with what it says about payees', async () => {
  const { payout, ids, references, file } = await sent('Ada', 'Bob');
  const both = pain002(file, 'PART', [
    { reference: references[0] ?? '', status: 'RJCT', reason: 'AC04' },
  ]).replace(
    '</TxInfAndSts>',
    `</TxInfAndSts><TxInfAndSts><OrgnlEndToEndId>${references[1]}</OrgnlEndToEndId><TxSts>RVNM</TxSts></TxInfAndSts>`,
  );
  const found = await read(payout, both);
  expect(found).toMatchObject({ kind: 'pain.002', lines: [{ affiliate_id: ids[0], outcome: 'rejected' }] });
  expect(results(found)).toEqual([[ids[1], 'no_match']]);
});

test('erasing an affiliate deletes what banks answered about it', async () => {
  const { payout, ids, references, file } = await sent('P. Schmitz', 'Ada');
  const close: Checked = { reference: references[0] ?? '', status: 'RVMC', text: 'Peter Schmitz' };
  await read(payout, verification(file, [close], 1));
  await completePayout(api, payout);
  const rows = async () => (await world.query('select 1 from payee_verifications')).length;
  const before = await rows();
  const erased = await api.post(`${AFFILIATES}/${ids[0]}/erase`, {});
  expect(erased.status, erased.text).toBeLessThan(300);
  expect(await rows()).toBe(before - 1);
  expect(await listed(payout)).toHaveLength(1);
});

const XSD = 'pain.002.001.10.xsd';
const missing = missingSchemas(XSD);
test.skipIf(missing !== null)(
  `the reports of these tests are valid by the ISO schema${missing === null ? '' : `: ${missing}`}`,
  () => {
    const validate = validatorOf(XSD);
    const all: Checked[] = [
      { reference: 'P1-A1', status: 'RVMC', text: 'x'.repeat(140), name: 'A', iban: IBAN },
      { reference: 'P1-A2', status: 'RVNM', reason: 'AG03' },
      { reference: 'P1-A3', status: 'RVNA' },
    ];
    validate(verification('P1-R1-F1', all, 3));
    validate(verification('P1-R1-F1', [], null));
  },
);

describe('verifications from the API of a bank or provider', () => {
  const list = (...verifications: readonly object[]) => JSON.stringify({ verifications });
  const post = ({ id }: Json, body: string, type = 'application/json'): Promise<Answer> =>
    api.request('POST', `${PAYOUTS}/${id}/results`, { body, headers: { 'content-type': type } });
  async function due(...holders: readonly string[]) {
    const ids: number[] = [];
    for (const holder of holders) ids.push((await earner(holder)).id);
    const payout = await makePayout(api);
    const items = ids.map((id, index) => ({
      ...{ reference: `P${payout.number}-A${id}`, account_holder: holders[index], iban: IBAN },
    }));
    return { payout, ids, items };
  }

  test('are kept and shown before any file was made, and their name can be used', async () => {
    const { payout, ids, items } = await due('Ada Lovelace', 'Jörg Schmitz', 'Bob', 'Eve', 'Zoe');
    const [ada, close, bob, eve] = items;
    const file = list(
      { ...ada, result: 'match', iban: 'de89 3704 0044 0532 0130 00' },
      // as people write it, and not as payment files spell it
      { ...close, result: 'close_match', bank_name: 'Jorg Schmidt' },
      { ...bob, result: 'no_match' },
      { ...eve, result: 'not_possible', reason_code: 'AB11', reason: 'time-out' },
    );
    const answer = await post(payout, file);
    expect(answer.status, answer.text).toBe(201);
    const found = answer.body;
    expect(found).toMatchObject({ kind: 'verification', lines: [], problems: [], counts: { unanswered: 5 } });
    expect(results(found)).toEqual([
      [ids[0], 'match'],
      [ids[1], 'close_match'],
      [ids[2], 'no_match'],
      [ids[3], 'not_possible'],
    ]);
    const all = await listed(payout, '?is_mismatch=true');
    expect(all.map(({ affiliate_id }: Json) => affiliate_id)).toEqual(ids.slice(1, 4));
    expect(all[0]).toMatchObject({ bank_name: 'Jorg Schmidt', payment_file: null, last_four: '3000' });
    expect((await api.get(`${PAYOUTS}/${payout.id}/approval`)).body.mismatch_count).toBe(3);
    expect((await destinationOf(ids[4] ?? 0)).verification).toBeNull();
    // the payout is as before, and nobody was paid
    const now = (await api.get(`${PAYOUTS}/${payout.id}`)).body;
    expect(now).toMatchObject({ revision: payout.revision, status: 'unpaid' });
    const used = await api.post(`${AFFILIATES}/${ids[1]}/destination/verified-name`, {
      name: 'Jorg Schmidt',
    });
    expect(used.status, used.text).toBe(200);
    expect(await destinationOf(ids[1] ?? 0)).toMatchObject({
      account_holder: 'Jorg Schmidt',
      verification: { result: 'name_used', replaced_name: 'Jörg Schmitz' },
    });
    // the same answers are about another name now
    const again = await post(payout, file, 'application/octet-stream');
    expect(again.body.problems.map(({ kind, affiliate_id }: Json) => [kind, affiliate_id])).toEqual([
      ['other_payee', ids[1]],
    ]);
  });

  test('are problems if they are about another payout, payee or account, or contradict each other', async () => {
    const { payout, ids, items } = await due('Ada', 'Bob', 'Eve', 'Zoe');
    const [ada, bob, eve, zoe] = items;
    const { body } = await post(
      payout,
      list(
        { ...ada, result: 'no_match', reference: `P${payout.number}-A999999` },
        { ...ada, result: 'no_match', reference: `P${payout.number + 1}-A${ids[0]}` },
        { ...ada, result: 'no_match', account_holder: 'Ada King' },
        { ...bob, result: 'no_match', iban: 'DE02120300000000202051' },
        { ...eve, result: 'no_match' },
        { ...eve, result: 'match' },
        { ...zoe, result: 'match' },
      ),
    );
    expect(body.problems.map(({ kind, affiliate_id }: Json) => [kind, affiliate_id])).toEqual([
      ['unknown_reference', null],
      ['other_payout', null],
      ['other_payee', ids[0]],
      ['other_payee', ids[1]],
      ['contradiction', ids[2]],
    ]);
    expect(results(body)).toEqual([[ids[3], 'match']]);
    expectRefusal(
      await post(payout, list({ ...ada, result: 'match', reference: `P${payout.number + 1}-A${ids[0]}` })),
      400,
      'result_of_another_payout',
    );
  });

  test('are refused as a whole, naming the item and the rule, and change nothing', async () => {
    const { payout, items } = await due('Ada');
    const good = { ...items[0], result: 'match' };
    await nothingChanges(world, async () => {
      for (const [body, rule] of [
        ['{', 'the JSON cannot be read'],
        ['{"verifications": []}', 'lists at least one payee'],
        ['{"verifications": {}}', 'lists at least one payee'],
        [JSON.stringify({ verifications: [good], more: 1 }), 'only field'],
        [list(good, { ...good, result: 'matched' }), 'verifications[1].result must be one of match'],
        [list({ ...good, result: 'constructor' }), 'verifications[0].result'],
        [list({ ...good, is_paid: 'true' }), 'verifications[0].is_paid'],
        [list({ ...good, iban: undefined }), 'verifications[0].iban is required'],
        [list({ ...good, iban: 'DE89370400440532013001' }), 'verifications[0].iban'],
        [list({ ...good, account_holder: ' ' }), 'verifications[0].account_holder'],
        [list({ ...good, reference: 'Ada' }), 'verifications[0].reference'],
        [list({ ...good, bank_name: 'Ada K.' }), 'verifications[0].bank_name'],
        [list({ ...good, reason: 7 }), 'verifications[0].reason'],
        [`{"verifications": [{"result": "match", "result": "no_match"}]}`, 'cannot be read'],
        ['{"verifications": [null]}', 'verifications[0] must be an object'],
      ] as const)
        expectRefusal(await post(payout, body), 400, 'invalid_file', rule);
    });
    const ignoring = await api.request('POST', `${PAYOUTS}/${payout.id}/results?ignore_columns=note`, {
      ...{ body: list(good), headers: { 'content-type': 'application/json' } },
    });
    expectRefusal(ignoring, 400, 'invalid_file', 'ignore_columns');
  });

  longRun.test('say nothing about payments of a payout that is paid', async () => {
    const { payout, ids, items } = await due('Ada');
    await completePayout(api, payout);
    const { body } = await post(payout, list({ ...items[0], result: 'no_match' }));
    expect(body).toMatchObject({ lines: [], problems: [], verifications: [{ result: 'no_match' }] });
    expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.affiliates[0].is_paid).toBe(true);
    expect((await destinationOf(ids[0] ?? 0)).verification).toMatchObject({ result: 'no_match' });
  });
});
