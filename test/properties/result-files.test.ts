import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { mergeAnswers } from '../../src/kernel/payment-answers.ts';
import { type Json, makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();
// FC_RUNS asks for more runs than the time allows
const RUNS = Number(process.env.FC_RUNS ?? 0);
const BUDGET_MS = 20_000;

/** What became of a payment that left, or was to leave. */
type Fate = 'arrived' | 'came back' | 'refused' | 'open' | 'something else';
const FATES: readonly Fate[] = ['arrived', 'came back', 'refused', 'open', 'something else'];
const CHANNELS = ['paypal', 'wise', 'statement', 'camt', 'pain'] as const;
type Channel = (typeof CHANNELS)[number];

/** A payment with the reference of a line, or with one that only looks like it. */
interface Transaction {
  readonly line: number;
  readonly channel: Channel;
  readonly fate: Fate;
  /** Cents more or less than the line. */
  readonly shift: -1 | 0 | 1;
  readonly isExact: boolean;
  /** In which of the files of its channel it stands. */
  readonly file: 0 | 1;
}

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

/** Payments, and the order in which their files are uploaded, of which some never are. */
const history = fc.record({
  transactions: fc.array(transaction, { minLength: 1, maxLength: 7 }),
  order: fc.shuffledSubarray(CHANNELS.flatMap((channel) => [`${channel} 0`, `${channel} 1`])),
});

let api: Api;
let payout: Json;
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
  expect((await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`)).status).toBe(200);
});

const money = (cents: number) => (cents / 100).toFixed(2);

interface Named extends Transaction {
  readonly id: string;
  readonly reference: string;
  readonly amount: string;
}

const WISE = {
  arrived: 'COMPLETED,OUT',
  'came back': 'REFUNDED,OUT',
  refused: 'CANCELLED,OUT',
  open: 'processing,OUT',
  'something else': 'COMPLETED,NEUTRAL',
};
const PAYPAL = {
  arrived: 'Completed',
  'came back': 'Returned',
  refused: 'Denied',
  open: 'Unclaimed',
  'something else': 'Removed',
};

const entry = ({ reference, amount, id }: Named, direction: string, status: string, more = '') =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts><BookgDt><Dt>2026-09-30</Dt></BookgDt>` +
  `<NtryDtls><TxDtls><Refs><AcctSvcrRef>${id}${direction}</AcctSvcrRef><EndToEndId>${reference}</EndToEndId></Refs>${more}</TxDtls></NtryDtls></Ntry>`;

/** The file of a channel with these payments, or null for a channel that says nothing of any of them. */
function fileOf(channel: Channel, all: readonly Named[]): string | null {
  if (channel === 'paypal') {
    const lines = all.map(
      ({ fate, reference, amount, id }) =>
        `Mass Pay Payment,${PAYPAL[fate]},EUR,-${amount},${id},${reference}`,
    );
    return ['Type,Status,Currency,Gross,Transaction ID,Custom Number', ...lines, ''].join('\n');
  }
  if (channel === 'wise') {
    const lines = all.map(
      ({ fate, reference, amount, id }) => `${id},${WISE[fate]},${amount},EUR,${reference}`,
    );
    return ['ID,Status,Direction,Target amount (after fees),Target currency,Reference', ...lines, ''].join(
      '\n',
    );
  }
  if (channel === 'statement') {
    const lines = all.flatMap(({ fate, reference, amount, id }) => {
      const out = `${id},30-09-2026,-${amount},EUR,${reference}`;
      if (fate === 'arrived') return [out];
      return fate === 'came back' ? [`${id},30-09-2026,${amount},EUR,${reference}`] : [];
    });
    return lines.length === 0
      ? null
      : ['TransferWise ID,Date,Amount,Currency,Payment Reference', ...lines, ''].join('\n');
  }
  if (channel === 'camt') {
    const entries = all.flatMap((each) => {
      const back = '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>';
      if (each.fate === 'arrived') return [entry(each, 'DBIT', 'BOOK')];
      if (each.fate === 'came back') return [entry(each, 'DBIT', 'BOOK'), entry(each, 'CRDT', 'BOOK', back)];
      if (each.fate === 'open') return [entry(each, 'DBIT', 'PDNG')];
      return each.fate === 'something else' ? [entry(each, 'CRDT', 'BOOK')] : [];
    });
    return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${entries.join('')}</Stmt></BkToCstmrStmt></Document>`;
  }
  const statuses = all.flatMap(({ fate, reference }) => {
    const code = {
      refused: 'RJCT',
      open: 'ACSP',
      arrived: 'ACSC',
      'came back': null,
      'something else': 'XXXX',
    }[fate];
    return code === null
      ? []
      : [`<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${code}</TxSts></TxInfAndSts>`];
  });
  const id = `P${payout.number}-R1-F1`;
  return (
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>' +
    `<OrgnlGrpInfAndSts><OrgnlMsgId>${id}</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>${id}</OrgnlPmtInfId>` +
    `${statuses.join('')}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
  );
}

/** Whether the files of a channel say this of a payment. */
const isSaid = ({ channel, fate }: Transaction) =>
  channel === 'camt'
    ? fate !== 'refused'
    : channel === 'statement'
      ? fate === 'arrived' || fate === 'came back'
      : channel !== 'pain' || fate !== 'came back';

test('in whatever order and subset files come, no line is paid without a booking of it, nor owed again while money may be on its way', async () => {
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
      const text = inFile.length === 0 ? null : fileOf(channel as Channel, inFile);
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
      seen.push(...inFile.filter((each) => each.isExact && isSaid(each)));
    }
    const { answers } = mergeAnswers<Json>(proposals as Json);
    for (const { affiliate_id, outcome, amount } of answers.values()) {
      const line = ids.indexOf(affiliate_id);
      if (outcome !== 'pending') decided += 1;
      const of = seen.filter((each) => each.line === line);
      const told = JSON.stringify({ outcome, of });
      if (outcome === 'paid') {
        expect(amount).toBe(AMOUNTS[line]);
        expect(
          of.some(({ fate, shift }) => fate === 'arrived' && shift === 0),
          told,
        ).toBe(true);
      }
      if (outcome === 'rejected' || outcome === 'returned')
        expect(
          of.filter(({ fate }) => fate === 'arrived' || fate === 'open' || fate === 'something else'),
          told,
        ).toEqual([]);
    }
  };
  await fc.assert(fc.asyncProperty(history, run), {
    numRuns: RUNS || 1000,
    ...(RUNS ? {} : { interruptAfterTimeLimit: BUDGET_MS, markInterruptAsFailure: false }),
  });
  expect(decided).toBeGreaterThan(0);
});
