import { beforeEach, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { camt, pain002 } from '../support/bank.ts';
import { isLong, longRun, rounds, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
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
  api = await shop();
});

async function shop(): Promise<Api> {
  const made = await world.otherAccount();
  const debtor = { name: 'Shop', iban: 'DE02120300000000202051' };
  expect((await made.patch('/v2/account', { debtor })).status).toBe(200);
  return made;
}

/** A payout of these amounts in EUR whose SEPA file was downloaded, with the references and the id of the file. */
async function sent(amounts: readonly number[], by: Api = api) {
  const ids: number[] = [];
  const account = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
  for (const amount of amounts)
    ids.push((await makePayee(by, account, { commission: { amount, currency: 'eur' } })).id);
  const payout = await makePayout(by);
  return { payout, ids, amounts, ...(await download(payout, ids, by)) };
}

async function download(payout: Json, ids: readonly number[], by: Api) {
  const file = await by.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  expect(file.status, file.text).toBe(200);
  const [, message = ''] = /<MsgId>(.*?)</.exec(file.text) ?? [];
  return { message, references: ids.map((id) => `P${payout.number}-A${id}`) };
}
type Sent = Awaited<ReturnType<typeof sent>>;

const send = ({ id }: Json, file: string | Buffer): Promise<Answer> =>
  api.request('POST', `${PAYOUTS}/${id}/results`, {
    body: file as string,
    headers: { 'content-type': 'application/octet-stream' },
  });
async function propose(payout: Json, file: string | Buffer): Promise<Json> {
  const answer = await send(payout, file);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}
const outcomes = ({ lines }: Json) =>
  lines.map(({ affiliate_id, outcome, amount }: Json) => [affiliate_id, outcome, amount]);

const money = (cents: number) => (cents / 100).toFixed(2);
const lines = (...all: readonly string[]) => [...all, ''].join('\n');

/** Files of every kind that report each of these payments as sent, or as carried out. */
const FILES: Readonly<Record<string, (of: Sent) => string>> = {
  camt: ({ references, amounts }) =>
    camt(references.map((reference, index) => ({ reference, amount: amounts[index] ?? 0 }))),
  'camt in one sum': ({ message, amounts }) =>
    camt([{ file: message, amount: amounts.reduce((sum, each) => sum + each, 0), count: amounts.length }]),
  'pain.002': ({ message, references }) =>
    pain002(
      message,
      'PART',
      references.map((reference) => ({ reference, status: 'ACSC' })),
    ),
  'pain.002 of the whole file': ({ message }) => pain002(message, 'ACSC'),
  'PayPal, activity': ({ references, amounts }) =>
    lines(
      'Type,Status,Currency,Gross,Transaction ID,Custom Number',
      ...references.map(
        (each, index) => `Payout,Completed,EUR,-${money(amounts[index] ?? 0)},T${index},${each}`,
      ),
    ),
  'PayPal, batch': ({ references, amounts }) =>
    lines(
      'Transaction ID,Amount,Currency,Unique ID,Transaction status',
      ...references.map((each, index) => `T${index},${money(amounts[index] ?? 0)},EUR,${each},Completed`),
    ),
  'Wise, transactions': ({ references, amounts }) =>
    lines(
      'ID,Status,Direction,Target amount (after fees),Target currency,Reference',
      ...references.map((each, index) => `T${index},COMPLETED,OUT,${money(amounts[index] ?? 0)},EUR,${each}`),
    ),
  'Wise, statement': ({ references, amounts }) =>
    lines(
      'TransferWise ID,Date,Amount,Currency,Payment Reference',
      ...references.map((each, index) => `T${index},30-09-2026,-${money(amounts[index] ?? 0)},EUR,${each}`),
    ),
  'a list': ({ references, amounts }) =>
    lines(
      'reference,is_paid,amount,currency',
      ...references.map((each, index) => `${each},true,${money(amounts[index] ?? 0)},EUR`),
    ),
};

test('a file of last year is about another payout, in every format, although people and amounts are the same', async () => {
  const then = await sent([1000, 2000]);
  await completePayout(api, then.payout);
  for (const [index, id] of then.ids.entries())
    await makeCommission(api, id, { amount: then.amounts[index] ?? 0, currency: 'eur' });
  const payout = await makePayout(api);
  const now = { ...then, payout, ...(await download(payout, then.ids, api)) };
  await nothingChanges(world, async () => {
    for (const [kind, fileOf] of Object.entries(FILES)) {
      const answer = await send(payout, fileOf(then));
      expect([kind, answer.status, answer.reason]).toEqual([kind, 400, 'result_of_another_payout']);
      expect(answer.body.error.message, kind).toContain(`payout ${then.payout.number}`);
    }
  });
  // a statement of both years gives results for this one only
  const both = camt([
    { reference: then.references[0] ?? '', amount: 1000 },
    { reference: now.references[1] ?? '', amount: 2000 },
  ]);
  const found = await propose(payout, both);
  expect(outcomes(found)).toEqual([[now.ids[1], 'paid', 2000]]);
  expect(found.problems).toMatchObject([{ kind: 'other_payout', affiliate_id: null }]);
  expect(found.counts).toMatchObject({ paid: 1, unanswered: 1 });
  // results.test.ts reads right files of each format
  if (!isLong) return;
  for (const [kind, fileOf] of Object.entries(FILES))
    expect([kind, outcomes(await propose(payout, fileOf(now)))]).toEqual([
      kind,
      now.ids.map((id, index) => [id, 'paid', now.amounts[index]]),
    ]);
});

test('a file about the payout of another account with the same number and amounts gives no result here', async () => {
  const own = await sent([1000, 2000]);
  const theirs = await sent([1000, 2000], await shop());
  expect(theirs.payout.number).toBe(own.payout.number);
  for (const [kind, fileOf] of Object.entries(FILES)) {
    const answer = await send(own.payout, fileOf(theirs));
    if (answer.status === 400) continue;
    expect([kind, answer.body.lines, answer.body.counts.unanswered]).toEqual([kind, [], 2]);
    expect(answer.body.problems.length, kind).toBeGreaterThan(0);
  }
  // nor does their message about our payments
  const mixed = await propose(own.payout, FILES['pain.002']?.({ ...own, message: theirs.message }) ?? '');
  expect([mixed.lines, mixed.problems.map(({ kind }: Json) => kind)]).toEqual([[], ['unknown_file']]);
});

test('a file cut off anywhere is refused, or reports nothing that the whole file does not', async () => {
  const own = await sent([1000, 2000, 3000]);
  for (const [kind, fileOf] of Object.entries(FILES)) {
    const whole = Buffer.from(fileOf(own));
    const expected = outcomes(await propose(own.payout, whole)).map(String);
    const ends = [...whole.entries()].flatMap(([at, byte]) => (byte === 10 ? [at, at + 1] : []));
    const count = rounds(3, 12);
    const places = Array.from({ length: count }, (_, index) => Math.floor((index * whole.length) / count));
    const cuts = [...new Set([...ends.slice(0, -1), ...places])];
    for (const at of new Set([...someOf(cuts, 7), whole.length - 1])) {
      const answer = await send(own.payout, whole.subarray(0, at));
      if (answer.status === 400) {
        expect(['invalid_file', 'result_of_another_payout'], answer.text).toContain(answer.reason);
        continue;
      }
      expect(answer.status, answer.text).toBe(201);
      const found = outcomes(answer.body).map(String);
      expect(found.filter((each: string) => !expected.includes(each))).toEqual([]);
      // a message is whole then; a table was cut off after a line, and has no result for later ones
      if (String(whole).startsWith('<')) expect(String(whole.subarray(at)).trim(), kind).toBe('');
      else expect(whole[at - 1], kind).toBe(10);
      expect(answer.body.counts.unanswered, kind).toBe(3 - found.length);
    }
  }
});

test('amounts are read with any separators, and an ambiguous one is a problem', async () => {
  const own = await sent([123_456_789, 123_450, 100]);
  const [large, middle, small] = own.references;
  const gross = (amount: string, reference = large) =>
    lines(
      'Type;Status;Currency;Gross;Transaction ID;Custom Number',
      `Payout;Completed;EUR;${amount};T;${reference}`,
    );
  for (const amount of [
    '-1234567.89',
    '-1,234,567.89',
    '-1.234.567,89',
    '-1234567,89',
    '-1 234 567,89',
    '-1\u00a0234\u00a0567,89',
    '-1\u202f234\u202f567,89',
    "-1'234'567.89",
    '-1’234’567.89',
    '-12,34,567.89',
    '−1.234.567,89',
  ])
    expect([amount, outcomes(await propose(own.payout, gross(amount)))]).toEqual([
      amount,
      [[own.ids[0], 'paid', 123_456_789]],
    ]);
  for (const amount of ['-1,234.50', '-1.234,5', '-1234.5', '-1234.500'])
    expect([amount, outcomes(await propose(own.payout, gross(amount, middle)))]).toEqual([
      amount,
      [[own.ids[1], 'paid', 123_450]],
    ]);
  for (const [amount, kind] of [
    ['-1.234.567.89', 'unclear'],
    ['-1,23,4567.89', 'unclear'],
    ['-1,234.567,89', 'unclear'],
    ['-1234567.891', 'other_amount'],
    ['-1.234.567', 'other_amount'],
    ['-0.00', 'unclear'],
    ['-0', 'unclear'],
    ['−0,00', 'unclear'],
    ['-1e6', 'unclear'],
    ['', 'unclear'],
  ]) {
    const found = await propose(own.payout, gross(amount ?? ''));
    expect([amount, found.lines, found.problems.map((each: Json) => each.kind)]).toEqual([
      amount,
      [],
      [kind],
    ]);
  }
  // one euro is not a thousand thousandths
  expect((await propose(own.payout, gross('-1.000', small))).problems[0].kind).toBe('other_amount');
  const dinars = await shop();
  const account = { paypal_email: 'pay@example.com' };
  api = dinars;
  const kuwait = await makePayee(
    dinars,
    { type: 'paypal' },
    {
      commission: { amount: 1234, currency: 'kwd' },
      affiliate: account,
    },
  );
  const payout = await makePayout(dinars);
  const unclear = await propose(
    payout,
    gross('-1,234', `P${payout.number}-A${kuwait.id}`).replace('EUR', 'KWD'),
  );
  expect([unclear.lines, unclear.problems.map(({ kind }: Json) => kind)]).toEqual([[], ['other_amount']]);
  expect(unclear.problems[0].message).toContain('1234 or 1.234 is not an unambiguous amount in KWD');
});

longRun.test(
  'a file of 20 MB and its 180,000 lines are read, and more payments than a payout has are refused',
  async () => {
    const own = await sent([1000]);
    const [reference = ''] = own.references;
    const header =
      'Date,Time,TimeZone,Name,Type,Status,Currency,Gross,Fee,Net,From Email Address,To Email Address,Transaction ID,Custom Number';
    const other = (index: number) =>
      `09/30/2026,10:00:00,UTC,Customer,Website Payment,Completed,EUR,20.00,-0.90,19.10,customer@example.com,shop@example.com,T${index},ORDER-${index}`;
    const rows = Array.from({ length: 180_000 }, (_, index) => other(index));
    rows[170_000] = `09/30/2026,10:00:00,UTC,Zoe,Mass Pay Payment,Completed,EUR,-10.00,0.00,-10.00,shop@example.com,zoe@example.com,T,${reference}`;
    const file = [header, ...rows, ''].join('\n');
    expect(file.length).toBeGreaterThan(20_000_000);
    const found = await propose(own.payout, file);
    expect(outcomes(found)).toEqual([[own.ids[0], 'paid', 1000]]);
    expect(found.counts).toMatchObject({ others: 179_999, problems: 0, unanswered: 0 });
    const many = Array.from({ length: 200_001 }, (_, index) => `P${own.payout.number}-A${index + 1}`);
    const list = ['reference', ...many, ''].join('\n');
    await nothingChanges(world, async () => {
      expectRefusal(await send(own.payout, list), 400, 'invalid_file', 'more than 200000 payments: split it');
    });
  },
);
