import type { CsvLine } from '../../kernel/csv.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { type Answer, type Answers, type Reference, type Vocabulary, vocabulary } from './answers.ts';
import { daysOf } from './dates.ts';
import {
  answerOf,
  cellOf,
  columnsIn,
  type Header,
  has,
  type LineReader,
  namedBy,
  type Stated,
  wordIn,
} from './table.ts';

const REFERENCES = ['uniqueid', 'senderitemid', 'customnumber', 'invoicenumber', 'customerid', 'reference'];
const IDS = ['transactionid', 'payoutitemid'];
const STATUS = ['transactionstatus', 'payoutitemstatus', 'status'];
const AMOUNT = ['amount', 'paymentamount', 'payoutamount'];
const CURRENCY = ['currency', 'currencycode'];
const REASON = ['errormessage', 'failurereason', 'reason', 'error', 'errors'];
const DATE = ['timeprocessed', 'processedon', 'date'];
/** Columns that only the Activity report has. In it, signs and types show the direction of money. */
const ACTIVITY = ['type', 'gross', 'net', 'balanceimpact', 'referencetxnid'];
const MARKS = [
  'uniqueid',
  'senderitemid',
  ...IDS,
  'transactionstatus',
  'payoutitemstatus',
  ...ACTIVITY.slice(1),
];

/** Whether a header is that of PayPal's Activity report, or of its payout batch report. */
export const isPaypal = (header: Header): boolean => has(header, MARKS);

/** developer.paypal.com/reports/reference/t-codes: T0001, as the Activity report and older reports call it. */
const PAYOUTS = new Set(['masspay', 'masspaypayment', 'masspayment', 'payout', 'payouts']);
/** The same page: T1114, T1115, T1106 and T1107. */
const BACK = new Set([
  'masspayreversal',
  'masspaymentreversal',
  'masspayrefund',
  'masspaymentrefund',
  'payoutreversal',
  'payoutrefund',
  'paymentreversal',
  'paymentrefund',
]);

/**
 * The results of sent money: developer.paypal.com/api/payments.payouts-batch/v1/definitions/transaction_enum, and the
 * Activity report's words for them.
 */
const SENT: Vocabulary = vocabulary({
  paid: ['success', 'completed'],
  rejected: ['failed', 'denied', 'blocked', 'canceled', 'cancelled'],
  returned: ['returned', 'refunded', 'reversed'],
  pending: ['pending', 'unclaimed', 'onhold', 'held', 'processing'],
});
/** The results of incoming money. */
const CAME_BACK: Vocabulary = vocabulary({
  returned: ['success', 'completed'],
  pending: ['pending', 'onhold', 'held'],
});

/** The parts of a line that show the direction of money. */
interface Seen {
  readonly status: string;
  readonly type: string;
  readonly impact: string;
  readonly sign: -1 | 1;
}

/** The statement of an Activity report line, or why it has none. */
function ofActivity({ status, type, impact, sign }: Seen): Stated {
  const way = sign < 0 ? 'out' : 'in';
  const kind = wordIn(type);
  const isOut = way === 'out' && PAYOUTS.has(kind);
  if (!isOut && !(way === 'in' && BACK.has(kind)))
    return { why: `the type ${quote(type)} with money ${way} does not state the result of a payout` };
  const outcome = (isOut ? SENT : CAME_BACK).get(wordIn(status));
  if (outcome === undefined)
    return { why: `the status ${quote(status)} of the type ${quote(type)} is unknown` };
  // a memo line changes no balance
  const fitting =
    outcome === 'pending' || outcome === 'rejected'
      ? ['', 'memo', 'debit', 'credit']
      : ['', isOut ? 'debit' : 'credit'];
  if (!fitting.includes(wordIn(impact)))
    return { why: `money ${way} with the balance impact ${quote(impact)} contradicts itself` };
  return outcome;
}

/** The statement of a batch report line. Its amounts have no sign, or a minus for all outgoing money. */
const ofBatch = (status: string): Stated =>
  SENT.get(wordIn(status)) ?? { why: `the status ${quote(status)} is unknown` };

/**
 * Reads PayPal's files. In the Activity report, outgoing money of a payout type may be paid, incoming money of a reversal
 * or refund type was returned, and anything else about one of our payments is a doubt. Returns without our reference are
 * linked through the transaction they belong to. Throws ResultFileError.
 */
export function paypalReader(header: Header, found: Answers): LineReader {
  const isActivity = has(header, ACTIVITY);
  const { may, must, mustPay } = columnsIn(
    header,
    isActivity ? 'an Activity report of PayPal' : 'a report of PayPal',
  );
  const at = {
    references: REFERENCES.flatMap((name) => header.at.get(name) ?? []),
    id: may(IDS),
    related: may(['referencetxnid']),
    type: isActivity ? must(['type'], 'Type') : undefined,
    status: must(STATUS, 'Status'),
    amount: isActivity ? must(['gross'], 'Gross') : mustPay('amount', AMOUNT, 'Amount'),
    currency: mustPay('currency', CURRENCY, 'Currency'),
    impact: may(['balanceimpact']),
    reason: may(REASON),
    on: may(DATE),
  };
  if (at.references.length === 0 && at.related === undefined) must(REFERENCES, 'Unique ID');

  const stated: Answer[] = [];
  const dates: string[] = [];
  const references = new Map<string, Reference>();
  /** Returned money without a reference of its own. */
  const unnamed: CsvLine[] = [];

  const state = (line: CsvLine, of: Reference) => {
    const [status, type, impact] = [cellOf(line, at.status), cellOf(line, at.type), cellOf(line, at.impact)];
    const answer = answerOf(
      line,
      of,
      {
        amount: cellOf(line, at.amount),
        currency: cellOf(line, at.currency),
        outcome: (sign) => (isActivity ? ofActivity({ status, type, impact, sign }) : ofBatch(status)),
        code: isActivity && BACK.has(wordIn(type)) ? type : status,
        words: cellOf(line, at.reason),
        bankReference: cellOf(line, at.id),
      },
      found,
    );
    if (answer === null) return;
    dates.push(cellOf(line, at.on));
    stated.push(answer);
  };
  return {
    line(line) {
      const isBack = at.related !== undefined && BACK.has(wordIn(cellOf(line, at.type)));
      const before = found.others;
      const of = namedBy(line, at.references, found);
      if (of === null) {
        if (isBack && found.others > before) unnamed.push(line);
        return;
      }
      const id = cellOf(line, at.id);
      if (id !== '') references.set(id, of);
      state(line, of);
    },
    end() {
      for (const line of unnamed) {
        const of = references.get(cellOf(line, at.related));
        if (of === undefined) continue;
        found.others -= 1;
        state(line, of);
      }
      const days = daysOf(dates);
      stated.forEach((answer, index) => {
        found.state({ ...answer, on: days[index] ?? null });
      });
    },
  };
}
