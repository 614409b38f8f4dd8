import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AFFILIATES,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { expectStatement } from '../support/balances.ts';
import { type Batch, type Booking, camt, pain002, type Status } from '../support/bank.ts';
import { isLong, rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import { missingSchemas, paymentsIn, validatorOf } from '../support/sepa.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

/** The fate of a payment: a part of the returned money may stay with the bank as its fee. */
type Fate = 'paid' | 'rejected' | 'returned' | 'returned in part' | 'pending' | 'missing';
const FATES: readonly Fate[] = ['paid', 'rejected', 'returned', 'returned in part', 'pending', 'missing'];
const VERSIONS = ['camt.053.001.02', 'camt.053.001.06', 'camt.053.001.08', 'camt.054.001.08'] as const;
const REPORTS = ['pain.002.001.03', 'pain.002.001.10'] as const;

interface Wish {
  readonly people: readonly { readonly amount: number; readonly fate: Fate }[];
  readonly rows: number;
  readonly version: (typeof VERSIONS)[number];
  readonly report: (typeof REPORTS)[number];
  /** Books a whole file in one sum when all of it left. */
  readonly inOneSum: boolean;
}

const wish: fc.Arbitrary<Wish> = fc.record({
  people: fc.array(
    fc.record({
      amount: fc.integer({ min: 2, max: 5_000_000 }),
      fate: fc.oneof(fc.constant<Fate>('paid'), fc.constantFrom(...FATES)),
    }),
    { minLength: 1, maxLength: 7 },
  ),
  rows: fc.integer({ min: 2, max: 5 }),
  version: fc.constantFrom(...VERSIONS),
  report: fc.constantFrom(...REPORTS),
  inOneSum: fc.boolean(),
});

interface Payment {
  readonly affiliate: number;
  readonly reference: string;
  readonly amount: number;
  readonly fate: Fate;
  readonly file: string;
}

/** An account whose payout is in SEPA files, with the payments in those files. */
async function sent({ people, rows }: Wish): Promise<{ api: Api; payout: Json; payments: Payment[] }> {
  const api = await world.otherAccount();
  const debtor = { name: 'Shop', iban: 'DE02120300000000202051', rows_per_file: rows };
  expect((await api.patch('/v2/account', { debtor })).status).toBe(200);
  const fates = new Map<string, Fate>();
  for (const { amount, fate } of people) {
    const { id } = await makeAffiliate(api);
    const body = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
    await api.put(`${AFFILIATES}/${id}/destination`, body);
    await makeCommission(api, id, { amount, currency: 'eur' });
    fates.set(`P1-A${id}`, fate);
  }
  const payout = await makePayout(api);
  const payments: Payment[] = [];
  const parts = Math.ceil(people.length / rows);
  for (let part = 1; part <= parts; part += 1) {
    const file = await api.get(
      `${PAYOUTS}/${payout.id}/payment-files/sepa${parts > 1 ? `?part=${part}` : ''}`,
    );
    expect(file.status, file.text).toBe(200);
    const [, id = ''] = /<MsgId>(.*?)</.exec(file.text) ?? [];
    for (const { reference, amount } of paymentsIn(file.text)) {
      const fate = fates.get(reference) ?? 'missing';
      payments.push({ affiliate: Number(reference.split('A')[1]), reference, amount, fate, file: id });
    }
  }
  expect(payments).toHaveLength(people.length);
  return { api, payout, payments };
}

const cameBack = ({ amount, fate }: Payment) => (fate === 'returned in part' ? amount - 1 : amount);
const isBack = ({ fate }: Payment) => fate.startsWith('returned');
const left = (payment: Payment) => payment.fate === 'paid' || isBack(payment);

/** The bank's messages: bookings of a day, and a status report for each file. */
function answersOf(payments: readonly Payment[], { version, report, inOneSum }: Wish): string[] {
  const files = [...new Set(payments.map(({ file }) => file))];
  const bookings: (Booking | Batch)[] = [];
  const reports: string[] = [];
  for (const file of files) {
    const all = payments.filter((payment) => payment.file === file);
    const total = all.reduce((sum, { amount }) => sum + amount, 0);
    if (inOneSum && all.every(left)) bookings.push({ file, amount: total, count: all.length });
    else bookings.push(...all.filter(left).map(({ reference, amount }) => ({ reference, amount, file })));
    const statuses: Status[] = all
      .filter(({ fate }) => fate === 'rejected' || fate === 'pending')
      .map(({ reference, amount, fate }) =>
        fate === 'pending'
          ? { reference, amount, status: 'PDNG' }
          : { reference, amount, status: 'RJCT', reason: 'AC01' },
      );
    if (statuses.length > 0) reports.push(pain002(file, 'PART', statuses, report));
  }
  bookings.push({ reference: 'CUSTOMER-1', amount: 77, returned: 'MS03' });
  bookings.push(
    ...payments.filter(isBack).map((payment) => ({
      reference: payment.reference,
      amount: cameBack(payment),
      returned: 'AC04',
    })),
  );
  const statement = payments.some(left) ? [camt(bookings, version)] : [];
  return [...statement, ...reports];
}

const outcomeOf = (fate: Fate) => (fate === 'returned in part' ? 'returned' : fate);

async function check(given: Wish): Promise<void> {
  const { api, payout, payments } = await sent(given);
  const found = new Map<number, Json>();
  for (const text of answersOf(payments, given)) {
    const answer = await api.request('POST', `${PAYOUTS}/${payout.id}/results`, {
      body: text,
      headers: { 'content-type': 'application/xml' },
    });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.problems).toEqual([]);
    expect(answer.body.counts.unanswered).toBe(payments.length - answer.body.lines.length);
    for (const line of answer.body.lines) {
      expect(found.has(line.affiliate_id)).toBe(false);
      found.set(line.affiliate_id, line);
    }
  }
  const proposed = [...found.values()].map(({ affiliate_id, outcome, amount }) => [
    affiliate_id,
    outcome,
    amount,
  ]);
  const truth = payments
    .filter(({ fate }) => fate !== 'missing')
    .map((payment) => [
      payment.affiliate,
      outcomeOf(payment.fate),
      isBack(payment) ? cameBack(payment) : payment.amount,
    ]);
  expect(proposed.sort()).toEqual(truth.sort());

  // a person decides that open lines were not paid
  const commissions = payments.map(({ affiliate }) => {
    const outcome = found.get(affiliate)?.outcome;
    return { affiliate_id: affiliate, is_paid: outcome === 'paid' || outcome === 'returned' };
  });
  const done = await api.put(`${PAYOUTS}/${payout.id}`, { commissions, require_all: true });
  expect(done.status, done.text).toBe(200);
  for (const { affiliate_id, outcome, amount, reason } of found.values()) {
    if (outcome !== 'returned') continue;
    const path = `${PAYOUTS}/${payout.id}/affiliates/${affiliate_id}/returned`;
    expect((await api.post(path, { amount, reason })).status).toBe(200);
  }
  for (const payment of payments) {
    const { body } = await api.get(`${AFFILIATES}/${payment.affiliate}`);
    const owed = body.balance.reduce((sum: number, { unpaid }: Json) => sum + unpaid, 0);
    const expected = isBack(payment) ? cameBack(payment) : left(payment) ? 0 : payment.amount;
    expect(owed, JSON.stringify(body.balance)).toBe(expected);
    await expectStatement(api, payment.affiliate);
  }
}

test('whatever a bank answers to SEPA files, the proposal is true, and completing with it keeps the books', async () => {
  const seen = new Set<string>();
  await expectProperty({
    ...{ name: 'results of a bank', arbitrary: wish, cases: rounds(2, 6) },
    async check(given) {
      for (const each of [given.version, given.report, ...given.people.map(({ fate }) => fate)])
        seen.add(each);
      await check(given);
    },
  });
  // the cases of a long run reach everything
  if (!isLong) return;
  expect([...VERSIONS, ...REPORTS, ...FATES].filter((each) => !seen.has(each))).toEqual([]);
});

const SCHEMAS = [
  'camt.053.001.06',
  'camt.053.001.08',
  'camt.054.001.08',
  'pain.002.001.03',
  'pain.002.001.10',
] as const;
const missing = missingSchemas(...SCHEMAS.map((name) => `${name}.xsd`));

test.skipIf(missing !== null)(
  `the messages of these tests are valid by the ISO schemas${missing === null ? '' : `: ${missing}`}`,
  () => {
    const bookings = [
      { reference: 'P1-A1', amount: 100, file: 'P1-R1-F1' },
      { reference: 'P1-A1', amount: 100, returned: 'AC04' },
      { reference: 'P1-A2', amount: 100, isPending: true },
      { file: 'P1-R1-F1', amount: 300, count: 3 },
    ];
    const statuses: Status[] = [
      { reference: 'P1-A1', status: 'RJCT', reason: 'AC01', amount: 5 },
      { reference: 'P1-A2', status: 'ACSC' },
    ];
    for (const name of SCHEMAS) {
      const validate = validatorOf(`${name}.xsd`);
      if (name.startsWith('camt')) validate(camt(bookings, name as Wish['version']));
      else validate(pain002('P1-R1-F1', 'PART', statuses, name as Wish['report']));
    }
  },
);
