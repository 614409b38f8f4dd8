import { beforeEach, describe, expect, test } from 'vitest';
import { achReturns, type Back } from '../support/ach-returns.ts';
import type { Answer, Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { missingReader, type NachaPayment, paymentsIn, readByAnother } from '../support/nacha.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  completePayout,
  expectRefusal,
  type Json,
  madeOnce,
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
  await setOriginator();
});

const ORIGINATOR = {
  immediate_destination: '021000021',
  immediate_destination_name: 'JPMorgan Chase',
  immediate_origin: '1234567890',
  immediate_origin_name: 'Difference Engines',
  company_name: 'Difference Engin',
  company_id: '1234567890',
};
async function setOriginator(fields: object = {}): Promise<void> {
  const changed = await api.patch('/v2/account', { originator: { ...ORIGINATOR, ...fields } });
  expect(changed.status, changed.text).toBe(200);
}
const ACCOUNT = {
  type: 'ach',
  account_holder: 'Zoe Okafor',
  routing_number: '121042882',
  account_number: '000123456789',
  account_type: 'checking',
};

const earner = (account: object = {}, affiliate: object = {}, amount = 1000): Promise<Json> =>
  makePayee(api, { ...ACCOUNT, ...account }, { commission: { amount, currency: 'usd' }, affiliate });

/** A payout whose NACHA file was downloaded, and its payments in the order of the affiliates. */
async function sent(...people: readonly Json[]) {
  const payout = await makePayout(api);
  const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/nacha`);
  expect(file.status, file.text).toBe(200);
  const payments = paymentsIn(file.text);
  const of = ({ id }: Json) =>
    payments.find(({ reference }) => reference === `P${payout.number}-A${id}`) as NachaPayment;
  return { payout, file: file.text, payments: people.map(of) };
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
const CORRECTIONS = `${AFFILIATES}/destination-corrections`;
const destinationOf = async ({ id }: Json): Promise<Json> =>
  (await api.get(`${AFFILIATES}/${id}/destination`)).body.destinations[0];

test('a returned payment is returned, with the reason in words, and owed again once it is booked', async () => {
  const firm = await earner({ account_type: 'savings' }, { legal_type: 'business' }, 700);
  const [zoe, bob] = [await earner(), await earner({ account_holder: 'Bob' }, {}, 900)];
  const { payout, payments } = await sent(firm, zoe, bob);
  await completePayout(api, payout);
  const [ofFirm, ofZoe] = payments as [NachaPayment, NachaPayment];
  const file = achReturns([
    { payment: ofZoe, code: 'R03' },
    { payment: ofFirm, code: 'R23', data: 'NOT EXPECTED' },
  ]);
  const proposal = await read(payout, file);
  expect(proposal).toMatchObject({
    kind: 'nacha',
    counts: { paid: 0, returned: 2, unanswered: 1, problems: 0, others: 0 },
    corrections: [],
    lines: [
      {
        affiliate_id: firm.id,
        outcome: 'returned',
        amount: 700,
        reason: 'the recipient refused it: NOT EXPECTED',
        reason_code: 'R23',
        booked_on: '2026-11-20',
        is_booked: false,
      },
      {
        affiliate_id: zoe.id,
        amount: 1000,
        reason: 'there is no such account, or it belongs to another name',
        bank_reference: '091000010000001',
      },
    ],
  });
  const { currency, amount, reason, bank_reference: reference } = proposal.lines[1];
  const booked = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${zoe.id}/returned`, {
    currency,
    amount,
    reason,
    reference,
  });
  expect(booked.status, booked.text).toBe(200);
  const again = await read(payout, file);
  expect(again.uploaded_before).not.toBeNull();
  expect(again.lines.map((line: Json) => line.is_booked)).toEqual([false, true]);
});

test('two uploads of one file at once propose each correction once', async () => {
  const zoe = await earner();
  const { payout, payments } = await sent(zoe);
  const file = achReturns([{ payment: payments[0] as NachaPayment, code: 'C02', data: '021000021' }]);
  const both = await Promise.all([read(payout, file), read(payout, file)]);
  expect(both[0]?.corrections).toEqual(both[1]?.corrections);
  expect(await allOf(api, CORRECTIONS)).toHaveLength(1);
});

describe('a return that is not exactly ours is a problem and no result', () => {
  const twoSent = madeOnce(async () => {
    const [zoe, bob] = [await earner(), await earner({ account_holder: 'Bob' })];
    return { by: api, bob, ...(await sent(zoe, bob)) };
  });
  test.each<[what: string, change: (payment: NachaPayment) => Partial<Back>, kind: string, message: string]>([
    [
      'a trace number that is not ours',
      (p) => ({ payment: { ...p, trace: '021000029999999' } }),
      'unknown_file',
      'trace',
    ],
    ['another amount', (p) => ({ payment: { ...p, amount: 999 } }), 'other_amount', 'another amount'],
    ['another account', (p) => ({ payment: { ...p, number: '000123459999' } }), 'other_payee', '9999'],
    ['another bank', (p) => ({ payment: { ...p, routing: '091000019' } }), 'other_payee', '09100001'],
    [
      'a reference of another payout',
      (p) => ({ payment: { ...p, reference: 'P9-A1' } }),
      'other_payout',
      'payout 9',
    ],
    [
      'a reference of nobody',
      (p) => ({ payment: { ...p, reference: 'P1-A999' } }),
      'unknown_reference',
      'not in this payout',
    ],
    ['a debit', () => ({ transactionCode: '26' }), 'unclear', '26'],
    ['another class', () => ({ section: 'CTX' }), 'unclear', 'CTX'],
    ['a dishonored return', () => ({ code: 'R61' }), 'unclear', 'dishonors'],
    ['a contested return', () => ({ code: 'R73' }), 'unclear', 'contests'],
    ['an unknown code', () => ({ code: 'R99' }), 'unclear', 'unknown'],
    [
      'a changed class of a correction',
      () => ({ code: 'C02', data: '021000021', section: 'PPD' }),
      'unclear',
      'COR',
    ],
    [
      'a correction of no destination',
      () => ({ code: 'C09', data: '7' }),
      'unclear',
      'identification number',
    ],
    ['a refused correction', () => ({ code: 'C64' }), 'unclear', 'refuses'],
    ['a wrong routing number', () => ({ code: 'C02', data: '021000022' }), 'unclear', 'check digit'],
    ['a correction to a loan', () => ({ code: 'C05', data: '52' }), 'unclear', 'checking or savings'],
  ])('%s', async (_, change, kind, message) => {
    const { by, bob, payout, payments } = await twoSent();
    api = by;
    const [payment, other] = payments as [NachaPayment, NachaPayment];
    const file = achReturns([
      { payment, code: 'R02', ...change(payment) },
      { payment: other, code: 'R02' },
    ]);
    const { problems, lines, corrections } = await read(payout, file);
    expect(lines).toMatchObject([{ affiliate_id: bob.id, outcome: 'returned' }]);
    expect(corrections).toEqual([]);
    expect(problems).toMatchObject([{ kind }]);
    expect(problems[0].message).toContain(message);
  });
});

longRun.test(
  'a return of another payout is refused, and one of an earlier originating bank is ours',
  async () => {
    const zoe = await earner();
    const { payout, payments } = await sent(zoe);
    const file = achReturns([{ payment: payments[0] as NachaPayment, code: 'R02' }]);
    await completePayout(api, payout);
    await setOriginator({ originating_dfi: '12104288' });
    await makeCommission(api, zoe.id, { amount: 1000, currency: 'usd' });
    const next = await makePayout(api);
    await nothingChanges(world, async () => {
      expectRefusal(await send(next, file), 400, 'result_of_another_payout', 'payout 1');
    });
    expect((await read(payout, file)).lines).toMatchObject([{ outcome: 'returned' }]);
  },
);

describe('a file with wrong control totals or a wrong order is refused', () => {
  const oneSent = madeOnce(async () => ({ by: api, ...(await sent(await earner())) }));
  const swap = (file: string, type: string, from: number, text: string) =>
    file
      .split('\n')
      .map((line) =>
        line.startsWith(type) && !/^9+$/.test(line)
          ? line.slice(0, from) + text + line.slice(from + text.length)
          : line,
      )
      .join('\n');
  test.each<[what: string, change: (file: string) => string, message: string]>([
    ['the entry hash of a batch', (file) => swap(file, '8', 10, '0000000001'), 'entry hash of the batch'],
    ['the entries of a batch', (file) => swap(file, '8', 4, '000009'), 'number of entries'],
    ['the credits of a batch', (file) => swap(file, '8', 32, '000000000001'), 'total of credits'],
    ['the debits of a file', (file) => swap(file, '9', 31, '000000000001'), 'total of debits'],
    ['the batches of a file', (file) => swap(file, '9', 1, '000007'), 'batches'],
    ['the batch that ends', (file) => swap(file, '8', 87, '0000077'), 'another batch'],
    ['a letter in an amount', (file) => swap(file, '6', 29, 'X'), 'not a number'],
    ['no end', (file) => file.slice(0, file.indexOf('\n9')), 'truncated'],
    ['an addenda without an entry', (file) => file.replace(/\n6.*/, ''), 'cannot be here'],
    ['a long line', (file) => file.replace('\n', 'X\n'), 'more than 94'],
  ])('%s', async (_, change, message) => {
    const { by, payout, payments } = await oneSent();
    api = by;
    const file = achReturns([{ payment: payments[0] as NachaPayment, code: 'R02' }]);
    await nothingChanges(world, async () => {
      expectRefusal(await send(payout, change(file)), 400, 'invalid_file', message);
    });
  });
});

longRun.test(
  'line ends, blocks and blanks at the ends of lines do not matter; the file that was sent is refused',
  async () => {
    const zoe = await earner();
    const { payout, payments, file: original } = await sent(zoe);
    const file = achReturns([{ payment: payments[0] as NachaPayment, code: 'R02' }]);
    for (const written of [
      file.replaceAll('\n', '\r\n'),
      file.replaceAll('\n', ''),
      file.replaceAll(/ +$/gm, ''),
      file.replaceAll(/^9{94}\n/gm, ''),
    ])
      expect((await read(payout, written)).lines).toMatchObject([
        { outcome: 'returned', reason_code: 'R02' },
      ]);
    expectRefusal(await send(payout, original), 400, 'invalid_file', 'sent to the bank');
  },
);

test('a correction is proposed with what changes, and accepting it replaces the destination', async () => {
  const zoe = await earner();
  const { payout, payments } = await sent(zoe);
  const data = '021000021999888777        32';
  const file = achReturns([{ payment: payments[0] as NachaPayment, code: 'C07', data }]);
  const { lines, corrections, counts } = await read(payout, file);
  expect(lines).toEqual([]);
  expect(counts).toMatchObject({ returned: 0, problems: 0 });
  expect(corrections).toMatchObject([
    {
      affiliate_id: zoe.id,
      payout_id: payout.id,
      code: 'C07',
      changes: [
        { field: 'routing_number', from: '121042882', to: '021000021' },
        { field: 'account_number', from: '…6789', to: '…8777' },
        { field: 'account_type', from: 'checking', to: 'savings' },
      ],
      status: 'open',
      received_on: '2026-11-20',
      // Thanksgiving is no banking day
      due_on: '2026-12-01',
      decided_by: null,
    },
  ]);
  expect(await destinationOf(zoe)).toMatchObject({ routing_number: '121042882', last_four: '6789' });
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.revision).toBe(payout.revision);
  const [{ id }] = corrections;
  const accepted = await api.post(`${CORRECTIONS}/${id}/accept`);
  expect(accepted.status, accepted.text).toBe(200);
  expect(accepted.body).toMatchObject({ status: 'accepted', changes: corrections[0].changes });
  expect(accepted.body.decided_by).not.toBeNull();
  expect(await destinationOf(zoe)).toMatchObject({
    account_holder: 'Zoe Okafor',
    routing_number: '021000021',
    last_four: '8777',
    account_type: 'savings',
  });
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.revision).toBe(payout.revision + 1);
  const next = await api.get(`${PAYOUTS}/${payout.id}/payment-files/nacha`);
  expect(paymentsIn(next.text)).toMatchObject([{ routing: '021000021', number: '999888777', code: 32 }]);
  for (const step of ['accept', 'dismiss'])
    expectRefusal(
      await api.post(`${CORRECTIONS}/${id}/${step}`),
      409,
      'correction_not_open',
      'accepted before',
    );
});

test('a correction that was dismissed, or of a destination that was changed since, cannot be accepted', async () => {
  const [zoe, bob] = [await earner(), await earner({ account_holder: 'Bob', account_number: '55556666' })];
  const { payout, payments } = await sent(zoe, bob);
  const [ofZoe, ofBob] = payments as [NachaPayment, NachaPayment];
  await api.put(`${AFFILIATES}/${bob.id}/destination`, { ...ACCOUNT, account_number: '77778888' });
  const file = achReturns([
    { payment: ofZoe, code: 'C04', data: 'ZOE OKAFOR-LEE' },
    { payment: ofBob, code: 'C01', data: '99990000' },
  ]);
  const { corrections } = await read(payout, file);
  const of = ({ id }: Json) => corrections.find(({ affiliate_id }: Json) => affiliate_id === id);
  expect(of(zoe)).toMatchObject({
    status: 'open',
    changes: [{ field: 'account_holder', to: 'ZOE OKAFOR-LEE' }],
  });
  expect(of(bob)).toMatchObject({ status: 'outdated' });
  await nothingChanges(world, async () => {
    expectRefusal(
      await api.post(`${CORRECTIONS}/${of(bob).id}/accept`),
      409,
      'correction_not_open',
      'outdated',
    );
  });
  expect((await api.post(`${CORRECTIONS}/${of(zoe).id}/dismiss`)).body).toMatchObject({
    status: 'dismissed',
  });
  expect(await destinationOf(zoe)).toMatchObject({ account_holder: 'Zoe Okafor' });
  const open = await api.get(`${CORRECTIONS}?status=open`);
  expect(open.body.pagination.total).toBe(0);
  const ofPayout = await api.get(`${CORRECTIONS}?payout_id=${payout.id}&affiliate_id=${bob.id}`);
  expect(ofPayout.body.data).toMatchObject([{ id: of(bob).id }]);
  const other = await world.otherAccount();
  expect((await other.get(CORRECTIONS)).body.pagination.total).toBe(0);
  expectRefusal(await other.post(`${CORRECTIONS}/${of(zoe).id}/accept`), 404, 'resource_missing');
  const erased = await api.post(`${AFFILIATES}/${zoe.id}/erase`, {});
  // she is in an unpaid payout
  expect(erased.status).toBe(409);
  await completePayout(api, payout);
  expect((await api.post(`${AFFILIATES}/${zoe.id}/erase`, {})).status).toBeLessThan(300);
  expect(await allOf(api, CORRECTIONS)).toMatchObject([{ affiliate_id: bob.id }]);
});

test('people who may change destinations are alerted to new corrections', async () => {
  const channel = await api.post('/v2/alert-channels', {
    name: 'Ops',
    format: 'slack',
    url: 'https://hooks.slack.com/services/T0/B0/x',
    kinds: ['correction_received'],
  });
  expect(channel.status, channel.text).toBeLessThan(300);
  const zoe = await earner();
  const { payout, payments } = await sent(zoe);
  const file = achReturns([{ payment: payments[0] as NachaPayment, code: 'C05', data: '32' }]);
  for (let time = 0; time < 2; time += 1) await read(payout, file);
  const noticed = await world.query(
    "select count, data from notices where kind = 'correction_received' and subject = $1",
    [payout.id],
  );
  expect(noticed).toEqual([{ count: 1, data: { ends: '2026-12-01' } }]);
});

test.skipIf(missingReader !== null)('moov-io/ach reads these files as we do', async () => {
  const zoe = await earner();
  const { payout, payments } = await sent(zoe);
  const [payment] = payments as [NachaPayment];
  const codes = {
    C01: '55556666',
    C02: '021000021',
    C03: '021000021   55556666',
    C04: 'ZOE LEE',
    C05: '32',
    C06: '55556666            32',
    C07: '02100002155556666         32',
  };
  const corrected = Object.entries(codes).map(([code, data]): Back => ({ payment, code, data }));
  const returned: Back = { payment, code: 'R02' };
  const file = achReturns([returned, ...corrected]);
  expect(readByAnother([file])).toMatchObject([
    {
      payments: [
        { returned: 'R02', original: payment.trace, amount: payment.amount, reference: payment.reference },
        ...corrected.map(({ code }) => ({ changed: code, original: payment.trace })),
      ],
    },
  ]);
  const { corrections, problems } = await read(payout, file);
  expect(problems).toEqual([]);
  const ours = new Map<string, Json>(
    corrections.map(({ code, changes }: Json) => [
      code,
      Object.fromEntries(changes.map(({ field, to }: Json) => [field, to])),
    ]),
  );
  const TYPES: Readonly<Record<string, string>> = { 22: 'checking', 32: 'savings' };
  for (const { changed, corrected: theirs } of readByAnother([file])[0]?.payments.slice(1) ?? []) {
    const { AccountNumber, RoutingNumber, Name, TransactionCode } = theirs ?? {};
    expect(ours.get(changed ?? ''), changed).toEqual({
      ...(Name ? { account_holder: Name } : {}),
      ...(RoutingNumber ? { routing_number: RoutingNumber } : {}),
      ...(AccountNumber ? { account_number: `…${AccountNumber.slice(-4)}` } : {}),
      ...(TransactionCode ? { account_type: TYPES[TransactionCode] } : {}),
    });
  }
});
