import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { mergeAnswers } from '../../src/terms/payment-answers.ts';
import { type Json, makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import { useWorld } from '../support/world.ts';
import {
  CHANNELS,
  type Channel,
  FATES,
  fileOf,
  isReported,
  money,
  type Named,
  type Transaction,
} from './result-channels.ts';

const world = useWorld();

const AMOUNTS = [5000, 1234, 100_000] as const;

const transaction: fc.Arbitrary<Transaction> = fc.record({
  line: fc.nat({ max: AMOUNTS.length - 1 }),
  channel: fc.constantFrom(...CHANNELS),
  fate: fc.constantFrom(...FATES),
  shift: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0 as const) },
    fc.constantFrom(-1 as const, 1 as const),
  ),
  isExact: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false)),
  file: fc.constantFrom(0 as const, 1 as const),
});

const NAMES = CHANNELS.flatMap((channel) => [`${channel} 0`, `${channel} 1`]);
/** Payments, and the order in which their files are uploaded: some never are, and some twice. */
const history = fc.record({
  transactions: fc.array(transaction, { minLength: 1, maxLength: 7 }),
  order: fc
    .tuple(fc.shuffledSubarray(NAMES), fc.subarray(NAMES, { maxLength: 3 }))
    .map(([order, again]) => [...order, ...again.filter((name) => order.includes(name))]),
});

let api: Api;
let payout: Json;
let messageId = '';
let ids: number[];

beforeAll(async () => {
  api = await world.otherAccount();
  await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
  ids = [];
  for (const amount of AMOUNTS) {
    const account = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
    ids.push((await makePayee(api, account, { commission: { amount, currency: 'eur' } })).id);
  }
  payout = await makePayout(api);
  const sent = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
  [, messageId = ''] = /<MsgId>(.*?)</.exec(sent.text) ?? [];
});

test('in any order and subset of files, no line is paid without its booking, nor owed again while money may be on its way', async () => {
  let decided = 0;
  const run = async ({
    transactions,
    order,
  }: {
    transactions: readonly Transaction[];
    order: readonly string[];
  }) => {
    const all = transactions.map((each, index): Named => {
      const reference = `P${payout.number}-A${ids[each.line]}`;
      return {
        ...each,
        // a status report has no amounts of its own
        shift: each.channel === 'pain' ? 0 : each.shift,
        id: `T${index}`,
        reference: each.isExact ? reference : `${reference}-${index}`,
        amount: money((AMOUNTS[each.line] ?? 0) + each.shift),
      };
    });
    const seen: Named[] = [];
    const proposals: Json[] = [];
    for (const name of order) {
      const [channel = '', file] = name.split(' ');
      const inFile = all.filter((each) => each.channel === channel && String(each.file) === file);
      const text = inFile.length === 0 ? null : fileOf(channel as Channel, inFile, messageId);
      if (text === null) continue;
      const answer = await api.request('POST', `${PAYOUTS}/${payout.id}/results`, {
        body: text,
        headers: { 'content-type': 'application/octet-stream' },
      });
      if (answer.status === 400) expect(answer.reason, answer.text).toBe('result_of_another_payout');
      else {
        expect(answer.status, answer.text).toBe(201);
        proposals.push(answer.body);
      }
      seen.push(...inFile.filter((each) => each.isExact && isReported(each)));
    }
    const { answers } = mergeAnswers<Json>(proposals as Json);
    for (const { affiliate_id, outcome, amount } of answers.values()) {
      const line = ids.indexOf(affiliate_id);
      if (outcome !== 'pending') decided += 1;
      const of = seen.filter((each) => each.line === line);
      const shown = JSON.stringify({ outcome, of });
      if (outcome === 'paid') {
        expect(amount).toBe(AMOUNTS[line]);
        expect(
          of.some(({ fate, shift }) => fate === 'arrived' && shift === 0),
          shown,
        ).toBe(true);
      }
      // a bank first reports a payment as carried out, and later as returned
      const cameBack = of.some(({ channel, fate }) => channel === 'camt' && fate === 'came back');
      if (outcome === 'rejected' || outcome === 'returned')
        expect(
          of
            .filter(({ channel, fate }) => !(cameBack && channel === 'pain' && fate === 'arrived'))
            .filter(({ fate }) => fate === 'arrived' || fate === 'open' || fate === 'something else'),
          shown,
        ).toEqual([]);
    }
  };
  await expectProperty({ name: 'files of results', arbitrary: history, cases: rounds(12, 60), check: run });
  expect(decided).toBeGreaterThan(0);
});
