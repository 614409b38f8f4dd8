import { beforeEach, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { camt, pain002 } from '../support/bank.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  completePayout,
  expectRefusal,
  type Json,
  madeOnce,
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

/** An affiliate with a bank account who has earned this much. */
function earner(amount: number, currency = 'eur'): Promise<Json> {
  const account = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
  return makePayee(api, account, { commission: { amount, currency } });
}

const send = (payout: string, file: string | Buffer, type = 'application/octet-stream'): Promise<Answer> =>
  api.request('POST', `${PAYOUTS}/${payout}/results`, {
    body: file as string,
    headers: { 'content-type': type },
  });

async function propose(payout: string, file: string | Buffer, type?: string): Promise<Json> {
  const answer = await send(payout, file, type);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const outcomes = ({ lines }: Json) =>
  lines.map(({ affiliate_id, outcome, amount }: Json) => [affiliate_id, outcome, amount]);
const problems = (proposal: Json) => proposal.problems.map(({ kind }: Json) => kind);

/** A payout of three, whose SEPA file was downloaded; returns their references. */
async function threeSent() {
  const people = [await earner(1000), await earner(2000), await earner(3000)];
  const payout = await makePayout(api);
  const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  expect(file.status, file.text).toBe(200);
  const ids = people.map(({ id }) => id as number);
  const [, messageId = ''] = /<MsgId>(.*?)</.exec(file.text) ?? [];
  return { payout, ids, references: ids.map((id) => `P${payout.number}-A${id}`), file, messageId };
}

test('a statement shows who was paid, and what was returned with the reason', async () => {
  const versions = [
    'camt.053.001.08',
    'camt.053.001.02',
    'camt.054.001.08',
    'camt.053.001.06',
    'camt.053.001.13',
  ] as const;
  for (const version of someOf(versions, 2)) {
    api = await world.otherAccount();
    await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
    const { payout, ids, references } = await threeSent();
    const [one = '', two = ''] = references;
    const statement = camt(
      [
        { reference: one, amount: 1000 },
        { reference: 'INVOICE-7', amount: 5, returned: 'MS03' },
        { reference: two, amount: 2000 },
        { reference: two, amount: 2000, returned: 'AC04' },
      ],
      version,
    );
    const found = await propose(payout.id, statement);
    expect(outcomes(found)).toEqual([
      [ids[0], 'paid', 1000],
      [ids[1], 'returned', 2000],
    ]);
    expect(found).toMatchObject({
      object: 'payout_result',
      payout_id: payout.id,
      kind: version.slice(0, 8),
      counts: { paid: 1, returned: 1, rejected: 0, pending: 0, unanswered: 1, problems: 0, others: 1 },
      problems: [],
      outdated_revisions: [],
      uploaded_before: null,
    });
    expect(found.lines[1]).toMatchObject({
      reason_code: 'AC04',
      reason: 'the account is closed: see the bank',
      bank_reference: 'BANK-4',
      booked_on: '2026-09-30',
      is_booked: false,
    });
  }
});

test('a status report shows what was refused, by payment and by file, and the rest stays open', async () => {
  const { messageId, payout, ids, references } = await threeSent();
  const [one = '', two = ''] = references;
  const file = messageId;
  const some = await propose(
    payout.id,
    pain002(file, 'PART', [{ reference: two, status: 'RJCT', reason: 'AC01', amount: 2000 }]),
  );
  expect(outcomes(some)).toEqual([[ids[1], 'rejected', 2000]]);
  expect(some.lines[0].reason).toBe('the account number is wrong');
  expect(some.counts.unanswered).toBe(2);
  const all = await propose(payout.id, pain002(file, 'RJCT', [], 'pain.002.001.03'));
  expect(outcomes(all).map(([, outcome]: Json) => outcome)).toEqual(['rejected', 'rejected', 'rejected']);
  const settled = await propose(
    payout.id,
    pain002(file, 'ACSC', [{ reference: one, status: 'RJCT', reason: 'MS03' }]),
  );
  expect(outcomes(settled).map(([, outcome]: Json) => outcome)).toEqual(['rejected', 'paid', 'paid']);
  const waiting = await propose(payout.id, pain002(file, 'ACCP'));
  expect(waiting.counts).toMatchObject({ pending: 3, paid: 0, unanswered: 0 });
});

test('a file booked in one sum pays everyone in it, if the sum is that of a download', async () => {
  const { messageId, payout, ids, references } = await threeSent();
  const file = messageId;
  const back = { reference: references[2] ?? '', amount: 3000, returned: 'AC06' };
  const found = await propose(payout.id, camt([{ file, amount: 6000, count: 3 }, back]));
  expect(outcomes(found)).toEqual([
    [ids[0], 'paid', 1000],
    [ids[1], 'paid', 2000],
    [ids[2], 'returned', 3000],
  ]);
  const other = await propose(payout.id, camt([{ file, amount: 5999, count: 3 }]));
  expect([outcomes(other), problems(other)]).toEqual([[], ['unknown_file']]);
  const strange = await propose(
    payout.id,
    camt([{ file: file.replace('F1', 'F9'), amount: 6000, count: 3 }]),
  );
  expect(problems(strange)).toEqual(['unknown_file']);
});

test('every doubt is reported, and its line has no result', async () => {
  const { messageId, payout, ids, references } = await threeSent();
  const [one = '', two = '', three = ''] = references;
  const found = await propose(
    payout.id,
    camt([
      { reference: one, amount: 1000 },
      { reference: one, amount: 1000 },
      { reference: two, amount: 1999 },
      { reference: three, amount: 3000, currency: 'USD' },
      { reference: `P${payout.number}-A999999`, amount: 5 },
      { reference: `P${payout.number + 1}-A${ids[0]}`, amount: 5 },
    ]),
  );
  expect(found.lines).toEqual([]);
  expect(problems(found).sort()).toEqual([
    'duplicate',
    'other_amount',
    'other_currency',
    'other_payout',
    'unknown_reference',
  ]);
  expect(found.counts).toMatchObject({ problems: 5, unanswered: 3 });
  const of = (kind: string) => found.problems.find((problem: Json) => problem.kind === kind);
  expect(of('duplicate')).toMatchObject({ affiliate_id: ids[0], reference: one });
  expect(of('duplicate').message).toContain('paid 2 times, 20.00 EUR in total');
  expect(of('other_amount').message).toBe('entry 3: the amount is 19.99 EUR, but the line is 20.00 EUR');
  expect(of('other_currency').message).toContain('it is in USD, but the payout pays them in EUR');
  const both = await propose(
    payout.id,
    pain002(messageId, null, [
      { reference: one, status: 'RJCT', reason: 'MS03' },
      { reference: one, status: 'ACSC' },
    ]),
  );
  expect(problems(both)).toEqual(['contradiction']);
});

longRun.test('a payment that was returned and sent again is paid', async () => {
  const { payout, ids, references } = await threeSent();
  const [reference = ''] = references;
  const found = await propose(
    payout.id,
    camt([
      { reference, amount: 1000 },
      { reference, amount: 1000, returned: 'TECH' },
      { reference, amount: 1000 },
    ]),
  );
  expect(outcomes(found)).toEqual([[ids[0], 'paid', 1000]]);
});

test('files of PayPal and Wise and lists are recognized by their header, in any dialect', async () => {
  const { payout, ids, references } = await threeSent();
  const [one = '', two = '', three = ''] = references;
  const paypal = await propose(
    payout.id,
    '\ufeffTransaction ID;Recipient;Amount;Currency;Unique ID;Transaction status;Error message\r\n' +
      `TX-1;ada@example.com;10,00;EUR;${one};Completed;\r\n` +
      `TX-2;bob@example.com;-20,00;EUR;${two};Unclaimed;\r\n` +
      `TX-3;cy@example.com;30,00;EUR;${three};Failed;Receiver is locked\r\n`,
    'text/csv',
  );
  expect(paypal.kind).toBe('paypal');
  expect(outcomes(paypal)).toEqual([
    [ids[0], 'paid', 1000],
    [ids[1], 'pending', 2000],
    [ids[2], 'rejected', 3000],
  ]);
  expect(paypal.lines[1].reason).toContain('PayPal returns it after 30 days');
  expect(paypal.lines[2]).toMatchObject({ reason: 'FAILED: Receiver is locked', bank_reference: 'TX-3' });
  const wise = await propose(
    payout.id,
    'ID,Status,Direction,"Created on","Finished on","Target amount (after fees)","Target currency",Reference\n' +
      `TRANSFER-1,COMPLETED,OUT,2026-09-29 10:00:00,2026-09-30 10:00:00,10.00,EUR,${one}\n` +
      `TRANSFER-2,CANCELLED,OUT,2026-09-29 10:00:00,,20.00,EUR,${two}\n` +
      'TRANSFER-3,COMPLETED,OUT,2026-09-29 10:00:00,,7.00,EUR,something else\n',
  );
  expect(wise).toMatchObject({ kind: 'wise', counts: { paid: 1, rejected: 1, others: 1, unanswered: 1 } });
  expect(wise.lines[0]).toMatchObject({ bank_reference: 'TRANSFER-1', booked_on: '2026-09-30' });
  const list = await propose(
    payout.id,
    `affiliate_id,is_paid,currency,amount\n${ids[0]},true,EUR,4.00\n${ids[1]},false,,\n`,
  );
  expect(list.kind).toBe('paid_list');
  expect(outcomes(list)).toEqual([
    [ids[0], 'paid', 400],
    [ids[1], 'rejected', 2000],
  ]);
  const plain = await propose(payout.id, `reference\n${two}\n`);
  expect(outcomes(plain)).toEqual([[ids[1], 'paid', 2000]]);
});

const sentOnce = madeOnce(async () => ({ by: api, ...(await threeSent()) }));
test.each([
  [
    'a status under another name',
    'affiliate_id,paid\nA,false\n',
    'line 1, column 2: there is no column "paid": is it is_paid?',
  ],
  [
    'the same with references',
    'reference,Paid?\nP,false\n',
    'column 2: there is no column "Paid?": is it is_paid?',
  ],
  [
    'a misspelt one',
    'reference,is_payed\nP,false\n',
    'column 2: there is no column "is_payed": is it is_paid?',
  ],
  [
    'an amount under another name',
    'reference,is_paid,currency,Amount paid\nP,true,EUR,4.00\n',
    'column 4: there is no column "Amount paid": is it amount?',
  ],
  [
    'the same of PayPal',
    'Transaction ID,Unique ID,Status,Transaction amount,Currency\nT,P,Completed,4.00,EUR\n',
    'column 4: there is no column "Transaction amount": is it amount?',
  ],
  [
    'a currency under another name',
    'reference,amount,Ccy\nP,10.00,USD\n',
    'column 3: there is no column "Ccy": is it currency?',
  ],
  [
    'a reference and the id of another affiliate',
    'reference,affiliate_id,is_paid\nP,B,true\n',
    'line 2: the reference P1-A',
  ],
  [
    'a negative amount in your own list',
    'reference,is_paid,currency,amount\nP,true,EUR,-10.00\n',
    'line 2: amount must not be negative, not "-10.00"',
  ],
])('%s is refused, because it could turn a no into a payment', async (_, file, message) => {
  const { by, payout, ids, references } = await sentOnce();
  api = by;
  const written = file
    .replace('P,', `${references[0]},`)
    .replace('A,', `${ids[0]},`)
    .replace('B,', `${ids[1]},`);
  await nothingChanges(world, async () =>
    expectRefusal(await send(payout.id, written), 400, 'invalid_file', message),
  );
});

test('a reference and the id of the same affiliate may both be in a line', async () => {
  const { payout, ids, references } = await threeSent();
  const found = await propose(payout.id, `reference,affiliate_id,name\n${references[0]},${ids[0]},Ada\n`);
  expect(outcomes(found)).toEqual([[ids[0], 'paid', 1000]]);
});

test("a booking on another account than the payout's is no result", async () => {
  const { payout, ids, references } = await threeSent();
  const bookings = references.map((reference, index) => ({ reference, amount: 1000 * (index + 1) }));
  const own = camt(bookings);
  const theirs = own.replace('DE02120300000000202051', 'DE02500105170137075030');
  const found = await propose(payout.id, theirs);
  expect(found.lines).toEqual([]);
  expect(found.counts).toMatchObject({ paid: 0, unanswered: 3, problems: 1 });
  expect(found.problems).toEqual([
    {
      kind: 'other_account',
      affiliate_id: null,
      reference: null,
      message:
        "entry 1: booked on the account that ends in 5030, and so are 2 more, but the debtor's ends in 2051",
    },
  ]);
  // a file may have statements of several accounts
  const statement = /<Stmt>.*<\/Stmt>/s;
  const both = own.replace(statement, `${statement.exec(theirs)?.[0]}$&`);
  expect(outcomes(await propose(payout.id, both))).toEqual(
    ids.map((id, index) => [id, 'paid', 1000 * (index + 1)]),
  );
  // money sent with PayPal or Wise is on no account with a number
  await api.patch('/v2/account', { debtor: null });
  expect((await propose(payout.id, theirs)).counts).toMatchObject({ paid: 3, problems: 0 });
});

test('a file of another payout, a truncated one, an unknown format and a document type are refused', async () => {
  const { payout, references } = await threeSent();
  const [reference = ''] = references;
  const good = camt([{ reference, amount: 1000 }]);
  const bomb = good.replace(
    '<Document',
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]><Document',
  );
  const pain001 = (await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`)).text;
  await nothingChanges(world, async () => {
    for (const [file, reason, ...words] of [
      [camt([{ reference: 'P77-A1', amount: 5 }]), 'result_of_another_payout', 'about payout 77'],
      [camt([]), 'result_of_another_payout', 'it names none of our payments'],
      [good.slice(0, good.length / 2), 'invalid_file', 'cut off'],
      [good.replace('</Ntry>', ''), 'invalid_file', 'not well-formed'],
      [bomb, 'invalid_file', 'DOCTYPE'],
      [good.replace('&', '').replace('BANK-1', '&nbsp;'), 'invalid_file', 'not well-formed'],
      [good.replaceAll('BkToCstmrStmt', 'BkToCstmrAcctRpt'), 'invalid_file', 'camt.052'],
      ['<html></html>', 'invalid_file', 'not one of the supported messages'],
      ['name,age\nAda,7\n', 'invalid_file', 'of no supported kind'],
      [`reference\n${reference}`, 'invalid_file', 'line end'],
      ['affiliate_id,is_paid\n7,maybe\n', 'invalid_file', 'line 2', 'is_paid'],
      ['', 'invalid_file', 'empty'],
    ] as const) {
      expectRefusal(await send(payout.id, file), 400, reason, ...words);
    }
    expectRefusal(await send(payout.id, pain001), 400, 'invalid_file', 'pain.001');
    expectRefusal(await send('current', good), 404, 'current_is_read_only');
    expectRefusal(await send('po_0192f8e5c7a7b3e9d0192f8e5c7a7b3e', good), 404, 'resource_missing');
    expectRefusal(await send(payout.id, good, 'application/pdf'), 400, 'unsupported_media_type');
  });
  const other = await world.otherAccount();
  const strange = await other.request('POST', `${PAYOUTS}/${payout.id}/results`, {
    body: good,
    headers: { 'content-type': 'application/xml' },
  });
  expectRefusal(strange, 404, 'resource_missing');
  expectRefusal(await other.get(`${PAYOUTS}/${payout.id}/results`), 404, 'resource_missing');
});

test('each file is recorded with its sender, and a repeated file is reported', async () => {
  const { payout, references } = await threeSent();
  const file = camt([{ reference: references[0] ?? '', amount: 1000 }]);
  const first = await propose(payout.id, file, 'application/xml');
  const second = await propose(payout.id, file, 'text/xml; charset=utf-8');
  expect(second.uploaded_before).toBe(first.created_at);
  expect(second.digest).toBe(first.digest);
  expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
  const { data } = (await api.get(`${PAYOUTS}/${payout.id}/results`)).body;
  const {
    lines: _,
    problems: __,
    outdated_revisions: ___,
    uploaded_before: ____,
    verifications,
    corrections,
    ...record
  } = second;
  expect([verifications, corrections]).toEqual([[], []]);
  expect(data).toHaveLength(2);
  expect(data[0]).toEqual(record);
  expect(record).toMatchObject({ by: { kind: 'key' }, revision: 1, file_bytes: Buffer.byteLength(file) });
  expect((await api.get(`${PAYOUTS}/${payout.id}/results?kind=wise`)).body.data).toEqual([]);
});

test('a downloaded file is recorded with its format, part, revision, digest and user', async () => {
  const { payout } = await threeSent();
  const { files } = (await api.get(`${PAYOUTS}/${payout.id}/payment-files`)).body;
  const [{ format, downloads }] = files;
  expect(format).toBe('sepa');
  expect(downloads).toMatchObject([
    {
      part: null,
      revision: 1,
      by: { kind: 'key' },
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
});

longRun.test(
  'a file of an older revision says so, and lines that left the payout since are reported',
  async () => {
    const { messageId, payout, ids, references } = await threeSent();
    const commissions = (await api.get(`${PAYOUTS}/${payout.id}/commissions`)).body.data;
    const gone = commissions.find(({ affiliate_id }: Json) => affiliate_id === ids[2]);
    const voided = await api.post(`${AFFILIATES}/commissions/${gone.id}/void`, { reason: 'a mistake' });
    expect(voided.status, voided.text).toBe(200);
    const file = messageId;
    const found = await propose(
      payout.id,
      camt(references.map((reference, index) => ({ reference, amount: 1000 * (index + 1), file }))),
    );
    expect(found.outdated_revisions).toEqual([1]);
    expect(outcomes(found).map(([id]: Json) => id)).toEqual(ids.slice(0, 2));
    expect(problems(found)).toEqual(['unknown_reference']);
  },
);

test('after completion a file shows what is left to book', async () => {
  const { payout, ids, references } = await threeSent();
  const [one = '', two = '', three = ''] = references;
  await completePayout(api, payout, [
    { affiliate_id: ids[0], is_paid: true },
    { affiliate_id: ids[1], is_paid: true },
    { affiliate_id: ids[2], is_paid: false },
  ]);
  const file = camt([
    { reference: one, amount: 1000 },
    { reference: two, amount: 2000, returned: 'AC04' },
    { reference: three, amount: 3000 },
  ]);
  const found = await propose(payout.id, file);
  expect(outcomes(found)).toEqual([
    [ids[0], 'paid', 1000],
    [ids[1], 'returned', 2000],
  ]);
  expect(found.lines.map(({ is_booked }: Json) => is_booked)).toEqual([true, false]);
  expect(problems(found)).toEqual(['contradiction']);
  const [, back] = found.lines;
  const booked = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${ids[1]}/returned`, {
    currency: 'eur',
    amount: back.amount,
    reason: back.reason,
    reference: back.bank_reference,
  });
  expect(booked.status, booked.text).toBe(200);
  const again = await propose(payout.id, file);
  expect(again.lines[1].is_booked).toBe(true);
});

test('a status report about a message that was not downloaded here is a problem that names it', async () => {
  const { messageId: own, payout, ids, references } = await threeSent();
  const [one = ''] = references;
  const statuses = [{ reference: one, status: 'ACSC' as const }];
  for (const message of [
    'OTHERSHOP-77',
    `P${payout.number}-R2-F1`,
    `P${payout.number}-R1-F2`,
    'P999-R1-F1',
    '',
  ]) {
    for (const report of [
      pain002(message, null, statuses),
      pain002(message, 'RJCT'),
      pain002(own, null, statuses).replace(`<OrgnlMsgId>${own}`, `<OrgnlMsgId>${message}`),
    ]) {
      const answer = await send(payout.id, report);
      if (answer.status === 400) {
        expect(answer.reason, answer.text).toBe('result_of_another_payout');
        continue;
      }
      expect(answer.body.lines, report).toEqual([]);
      expect(problems(answer.body)).toEqual(['unknown_file']);
      expect(answer.body.problems[0].message).toContain(message);
    }
  }
  // the same for the part of a report about one of our files
  const mixed = pain002(own, null, statuses).replace(`<OrgnlPmtInfId>${own}`, '<OrgnlPmtInfId>OTHER');
  const found = await propose(payout.id, mixed);
  expect([found.lines, problems(found)]).toEqual([[], ['unknown_file']]);
  const right = await propose(payout.id, pain002(own, null, statuses));
  expect(outcomes(right)).toEqual([[ids[0], 'paid', 1000]]);
});

test('a whole file refused as a duplicate may be paid already, and a returned one needs a reason', async () => {
  const { messageId: own, payout } = await threeSent();
  const refused = pain002(own, 'RJCT').replace(
    '</OrgnlMsgNmId>',
    '</OrgnlMsgNmId><GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>DU01</Cd></Rsn></StsRsnInf>',
  );
  const twice = await propose(payout.id, refused);
  expect([twice.lines, problems(twice)]).toEqual([[], ['unclear']]);
  const credit = camt([{ file: own, amount: 6000, count: 3 }]).replace('DBIT', 'CRDT');
  const back = await propose(payout.id, credit);
  expect([back.lines, problems(back)]).toEqual([[], ['unclear']]);
  const many = await propose(
    payout.id,
    camt(Array.from({ length: 9 }, () => ({ file: own, amount: 6000, count: 3 }))),
  );
  expect([many.lines, problems(many)]).toEqual([[], ['duplicate']]);
});

longRun.test('files in other encodings, with both orders of dates, give the same results', async () => {
  const { payout, ids, references } = await threeSent();
  const lines = ['09/30/2026', '10/01/2026', '10/02/2026'].map(
    (date, index) =>
      `${date};Müller;Mass Pay Payment;Completed;EUR;-${index + 1}0,00;T${index};${references[index]}`,
  );
  const text = (all: readonly string[]) =>
    ['Date;Name;Type;Status;Currency;Gross;Transaction ID;Custom Number', ...all, ''].join('\r\n');
  const american = text(lines);
  const utf16 = (mark: string) => Buffer.from(`${mark}${american}`, 'utf16le');
  for (const file of [
    american,
    `\ufeff${american}`,
    Buffer.from(american, 'latin1'),
    utf16('\ufeff'),
    utf16('\ufeff').swap16(),
    american.replaceAll(';', '\t'),
  ]) {
    const found = await propose(payout.id, file);
    expect(outcomes(found)).toEqual(ids.map((id, index) => [id, 'paid', 1000 * (index + 1)]));
    expect(found.lines.map(({ booked_on }: Json) => booked_on)).toEqual([
      '2026-09-30',
      '2026-10-01',
      '2026-10-02',
    ]);
  }
  const european = text(lines.map((line) => line.replace(/^(\d\d).(\d\d)/, '$2/$1')));
  const found = await propose(payout.id, european);
  expect(found.lines.map(({ booked_on }: Json) => booked_on)).toEqual([
    '2026-09-30',
    '2026-10-01',
    '2026-10-02',
  ]);
  // none of these shows the order
  const unclear = await propose(payout.id, text(lines.slice(1)));
  expect(unclear.lines.map(({ booked_on }: Json) => booked_on)).toEqual([null, null]);
});

test('the line of an erased affiliate has a result, and no name', async () => {
  const { payout, ids, references } = await threeSent();
  await completePayout(api, payout);
  const erased = await api.post(`${AFFILIATES}/${ids[1]}/erase`);
  expect(erased.status, erased.text).toBe(200);
  const found = await propose(
    payout.id,
    camt([{ reference: references[1] ?? '', amount: 2000, returned: 'AC04' }]),
  );
  expect(outcomes(found)).toEqual([[ids[1], 'returned', 2000]]);
  expect(JSON.stringify(found)).not.toContain('Okafor');
});

longRun.test('the time to read large and hostile files grows with their size', async () => {
  const { payout, references } = await threeSent();
  const [one = ''] = references;
  const bookings = (count: number) =>
    camt(Array.from({ length: count }, () => ({ reference: one, amount: 1000 })));
  const many = await propose(payout.id, bookings(40_000), 'application/xml');
  expect([many.lines, problems(many)]).toEqual([[], ['duplicate']]);
  expect(many.problems[0].message).toContain('40000 entries are about this payment');
  // a statement of each of 20,000 accounts
  const statement = /<Stmt>.*<\/Stmt>/s;
  const single = camt([{ reference: one, amount: 1000 }]);
  const body = statement.exec(single)?.[0] ?? '';
  const accounts = Array.from({ length: 20_000 }, (_, index) =>
    body.replace('DE02120300000000202051', `DE99${String(index).padStart(18, '0')}`),
  );
  const others = await propose(payout.id, single.replace(statement, accounts.join('')), 'application/xml');
  expect(others.counts).toMatchObject({ problems: 20_000, paid: 0 });
  expect(others.problems).toHaveLength(1000);
  const zeros = camt([{ reference: one, amount: 1000 }]).replaceAll('10.00<', `10.${'0'.repeat(1900)}1<`);
  expect(problems(await propose(payout.id, zeros))).toEqual(['other_amount']);
  const cells = `reference,amount,currency\n${one},${'0'.repeat(200_000)},EUR\n`;
  expectRefusal(await send(payout.id, cells), 400, 'invalid_file', 'is not an amount');
});
