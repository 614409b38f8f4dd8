import type { CsvLine } from '../../kernel/csv.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { readAmount } from './amounts.ts';
import { type Answers, type Vocabulary, vocabulary } from './answers.ts';
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

const AMOUNT = ['targetamountafterfees', 'targetamount'];
const CURRENCY = ['targetcurrency'];

/** Whether a header is that of Wise's balance statement. */
export const isWiseStatement = ({ at }: Header): boolean => at.has('transferwiseid');

/** Whether a header is that of Wise's list of transactions. */
export const isWiseHistory = (header: Header): boolean =>
  has(header, ['direction', 'targetamountafterfees', 'sourceamountafterfees']) ||
  (has(header, ['targetamount', 'targetcurrency']) && has(header, ['status']));

/**
 * The words of the list, and those of docs.wise.com/guides/product/send-money/tracking/transfer-statuses. Bounced money
 * is with Wise, which may send it again.
 */
const SENT: Vocabulary = vocabulary({
  paid: ['completed', 'outgoingpaymentsent'],
  rejected: ['cancelled', 'canceled'],
  returned: ['refunded', 'fundsrefunded'],
  pending: [
    'pending',
    'processing',
    'incomingpaymentwaiting',
    'incomingpaymentinitiated',
    'fundsconverted',
    'bouncedback',
  ],
});
const CAME_BACK: Vocabulary = vocabulary({
  returned: ['completed', 'refunded'],
  pending: ['pending', 'processing'],
});

/** Reads Wise's list of transactions: only `OUT` may be paid, and incoming money was returned. Throws ResultFileError. */
export function wiseHistoryReader(header: Header, found: Answers): LineReader {
  const { may, must, mustPay } = columnsIn(header, 'a list of transactions of Wise');
  const at = {
    references: [must(['reference', 'paymentreference', 'customerreferenceid'], 'Reference')],
    id: must(['id', 'transferid'], 'ID'),
    status: must(['status'], 'Status'),
    direction: must(['direction'], 'Direction'),
    amount: mustPay('amount', AMOUNT, 'Target amount (after fees)'),
    currency: mustPay('currency', CURRENCY, 'Target currency'),
    finished: may(['finishedon', 'createdon']),
  };
  return {
    line(line) {
      const of = namedBy(line, at.references, found);
      if (of === null) return;
      const [status, direction] = [cellOf(line, at.status), cellOf(line, at.direction)];
      const words =
        direction.toUpperCase() === 'OUT' ? SENT : direction.toUpperCase() === 'IN' ? CAME_BACK : null;
      const outcome = (sign: -1 | 1): Stated => {
        if (words === null) return { why: `the direction ${quote(direction)} is neither OUT nor IN` };
        if (sign < 0)
          return {
            why: 'the amount is below zero, although the direction column shows which way the money went',
          };
        return (
          words.get(wordIn(status)) ?? {
            why: `the status ${quote(status)} with the direction ${direction} is unknown`,
          }
        );
      };
      const answer = answerOf(
        line,
        of,
        {
          amount: cellOf(line, at.amount),
          currency: cellOf(line, at.currency),
          outcome,
          code: words === CAME_BACK ? 'came_back' : status,
          bankReference: cellOf(line, at.id),
        },
        found,
      );
      const [on = null] = daysOf([cellOf(line, at.finished)]);
      if (answer !== null) found.state({ ...answer, on });
    },
    end() {},
  };
}

/**
 * Reads Wise's balance statement, whose amounts have the sign of the balance: outgoing money is paid, incoming money was
 * returned. A fee has its own line with the same reference, which is not a payment. Throws ResultFileError.
 */
export function wiseStatementReader(header: Header, found: Answers): LineReader {
  const { may, must } = columnsIn(header, 'a statement of Wise');
  const at = {
    id: must(['transferwiseid'], 'TransferWise ID'),
    references: [must(['paymentreference'], 'Payment Reference')],
    amount: must(['amount'], 'Amount'),
    currency: must(['currency'], 'Currency'),
    date: may(['date']),
    description: may(['description']),
    way: may(['transactiontype']),
    kind: may(['transactiondetailstype']),
    toCurrency: may(['exchangeto']),
    toAmount: may(['exchangetoamount']),
  };
  const isFee = (line: CsvLine) =>
    cellOf(line, at.id).toUpperCase().startsWith('FEE-') ||
    /^wise charges for/i.test(cellOf(line, at.description));
  return {
    line(line) {
      if (isFee(line)) {
        found.others += 1;
        return;
      }
      const of = namedBy(line, at.references, found);
      if (of === null) return;
      const own = cellOf(line, at.amount);
      const sign = readAmount(own)?.sign ?? 0;
      // sent in another currency than that of the balance
      const sent = cellOf(line, at.toCurrency) === '' ? '' : cellOf(line, at.toAmount);
      const [way, kind] = [cellOf(line, at.way), cellOf(line, at.kind)];
      const outcome = (): Stated => {
        if (sign === 0) return { why: 'its amount is zero' };
        if (way !== '' && way.toUpperCase() !== (sign < 0 ? 'DEBIT' : 'CREDIT'))
          return { why: `the transaction type ${quote(way)} contradicts the sign of the amount` };
        if (kind !== '' && kind.toUpperCase() !== 'TRANSFER')
          return { why: `the transaction details type ${quote(kind)} is not a transfer` };
        return sign < 0 ? 'paid' : 'returned';
      };
      const answer = answerOf(
        line,
        of,
        {
          amount: sent === '' ? own : sent,
          currency: sent === '' ? cellOf(line, at.currency) : cellOf(line, at.toCurrency),
          outcome,
          code: 'came_back',
          bankReference: cellOf(line, at.id),
        },
        found,
      );
      const [on = null] = daysOf([cellOf(line, at.date)], 'day first');
      if (answer !== null) found.state({ ...answer, on });
    },
    end() {},
  };
}
