import type { Refund } from '../../client/client.ts';
import { describeRefunds, money } from '../commissions/view.ts';
import { factLines } from '../terminal/facts.ts';
import { amounts } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';

/** A page of refunds, one line each. The external_id is last, because it may be long. */
export function refundTable(refunds: readonly Refund[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'OCCURRED (UTC)' },
      { heading: 'STATUS' },
      { heading: 'TAKEN BACK', right: true },
      { heading: 'ORDER' },
      { heading: 'EXTERNAL ID' },
    ],
    refunds.map((refund) => [
      shortTime(refund.occurred_at),
      refund.status,
      takenBack(refund),
      refund.order_id ?? '-',
      refund.external_id,
    ]),
    paint.faint,
  );
}

/** `12.50 USD, 300 JPY`: the amounts a refund took, by currency. */
function takenBack({ refunds }: Refund): string {
  const sums = new Map<string, number>();
  for (const { amount, commission } of refunds) {
    sums.set(commission.currency, (sums.get(commission.currency) ?? 0) + amount);
  }
  return sums.size === 0 ? '-' : amounts([...sums].map(([currency, amount]) => ({ currency, amount })));
}

/** One refund as text. */
export function describeRefund(refund: Refund, { paint }: Terminal): string {
  const at = (instant: string | null) => instant && exactTime(instant);
  const painted = { waiting: paint.warning, applied: paint.good, reversed: paint.bad };
  return (
    `${paint.strong(refund.id)}  ${painted[refund.status](refund.status)}\n` +
    factLines([
      ['External id', refund.external_id],
      ['Order', refund.order_id],
      ['Product', refund.product_id],
      ['Why', refund.reason],
      ['Occurred', at(refund.occurred_at)],
      ['Reversed', at(refund.reversed_at)],
      ['Created', `${exactTime(refund.created_at)} (UTC)`],
    ]) +
    refund.lines.map((line) => `${describeLine(line)}\n`).join('') +
    describeRefunds(refund.refunds)
  );
}

function describeLine(line: Refund['lines'][number]): string {
  const { order_line_id, external_id, sale_amount, amount, currency, status } = line;
  const names = [order_line_id && `line ${order_line_id}`, external_id && `commission ${external_id}`];
  const what = printable(names.find((name) => name) || 'the order');
  const minor = amount ?? sale_amount;
  const unit = amount === null ? 'of the sale' : 'of the commission';
  const part = minor === null ? 'all' : `${currency ? money({ currency }, minor) : minor} ${unit}`;
  const states = {
    applied: 'applied',
    waiting: 'waiting for its commission',
    in_doubt: 'ambiguous: it could belong to several sales; reverse it and name lines',
  };
  return `${what}, ${part}: ${states[status]}`;
}

/** The effect of a new refund, and the lines that are waiting. */
export function describeOutcome(refund: Refund): string {
  const waits = refund.lines.filter(({ status }) => status !== 'applied');
  return describeRefunds(refund.refunds) + waits.map((line) => `${describeLine(line)}\n`).join('');
}
