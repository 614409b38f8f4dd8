/* What happens to the lines of a payout, the second half of the model: paid, in part or not, returned, and undone. */

import {
  blank,
  type Command,
  type Entry,
  type Expected,
  find,
  groupKey,
  type Line,
  type State,
  voidRow,
} from './model.ts';

/** The line of an entry: the affiliate's, in its currency or in any. */
const isAbout = (
  { affiliate, currency }: { readonly affiliate: number; readonly currency: string | null },
  line: Line,
) => affiliate === line.affiliate && (currency === null || currency === line.currency);

/** Completes a payout: lines without an entry are released. */
export function complete(state: State, number: number, entries: readonly Entry[]): Expected {
  const payout = find(state, number);
  if (!payout) return { answer: '404 resource_missing' };
  if (payout.status === 'paid') return { answer: '409 payout_is_paid' };
  if (entries.some((entry) => !payout.lines.some((line) => isAbout(entry, line)))) {
    return { answer: '400 affiliate_not_in_payout' };
  }
  const about = (line: Line) => entries.find((entry) => isAbout(entry, line));
  if (payout.lines.some((line) => (about(line)?.amount ?? 0) > line.amount))
    return { answer: '400 invalid_amount' };
  for (const line of payout.lines) {
    const entry = about(line);
    line.isPaid = entry?.isPaid ?? false;
    for (const row of state.rows) {
      if (!line.isPaid && row.payout === number && groupKey(row) === groupKey(line)) row.payout = null;
    }
    line.carried = line.amount - (entry?.amount ?? line.amount);
    if (line.carried > 0)
      owe(state, `carried:${number}:${line.affiliate}:${line.currency}`, line, line.carried);
  }
  payout.status = 'paid';
  payout.revision += 1;
  return { answer: '200' };
}

/** Owes money of a line again. */
function owe(state: State, name: string, { affiliate, currency }: Line, amount: number): void {
  state.rows.push({
    ...blank,
    name,
    affiliate,
    currency,
    type: 'adjustment',
    original: amount,
    amount,
    returned: true,
  });
}

/** Books a return: of one line or all, a part or the rest, never more than was paid. */
export function giveBack(state: State, command: Command & { readonly do: 'return' }): Expected {
  const { payout: number, amount } = command;
  const lines = find(state, number)?.lines.filter((line) => isAbout(command, line)) ?? [];
  if (lines.length === 0) return { answer: '404 resource_missing' };
  const paid = lines.filter(({ isPaid }) => isPaid === true);
  if (paid.length === 0) return { answer: '409 line_not_paid' };
  if (amount !== null && paid.length > 1) return { answer: '400 invalid_body' };
  const restOf = (line: Line) => line.amount - line.carried - line.returned;
  const open = paid.filter((line) => restOf(line) > 0);
  const [only] = open;
  if (!only) return { answer: '409 already_returned' };
  if (amount !== null && amount > restOf(only)) return { answer: '400 return_exceeds_paid' };
  for (const line of open) {
    const part = amount ?? restOf(line);
    const { affiliate, currency } = line;
    const before = state.returns.filter(
      (each) => each.payout === number && groupKey(each) === groupKey(line),
    );
    const name = `returned:${number}:${affiliate}:${currency}:${before.length + 1}`;
    line.returned += part;
    state.returns.push({ name, payout: number, affiliate, currency, amount: part, undone: false });
    owe(state, name, line, part);
  }
  return { answer: '200' };
}

/** Undoes a return while its money was not paid again. */
export function undo(state: State, name: string): Expected {
  const found = state.returns.find((each) => each.name === name);
  const row = state.rows.find((each) => each.name === name);
  if (!found || !row) return { answer: '404 resource_missing' };
  if (found.undone) return { answer: '409 return_is_undone' };
  if (row.payout !== null && find(state, row.payout)?.status === 'paid')
    return { answer: '409 return_paid_again' };
  voidRow(state, row);
  found.undone = true;
  const line = find(state, found.payout)?.lines.find((each) => groupKey(each) === groupKey(found));
  if (line) line.returned -= found.amount;
  return { answer: '204' };
}
