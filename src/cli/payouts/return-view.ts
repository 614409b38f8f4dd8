import type { PayoutReturn } from '../../client/client.ts';
import { decimal } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

/** A page of returns, one line each. The reason is last, because it may be long. */
export function returnTable(returns: readonly PayoutReturn[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'ID' },
      { heading: 'RETURNED (UTC)' },
      { heading: 'AMOUNT', right: true },
      { heading: 'CURRENCY' },
      { heading: 'UNDONE (UTC)' },
      { heading: 'REASON' },
    ],
    returns.map((each) => [
      each.id,
      shortTime(each.returned_at),
      decimal({ currency: each.currency, amount: each.amount + each.tax_amount - each.withheld_amount }),
      each.currency.toUpperCase(),
      each.undone_at === null ? '-' : shortTime(each.undone_at),
      each.reason,
    ]),
    paint.faint,
  );
}
